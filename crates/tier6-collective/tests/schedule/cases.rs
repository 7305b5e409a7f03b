//! Every algorithm with every option that changes its shape, for a number of ranks.

use tier6_collective::{
    Algorithm, BidirForm, BuildOptions, Distance, Fold, GatherForm, Partner, RankId, Schedule,
    SecondShot, TorusPorts, Trees, build, offered,
};
use tier6_units::Bytes;

/// A schedule with the words to name it in a failure.
pub struct Case {
    pub name: String,
    pub schedule: Schedule,
}

/// Returns every offered schedule of an algorithm for N ranks and M bytes.
pub fn cases(algorithm: Algorithm, ranks: u32, bytes: u64) -> Vec<Case> {
    let plain = BuildOptions::new(ranks, Bytes::new(bytes));
    let mut list = Vec::new();
    for options in variants(algorithm, &plain) {
        for &collective in offered(algorithm) {
            if collective.name() == "hypercube" && !ranks.is_power_of_two() {
                continue;
            }
            let name = format!("{algorithm} {collective} {options:?}");
            let schedule = build(collective, algorithm, &options)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            list.push(Case { name, schedule });
        }
    }
    list
}

/// Returns the divisors of N.
pub fn divisors(ranks: u32) -> impl Iterator<Item = u32> {
    (1..=ranks).filter(move |d| ranks.is_multiple_of(*d))
}

fn variants(algorithm: Algorithm, plain: &BuildOptions) -> Vec<BuildOptions> {
    let ranks = plain.ranks;
    let with = |change: &dyn Fn(&mut BuildOptions)| {
        let mut options = plain.clone();
        change(&mut options);
        options
    };
    let last = RankId(ranks - 1);
    // The larger sizes in one piece only: the form is the same.
    let pieces: &[u32] = if ranks <= 32 { &[1, 2] } else { &[1] };
    let in_pieces = |pieces| with(&|o| (o.pieces, o.root) = (pieces, last));
    match algorithm {
        Algorithm::Ring | Algorithm::SendRecvRing => vec![plain.clone(), in_pieces(3)],
        Algorithm::Tree => {
            let forms = [plain.clone(), in_pieces(3)];
            let single = forms.clone().map(|form| BuildOptions {
                trees: Trees::Single,
                ..form
            });
            let over_nodes = divisors(ranks).map(|g| BuildOptions {
                trees: Trees::OverNodes,
                ranks_per_node: Some(g),
                ..in_pieces(2)
            });
            forms.into_iter().chain(single).chain(over_nodes).collect()
        }
        Algorithm::BidirRing => vec![in_pieces(2), with(&|o| o.bidir = BidirForm::SplitData)],
        Algorithm::HalvingDoubling => {
            let near = with(&|o| o.distance = Distance::Doubling);
            let mut list = vec![plain.clone(), near.clone()];
            if !ranks.is_power_of_two() {
                list.extend([plain, &near].map(|form| BuildOptions {
                    fold: Fold::Halves,
                    ..form.clone()
                }));
            }
            list
        }
        Algorithm::Pairwise if ranks.is_power_of_two() => vec![
            with(&|o| o.root = RankId(ranks / 2)),
            with(&|o| o.partner = Partner::Xor),
        ],
        Algorithm::Pairwise | Algorithm::Direct | Algorithm::Binomial => {
            vec![plain.clone(), with(&|o| o.root = last)]
        }
        Algorithm::ScatterAllGather => [GatherForm::Ring, GatherForm::Doubling]
            .into_iter()
            .flat_map(|form| [RankId(0), last].map(|root| (form, root)))
            .map(|(form, root)| with(&|o| (o.gather, o.root) = (form, root)))
            .collect(),
        Algorithm::TwoShot => [SecondShot::Direct, SecondShot::Multicast]
            .map(|shot| with(&|o| o.second_shot = shot))
            .to_vec(),
        Algorithm::Hierarchical | Algorithm::NvlsTree => divisors(ranks)
            .flat_map(|g| pieces.iter().map(move |k| (g, *k)))
            .map(|(g, k)| with(&|o| (o.ranks_per_node, o.pieces) = (Some(g), k)))
            .collect(),
        Algorithm::CollNetDirect | Algorithm::CollNetChain => divisors(ranks)
            .filter(|g| *g < ranks)
            .flat_map(|g| pieces.iter().map(move |k| (g, *k)))
            .map(|(g, k)| with(&|o| (o.ranks_per_node, o.pieces) = (Some(g), k)))
            .collect(),
        Algorithm::Pat => [Some(1), Some(3), None]
            .map(|limit| with(&|o| o.pat_blocks = limit))
            .to_vec(),
        Algorithm::TorusBucket => shapes(ranks)
            .into_iter()
            .flat_map(|shape| {
                [TorusPorts::One, TorusPorts::All]
                    .map(|ports| with(&|o| (o.torus, o.torus_ports) = (Some(shape.clone()), ports)))
            })
            .collect(),
        Algorithm::Swing if !ranks.is_multiple_of(2) => Vec::new(),
        Algorithm::RecursiveDoubling | Algorithm::Bruck | Algorithm::OneShot | Algorithm::Swing => {
            vec![plain.clone()]
        }
        // More pieces than a rank has room for.
        Algorithm::Nvls => vec![plain.clone(), in_pieces(if ranks <= 8 { 20 } else { 2 })],
    }
}

/// Returns the ring, the tori of two dimensions (above 32 ranks the widest only: the form is the
/// same), and the cube when there is one.
fn shapes(ranks: u32) -> Vec<Vec<u32>> {
    let mut shapes: Vec<Vec<u32>> = divisors(ranks)
        .filter(|d| *d > 1 && *d < ranks)
        .map(|d| vec![d, ranks / d])
        .collect();
    if ranks > 32 {
        shapes = shapes.split_off(shapes.len() / 2);
        shapes.truncate(1);
    }
    shapes.push(vec![ranks]);
    shapes.extend((2..=4).filter(|d| d * d * d == ranks).map(|d| vec![d; 3]));
    shapes
}
