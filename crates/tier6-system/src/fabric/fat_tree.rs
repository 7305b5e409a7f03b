//! A two-level folded Clos network, plain or rail-optimised, with oversubscription.
//!
//! Deliberately absent: a third level. Chassis spines (a class with many ports) stand for it.

use super::{Site, cable};
use crate::resolve::{Cable, End};
use crate::spec::{FatTreeSpec, Wiring};
use crate::topology::{LinkClassId, SwitchClass};
use crate::{SystemError, SystemProblem};

/// Sizes worked out from what is given.
struct Plan {
    /// Ends in the order of leaves.
    order: Vec<u32>,
    /// Ends of each leaf.
    leaves: Vec<u32>,
    spines: u32,
    /// Lanes between a leaf and a spine.
    lanes_up: u32,
}

pub(super) fn build(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    tree: &FatTreeSpec,
) -> Result<Vec<u32>, SystemError> {
    let plan = plan(site, tree)?;
    let n_leaves = plan.leaves.len() as u64;
    site.draft
        .expect_cables(u64::from(site.n_ends()) + n_leaves * u64::from(plan.spines))?;
    let mut leaves = Vec::new();
    let mut cables: Vec<Cable> = Vec::new();
    let mut at = 0;
    for (index, &n_ends) in plan.leaves.iter().enumerate() {
        let leaf = site.add_switch(&tree.switch, format!("leaf {index}"))?;
        for &end in &plan.order[at..at + n_ends as usize] {
            cables.push(cable(site.ends[end as usize], leaf, class, site.tier.lanes));
        }
        at += n_ends as usize;
        leaves.push(leaf);
    }
    let spine_class = tree.spine.as_ref().unwrap_or(&tree.switch);
    let spines: Vec<End> = (0..plan.spines)
        .map(|index| site.add_switch(spine_class, format!("spine {index}")))
        .collect::<Result<_, _>>()?;
    for &leaf in &leaves {
        let up = spines.iter();
        cables.extend(up.map(|&spine| cable(leaf, spine, class, plan.lanes_up)));
    }
    site.lay(&cables)?;
    let mut keys = vec![0; plan.order.len()];
    for (key, &end) in (0_u32..).zip(&plan.order) {
        keys[end as usize] = key;
    }
    Ok(keys)
}

fn plan(site: &mut Site<'_, '_>, tree: &FatTreeSpec) -> Result<Plan, SystemError> {
    let n_ends = site.n_ends();
    let lanes = u64::from(site.tier.lanes);
    let leaf_class = site.classes.switch(&tree.switch)?;
    let leaf_ports = site.classes.switch_class(leaf_class).ports;
    let rails = match tree.wiring {
        Wiring::ByNode => 1,
        Wiring::ByRail => site.ends_per_group,
    };
    let groups = n_ends / rails;
    let down = match (tree.down, leaf_ports) {
        (Some(down), _) => down,
        (None, None) => {
            let table = format!("tier `{}`", site.tier.name.value);
            let problem = SystemProblem::MissingKey { key: "down", table };
            return Err(SystemError::new(site.tier.place(), problem)
                .hint("the leaf's class has no port count to work it out from"));
        }
        // All ends fit on one leaf: no spine, no uplink ports to keep free.
        (None, Some(ports)) if rails == 1 && u64::from(n_ends) * lanes <= ports.into() => n_ends,
        (None, Some(ports)) => ends_per_leaf(site, ports, tree.oversubscription)?,
    };
    let leaves = leaf_sizes(groups, rails, down);
    let order = match tree.wiring {
        Wiring::ByNode => (0..n_ends).collect(),
        Wiring::ByRail => (0..rails)
            .flat_map(|rail| (0..groups).map(move |group| group * rails + rail))
            .collect(),
    };
    let (spines, lanes_up) = if leaves.len() == 1 {
        (0, 0)
    } else {
        plan_spines(site, tree, u64::from(down) * lanes, leaves.len() as u64)?
    };
    Ok(Plan {
        order,
        leaves,
        spines,
        lanes_up,
    })
}

/// Ends that leave a leaf's other ports for the way up: ports·r/(1+r), rounded down.
fn ends_per_leaf(site: &Site<'_, '_>, ports: u32, ratio: f64) -> Result<u32, SystemError> {
    let lanes_down = (f64::from(ports) * ratio / (1.0 + ratio)).floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the ports of a switch"
    )]
    let down = lanes_down as u32 / site.tier.lanes;
    if down == 0 {
        let (needed, available) = (u64::from(site.tier.lanes) + 1, u64::from(ports));
        let problem = SystemProblem::TooFewPorts {
            what: "a leaf".to_owned(),
            needed,
            available,
        };
        return Err(SystemError::new(site.tier.place(), problem));
    }
    Ok(down)
}

fn leaf_sizes(groups: u32, rails: u32, down: u32) -> Vec<u32> {
    let mut leaves = Vec::new();
    for _ in 0..rails {
        let mut left = groups;
        while left > 0 {
            let here = left.min(down);
            leaves.push(here);
            left -= here;
        }
    }
    leaves
}

/// Returns how many spines, and how many lanes lead from each leaf to each of them.
fn plan_spines(
    site: &mut Site<'_, '_>,
    tree: &FatTreeSpec,
    lanes_down: u64,
    n_leaves: u64,
) -> Result<(u32, u32), SystemError> {
    let exact = lanes_down as f64 / tree.oversubscription;
    let lanes_up = exact.round();
    // A ratio such as 1.1 is not exact in binary; a lane in a billion is.
    if lanes_up < 1.0 || (exact - lanes_up).abs() > 1e-9 * exact {
        let problem = SystemProblem::BadValue {
            key: "oversubscription".to_owned(),
            reason: format!("{lanes_down} lanes down give {exact:.3} lanes up, not a whole number"),
        };
        return Err(
            SystemError::new(site.tier.place(), problem).hint("choose `down` so that it divides")
        );
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to the lanes down, which count far below 2^53"
    )]
    let lanes_up = lanes_up as u64;
    let spine_id = site
        .classes
        .switch(tree.spine.as_ref().unwrap_or(&tree.switch))?;
    let class: &SwitchClass = site.classes.switch_class(spine_id);
    let ports = class.ports.map_or(u64::MAX, u64::from);
    let spines = match tree.spines {
        Some(spines) if lanes_up.is_multiple_of(spines.into()) => u64::from(spines),
        Some(spines) => {
            return Err(site
                .mismatch("spines", spines.into(), "lanes up of a leaf", lanes_up)
                .hint("every leaf reaches every spine with the same number of lanes"));
        }
        // The fewest spines whose ports take all leaves.
        None => (1..=lanes_up.min(u64::from(crate::spec::COUNT_MAX)))
            .filter(|spines| lanes_up.is_multiple_of(*spines))
            .find(|spines| (lanes_up / spines).saturating_mul(n_leaves) <= ports)
            .ok_or_else(|| {
                let problem = SystemProblem::TooFewPorts {
                    what: format!("a spine of {n_leaves} leaves"),
                    needed: n_leaves,
                    available: ports,
                };
                SystemError::new(site.tier.place(), problem)
                    .hint("name a `spine` class with more ports, or more ends per leaf (`down`)")
            })?,
    };
    let small = |n: u64| u32::try_from(n).ok();
    match (small(spines), small(lanes_up / spines)) {
        (Some(spines), Some(lanes)) => Ok((spines, lanes)),
        _ => Err(site.mismatch(
            "lanes up of a leaf",
            lanes_up,
            "lanes at most",
            u32::MAX.into(),
        )),
    }
}
