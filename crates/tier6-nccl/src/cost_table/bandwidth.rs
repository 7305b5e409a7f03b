//! The bandwidth table: per channel, times channels, efficiency and caps, ratio.
//!
//! Source: `TUNER_SPEC.md` section 5. GB/s everywhere.

use super::model::Model;
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::{Graph, Pattern};
use crate::release::{CollNetGather, GatherRatio, NvlsModel, PatternSource, PerScale, RingLl};
use crate::term::{Operation, Trace, single};
use tier6_collective::Protocol;

impl Model<'_> {
    /// Returns the algorithm bandwidth of a cell inside the model, before section 7 switches
    /// anything off.
    pub(crate) fn bandwidth(
        &self,
        collective: NcclCollective,
        candidate: Candidate,
        trace: &mut impl Trace,
    ) -> f32 {
        let graph = self.communicator.graph(candidate.algorithm);
        let per_channel = self.per_channel(collective, candidate.algorithm, graph, trace);
        let channels = graph.n_channels as f32;
        let all = trace.note(
            "graph channels",
            Operation::Times(f64::from(channels)),
            channels * per_channel,
        );
        let bus = match candidate.algorithm {
            NcclAlgorithm::Ring => self.ring(collective, candidate.protocol, graph, all, trace),
            NcclAlgorithm::Tree => self.tree(candidate.protocol, graph, all, trace),
            NcclAlgorithm::CollNetDirect => {
                self.collnet_direct(collective, candidate.protocol, per_channel, all, trace)
            }
            NcclAlgorithm::CollNetChain => match candidate.protocol {
                Protocol::Simple => all,
                Protocol::Ll | Protocol::Ll128 => trace.replace("Simple only", 0.0),
            },
            NcclAlgorithm::Nvls if self.misses_collnet_gather(collective) => {
                trace.replace("CollNet cannot gather", 0.0)
            }
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => all,
            NcclAlgorithm::Pat => {
                let factor = self.release.pat.map_or(1.0, |pat| pat.bandwidth_factor);
                trace.scale("PAT efficiency", all, factor)
            }
        };
        match self.ratio(collective, candidate.algorithm) {
            Some(ratio) => trace.times("algorithm / bus bandwidth", bus, ratio),
            None => bus,
        }
    }

    fn per_channel(
        &self,
        collective: NcclCollective,
        algorithm: NcclAlgorithm,
        graph: &Graph,
        trace: &mut impl Trace,
    ) -> f32 {
        let is_tree = match algorithm {
            NcclAlgorithm::Nvls => false,
            NcclAlgorithm::NvlsTree => true,
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::CollNetChain => {
                return trace.start("channel inside the node", graph.intra_gbs);
            }
            NcclAlgorithm::Tree | NcclAlgorithm::Ring | NcclAlgorithm::Pat => {
                return if self.nodes <= 2 {
                    trace.start("channel inside the node", graph.intra_gbs)
                } else {
                    trace.start("channel between nodes", graph.inter_gbs)
                };
            }
        };
        match self.release.nvls {
            NvlsModel::SlowerLinkAndGather if collective.is_gather() => {
                self.nvls_gather(graph, trace)
            }
            NvlsModel::SlowerLink | NvlsModel::SlowerLinkAndGather => {
                let intra = trace.start("channel inside the node", graph.intra_gbs);
                let inter = if is_tree && self.nodes > 2 {
                    graph.inter_gbs / 2.0
                } else {
                    graph.inter_gbs
                };
                trace.cap("channel between nodes", intra, f64::from(inter))
            }
            NvlsModel::Efficiency {
                efficiency,
                nvls_tree_cap_gbs,
            } => {
                let slower = self.nvls_efficient(collective, is_tree, graph, efficiency, trace);
                if is_tree {
                    let cap = single(self.capped(&nvls_tree_cap_gbs));
                    trace.cap("NVLSTree channel cap", slower, f64::from(cap))
                } else {
                    slower
                }
            }
        }
    }

    /// NVLS for AllGather and ReduceScatter in 2.27.
    fn nvls_gather(&self, graph: &Graph, trace: &mut impl Trace) -> f32 {
        let ppn = self.ranks_per_node;
        let intra = trace.start("channel inside the node", graph.intra_gbs);
        let others = trace.times("ranks per node - 1", intra, ppn - 1.0);
        let share = trace.note(
            "ranks per node",
            Operation::Over(f64::from(ppn)),
            others / ppn,
        );
        let inter = graph.inter_gbs * 0.9;
        trace.cap("0.9 of channel between nodes", share, f64::from(inter))
    }

    /// NVLS and NVLSTree from 2.28 on.
    fn nvls_efficient(
        &self,
        collective: NcclCollective,
        is_tree: bool,
        graph: &Graph,
        efficiency: [f64; 4],
        trace: &mut impl Trace,
    ) -> f32 {
        let channels = graph.n_channels as f32;
        let intra = trace.start("channel inside the node", graph.intra_gbs);
        let efficient = trace.times(
            "NVLS efficiency",
            intra,
            single(efficiency[self.comp_cap_row]),
        );
        let others = trace.times("graph channels - 1", efficient, channels - 1.0);
        let mean = trace.note(
            "graph channels",
            Operation::Over(f64::from(channels)),
            others / channels,
        );
        let wire = if collective == NcclCollective::AllReduce {
            trace.times("both directions", mean, 2.0)
        } else {
            let ppn = self.ranks_per_node;
            trace.times(
                "(ranks per node - 1) / ranks per node",
                mean,
                (ppn - 1.0) / ppn,
            )
        };
        let both_ways = if is_tree && self.nodes <= 2 { 2.0 } else { 1.0 };
        let inter = graph.inter_gbs * both_ways;
        trace.cap("channel between nodes", wire, f64::from(inter))
    }

    fn ring(
        &self,
        collective: NcclCollective,
        protocol: Protocol,
        graph: &Graph,
        all: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        match protocol {
            Protocol::Simple => all,
            Protocol::Ll => {
                let goes_far = self.nodes > 1
                    || matches!(
                        collective,
                        NcclCollective::AllReduce | NcclCollective::Reduce
                    );
                let share = match self.release.ring_ll {
                    RingLl::Half => 0.5,
                    RingLl::QuarterOrThird if goes_far => 1.0 / 4.0,
                    RingLl::QuarterOrThird => 1.0 / 3.0,
                };
                let flagged = trace.scale("LL efficiency", all, share);
                trace.cap("LL cap", flagged, self.ll_max_gbs())
            }
            Protocol::Ll128 => {
                let share = if self.ranks_per_node < 2.0 {
                    self.release.ring_ll128_sparse
                } else {
                    0.92
                };
                let flagged = trace.scale("LL128 efficiency", all, share);
                let cap = self.all_channels(graph, &self.release.ring_ll128_cap_gbs);
                trace.cap("LL128 channel caps", flagged, cap)
            }
        }
    }

    fn tree(&self, protocol: Protocol, graph: &Graph, all: f32, trace: &mut impl Trace) -> f32 {
        let efficient = trace.scale("tree efficiency", all, 0.92);
        let cap = self.all_channels(graph, &self.release.tree_cap_gbs);
        let bus = trace.cap("tree channel caps", efficient, cap);
        let bus = match protocol {
            Protocol::Simple => bus,
            Protocol::Ll => {
                let flagged = trace.divide("LL share", bus, 3.8);
                trace.cap("LL cap", flagged, self.ll_max_gbs())
            }
            Protocol::Ll128 => {
                let share = if self.nodes == 1 {
                    7.0 / 9.0
                } else {
                    120.0 / 128.0
                };
                let flagged = trace.scale("LL128 share", bus, share);
                let cap = self.all_channels(graph, &self.release.tree_ll128_cap_gbs);
                trace.cap("LL128 channel caps", flagged, cap)
            }
        };
        let pattern = match self.release.tree_pattern {
            PatternSource::Graph => graph.pattern,
            PatternSource::Communicator => self.communicator.tree_pattern_max.or(graph.pattern),
        };
        if pattern == Some(Pattern::Tree) {
            trace.scale("plain tree", bus, 0.85)
        } else {
            bus
        }
    }

    fn collnet_direct(
        &self,
        collective: NcclCollective,
        protocol: Protocol,
        per_channel: f32,
        all: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        if protocol != Protocol::Simple {
            return trace.replace("Simple only", 0.0);
        }
        if collective == NcclCollective::AllReduce {
            return self.collnet_direct_all_reduce(all, trace);
        }
        let ppn = self.ranks_per_node;
        match self.release.collnet_gather {
            CollNetGather::None => all,
            CollNetGather::ByHeads => {
                let node = trace.note(
                    "ranks per node x channel inside the node",
                    Operation::Replace(f64::from(ppn * per_channel)),
                    ppn * per_channel,
                );
                if self.communicator.n_nodes > 1 && self.lacks_heads(collective) {
                    return trace.replace("CollNet cannot gather", 0.0);
                }
                let weight = (ppn - 1.0) / 7.0;
                let share = f64::from(weight) * 0.85 + f64::from(1.0 - weight) * 0.95;
                trace.scale("efficiency by ranks per node", node, share)
            }
            CollNetGather::ByNetwork => {
                let graph = self.communicator.graph(NcclAlgorithm::CollNetDirect);
                let slower = graph.intra_gbs.min(graph.inter_gbs * 0.9);
                let node = trace.note(
                    "ranks per node x slower of channel inside and 0.9 between",
                    Operation::Replace(f64::from(ppn * slower)),
                    ppn * slower,
                );
                if self.misses_collnet_gather(collective) {
                    return trace.replace("CollNet cannot gather", 0.0);
                }
                node
            }
        }
    }

    fn collnet_direct_all_reduce(&self, all: f32, trace: &mut impl Trace) -> f32 {
        let graph = self.communicator.graph(NcclAlgorithm::CollNetDirect);
        let factor = single(f64::from(self.ranks_per_node) / f64::from(graph.n_channels));
        let factor = factor - (factor - 1.0) / 2.0;
        let shared = trace.note(
            "ranks per channel, half overlapped",
            Operation::Over(f64::from(factor)),
            all / factor,
        );
        if self.communicator.comp_cap_min >= 90 {
            trace.scale("Hopper efficiency", shared, 0.85)
        } else {
            shared
        }
    }

    /// 2.20 to 2.26: the plug-in lacks the collective, or there are more ranks than heads.
    fn lacks_heads(&self, collective: NcclCollective) -> bool {
        !self.offers_gather(collective)
            || self.ranks_per_node > self.communicator.collnet_heads as f32
    }

    /// From 2.27 on: several nodes gather only through a CollNet that can.
    fn misses_collnet_gather(&self, collective: NcclCollective) -> bool {
        let communicator = self.communicator;
        let has_crowded_node = || {
            communicator
                .node_local_ranks
                .iter()
                .any(|&ranks| ranks > communicator.collnet_heads)
        };
        self.release.nvls.gathers_over_nodes()
            && collective.is_gather()
            && communicator.n_nodes > 1
            && (!self.offers_gather(collective) || !communicator.has_collnet || has_crowded_node())
    }

    fn offers_gather(&self, collective: NcclCollective) -> bool {
        if collective == NcclCollective::AllGather {
            self.communicator.collnet_all_gather
        } else {
            self.communicator.collnet_reduce_scatter
        }
    }

    /// Returns what turns bus into algorithm bandwidth, if this algorithm is asked at all.
    fn ratio(&self, collective: NcclCollective, algorithm: NcclAlgorithm) -> Option<f32> {
        let ring = || {
            let steps = self.ring_steps(collective);
            single(f64::from(self.communicator.n_ranks) / f64::from(steps))
        };
        if algorithm == NcclAlgorithm::Ring {
            return Some(ring());
        }
        if collective.is_gather() {
            match self.release.gather_ratio {
                GatherRatio::RingOnly => return None,
                GatherRatio::AllButCollNetDirect if algorithm == NcclAlgorithm::CollNetDirect => {
                    return None;
                }
                GatherRatio::AllButCollNetDirect | GatherRatio::All => {}
            }
        }
        Some(match (algorithm, self.release.nvls) {
            (NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree, NvlsModel::Efficiency { .. }) => ring(),
            (NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree, _) => single(5.0 / 6.0),
            _ => 0.5,
        })
    }

    fn capped(&self, table: &PerScale) -> f64 {
        table[self.comp_cap_row][self.scale]
    }

    fn all_channels(&self, graph: &Graph, cap_per_channel: &PerScale) -> f64 {
        f64::from(graph.n_channels) * self.capped(cap_per_channel)
    }
}
