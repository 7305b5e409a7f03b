//! The traffic of regular algorithms in closed form, for any N.

use super::{Send, Step, Traffic};
use crate::parameters::Channels;
use tier6_collective::{Algorithm, BidirForm, Collective, Partner, SecondShot};

/// What a pattern depends on beside collective and algorithm.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) ranks: u32,
    /// g, when all nodes have as many ranks; otherwise N.
    pub(crate) per_node: u32,
    pub(crate) channels: Channels,
    /// To whom in its node a rank's channels go on, and the part of each.
    pub(crate) peers: Vec<Vec<(u32, f64)>>,
    pub(crate) bidir: BidirForm,
    pub(crate) partner: Partner,
    pub(crate) second_shot: SecondShot,
}

/// Returns the traffic, or `None` when only the schedule tells.
pub(crate) fn pattern(
    collective: Collective,
    algorithm: Algorithm,
    shape: &Shape,
) -> Option<Traffic> {
    let n = f64::from(shape.ranks);
    if collective == Collective::SendRecv {
        return Some(Traffic::new(shape.ranks, vec![shift_step(1, 1, 1.0, 0.0)]));
    }
    let steps = match algorithm {
        Algorithm::Ring | Algorithm::SendRecvRing => {
            let sends = ring(shape);
            phases(collective, |reduced| {
                vec![Step::new(shape.ranks - 1, sends.clone(), reduced / n)]
            })?
        }
        Algorithm::BidirRing => phases(collective, |reduced| both_ways(shape, reduced))?,
        Algorithm::Pairwise if shape.partner == Partner::Shift => {
            let reduced = one_phase(collective)?;
            (1..shape.ranks)
                .map(|distance| shift_step(1, distance, 1.0 / n, reduced / n))
                .collect()
        }
        Algorithm::Direct => {
            let reduced = one_phase(collective)? * (n - 1.0) / n;
            vec![Step::new(1, all_shifts(shape.ranks, 1.0 / n), reduced)]
        }
        Algorithm::OneShot if collective == Collective::AllReduce => {
            vec![Step::new(1, all_shifts(shape.ranks, 1.0), n - 1.0)]
        }
        Algorithm::TwoShot if shape.second_shot == SecondShot::Direct => {
            let sends = all_shifts(shape.ranks, 1.0 / n);
            let scatter = Step::new(1, sends.clone(), (n - 1.0) / n);
            vec![scatter, Step::new(1, sends, 0.0)]
        }
        Algorithm::Hierarchical => hierarchy(collective, shape)?,
        _ => return None,
    };
    Some(Traffic::new(shape.ranks, steps))
}

fn shift_step(repeat: u32, distance: u32, share: f64, reduced: f64) -> Step {
    Step::new(repeat, vec![Send::Shift { distance, share }], reduced)
}

fn all_shifts(ranks: u32, share: f64) -> Vec<Send> {
    (1..ranks)
        .map(|distance| Send::Shift { distance, share })
        .collect()
}

/// ReduceScatter, AllGather, or one after the other; `steps` gets 1 for a phase that reduces.
fn phases(collective: Collective, steps: impl Fn(f64) -> Vec<Step>) -> Option<Vec<Step>> {
    match collective {
        Collective::AllReduce => Some([steps(1.0), steps(0.0)].concat()),
        Collective::ReduceScatter => Some(steps(1.0)),
        Collective::AllGather => Some(steps(0.0)),
        _ => None,
    }
}

/// What a collective of one phase reduces.
fn one_phase(collective: Collective) -> Option<f64> {
    match collective {
        Collective::ReduceScatter => Some(1.0),
        Collective::AllGather | Collective::AllToAll => Some(0.0),
        _ => None,
    }
}

/// One step of a ring in its channels.
fn ring(shape: &Shape) -> Vec<Send> {
    let (ranks, g) = (shape.ranks, shape.per_node);
    let chunk = 1.0 / f64::from(ranks);
    if shape.channels == Channels::One || g == 1 {
        return vec![Send::Shift {
            distance: 1,
            share: chunk,
        }];
    }
    let across = g < ranks;
    // Of g channels that start at different ranks, one leaves the node at each rank.
    let leaving = if across { chunk / f64::from(g) } else { 0.0 };
    let staying = chunk - leaving;
    let mut sends = inside(&shape.peers, staying);
    if across {
        sends.extend((0..ranks).map(|rank| Send::Pair {
            src: rank,
            dst: (rank + g) % ranks,
            share: leaving,
        }));
    }
    sends
}

/// One step inside the nodes: every rank passes a share on.
pub(super) fn inside(peers: &[Vec<(u32, f64)>], share: f64) -> Vec<Send> {
    let ranks = (0..).zip(peers);
    let sends = ranks.flat_map(|(src, peers)| {
        peers.iter().map(move |(dst, part)| Send::Pair {
            src,
            dst: *dst,
            share: share * part,
        })
    });
    sends.collect()
}

/// One phase of a bidirectional ring.
fn both_ways(shape: &Shape, reduced: f64) -> Vec<Step> {
    let ranks = shape.ranks;
    let chunk = 1.0 / f64::from(ranks);
    let step = |repeat, share| {
        let way = |distance| Send::Shift { distance, share };
        Step::new(repeat, vec![way(1), way(ranks - 1)], 2.0 * share * reduced)
    };
    match shape.bidir {
        BidirForm::SplitData => vec![step(ranks - 1, chunk / 2.0)],
        // For even N the chunk of the rank across goes in halves.
        BidirForm::ShortSide => vec![
            step((ranks + 1) % 2, chunk / 2.0),
            step((ranks - 1) / 2, chunk),
        ],
    }
}

/// Rings inside the nodes and on the rails: a stage per step.
fn hierarchy(collective: Collective, shape: &Shape) -> Option<Vec<Step>> {
    let (ranks, g) = (shape.ranks, shape.per_node);
    if g == 0 || !ranks.is_multiple_of(g) {
        return None;
    }
    let nodes = ranks / g;
    let (inside_share, across_share) = (1.0 / f64::from(g), 1.0 / f64::from(ranks));
    let inside = inside(&shape.peers, inside_share);
    let across: Vec<Send> = (0..ranks)
        .map(|rank| Send::Pair {
            src: rank,
            dst: (rank + g) % ranks,
            share: across_share,
        })
        .collect();
    let (scatters, gathers) = match collective {
        Collective::AllReduce => (true, true),
        Collective::ReduceScatter => (true, false),
        Collective::AllGather => (false, true),
        _ => return None,
    };
    let mut steps = Vec::new();
    if scatters {
        steps.push(Step::new(g - 1, inside.clone(), inside_share));
        steps.push(Step::new(nodes - 1, across.clone(), across_share).in_stage(1));
    }
    if gathers {
        steps.push(Step::new(nodes - 1, across, 0.0).in_stage(1));
        steps.push(Step::new(g - 1, inside, 0.0).in_stage(2));
    }
    Some(steps)
}
