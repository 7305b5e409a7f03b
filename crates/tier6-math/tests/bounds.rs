//! No prediction is below the lower bounds of FACTS B.0, whatever the algorithm, N, M, topology
//! and parameters.

use proptest::prelude::*;
use std::num::NonZeroU32;
use tier6_collective::{
    Algorithm, BidirForm, Collective, Distance, Fold, GatherForm, Grain, Partner, SecondShot,
    TorusPorts, Trees,
};
use tier6_math::law::{InSwitch, Overlap, Wire};
use tier6_math::{
    Adder, Channels, Parameters, Pieces, Placement, Plan, Prices, Sharp, Spread, StepCost,
    StepPrices, all_to_all_cut, lower_bound,
};
use tier6_system::{FabricSpec, Ramp, SystemSpec, Topology, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Rounding of sums of a few thousand terms.
const TOLERANCE: f64 = 1e-9;

fn us(value: f64) -> Micros {
    Micros::new(value)
}

#[test]
fn the_table_of_bounds() {
    let wire = Wire::new(us(2.0), GbPerSec::new(1.0)).unwrap();
    let wire = wire.with_reduction(GbPerSec::new(10.0)).unwrap();
    let bytes = Bytes::new(8000);
    let check = |collective, adder, expected: [f64; 3]| {
        let bound = lower_bound(collective, 8, bytes, &wire, 1, adder).unwrap();
        let found = [bound.latency, bound.bandwidth, bound.compute].map(Micros::get);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{collective}: {found} {expected}"
            );
        }
    };
    let ranks = Adder::Ranks;
    check(Collective::AllReduce, ranks, [6.0, 14.0, 0.7]);
    check(Collective::ReduceScatter, ranks, [6.0, 7.0, 0.7]);
    check(Collective::AllGather, ranks, [6.0, 7.0, 0.0]);
    check(Collective::AllToAll, ranks, [6.0, 7.0, 0.0]);
    check(Collective::Broadcast, ranks, [6.0, 8.0, 0.0]);
    check(Collective::Reduce, ranks, [6.0, 8.0, 0.7]);
    check(Collective::Scatter, ranks, [6.0, 7.0, 0.0]);
    check(Collective::SendRecv, ranks, [2.0, 8.0, 0.0]);
    check(Collective::AllReduce, Adder::Network, [2.0, 8.0, 0.0]);
    let all_at_once = lower_bound(Collective::AllToAll, 8, bytes, &wire, 7, ranks).unwrap();
    assert!((all_at_once.latency.get() - 2.0).abs() < 1e-12);
    assert!(lower_bound(Collective::AllReduce, 1, bytes, &wire, 1, ranks).is_err());
}

/// Systems of up to 24 chips of every kind of graph.
fn topology(kind: usize, chips: u32) -> Topology {
    let uniform =
        |chips, fabric| SystemSpec::uniform(chips, fabric, GbPerSec::new(50.0), us(0.7)).resolve();
    let spec = |name: &str, nodes| preset(name).unwrap().with_outer_count(nodes).resolve();
    let nodes = chips.div_ceil(8).max(2);
    let resolved = match kind {
        0 => uniform(chips, FabricSpec::ring()),
        1 => uniform(chips, FabricSpec::FullMesh),
        2 => uniform(
            2 * chips.div_ceil(2),
            FabricSpec::Torus {
                dims: vec![2, chips.div_ceil(2)],
            },
        ),
        3 => uniform(chips, FabricSpec::star()),
        4 => spec("h100-x8-ib-ndr", nodes),
        5 => spec("a100-x8-efa", nodes),
        6 => spec("a100-x4-slingshot", chips.div_ceil(4).max(2)),
        7 => preset("h100-x8").unwrap().resolve(),
        _ => preset("dgx1").unwrap().resolve(),
    };
    resolved.unwrap()
}

#[derive(Debug, Clone)]
struct Choice {
    kind: usize,
    chips: u32,
    ranks: u32,
    algorithm: Algorithm,
    collective: Collective,
    bytes: u64,
}

fn choice() -> impl Strategy<Value = Choice> {
    let offered = (0..Algorithm::ALL.len()).prop_flat_map(|at| {
        let algorithm = Algorithm::ALL[at];
        let offered = tier6_collective::offered(algorithm);
        (Just(algorithm), 0..offered.len())
            .prop_map(|(algorithm, at)| (algorithm, tier6_collective::offered(algorithm)[at]))
    });
    let size = (0_u32..36, 0.5_f64..1.0).prop_map(|(bits, part)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 2^36"
        )]
        let bytes = ((1_u64 << bits) as f64 * part) as u64;
        bytes
    });
    (0_usize..9, 2_u32..=24, any::<u32>(), offered, size).prop_map(
        |(kind, chips, seed, (algorithm, collective), bytes)| Choice {
            kind,
            chips,
            ranks: 2 + seed % (chips - 1),
            algorithm,
            collective,
            bytes,
        },
    )
}

