//! What the communicator, the environment and the safety of LL128 switch off.
//!
//! Source: `TUNER_SPEC.md` section 7.

use super::model::Model;
use super::{Cell, RING};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::path_type::PathType;
use crate::release::{Ll128Network, PerCandidate, RingBackup};
use crate::settings::ProtocolState;
use crate::why_not::WhyNot;
use tier6_collective::Protocol;

impl Model<'_> {
    /// Takes the bandwidth from cells that are off, says why, and returns the ring backup of
    /// the releases that have one.
    pub(crate) fn apply_availability(
        &self,
        bandwidth_gbs: &mut [PerCandidate<f32>; 5],
        unavailable: &mut [PerCandidate<Option<WhyNot>>; 5],
    ) -> Option<[[f32; 3]; 5]> {
        let mut backup = self
            .release
            .ring_backup
            .map(|_| bandwidth_gbs.map(|algorithms| algorithms[RING]));
        for collective in NcclCollective::ALL {
            for candidate in Candidate::all() {
                let cell = Cell::new(collective, candidate);
                let why = cell.of(unavailable);
                if why.is_some() {
                    continue;
                }
                let protocol_off = self.protocol_off(collective, candidate);
                let off = self.algorithm_off(collective, candidate.algorithm);
                let bandwidth = cell.of(bandwidth_gbs);
                if let Some(off) = off.or(protocol_off) {
                    *bandwidth = 0.0;
                    *why = Some(off);
                } else if *bandwidth == 0.0 {
                    *why = Some(self.without_bandwidth(collective, candidate));
                }
                if candidate.algorithm == NcclAlgorithm::Ring
                    && protocol_off.is_some()
                    && self.release.ring_backup == Some(RingBackup::EnabledProtocols)
                    && let Some(backup) = &mut backup
                {
                    backup[collective as usize][candidate.protocol as usize] = 0.0;
                }
            }
        }
        if let Some(backup) = backup {
            restore_rings(&backup, bandwidth_gbs, unavailable);
        }
        backup
    }

    fn without_bandwidth(&self, collective: NcclCollective, candidate: Candidate) -> WhyNot {
        match candidate.algorithm {
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::CollNetChain
                if candidate.protocol != Protocol::Simple =>
            {
                WhyNot::Protocol
            }
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::Nvls
                if collective.is_gather() && self.communicator.n_nodes > 1 =>
            {
                WhyNot::CollNetGather
            }
            _ => WhyNot::NoBandwidth,
        }
    }

    fn algorithm_off(
        &self,
        collective: NcclCollective,
        algorithm: NcclAlgorithm,
    ) -> Option<WhyNot> {
        let allowed = self.settings.filter.algorithms[collective as usize];
        let is_rescued = matches!(algorithm, NcclAlgorithm::Ring | NcclAlgorithm::Tree)
            && self.rescues_ring_and_tree(allowed);
        if !allowed[algorithm as usize] && !is_rescued {
            return Some(WhyNot::AlgorithmFiltered);
        }
        self.unsupported(algorithm)
    }

    /// Up to 2.23, without CollNet, Ring and Tree come back when nothing else is on.
    fn rescues_ring_and_tree(&self, allowed: [bool; 7]) -> bool {
        let is_on = |algorithm: NcclAlgorithm| {
            allowed[algorithm as usize] && self.unsupported(algorithm).is_none()
        };
        self.release.ring_backup.is_some()
            && !self.communicator.has_collnet
            && ![
                NcclAlgorithm::Ring,
                NcclAlgorithm::Tree,
                NcclAlgorithm::Nvls,
                NcclAlgorithm::NvlsTree,
            ]
            .into_iter()
            .any(is_on)
    }

    fn unsupported(&self, algorithm: NcclAlgorithm) -> Option<WhyNot> {
        let communicator = self.communicator;
        let several_nodes = communicator.n_nodes > 1;
        match algorithm {
            NcclAlgorithm::Tree | NcclAlgorithm::Ring | NcclAlgorithm::Pat => None,
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::CollNetChain
                if !communicator.has_collnet =>
            {
                Some(WhyNot::NoCollNet)
            }
            NcclAlgorithm::CollNetDirect => {
                (!communicator.has_nvswitch).then_some(WhyNot::NoNvSwitch)
            }
            NcclAlgorithm::CollNetChain => (self.release.collnet_chain_needs_support
                && !communicator.has_collnet_chain)
                .then_some(WhyNot::NoCollNetChain),
            NcclAlgorithm::Nvls => {
                (several_nodes && !communicator.has_collnet).then_some(WhyNot::NvlsNodes)
            }
            NcclAlgorithm::NvlsTree => (self.nodes == 1).then_some(WhyNot::OneNode),
        }
    }

    fn protocol_off(&self, collective: NcclCollective, candidate: Candidate) -> Option<WhyNot> {
        match self.settings.filter.protocols[collective as usize][candidate.protocol as usize] {
            ProtocolState::Off => Some(WhyNot::ProtocolFiltered),
            ProtocolState::On => None,
            ProtocolState::Auto => self.ll128_unsafe(candidate.algorithm),
        }
    }

    /// Returns why NCCL holds LL128 for unsafe on an algorithm's graph.
    fn ll128_unsafe(&self, algorithm: NcclAlgorithm) -> Option<WhyNot> {
        let rules = &self.release.ll128;
        let communicator = self.communicator;
        let graph = communicator.graph(algorithm);
        let is_hopper = communicator.comp_cap_min >= 90;
        let over_c2c = self.settings.ll128_over_c2c;
        let farthest = match (rules.network, over_c2c) {
            _ if !is_hopper => PathType::Pxb,
            (Ll128Network::PxnIfC2c, false) => PathType::Pxb,
            (Ll128Network::P2cOrPxn, true) => PathType::P2c,
            (Ll128Network::P2cOrPxn, false)
            | (Ll128Network::PxnIfC2c, true)
            | (Ll128Network::Pxn, _) => PathType::Pxn,
        };
        let is_uniform = communicator.comp_cap_min == communicator.comp_cap_max;
        let may_mix = (rules.mixed_from).is_some_and(|least| communicator.comp_cap_min >= least);
        if !self.release.is_within(graph.inter_path, farthest) {
            Some(WhyNot::Ll128Network)
        } else if !self.release.is_within(graph.intra_path, PathType::Nvb) {
            Some(WhyNot::Ll128Intra)
        } else if !is_uniform && !may_mix {
            Some(WhyNot::Ll128Mixed)
        } else if !rules.comp_caps.contains(communicator.comp_cap_min) {
            Some(WhyNot::Ll128CompCap)
        } else {
            None
        }
    }
}

/// Gives Ring its bandwidth back in collectives that have no candidate left.
fn restore_rings(
    backup: &[[f32; 3]; 5],
    bandwidth_gbs: &mut [PerCandidate<f32>; 5],
    unavailable: &mut [PerCandidate<Option<WhyNot>>; 5],
) {
    for ((rows, whys), backup) in bandwidth_gbs.iter_mut().zip(unavailable).zip(backup) {
        // A NaN is "not zero" here, as in C.
        let has_candidate = rows.iter().flatten().any(|&gbs| gbs != 0.0);
        if has_candidate {
            continue;
        }
        rows[RING] = *backup;
        for (why, &gbs) in whys[RING].iter_mut().zip(backup) {
            if gbs != 0.0 {
                *why = None;
            }
        }
    }
}
