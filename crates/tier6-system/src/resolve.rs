//! From [`SystemSpec`] to [`Topology`]: names looked up, fabrics built, everything checked.
//! After this nobody checks again.

mod classes;
mod draft;
mod nic;
mod sense;

use crate::fabric::{Site, join};
use crate::place::Place;
use crate::spec::{SwitchAbility, SystemSpec, TierSpec, assumed_call, assumed_step};
use crate::topology::{
    Chip, ChipId, Constants, LinkClassId, Node, NodeId, Tier, Topology, VertexId, link_weight,
};
use crate::{SystemError, SystemProblem};
pub(crate) use classes::Classes;
pub(crate) use draft::{Cable, Draft, End};

/// The most chips of a system.
const CHIPS_MAX: u64 = 1 << 16;

impl SystemSpec {
    /// Resolves the system.
    ///
    /// # Errors
    ///
    /// Fails on an unknown class, on counts or ports that do not fit, on a chip that cannot be
    /// reached, and on a system too large; with the place when the system was read from a file.
    pub fn resolve(&self) -> Result<Topology, SystemError> {
        self.check_names()?;
        for tier in &self.tiers {
            sense::check_tier(tier)?;
        }
        let n_chips = self.count_chips()?;
        let mut classes = Classes::of(self);
        let mut draft = Draft::with_chips(n_chips);
        let first = self.tiers.first().ok_or_else(|| self.no_tier())?;
        if let Some(nics) = &first.nics {
            let problem = SystemProblem::BadValue {
                key: "nics".to_owned(),
                reason: "the first tier joins chips, which need no NIC".to_owned(),
            };
            return Err(SystemError::new(nics.count.place, problem));
        }
        let chips_per_node = first.count.value;
        let mut keys = Vec::new();
        for node in 0..n_chips / chips_per_node {
            let chips = node * chips_per_node..(node + 1) * chips_per_node;
            let ends: Vec<End> = chips.map(|chip| End::at(VertexId::new(chip))).collect();
            keys = join(&mut Site {
                draft: &mut draft,
                classes: &mut classes,
                tier: first,
                tier_index: 0,
                ends: &ends,
                ends_per_group: 1,
            })?;
        }
        let mut spread_keys: Vec<u32> = (0..n_chips)
            .map(|chip| keys[(chip % chips_per_node) as usize])
            .collect();
        self.join_groups(&mut draft, &mut classes, &mut spread_keys)?;
        self.check_ports(&draft, &mut classes)?;
        self.check_in_network(&draft, &classes)?;
        let topology = self.assemble(draft, classes, &spread_keys)?;
        topology.check_reachable(first.place())?;
        Ok(topology)
    }

    fn no_tier(&self) -> SystemError {
        let table = format!("system `{}`", self.name);
        SystemError::new(None, SystemProblem::MissingKey { key: "tier", table })
    }

    /// Refuses one name for two tiers or two classes; a file cannot repeat a class, a program
    /// can.
    fn check_names(&self) -> Result<(), SystemError> {
        let tiers = self.tiers.iter().map(|tier| ("tier", &tier.name));
        let links = self.links.iter().map(|link| ("link", &link.name));
        let switches = self.switches.iter().map(|switch| ("switch", &switch.name));
        let mut seen = std::collections::BTreeSet::new();
        for (kind, name) in tiers.chain(links).chain(switches) {
            if !seen.insert((kind, &name.value)) {
                let name_again = name.value.clone();
                let problem = SystemProblem::DefinedTwice {
                    kind,
                    name: name_again,
                };
                return Err(SystemError::new(name.place, problem));
            }
        }
        Ok(())
    }

    fn count_chips(&self) -> Result<u32, SystemError> {
        let mut n_chips: u64 = 1;
        for tier in &self.tiers {
            n_chips *= u64::from(tier.count.value);
            if n_chips > CHIPS_MAX {
                let problem = SystemProblem::TooLarge {
                    what: "chips",
                    found: n_chips,
                    limit: CHIPS_MAX,
                };
                return Err(SystemError::new(tier.count.place, problem));
            }
        }
        Ok(u32::try_from(n_chips).expect("Invariant: at most CHIPS_MAX"))
    }

