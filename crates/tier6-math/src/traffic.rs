//! Traffic: a schedule as shares of the message, step by step.
//!
//! A schedule lists every transfer; a prediction needs only how much goes where in which step,
//! and that many steps are alike. Regular algorithms have a [`pattern`] that says so directly,
//! which is what makes thousands of ranks affordable; all others, and custom schedules, are
//! condensed by [`Traffic::of_schedule`]. A test holds the two to each other.

mod chain;
mod node_tree;
mod nvls_sharp;
mod pattern;

pub(crate) use chain::chain;
pub(crate) use node_tree::node_tree;
pub(crate) use nvls_sharp::nvls_sharp;
pub(crate) use pattern::{Shape, pattern};

use tier6_collective::{Op, RankId, Route, Schedule};

/// Who sends what share of M to whom, step by step.
#[derive(Debug, Clone)]
pub(crate) struct Traffic {
    pub(crate) ranks: u32,
    pub(crate) steps: Vec<Step>,
    pub(crate) groups: Vec<Vec<RankId>>,
    /// What the busiest rank reduces in all.
    pub(crate) reduced: f64,
}

/// Steps that are alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) repeat: u32,
    pub(crate) sends: Vec<Send>,
    /// The largest message.
    pub(crate) message: f64,
    /// What the busiest rank reduces.
    pub(crate) reduced: f64,
    /// Where in a hierarchy: 0 on the way in, 1 across, 2 on the way out.
    pub(crate) stage: usize,
}

/// Messages of one step; shares of M.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Send {
    /// Every rank r to r + distance.
    Shift { distance: u32, share: f64 },
    /// One rank to another.
    Pair { src: u32, dst: u32, share: f64 },
    /// One rank to all of a group, copied by the switch.
    Multicast { src: u32, group: u32, share: f64 },
    /// All of a group to one rank, added by the switch.
    LoadReduce { group: u32, dst: u32, share: f64 },
    /// All of a group to all of it, added by the switch.
    Aggregate { group: u32, share: f64 },
}

impl Send {
    const fn share(&self) -> f64 {
        match self {
            Self::Shift { share, .. }
            | Self::Pair { share, .. }
            | Self::Multicast { share, .. }
            | Self::LoadReduce { share, .. }
            | Self::Aggregate { share, .. } => *share,
        }
    }

    /// Returns how many messages between two ranks it is.
    pub(crate) const fn n_flows(&self, ranks: u32) -> usize {
        match self {
            Self::Shift { .. } => ranks as usize,
            Self::Pair { .. } => 1,
            Self::Multicast { .. } | Self::LoadReduce { .. } | Self::Aggregate { .. } => 0,
        }
    }
}

impl Step {
    pub(crate) fn new(repeat: u32, sends: Vec<Send>, reduced: f64) -> Self {
        let message = sends.iter().map(Send::share).fold(0.0, f64::max);
        Self {
            repeat,
            sends,
            message,
            reduced,
            stage: 0,
        }
    }

    fn in_stage(self, stage: usize) -> Self {
        Self { stage, ..self }
    }
}

impl Traffic {
    pub(crate) fn new(ranks: u32, steps: Vec<Step>) -> Self {
        Self {
            ranks,
            // Regular algorithms give every rank the same to do.
            reduced: steps
                .iter()
                .map(|step| f64::from(step.repeat) * step.reduced)
                .sum(),
            steps: steps.into_iter().filter(|step| step.repeat > 0).collect(),
            groups: Vec::new(),
        }
    }

