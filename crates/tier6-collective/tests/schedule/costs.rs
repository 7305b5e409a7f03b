//! Steps, bytes and reductions per rank are those of FACTS B.1, B.3, B.6, B.7 and B.8.

use tier6_collective::{
    Algorithm, BidirForm, BuildOptions, Collective, Distance, Fold, GatherForm, Route, Schedule,
    SecondShot, TorusPorts, Trees, build, offers,
};
use tier6_units::Bytes;

/// M: every chunk count up to 64, halves and powers of two included, divides it.
fn message(ranks: u32) -> u64 {
    u64::from(ranks) * 64 * 1024
}

fn made(collective: Collective, algorithm: Algorithm, options: &BuildOptions) -> Schedule {
    build(collective, algorithm, options)
        .unwrap_or_else(|error| panic!("{algorithm} {collective} {}: {error}", options.ranks))
}

/// What a rank spends at most: steps, bytes sent, bytes reduced.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    steps: u32,
    sent: u64,
    reduced: u64,
}

fn cost(schedule: &Schedule) -> Cost {
    let most = |bytes: Vec<u64>| bytes.into_iter().max().unwrap();
    Cost {
        steps: schedule.steps().count,
        sent: most(schedule.sent_bytes()),
        reduced: most(schedule.reduced_bytes()),
    }
}

/// Checks the cost for all N; `expected` gets N, ceil(lg N), M/N and M.
fn check(
    collective: Collective,
    algorithm: Algorithm,
    change: impl Fn(&mut BuildOptions),
    expected: impl Fn(u32, u32, u64, u64) -> (u32, u64, u64),
) {
    for ranks in 2..=64 {
        let m = message(ranks);
        let mut options = BuildOptions::new(ranks, Bytes::new(m));
        change(&mut options);
        let levels = ranks.next_power_of_two().ilog2();
        let (steps, sent, reduced) = expected(ranks, levels, m / u64::from(ranks), m);
        let expected = Cost {
            steps,
            sent,
            reduced,
        };
        let schedule = made(collective, algorithm, &options);
        assert_eq!(
            cost(&schedule),
            expected,
            "{algorithm} {collective} {ranks}"
        );
    }
}

fn check_plain(
    collective: Collective,
    algorithm: Algorithm,
    expected: impl Fn(u32, u32, u64, u64) -> (u32, u64, u64),
) {
    check(collective, algorithm, |_| (), expected);
}

/// (N-1) of something.
fn but_one(ranks: u32, bytes: u64) -> u64 {
    u64::from(ranks - 1) * bytes
}

#[test]
fn rings() {
    use Collective::{AllGather, AllReduce, ReduceScatter};
    for algorithm in [Algorithm::Ring, Algorithm::SendRecvRing] {
        check_plain(AllReduce, algorithm, |n, _, c, _| {
            (2 * (n - 1), 2 * but_one(n, c), but_one(n, c))
        });
        check_plain(AllGather, algorithm, |n, _, c, _| (n - 1, but_one(n, c), 0));
        check_plain(ReduceScatter, algorithm, |n, _, c, _| {
            (n - 1, but_one(n, c), but_one(n, c))
        });
    }
    let split = |o: &mut BuildOptions| o.bidir = BidirForm::SplitData;
    check(AllReduce, Algorithm::BidirRing, split, |n, _, c, _| {
        (2 * (n - 1), 2 * but_one(n, c), but_one(n, c))
    });
    check_plain(AllReduce, Algorithm::BidirRing, |n, _, c, _| {
        (2 * (n / 2), 2 * but_one(n, c), but_one(n, c))
    });
    check_plain(AllGather, Algorithm::BidirRing, |n, _, c, _| {
        (n / 2, but_one(n, c), 0)
    });
}

