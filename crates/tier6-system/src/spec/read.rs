//! From TOML text to [`SystemSpec`]: keys, types, units. Names are looked up later, by
//! [`SystemSpec::resolve`].

mod g5;
mod table;
mod tier;

use super::{
    ByProtocol, ChipSpec, LinkSpec, NvlsSpec, SharpSpec, SoftwareSpec, StepSpec, SwitchAbility,
    SwitchSpec, SystemSpec,
};
use crate::catalog::Catalog;
use crate::constant::{Constant, Quantity};
use crate::place::{Place, Spelled};
use crate::{SystemError, SystemProblem};
pub(crate) use table::COUNT_MAX;
use table::{Table, Value};
use tier6_units::Bytes;
use toml::Spanned;
use toml::de::DeTable;

impl SystemSpec {
    /// Reads a system file.
    ///
    /// ```
    /// use tier6_system::SystemSpec;
    /// let text = r#"
    /// name = "four on a ring"
    /// [chip]
    /// name = "toy"
    /// [links.wire]
    /// rate = "400 Gb/s"
    /// latency = "0.6 us"
    /// efficiency = 0.9
    /// [[tier]]
    /// name = "node"
    /// count = 4
    /// fabric = "ring"
    /// link = "wire"
    /// "#;
    /// let spec = SystemSpec::from_toml(text).unwrap();
    /// assert_eq!(spec.tiers[0].count.value, 4);
    /// let error = SystemSpec::from_toml(&text.replace("latency", "latnecy")).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 7, column 1: unknown key `latnecy` in `links.wire`; hint: did you mean `latency`?"
    /// );
    /// ```
    ///
    /// # Errors
    ///
    /// Fails on the first thing wrong, with its place.
    pub fn from_toml(text: &str) -> Result<Self, SystemError> {
        let entries = parse(text)?;
        let known = [
            "name", "title", "chip", "software", "nvls", "sharp", "g5", "links", "switches", "tier",
        ];
        let file = Table::of_file(text, entries.get_ref(), &known)?;
        let tiers = file.need("tier")?;
        let spec = Self {
            name: file.need("name")?.name()?.value,
            title: file.optional("title", |title| Ok(title.name()?.value))?,
            chip: read_chip(&file.need("chip")?)?,
            software: file
                .optional("software", |value| read_software(&value))?
                .unwrap_or_default(),
            nvls: file.optional("nvls", |value| read_nvls(&value))?,
            sharp: file.optional("sharp", |value| read_sharp(&value))?,
            g5: file.optional("g5", |value| g5::read_g5(&value))?,
            links: read_links(&file)?,
            switches: read_switches(&file)?,
            tiers: tiers.list(|value| tier::read_tier(&value))?,
        };
        if spec.tiers.is_empty() {
            return Err(tiers.bad("a system has at least one tier"));
        }
        Ok(spec)
    }
}

impl Catalog {
    /// Reads a file of link and switch classes.
    pub(crate) fn from_toml(text: &str) -> Result<Self, SystemError> {
        let entries = parse(text)?;
        let file = Table::of_file(text, entries.get_ref(), &["links", "switches"])?;
        Ok(Self {
            links: read_links(&file)?,
            switches: read_switches(&file)?,
        })
    }
}

fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, SystemError> {
    DeTable::parse(text).map_err(|error| {
        let message = error.message().replace('\n', ", ");
        let place = error.span().map(|span| Place::of(text, span.start));
        SystemError::new(place, SystemProblem::Syntax { message })
    })
}

fn read_chip(value: &Value<'_>) -> Result<ChipSpec, SystemError> {
    let table = value.table(&[
        "name",
        "lanes",
        "per_host",
        "memory_rate",
        "reduce_rate",
        "step",
    ])?;
    Ok(ChipSpec {
        name: table.need("name")?.name()?.value,
        lanes: table.optional("lanes", |lanes| Ok(lanes.count(1)?.value))?,
        per_host: table.optional("per_host", |chips| Ok(chips.count(1)?.value))?,
        memory_rate: table.optional("memory_rate", |rate| rate.constant())?,
        reduce_rate: table.optional("reduce_rate", |rate| rate.constant())?,
        step: table.optional("step", |step| read_step(&step))?,
    })
}

fn read_step(value: &Value<'_>) -> Result<StepSpec, SystemError> {
    let table = value.table(&[
        "chip_to_chip",
        "memory_read",
        "memory_write",
        "noc",
        "die_to_die",
    ])?;
    Ok(StepSpec {
        chip_to_chip: table.need("chip_to_chip")?.constant()?,
        memory_read: table.need("memory_read")?.constant()?,
        memory_write: table.need("memory_write")?.constant()?,
        noc: table.need("noc")?.constant()?,
        die_to_die: table.need("die_to_die")?.constant()?,
    })
}

