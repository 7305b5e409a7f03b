//! Which transfers pass on what they wait for, slice by slice.

use tier6_collective::{
    Algorithm, BuildOptions, Collective, Follow, Grain, Handshake, Schedule, TransferId, build,
    read_json,
};
use tier6_units::Bytes;

use crate::cases::cases;

fn made(collective: Collective, algorithm: Algorithm) -> Schedule {
    let mut options = BuildOptions::new(8, Bytes::new(8 << 20));
    options.grain = Grain::Slices { bytes: 1 << 17 };
    build(collective, algorithm, &options).unwrap()
}

/// Counts dependencies, and those that are forwarded.
fn count(schedule: &Schedule) -> (usize, usize) {
    let dependencies = |id: TransferId| schedule.dependencies(id).iter().copied();
    let all: Vec<_> = schedule
        .iter()
        .flat_map(|(id, _)| dependencies(id).map(move |before| (id, before)))
        .collect();
    let forwarded = all
        .iter()
        .filter(|(id, before)| schedule.forwards(*id, *before));
    (all.len(), forwarded.count())
}

#[test]
fn a_ring_forwards_at_every_step_but_the_first() {
    let ring = made(Collective::AllReduce, Algorithm::Ring);
    assert_eq!(count(&ring), (13 * 8, 13 * 8));
    // With a rendezvous a rank also waits for its own send, which it does not forward.
    let send_recv = made(Collective::AllReduce, Algorithm::SendRecvRing);
    assert_eq!(count(&send_recv), (2 * 13 * 8, 13 * 8));
    assert_eq!(ring.handshake(), Handshake::Eager);
    assert_eq!(send_recv.handshake(), Handshake::Rendezvous);
}

#[test]
fn an_exchange_forwards_nothing() {
    let pairwise = made(Collective::AllToAll, Algorithm::Pairwise);
    let (all, forwarded) = count(&pairwise);
    assert!(all > 0);
    assert_eq!(forwarded, 0);
    let halving = made(Collective::ReduceScatter, Algorithm::HalvingDoubling);
    assert_eq!(count(&halving).1, 0, "half of what arrives goes on");
}

#[test]
fn the_grain_is_kept() {
    let ring = made(Collective::AllGather, Algorithm::Ring);
    assert_eq!(ring.grain(), Grain::Slices { bytes: 1 << 17 });
    assert_eq!(read_json(&ring.to_json()), Ok(ring));
}

#[test]
fn dependents_are_the_dependencies_turned_round() {
    for algorithm in Algorithm::ALL {
        for case in cases(algorithm, 12, 4099) {
            let schedule = &case.schedule;
            let mut expected = vec![Vec::new(); schedule.transfers().len()];
            for (id, _) in schedule.iter() {
                for before in schedule.dependencies(id) {
                    let forwards = schedule.forwards(id, *before);
                    expected[before.index()].push((id, forwards));
                }
            }
            let dependents = schedule.dependents();
            for (id, _) in schedule.iter() {
                let list = dependents.of(id).iter();
                let found: Vec<_> = list.map(|d| (d.id, d.follow == Follow::Slices)).collect();
                assert_eq!(found, expected[id.index()], "{} {id}", case.name);
            }
        }
    }
}

#[test]
fn nvls_forwards_a_sum_from_the_rank_that_got_it() {
    let nvls = made(Collective::AllReduce, Algorithm::Nvls);
    assert_eq!(count(&nvls), (8, 8), "each owner stores what it loaded");
}

#[test]
fn queues_hold_what_leaves_through_a_port_in_order() {
    for algorithm in Algorithm::ALL {
        for case in cases(algorithm, 8, 4099) {
            let schedule = &case.schedule;
            let queues = schedule.queues();
            assert!(queues.is_sorted_by_key(|queue| (queue.rank, queue.port)));
            let mut n_queued = 0;
            for queue in &queues {
                assert!(!queue.transfers.is_empty() && queue.transfers.is_sorted());
                for id in &queue.transfers {
                    let transfer = schedule.transfers()[id.index()];
                    assert_eq!(transfer.queue(), Some((queue.rank, queue.port)));
                    assert!(!transfer.is_local(), "{} {id}", case.name);
                }
                n_queued += queue.transfers.len();
            }
            let all = schedule.transfers().iter();
            assert_eq!(n_queued, all.filter(|t| t.queue().is_some()).count());
        }
    }
    // A ring has one port per rank, and everything goes through it.
    let queues = made(Collective::AllReduce, Algorithm::Ring).queues();
    assert_eq!(queues.len(), 8);
    assert!(queues.iter().all(|queue| queue.transfers.len() == 14));
    // What is sent directly waits in no queue.
    assert_eq!(made(Collective::AllToAll, Algorithm::Direct).queues(), []);
}
