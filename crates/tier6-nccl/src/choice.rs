//! The choice for one call: every candidate's time, the least of them, its channels and
//! warps.
//!
//! f32 arithmetic in NCCL's order. Source: `TUNER_SPEC.md` sections 8 and 9.

use crate::call::{Call, is_fp8};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::CpuArch;
use crate::cost_table::CostTable;
use crate::release::{NvlsEscape, PerCandidate};
use crate::settings::NcclError;
use crate::term::{Operation, Term, Trace};
use crate::why_not::WhyNot;
use tier6_collective::{Protocol, RedOp};

/// Correction of a tree's bandwidth by protocol, for 64 B and every power of two above.
const TREE_CORRECTION: [[f32; 24]; 3] = [
    [
        1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8,
        0.9, 1.0, 1.0, 1.0, 1.0, 1.0,
    ],
    [
        1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9,
        0.9, 0.9, 0.9, 1.0, 1.0, 1.0,
    ],
    [
        0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8,
        0.7, 0.7, 0.8, 0.9, 0.9, 0.9,
    ],
];

/// What NCCL chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The algorithm and protocol.
    pub candidate: Candidate,
    /// The predicted time, us.
    pub time_us: f32,
    /// The most channels that the call may use.
    pub channels_max: i8,
    /// Warps per channel.
    pub warps: i32,
    /// How the candidate came to be chosen.
    pub basis: Basis,
}

/// How a candidate came to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// It has the least time.
    LeastTime,
    /// Nothing was available, so Ring runs without its filters; only up to 2.23.
    RingBackup,
}

/// NCCL finds no candidate, and the call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm or protocol is available for {collective}; NCCL fails with {}", error.code())]
pub struct NoCandidateError {
    /// The collective.
    pub collective: NcclCollective,
    /// How NCCL fails.
    pub error: NcclError,
}

/// A candidate's entry in the cost table of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// The predicted time, us.
    Time(f32),
    /// The time of Ring as a backup, us.
    Backup(f32),
    /// Not weighed. NCCL writes -1 in its table, except where a factor was applied to it.
    Unavailable {
        /// Why not.
        why: WhyNot,
        /// What NCCL writes.
        marker: f32,
    },
}

impl Entry {
    const fn unavailable(why: WhyNot) -> Self {
        Self::Unavailable { why, marker: -1.0 }
    }
}

impl CostTable {
    /// Chooses for one call as NCCL does.
    ///
    /// # Errors
    ///
    /// Fails where NCCL fails: when the environment leaves no candidate.
    pub fn choose(&self, call: &Call) -> Result<Choice, NoCandidateError> {
        let mut least = (self.release.start_time_us, None);
        let mut backup = (self.release.start_time_us, None);
        for algorithm in NcclAlgorithm::ALL {
            // One look at the call serves all protocols.
            if self.excluded(call, algorithm).is_some() {
                continue;
            }
            for protocol in Protocol::ALL {
                let candidate = Candidate {
                    algorithm,
                    protocol,
                };
                let best = match self.weigh(call, candidate, &mut Trace::silent()) {
                    Entry::Time(us) if us >= 0.0 && us < least.0 => Some((&mut least, us)),
                    Entry::Backup(us) if us >= 0.0 && us < backup.0 => Some((&mut backup, us)),
                    Entry::Time(_) | Entry::Backup(_) | Entry::Unavailable { .. } => None,
                };
                if let Some((best, us)) = best {
                    *best = (us, Some(candidate));
                }
            }
        }
        let (time_us, candidate, basis) = match (least, backup) {
            ((us, Some(candidate)), _) => (us, candidate, Basis::LeastTime),
            ((_, None), (us, Some(candidate))) => (us, candidate, Basis::RingBackup),
            ((_, None), (_, None)) => {
                return Err(NoCandidateError {
                    collective: call.collective,
                    error: self.settings.no_candidate(self.release),
                });
            }
        };
        let (channels_max, warps) = self.launch(call, candidate);
        Ok(Choice {
            candidate,
            time_us,
            channels_max,
            warps,
            basis,
        })
    }

    /// Returns every candidate's entry for one call.
    pub fn entries(&self, call: &Call) -> PerCandidate<Entry> {
        let mut entries = [[Entry::unavailable(WhyNot::NoBandwidth); 3]; 7];
        for candidate in Candidate::all() {
            entries[candidate.algorithm as usize][candidate.protocol as usize] =
                self.entry(call, candidate);
        }
        entries
    }

