//! The formats of a system: what is written, what follows from it, and every constant with how
//! well it is known. And the list of systems to choose from.

mod json;

pub use json::{system_json, systems_json};

use crate::analysis::csv::{push_row, quoted};
use crate::flow::push_sentence;
use crate::grid::{Align, Cell, Columns, Grid, markdown_text, terminal_text};
use crate::number::{count, fixed};
use crate::style::{Style, Tone};
use std::fmt::Write as _;
use tier6_system::{ConstantDescription, Evidence, SystemDescription};

/// One system of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSystem {
    /// The name.
    pub name: String,
    /// One line on what it is.
    pub title: Option<String>,
    /// Number of chips.
    pub chips: u64,
    /// Number of nodes.
    pub nodes: u64,
}

/// One system, as written and as meant.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemReport {
    /// Where the text comes from: `preset`, or a path.
    pub source: String,
    /// The text as written.
    pub written: String,
    /// What follows from it.
    pub description: SystemDescription,
}

/// Returns the list as text for a terminal.
pub fn systems_table(systems: &[ListedSystem], style: Style) -> String {
    systems_grid(systems).text(style)
}

/// Returns the list as a Markdown table.
pub fn systems_markdown(systems: &[ListedSystem]) -> String {
    systems_grid(systems).markdown()
}

/// Returns one row per system as CSV with a header line.
pub fn systems_csv(systems: &[ListedSystem]) -> String {
    let mut out = "name,chips,nodes,title\n".to_owned();
    for system in systems {
        let title = quoted(system.title.as_deref().unwrap_or(""));
        let name = quoted(&system.name);
        let _ = writeln!(out, "{name},{},{},{title}", system.chips, system.nodes);
    }
    out
}

/// Returns a system as text for a terminal.
pub fn system_table(report: &SystemReport, style: Style) -> String {
    let mut out = terminal_text(&title(&report.description)) + "\n\n";
    for (head, text) in facts(&report.description) {
        push_sentence(&mut out, (head, Tone::Dim), &text, style);
    }
    for (_, grid) in grids(&report.description) {
        out.push('\n');
        out += &grid.text(style);
    }
    let _ = writeln!(out, "\nas written ({})\n", terminal_text(&report.source));
    for line in report.written.trim_end().lines() {
        // The file's own tabs and escapes stay out of the terminal.
        out += terminal_text(&format!("  {line}")).trim_end();
        out.push('\n');
    }
    out
}

/// Returns a system as a page of Markdown.
pub fn system_markdown(report: &SystemReport) -> String {
    let mut out = format!("# {}\n\n", markdown_text(&title(&report.description)));
    for (head, text) in facts(&report.description) {
        let _ = writeln!(out, "- {head}: {}", markdown_text(&text));
    }
    for (head, grid) in grids(&report.description) {
        let _ = write!(out, "\n## {head}\n\n{}", grid.markdown());
    }
    let _ = writeln!(
        out,
        "\n## As written\n\n{}:\n\n```toml\n{}\n```",
        markdown_text(&report.source),
        report.written.trim_end()
    );
    out
}

/// Returns one row per constant as CSV with a header line.
pub fn system_csv(report: &SystemReport) -> String {
    let mut out = "constant,value,evidence,source\n".to_owned();
    for constant in &report.description.constants {
        let source = constant.source.as_deref().unwrap_or("");
        let fields = [
            &constant.name,
            &constant.value,
            constant.evidence.name(),
            source,
        ];
        push_row(&mut out, fields.map(quoted).iter());
    }
    out
}

fn title(system: &SystemDescription) -> String {
    match &system.title {
        Some(title) => format!("{}: {title}", system.name),
        None => system.name.clone(),
    }
}

