//! A dragonfly: groups of routers, all to all inside a group, all groups joined (Kim et al.,
//! ISCA 2008). Router to router takes at most three cables: local, global, local.

use super::{Site, cable};
use crate::SystemError;
use crate::resolve::{Cable, End};
use crate::spec::DragonflySpec;
use crate::topology::LinkClassId;

pub(super) fn build(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    spec: &DragonflySpec,
) -> Result<(), SystemError> {
    let per_group = u64::from(spec.routers) * u64::from(spec.endpoints);
    let n_groups = u64::from(site.n_ends()).div_ceil(per_group);
    let routers = u64::from(spec.routers);
    let global_slots = routers * u64::from(spec.global);
    if n_groups > 1 && n_groups - 1 > global_slots {
        return Err(site
            .mismatch(
                "groups to reach",
                n_groups - 1,
                "global cables of a group",
                global_slots,
            )
            .hint("raise `global`, `routers` or `endpoints`"));
    }
    let local = n_groups * routers * (routers - 1) / 2;
    let between = n_groups * (n_groups - 1) / 2;
    // The same number of cables between each two groups, rounded down.
    let per_pair = if n_groups > 1 {
        global_slots / (n_groups - 1)
    } else {
        0
    };
    site.draft
        .expect_cables(u64::from(site.n_ends()) + local + between * per_pair)?;
    let local_class = class_or(site, spec.local_link.as_ref(), class)?;
    let global_class = class_or(site, spec.global_link.as_ref(), class)?;

    let mut all: Vec<Vec<End>> = Vec::new();
    for group in 0..n_groups {
        let names = (0..routers).map(|router| format!("router {group}.{router}"));
        all.push(
            names
                .map(|name| site.add_switch(&spec.switch, name))
                .collect::<Result<_, _>>()?,
        );
    }
    let routers_in_order = all.iter().flatten();
    let mut cables: Vec<Cable> = routers_in_order
        .zip(site.ends.chunks(spec.endpoints as usize))
        .flat_map(|(&router, ends)| {
            let lanes = site.tier.lanes;
            ends.iter()
                .map(move |&end| cable(end, router, class, lanes))
        })
        .collect();
    for group in &all {
        for (at, &a) in group.iter().enumerate() {
            let others = group[at + 1..].iter();
            cables.extend(others.map(|&b| cable(a, b, local_class, 1)));
        }
    }
    push_global(&mut cables, &all, per_pair, spec.global, global_class);
    site.lay(&cables)
}

/// Joins all groups. Slot s of a group is on router s / global; the slots of a group go round
/// the other groups in order.
fn push_global(
    cables: &mut Vec<Cable>,
    groups: &[Vec<End>],
    per_pair: u64,
    global: u32,
    class: LinkClassId,
) {
    let n_groups = groups.len() as u64;
    let router = |group: usize, slot: u64| {
        let index = usize::try_from(slot / u64::from(global));
        groups[group][index.expect("Invariant: a slot is on a router of the group")]
    };
    for (a, b) in (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b))) {
        let ahead = (b - a) as u64;
        for turn in 0..per_pair {
            let from = router(a, (ahead - 1) * per_pair + turn);
            let to = router(b, (n_groups - ahead - 1) * per_pair + turn);
            cables.push(cable(from, to, class, 1));
        }
    }
}

fn class_or(
    site: &mut Site<'_, '_>,
    name: Option<&crate::Spelled<String>>,
    default: LinkClassId,
) -> Result<LinkClassId, SystemError> {
    name.map_or(Ok(default), |name| site.classes.link(name))
}
