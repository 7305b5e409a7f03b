//! From [`SystemSpec`] back to TOML, constants with their origin: what a calibration leaves
//! behind. Reading what is written gives the same system, to the last bit of every constant.

mod g5;

use super::{
    Attach, ByProtocol, ChipSpec, CrossRail, Direction, DragonflySpec, EdgeSpec, FabricSpec,
    FatTreeSpec, LinkSpec, NicSpec, PcieTreeSpec, SoftwareSpec, SwitchSpec, SystemSpec, TierSpec,
    Wiring,
};
use crate::constant::{Constant, Evidence, Provenance, Quantity};
use std::fmt::Write;
use tier6_units::Bytes;

impl SystemSpec {
    /// Writes the system as a file that [`SystemSpec::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        let mut file = Text::default();
        file.string("name", &self.name);
        if let Some(title) = &self.title {
            file.string("title", title);
        }
        file.chip(&self.chip);
        if self.software != SoftwareSpec::default() {
            file.table("[software]");
            file.optional("call", self.software.call.as_ref());
            file.grain(&self.software.grain);
            if self.software.ramp != ByProtocol::default() {
                file.table("[software.ramp]");
                file.by_protocol(&self.software.ramp);
            }
        }
        if let Some(nvls) = &self.nvls {
            file.table("[nvls]");
            file.constant("rate", &nvls.rate);
            file.optional("alpha", nvls.alpha.as_ref());
        }
        if let Some(sharp) = &self.sharp {
            file.table("[sharp]");
            file.constant("alpha", &sharp.alpha);
            file.optional("efficiency", sharp.efficiency.as_ref());
            file.optional_count("contexts", sharp.contexts);
        }
        if let Some(g5) = &self.g5 {
            file.g5(g5);
        }
        for link in &self.links {
            file.link(link);
        }
        for switch in &self.switches {
            file.switch(switch);
        }
        for tier in &self.tiers {
            file.tier(tier);
        }
        file.0
    }
}

/// TOML under construction.
#[derive(Default)]
struct Text(String);

impl Text {
    fn raw(&mut self, key: &str, value: &str) {
        writeln!(self.0, "{key} = {value}").expect("Invariant: a string takes any text");
    }

    fn table(&mut self, header: &str) {
        writeln!(self.0, "\n{header}").expect("Invariant: a string takes any text");
    }

    fn string(&mut self, key: &str, value: &str) {
        self.raw(key, &quoted(value));
    }

    fn count(&mut self, key: &str, value: u32) {
        self.raw(key, &value.to_string());
    }

    fn optional_count(&mut self, key: &str, value: Option<u32>) {
        if let Some(value) = value {
            self.count(key, value);
        }
    }

    fn constant<T: Quantity>(&mut self, key: &str, constant: &Constant<T>) {
        self.raw(key, &constant_text(constant));
    }

    fn optional<T: Quantity>(&mut self, key: &str, constant: Option<&Constant<T>>) {
        if let Some(constant) = constant {
            self.constant(key, constant);
        }
    }

    fn chip(&mut self, chip: &ChipSpec) {
        self.table("[chip]");
        self.string("name", &chip.name);
        self.optional_count("lanes", chip.lanes);
        self.optional_count("per_host", chip.per_host);
        self.optional("memory_rate", chip.memory_rate.as_ref());
        self.optional("reduce_rate", chip.reduce_rate.as_ref());
        if let Some(step) = &chip.step {
            self.table("[chip.step]");
            self.constant("chip_to_chip", &step.chip_to_chip);
            self.constant("memory_read", &step.memory_read);
            self.constant("memory_write", &step.memory_write);
            self.constant("noc", &step.noc);
            self.constant("die_to_die", &step.die_to_die);
        }
    }

    fn link(&mut self, link: &LinkSpec) {
        let name = quoted(&link.name.value);
        self.table(&format!("[links.{name}]"));
        if let Some(like) = &link.like {
            self.string("like", &like.value);
        }
        self.optional("rate", link.rate.as_ref());
        self.optional("latency", link.latency.as_ref());
        self.optional("efficiency", link.efficiency.as_ref());
        if let Some(mtu) = link.mtu {
            self.string("mtu", &mtu.to_string());
        }
        if let Some(step) = &link.step {
            self.table(&format!("[links.{name}.step]"));
            self.by_protocol(step);
        }
        if let Some(share) = &link.share {
            self.table(&format!("[links.{name}.share]"));
            self.by_protocol(share);
        }
    }

    fn grain(&mut self, grain: &ByProtocol<Option<Bytes>>) {
        let named = [
            ("ll", grain.ll),
            ("ll128", grain.ll128),
            ("simple", grain.simple),
        ];
        let given: Vec<String> = named
            .iter()
            .filter_map(|(name, bytes)| Some(format!("{name} = \"{}\"", (*bytes)?)))
            .collect();
        if !given.is_empty() {
            self.raw("grain", &format!("{{ {} }}", given.join(", ")));
        }
    }

    fn by_protocol<T: Quantity>(&mut self, constants: &ByProtocol<Option<Constant<T>>>) {
        self.optional("ll", constants.ll.as_ref());
        self.optional("ll128", constants.ll128.as_ref());
        self.optional("simple", constants.simple.as_ref());
    }

    fn switch(&mut self, switch: &SwitchSpec) {
        self.table(&format!("[switches.{}]", quoted(&switch.name.value)));
        self.optional_count("ports", switch.ports);
        self.constant("latency", &switch.latency);
        if !switch.abilities.is_empty() {
            let names = switch.abilities.iter().map(|ability| ability.name());
            self.raw("abilities", &array(names.map(quoted)));
        }
    }

