//! The time of a candidate for one call, from its latency and bandwidth.
//!
//! f32 arithmetic in NCCL's order. Source: `TUNER_SPEC.md` section 8.

use super::Entry;
use crate::call::{Call, is_fp8};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::CpuArch;
use crate::cost_table::CostTable;
use crate::term::{Operation, Trace};
use crate::why_not::WhyNot;
use tier6_collective::Protocol;

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

impl CostTable {
    /// Returns the entry of a candidate that the call does not exclude.
    pub(super) fn weigh(&self, call: &Call, candidate: Candidate, trace: &mut impl Trace) -> Entry {
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

    pub(super) fn usable_bandwidth(&self, call: &Call, candidate: Candidate) -> Option<f32> {
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

    pub(super) fn corrected_bandwidth(
        &self,
        call: &Call,
        candidate: Candidate,
        gbs: f32,
        trace: &mut impl Trace,
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

    pub(super) fn call_latency(
        &self,
        call: &Call,
        candidate: Candidate,
        trace: &mut impl Trace,
    ) -> f32 {
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

    pub(super) fn time(
        &self,
        call: &Call,
        candidate: Candidate,
        latency_us: f32,
        gbs: f32,
        trace: &mut impl Trace,
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
}