    /// Builds every tier above the first.
    fn join_groups(
        &self,
        draft: &mut Draft,
        classes: &mut Classes<'_>,
        spread_keys: &mut [u32],
    ) -> Result<(), SystemError> {
        let n_chips = draft.n_chips();
        let hosts = draft.hosts();
        let mut group_chips = self.tiers[0].count.value;
        for (tier_index, tier) in (0_u32..).zip(&self.tiers).skip(1) {
            let Some(nics) = &tier.nics else {
                let table = format!("tier `{}`", tier.name.value);
                let problem = SystemProblem::MissingKey { key: "nics", table };
                return Err(SystemError::new(tier.name.place, problem)
                    .hint("tiers above the first join nodes through NICs"));
            };
            let fabric_chips = group_chips * tier.count.value;
            for start in (0..n_chips).step_by(fabric_chips as usize) {
                let mut ends = Vec::new();
                let first_nic = draft.nics.len();
                for group in 0..tier.count.value {
                    let chips = start + group * group_chips..start + (group + 1) * group_chips;
                    ends.extend(nic::plug_in(
                        draft, classes, nics, tier_index, chips, &hosts,
                    )?);
                }
                let keys = join(&mut Site {
                    draft,
                    classes,
                    tier,
                    tier_index,
                    ends: &ends,
                    ends_per_group: nics.count.value,
                })?;
                // From the last NIC to the first, so that a chip keeps the key of its first.
                for (nic, key) in draft.nics[first_nic..].iter().zip(keys).rev() {
                    for chip in &nic.chips {
                        spread_keys[chip.index()] = key;
                    }
                }
            }
            group_chips = fabric_chips;
        }
        Ok(())
    }

    /// Refuses cables that the chips' lanes or the switches' ports cannot take. A chip's lanes
    /// are those of the first tier's own link class; a host's PCIe beside them is another port.
    fn check_ports(&self, draft: &Draft, classes: &mut Classes<'_>) -> Result<(), SystemError> {
        let scale_up = classes.link(&self.tiers[0].link)?;
        let mut lanes = vec![[0_u64; 2]; draft.vertices.len()];
        for link in &draft.links {
            for (vertex, way) in [(link.from, 0), (link.to, 1)] {
                let is_chip = vertex.get() < draft.n_chips();
                if !is_chip || (link.tier == 0 && link.class == scale_up) {
                    lanes[vertex.index()][way] += u64::from(link.lanes);
                }
            }
        }
        let fits = |what: String, vertex: usize, available: Option<u64>, tier: u32| {
            let needed = lanes[vertex][0].max(lanes[vertex][1]);
            match available {
                Some(available) if needed > available => Err(SystemError::new(
                    self.tiers[tier as usize].place(),
                    SystemProblem::TooFewPorts {
                        what,
                        needed,
                        available,
                    },
                )),
                _ => Ok(()),
            }
        };
        for chip in 0..draft.n_chips() {
            let available = self.chip.lanes.map(u64::from);
            fits(format!("chip {chip}"), chip as usize, available, 0)?;
        }
        for switch in &draft.switches {
            let class = classes.switch_class(switch.class);
            let ports = class
                .ports
                .map(|ports| u64::from(ports) * u64::from(switch.planes));
            let what = format!("switch `{}` of class `{}`", switch.name, class.name);
            fits(what, switch.vertex.index(), ports, switch.tier)?;
        }
        Ok(())
    }

    /// Refuses constants of in-network reduction in a system that cannot do it.
    fn check_in_network(&self, draft: &Draft, classes: &Classes<'_>) -> Result<(), SystemError> {
        let can = |ability, inner: std::ops::RangeInclusive<u32>| {
            draft.switches.iter().any(|switch| {
                let class = classes.switch_class(switch.class);
                inner.contains(&switch.tier) && class.abilities.contains(&ability)
            })
        };
        let refuse = |table, ability: SwitchAbility, tier: Option<&TierSpec>| {
            let ability = match ability {
                SwitchAbility::Multicast => "multicast",
                SwitchAbility::Reduction => "reduce",
            };
            let place = tier.and_then(TierSpec::place);
            let problem = SystemProblem::NoSuchSwitch { table, ability };
            Err(SystemError::new(place, problem)
                .hint("name a switch class with that ability, or remove the table"))
        };
        if self.nvls.is_some() {
            for ability in SwitchAbility::ALL {
                if !can(ability, 0..=0) {
                    return refuse("nvls", ability, self.tiers.first());
                }
            }
        }
        if self.sharp.is_some() && !can(SwitchAbility::Reduction, 1..=u32::MAX) {
            return refuse("sharp", SwitchAbility::Reduction, self.tiers.last());
        }
        Ok(())
    }

