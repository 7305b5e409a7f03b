//! Systems that come with tier6, by name: public machines, and those of the source documents.

use crate::spec::SystemSpec;
use crate::suggest::nearest;

/// A bundled system file.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Preset {
    /// Returns the system that the file describes.
    ///
    /// # Panics
    ///
    /// Never, as long as the bundled systems read, which a test holds.
    pub fn spec(&self) -> SystemSpec {
        SystemSpec::from_toml(self.text)
            .expect("Invariant: the bundled systems read; a test does it")
    }
}

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        [$(Preset {
            name: $name,
            text: include_str!(concat!("../presets/", $name, ".toml")),
        }),*]
    };
}

static PRESETS: [Preset; 38] = bundled![
    "v100-nv2-x4",
    "dgx1",
    "dgx1-ib-edr",
    "a100-x4",
    "a100-x4-slingshot",
    "a100-x8",
    "a100-x8-ib-hdr",
    "a100-x8-roce",
    "a100-x8-efa",
    "h100-x8",
    "h100-x8-ib-ndr",
    "h100-x8-roce",
    "h100-x8-efa",
    "h100-x8-tcpxo",
    "h20-x8",
    "h20-x8-roce",
    "h200-x8",
    "h200-x8-ib-ndr",
    "h200-x8-roce",
    "h200-x8-efa",
    "b200-x8",
    "b200-x8-ib-ndr",
    "b200-x8-roce",
    "b200-x8-efa",
    "b300-x8",
    "b300-x8-efa",
    "gb200-nvl72",
    "gb200-nvl72-ib-ndr",
    "gb300-nvl72",
    "gh200-x4",
    "gh200-x4-slingshot",
    "mi300x-x8",
    "mi300x-x8-roce",
    "pcie-gen4-x4",
    "l40s",
    "doc003-h200-x8",
    "doc003-a100-x8",
    "doc004-ring",
];

/// The system has no such name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown system `{name}`{}", hint(*.nearest))]
pub struct UnknownPresetError {
    /// The name.
    pub name: String,
    /// The preset it may have meant.
    pub nearest: Option<&'static str>,
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("; hint: did you mean `{name}`?"),
        None => String::new(),
    }
}

/// Returns all presets: nodes by generation, each followed by its multi-node forms, then the
/// models of the source documents.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// Returns the system of a preset. Multi-node presets have two nodes;
/// [`SystemSpec::with_outer_count`] gives them another number.
///
/// # Errors
///
/// Fails when no preset has the name, with the nearest one.
pub fn preset(name: &str) -> Result<SystemSpec, UnknownPresetError> {
    let Some(found) = PRESETS.iter().find(|preset| preset.name == name) else {
        let names = PRESETS.iter().map(|preset| preset.name);
        return Err(UnknownPresetError {
            name: name.to_owned(),
            nearest: nearest(name, names.clone())
                .or_else(|| names.clone().find(|known| known.starts_with(name))),
        });
    };
    Ok(found.spec())
}
