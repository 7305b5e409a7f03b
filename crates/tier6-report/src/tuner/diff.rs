//! Where two choosers choose differently, and by how much their models say it matters.

use super::TunerSubject;
use crate::analysis::csv::{number, quoted};
use crate::analysis::json::pretty;
use crate::grid::{Align, Cell, Columns, Grid};
use crate::naming::size_span;
use crate::number::{ABSENT, count, fixed, signed};
use crate::style::{Detail, Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::{NcclCollective, NoCandidateError};
use tier6_study::{DiffChoice, DiffRange, DiffSize, Difference, TunerDiff};

/// Two choosers compared.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffReport {
    /// The first.
    pub a: DiffSide,
    /// The second.
    pub b: DiffSide,
    /// Every collective with its differences.
    pub collectives: Vec<(NcclCollective, TunerDiff)>,
}

/// One of the choosers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffSide {
    /// The argument that stands for it.
    pub name: String,
    /// The communicator and the release.
    pub subject: TunerSubject,
}

/// A range with its collective.
type Row<'a> = (NcclCollective, &'a DiffRange);
/// A size with its collective.
type SizeRow<'a> = (NcclCollective, &'a DiffSize);

impl DiffSide {
    fn title(&self) -> String {
        let subject = &self.subject;
        format!(
            "{}: NCCL {} on {}",
            self.name, subject.version_used, subject.source
        )
    }
}

impl DiffReport {
    fn ranges(&self) -> Vec<Row<'_>> {
        let all = self.collectives.iter();
        all.flat_map(|(collective, diff)| diff.ranges.iter().map(move |range| (*collective, range)))
            .collect()
    }

    fn sizes(&self) -> Vec<SizeRow<'_>> {
        let all = self.collectives.iter();
        all.flat_map(|(collective, diff)| diff.sizes.iter().map(move |size| (*collective, size)))
            .collect()
    }

    fn verdict(&self) -> String {
        let sizes = self.sizes();
        let differing = |difference| {
            let all = sizes.iter();
            all.filter(|(_, size)| size.difference() == difference)
                .count()
        };
        format!(
            "{}: another path at {}, other channels at {}, other warps at {}, one fails at {}",
            count(sizes.len(), "call"),
            differing(Difference::Path),
            differing(Difference::Channels),
            differing(Difference::Warps),
            differing(Difference::Failure)
        )
    }
}

fn path_text(path: Option<tier6_nccl::Candidate>) -> String {
    path.map_or_else(|| "fails".to_owned(), |path| path.to_string())
}