    fn assemble(
        &self,
        draft: Draft,
        mut classes: Classes<'_>,
        spread_keys: &[u32],
    ) -> Result<Topology, SystemError> {
        let mut tiers = Vec::new();
        for tier in &self.tiers {
            let link = classes.link(&tier.link)?;
            tiers.push(resolved_tier(tier, link));
        }
        let chips_per_node = self.tiers[0].count.value;
        let mut chips: Vec<Chip> = (0..draft.n_chips())
            .map(|chip| Chip {
                node: NodeId::new(chip / chips_per_node),
                nics: Vec::new(),
                spread_key: spread_keys[chip as usize],
            })
            .collect();
        let mut nodes: Vec<Node> = (0..draft.n_chips() / chips_per_node)
            .map(|node| Node {
                chips: node * chips_per_node..(node + 1) * chips_per_node,
                nics: Vec::new(),
            })
            .collect();
        for (index, nic) in (0_u32..).zip(&draft.nics) {
            let id = crate::topology::NicId::new(index);
            if nic.tier == 1 {
                for chip in &nic.chips {
                    chips[chip.index()].nics.push(id);
                }
                let node = chips[nic.chips[0].index()].node;
                nodes[node.index()].nics.push(id);
            }
        }
        let (out, into) = draft.adjacency();
        let (link_classes, switch_classes) = classes.into_tables();
        let weights = draft
            .links
            .iter()
            .map(|link| link_weight(link, &draft.vertices, &tiers))
            .collect();
        Ok(Topology {
            name: self.name.clone(),
            title: self.title.clone(),
            constants: self.constants(),
            link_classes,
            switch_classes,
            tiers,
            chips,
            nodes,
            switches: draft.switches,
            nics: draft.nics,
            vertices: draft.vertices,
            links: draft.links,
            ports: draft.ports,
            out,
            into,
            weights,
        })
    }

    fn constants(&self) -> Constants {
        Constants {
            call: self.software.call.clone().unwrap_or_else(assumed_call),
            grain: self.software.grain.clone(),
            ramp: self.software.ramp.clone(),
            chip: self.chip.name.clone(),
            memory_rate: self.chip.memory_rate.clone(),
            reduce_rate: self.chip.reduce_rate.clone(),
            step: self.chip.step.clone().unwrap_or_else(assumed_step),
            nvls: self.nvls.clone(),
            sharp: self.sharp.clone(),
            g5: self.g5.clone(),
        }
    }
}

fn resolved_tier(tier: &TierSpec, link: LinkClassId) -> Tier {
    Tier {
        name: tier.name.value.clone(),
        count: tier.count.value,
        fabric: tier.fabric.clone(),
        link,
        lanes: tier.lanes,
        nics_per_group: tier.nics.as_ref().map_or(0, |nics| nics.count.value),
    }
}

impl Topology {
    /// Every chip reaches the first and is reached from it, so every chip reaches every chip.
    fn check_reachable(&self, place: Option<Place>) -> Result<(), SystemError> {
        let first = ChipId::new(0);
        let forward = self.reached_from(first);
        let backward = self.routes_to(first);
        let chips = (0..self.n_chips()).map(ChipId::new);
        for chip in chips {
            let unreachable = |from: ChipId, to: ChipId| {
                let (from, to) = (from.get(), to.get());
                SystemError::new(place, SystemProblem::Unreachable { from, to }).hint(
                    "every chip needs a way to every other, over cables of its tier or its NICs",
                )
            };
            if !forward[self.chip_vertex(chip).index()] {
                return Err(unreachable(first, chip));
            }
            if !backward.reaches(chip) {
                return Err(unreachable(chip, first));
            }
        }
        Ok(())
    }

    /// Whether each vertex can be reached from `chip`.
    fn reached_from(&self, chip: ChipId) -> Vec<bool> {
        let mut reached = vec![false; self.vertices().len()];
        let mut waiting = vec![self.chip_vertex(chip)];
        reached[chip.index()] = true;
        while let Some(vertex) = waiting.pop() {
            for &link in self.links_from(vertex) {
                let next = self.link(link).to;
                if !std::mem::replace(&mut reached[next.index()], true) {
                    waiting.push(next);
                }
            }
        }
        reached
    }
}
