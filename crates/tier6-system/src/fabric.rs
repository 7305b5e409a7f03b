//! Builders: how a fabric joins its ends, one file per family.
//!
//! A builder lays cables between ends and switches of its own and returns, per end, the key by
//! which switches spread routes to it: consecutive for ends on one leaf, so that shift patterns
//! use all uplinks alike (d-mod-k routing).

mod direct;
mod dragonfly;
mod fat_tree;
mod graph;
mod pcie_tree;

use crate::place::Spelled;
use crate::resolve::{Cable, Classes, Draft, End};
use crate::spec::{Direction, FabricSpec, TierSpec};
use crate::topology::LinkClassId;
use crate::{SystemError, SystemProblem};

/// One fabric to be built.
pub(crate) struct Site<'a, 's> {
    pub draft: &'a mut Draft,
    pub classes: &'a mut Classes<'s>,
    pub tier: &'a TierSpec,
    pub tier_index: u32,
    /// What the fabric joins, group by group.
    pub ends: &'a [End],
    pub ends_per_group: u32,
}

impl Site<'_, '_> {
    fn n_ends(&self) -> u32 {
        crate::topology::count(self.ends.len())
    }

    fn add_switch(&mut self, class: &Spelled<String>, name: String) -> Result<End, SystemError> {
        self.draft
            .add_switch(self.classes, class, name, 1, self.tier_index)
    }

    fn lay(&mut self, cables: &[Cable]) -> Result<(), SystemError> {
        self.draft.lay(self.classes, self.tier_index, cables)
    }

    fn mismatch(&self, what: &str, left: u64, other: &str, right: u64) -> SystemError {
        let problem = SystemProblem::Mismatch {
            what: what.to_owned(),
            left,
            other: other.to_owned(),
            right,
        };
        SystemError::new(self.tier.count.place, problem)
    }
}

fn cable(a: End, b: End, class: LinkClassId, lanes: u32) -> Cable {
    Cable {
        a,
        b,
        class,
        lanes,
        direction: Direction::BothWays,
    }
}

/// Builds the fabric of a site and returns the spread key of each end.
pub(crate) fn join(site: &mut Site<'_, '_>) -> Result<Vec<u32>, SystemError> {
    build(site).map_err(|error| error.or_at(site.tier.place()))
}

fn build(site: &mut Site<'_, '_>) -> Result<Vec<u32>, SystemError> {
    // The link class is looked up first: its name stands before anything that depends on it.
    let class = site.classes.link(&site.tier.link)?;
    let tier = site.tier;
    let keys = (0..site.n_ends()).collect();
    let needs_chips = matches!(
        tier.fabric,
        FabricSpec::Ring { .. } | FabricSpec::Torus { .. } | FabricSpec::PcieTree(_)
    );
    if needs_chips && site.tier_index > 0 {
        let problem = SystemProblem::FabricNeedsChips {
            fabric: tier.fabric.name(),
            tier: tier.name.value.clone(),
        };
        return Err(SystemError::new(tier.place(), problem)
            .hint("NICs do not forward; use crossbar, fat_tree, dragonfly, full_mesh or graph"));
    }
    match &tier.fabric {
        FabricSpec::Ring { orders } => direct::ring(site, class, orders)?,
        FabricSpec::FullMesh => direct::full_mesh(site, class)?,
        FabricSpec::Torus { dims } => direct::torus(site, class, dims)?,
        FabricSpec::Crossbar { switch, planes } => {
            let name = switch.value.clone();
            let center =
                site.draft
                    .add_switch(site.classes, switch, name, *planes, site.tier_index)?;
            let ends = site.ends.iter();
            let cables: Vec<Cable> = ends
                .map(|&end| cable(end, center, class, tier.lanes))
                .collect();
            site.lay(&cables)?;
        }
        FabricSpec::FatTree(tree) => return fat_tree::build(site, class, tree),
        FabricSpec::Dragonfly(dragonfly) => dragonfly::build(site, class, dragonfly)?,
        FabricSpec::PcieTree(tree) => pcie_tree::build(site, class, tree)?,
        FabricSpec::Graph { vertices, edges } => graph::build(site, class, vertices, edges)?,
    }
    Ok(keys)
}
