//! Every builder computes its collective: proved by the checker for N up to 64.

use tier6_collective::{Algorithm, Endpoint};

use crate::cases::cases;

/// Checks every case of an algorithm, for all N to 64 and sizes that do not divide.
fn check(algorithm: Algorithm) {
    let mut n_checked = 0;
    for ranks in 2..=64 {
        // A prime number of bytes that no chunk count divides; fewer bytes than chunks for some.
        let bytes = if ranks % 5 == 0 { 7 } else { 1_000_003 };
        for case in cases(algorithm, ranks, bytes) {
            if let Err(violation) = case.schedule.check() {
                panic!("{}: {violation}", case.name);
            }
            n_checked += 1;
        }
    }
    assert!(n_checked > 0, "{algorithm} has no case");
}

macro_rules! computes_its_collective {
    ($($name:ident: $algorithm:ident,)*) => {
        $(#[test]
        fn $name() {
            check(Algorithm::$algorithm);
        })*

        #[test]
        fn every_algorithm_is_checked() {
            let checked = [$(Algorithm::$algorithm,)*];
            assert_eq!(checked.as_slice(), Algorithm::ALL.as_slice());
        }
    };
}

computes_its_collective! {
    ring: Ring,
    bidir_ring: BidirRing,
    tree: Tree,
    halving_doubling: HalvingDoubling,
    recursive_doubling: RecursiveDoubling,
    send_recv_ring: SendRecvRing,
    pairwise: Pairwise,
    bruck: Bruck,
    direct: Direct,
    one_shot: OneShot,
    two_shot: TwoShot,
    hierarchical: Hierarchical,
    nvls: Nvls,
    nvls_tree: NvlsTree,
    collnet_direct: CollNetDirect,
    collnet_chain: CollNetChain,
    pat: Pat,
    binomial: Binomial,
    scatter_all_gather: ScatterAllGather,
    torus_bucket: TorusBucket,
    swing: Swing,
}

#[test]
fn what_leaves_arrives() {
    for algorithm in Algorithm::ALL {
        for case in cases(algorithm, 12, 4099)
            .into_iter()
            .chain(cases(algorithm, 8, 4099))
        {
            let schedule = case.schedule;
            let (mut sent, mut received) = (0, 0);
            for flow in schedule.flows() {
                match (flow.from, flow.to) {
                    (Endpoint::Rank(_), Endpoint::Rank(_)) => {
                        sent += flow.bytes;
                        received += flow.bytes;
                    }
                    (Endpoint::Rank(_), Endpoint::Switch(_)) => sent += flow.bytes,
                    (Endpoint::Switch(_), Endpoint::Rank(_)) => received += flow.bytes,
                    (Endpoint::Switch(_), Endpoint::Switch(_)) => panic!("{}", case.name),
                }
            }
            assert_eq!(
                schedule.sent_bytes().iter().sum::<u64>(),
                sent,
                "{}",
                case.name
            );
            assert_eq!(schedule.received_bytes().iter().sum::<u64>(), received);
            let by_step: u64 = schedule.pair_bytes().iter().map(|pair| pair.bytes).sum();
            assert_eq!(
                by_step,
                schedule.flows().map(|flow| flow.bytes).sum::<u64>()
            );
        }
    }
}
