//! Plans against the closed forms where both apply, and the collectives against each other.

use std::num::NonZeroU32;
use tier6_collective::{Algorithm, BidirForm, Collective, Grain, TorusPorts};
use tier6_math::law::{self, Egress, LawError, Wire};
use tier6_math::{Parameters, Parts, Pieces, Plan, StepCost};
use tier6_system::{FabricSpec, SystemSpec, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

const RATE: f64 = 40.0;
const ALPHA: f64 = 3.0;

fn us(value: f64) -> Micros {
    Micros::new(value)
}

/// Links without latency, so that all of a step is the rank's.
fn system(chips: u32, fabric: FabricSpec) -> Topology {
    let spec = SystemSpec::uniform(chips, fabric, GbPerSec::new(RATE), us(0.0));
    spec.resolve().unwrap()
}

fn crossbar(chips: u32) -> Topology {
    system(chips, FabricSpec::star())
}

fn parameters(topology: &Topology) -> Parameters {
    Parameters {
        software: us(20.0),
        step: StepCost::alike(us(ALPHA)),
        reduce_rate: Some(GbPerSec::new(200.0)),
        pieces: Pieces::Count(NonZeroU32::MIN),
        ..Parameters::of(topology)
    }
}

fn wire() -> Wire {
    let wire = Wire::new(us(ALPHA), GbPerSec::new(RATE)).unwrap();
    wire.with_reduction(GbPerSec::new(200.0)).unwrap()
}

fn planned(
    topology: &Topology,
    collective: Collective,
    algorithm: Algorithm,
    ranks: u32,
    change: impl Fn(&mut Parameters),
) -> Plan {
    let mut parameters = parameters(topology);
    change(&mut parameters);
    Plan::new(topology, collective, algorithm, ranks, &parameters)
        .unwrap_or_else(|error| panic!("{algorithm} {collective} {ranks}: {error}"))
}

fn close(found: Parts, expected: Parts, what: &str) {
    let expected = expected.after(us(20.0));
    let pairs = [
        (found.software, expected.software),
        (found.latency, expected.latency),
        (found.transfer, expected.transfer),
        (found.reduction, expected.reduction),
        (found.stall, expected.stall),
    ];
    for (found, expected) in pairs {
        let tolerance = 1e-9 * expected.get().max(1.0);
        let difference = (found.get() - expected.get()).abs();
        assert!(
            difference <= tolerance,
            "{what}: {found} instead of {expected}"
        );
    }
}

/// Compares on a crossbar for all N up to 17.
fn check(
    collective: Collective,
    algorithm: Algorithm,
    applies: impl Fn(u32) -> bool,
    law: impl Fn(u32, Bytes) -> Result<Parts, LawError>,
) {
    for ranks in (2..=17).filter(|ranks| applies(*ranks)) {
        let topology = crossbar(ranks);
        let plan = planned(&topology, collective, algorithm, ranks, |_| ());
        for bytes in [0, 8, 1000, 1 << 20, 3 << 30].map(Bytes::new) {
            let what = format!("{algorithm} {collective}, N = {ranks}, {bytes}");
            close(plan.parts(bytes), law(ranks, bytes).unwrap(), &what);
        }
    }
}

#[test]
fn on_a_crossbar_plans_are_the_closed_forms() {
    use Algorithm as A;
    use Collective::{AllGather, AllReduce, AllToAll, Broadcast, Reduce, ReduceScatter};
    let any = |_: u32| true;
    let powers = u32::is_power_of_two;
    let w = wire();
    for collective in [AllReduce, AllGather, ReduceScatter] {
        let grain = Grain::Message;
        check(collective, A::Ring, any, |n, m| {
            law::ring(collective, n, m, &w, grain)
        });
        check(collective, A::SendRecvRing, any, |n, m| {
            law::send_recv_ring(collective, n, m, &w, us(0.0))
        });
        check(collective, A::HalvingDoubling, powers, |n, m| {
            law::halving_doubling(collective, n, m, &w)
        });
        // Both directions leave through the one port.
        check(
            collective,
            A::BidirRing,
            |n| n > 2,
            |n, m| {
                let form = BidirForm::ShortSide;
                law::bidir_ring(collective, n, m, &w, form, Egress::Shared)
            },
        );
    }
    for collective in [AllGather, ReduceScatter, AllToAll] {
        check(collective, A::Direct, any, |n, m| {
            law::direct(collective, n, m, &w)
        });
        check(collective, A::Bruck, any, |n, m| {
            law::bruck(collective, n, m, &w)
        });
    }
    check(AllGather, A::Pat, any, |n, m| law::pat(AllGather, n, m, &w));
    check(ReduceScatter, A::Pat, any, |n, m| {
        law::pat(ReduceScatter, n, m, &w)
    });
    check(AllToAll, A::Pairwise, any, |n, m| law::pairwise(n, m, &w));
    // Of other numbers a schedule starts the exchange before the folds arrive.
    check(AllReduce, A::RecursiveDoubling, powers, |n, m| {
        law::recursive_doubling(AllReduce, n, m, &w)
    });
    check(AllGather, A::RecursiveDoubling, powers, |n, m| {
        law::recursive_doubling(AllGather, n, m, &w)
    });
    check(AllReduce, A::OneShot, any, |n, m| law::one_shot(n, m, &w));
    check(AllReduce, A::TwoShot, any, |n, m| law::two_shot(n, m, &w));
    check(Broadcast, A::Binomial, any, |n, m| {
        law::binomial(Broadcast, n, m, &w)
    });
    check(Reduce, A::Binomial, any, |n, m| {
        law::binomial(Reduce, n, m, &w)
    });
    check(Broadcast, A::Ring, any, |n, m| {
        law::chain(Broadcast, n, m, &w, NonZeroU32::MIN)
    });
}

#[test]
fn swing_is_its_closed_form_for_every_even_number() {
    use Collective::{AllGather, AllReduce, ReduceScatter};
    let wire = wire();
    for ranks in (2..=64).step_by(2) {
        let topology = crossbar(ranks);
        for collective in [AllReduce, AllGather, ReduceScatter] {
            let plan = planned(&topology, collective, Algorithm::Swing, ranks, |_| ());
            let steps = plan.loads().steps.iter().map(|step| step.repeat);
            let phases = if collective == AllReduce { 2 } else { 1 };
            let levels = ranks.next_power_of_two().ilog2();
            assert_eq!(steps.sum::<u32>(), phases * levels, "{ranks}");
            for bytes in [0, 1000, 1 << 20, 3 << 30].map(Bytes::new) {
                let law = law::swing(collective, ranks, bytes, &wire).unwrap();
                close(
                    plan.parts(bytes),
                    law,
                    &format!("{collective}, N = {ranks}, {bytes}"),
                );
            }
        }
        let odd = law::swing(AllReduce, ranks + 1, Bytes::new(8), &wire);
        assert!(matches!(odd, Err(LawError::NeedsEven { .. })));
    }
}

#[test]
fn by_slices_a_plan_is_the_max_law() {
    for ranks in [2, 3, 8, 32] {
        let topology = crossbar(ranks);
        for slice in [1 << 10, 1 << 16, 1 << 24] {
            let grain = Grain::Slices { bytes: slice };
            for collective in [Collective::AllReduce, Collective::AllGather] {
                let plan = planned(&topology, collective, Algorithm::Ring, ranks, |p| {
                    p.grain = grain;
                });
                for bytes in [1 << 12, 1 << 20, 1 << 28].map(Bytes::new) {
                    let law = law::ring(collective, ranks, bytes, &wire(), grain).unwrap();
                    close(plan.parts(bytes), law, &format!("{ranks} {slice} {bytes}"));
                }
            }
        }
    }
}

#[test]
fn chains_in_pieces_and_tori_are_their_closed_forms() {
    for k in [1, 4, 64] {
        let pieces = NonZeroU32::new(k).unwrap();
        for collective in [Collective::Broadcast, Collective::Reduce] {
            let topology = crossbar(9);
            let plan = planned(&topology, collective, Algorithm::Ring, 9, |p| {
                p.pieces = Pieces::Count(pieces);
            });
            let bytes = Bytes::new(1 << 26);
            let law = law::chain(collective, 9, bytes, &wire(), pieces).unwrap();
            close(plan.parts(bytes), law, &format!("{collective} in {k}"));
        }
    }
    let best = planned(
        &crossbar(9),
        Collective::Broadcast,
        Algorithm::Ring,
        9,
        |p| {
            p.pieces = Pieces::Best;
        },
    );
    for bytes in [0, 1, 1 << 10, 1 << 20, 1 << 30].map(Bytes::new) {
        let pieces = law::best_pieces(9, bytes, &wire()).unwrap();
        let law = law::chain(Collective::Broadcast, 9, bytes, &wire(), pieces).unwrap();
        close(
            best.parts(bytes),
            law,
            &format!("the best pieces of {bytes}"),
        );
    }
    for dims in [vec![3, 3], vec![4, 4], vec![3, 3, 3]] {
        let chips = dims.iter().product();
        let topology = system(chips, FabricSpec::Torus { dims: dims.clone() });
        for ports in [TorusPorts::One, TorusPorts::All] {
            let plan = planned(
                &topology,
                Collective::AllReduce,
                Algorithm::TorusBucket,
                chips,
                |p| p.torus_ports = ports,
            );
            let bytes = Bytes::new(1 << 26);
            let law = law::torus_bucket(Collective::AllReduce, &dims, bytes, &wire(), ports);
            close(
                plan.parts(bytes),
                law.unwrap(),
                &format!("{dims:?} {ports:?}"),
            );
        }
    }
    // Own links for both directions: half of a ring.
    let fabric = FabricSpec::ring();
    let topology = system(7, fabric);
    let plan = planned(
        &topology,
        Collective::AllReduce,
        Algorithm::BidirRing,
        7,
        |_| (),
    );
    let bytes = Bytes::new(1 << 26);
    let (form, egress) = (BidirForm::ShortSide, Egress::OwnLinks);
    let law = law::bidir_ring(Collective::AllReduce, 7, bytes, &wire(), form, egress);
    close(plan.parts(bytes), law.unwrap(), "bidirectional ring");
}

#[test]
fn the_piped_double_tree_reaches_two_messages_per_port_on_a_crossbar() {
    for ranks in [4, 8, 15, 16, 32] {
        let topology = crossbar(ranks);
        let time = |k: u32| {
            let plan = planned(
                &topology,
                Collective::AllReduce,
                Algorithm::Tree,
                ranks,
                |p| {
                    p.pieces = Pieces::Count(NonZeroU32::new(k).unwrap());
                    p.reduce_rate = None;
                    p.step = StepCost::FREE;
                },
            );
            plan.time(Bytes::new(1 << 30)).get() - 20.0
        };
        let limit = 2.0 * f64::from(1 << 30) / (RATE * 1e3);
        assert!((time(256) / limit - 1.0).abs() < 0.05, "N = {ranks}");
        assert!(time(1) > time(8) && time(8) > time(256), "N = {ranks}");
    }
}

#[test]
fn all_reduce_is_reduce_scatter_and_all_gather_within_one_software_term() {
    let decomposable = [
        Algorithm::Ring,
        Algorithm::BidirRing,
        Algorithm::SendRecvRing,
        Algorithm::HalvingDoubling,
        Algorithm::Swing,
        Algorithm::TorusBucket,
    ];
    let rings = FabricSpec::ring();
    let torus = FabricSpec::Torus { dims: vec![4, 4] };
    for fabric in [None, Some(rings), Some(torus)] {
        let topology = fabric.map_or_else(|| crossbar(16), |fabric| system(16, fabric));
        for algorithm in decomposable {
            for grain in [Grain::Message, Grain::Slices { bytes: 1 << 16 }] {
                let time = |collective| {
                    let plan = planned(&topology, collective, algorithm, 16, |p| {
                        p.grain = grain;
                        p.torus = Some(vec![4, 4]);
                    });
                    let parts = plan.parts(Bytes::new(1 << 24));
                    (parts.total().get(), parts.software.get())
                };
                let (all, software) = time(Collective::AllReduce);
                let (scatter, _) = time(Collective::ReduceScatter);
                let (gather, _) = time(Collective::AllGather);
                let difference = scatter + gather - all - software;
                // By slices each half has a tail of its own: at most a hop or a chunk.
                let tail = match grain {
                    Grain::Message => 1e-9 * all,
                    Grain::Slices { .. } => ALPHA + f64::from(1 << 20) / (RATE * 1e3),
                };
                assert!(
                    difference >= -1e-9 * all && difference <= tail,
                    "{algorithm} on {}: {difference}",
                    topology.name()
                );
            }
        }
    }
}

#[test]
fn slices_hide_the_hop_of_large_messages_and_set_the_pace_of_small_ones() {
    // FACTS B.9 and E.7, on links of 1 us.
    let time = |ranks: u32, bytes: u64, grain| {
        let fabric = FabricSpec::star();
        let spec = SystemSpec::uniform(ranks, fabric, GbPerSec::new(RATE), us(1.0));
        let topology = spec.resolve().unwrap();
        let plan = planned(
            &topology,
            Collective::AllReduce,
            Algorithm::Ring,
            ranks,
            |p| {
                p.grain = grain;
                p.reduce_rate = None;
            },
        );
        plan.time(Bytes::new(bytes)).get() - 20.0
    };
    let slices = Grain::Slices { bytes: 4096 };
    let hop = ALPHA + 2.0;
    for ranks in [4, 16, 64] {
        let steps = 2.0 * f64::from(ranks - 1);
        // Nothing to send: linear in N.
        assert!((time(ranks, 0, slices) - steps * hop).abs() < 1e-9);
        // Much to send: one hop, or one per step.
        let bytes = u64::from(ranks) << 24;
        let chunk = f64::from(1 << 24) / (RATE * 1e3);
        assert!((time(ranks, bytes, slices) - steps * chunk - hop).abs() < 1e-6);
        assert!((time(ranks, bytes, Grain::Message) - steps * (chunk + hop)).abs() < 1e-6);
        // Between them at every size.
        for bits in 0..34 {
            let bytes = 1 << bits;
            let chunk = bytes as f64 / f64::from(ranks) / (RATE * 1e3);
            let found = time(ranks, bytes, slices);
            let (low, high) = (steps * chunk.max(hop), steps * (chunk + hop));
            assert!(
                found >= low * (1.0 - 1e-12) && found <= high * (1.0 + 1e-12),
                "{bytes}"
            );
        }
    }
}