fn ranges_grid(rows: &[Row<'_>]) -> Grid {
    Columns::of(rows)
        .left("collective", |(collective, _)| collective.to_string())
        .right("sizes", |(_, range)| size_span(range.first, range.last))
        .left("A", |(_, range)| path_text(range.a))
        .left("B", |(_, range)| path_text(range.b))
        .cells("differs in", Align::Left, |(_, range)| {
            let tone = match range.difference {
                Difference::Failure => Tone::Bad,
                Difference::Path => Tone::Caution,
                Difference::Nothing | Difference::Warps | Difference::Channels => Tone::Plain,
            };
            Cell::toned(range.difference.name(), tone)
        })
        .right(
            "the other's path costs at most %",
            |(_, range)| match range.worst {
                Some((pct, bytes)) => format!("{} at {bytes}", signed(pct, 1)),
                None => ABSENT.to_owned(),
            },
        )
        .grid()
}

fn choice_text(choice: &Result<DiffChoice, NoCandidateError>) -> String {
    match choice {
        Ok(choice) => format!(
            "{} {} us, {} ch, {} warps",
            choice.candidate,
            fixed(choice.time.get(), 3),
            choice.channels,
            choice.warps
        ),
        Err(_) => "fails".to_owned(),
    }
}

fn sizes_grid(rows: &[SizeRow<'_>]) -> Grid {
    Columns::of(rows)
        .left("collective", |(collective, _)| collective.to_string())
        .right("size", |(_, size)| size.bytes.to_string())
        .left("A", |(_, size)| choice_text(&size.a))
        .left("B", |(_, size)| choice_text(&size.b))
        .left("differs in", |(_, size)| {
            size.difference().name().to_owned()
        })
        .signed("B's path in A's model %", 1, |(_, size)| size.b_in_a_pct)
        .signed("A's path in B's model %", 1, |(_, size)| size.a_in_b_pct)
        .grid()
}

/// Returns the differences as text for a terminal: ranges; the wide form shows every size, too.
pub fn diff_table(report: &DiffReport, style: Style, detail: Detail) -> String {
    let mut out = format!("A  {}\nB  {}\n\n", report.a.title(), report.b.title());
    let ranges = report.ranges();
    if ranges.is_empty() {
        out += "no difference\n";
    } else {
        out += &ranges_grid(&ranges).text(style);
    }
    if detail == Detail::Wide {
        let _ = write!(out, "\n{}", sizes_grid(&report.sizes()).text(style));
    }
    let _ = writeln!(out, "\n{}", report.verdict());
    out
}

/// Returns the differences as Markdown.
pub fn diff_markdown(report: &DiffReport) -> String {
    let mut out = format!(
        "# Tuner differences\n\nA is {}, B is {}.\n\n{}.\n",
        report.a.title(),
        report.b.title(),
        report.verdict()
    );
    let ranges = report.ranges();
    if !ranges.is_empty() {
        let _ = write!(out, "\n{}", ranges_grid(&ranges).markdown());
    }
    out
}

/// Returns every size as CSV.
pub fn diff_csv(report: &DiffReport) -> String {
    let mut out = "collective,bytes,difference,a_path,a_us,a_channels,a_warps,b_path,b_us,\
                   b_channels,b_warps,b_in_a_pct,a_in_b_pct\n"
        .to_owned();
    let fields = |choice: &Result<DiffChoice, NoCandidateError>| match choice {
        Ok(choice) => format!(
            "{},{},{},{}",
            choice.candidate,
            choice.time.get(),
            choice.channels,
            choice.warps
        ),
        Err(error) => format!("{},,,", quoted(&error.to_string())),
    };
    for (collective, size) in report.sizes() {
        let _ = writeln!(
            out,
            "{collective},{},{},{},{},{},{}",
            size.bytes.get(),
            size.difference().name(),
            fields(&size.a),
            fields(&size.b),
            number(size.b_in_a_pct),
            number(size.a_in_b_pct)
        );
    }
    out
}

/// Returns the differences as JSON of schema `tier6.tuner_diff/1`.
pub fn diff_json(report: &DiffReport) -> String {
    let ranges = report
        .ranges()
        .into_iter()
        .map(|(collective, range)| RangeDto {
            collective: collective.to_string(),
            first_bytes: range.first.get(),
            last_bytes: range.last.get(),
            sizes: range.sizes,
            difference: range.difference.name(),
            a: range.a.map(|path| path.to_string()),
            b: range.b.map(|path| path.to_string()),
            worst_pct: range.worst.map(|(pct, _)| pct),
            worst_bytes: range.worst.map(|(_, bytes)| bytes.get()),
        });
    let sizes = report
        .sizes()
        .into_iter()
        .map(|(collective, size)| SizeDto {
            collective: collective.to_string(),
            bytes: size.bytes.get(),
            difference: size.difference().name(),
            a: ChoiceDto::new(&size.a),
            b: ChoiceDto::new(&size.b),
            b_in_a_pct: size.b_in_a_pct,
            a_in_b_pct: size.a_in_b_pct,
        });
    pretty(&ReportDto {
        schema: "tier6.tuner_diff/1",
        a: SideDto::new(&report.a),
        b: SideDto::new(&report.b),
        ranges: ranges.collect(),
        sizes: sizes.collect(),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    a: SideDto<'a>,
    b: SideDto<'a>,
    ranges: Vec<RangeDto>,
    sizes: Vec<SizeDto>,
}

#[derive(Serialize)]
struct SideDto<'a> {
    name: &'a str,
    nccl: String,
    version_used: String,
    source: &'a str,
    ranks: i32,
    nodes: i32,
}

#[derive(Serialize)]
struct RangeDto {
    collective: String,
    first_bytes: u64,
    last_bytes: u64,
    sizes: usize,
    difference: &'static str,
    a: Option<String>,
    b: Option<String>,
    worst_pct: Option<f64>,
    worst_bytes: Option<u64>,
}

#[derive(Serialize)]
struct SizeDto {
    collective: String,
    bytes: u64,
    difference: &'static str,
    a: Option<ChoiceDto>,
    b: Option<ChoiceDto>,
    b_in_a_pct: Option<f64>,
    a_in_b_pct: Option<f64>,
}

#[derive(Serialize)]
struct ChoiceDto {
    algorithm: String,
    protocol: String,
    time_us: Option<f64>,
    channels: i8,
    warps: i32,
}

impl<'a> SideDto<'a> {
    fn new(side: &'a DiffSide) -> Self {
        let subject = &side.subject;
        Self {
            name: &side.name,
            nccl: subject.nccl.to_string(),
            version_used: subject.version_used.to_string(),
            source: &subject.source,
            ranks: subject.ranks,
            nodes: subject.nodes,
        }
    }
}

impl ChoiceDto {
    fn new(choice: &Result<DiffChoice, NoCandidateError>) -> Option<Self> {
        let choice = choice.as_ref().ok()?;
        Some(Self {
            algorithm: choice.candidate.algorithm.to_string(),
            protocol: choice.candidate.protocol.to_string(),
            time_us: Some(choice.time.get()).filter(|us| us.is_finite()),
            channels: choice.channels,
            warps: choice.warps,
        })
    }
}
