//! The numbers that the formulas share, derived once per communicator.

use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::{Communicator, Cpu, CpuArch, CpuVendor};
use crate::release::{CollNetGather, NvlsModel, Release};
use crate::settings::{PatSwitch, Settings};
use crate::term::single;
use crate::why_not::WhyNot;
use tier6_collective::Protocol;

/// A communicator under a release, with what the formulas derive from both.
pub(crate) struct Model<'a> {
    pub(crate) release: &'a Release,
    pub(crate) communicator: &'a Communicator,
    pub(crate) settings: &'a Settings,
    /// Nodes as the model counts them.
    pub(crate) nodes: i32,
    /// Ranks per node.
    pub(crate) ranks_per_node: f32,
    /// Row of the tables by compute capability.
    pub(crate) comp_cap_row: usize,
    /// Column of the tables by number of nodes.
    pub(crate) scale: usize,
    pub(crate) cpu: Cpu,
}

impl<'a> Model<'a> {
    pub(crate) fn new(
        release: &'a Release,
        communicator: &'a Communicator,
        settings: &'a Settings,
    ) -> Self {
        let nodes = if release.mnnvl_is_one_node && communicator.is_mnnvl {
            1
        } else {
            communicator.n_nodes
        };
        Self {
            release,
            communicator,
            settings,
            nodes,
            ranks_per_node: communicator.n_ranks as f32 / nodes as f32,
            comp_cap_row: match communicator.comp_cap_min {
                ..80 => 0,
                80..90 => 1,
                90..100 => 2,
                100.. => 3,
            },
            scale: match nodes {
                ..=1 => 0,
                2 => 1,
                _ => 2,
            },
            cpu: release.cpu.of(communicator),
        }
    }

    /// Returns the cap of LL bandwidth, GB/s.
    pub(crate) fn ll_max_gbs(&self) -> f64 {
        let row = if self.nodes == 1 {
            self.comp_cap_row
        } else {
            match self.cpu.vendor {
                CpuVendor::Amd | CpuVendor::Mixed => 1,
                CpuVendor::Intel | CpuVendor::Zhaoxin | CpuVendor::Unknown => 0,
            }
        };
        self.release.ll_max_gbs[row][self.scale]
    }

    /// Returns the steps of a ring.
    pub(crate) fn ring_steps(&self, collective: NcclCollective) -> i32 {
        let ranks = self.communicator.n_ranks;
        match collective {
            NcclCollective::AllReduce => 2 * (ranks - 1),
            NcclCollective::AllGather | NcclCollective::ReduceScatter => ranks - 1,
            NcclCollective::Broadcast | NcclCollective::Reduce => ranks,
        }
    }

    /// Returns the network's software cost of a ring step, us.
    pub(crate) fn net_overhead_us(&self) -> f32 {
        let cpu = self.release.net_overhead_cpu.of(self.communicator);
        match (self.settings.net_overhead_ns, cpu.arch, cpu.vendor) {
            (Some(ns), _, _) => single(ns as f64 * 0.001),
            (None, CpuArch::X86, CpuVendor::Amd) => 2.0,
            (None, _, _) => 1.0,
        }
    }

    /// Returns why the model leaves the cell at zero, latency included.
    pub(crate) fn outside_model(
        &self,
        collective: NcclCollective,
        candidate: Candidate,
    ) -> Option<WhyNot> {
        if self.communicator.n_ranks == 1 {
            return Some(WhyNot::OneRank);
        }
        if candidate.algorithm == NcclAlgorithm::Pat && !self.release.has_pat() {
            return Some(WhyNot::NotInRelease);
        }
        if !self.does(candidate.algorithm, collective) {
            return Some(WhyNot::Collective);
        }
        match candidate.algorithm {
            NcclAlgorithm::Tree
            | NcclAlgorithm::Ring
            | NcclAlgorithm::CollNetDirect
            | NcclAlgorithm::CollNetChain => None,
            _ if candidate.protocol != Protocol::Simple => Some(WhyNot::Protocol),
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => self.nvls_outside(candidate.algorithm),
            NcclAlgorithm::Pat => self.pat_outside(),
        }
    }

    fn does(&self, algorithm: NcclAlgorithm, collective: NcclCollective) -> bool {
        match algorithm {
            NcclAlgorithm::Ring => true,
            NcclAlgorithm::Tree | NcclAlgorithm::CollNetChain | NcclAlgorithm::NvlsTree => {
                collective == NcclCollective::AllReduce
            }
            NcclAlgorithm::Nvls => !collective.is_rooted(),
            NcclAlgorithm::CollNetDirect => match collective {
                NcclCollective::AllReduce => true,
                NcclCollective::AllGather | NcclCollective::ReduceScatter => {
                    self.release.collnet_gather != CollNetGather::None
                }
                NcclCollective::Broadcast | NcclCollective::Reduce => false,
            },
            NcclAlgorithm::Pat => collective.is_gather(),
        }
    }

    fn nvls_outside(&self, algorithm: NcclAlgorithm) -> Option<WhyNot> {
        match self.release.nvls {
            NvlsModel::SlowerLink | NvlsModel::SlowerLinkAndGather => None,
            NvlsModel::Efficiency { .. } => {
                (self.communicator.graph(algorithm).n_channels < 2).then_some(WhyNot::NvlsChannels)
            }
        }
    }

    fn pat_outside(&self) -> Option<WhyNot> {
        let communicator = self.communicator;
        if (self.release.pat).is_some_and(|pat| communicator.comp_cap_min < pat.comp_cap_min) {
            return Some(WhyNot::PatCompCap);
        }
        match self.settings.pat {
            PatSwitch::Off => Some(WhyNot::PatOff),
            PatSwitch::On => None,
            PatSwitch::Auto => {
                let is_fit =
                    communicator.n_nodes == communicator.n_ranks && communicator.net_is_host;
                (!is_fit).then_some(WhyNot::PatOneRankPerNode)
            }
        }
    }
}

/// Returns the whole part of log2 for a positive number.
pub(crate) const fn floor_log2(number: i32) -> i32 {
    if number > 0 {
        number.ilog2().cast_signed()
    } else {
        0
    }
}
