//! What follows from a system, as values to print: counts, rates, cuts, an example route, and
//! every constant with its origin.

mod g5;

use super::{ChipId, Constants, LinkClass, LinkClassId, LinkId, SwitchClassId, Topology, Vertex};
use crate::constant::{Constant, Evidence, Quantity};
use tier6_units::{GbPerSec, Micros};

/// A description of a [`Topology`].
#[derive(Debug, Clone, PartialEq)]
pub struct SystemDescription {
    /// Name of the system.
    pub name: String,
    /// One line on what it is.
    pub title: Option<String>,
    /// Product name of the chips.
    pub chip: String,
    /// Number of chips.
    pub n_chips: u32,
    /// Number of nodes.
    pub n_nodes: u32,
    /// Number of NICs.
    pub n_nics: u32,
    /// Number of links, each direction counted.
    pub n_links: u32,
    /// Ports of a chip in the first tier: cables times their lanes.
    pub ports_per_chip: u32,
    /// The tiers, from the chips outwards.
    pub tiers: Vec<TierDescription>,
    /// Switches by class.
    pub switches: Vec<SwitchDescription>,
    /// Links by class.
    pub links: Vec<LinkDescription>,
    /// Wire rate of a chip into the first tier, per direction: least and most over chips.
    pub injection: (GbPerSec, GbPerSec),
    /// A chip's share of its NICs, per direction.
    pub network_per_chip: Option<GbPerSec>,
    /// Wire rate between halves, per direction.
    pub bisection: Option<GbPerSec>,
    /// Links of the longest route.
    pub diameter_links: u32,
    /// A longest route, vertex by vertex.
    pub longest_route: Vec<String>,
    /// Its unloaded latency.
    pub longest_route_latency: Micros,
    /// Equal alternatives to it, itself included.
    pub longest_route_alternatives: u64,
    /// Every constant in use.
    pub constants: Vec<ConstantDescription>,
}

/// One tier.
#[derive(Debug, Clone, PartialEq)]
pub struct TierDescription {
    /// Its name.
    pub name: String,
    /// What it joins.
    pub count: u32,
    /// Its fabric.
    pub fabric: &'static str,
    /// Its link class.
    pub link: String,
    /// NICs of a group, 0 in the first tier.
    pub nics_per_group: u32,
}

/// Switches of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchDescription {
    /// The class.
    pub class: String,
    /// Switches, as routes see them.
    pub count: u32,
    /// Switch chips.
    pub chips: u64,
    /// What it does beside forwarding.
    pub abilities: Vec<&'static str>,
}

/// Links of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkDescription {
    /// The class.
    pub class: String,
    /// Links, each direction counted.
    pub count: u32,
    /// Wire rate of a lane.
    pub rate: GbPerSec,
    /// Payload rate of a lane.
    pub payload_rate: GbPerSec,
    /// Latency.
    pub latency: Micros,
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantDescription {
    /// Its name: `links.nvlink4.efficiency`.
    pub name: String,
    /// Its value with unit.
    pub value: String,
    /// How well it is known.
    pub evidence: Evidence,
    /// Where it comes from.
    pub source: Option<String>,
}

impl Topology {
    /// Describes the system. Looks at the routes to every chip: about a second for two thousand
    /// chips.
    pub fn describe(&self) -> SystemDescription {
        let chips = || (0..self.n_chips()).map(ChipId::new);
        let injections = chips().map(|chip| self.injection_rate(chip).get());
        let (least, most) = injections.fold((f64::INFINITY, 0.0), |(least, most), rate| {
            (f64::min(least, rate), f64::max(most, rate))
        });
        let (diameter_links, from, to) = self.diameter();
        let tree = self.routes_to(to);
        let route = tree.route(from, 0);
        let scale_up = self.scale_up_links(ChipId::new(0));
        SystemDescription {
            name: self.name.clone(),
            title: self.title.clone(),
            chip: self.constants.chip.clone(),
            n_chips: self.n_chips(),
            n_nodes: self.n_nodes(),
            n_nics: super::count(self.nics.len()),
            n_links: super::count(self.links.len()),
            ports_per_chip: scale_up.map(|link| link.lanes).sum(),
            tiers: self.describe_tiers(),
            switches: self.describe_switches(),
            links: self.describe_links(),
            injection: (GbPerSec::new(least), GbPerSec::new(most)),
            network_per_chip: self.network_rate(ChipId::new(0)),
            bisection: self.bisection(),
            diameter_links,
            longest_route: self.vertices_of(from, &route),
            longest_route_latency: self.route_latency(&route),
            longest_route_alternatives: tree.n_routes(from),
            constants: self.describe_constants(),
        }
    }

    /// Returns the links of the longest route, and the first pair of chips that needs them.
    pub fn diameter(&self) -> (u32, ChipId, ChipId) {
        let mut longest = (0, ChipId::new(0), ChipId::new(0));
        for to in (0..self.n_chips()).map(ChipId::new) {
            let tree = self.routes_to(to);
            for from in (0..self.n_chips()).map(ChipId::new) {
                if tree.hops(from) > longest.0 {
                    longest = (tree.hops(from), from, to);
                }
            }
        }
        longest
    }

