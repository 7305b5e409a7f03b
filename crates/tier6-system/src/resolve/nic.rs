//! The NICs of a group: which chips each serves and where it is plugged in.

use super::{Cable, Classes, Draft, End};
use crate::spec::{Attach, Direction, NicSpec};
use crate::topology::{ChipId, VertexId};
use crate::{SystemError, SystemProblem};
use std::ops::Range;

/// Gives the chips of a group their NICs and returns the NICs' network ends. Chips and NICs
/// divide evenly: several NICs per chip, or several chips per NIC.
pub(super) fn plug_in(
    draft: &mut Draft,
    classes: &mut Classes<'_>,
    spec: &NicSpec,
    tier: u32,
    chips: Range<u32>,
    hosts: &[Option<VertexId>],
) -> Result<Vec<End>, SystemError> {
    let (n_chips, n_nics) = (chips.end - chips.start, spec.count.value);
    if n_nics % n_chips != 0 && n_chips % n_nics != 0 {
        let problem = SystemProblem::Mismatch {
            what: "nics".to_owned(),
            left: n_nics.into(),
            other: "chips per group".to_owned(),
            right: n_chips.into(),
        };
        return Err(
            SystemError::new(spec.count.place, problem).hint("one must be a multiple of the other")
        );
    }
    draft.expect_cables(n_nics.max(n_chips).into())?;
    let class = classes.link(&spec.host_link)?;
    let mut cables = Vec::new();
    let mut ends = Vec::new();
    for rail in 0..n_nics {
        // 64-bit: both factors may reach 2^20.
        let chip_at = |nic: u32| {
            let chip = u64::from(nic) * u64::from(n_chips) / u64::from(n_nics);
            chips.start + u32::try_from(chip).expect("Invariant: below the chips of the group")
        };
        let first = chip_at(rail);
        let served: Vec<ChipId> = (first..chip_at(rail + 1).max(first + 1))
            .map(ChipId::new)
            .collect();
        let plugs = match spec.attach {
            Attach::Chip => served
                .iter()
                .map(|chip| VertexId::new(chip.get()))
                .collect(),
            Attach::Host => vec![host_of(hosts, first, spec)?],
        };
        let (inner, outer) = draft.add_nic(rail, served, tier)?;
        cables.extend(plugs.into_iter().map(|plug| Cable {
            a: End::at(plug),
            b: inner,
            class,
            lanes: 1,
            direction: Direction::BothWays,
        }));
        ends.push(outer);
    }
    draft.lay(classes, tier, &cables)?;
    Ok(ends)
}

/// The switch that a chip hangs on.
fn host_of(hosts: &[Option<VertexId>], chip: u32, spec: &NicSpec) -> Result<VertexId, SystemError> {
    hosts[chip as usize].ok_or_else(|| {
        let problem = SystemProblem::BadValue {
            key: "attach".to_owned(),
            reason: format!("chip {chip} hangs on no switch that could take a NIC"),
        };
        SystemError::new(spec.count.place, problem).hint("use `attach = \"chip\"`")
    })
}
