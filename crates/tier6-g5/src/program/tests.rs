//! Computed programs are the lowered schedules, transfer by transfer.

use tier6_collective::{Algorithm, BuildOptions, Collective, Grain, RankId, TransferId, build};
use tier6_units::Bytes;

use super::{
    Dependency, ExchangeOrder, ExchangeProgram, Lowered, Program, ProgramError, RingPace,
    RingProgram,
};

fn assert_same(computed: &dyn Program, lowered: &dyn Program, name: &str) {
    assert_eq!(computed.ranks(), lowered.ranks(), "{name}");
    assert_eq!(computed.transfers(), lowered.transfers(), "{name}");
    assert_eq!(computed.ports(), lowered.ports(), "{name}");
    assert_eq!(computed.grain(), lowered.grain(), "{name}");
    assert_eq!(computed.handshake(), lowered.handshake(), "{name}");
    let list = |fill: &dyn Fn(&mut Vec<Dependency>)| {
        let mut into = Vec::new();
        fill(&mut into);
        into
    };
    for id in (0..computed.transfers()).map(TransferId) {
        let what = || format!("{name}: transfer {id}");
        assert_eq!(computed.transfer(id), lowered.transfer(id), "{}", what());
        assert_eq!(computed.needs(id), lowered.needs(id), "{}", what());
        assert_eq!(computed.next(id), lowered.next(id), "{}", what());
        let (ours, theirs) = (
            list(&|into| computed.dependencies(id, into)),
            list(&|into| lowered.dependencies(id, into)),
        );
        assert_eq!(ours, theirs, "{}", what());
        let (ours, theirs) = (
            list(&|into| computed.dependents(id, into)),
            list(&|into| lowered.dependents(id, into)),
        );
        assert_eq!(ours, theirs, "{}", what());
    }
    for rank in (0..computed.ranks()).map(RankId) {
        for port in 0..computed.ports() {
            let first = computed.first(rank, port);
            assert_eq!(first, lowered.first(rank, port), "{name}: rank {rank}");
        }
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    computed.loose_starts(&mut ours);
    lowered.loose_starts(&mut theirs);
    // They begin together; a computed program may name them rank by rank.
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{name}");
}

const SIZES: [u64; 4] = [0, 5, 1003, 1 << 20];
const GRAINS: [Grain; 2] = [Grain::Message, Grain::Slices { bytes: 100 }];

#[test]
fn a_computed_ring_is_the_built_one() {
    let collectives = [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::ReduceScatter,
    ];
    let paces = [
        (RingPace::Arrival, Algorithm::Ring),
        (RingPace::OwnSend, Algorithm::SendRecvRing),
    ];
    for n in (2..=16).chain([31, 48, 64]) {
        for (bytes, grain) in SIZES.into_iter().zip(GRAINS.into_iter().cycle()) {
            for collective in collectives {
                for (pace, algorithm) in paces {
                    let mut options = BuildOptions::new(n, Bytes::new(bytes));
                    options.grain = grain;
                    let built = build(collective, algorithm, &options).unwrap();
                    let ring =
                        RingProgram::new(collective, n, Bytes::new(bytes), grain, pace).unwrap();
                    let name = format!("{collective} {algorithm} of {n}, {bytes} bytes");
                    assert_same(&ring, &Lowered::new(&built), &name);
                }
            }
        }
    }
}

#[test]
fn a_computed_exchange_is_the_built_one() {
    let orders = [
        (ExchangeOrder::AllAtOnce, Algorithm::Direct),
        (ExchangeOrder::ByDistance, Algorithm::Pairwise),
    ];
    for n in (2..=16).chain([31, 64]) {
        for (bytes, grain) in SIZES.into_iter().zip(GRAINS.into_iter().cycle()) {
            for (order, algorithm) in orders {
                let mut options = BuildOptions::new(n, Bytes::new(bytes));
                options.grain = grain;
                let built = build(Collective::AllToAll, algorithm, &options).unwrap();
                let exchange = ExchangeProgram::new(n, Bytes::new(bytes), grain, order).unwrap();
                let name = format!("{algorithm} of {n}, {bytes} bytes");
                assert_same(&exchange, &Lowered::new(&built), &name);
            }
        }
    }
}

#[test]
fn what_has_more_transfers_than_ids_is_refused() {
    let bytes = Bytes::new(1);
    let ring =
        |collective, n| RingProgram::new(collective, n, bytes, Grain::Message, RingPace::Arrival);
    assert_eq!(
        ring(Collective::AllReduce, 65_536),
        Err(ProgramError::Ranks { ranks: 65_536 })
    );
    assert!(ring(Collective::AllGather, 65_536).is_ok());
    assert_eq!(
        ring(Collective::Broadcast, 8),
        Err(ProgramError::NotComputed {
            collective: Collective::Broadcast
        })
    );
    assert_eq!(ring(Collective::AllReduce, 1).unwrap().transfers(), 0);
    assert!(ExchangeProgram::new(65_536, bytes, Grain::Message, ExchangeOrder::AllAtOnce).is_err());
}
