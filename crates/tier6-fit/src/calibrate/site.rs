//! Where measured calls run: the system with as many nodes as a call has, and the ranks on them.

use super::{CalibrateError, Call, Observed};
use crate::identify::Setting;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use tier6_math::{Parameters, Placement};
use tier6_system::{SystemSpec, Topology};

/// The topologies of all calls, by number of nodes.
#[derive(Debug, Clone)]
pub(super) struct Sites {
    topologies: BTreeMap<u32, Topology>,
    is_multi_node: bool,
}

impl Sites {
    /// Resolves the system once per number of nodes.
    pub(super) fn of(system: &SystemSpec, observed: &[&Observed]) -> Result<Self, CalibrateError> {
        let mut sites = Self {
            topologies: BTreeMap::new(),
            is_multi_node: system.is_multi_node(),
        };
        for set in observed {
            sites.add(system, set)?;
        }
        Ok(sites)
    }

    fn add(&mut self, system: &SystemSpec, set: &Observed) -> Result<(), CalibrateError> {
        let call = &set.call;
        let misfit = |why: String| CalibrateError::Misfit {
            label: set.label.clone(),
            why,
        };
        if call.ranks < 2 || call.nodes < 1 || !call.ranks.is_multiple_of(call.nodes) {
            return Err(misfit(format!(
                "{} ranks do not spread evenly over {} nodes",
                call.ranks, call.nodes
            )));
        }
        let nodes = self.nodes(call);
        if call.nodes > 1 && !self.is_multi_node {
            let name = &system.name;
            return Err(misfit(format!(
                "{} nodes, but `{name}` describes one; hint: choose a system with a network",
                call.nodes
            )));
        }
        if !self.topologies.contains_key(&nodes) {
            let spec = system.clone();
            let spec = if self.is_multi_node {
                spec.with_outer_count(nodes)
            } else {
                spec
            };
            let topology = spec.resolve().map_err(|error| CalibrateError::System {
                system: system.name.clone(),
                error: Box::new(error),
            })?;
            self.topologies.insert(nodes, topology);
        }
        let places = self.topology(call).chips_per_node();
        let per_node = call.ranks / call.nodes;
        if per_node > places {
            let name = &system.name;
            return Err(misfit(format!(
                "{per_node} ranks per node, but a node of `{name}` has {places} chips"
            )));
        }
        Ok(())
    }

    /// Returns the nodes that are resolved: one more than a network of a single node has.
    fn nodes(&self, call: &Call) -> u32 {
        if self.is_multi_node {
            call.nodes.max(2)
        } else {
            1
        }
    }

    /// Says whether the system has a network.
    pub(super) fn is_multi_node(&self) -> bool {
        self.is_multi_node
    }

    /// Returns the topology of a call.
    pub(super) fn topology(&self, call: &Call) -> &Topology {
        &self.topologies[&self.nodes(call)]
    }

    /// Returns n and g of a call.
    #[expect(
        clippy::unused_self,
        reason = "calls speak the language of their sites"
    )]
    pub(super) fn setting(&self, call: &Call) -> Setting {
        Setting {
            per_node: call.ranks / call.nodes,
            nodes: call.nodes,
        }
    }

    /// Returns the system's parameters with the ranks of a call in their places.
    pub(super) fn parameters(&self, call: &Call) -> Parameters {
        let topology = self.topology(call);
        let placement = match NonZeroU32::new(call.ranks / call.nodes) {
            Some(per_node) if call.nodes > 1 => Placement::PerNode(per_node),
            Some(_) | None => Placement::Packed,
        };
        Parameters {
            placement,
            ..Parameters::of(topology)
        }
    }
}
