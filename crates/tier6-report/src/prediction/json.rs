//! `tier6.prediction/1`. Additions to the contract: `refused`, and of each result `in_nccl`, when
//! all algorithms were asked for; `variant`, when forms of algorithms were chosen; `grain_unused`, when a grain was.

use super::{PredictedCall, PredictionReport};
use crate::analysis::json::pretty;
use crate::call::{AlgorithmChoice, PartsDto, RefusalDto, in_nccl_name};
use serde::Serialize;
use std::collections::BTreeMap;
use tier6_collective::Protocol;
use tier6_math::Parts;
use tier6_units::GbPerSec;

/// Returns the prediction as JSON of schema `tier6.prediction/1`, indented, with a final newline.
pub fn prediction_json(report: &PredictionReport) -> String {
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
        refused: RefusalDto::of(report.choice, &report.refused),
        grain_unused: report.unsliced.iter().map(|one| one.name()).collect(),
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
    /// Algorithms whose times `--grain` does not change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grain_unused: Vec<&'static str>,
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

impl<'a> ResultDto<'a> {
    fn new(row: &'a PredictedCall, choice: AlgorithmChoice) -> Self {
        Self {
            bytes: row.bytes.get(),
            algorithm: row.algorithm.name(),
            protocol: row.protocol.map(Protocol::name),
            time_us: row.parts.total().get(),
            parts: parts(&row.parts),
            algbw_gbs: row.algbw.map(GbPerSec::get),
            busbw_gbs: row.busbw.map(GbPerSec::get),
            bottleneck: &row.sentence,
            evidence: row.basis.name(),
            in_nccl: in_nccl_name(choice, row.in_nccl),
        }
    }
}

fn parts(parts: &Parts) -> PartsDto {
    PartsDto {
        software_us: parts.software.get(),
        latency_us: parts.latency.get(),
        transfer_us: parts.transfer.get(),
        reduce_us: parts.reduction.get(),
        stall_us: parts.stall.get(),
    }
}