    fn tier(&mut self, tier: &TierSpec) {
        self.table("[[tier]]");
        self.string("name", &tier.name.value);
        self.count("count", tier.count.value);
        if let Some(nics) = &tier.nics {
            self.nics(nics);
        }
        self.string("link", &tier.link.value);
        self.count("lanes", tier.lanes);
        self.string("fabric", tier.fabric.name());
        match &tier.fabric {
            FabricSpec::Ring { orders } => {
                if !orders.is_empty() {
                    let orders = orders.iter().map(|order| array(order.iter()));
                    self.raw("orders", &array(orders));
                }
            }
            FabricSpec::FullMesh => {}
            FabricSpec::Torus { dims } => self.raw("dims", &array(dims.iter())),
            FabricSpec::Crossbar { switch, planes } => {
                self.string("switch", &switch.value);
                self.count("planes", *planes);
            }
            FabricSpec::FatTree(tree) => self.fat_tree(tree),
            FabricSpec::Dragonfly(dragonfly) => self.dragonfly(dragonfly),
            FabricSpec::PcieTree(tree) => self.pcie_tree(tree),
            FabricSpec::Graph { vertices, edges } => {
                let vertices = vertices.iter().map(|vertex| {
                    let (name, switch) = (&vertex.name.value, &vertex.switch.value);
                    format!("{{ name = {}, switch = {} }}", quoted(name), quoted(switch))
                });
                self.raw("vertices", &array(vertices));
                self.raw("edges", &array(edges.iter().map(edge_text)));
            }
        }
    }

    fn nics(&mut self, nics: &NicSpec) {
        self.count("nics", nics.count.value);
        self.string("host_link", &nics.host_link.value);
        let attach = match nics.attach {
            Attach::Chip => "chip",
            Attach::Host => "host",
        };
        self.string("attach", attach);
    }

    fn fat_tree(&mut self, tree: &FatTreeSpec) {
        self.string("switch", &tree.switch.value);
        if let Some(spine) = &tree.spine {
            self.string("spine", &spine.value);
        }
        self.optional_count("down", tree.down);
        self.optional_count("spines", tree.spines);
        self.raw("oversubscription", &format!("{:?}", tree.oversubscription));
        let wiring = match tree.wiring {
            Wiring::ByNode => "by_node",
            Wiring::ByRail => "by_rail",
        };
        self.string("wiring", wiring);
        let way = match tree.cross_rail {
            CrossRail::Spine => "spine",
            CrossRail::Chip => "chip",
        };
        self.string("cross_rail", way);
    }

    fn dragonfly(&mut self, dragonfly: &DragonflySpec) {
        self.string("switch", &dragonfly.switch.value);
        self.count("routers", dragonfly.routers);
        self.count("endpoints", dragonfly.endpoints);
        self.count("global", dragonfly.global);
        if let Some(link) = &dragonfly.local_link {
            self.string("local_link", &link.value);
        }
        if let Some(link) = &dragonfly.global_link {
            self.string("global_link", &link.value);
        }
    }

    fn pcie_tree(&mut self, tree: &PcieTreeSpec) {
        if let Some(switch) = &tree.switch {
            self.string("switch", &switch.value);
        }
        self.count("per_switch", tree.per_switch);
        self.string("root", &tree.root.value);
        self.count("sockets", tree.sockets);
        if let Some(link) = &tree.socket_link {
            self.string("socket_link", &link.value);
        }
    }
}

fn edge_text(edge: &EdgeSpec) -> String {
    let (from, to) = (quoted(&edge.from.value), quoted(&edge.to.value));
    let mut text = match edge.direction {
        Direction::BothWays => format!("{{ between = [{from}, {to}]"),
        Direction::OneWay => format!("{{ from = {from}, to = {to}"),
    };
    if let Some(link) = &edge.link {
        text = format!("{text}, link = {}", quoted(&link.value));
    }
    if let Some(lanes) = edge.lanes {
        text = format!("{text}, lanes = {lanes}");
    }
    text + " }"
}

fn constant_text<T: Quantity>(constant: &Constant<T>) -> String {
    let value = constant.value.to_toml();
    if constant.interval.is_none() && constant.provenance.is_none() {
        return value;
    }
    let mut fields = vec![format!("value = {value}")];
    if let Some((low, high)) = constant.interval {
        fields.push(format!("low = {}", low.to_toml()));
        fields.push(format!("high = {}", high.to_toml()));
    }
    if let Some(provenance) = &constant.provenance {
        push_provenance(&mut fields, provenance);
    }
    format!("{{ {} }}", fields.join(", "))
}

fn push_provenance(fields: &mut Vec<String>, provenance: &Provenance) {
    if provenance.evidence != Evidence::Stated {
        fields.push(format!("evidence = \"{}\"", provenance.evidence));
    }
    if let Some(source) = &provenance.source {
        fields.push(format!("source = {}", quoted(source)));
    }
    if !provenance.datasets.is_empty() {
        let ids = provenance.datasets.iter().map(|id| quoted(id));
        fields.push(format!("datasets = {}", array(ids)));
    }
    if let Some((first, last)) = provenance.bytes {
        fields.push(format!("bytes = \"{first}..{last}\""));
    }
    if let Some(method) = &provenance.method {
        fields.push(format!("method = {}", quoted(method)));
    }
    if let Some(error) = provenance.error_pct {
        fields.push(format!("error_pct = {error:?}"));
    }
}

fn array(items: impl Iterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

/// A basic string of TOML, also usable as a key.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c))
                    .expect("Invariant: a string takes any text");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
