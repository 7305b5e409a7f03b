//! What cannot be built is refused with a way out.

use tier6_collective::{
    Algorithm, BuildOptions, Collective, Partner, RANKS_MAX, RankId, Trees, build, offers,
};
use tier6_units::Bytes;

fn refusal(
    collective: Collective,
    algorithm: Algorithm,
    ranks: u32,
    change: impl Fn(&mut BuildOptions),
) -> String {
    let mut options = BuildOptions::new(ranks, Bytes::new(1024));
    change(&mut options);
    build(collective, algorithm, &options)
        .unwrap_err()
        .to_string()
}

#[expect(clippy::needless_pass_by_value, reason = "reads as a table")]
fn check(text: String, expected: &str) {
    assert_eq!(text, expected);
}

#[test]
fn every_refusal_names_a_way_out() {
    use Collective::{AllReduce, AllToAll, AllToAllV, Broadcast, HyperCube};
    let plain = |_: &mut BuildOptions| ();
    check(
        refusal(Broadcast, Algorithm::Nvls, 8, plain),
        "`nvls` does not offer `broadcast`; hint: use ring, bidir_ring, tree, send_recv_ring, \
         direct, binomial, scatter_all_gather",
    );
    check(
        refusal(AllReduce, Algorithm::Direct, 8, plain),
        "`direct` does not offer `all_reduce`; hint: direct reduce-scatter and all-gather together \
         are two_shot",
    );
    check(
        refusal(AllToAllV, Algorithm::Pairwise, 8, plain),
        "`pairwise` does not offer `all_to_all_v`; hint: describe the transfers in a schedule file",
    );
    check(
        refusal(AllReduce, Algorithm::Ring, 1, plain),
        "1 ranks; hint: schedules are unrolled for 2 to 4096 ranks",
    );
    check(
        refusal(AllReduce, Algorithm::Swing, 7, plain),
        "`swing` needs an even number, not 7 ranks; hint: use halving_doubling, which folds the \
         other ranks, or ring",
    );
    check(
        refusal(AllToAll, Algorithm::Pairwise, 6, |o| {
            o.partner = Partner::Xor;
        }),
        "`pairwise` needs a power of two, not 6 ranks; hint: exchange by shift",
    );
    check(
        refusal(HyperCube, Algorithm::RecursiveDoubling, 6, plain),
        "`recursive_doubling` needs a power of two, not 6 ranks; hint: run all_gather, which folds \
         the other ranks",
    );
}

#[test]
fn every_unfit_option_names_a_way_out() {
    use Collective::{AllGather, AllReduce, Broadcast};
    let plain = |_: &mut BuildOptions| ();
    check(
        refusal(AllReduce, Algorithm::Hierarchical, 8, plain),
        "`hierarchical` tells nodes apart; hint: set the ranks per node",
    );
    check(
        refusal(Broadcast, Algorithm::Tree, 8, |o| {
            o.trees = Trees::OverNodes;
        }),
        "`tree` tells nodes apart; hint: set the ranks per node",
    );
    check(
        refusal(AllReduce, Algorithm::NvlsTree, 8, |o| {
            o.ranks_per_node = Some(3);
        }),
        "8 ranks do not fill nodes of 3; hint: the ranks per node must divide the ranks",
    );
    check(
        refusal(AllReduce, Algorithm::CollNetDirect, 8, |o| {
            o.ranks_per_node = Some(8);
        }),
        "`collnet_direct` reduces between nodes, and there is one node; hint: use nvls or ring",
    );
    check(
        refusal(AllReduce, Algorithm::TorusBucket, 8, |o| {
            o.torus = Some(vec![3, 3]);
        }),
        "`torus_bucket` needs dimensions of at least 2 whose product is 8, not [3, 3]; hint: for \
         example [4, 4] for 16 ranks",
    );
    check(
        refusal(Broadcast, Algorithm::Ring, 8, |o| o.root = RankId(8)),
        "root 8 does not exist; hint: the ranks are 0 to 7",
    );
    check(
        refusal(Broadcast, Algorithm::Ring, 8, |o| o.pieces = 0),
        "0 pieces; hint: use at least 1, and pieces x ranks up to 4194304",
    );
    check(
        refusal(AllGather, Algorithm::Pat, 8, |o| o.pat_blocks = Some(0)),
        "0 blocks per message; hint: allow PAT at least 1",
    );
}

#[test]
fn what_is_not_offered_is_refused_and_nothing_panics() {
    for algorithm in Algorithm::ALL {
        for collective in Collective::ALL {
            for ranks in [0, 1, 5, RANKS_MAX + 1, u32::MAX] {
                let mut options = BuildOptions::new(ranks, Bytes::new(u64::MAX));
                options.ranks_per_node = Some(0);
                options.torus = Some(vec![u32::MAX, 2, 3]);
                let built = build(collective, algorithm, &options);
                assert!(ranks == 5 || built.is_err());
                assert!(offers(algorithm, collective) || built.is_err());
            }
        }
    }
}