    /// Returns one candidate's entry for one call.
    pub fn entry(&self, call: &Call, candidate: Candidate) -> Entry {
        match self.excluded(call, candidate.algorithm) {
            Some(why) => Entry::unavailable(why),
            None => self.weigh(call, candidate, &mut Trace::silent()),
        }
    }

    /// Returns how a candidate's time comes about from its latency and bandwidth, term by
    /// term; empty where it is not available.
    pub fn explain_call(&self, call: &Call, candidate: Candidate) -> CallTerms {
        let mut bandwidth = Trace::listening();
        let mut latency = Trace::listening();
        let mut time = Trace::listening();
        if self.excluded(call, candidate.algorithm).is_none()
            && let Some(gbs) = self.usable_bandwidth(call, candidate)
        {
            let gbs = self.corrected_bandwidth(call, candidate, gbs, &mut bandwidth);
            let us = self.call_latency(call, candidate, &mut latency);
            self.time(call, candidate, us, gbs, &mut time);
        }
        CallTerms {
            bandwidth_gbs: bandwidth.into_terms(),
            latency_us: latency.into_terms(),
            time_us: time.into_terms(),
        }
    }

    /// Returns why an algorithm is left out of a call's cost table.
    fn excluded(&self, call: &Call, algorithm: NcclAlgorithm) -> Option<WhyNot> {
        let communicator = &self.communicator;
        if communicator.n_ranks == 1 {
            return (algorithm != NcclAlgorithm::Ring).then_some(WhyNot::OneRank);
        }
        let crowded = |most: Option<i32>| {
            most.filter(|&most| communicator.local_ranks_max > most)
                .map(WhyNot::LocalRanks)
        };
        match algorithm {
            NcclAlgorithm::Tree | NcclAlgorithm::Ring => None,
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::CollNetChain if !call.collnet => {
                Some(WhyNot::CallCollNet)
            }
            NcclAlgorithm::CollNetDirect => crowded(self.release.collnet_direct_local_ranks_max),
            NcclAlgorithm::CollNetChain => crowded(self.release.collnet_chain_local_ranks_max),
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => self.nvls_excluded(call, algorithm),
            NcclAlgorithm::Pat => {
                let scales = call.collective == NcclCollective::ReduceScatter
                    && matches!(call.op, RedOp::Avg | RedOp::PreMulSum);
                scales.then_some(WhyNot::PatOperator)
            }
        }
    }

    fn nvls_excluded(&self, call: &Call, algorithm: NcclAlgorithm) -> Option<WhyNot> {
        let communicator = &self.communicator;
        let rules = &self.release.nvls_gather;
        let escapes = call.collective == NcclCollective::AllGather
            && match rules.all_gather_escapes {
                NvlsEscape::None => false,
                NvlsEscape::Nvls => algorithm == NcclAlgorithm::Nvls,
                NvlsEscape::NvlsAndTree => true,
            };
        if !call.nvls && !escapes {
            return Some(WhyNot::CallNvls);
        }
        let gathers = call.collective != NcclCollective::AllReduce;
        let local = communicator.local_ranks;
        if let Some(most) = rules
            .local_ranks_max
            .filter(|&most| gathers && local > most)
        {
            return Some(WhyNot::LocalRanks(most));
        }
        if algorithm == NcclAlgorithm::NvlsTree {
            return None;
        }
        let several_nodes = communicator.n_nodes > 1;
        if several_nodes && !call.collnet {
            return Some(WhyNot::NvlsNodes);
        }
        if gathers && several_nodes && rules.local_ranks_max.is_none() {
            return Some(WhyNot::NvlsGatherNodes);
        }
        let ranks = communicator.n_ranks;
        rules
            .ranks_max
            .filter(|&most| gathers && ranks > most)
            .map(WhyNot::Ranks)
    }