fn read_software(value: &Value<'_>) -> Result<SoftwareSpec, SystemError> {
    let table = value.table(&["call", "grain", "ramp"])?;
    Ok(SoftwareSpec {
        call: table.optional("call", |call| call.constant())?,
        grain: table
            .optional("grain", |grain| read_grain(&grain))?
            .unwrap_or_default(),
        ramp: table
            .optional("ramp", |ramp| read_by_protocol(&ramp))?
            .unwrap_or_default(),
    })
}

fn read_grain(value: &Value<'_>) -> Result<ByProtocol<Option<Bytes>>, SystemError> {
    let table = value.table(&["ll", "ll128", "simple"])?;
    Ok(ByProtocol {
        ll: table.optional("ll", |grain| grain.grain())?,
        ll128: table.optional("ll128", |grain| grain.grain())?,
        simple: table.optional("simple", |grain| grain.grain())?,
    })
}

fn read_nvls(value: &Value<'_>) -> Result<NvlsSpec, SystemError> {
    let table = value.table(&["rate", "alpha"])?;
    Ok(NvlsSpec {
        rate: table.need("rate")?.constant()?,
        alpha: table.optional("alpha", |alpha| alpha.constant())?,
    })
}

fn read_sharp(value: &Value<'_>) -> Result<SharpSpec, SystemError> {
    let table = value.table(&["alpha", "efficiency", "contexts"])?;
    Ok(SharpSpec {
        alpha: table.need("alpha")?.constant()?,
        efficiency: table.optional("efficiency", |share| share.constant())?,
        contexts: table.optional("contexts", |count| Ok(count.count(1)?.value))?,
    })
}

fn read_links(file: &Table<'_>) -> Result<Vec<LinkSpec>, SystemError> {
    named(file, "links", read_link)
}

fn read_switches(file: &Table<'_>) -> Result<Vec<SwitchSpec>, SystemError> {
    named(file, "switches", read_switch)
}

/// Reads a table of named things, in the order of the text.
fn named<T>(
    file: &Table<'_>,
    key: &'static str,
    read: impl Fn(Spelled<String>, &Value<'_>) -> Result<T, SystemError>,
) -> Result<Vec<T>, SystemError> {
    let Some(value) = file.get(key) else {
        return Ok(Vec::new());
    };
    let table = value.named_things()?;
    let things = table.keys().into_iter().filter_map(|name| {
        let value = table.get(&name.value)?;
        Some(read(name, &value))
    });
    things.collect()
}

fn read_link(name: Spelled<String>, value: &Value<'_>) -> Result<LinkSpec, SystemError> {
    let table = value.table(&[
        "like",
        "rate",
        "latency",
        "efficiency",
        "step",
        "share",
        "mtu",
    ])?;
    Ok(LinkSpec {
        name,
        like: table.optional("like", |like| like.name())?,
        rate: table.optional("rate", |rate| rate.constant())?,
        latency: table.optional("latency", |latency| latency.constant())?,
        efficiency: table.optional("efficiency", |share| share.constant())?,
        step: table.optional("step", |step| read_by_protocol(&step))?,
        share: table.optional("share", |share| read_by_protocol(&share))?,
        mtu: table.optional("mtu", |mtu| mtu.bytes())?,
    })
}

fn read_by_protocol<T: Quantity>(
    value: &Value<'_>,
) -> Result<ByProtocol<Option<Constant<T>>>, SystemError> {
    let table = value.table(&["ll", "ll128", "simple"])?;
    Ok(ByProtocol {
        ll: table.optional("ll", |one| one.constant())?,
        ll128: table.optional("ll128", |one| one.constant())?,
        simple: table.optional("simple", |one| one.constant())?,
    })
}

fn read_switch(name: Spelled<String>, value: &Value<'_>) -> Result<SwitchSpec, SystemError> {
    let table = value.table(&["ports", "latency", "abilities"])?;
    let words = SwitchAbility::ALL.map(|ability| (ability.name(), ability));
    let mut abilities = table
        .optional("abilities", |list| {
            list.list(|word| word.choice("ability", &words))
        })?
        .unwrap_or_default();
    abilities.sort_unstable();
    abilities.dedup();
    Ok(SwitchSpec {
        name,
        ports: table.optional("ports", |ports| Ok(ports.count(1)?.value))?,
        latency: table.need("latency")?.constant()?,
        abilities,
    })
}
