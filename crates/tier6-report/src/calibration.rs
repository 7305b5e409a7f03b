//! The formats of a calibration: the constants with their intervals, what could not be told,
//! and how well each measured sweep is met, in sample and held out side by side.

mod json;

pub use json::{calibration_json, plan_json};

use crate::analysis::csv::{number, push_row, quoted};
use crate::flow::push_sentence;
use crate::grid::{Columns, Grid, markdown_text};
use crate::number::{count, fixed, significant, with_interval};
use crate::style::{Detail, Style, Tone};
use std::fmt::Write as _;
use tier6_fit::{Calibration, Fitted, Refused, SetFit};
use tier6_study::Engine;
use tier6_units::Bytes;

/// A calibration as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationReport {
    /// Whose constants.
    pub engine: Engine,
    /// The calibration.
    pub calibration: Calibration,
    /// How well it predicts measured sizes that were set aside beforehand, if some were.
    pub set_aside: Vec<SetAside>,
}

/// Sizes of one sweep that were not calibrated on.
#[derive(Debug, Clone, PartialEq)]
pub struct SetAside {
    /// What the calibrated system says.
    pub system: SetFit,
    /// What its curve says, held to the sizes of the sweep that were calibrated on.
    pub curve: SetFit,
}

/// Sizes to measure, so that a model of the rest can be fitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanReport {
    /// The system.
    pub system: String,
    /// The sizes, ascending.
    pub sizes: Vec<Bytes>,
    /// Among how many they were chosen.
    pub candidates: usize,
}

/// Returns the calibration as text for a terminal. The wide form adds every size.
pub fn calibration_table(report: &CalibrationReport, style: Style, detail: Detail) -> String {
    let calibration = &report.calibration;
    let mut out = headline(report) + "\n\n";
    out += &constants_grid(&calibration.parameters).text(style);
    out.push('\n');
    out += &sets_grid(&calibration.sets).text(style);
    if !report.set_aside.is_empty() {
        out.push('\n');
        out += &set_aside_grid(&report.set_aside).text(style);
    }
    if detail == Detail::Wide {
        for set in &calibration.sets {
            let _ = writeln!(out, "\n{}", set.label);
            out += &sizes_grid(set).text(style);
        }
    }
    if !calibration.refused.is_empty() || !calibration.warnings.is_empty() {
        out.push('\n');
    }
    for refused in &calibration.refused {
        let text = refused.to_string();
        push_sentence(&mut out, ("not told", Tone::Caution), &text, style);
    }
    for warning in &calibration.warnings {
        push_sentence(&mut out, ("warning", Tone::Caution), warning, style);
    }
    out
}

/// Returns the calibration as a page of Markdown.
pub fn calibration_markdown(report: &CalibrationReport) -> String {
    let calibration = &report.calibration;
    let mut out = format!(
        "# Calibration\n\n{}.\n\n## Constants\n\n{}\n## Sets\n\n{}",
        markdown_text(&headline(report)),
        constants_grid(&calibration.parameters).markdown(),
        sets_grid(&calibration.sets).markdown()
    );
    if !report.set_aside.is_empty() {
        let grid = set_aside_grid(&report.set_aside).markdown();
        let _ = write!(out, "\n## Sizes set aside\n\n{grid}");
    }
    let told = calibration.refused.iter().map(Refused::to_string);
    let remarks: Vec<String> = told.chain(calibration.warnings.iter().cloned()).collect();
    if !remarks.is_empty() {
        out += "\n## Remarks\n\n";
    }
    for remark in remarks {
        let _ = writeln!(out, "- {}", markdown_text(&remark));
    }
    out
}

/// Returns one row per constant as CSV with a header line.
pub fn calibration_csv(report: &CalibrationReport) -> String {
    let mut out = "constant,unit,value,low,high,before\n".to_owned();
    for fitted in &report.calibration.parameters {
        let (low, high) = fitted.interval.unzip();
        let fields = [
            quoted(&fitted.name),
            quoted(&fitted.unit),
            number(Some(fitted.value)),
            number(low),
            number(high),
            number(fitted.prior),
        ];
        push_row(&mut out, fields.iter());
    }
    out
}

/// Returns the sizes of a plan as text for a terminal, with the option of nccl-tests' scripts.
pub fn plan_table(report: &PlanReport) -> String {
    let sizes: Vec<String> = report.sizes.iter().map(Bytes::to_string).collect();
    format!(
        "measure {}\n{} of {}, chosen on `{}` without a measurement: where its constants show most\n",
        sizes.join(", "),
        count(report.sizes.len(), "size"),
        report.candidates,
        report.system
    )
}

fn headline(report: &CalibrationReport) -> String {
    let calibration = &report.calibration;
    let points: usize = calibration.sets.iter().map(|set| set.points).sum();
    format!(
        "{}{} by method `{}` on {}, {}: RMSPE {} % in sample, {}",
        calibration.system.name,
        match report.engine {
            Engine::G5 => " for the g5 engine",
            _ => "",
        },
        calibration.method,
        count(calibration.sets.len(), "sweep"),
        count(points, "size"),
        fixed(calibration.rmspe_pct, 2),
        match calibration.held_out_rmspe_pct {
            Some(held_out) => format!("{} % held out", fixed(held_out, 2)),
            None => "not held out".to_owned(),
        }
    )
}

fn constants_grid(constants: &[Fitted]) -> Grid {
    Columns::of(constants)
        .left("constant", |fitted| fitted.name.clone())
        .right("value [95 %]", |fitted| {
            with_interval(fitted.value, fitted.interval, 4)
        })
        .left("unit", |fitted| fitted.unit.clone())
        .right("before", |fitted| {
            let before = fitted.prior.map(|prior| significant(prior, 4));
            before.unwrap_or_default()
        })
        .grid()
}

fn sets_grid(sets: &[SetFit]) -> Grid {
    Columns::of(sets)
        .left("sweep", |set| set.label.clone())
        .right("sizes", |set| set.points.to_string())
        .numbers("RMSPE %", 2, |set| Some(set.rmspe_pct))
        .numbers("held out %", 2, |set| set.held_out_rmspe_pct)
        .numbers("MAPE %", 2, |set| Some(set.mape_pct))
        .numbers("worst %", 2, |set| Some(set.max_error.0))
        .right("at", |set| set.max_error.1.to_string())
        .grid()
}

fn set_aside_grid(sets: &[SetAside]) -> Grid {
    Columns::of(sets)
        .left("set aside", |set| set.system.label.clone())
        .right("sizes", |set| set.system.points.to_string())
        .numbers("system RMSPE %", 2, |set| Some(set.system.rmspe_pct))
        .numbers("held to the rest %", 2, |set| Some(set.curve.rmspe_pct))
        .numbers("worst %", 2, |set| Some(set.curve.max_error.0))
        .right("at", |set| set.curve.max_error.1.to_string())
        .grid()
}

fn sizes_grid(set: &SetFit) -> Grid {
    Columns::of(&set.residuals)
        .right("size", |(bytes, _, _)| bytes.to_string())
        .numbers("measured us", 2, |(_, measured, _)| Some(measured.get()))
        .numbers("model us", 2, |(_, _, model)| Some(model.get()))
        .signed("error %", 2, |(_, measured, model)| {
            Some(100.0 * (model.get() / measured.get() - 1.0))
        })
        .grid()
}