#[derive(Debug, Clone)]
struct Knobs {
    times: [f64; 3],
    pieces: u32,
    slice: u64,
    forms: u32,
    rate: f64,
    gamma: Option<f64>,
    /// Steps by tier, and payload shares by turns of the link classes.
    protocol: Option<([f64; 3], [f64; 3])>,
}

fn knobs() -> impl Strategy<Value = Knobs> {
    (
        [0.0_f64..30.0, 0.0..5.0, 0.0..5.0],
        1_u32..200,
        1_u64..(1 << 22),
        any::<u32>(),
        1.0_f64..2000.0,
        proptest::option::of(1.0_f64..5000.0),
        proptest::option::of((
            [0.0_f64..20.0, 0.0..20.0, 0.0..20.0],
            [0.05_f64..1.0, 0.05..1.0, 0.05..1.0],
        )),
    )
        .prop_map(
            |(times, pieces, slice, forms, rate, gamma, protocol)| Knobs {
                times,
                pieces,
                slice,
                forms,
                rate,
                gamma,
                protocol,
            },
        )
}

fn parameters(ranks: u32, knobs: &Knobs) -> Parameters {
    let bit = |at: u32| knobs.forms >> at & 1 == 1;
    let pick = |at: u32, n: u32| (knobs.forms >> at) % n;
    let pieces = NonZeroU32::new(knobs.pieces).unwrap();
    Parameters {
        protocol: None,
        software: us(knobs.times[0]),
        step: StepCost {
            pipelined: us(knobs.times[1]),
            standalone: us(knobs.times[2]),
        },
        grain: if bit(0) {
            Grain::Slices { bytes: knobs.slice }
        } else {
            Grain::Message
        },
        pieces: [
            Pieces::Count(pieces),
            Pieces::Of(Bytes::new(knobs.slice)),
            Pieces::Best,
        ][pick(1, 3) as usize],
        overlap: [Overlap::Serial, Overlap::Chunked(pieces), Overlap::Full][pick(2, 3) as usize],
        reduce_rate: knobs.gamma.map(GbPerSec::new),
        nvls: Some(InSwitch {
            alpha: us(knobs.times[1]),
            rate: GbPerSec::new(knobs.rate),
        }),
        sharp: Some(Sharp {
            alpha: us(knobs.times[2]),
            efficiency: 1.0,
            contexts: None,
        }),
        placement: if bit(5) {
            Placement::PerNode(NonZeroU32::new(1 + pick(6, 8)).unwrap())
        } else {
            Placement::Packed
        },
        channels: [Channels::One, Channels::Rotated, Channels::AllPeers][pick(9, 3) as usize],
        spread: if bit(12) {
            Spread::Even
        } else {
            Spread::Preferred
        },
        bidir: if bit(13) {
            BidirForm::SplitData
        } else {
            BidirForm::ShortSide
        },
        trees: [
            None,
            Some(Trees::Single),
            Some(Trees::Double),
            Some(Trees::OverNodes),
        ][pick(21, 4) as usize],
        gather: if bit(23) {
            GatherForm::Doubling
        } else {
            GatherForm::Ring
        },
        second_shot: if bit(24) {
            SecondShot::Multicast
        } else {
            SecondShot::Direct
        },
        fold: if bit(25) { Fold::Halves } else { Fold::Whole },
        distance: if bit(14) {
            Distance::Halving
        } else {
            Distance::Doubling
        },
        partner: if bit(15) {
            Partner::Xor
        } else {
            Partner::Shift
        },
        torus: (ranks.is_multiple_of(2) && ranks > 2).then(|| vec![2, ranks / 2]),
        torus_ports: if bit(16) {
            TorusPorts::One
        } else {
            TorusPorts::All
        },
        pat_blocks: bit(17).then_some(1 + pick(18, 4)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_prediction_is_below_the_bounds(choice in choice(), knobs in knobs()) {
        let topology = topology(choice.kind, choice.chips);
        let parameters = parameters(choice.ranks, &knobs);
        let Choice { ranks, algorithm, collective, .. } = choice;
        let plan = Plan::new(&topology, collective, algorithm, ranks, &parameters);
        // What does not fit says how it would.
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => {
                prop_assert!(error.to_string().contains("hint: "), "{error}");
                return Ok(());
            }
        };
        let bytes = Bytes::new(choice.bytes);
        let plan = match &knobs.protocol {
            Some(protocol) => {
                let grain = (knobs.forms >> 20 & 1 == 1).then(|| Bytes::new(knobs.slice));
                let ramp = (knobs.forms >> 26 & 1 == 1).then(|| Ramp {
                    channels: NonZeroU32::new(1 + (knobs.forms >> 27) % 16).unwrap(),
                    bytes: Bytes::new(knobs.slice),
                });
                let prices = Prices { grain, ramp, ..prices(&topology, &plan, protocol) };
                plan.at(prices).unwrap()
            }
            None => plan,
        };
        let parts = plan.parts(bytes);
        let network = parts.total().get() - parts.software.get();
        for part in [parts.software, parts.latency, parts.transfer, parts.reduction, parts.stall] {
            prop_assert!(part.get() >= -TOLERANCE * parts.total().get(), "{parts:?}");
        }
        let least = |bound: f64| bound * (1.0 - TOLERANCE);
        prop_assert!(network >= least(plan.bound(bytes).time().get()), "{parts:?}");
        prop_assert!(network >= least(plan.floor(bytes).get()), "{parts:?}");
        // A longer message takes no less.
        prop_assert!(plan.time(Bytes::new(choice.bytes + 4096)).get() >= least(parts.total().get()));
        let terms = plan.terms(bytes).time(plan.prices()).get();
        prop_assert!((terms - parts.total().get()).abs() <= TOLERANCE * terms, "{terms} {parts:?}");
        let bound = independent_bound(&topology, &plan, bytes);
        prop_assert!(network >= least(bound), "{parts:?} {bound}");
        if collective == Collective::AllToAll && ranks == topology.n_chips() {
            let cut = topology.bisection().unwrap();
            let cut = all_to_all_cut(ranks, bytes, cut).unwrap().get();
            prop_assert!(network >= least(cut), "{parts:?} {cut}");
        }
        // The prediction says what limits it.
        prop_assert!(!plan.predict(&topology, bytes).sentence.is_empty());
    }

    #[test]
    fn a_plan_prices_the_largest_message(choice in choice()) {
        let topology = topology(choice.kind, choice.chips);
        let parameters = Parameters::of(&topology);
        let plan = Plan::new(
            &topology,
            choice.collective,
            choice.algorithm,
            choice.ranks,
            &parameters,
        );
        if let Ok(plan) = plan {
            for bytes in [0, 1, u64::MAX] {
                let time = plan.time(Bytes::new(bytes)).get();
                prop_assert!(time.is_finite() && time >= 0.0, "{bytes}: {time}");
            }
        }
    }
}

/// Prices of a protocol.
fn prices(topology: &Topology, plan: &Plan, of: &([f64; 3], [f64; 3])) -> Prices {
    let tiers = of.0.iter().take(topology.tiers().len());
    let shares = of.1.iter().cycle();
    Prices {
        steps: StepPrices::Neighbours(tiers.map(|step| Some(us(*step))).collect()),
        payload: plan
            .prices()
            .payload
            .iter()
            .zip(shares)
            .map(|(a, b)| a * b)
            .collect(),
        ..plan.prices().clone()
    }
}

/// The bandwidth column of FACTS B.0 written out again, with all the links of the
/// best-connected chip.
fn independent_bound(topology: &Topology, plan: &Plan, bytes: Bytes) -> f64 {
    let (collective, algorithm) = (plan.collective(), plan.algorithm().unwrap());
    let rates = (0..topology.n_chips()).map(|chip| {
        let vertex = topology.chip_vertex(tier6_system::ChipId::new(chip));
        let links = topology.links_from(vertex).iter();
        links
            .map(|link| {
                let link = topology.link(*link);
                link.rate.get() * plan.prices().payload[link.class.index()]
            })
            .sum::<f64>()
    });
    let rate = rates.fold(0.0, f64::max);
    let m = bytes.as_f64() / (rate * 1e3);
    let n = f64::from(plan.ranks());
    let in_network = matches!(
        algorithm,
        Algorithm::Nvls | Algorithm::NvlsTree | Algorithm::CollNetDirect | Algorithm::CollNetChain
    );
    match collective {
        Collective::AllReduce if in_network => m.min(2.0 * (n - 1.0) / n * m),
        Collective::AllReduce => 2.0 * (n - 1.0) / n * m,
        Collective::Broadcast | Collective::Reduce | Collective::SendRecv => m,
        _ => (n - 1.0) / n * m,
    }
}
