//! The bidirectional ring: bytes per direction, and the faulty form of source document 004.

use tier6_collective::{
    Algorithm, BidirForm, BuildOptions, Collective, PortId, Schedule, Violation, build, read_json,
};
use tier6_units::Bytes;

/// Bytes that each rank sends each way.
fn by_direction(schedule: &Schedule) -> Vec<[u64; 2]> {
    let mut sent = vec![[0; 2]; schedule.ranks() as usize];
    for transfer in schedule.transfers().iter().filter(|t| !t.is_local()) {
        let (Some(rank), Some(PortId(way))) = (transfer.issuer(), transfer.port) else {
            panic!("each transfer has a direction");
        };
        sent[rank.index()][usize::from(way)] += transfer.bytes;
    }
    sent
}

#[test]
fn each_direction_carries_its_share_exactly() {
    for ranks in 2..=64_u32 {
        let m = u64::from(ranks) << 10;
        let share = u64::from(ranks - 1) << 10;
        for bidir in [BidirForm::ShortSide, BidirForm::SplitData] {
            let mut options = BuildOptions::new(ranks, Bytes::new(m));
            options.bidir = bidir;
            let sent = |collective| {
                let schedule = build(collective, Algorithm::BidirRing, &options).unwrap();
                by_direction(&schedule)
            };
            // (N-1)/N M per direction for AllReduce, half of it for each half.
            let n = ranks as usize;
            assert_eq!(
                sent(Collective::AllReduce),
                vec![[share; 2]; n],
                "{ranks} {bidir:?}"
            );
            assert_eq!(sent(Collective::AllGather), vec![[share / 2; 2]; n]);
            assert_eq!(sent(Collective::ReduceScatter), vec![[share / 2; 2]; n]);
        }
    }
}

/// The form of source document 004: the chunk of the rank across goes the whole way round one
/// side, ceil(N/2) chunks each way in place of (N-1)/2, for the AllGather half.
fn document_004_all_gather_with_the_chunk_across_sent_whole_both_ways(ranks: u32) -> Schedule {
    let hops = ranks / 2;
    let mut transfers: Vec<String> = Vec::new();
    // The transfer that brought a chunk to a rank, by direction: the step before, one rank back.
    let id = |hop: u32, rank: u32, way: u32| (hop * ranks + rank) * 2 + way;
    for hop in 0..hops {
        for rank in 0..ranks {
            for way in 0..2 {
                let walk = |from: u32, up: u32, count: u32| match up {
                    0 => (from + count) % ranks,
                    _ => (from + ranks - count) % ranks,
                };
                let owner = walk(rank, 1 - way, hop);
                let before = hop
                    .checked_sub(1)
                    .map(|hop| id(hop, walk(rank, 1 - way, 1), way));
                let after: Vec<u32> = before.into_iter().collect();
                let dst = walk(rank, way, 1);
                transfers.push(format!(
                    r#"{{"route":"send","src":{rank},"dst":{dst},"op":"copy","port":{way},"pieces":[{{"from":"recv:{owner}","to":"recv:{owner}"}}],"after":{after:?}}}"#
                ));
            }
        }
    }
    let m = u64::from(ranks) << 10;
    let text = format!(
        r#"{{"schema":"tier6.schedule/1","collective":"all_gather","ranks":{ranks},"bytes":{m},"placement":"in_place","chunks":{ranks},"transfers":[{}]}}"#,
        transfers.join(",")
    );
    read_json(&text).unwrap()
}

#[test]
fn sending_the_chunk_across_whole_costs_n_over_n_minus_one() {
    for ranks in [4_u32, 8, 16, 32] {
        let faulty = document_004_all_gather_with_the_chunk_across_sent_whole_both_ways(ranks);
        let options = BuildOptions::new(ranks, faulty.bytes());
        let right = build(Collective::AllGather, Algorithm::BidirRing, &options).unwrap();
        assert_eq!(faulty.steps().count, right.steps().count);
        // Both copies of the chunk across land on one place.
        assert!(matches!(faulty.check(), Err(Violation::Race { .. })));
        let (faulty, right) = (by_direction(&faulty), by_direction(&right));
        for (faulty, right) in faulty.iter().flatten().zip(right.iter().flatten()) {
            // M/2 per direction whatever N, in place of (N-1)/N M/2.
            assert_eq!(*faulty, u64::from(ranks) << 9);
            assert_eq!(faulty * u64::from(ranks - 1), right * u64::from(ranks));
        }
    }
}
