//! Schedules of 1,024 ranks are built and proved.

use std::time::Instant;

use tier6_collective::{Algorithm, BuildOptions, Collective, build};
use tier6_units::Bytes;

/// The largest ring, and the logarithmic algorithms, whose proof is another kind of work. Times
/// are printed, not asserted: a debug build on a busy machine says nothing about speed.
#[test]
fn a_thousand_ranks_are_built_and_checked() {
    let ranks = if cfg!(debug_assertions) { 256 } else { 1024 };
    for (collective, algorithm) in [
        (Collective::AllReduce, Algorithm::Ring),
        (Collective::AllReduce, Algorithm::HalvingDoubling),
        (Collective::AllReduce, Algorithm::Tree),
        (Collective::AllReduce, Algorithm::BidirRing),
        (Collective::AllReduce, Algorithm::Swing),
        (Collective::AllReduce, Algorithm::TwoShot),
        (Collective::AllToAll, Algorithm::Pairwise),
        (Collective::AllToAll, Algorithm::Bruck),
        (Collective::AllGather, Algorithm::Pat),
    ] {
        let options = BuildOptions::new(ranks, Bytes::new(1 << 30));
        let start = Instant::now();
        let schedule = build(collective, algorithm, &options).unwrap();
        let built = start.elapsed();
        let checked = schedule.check();
        let n_transfers = schedule.transfers().len();
        eprintln!(
            "{algorithm} {collective}, {ranks} ranks, {n_transfers} transfers: built in {built:?}, \
             built and checked in {:?}",
            start.elapsed()
        );
        assert_eq!(checked, Ok(()));
    }
}
