//! `tier6.prediction/1`. Addition to the contract: `refused`, when all algorithms were asked for.

use super::{AlgorithmChoice, PredictedCall, PredictionReport, Refusal};
use crate::analysis::json::pretty;
use serde::Serialize;
use tier6_collective::Protocol;
use tier6_math::Parts;
use tier6_units::GbPerSec;

/// Returns the prediction as JSON of schema `tier6.prediction/1`, indented, with a final newline.
pub fn prediction_json(report: &PredictionReport) -> String {
    let refused = || report.refused.iter().map(RefusalDto::new).collect();
    pretty(&ReportDto {
        schema: "tier6.prediction/1",
        engine: "math",
        system: &report.system,
        collective: report.collective.name(),
        ranks: report.ranks,
        results: report.rows.iter().map(ResultDto::new).collect(),
        refused: (report.choice == AlgorithmChoice::All).then(refused),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    engine: &'static str,
    system: &'a str,
    collective: &'static str,
    ranks: u32,
    results: Vec<ResultDto<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Vec<RefusalDto<'a>>>,
}

#[derive(Serialize)]
struct ResultDto<'a> {
    bytes: u64,
    algorithm: &'static str,
    protocol: Option<&'static str>,
    time_us: f64,
    parts: PartsDto,
    algbw_gbs: Option<f64>,
    busbw_gbs: Option<f64>,
    bottleneck: &'a str,
    evidence: &'static str,
}

#[derive(Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "names of the contract carry their unit"
)]
struct PartsDto {
    software_us: f64,
    latency_us: f64,
    transfer_us: f64,
    reduce_us: f64,
    stall_us: f64,
}

#[derive(Serialize)]
struct RefusalDto<'a> {
    algorithm: &'static str,
    why: &'a str,
}

impl<'a> ResultDto<'a> {
    fn new(row: &'a PredictedCall) -> Self {
        Self {
            bytes: row.bytes.get(),
            algorithm: row.algorithm.name(),
            protocol: row.protocol.map(Protocol::name),
            time_us: row.parts.total().get(),
            parts: PartsDto::new(&row.parts),
            algbw_gbs: row.algbw.map(GbPerSec::get),
            busbw_gbs: row.busbw.map(GbPerSec::get),
            bottleneck: &row.sentence,
            evidence: row.basis.name(),
        }
    }
}

impl PartsDto {
    fn new(parts: &Parts) -> Self {
        Self {
            software_us: parts.software.get(),
            latency_us: parts.latency.get(),
            transfer_us: parts.transfer.get(),
            reduce_us: parts.reduction.get(),
            stall_us: parts.stall.get(),
        }
    }
}

impl<'a> RefusalDto<'a> {
    fn new(refusal: &'a Refusal) -> Self {
        Self {
            algorithm: refusal.algorithm.name(),
            why: &refusal.why,
        }
    }
}