    /// Returns the names of the vertices along a route.
    fn vertices_of(&self, from: ChipId, route: &[LinkId]) -> Vec<String> {
        let ends = route.iter().map(|&link| self.link(link).to);
        let vertices = std::iter::once(self.chip_vertex(from)).chain(ends);
        vertices
            .map(|vertex| match self.vertices()[vertex.index()] {
                Vertex::Chip(chip) => chip.to_string(),
                Vertex::Switch(switch) => self.switches[switch.index()].name.clone(),
                Vertex::NicSend(nic) | Vertex::NicReceive(nic) => nic.to_string(),
            })
            .collect()
    }

    fn describe_tiers(&self) -> Vec<TierDescription> {
        let describe = |tier: &super::Tier| TierDescription {
            name: tier.name.clone(),
            count: tier.count,
            fabric: tier.fabric.name(),
            link: self.link_classes[tier.link.index()].name.clone(),
            nics_per_group: tier.nics_per_group,
        };
        self.tiers.iter().map(describe).collect()
    }

    fn describe_switches(&self) -> Vec<SwitchDescription> {
        let describe = |(index, class): (u32, &super::SwitchClass)| {
            let of_class = || {
                let id = SwitchClassId::new(index);
                self.switches
                    .iter()
                    .filter(move |switch| switch.class == id)
            };
            SwitchDescription {
                class: class.name.clone(),
                count: super::count(of_class().count()),
                chips: of_class().map(|switch| u64::from(switch.planes)).sum(),
                abilities: class.abilities.iter().map(|able| able.name()).collect(),
            }
        };
        (0..).zip(&self.switch_classes).map(describe).collect()
    }

    fn describe_links(&self) -> Vec<LinkDescription> {
        let describe = |(index, class): (u32, &LinkClass)| {
            let id = LinkClassId::new(index);
            let of_class = self.links.iter().filter(|link| link.class == id);
            LinkDescription {
                class: class.name.clone(),
                count: super::count(of_class.count()),
                rate: class.rate.value,
                payload_rate: class.rate.value.scaled(class.efficiency.value.get()),
                latency: class.latency.value,
            }
        };
        (0..).zip(&self.link_classes).map(describe).collect()
    }

    fn describe_constants(&self) -> Vec<ConstantDescription> {
        let mut list = Constants::describe(&self.constants);
        for class in &self.link_classes {
            let name = |field: &str| format!("links.{}.{field}", class.name);
            list.push(describe_constant(name("rate"), &class.rate));
            list.push(describe_constant(name("latency"), &class.latency));
            list.push(describe_constant(name("efficiency"), &class.efficiency));
            // Without step times no protocol is priced, and shares say nothing.
            let Some(step) = &class.step else {
                continue;
            };
            for (protocol, time, share) in [
                ("ll", &step.ll, &class.share.ll),
                ("ll128", &step.ll128, &class.share.ll128),
                ("simple", &step.simple, &class.share.simple),
            ] {
                if let Some(time) = time {
                    let field = |what: &str| name(&format!("{what}.{protocol}"));
                    list.push(describe_constant(field("step"), time));
                    list.push(describe_constant(field("share"), share));
                }
            }
        }
        for class in &self.switch_classes {
            let name = format!("switches.{}.latency", class.name);
            list.push(describe_constant(name, &class.latency));
        }
        list.extend(self.constants.g5.iter().flat_map(g5::describe));
        list
    }
}

impl Constants {
    fn describe(&self) -> Vec<ConstantDescription> {
        let mut list = vec![describe_constant("software.call", &self.call)];
        for (name, ramp) in [
            ("software.ramp.ll", &self.ramp.ll),
            ("software.ramp.ll128", &self.ramp.ll128),
            ("software.ramp.simple", &self.ramp.simple),
        ] {
            list.extend(ramp.iter().map(|ramp| describe_constant(name, ramp)));
        }
        for (name, rate) in [
            ("chip.memory_rate", &self.memory_rate),
            ("chip.reduce_rate", &self.reduce_rate),
        ] {
            list.extend(rate.iter().map(|rate| describe_constant(name, rate)));
        }
        for (name, time) in [
            ("chip.step.chip_to_chip", &self.step.chip_to_chip),
            ("chip.step.memory_read", &self.step.memory_read),
            ("chip.step.memory_write", &self.step.memory_write),
            ("chip.step.noc", &self.step.noc),
            ("chip.step.die_to_die", &self.step.die_to_die),
        ] {
            list.push(describe_constant(name, time));
        }
        if let Some(nvls) = &self.nvls {
            list.push(describe_constant("nvls.rate", &nvls.rate));
            let alpha = nvls.alpha.iter();
            list.extend(alpha.map(|alpha| describe_constant("nvls.alpha", alpha)));
        }
        if let Some(sharp) = &self.sharp {
            list.push(describe_constant("sharp.alpha", &sharp.alpha));
            let share = sharp.efficiency.iter();
            list.extend(share.map(|share| describe_constant("sharp.efficiency", share)));
        }
        list
    }
}

fn describe_constant<T: Quantity>(
    name: impl Into<String>,
    constant: &Constant<T>,
) -> ConstantDescription {
    let origin = constant.provenance.as_ref();
    ConstantDescription {
        name: name.into(),
        value: constant.value.to_toml().trim_matches('"').to_owned(),
        evidence: constant.evidence(),
        source: origin.and_then(|origin| origin.source.clone()),
    }
}
