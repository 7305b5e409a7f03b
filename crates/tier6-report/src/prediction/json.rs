//! `tier6.prediction/1`. Additions to the contract: `refused`, and of each result `in_nccl`, when
//! all algorithms were asked for; `variant`, when forms of algorithms were chosen.

use super::{AlgorithmChoice, PredictedCall, PredictionReport, Refusal};
use crate::analysis::json::pretty;
use serde::Serialize;
use std::collections::BTreeMap;
use tier6_collective::{InNccl, Protocol};
use tier6_math::Parts;
use tier6_units::GbPerSec;

/// Returns the prediction as JSON of schema `tier6.prediction/1`, indented, with a final newline.
pub fn prediction_json(report: &PredictionReport) -> String {
    let is_all = report.choice == AlgorithmChoice::All;
    let refused = || report.refused.iter().map(RefusalDto::new).collect();
    let variant = || report.variant.iter().cloned().collect();
    pretty(&ReportDto {
        schema: "tier6.prediction/1",
        engine: "math",
        system: &report.system,
        collective: report.collective.name(),
        ranks: report.ranks,
        variant: (!report.variant.is_empty()).then(variant),
        results: report
            .rows
            .iter()
            .map(|row| ResultDto::new(row, report.choice))
            .collect(),
        refused: is_all.then(refused),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    engine: &'static str,
    system: &'a str,
    collective: &'static str,
    ranks: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<BTreeMap<String, String>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    in_nccl: Option<&'static str>,
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
    fn new(row: &'a PredictedCall, choice: AlgorithmChoice) -> Self {
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
            in_nccl: match choice {
                AlgorithmChoice::All => row.in_nccl.map(InNccl::name),
                AlgorithmChoice::One(_) | AlgorithmChoice::Auto => None,
            },
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