#[test]
fn chains_and_trees() {
    use Collective::{Broadcast, Gather, Reduce, Scatter};
    for pieces in [1, 4, 16] {
        let cut = |o: &mut BuildOptions| o.pieces = pieces;
        check(Broadcast, Algorithm::Ring, cut, |n, _, _, m| {
            (n - 2 + pieces, m, 0)
        });
        check(Reduce, Algorithm::Ring, cut, |n, _, _, m| {
            (n - 2 + pieces, m, m)
        });
    }
    check_plain(Broadcast, Algorithm::Binomial, |_, levels, _, m| {
        (levels, u64::from(levels) * m, 0)
    });
    check_plain(Reduce, Algorithm::Binomial, |_, levels, _, m| {
        (levels, m, u64::from(levels) * m)
    });
    check_plain(Scatter, Algorithm::Binomial, |n, levels, c, _| {
        (levels, but_one(n, c), 0)
    });
    for ranks in 2..=64 {
        let options = BuildOptions::new(ranks, Bytes::new(message(ranks)));
        let levels = ranks.next_power_of_two().ilog2();
        let gather = made(Gather, Algorithm::Binomial, &options);
        assert_eq!(gather.steps().count, levels);
        let chunk = message(ranks) / u64::from(ranks);
        assert_eq!(gather.received_bytes()[0], but_one(ranks, chunk));
        // The root scatters (N-1) chunks, then takes part in the ring.
        let broadcast = made(Broadcast, Algorithm::ScatterAllGather, &options);
        assert_eq!(broadcast.steps().count, levels + ranks - 1);
        assert_eq!(broadcast.sent_bytes()[0], 2 * but_one(ranks, chunk));
    }
    check_plain(Gather, Algorithm::Pairwise, |n, _, c, _| (n - 1, c, 0));
    check_plain(Scatter, Algorithm::Pairwise, |n, _, c, _| {
        (n - 1, but_one(n, c), 0)
    });
}

#[test]
fn halving_doubling_and_recursive_doubling() {
    use Collective::{AllGather, AllReduce, ReduceScatter};
    for distance in [Distance::Halving, Distance::Doubling] {
        for ranks in [2, 4, 8, 16, 32, 64] {
            let mut options = BuildOptions::new(ranks, Bytes::new(message(ranks)));
            options.distance = distance;
            let once = but_one(ranks, message(ranks) / u64::from(ranks));
            let levels = ranks.ilog2();
            let expect = |collective, steps, sent, reduced| {
                let schedule = made(collective, Algorithm::HalvingDoubling, &options);
                let expected = Cost {
                    steps,
                    sent,
                    reduced,
                };
                assert_eq!(cost(&schedule), expected, "{collective} {ranks}");
            };
            expect(AllReduce, 2 * levels, 2 * once, once);
            expect(ReduceScatter, levels, once, once);
            expect(AllGather, levels, once, 0);
        }
    }
    for ranks in 2..=64_u32 {
        // A multiple of both N and the power of two below it.
        let m = message(ranks) * 3;
        let options = BuildOptions::new(ranks, Bytes::new(m));
        let folds = u32::from(!ranks.is_power_of_two());
        let core = u64::from(1_u32 << ranks.ilog2());
        let halving = made(AllReduce, Algorithm::HalvingDoubling, &options);
        let doubling = made(AllReduce, Algorithm::RecursiveDoubling, &options);
        assert_eq!(halving.steps().count, 2 * ranks.ilog2() + 2 * folds);
        assert_eq!(doubling.steps().count, ranks.ilog2() + 2 * folds);
        let fold = u64::from(folds) * m;
        assert_eq!(cost(&halving).sent, 2 * (core - 1) * (m / core) + fold);
        assert_eq!(cost(&doubling).sent, u64::from(ranks.ilog2()) * m + fold);
        let expected = u64::from(ranks.ilog2()) * m + fold;
        assert_eq!(cost(&doubling).reduced, expected, "{ranks}");
    }
}

