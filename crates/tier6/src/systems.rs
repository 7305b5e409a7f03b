//! Systems to predict on: the presets that come with tier6, and files that describe others.

use crate::text::read_text;
use crate::{Error, Form};
use std::path::Path;
use tier6_report::{
    ListedSystem, SystemReport, system_csv, system_json, system_markdown, system_table,
    systems_csv, systems_json, systems_markdown, systems_table,
};
use tier6_system::{FabricSpec, SystemError, SystemSpec, Topology, place_of_key, preset, presets};

/// The source of systems that come with the program.
const PRESET: &str = "preset";

/// A system as written, with what is known of its text.
#[derive(Debug, Clone)]
pub(crate) struct LoadedSystem {
    source: String,
    text: String,
    pub(crate) spec: SystemSpec,
}

impl LoadedSystem {
    /// Loads a preset by name, else a file; `-` is standard input.
    ///
    /// # Errors
    ///
    /// When there is no such preset or file, or the file describes no system.
    pub(crate) fn of(argument: &str) -> Result<Self, Error> {
        let known = presets().iter().find(|known| known.name == argument);
        if let Some(known) = known {
            return Ok(Self {
                source: PRESET.to_owned(),
                text: known.text.to_owned(),
                spec: known.spec(),
            });
        }
        let looks_like_a_path = argument.contains(['/', '.']) || argument == "-";
        if !looks_like_a_path && !Path::new(argument).exists() {
            return Err(unknown(argument));
        }
        let text = read_text(argument)?;
        let spec = SystemSpec::from_toml(&text).map_err(|error| malformed(argument, error))?;
        Ok(Self {
            source: argument.to_owned(),
            text,
            spec,
        })
    }

    /// Says where a key of the system is written, or the table around it; of a preset its name.
    pub(crate) fn place_of(&self, key: &str) -> String {
        match place_of_key(&self.text, key) {
            Some(place) if self.source != PRESET => format!("`{}`: {place}", self.source),
            Some(_) | None => format!("`{}`", self.spec.name),
        }
    }

    /// Whether the system is one ring of chips in natural order, which any number can form.
    pub(crate) fn is_lone_ring(&self) -> bool {
        match self.spec.tiers.as_slice() {
            [tier] => matches!(&tier.fabric, FabricSpec::Ring { orders } if orders.is_empty()),
            _ => false,
        }
    }

    /// Resolves the system, with this many nodes if given.
    ///
    /// # Errors
    ///
    /// When the file contradicts itself, or the system cannot have that many nodes.
    pub(crate) fn resolve(&self, nodes: Option<u32>) -> Result<Topology, Error> {
        let as_written = || {
            let topology = self.spec.resolve();
            topology.map_err(|error| malformed(&self.source, error))
        };
        let Some(nodes) = nodes else {
            return as_written();
        };
        let scaled = self.with_nodes(nodes)?;
        match scaled.resolve() {
            Ok(topology) => Ok(topology),
            // It is the number of nodes that does not fit, unless the file is wrong as it is.
            Err(error) => as_written().and(Err(Error::Domain {
                message: format!("`{}` with {nodes} nodes: {}", self.spec.name, error.problem),
                hint: error
                    .hint
                    .or(Some("give another number of nodes".to_owned())),
            })),
        }
    }

    fn with_nodes(&self, nodes: u32) -> Result<SystemSpec, Error> {
        let spec = &self.spec;
        let name = &spec.name;
        if !spec.is_multi_node() {
            return match nodes {
                1 => Ok(spec.clone()),
                _ => Err(Error::Domain {
                    message: format!("`{name}` is one node, not {nodes}"),
                    hint: Some(
                        "name a system with a network; `tier6 systems` lists them".to_owned(),
                    ),
                }),
            };
        }
        // With three tiers and more the outermost joins groups of this many nodes.
        let between = &spec.tiers[1..spec.tiers.len() - 1];
        let group: u64 = between
            .iter()
            .map(|tier| u64::from(tier.count.value))
            .product();
        match u64::from(nodes).checked_div(group) {
            Some(count) if count * group == u64::from(nodes) => {
                let count = u32::try_from(count).expect("Invariant: no more groups than nodes");
                Ok(spec.clone().with_outer_count(count))
            }
            _ => Err(Error::Domain {
                message: format!("`{name}` grows by groups of {group} nodes, {nodes} are none"),
                hint: Some(format!("for example `--nodes {}`", 2 * group)),
            }),
        }
    }
}

/// Lists the presets.
pub fn list_systems() -> Vec<ListedSystem> {
    let list = presets().iter().map(|preset| {
        let spec = preset.spec();
        let counts = spec.tiers.iter().map(|tier| u64::from(tier.count.value));
        ListedSystem {
            name: preset.name.to_owned(),
            title: spec.title.clone(),
            chips: counts.clone().product(),
            nodes: counts.skip(1).product(),
        }
    });
    list.collect()
}

/// Returns what is written in a system, a preset's or a file's, and what follows from it.
///
/// # Errors
///
/// When there is no such preset or file, the file describes no system, or the system cannot have
/// that many nodes.
pub fn show_system(argument: &str, nodes: Option<u32>) -> Result<SystemReport, Error> {
    let system = LoadedSystem::of(argument)?;
    let description = system.resolve(nodes)?.describe();
    Ok(SystemReport {
        source: system.source,
        written: system.text,
        description,
    })
}

/// Renders the list of systems.
///
/// # Errors
///
/// When the form is SVG or HTML: there are no charts.
pub fn render_systems(systems: &[ListedSystem], form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, _) => Ok(systems_table(systems, style)),
        Form::Json => Ok(systems_json(systems)),
        Form::Csv => Ok(systems_csv(systems)),
        Form::Markdown => Ok(systems_markdown(systems)),
        Form::Svg | Form::Html => Err(no_charts("a list of systems")),
    }
}

/// Renders a system.
///
/// # Errors
///
/// When the form is SVG or HTML: there are no charts.
pub fn render_system(report: &SystemReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, _) => Ok(system_table(report, style)),
        Form::Json => Ok(system_json(report)),
        Form::Csv => Ok(system_csv(report)),
        Form::Markdown => Ok(system_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts("a system")),
    }
}

/// The answer to a wish for a page of what has charts alone.
pub(crate) fn no_page(what: &str) -> Error {
    Error::Usage {
        message: format!("{what} has no page"),
        hint: Some("use table, json, csv, md or svg".to_owned()),
    }
}

pub(crate) fn no_charts(what: &str) -> Error {
    Error::Usage {
        message: format!("{what} has no charts"),
        hint: Some("use table, json, csv or md".to_owned()),
    }
}

fn unknown(name: &str) -> Error {
    let likely = preset(name).err().and_then(|error| error.nearest);
    Error::Usage {
        message: format!("unknown system `{name}`"),
        hint: Some(match likely {
            Some(name) => format!("did you mean `{name}`? `tier6 systems` lists all"),
            None => "`tier6 systems` lists them; a file's name has a suffix".to_owned(),
        }),
    }
}

fn malformed(path: &str, error: SystemError) -> Error {
    let problem = error.problem;
    Error::Malformed {
        path: path.to_owned(),
        message: match error.place {
            Some(place) => format!("{place}: {problem}"),
            None => problem.to_string(),
        },
        hint: error.hint,
    }
}
