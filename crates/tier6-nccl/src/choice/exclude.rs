//! Which algorithms a call leaves out, whatever their times.
//!
//! Source: `TUNER_SPEC.md` section 8.

use crate::call::Call;
use crate::candidate::{NcclAlgorithm, NcclCollective};
use crate::cost_table::CostTable;
use crate::release::NvlsEscape;
use crate::why_not::WhyNot;
use tier6_collective::RedOp;

impl CostTable {
    /// Returns why an algorithm is left out of a call's cost table.
    pub(super) fn excluded(&self, call: &Call, algorithm: NcclAlgorithm) -> Option<WhyNot> {
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
}
