//! Which transfers pass on what they wait for, slice by slice.

use tier6_collective::{
    Algorithm, BuildOptions, Collective, Grain, Handshake, Schedule, TransferId, build, read_json,
};
use tier6_units::Bytes;

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
