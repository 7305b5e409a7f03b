//! How the steps of an algorithm follow each other.

use super::Job;
use crate::plan::PlanError;
use crate::plan::outline::{Form, Route};
use crate::traffic::Traffic;
use std::collections::BTreeMap;
use tier6_collective::{Algorithm, Collective, Grain, RankId};
use tier6_system::{SwitchTree, VertexId};
use tier6_units::{Bytes, GbPerSec};

impl Job<'_> {
    pub(super) fn form(&self, algorithm: Algorithm, traffic: &Traffic) -> Result<Form, PlanError> {
        let parameters = self.parameters;
        let sum = |route, flights| Ok(Form::Sum { route, flights });
        let is_piped = matches!(self.collective, Collective::Broadcast | Collective::Reduce);
        match algorithm {
            Algorithm::Ring | Algorithm::BidirRing if is_piped => Ok(self.pieces(traffic)),
            Algorithm::Tree => Ok(self.pieces(traffic)),
            Algorithm::Ring | Algorithm::BidirRing | Algorithm::TorusBucket => {
                match parameters.grain {
                    Grain::Message => sum(Route::Mean, 0.0),
                    Grain::Slices { bytes } => Ok(Form::Stream {
                        slice: bytes as f64,
                    }),
                }
            }
            // Two flights more: the credit before and the answer after.
            Algorithm::SendRecvRing => sum(Route::Mean, 2.0),
            Algorithm::Hierarchical => Ok(Form::Stages {
                overlap: parameters.overlap,
            }),
            Algorithm::Nvls if self.is_nvls_across() => self.sharp(traffic),
            Algorithm::Nvls => Ok(Form::Nvls {
                share: match self.collective {
                    Collective::AllReduce => 1.0 + 1.0 / f64::from(self.ranks),
                    _ => 1.0,
                },
            }),
            Algorithm::NvlsTree => Ok(Form::NvlsTree),
            Algorithm::CollNetDirect | Algorithm::CollNetChain => self.sharp(traffic),
            Algorithm::HalvingDoubling
            | Algorithm::RecursiveDoubling
            | Algorithm::Pairwise
            | Algorithm::Bruck
            | Algorithm::Direct
            | Algorithm::OneShot
            | Algorithm::TwoShot
            | Algorithm::Pat
            | Algorithm::Binomial
            | Algorithm::ScatterAllGather
            | Algorithm::Swing => sum(Route::Longest, 0.0),
        }
    }

    fn pieces(&self, traffic: &Traffic) -> Form {
        let is_chain = self.algorithm != Some(Algorithm::Tree);
        // Each channel forwards slices of its own.
        let channels = match traffic.steps.first() {
            Some(step) if self.is_chain() => step.sends.len() as u64,
            _ => 1,
        };
        Form::Pieces {
            // The channels of a chain meet the same hops, at different steps.
            route: if self.is_chain() {
                Route::Mean
            } else {
                Route::Longest
            },
            next: self.parameters.step.pipelined.get(),
            pieces: match self.parameters.grain {
                Grain::Slices { bytes } if is_chain => {
                    crate::Pieces::Of(Bytes::new(bytes.saturating_mul(channels)))
                }
                Grain::Slices { .. } | Grain::Message => self.parameters.pieces,
            },
        }
    }

    fn sharp(&self, traffic: &Traffic) -> Result<Form, PlanError> {
        let contexts = self.parameters.sharp.and_then(|sharp| sharp.contexts);
        let rails = match self.algorithm {
            Some(Algorithm::Nvls) => self.per_node.unwrap_or(1) as usize,
            _ => traffic.groups.len(),
        };
        if contexts
            .is_some_and(|contexts| self.rails_of_a_switch(&traffic.groups[..rails]) > contexts)
        {
            let hint = "use fewer rails, collnet_chain, which aggregates once, or tier6 simulate";
            return Err(self.lacks("the switches hold too few aggregations", hint));
        }
        let g = self.per_node.unwrap_or(1);
        let rate = self.chips.iter().take(g as usize).map(|chip| {
            let rate = self.topology.network_payload_rate(*chip);
            rate.map_or(0.0, GbPerSec::get)
        });
        let tiers = self.topology.tiers();
        Ok(Form::Sharp {
            nvls: (self.algorithm == Some(Algorithm::Nvls)).then_some(1.0 + 1.0 / f64::from(g)),
            class: tiers[1.min(tiers.len() - 1)].link,
            rate: rate.sum::<f64>(),
        })
    }

    /// Returns for how many of some groups the busiest switch adds.
    fn rails_of_a_switch(&self, rails: &[Vec<RankId>]) -> u32 {
        let mut counts: BTreeMap<VertexId, u32> = BTreeMap::new();
        for rail in rails {
            let chips: Vec<_> = rail.iter().map(|rank| self.chips[rank.index()]).collect();
            let tree = SwitchTree::of(self.topology, &chips);
            for switch in tree.iter().flat_map(|tree| tree.adders(self.topology)) {
                *counts.entry(switch).or_default() += 1;
            }
        }
        counts.into_values().max().unwrap_or(0)
    }
}
