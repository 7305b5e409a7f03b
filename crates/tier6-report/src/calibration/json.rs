//! `tier6.calibration/1` and `tier6.plan/1`.

use super::{CalibrationReport, PlanReport};
use crate::analysis::json::pretty;
use serde::Serialize;
use tier6_fit::{Fitted, Refused, SetFit};

/// Returns the calibration as JSON of schema `tier6.calibration/1`, indented, with a final
/// newline; the system is its TOML text.
pub fn calibration_json(report: &CalibrationReport) -> String {
    let calibration = &report.calibration;
    pretty(&CalibrationDto {
        schema: "tier6.calibration/1",
        system: &calibration.system.name,
        engine: report.engine.name(),
        method: calibration.method.name(),
        rmspe_pct: calibration.rmspe_pct,
        held_out_rmspe_pct: calibration.held_out_rmspe_pct,
        constants: calibration.parameters.iter().map(FittedDto::new).collect(),
        sets: calibration.sets.iter().map(SetDto::new).collect(),
        set_aside: report
            .set_aside
            .iter()
            .map(|set| SetAsideDto {
                system: SetDto::new(&set.system),
                curve: SetDto::new(&set.curve),
            })
            .collect(),
        refused: calibration.refused.iter().map(RefusedDto::new).collect(),
        warnings: &calibration.warnings,
        written: calibration.system.to_toml(),
    })
}

/// Returns the sizes of a plan as JSON of schema `tier6.plan/1`, indented, with a final newline.
pub fn plan_json(report: &PlanReport) -> String {
    pretty(&PlanDto {
        schema: "tier6.plan/1",
        system: &report.system,
        candidates: report.candidates,
        bytes: report.sizes.iter().map(|size| size.get()).collect(),
    })
}

#[derive(Serialize)]
struct CalibrationDto<'a> {
    schema: &'static str,
    system: &'a str,
    engine: &'static str,
    method: &'static str,
    rmspe_pct: f64,
    held_out_rmspe_pct: Option<f64>,
    constants: Vec<FittedDto<'a>>,
    sets: Vec<SetDto<'a>>,
    set_aside: Vec<SetAsideDto<'a>>,
    refused: Vec<RefusedDto<'a>>,
    warnings: &'a [String],
    written: String,
}

#[derive(Serialize)]
struct FittedDto<'a> {
    name: &'a str,
    unit: &'a str,
    value: f64,
    interval: Option<[f64; 2]>,
    before: Option<f64>,
}

#[derive(Serialize)]
struct SetDto<'a> {
    id: &'a str,
    points: usize,
    rmspe_pct: f64,
    held_out_rmspe_pct: Option<f64>,
    mape_pct: f64,
    max_error_pct: f64,
    max_error_bytes: u64,
    disturbed_bytes: Vec<u64>,
    sizes: Vec<SizeDto>,
}

#[derive(Serialize)]
struct SetAsideDto<'a> {
    system: SetDto<'a>,
    curve: SetDto<'a>,
}

#[derive(Serialize)]
struct SizeDto {
    bytes: u64,
    measured_us: f64,
    model_us: f64,
}

#[derive(Serialize)]
struct RefusedDto<'a> {
    names: &'a [String],
    why: &'a str,
    measure: &'a [String],
}

#[derive(Serialize)]
struct PlanDto<'a> {
    schema: &'static str,
    system: &'a str,
    candidates: usize,
    bytes: Vec<u64>,
}

impl<'a> FittedDto<'a> {
    fn new(fitted: &'a Fitted) -> Self {
        Self {
            name: &fitted.name,
            unit: &fitted.unit,
            value: fitted.value,
            interval: fitted.interval.map(|(low, high)| [low, high]),
            before: fitted.prior,
        }
    }
}

impl<'a> SetDto<'a> {
    fn new(set: &'a SetFit) -> Self {
        let sizes = set
            .residuals
            .iter()
            .map(|(bytes, measured, model)| SizeDto {
                bytes: bytes.get(),
                measured_us: measured.get(),
                model_us: model.get(),
            });
        Self {
            id: &set.label,
            points: set.points,
            rmspe_pct: set.rmspe_pct,
            held_out_rmspe_pct: set.held_out_rmspe_pct,
            mape_pct: set.mape_pct,
            max_error_pct: set.max_error.0,
            max_error_bytes: set.max_error.1.get(),
            disturbed_bytes: set.disturbed.iter().map(|bytes| bytes.get()).collect(),
            sizes: sizes.collect(),
        }
    }
}

impl<'a> RefusedDto<'a> {
    fn new(refused: &'a Refused) -> Self {
        Self {
            names: &refused.names,
            why: &refused.why,
            measure: &refused.measure,
        }
    }
}
