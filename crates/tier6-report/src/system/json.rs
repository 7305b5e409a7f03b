//! `tier6.systems/1` and `tier6.system/1`.

use super::{ListedSystem, SystemReport};
use crate::analysis::json::pretty;
use serde::Serialize;
use tier6_system::{
    ConstantDescription, LinkDescription, SwitchDescription, SystemDescription, TierDescription,
};
use tier6_units::GbPerSec;

/// Returns the list as JSON of schema `tier6.systems/1`, indented, with a final newline.
pub fn systems_json(systems: &[ListedSystem]) -> String {
    pretty(&ListDto {
        schema: "tier6.systems/1",
        systems: systems.iter().map(ListedDto::new).collect(),
    })
}

/// Returns a system as JSON of schema `tier6.system/1`, indented, with a final newline.
pub fn system_json(report: &SystemReport) -> String {
    let system = &report.description;
    pretty(&SystemDto {
        schema: "tier6.system/1",
        name: &system.name,
        title: system.title.as_deref(),
        source: &report.source,
        written: &report.written,
        derived: DerivedDto::new(system),
        tiers: system.tiers.iter().map(TierDto::new).collect(),
        links: system.links.iter().map(LinkDto::new).collect(),
        switches: system.switches.iter().map(SwitchDto::new).collect(),
        constants: system.constants.iter().map(ConstantDto::new).collect(),
    })
}

#[derive(Serialize)]
struct ListDto<'a> {
    schema: &'static str,
    systems: Vec<ListedDto<'a>>,
}

#[derive(Serialize)]
struct ListedDto<'a> {
    name: &'a str,
    title: Option<&'a str>,
    chips: u64,
    nodes: u64,
}

#[derive(Serialize)]
struct SystemDto<'a> {
    schema: &'static str,
    name: &'a str,
    title: Option<&'a str>,
    source: &'a str,
    written: &'a str,
    derived: DerivedDto<'a>,
    tiers: Vec<TierDto<'a>>,
    links: Vec<LinkDto<'a>>,
    switches: Vec<SwitchDto<'a>>,
    constants: Vec<ConstantDto<'a>>,
}

#[derive(Serialize)]
struct DerivedDto<'a> {
    chip: &'a str,
    chips: u32,
    nodes: u32,
    nics: u32,
    links: u32,
    ports_per_chip: u32,
    injection_least_gbs: f64,
    injection_most_gbs: f64,
    network_per_chip_gbs: Option<f64>,
    bisection_gbs: Option<f64>,
    diameter_links: u32,
    longest_route: &'a [String],
    longest_route_latency_us: f64,
    longest_route_alternatives: u64,
}

#[derive(Serialize)]
struct TierDto<'a> {
    name: &'a str,
    count: u32,
    fabric: &'static str,
    link: &'a str,
    nics_per_group: u32,
}

#[derive(Serialize)]
struct LinkDto<'a> {
    class: &'a str,
    count: u32,
    rate_gbs: f64,
    payload_rate_gbs: f64,
    latency_us: f64,
}

#[derive(Serialize)]
struct SwitchDto<'a> {
    class: &'a str,
    count: u32,
    chips: u64,
    abilities: &'a [&'static str],
}

#[derive(Serialize)]
struct ConstantDto<'a> {
    name: &'a str,
    value: &'a str,
    evidence: &'static str,
    source: Option<&'a str>,
}

impl<'a> ListedDto<'a> {
    fn new(system: &'a ListedSystem) -> Self {
        Self {
            name: &system.name,
            title: system.title.as_deref(),
            chips: system.chips,
            nodes: system.nodes,
        }
    }
}

impl<'a> DerivedDto<'a> {
    fn new(system: &'a SystemDescription) -> Self {
        Self {
            chip: &system.chip,
            chips: system.n_chips,
            nodes: system.n_nodes,
            nics: system.n_nics,
            links: system.n_links,
            ports_per_chip: system.ports_per_chip,
            injection_least_gbs: system.injection.0.get(),
            injection_most_gbs: system.injection.1.get(),
            network_per_chip_gbs: system.network_per_chip.map(GbPerSec::get),
            bisection_gbs: system.bisection.map(GbPerSec::get),
            diameter_links: system.diameter_links,
            longest_route: &system.longest_route,
            longest_route_latency_us: system.longest_route_latency.get(),
            longest_route_alternatives: system.longest_route_alternatives,
        }
    }
}

impl<'a> TierDto<'a> {
    fn new(tier: &'a TierDescription) -> Self {
        Self {
            name: &tier.name,
            count: tier.count,
            fabric: tier.fabric,
            link: &tier.link,
            nics_per_group: tier.nics_per_group,
        }
    }
}

impl<'a> LinkDto<'a> {
    fn new(link: &'a LinkDescription) -> Self {
        Self {
            class: &link.class,
            count: link.count,
            rate_gbs: link.rate.get(),
            payload_rate_gbs: link.payload_rate.get(),
            latency_us: link.latency.get(),
        }
    }
}

impl<'a> SwitchDto<'a> {
    fn new(switch: &'a SwitchDescription) -> Self {
        Self {
            class: &switch.class,
            count: switch.count,
            chips: switch.chips,
            abilities: &switch.abilities,
        }
    }
}

impl<'a> ConstantDto<'a> {
    fn new(constant: &'a ConstantDescription) -> Self {
        Self {
            name: &constant.name,
            value: &constant.value,
            evidence: constant.evidence.name(),
            source: constant.source.as_deref(),
        }
    }
}