    /// Returns the entry of a candidate that the call does not exclude.
    fn weigh(&self, call: &Call, candidate: Candidate, trace: &mut Trace) -> Entry {
        if self.communicator.n_ranks == 1 {
            return match candidate.protocol {
                Protocol::Simple => Entry::Time(0.0),
                Protocol::Ll | Protocol::Ll128 => Entry::unavailable(WhyNot::OneRank),
            };
        }
        let gbs = self.bandwidth_gbs(call.collective, candidate);
        let (gbs, is_backup) = if gbs == 0.0 {
            (self.backup_bandwidth(call, candidate).unwrap_or(gbs), true)
        } else {
            (gbs, false)
        };
        if gbs == 0.0 {
            let why = self.why_not(call.collective, candidate);
            return Entry::Unavailable {
                why: why.unwrap_or(WhyNot::NoBandwidth),
                marker: self.penalized(call, candidate, -1.0),
            };
        }
        let gbs = self.corrected_bandwidth(call, candidate, gbs, trace);
        let latency_us = self.call_latency(call, candidate, trace);
        let us = self.time(call, candidate, latency_us, gbs, trace);
        if is_backup {
            Entry::Backup(us)
        } else {
            Entry::Time(us)
        }
    }

    fn usable_bandwidth(&self, call: &Call, candidate: Candidate) -> Option<f32> {
        let gbs = self.bandwidth_gbs(call.collective, candidate);
        if gbs == 0.0 {
            self.backup_bandwidth(call, candidate)
        } else {
            Some(gbs)
        }
    }

    fn backup_bandwidth(&self, call: &Call, candidate: Candidate) -> Option<f32> {
        match candidate.algorithm {
            NcclAlgorithm::Ring => self
                .ring_backup_gbs(call.collective, candidate.protocol)
                .filter(|&gbs| gbs != 0.0),
            _ => None,
        }
    }

    fn corrected_bandwidth(
        &self,
        call: &Call,
        candidate: Candidate,
        gbs: f32,
        trace: &mut Trace,
    ) -> f32 {
        let gbs = trace.start("table bandwidth", gbs);
        match self.tree_correction(call, candidate) {
            Some(factor) => trace.times("tree correction", gbs, factor),
            None => gbs,
        }
    }

    fn tree_correction(&self, call: &Call, candidate: Candidate) -> Option<f32> {
        let step = (call.bytes >> 6).checked_ilog2();
        let step = match step {
            None if self.release.corrects_smallest => 0,
            None => return None,
            Some(step) => step as usize,
        };
        let steps = match candidate.algorithm {
            NcclAlgorithm::Tree => 23,
            NcclAlgorithm::NvlsTree
                if self.release.corrects_nvls_tree
                    && call.collective == NcclCollective::AllReduce
                    && self.communicator.comp_cap_min >= 100
                    && self.communicator.cpu.arch == CpuArch::X86 =>
            {
                24
            }
            _ => return None,
        };
        (step < steps).then(|| TREE_CORRECTION[candidate.protocol as usize][step])
    }

    fn call_latency(&self, call: &Call, candidate: Candidate, trace: &mut Trace) -> f32 {
        let latency_us = self.latency_us(call.collective, candidate);
        let latency_us = trace.start("table latency", latency_us);
        if self.is_on_plateau(call, candidate) {
            let factor = if self.communicator.comp_cap_min < 80 {
                1.9
            } else {
                1.4
            };
            trace.scale("plateau of large rings", latency_us, factor)
        } else {
            latency_us
        }
    }

    /// Says whether every rank of a ring over nodes has a share of 64 B per channel.
    fn is_on_plateau(&self, call: &Call, candidate: Candidate) -> bool {
        let communicator = &self.communicator;
        let is_candidate = candidate.algorithm == NcclAlgorithm::Ring
            && candidate.protocol == Protocol::Simple
            && call.collective == NcclCollective::AllReduce;
        let is_one_node =
            communicator.n_nodes == 1 || (self.release.mnnvl_is_one_node && communicator.is_mnnvl);
        if !is_candidate || is_one_node {
            return false;
        }
        let shares = communicator.n_channels.wrapping_mul(communicator.n_ranks);
        call.bytes / i64::from(shares).cast_unsigned() >= 64
    }

    fn time(
        &self,
        call: &Call,
        candidate: Candidate,
        latency_us: f32,
        gbs: f32,
        trace: &mut Trace,
    ) -> f32 {
        let operations = match candidate.algorithm {
            NcclAlgorithm::Ring => call.pipe_ops,
            _ => call.pipe_ops.div_ceil(self.release.work_elements),
        };
        let operations = operations as f32;
        let start = trace.start("latency", latency_us);
        let waits = trace.times("operations", start, operations);
        let moves = call.bytes as f32 / (1000.0 * gbs);
        let us = trace.note(
            "bytes / (1000 x bandwidth)",
            Operation::Plus {
                times: 1.0,
                each: f64::from(moves),
            },
            waits + moves,
        );
        let penalized = self.penalized(call, candidate, us);
        if penalized.to_bits() == us.to_bits() {
            us
        } else {
            trace.note(
                "8-bit floats on a ring",
                Operation::Times(1024.0),
                penalized,
            )
        }
    }

