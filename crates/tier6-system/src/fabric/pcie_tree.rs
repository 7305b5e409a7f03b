//! PCIe: chips below PCIe switches below one root complex per socket, sockets all to all.

use super::{Site, cable};
use crate::resolve::{Cable, End};
use crate::spec::PcieTreeSpec;
use crate::topology::LinkClassId;
use crate::{SystemError, SystemProblem};

pub(super) fn build(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    spec: &PcieTreeSpec,
) -> Result<(), SystemError> {
    let n_ends = site.n_ends();
    if spec.sockets > n_ends {
        return Err(site.mismatch("sockets", spec.sockets.into(), "count", n_ends.into()));
    }
    let roots: Vec<End> = (0..spec.sockets)
        .map(|socket| site.add_switch(&spec.root, format!("socket {socket}")))
        .collect::<Result<_, _>>()?;
    // The first sockets are full, the last may have fewer chips.
    let per_socket = n_ends.div_ceil(spec.sockets) as usize;
    let lanes = site.tier.lanes;
    let mut cables: Vec<Cable> = Vec::new();
    for (&root, ends) in roots.iter().zip(site.ends.chunks(per_socket)) {
        let Some(switch_class) = &spec.switch else {
            cables.extend(ends.iter().map(|&end| cable(end, root, class, lanes)));
            continue;
        };
        for below in ends.chunks(spec.per_switch as usize) {
            let name = format!("pcie switch {}", site.draft.switches.len());
            let switch = site.add_switch(switch_class, name)?;
            cables.extend(below.iter().map(|&end| cable(end, switch, class, lanes)));
            cables.push(cable(switch, root, class, lanes));
        }
    }
    if spec.sockets > 1 {
        let Some(socket_link) = &spec.socket_link else {
            let table = format!("tier `{}`", site.tier.name.value);
            let key = "socket_link";
            let problem = SystemProblem::MissingKey { key, table };
            return Err(SystemError::new(site.tier.place(), problem));
        };
        let socket_class = site.classes.link(socket_link)?;
        let n = u64::from(spec.sockets);
        site.draft.expect_cables(n * (n - 1) / 2)?;
        for (at, &a) in roots.iter().enumerate() {
            let others = roots[at + 1..].iter();
            cables.extend(others.map(|&b| cable(a, b, socket_class, 1)));
        }
    }
    site.lay(&cables)
}