/// The most that a rank sends in each step, summed.
fn sent_by_step(schedule: &Schedule) -> u64 {
    let steps = schedule.steps();
    let mut sent = vec![vec![0; schedule.ranks() as usize]; steps.count as usize];
    for (id, transfer) in schedule.iter().filter(|(_, t)| !t.is_local()) {
        let rank = transfer.issuer().expect("ranks send");
        sent[steps.of[id.index()] as usize][rank.index()] += transfer.bytes;
    }
    let most = |ranks: Vec<u64>| ranks.into_iter().max().unwrap();
    sent.into_iter().map(most).sum()
}

#[test]
fn halved_folds_cost_half_as_much() {
    use Collective::{AllGather, AllReduce, ReduceScatter};
    for ranks in (3..=64_u32).filter(|ranks| !ranks.is_power_of_two()) {
        let m = message(ranks) * 3;
        let core = u64::from(1_u32 << ranks.ilog2());
        let halving = 2 * (core - 1) * (m / core);
        for distance in [Distance::Halving, Distance::Doubling] {
            let fold = |fold| {
                let mut options = BuildOptions::new(ranks, Bytes::new(m));
                (options.distance, options.fold) = (distance, fold);
                move |collective| made(collective, Algorithm::HalvingDoubling, &options)
            };
            let (whole, halves) = (fold(Fold::Whole), fold(Fold::Halves));
            assert_eq!(sent_by_step(&whole(AllReduce)), halving + 2 * m, "{ranks}");
            let all_reduce = halves(AllReduce);
            // Less where ranks without a pair start while others fold.
            assert!(sent_by_step(&all_reduce) <= halving + m, "{ranks}");
            assert_eq!(cost(&all_reduce).sent, halving / 2 + m, "{ranks}: a pair's");
            assert_eq!(all_reduce.steps().count, 2 * ranks.ilog2() + 2);
            // One of a pair adds M/2 of the other's, and then works on that half.
            let reduced = all_reduce.reduced_bytes().into_iter().max().unwrap();
            assert_eq!(reduced, m / 2 + halving / 4, "{ranks}");
            for collective in [AllGather, ReduceScatter] {
                let (whole, halves) = (whole(collective), halves(collective));
                assert_eq!(halves.steps().count, ranks.ilog2() + 1);
                assert!(sent_by_step(&halves) < sent_by_step(&whole), "{ranks}");
            }
        }
    }
}

#[test]
fn exchanges() {
    use Collective::{AllGather, AllToAll, ReduceScatter};
    check_plain(AllToAll, Algorithm::Pairwise, |n, _, c, _| {
        (n - 1, but_one(n, c), 0)
    });
    check_plain(AllToAll, Algorithm::Direct, |n, _, c, _| {
        (1, but_one(n, c), 0)
    });
    check_plain(AllToAll, Algorithm::Bruck, |n, levels, c, _| {
        // N/2 blocks per step for powers of two; exactly the indices with the bit otherwise.
        let blocks: u32 = (0..levels)
            .map(|bit| u32::try_from((0..n).filter(|j| j >> bit & 1 == 1).count()).unwrap())
            .sum();
        (levels, u64::from(blocks) * c, 0)
    });
    let sixteen = BuildOptions::new(16, Bytes::new(1 << 20));
    let bruck = made(AllToAll, Algorithm::Bruck, &sixteen);
    assert_eq!(cost(&bruck).sent, 4 << 19, "lg N M/2");
    check_plain(AllGather, Algorithm::Bruck, |n, levels, c, _| {
        (levels, but_one(n, c), 0)
    });
    check_plain(ReduceScatter, Algorithm::Bruck, |n, levels, c, _| {
        (levels, but_one(n, c), but_one(n, c))
    });
    check_plain(AllGather, Algorithm::Pat, |n, levels, c, _| {
        (levels, but_one(n, c), 0)
    });
    let one_block = |o: &mut BuildOptions| o.pat_blocks = Some(1);
    check(AllGather, Algorithm::Pat, one_block, |n, _, c, _| {
        (n - 1, but_one(n, c), 0)
    });
    check(ReduceScatter, Algorithm::Pat, one_block, |n, _, c, _| {
        (n - 1, but_one(n, c), but_one(n, c))
    });
}