    /// Makes reductions of 8-bit floats on rings of more than eight ranks expensive, since
    /// every step rounds.
    fn penalized(&self, call: &Call, candidate: Candidate, us: f32) -> f32 {
        let is_penalized = self.release.penalizes_fp8
            && is_fp8(call.datatype)
            && candidate.algorithm == NcclAlgorithm::Ring
            && self.communicator.n_ranks > 8
            && matches!(
                call.collective,
                NcclCollective::Reduce | NcclCollective::ReduceScatter | NcclCollective::AllReduce
            );
        if is_penalized { us * 1024.0 } else { us }
    }

    /// Returns the most channels and the warps of a chosen candidate.
    ///
    /// Products are C's 32-bit integers, compared with a 64-bit size, and wrap like them.
    fn launch(&self, call: &Call, candidate: Candidate) -> (i8, i32) {
        let mut threads = self.threads_max(candidate);
        let threshold = self.thread_threshold(candidate);
        #[expect(clippy::cast_possible_truncation, reason = "NCCL keeps it in a C int")]
        let threshold = threshold as i32;
        let is_less = |product: i32| call.bytes < i64::from(product).cast_unsigned();
        let product =
            |channels: i32, threads: i32| channels.wrapping_mul(threads).wrapping_mul(threshold);
        let mut channels = self.communicator.n_channels;
        match candidate.algorithm {
            NcclAlgorithm::CollNetDirect => {
                channels = self.direct_channels(call, threads, threshold);
            }
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => {
                channels = self.nvls_channels(candidate.algorithm);
            }
            NcclAlgorithm::Tree
            | NcclAlgorithm::Ring
            | NcclAlgorithm::CollNetChain
            | NcclAlgorithm::Pat => {
                while is_less(product(channels, threads)) && channels >= 2 {
                    channels -= 1;
                }
                while is_less(product(channels, threads)) && threads % 128 == 0 && threads > 0 {
                    threads /= 2;
                }
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "NCCL keeps it in 8 signed bits"
        )]
        let channels = channels as i8;
        (channels, self.warps(candidate, threads))
    }

    fn warps(&self, candidate: Candidate, threads: i32) -> i32 {
        let extra = match (candidate.algorithm, candidate.protocol) {
            (NcclAlgorithm::Ring, Protocol::Simple) => 32,
            (NcclAlgorithm::Tree, Protocol::Simple) => 128,
            _ => 0,
        };
        let threads = (threads + extra).max(96);
        let threads = match candidate.algorithm {
            NcclAlgorithm::Tree if self.release.tree_threads_640 => 640,
            NcclAlgorithm::Pat => 640,
            _ => threads,
        };
        threads / 32
    }

    fn direct_channels(&self, call: &Call, threads: i32, threshold: i32) -> i32 {
        let heads = self.communicator.direct_heads;
        let mut threshold = threshold;
        let mut channels = self.communicator.n_channels;
        for switch in [16, 8, 4, 2, 1] {
            loop {
                let product = channels
                    .wrapping_mul(threads)
                    .wrapping_mul(heads)
                    .wrapping_mul(threshold);
                if call.bytes >= i64::from(product).cast_unsigned() {
                    return channels;
                }
                if channels <= switch {
                    break;
                }
                if channels == switch + switch / 2 {
                    threshold /= 2;
                }
                channels -= 1;
            }
        }
        channels
    }

    pub(crate) fn nvls_channels(&self, algorithm: NcclAlgorithm) -> i32 {
        let communicator = &self.communicator;
        let is_limited = self.release.nvls_channels_limited
            && algorithm == NcclAlgorithm::Nvls
            && communicator.n_nodes > 1;
        if is_limited {
            communicator.nvls_channels.min(communicator.n_channels)
        } else {
            communicator.nvls_channels
        }
    }
}

/// How a call's time comes about.
#[derive(Debug, Clone, PartialEq)]
pub struct CallTerms {
    /// From the table's bandwidth to the call's, GB/s.
    pub bandwidth_gbs: Vec<Term>,
    /// From the table's latency to the call's, us.
    pub latency_us: Vec<Term>,
    /// From both to the time, us.
    pub time_us: Vec<Term>,
}