/// What was derived, as heads and sentences.
fn facts(system: &SystemDescription) -> Vec<(&'static str, String)> {
    let counted = |n: u32, word: &str| count(n as usize, word);
    let (least, most) = (system.injection.0.get(), system.injection.1.get());
    let injection = match (fixed(least, 1), fixed(most, 1)) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}"),
    };
    let mut facts = vec![
        (
            "size",
            format!(
                "{} ({}), {}, {}, {} counting each direction",
                counted(system.n_chips, "chip"),
                system.chip,
                counted(system.n_nodes, "node"),
                counted(system.n_nics, "NIC"),
                counted(system.n_links, "link")
            ),
        ),
        (
            "into a chip",
            format!(
                "{injection} GB/s of the first tier over {}, each direction",
                counted(system.ports_per_chip, "port")
            ),
        ),
    ];
    if let Some(rate) = system.network_per_chip {
        let rate = fixed(rate.get(), 1);
        facts.push((
            "network",
            format!("{rate} GB/s a chip, its share of the NICs"),
        ));
    }
    if let Some(rate) = system.bisection {
        let rate = fixed(rate.get(), 1);
        facts.push((
            "bisection",
            format!("{rate} GB/s between halves, each direction"),
        ));
    }
    facts.push(("longest route", longest_route(system)));
    facts.push(("evidence", evidence_of_all(system)));
    facts
}

fn longest_route(system: &SystemDescription) -> String {
    let alike = match system.longest_route_alternatives {
        1 => "the only one of its length".to_owned(),
        n => format!("one of {n} alike"),
    };
    format!(
        "{}: {}, {} us unloaded, {alike}",
        system.longest_route.join(" > "),
        count(system.diameter_links as usize, "link"),
        fixed(system.longest_route_latency.get(), 2),
    )
}

fn evidence_of_all(system: &SystemDescription) -> String {
    let all = system.constants.iter();
    let assumed = all.filter(|constant| constant.evidence == Evidence::Assumed);
    match (assumed.count(), system.constants.len()) {
        (0, all) => format!("none of {all} constants is assumed"),
        (assumed, all) => format!(
            "{assumed} of {all} constants are assumed: priors that nobody checked on this system"
        ),
    }
}

fn grids(system: &SystemDescription) -> Vec<(&'static str, Grid)> {
    let tiers = Columns::of(&system.tiers)
        .left("tier", |tier| tier.name.clone())
        .right("joins", |tier| tier.count.to_string())
        .left("fabric", |tier| tier.fabric.to_owned())
        .left("link", |tier| tier.link.clone())
        .right("NICs a group", |tier| tier.nics_per_group.to_string());
    let links = Columns::of(&system.links)
        .left("link", |link| link.class.clone())
        .right("count", |link| link.count.to_string())
        .numbers("GB/s a lane", 2, |link| Some(link.rate.get()))
        .numbers("payload", 2, |link| Some(link.payload_rate.get()))
        .numbers("latency us", 2, |link| Some(link.latency.get()));
    let switches = Columns::of(&system.switches)
        .left("switch", |switch| switch.class.clone())
        .right("count", |switch| switch.count.to_string())
        .right("chips", |switch| switch.chips.to_string())
        .left("abilities", |switch| switch.abilities.join(", "));
    let constants = Columns::of(&system.constants)
        .left("constant", |constant| constant.name.clone())
        .right("value", |constant| constant.value.clone())
        .cells("evidence", Align::Left, evidence)
        .left("source", |constant| {
            constant.source.clone().unwrap_or_default()
        });
    let mut grids = vec![("Tiers", tiers.grid()), ("Links", links.grid())];
    if !system.switches.is_empty() {
        grids.push(("Switches", switches.grid()));
    }
    grids.push(("Constants", constants.grid()));
    grids
}

fn evidence(constant: &ConstantDescription) -> Cell {
    let tone = match constant.evidence {
        Evidence::Assumed => Tone::Caution,
        Evidence::Fitted => Tone::Good,
        Evidence::Stated | Evidence::Read | Evidence::Derived => Tone::Plain,
    };
    Cell::toned(constant.evidence.name(), tone)
}

fn systems_grid(systems: &[ListedSystem]) -> Grid {
    Columns::of(systems)
        .left("system", |system| system.name.clone())
        .right("chips", |system| system.chips.to_string())
        .right("nodes", |system| system.nodes.to_string())
        .left("what it is", |system| {
            system.title.clone().unwrap_or_default()
        })
        .grid()
}