#[test]
fn shots() {
    use Collective::{AllReduce, SendRecv};
    check_plain(AllReduce, Algorithm::OneShot, |n, _, _, m| {
        (1, but_one(n, m), but_one(n, m))
    });
    check_plain(AllReduce, Algorithm::TwoShot, |n, _, c, _| {
        (2, 2 * but_one(n, c), but_one(n, c))
    });
    // Each rank stores once, and the switch hands it every sum, its own included.
    let multicast = |o: &mut BuildOptions| o.second_shot = SecondShot::Multicast;
    check(AllReduce, Algorithm::TwoShot, multicast, |n, _, c, _| {
        (2, but_one(n, c) + c, but_one(n, c))
    });
    check_plain(SendRecv, Algorithm::Direct, |_, _, _, m| (1, m, 0));
}

#[test]
fn the_double_tree_injects_at_most_two_messages() {
    for ranks in 2..=128 {
        let mut options = BuildOptions::new(ranks, Bytes::new(1 << 20));
        options.pieces = 4;
        let tree = made(Collective::AllReduce, Algorithm::Tree, &options);
        let most = tree.sent_bytes().into_iter().max().unwrap();
        assert!(most <= 2 << 20, "{ranks} ranks: {most}");
        let most = tree.received_bytes().into_iter().max().unwrap();
        assert!(most <= 2 << 20, "{ranks} ranks: {most}");
        let broadcast = made(Collective::Broadcast, Algorithm::Tree, &options);
        assert_eq!(broadcast.sent_bytes()[0], 1 << 20, "{ranks} ranks");
        assert!(
            broadcast
                .sent_bytes()
                .into_iter()
                .all(|sent| sent <= 1 << 20 || ranks % 2 == 0)
        );
    }
    for (ranks, levels) in [(4, 2), (8, 3), (16, 4), (32, 5)] {
        let options = BuildOptions::new(ranks, Bytes::new(1 << 20));
        let tree = made(Collective::AllReduce, Algorithm::Tree, &options);
        assert_eq!(
            tree.steps().count,
            2 * levels,
            "one piece: a level at a time"
        );
        let mut cut = options.clone();
        cut.pieces = 16;
        let tree = made(Collective::AllReduce, Algorithm::Tree, &cut);
        assert_eq!(
            tree.steps().count,
            2 * levels + 15,
            "pieces follow each other"
        );
    }
}

#[test]
fn an_inner_rank_of_a_single_tree_sends_each_piece_twice() {
    use Collective::{AllReduce, Broadcast, Reduce};
    for (ranks, levels) in [(4, 2), (8, 3), (16, 4), (32, 5)] {
        for pieces in [1, 16] {
            let m = message(ranks);
            let mut options = BuildOptions::new(ranks, Bytes::new(m));
            (options.trees, options.pieces) = (Trees::Single, pieces);
            let expect = |collective, phases: u32, sent: u64| {
                let tree = made(collective, Algorithm::Tree, &options);
                assert_eq!(tree.steps().count, phases * levels + pieces - 1, "{ranks}");
                assert_eq!(cost(&tree).sent, sent, "{collective} {ranks}");
            };
            expect(Broadcast, 1, 2 * m);
            expect(Reduce, 1, m);
            expect(AllReduce, 2, 3 * m);
        }
    }
}

