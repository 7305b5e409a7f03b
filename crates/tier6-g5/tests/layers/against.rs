//! Two networks that were written apart, on the same traffic: trains that stop being trains where
//! layers act, and every packet by itself.

use tier6_g5::{AckMerge, CreditScope, Credits, G5Parameters, PacketNetwork, Pfc};
use tier6_system::Topology;
use tier6_units::SimTime;

use crate::single::LayeredNetwork;
use crate::traffic::{Draws, FRAME, Load, carry, mesh, open_layers, star};

const RATE: f64 = 50.0;

fn topology(draws: &mut Draws) -> Topology {
    let n = [2, 3, 5, 8][draws.below(4) as usize];
    let latency = [0.1, 1.0][draws.below(2) as usize];
    match draws.below(2) {
        0 => star(n, RATE, latency),
        _ => mesh(n, RATE, latency),
    }
}

/// Messages between different pairs, over links that either begin at a chip or are fed by others
/// (a link that is both takes turns here and first comers there): what two of one pair do to each other is the one thing that
/// the networks see apart (in turn there, one after the other here).
fn loads(draws: &mut Draws, n: u32) -> Vec<Load> {
    let mut pairs = std::collections::BTreeSet::new();
    let mut loads = Vec::new();
    for _ in 0..[1, 2, 6][draws.below(3) as usize] {
        let from = draws.below(n);
        let to = (from + 1 + draws.below(n - 1)) % n;
        if pairs.insert((from, to)) {
            loads.push(Load {
                at: SimTime::from_ps(u64::from(draws.below(3_000_000))),
                from,
                to,
                bytes: [100, 5_000, 100_000, 800_000][draws.below(4) as usize],
            });
        }
    }
    loads
}

/// Compares the networks on random traffic; arrivals may differ by so many frames.
fn compare(frames: u64, change: impl Fn(&mut G5Parameters, &mut Draws)) {
    for seed in 0..300 {
        let mut draws = Draws(seed);
        let topology = topology(&mut draws);
        let loads = loads(&mut draws, topology.n_chips());
        let mut parameters = open_layers();
        change(&mut parameters, &mut draws);
        let packet = PacketNetwork::new(&parameters);
        let packet = carry(packet, &topology, &parameters, seed, &loads, SimTime::NEVER);
        let plain = LayeredNetwork::new(&parameters, seed);
        let plain = carry(plain, &topology, &parameters, seed, &loads, SimTime::NEVER);
        let frame = FRAME * 20;
        for (number, load) in loads.iter().enumerate() {
            let what = || {
                format!(
                    "seed {seed}: {load:?} of {loads:?} on {}, {parameters:?}",
                    topology.name()
                )
            };
            let (Some(packet), Some(plain)) = (packet.arrived[number], plain.arrived[number])
            else {
                panic!(
                    "{:?} and {:?}: {}",
                    packet.arrived[number],
                    plain.arrived[number],
                    what()
                );
            };
            let apart = packet.ps().abs_diff(plain.ps());
            assert!(apart <= frames * frame, "{packet} and {plain}: {}", what());
        }
    }
}

/// Whose turn it is differs by a packet of each that meets.
#[test]
fn open_layers_agree() {
    compare(6, |_, _| {});
    compare(6, |parameters, _| parameters.rc_link = None);
}

#[test]
fn merged_acknowledgements_agree() {
    compare(6, |parameters, draws| {
        let visit = [10_000, 500_000][draws.below(2) as usize];
        let link = parameters.rc_link.as_mut().unwrap();
        link.ack = AckMerge::Every(SimTime::from_ps(visit));
    });
}

#[test]
fn windows_agree() {
    compare(12, |parameters, draws| {
        parameters.rc_link.as_mut().unwrap().window = [2, 20, 100][draws.below(3) as usize];
    });
}

#[test]
fn credits_of_links_agree() {
    compare(12, |parameters, draws| {
        parameters.rc_link.as_mut().unwrap().credits = Some(Credits {
            unit: 512,
            count: [300, 1000][draws.below(2) as usize],
            period: SimTime::ZERO,
            scope: CreditScope::PerLink,
        });
    });
}

#[test]
fn credits_of_chips_agree() {
    compare(12, |parameters, draws| {
        parameters.rc_link.as_mut().unwrap().credits = Some(Credits {
            unit: 512,
            count: [60, 1000][draws.below(2) as usize],
            period: SimTime::ZERO,
            scope: CreditScope::EndToEnd,
        });
    });
}

#[test]
fn pauses_agree() {
    compare(60, |parameters, draws| {
        parameters.queue.buffer = Some([400_000, 3_000_000][draws.below(2) as usize]);
        parameters.queue.pfc = Some(Pfc {
            headroom: 30_000,
            ..Pfc::hpcc()
        });
    });
}
