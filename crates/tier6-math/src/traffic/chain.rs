//! The pipelined chain of Broadcast and Reduce in its channels, each with its share of the message.

use super::{Send, Step, Traffic};
use tier6_collective::Collective;

/// Returns the traffic of a chain per order, each begun at the root: in step k every channel passes
/// its share from the k-th rank to the next. Reduce begins after the root and ends at it (FACTS B.1).
pub(crate) fn chain(collective: Collective, orders: &[Vec<u32>]) -> Traffic {
    let ranks = orders.first().map_or(0, Vec::len);
    let (first, reduced) = match collective {
        Collective::Reduce => (1, 1.0),
        _ => (0, 0.0),
    };
    let share = 1.0 / orders.len() as f64;
    let step = |at: usize| {
        let sends = orders.iter().map(|order| Send::Pair {
            src: order[(first + at) % ranks],
            dst: order[(first + at + 1) % ranks],
            share,
        });
        let sends: Vec<Send> = sends.collect();
        let busiest = busiest(&sends);
        Step::new(1, sends, reduced * busiest)
    };
    Traffic {
        // Each rank but the first of a channel adds the channel's share; the root adds all.
        reduced,
        ..Traffic::new(
            u32::try_from(ranks).expect("Invariant: ranks fit u32"),
            (0..ranks.saturating_sub(1)).map(step).collect(),
        )
    }
}

/// The most that a rank receives in a step.
fn busiest(sends: &[Send]) -> f64 {
    let mut into: Vec<(u32, f64)> = Vec::new();
    for send in sends {
        let Send::Pair { dst, share, .. } = send else {
            continue;
        };
        match into.iter_mut().find(|(rank, _)| rank == dst) {
            Some((_, sum)) => *sum += share,
            None => into.push((*dst, *share)),
        }
    }
    into.into_iter().map(|(_, sum)| sum).fold(0.0, f64::max)
}