    /// Condenses a schedule. A reduction counts to the step that brought its data.
    pub(crate) fn of_schedule(schedule: &Schedule) -> Self {
        let of_m = |bytes: u64| bytes as f64 / schedule.bytes().as_f64().max(1.0);
        let steps = schedule.steps();
        let count = steps.count as usize;
        let mut sends: Vec<Vec<Send>> = vec![Vec::new(); count];
        let mut reduced: Vec<Vec<u64>> = vec![vec![0; schedule.ranks() as usize]; count];
        for (id, transfer) in schedule.iter() {
            let step = steps.of[id.index()] as usize;
            let share = of_m(transfer.bytes);
            if let Route::Send { dst, .. } = transfer.route
                && transfer.op == Op::Reduce
            {
                let brought = if transfer.is_local() {
                    step.saturating_sub(1)
                } else {
                    step
                };
                if let Some(ranks) = reduced.get_mut(brought) {
                    ranks[dst.index()] += transfer.bytes;
                }
            }
            if transfer.is_local() || transfer.bytes == 0 {
                continue;
            }
            sends[step].push(match transfer.route {
                Route::Send { src, dst } => Send::Pair {
                    src: src.0,
                    dst: dst.0,
                    share,
                },
                Route::Multicast { src, group } => Send::Multicast {
                    src: src.0,
                    group: group.0,
                    share,
                },
                Route::LoadReduce { group, dst } => Send::LoadReduce {
                    group: group.0,
                    dst: dst.0,
                    share,
                },
                Route::Aggregate { group } => Send::Aggregate {
                    group: group.0,
                    share,
                },
            });
        }
        let mut merged: Vec<Step> = Vec::new();
        for (sends, ranks) in sends.into_iter().zip(reduced) {
            let step = Step::new(1, sends, of_m(ranks.into_iter().max().unwrap_or(0)));
            match merged.last_mut() {
                Some(last)
                    if last.sends == step.sends
                        && last.reduced.to_bits() == step.reduced.to_bits() =>
                {
                    last.repeat += 1;
                }
                _ => merged.push(step),
            }
        }
        Self {
            ranks: schedule.ranks(),
            steps: merged,
            groups: schedule.groups().to_vec(),
            reduced: of_m(schedule.reduced_bytes().into_iter().max().unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkLoads;
    use crate::loads::{Detail, Router};
    use crate::parameters::{Channels, Spread};
    use tier6_collective::{
        Algorithm, BidirForm, BuildOptions, Collective, Partner, SecondShot, build, offered,
    };
    use tier6_system::{ChipId, FabricSpec, SystemSpec};
    use tier6_units::{Bytes, GbPerSec, Micros};

    fn loads(traffic: &Traffic) -> LinkLoads {
        let fabric = FabricSpec::ring();
        let (rate, latency) = (GbPerSec::new(1.0), Micros::new(1.0));
        let topology = SystemSpec::uniform(traffic.ranks, fabric, rate, latency);
        let topology = topology.resolve().unwrap();
        let chips: Vec<ChipId> = (0..traffic.ranks).map(ChipId::new).collect();
        let (spread, detail) = (Spread::Preferred, Detail::Summary);
        let mut router = Router::new(&topology);
        LinkLoads::of_traffic(traffic, &mut router, &chips, spread, detail).unwrap()
    }

    fn check(collective: Collective, algorithm: Algorithm, shape: &Shape) {
        let Some(regular) = pattern(collective, algorithm, shape) else {
            return;
        };
        let ranks = shape.ranks;
        // Divides into N blocks of N pieces of two halves.
        let bytes = Bytes::new(u64::from(ranks * ranks) << 10);
        let options = BuildOptions {
            bidir: shape.bidir,
            ranks_per_node: Some(shape.per_node),
            ..BuildOptions::new(ranks, bytes)
        };
        let schedule = build(collective, algorithm, &options).unwrap();
        let unrolled = Traffic::of_schedule(&schedule);
        let what = format!("{algorithm} {collective}, {ranks} ranks");
        let close = |a: f64, b: f64| {
            assert!(
                (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
                "{what}: {a} {b}"
            );
        };
        close(regular.reduced, unrolled.reduced);
        let reduced = |traffic: &Traffic| -> f64 {
            let steps = traffic.steps.iter();
            steps
                .map(|step| f64::from(step.repeat) * step.reduced)
                .sum()
        };
        close(reduced(&regular), reduced(&unrolled));
        let (regular, unrolled) = (loads(&regular), loads(&unrolled));
        let count = |loads: &LinkLoads| loads.steps.iter().map(|step| step.repeat).sum::<u32>();
        assert_eq!(count(&regular), count(&unrolled), "{what}");
        assert_eq!(regular.ports, unrolled.ports, "{what}");
        close(regular.step_us_per_byte(), unrolled.step_us_per_byte());
        close(regular.least_latency.get(), unrolled.least_latency.get());
        assert_eq!(regular.total.len(), unrolled.total.len(), "{what}");
        for (a, b) in regular.total.iter().zip(&unrolled.total) {
            assert_eq!(a.link, b.link, "{what}");
            close(a.share, b.share);
        }
    }

    #[test]
    fn one_chain_is_what_the_schedule_sends() {
        for ranks in 2..=9 {
            for collective in [Collective::Broadcast, Collective::Reduce] {
                let options = BuildOptions::new(ranks, Bytes::new(1 << 10));
                let schedule = build(collective, Algorithm::Ring, &options).unwrap();
                let unrolled = Traffic::of_schedule(&schedule);
                let chain = chain(collective, &[(0..ranks).collect()]);
                assert_eq!(chain.steps, unrolled.steps, "{collective}, {ranks} ranks");
                assert!((chain.reduced - unrolled.reduced).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn chains_share_the_message_and_meet_at_the_root() {
        let orders = [vec![0, 1, 2, 3], vec![0, 3, 2, 1]];
        let reduce = chain(Collective::Reduce, &orders);
        let added: Vec<f64> = reduce.steps.iter().map(|step| step.reduced).collect();
        // 1 to 2 and 3 to 2; 2 to 3 and 2 to 1; both to 0.
        assert_eq!(added, [1.0, 0.5, 1.0]);
        assert!((reduce.reduced - 1.0).abs() < 1e-12);
        let (src, share) = (0, 0.5);
        let of_root = [1, 3].map(|dst| Send::Pair { src, dst, share });
        let broadcast = chain(Collective::Broadcast, &orders);
        assert_eq!(broadcast.steps[0].sends, of_root);
        assert!(broadcast.steps.iter().all(|step| step.reduced == 0.0));
    }

    #[test]
    fn patterns_are_what_the_schedules_send() {
        for ranks in 2..=16_u32 {
            for bidir in [BidirForm::SplitData, BidirForm::ShortSide] {
                for algorithm in Algorithm::ALL {
                    let widths = (1..ranks).filter(|g| ranks.is_multiple_of(*g));
                    for per_node in widths.chain([ranks]) {
                        if per_node == ranks && algorithm == Algorithm::Hierarchical {
                            continue;
                        }
                        let shape = Shape {
                            ranks,
                            per_node,
                            channels: Channels::One,
                            peers: (0..ranks)
                                .map(|rank| rank / per_node * per_node + (rank + 1) % per_node)
                                .map(|next| vec![(next, 1.0)])
                                .collect(),
                            bidir,
                            partner: Partner::Shift,
                            second_shot: SecondShot::Direct,
                        };
                        for collective in offered(algorithm) {
                            check(*collective, algorithm, &shape);
                        }
                        if algorithm != Algorithm::Hierarchical {
                            break;
                        }
                    }
                }
            }
        }
    }
}