#[test]
fn a_tree_over_nodes_crosses_them_on_every_rail() {
    use Collective::{AllReduce, Broadcast, Reduce};
    for (per_node, nodes, levels) in [(8_u32, 4_u32, 2), (4, 8, 3), (3, 16, 4)] {
        let ranks = per_node * nodes;
        let m = message(ranks);
        let mut options = BuildOptions::new(ranks, Bytes::new(m));
        (options.trees, options.ranks_per_node) = (Trees::OverNodes, Some(per_node));
        let tree = |collective| made(collective, Algorithm::Tree, &options);
        let all_reduce = tree(AllReduce);
        assert_eq!(
            all_reduce.steps().count,
            2 * (per_node - 1) + 2 * levels,
            "2 [(g-1) inside + lg n across]"
        );
        let mut across = vec![0; ranks as usize];
        for transfer in all_reduce.transfers().iter().filter(|t| !t.is_local()) {
            let Route::Send { src, dst } = transfer.route else {
                panic!("a tree has no switch");
            };
            if src.0 / per_node != dst.0 / per_node {
                assert_eq!(src.0 % per_node, dst.0 % per_node, "on one rail");
                across[src.index()] += transfer.bytes;
            }
        }
        let most = 2 * m / u64::from(per_node);
        assert!(across.iter().all(|bytes| (1..=most).contains(bytes)));
        for collective in [Broadcast, Reduce] {
            assert_eq!(tree(collective).steps().count, per_node - 1 + levels + 1);
        }
    }
}

#[test]
fn a_scattered_message_is_gathered_by_doubling_in_few_steps() {
    let doubling = |o: &mut BuildOptions| o.gather = GatherForm::Doubling;
    let (broadcast, algorithm) = (Collective::Broadcast, Algorithm::ScatterAllGather);
    check(broadcast, algorithm, doubling, |n, levels, c, _| {
        (2 * levels, 2 * but_one(n, c), 0)
    });
}

#[test]
fn two_levels() {
    for (per_node, nodes) in [(8_u32, 2_u32), (4, 4), (8, 8), (3, 5)] {
        let ranks = per_node * nodes;
        let m = message(ranks) * u64::from(per_node);
        let mut options = BuildOptions::new(ranks, Bytes::new(m));
        options.ranks_per_node = Some(per_node);
        let (g, n) = (u64::from(per_node), u64::from(nodes));
        let rings = made(Collective::AllReduce, Algorithm::Hierarchical, &options);
        assert_eq!(rings.steps().count, 2 * (per_node - 1) + 2 * (nodes - 1));
        let (inside, across) = (2 * (g - 1) * m / g, 2 * (n - 1) * (m / g) / n);
        assert_eq!(cost(&rings).sent, inside + across);
        let between: u64 = rings
            .flows()
            .filter(|flow| flow.port.unwrap().0 == 1)
            .map(|flow| flow.bytes)
            .sum();
        assert_eq!(
            between,
            across * u64::from(ranks),
            "per rail, whatever the node does"
        );

        // SHARP: M/g up and down on each rail, whatever n.
        let direct = made(Collective::AllReduce, Algorithm::CollNetDirect, &options);
        assert_eq!(cost(&direct).sent, 2 * (g - 1) * m / g + m / g);
        assert_eq!(direct.steps().count, 3);
        let chain = made(Collective::AllReduce, Algorithm::CollNetChain, &options);
        assert_eq!(chain.steps().count, 2 * (per_node - 1) + 1);
        assert_eq!(chain.sent_bytes()[0], 2 * m);
    }
    let mut one_per_node = BuildOptions::new(16, Bytes::new(1 << 20));
    one_per_node.ranks_per_node = Some(1);
    let sharp = made(
        Collective::AllReduce,
        Algorithm::CollNetDirect,
        &one_per_node,
    );
    assert_eq!(sharp.sent_bytes(), vec![1 << 20; 16], "M up, M down");
    assert_eq!(sharp.received_bytes(), vec![1 << 20; 16]);
}

