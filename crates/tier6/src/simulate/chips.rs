//! Chips as typed (`0-7`, `0,8,16`, `0-14/2`), and a site whose ranks are on them.

use crate::Error;
use crate::predict::Site;
use std::num::NonZeroU32;
use tier6_math::Placement;
use tier6_system::{ChipId, Topology};

/// The most chips in one list; a system of more cannot be simulated.
const CHIPS_MAX: u32 = 1 << 20;

/// Reads a list of chips, one per rank in their order.
///
/// # Errors
///
/// When it is none, names a chip twice, or holds fewer than two.
pub(super) fn read_chips(option: &str, text: &str) -> Result<Vec<ChipId>, Error> {
    let wrong = |what: String| Error::Usage {
        message: format!("`{option}`: {what}"),
        hint: Some("chips are numbered from 0, as in `0-7`, `0,2,4` or `0-14/2`".to_owned()),
    };
    let mut chips: Vec<u32> = Vec::new();
    for part in text.split(',') {
        let range = range(part).ok_or_else(|| wrong(format!("`{part}` names no chips")))?;
        chips.extend(range);
    }
    let mut sorted = chips.clone();
    sorted.sort_unstable();
    let mut neighbours = sorted.iter().zip(&sorted[1.min(sorted.len())..]);
    if let Some((twice, _)) = neighbours.find(|(chip, next)| chip == next) {
        return Err(wrong(format!("chip {twice} is named twice")));
    }
    if chips.len() < 2 {
        return Err(wrong("a call has at least two ranks".to_owned()));
    }
    Ok(chips.into_iter().map(ChipId::new).collect())
}

/// Reads `3`, `0-7` or `0-14/2`.
fn range(part: &str) -> Option<impl Iterator<Item = u32>> {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, step.trim().parse().ok()?),
        None => (part, 1_usize),
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let is_range = first <= last && last < CHIPS_MAX && step > 0;
    is_range.then(|| (first..=last).step_by(step))
}

/// Ranks on chips.
pub(super) struct Placed {
    pub(super) site: Site,
    pub(super) chips: Vec<ChipId>,
    /// How they lie over nodes: in runs of so many on one node.
    pub(super) laid: Placement,
}

impl Placed {
    /// Puts the ranks of a site on chips, one on each.
    pub(super) fn on(mut site: Site, chips: Vec<ChipId>) -> Self {
        let per_node = site.topology.chips_per_node();
        let runs = runs(&chips, per_node);
        let is_first = (0..).zip(&chips).all(|(at, chip)| chip.get() == at);
        let nodes = distinct_nodes(&chips, per_node);
        let each = runs.iter().copied().fold(0, common_divisor);
        let each = NonZeroU32::new(each).map_or(Placement::Packed, Placement::PerNode);
        let is_even = runs.len() == nodes && runs.iter().all(|run| *run == runs[0]);
        let count = |length| u32::try_from(length).expect("Invariant: chips fit u32");
        site.ranks = count(chips.len());
        site.nodes = count(nodes);
        // A closed form knows nodes that are all alike.
        site.placement = if is_first || !is_even {
            Placement::Packed
        } else {
            each
        };
        let laid = if is_first { Placement::Packed } else { each };
        Self { site, chips, laid }
    }
}

/// Returns how many chips one after another are on one node.
fn runs(chips: &[ChipId], per_node: u32) -> Vec<u32> {
    let nodes = chips.iter().map(|chip| chip.get() / per_node);
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        match runs.last_mut() {
            Some((last, length)) if *last == node => *length += 1,
            _ => runs.push((node, 1)),
        }
    }
    runs.into_iter().map(|(_, length)| length).collect()
}

fn distinct_nodes(chips: &[ChipId], per_node: u32) -> usize {
    let mut nodes: Vec<u32> = chips.iter().map(|chip| chip.get() / per_node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len()
}

const fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Makes a site that has a chip, with more nodes where their number is open.
///
/// # Errors
///
/// When the system cannot have that many chips.
pub(super) fn with_chip(site: Site, chip: ChipId, nodes: Option<u32>) -> Result<Site, Error> {
    let there = site.topology.n_chips();
    if chip.get() < there {
        return Ok(site);
    }
    let needed = chip.get() + 1;
    let mut system = site.system;
    let per_node = site.topology.chips_per_node();
    let topology = if system.is_lone_ring() && nodes.is_none() {
        system.spec = system.spec.with_outer_count(needed);
        system.resolve(None)?
    } else if system.spec.is_multi_node() && nodes.is_none() {
        system.resolve(Some(needed.div_ceil(per_node)))?
    } else {
        return Err(missing(&site.topology, chip, nodes));
    };
    Ok(Site {
        system,
        topology,
        ..site
    })
}

fn missing(topology: &Topology, chip: ChipId, nodes: Option<u32>) -> Error {
    let hint = match nodes {
        Some(_) => {
            let nodes = (chip.get() + 1).div_ceil(topology.chips_per_node());
            format!("`--nodes {nodes}` has it")
        }
        None => "name a system of several nodes; `tier6 systems` lists them".to_owned(),
    };
    Error::Domain {
        message: format!(
            "there is no chip {}: the chips of `{}` are 0 to {}",
            chip.get(),
            topology.name(),
            topology.n_chips() - 1
        ),
        hint: Some(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<u32>, String> {
        let chips = read_chips("--chips", text);
        let numbers = |chips: Vec<ChipId>| chips.into_iter().map(ChipId::get).collect();
        chips.map(numbers).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_of_chips_are_read() {
        assert_eq!(read("0-3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(read("0-6/2,1"), Ok(vec![0, 2, 4, 6, 1]));
        assert_eq!(read("7, 3"), Ok(vec![7, 3]));
        for (text, says) in [
            ("", "names no chips"),
            ("0-", "names no chips"),
            ("4-2", "names no chips"),
            ("0-8/0", "names no chips"),
            ("0-4000000000", "names no chips"),
            ("0-3,2", "chip 2 is named twice"),
            ("5", "at least two ranks"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn ranks_lie_over_nodes_in_runs() {
        let lengths = |chips: &[u32]| {
            let chips: Vec<ChipId> = chips.iter().copied().map(ChipId::new).collect();
            runs(&chips, 4)
        };
        assert_eq!(lengths(&[0, 1, 2, 3, 4, 5]), [4, 2]);
        assert_eq!(lengths(&[0, 4, 1, 5]), [1, 1, 1, 1]);
        assert_eq!([4, 2].into_iter().fold(0, common_divisor), 2);
    }
}