#[test]
fn nvls_carries_the_message_and_one_share() {
    for ranks in 2..=64 {
        let m = message(ranks);
        let share = m / u64::from(ranks);
        let options = BuildOptions::new(ranks, Bytes::new(m));
        let each = |bytes: u64| vec![bytes; ranks as usize];
        let all_reduce = made(Collective::AllReduce, Algorithm::Nvls, &options);
        assert_eq!(all_reduce.steps().count, 2);
        assert_eq!(all_reduce.sent_bytes(), each(m + share));
        assert_eq!(all_reduce.received_bytes(), each(m + share));
        assert_eq!(all_reduce.reduced_bytes(), each(0), "the switch adds");
        let scatter = made(Collective::ReduceScatter, Algorithm::Nvls, &options);
        assert_eq!(
            (scatter.sent_bytes(), scatter.received_bytes()),
            (each(m), each(share))
        );
        let gather = made(Collective::AllGather, Algorithm::Nvls, &options);
        assert_eq!(
            (gather.sent_bytes(), gather.received_bytes()),
            (each(share), each(m))
        );
    }
}

#[test]
fn torus_and_swing() {
    for shape in [vec![4, 4], vec![8, 8], vec![4, 4, 4], vec![16]] {
        let ranks: u32 = shape.iter().product();
        let dimensions = u32::try_from(shape.len()).unwrap();
        let m = message(ranks) * 3;
        let once = but_one(ranks, m / u64::from(ranks));
        let mut options = BuildOptions::new(ranks, Bytes::new(m));
        options.torus = Some(shape.clone());
        let steps = 2 * shape.iter().map(|d| d - 1).sum::<u32>();
        for ports in [TorusPorts::One, TorusPorts::All] {
            options.torus_ports = ports;
            let torus = made(Collective::AllReduce, Algorithm::TorusBucket, &options);
            let expected = Cost {
                steps,
                sent: 2 * once,
                reduced: once,
            };
            assert_eq!(cost(&torus), expected, "{shape:?} {ports:?}");
        }
        // All ports: each carries its 1/(2D), to the byte.
        let torus = made(Collective::AllReduce, Algorithm::TorusBucket, &options);
        for port in 0..2 * dimensions {
            let sent: u64 = torus
                .flows()
                .filter(|flow| u32::from(flow.port.unwrap().0) == port)
                .map(|flow| flow.bytes)
                .sum();
            assert_eq!(
                sent * 2 * u64::from(dimensions),
                2 * once * u64::from(ranks),
                "{shape:?}"
            );
        }
    }
    for ranks in (2..=64).step_by(2) {
        let m = message(ranks);
        let options = BuildOptions::new(ranks, Bytes::new(m));
        let once = but_one(ranks, m / u64::from(ranks));
        let swing = made(Collective::AllReduce, Algorithm::Swing, &options);
        let expected = Cost {
            steps: 2 * ranks.next_power_of_two().ilog2(),
            sent: 2 * once,
            reduced: once,
        };
        assert_eq!(cost(&swing), expected, "{ranks}");
    }
}

/// FACTS B.0: nobody sends less than the bound, in fewer steps than the bound, unless a switch
/// reduces or every port sends at once.
#[test]
fn no_schedule_beats_the_lower_bounds() {
    for algorithm in Algorithm::ALL {
        for ranks in [2, 3, 7, 8, 16, 24] {
            for case in crate::cases::cases(algorithm, ranks, message(ranks)) {
                let schedule = &case.schedule;
                if !schedule.groups().is_empty() {
                    continue;
                }
                let m = message(ranks);
                let once = but_one(ranks, m / u64::from(ranks));
                let collective = schedule.collective();
                let bound = match collective {
                    Collective::AllReduce => 2 * once,
                    Collective::Broadcast | Collective::Reduce | Collective::SendRecv => m,
                    Collective::Gather => 0,
                    _ => once,
                };
                assert!(offers(algorithm, collective));
                let spent = cost(schedule);
                assert!(spent.sent >= bound, "{}: {spent:?}", case.name);
                if !matches!(collective, Collective::Scatter) {
                    let received = schedule.received_bytes().into_iter().max().unwrap();
                    assert!(received >= bound.max(once), "{}: {received}", case.name);
                }
                if collective == Collective::AllReduce {
                    assert!(spent.reduced >= once, "{}: {spent:?}", case.name);
                }
            }
        }
    }
}
