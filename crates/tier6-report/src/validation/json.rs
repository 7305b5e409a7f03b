//! `tier6.validation/1`: errors are RMSPE in percent, `null` where a band has no points.
//! Additions to the contract: `holdout`, `yardsticks`, `summary`, `excluded`, and per set what
//! was left out, why an engine has no score, what the source documents claim, the difference of
//! placements and the coverage of the band.

use crate::analysis::json::pretty;
use serde::Serialize;
use std::collections::BTreeMap;
use tier6_study::{
    EngineSummary, Errors, Role, Score, SetValidation, Spread, Summary, ValidationReport,
    document_figures,
};

/// Returns the report as JSON of schema `tier6.validation/1`, indented, with a final newline.
pub fn validation_json(report: &ValidationReport) -> String {
    pretty(&ReportDto {
        schema: "tier6.validation/1",
        holdout: report.holdout.to_string(),
        sets: report.sets.iter().map(SetDto::new).collect(),
        excluded: report
            .excluded
            .iter()
            .map(|set| ExcludedDto {
                id: &set.id,
                reason: &set.reason,
            })
            .collect(),
        summary: SummaryDto::new(&report.summary),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    holdout: String,
    sets: Vec<SetDto<'a>>,
    excluded: Vec<ExcludedDto<'a>>,
    summary: SummaryDto,
}

#[derive(Serialize)]
struct SetDto<'a> {
    id: &'a str,
    points: usize,
    tier: Option<&'static str>,
    engines: BTreeMap<&'static str, ScoreDto>,
    yardsticks: BTreeMap<&'static str, ScoreDto>,
    placement_noise_pct: Option<f64>,
    band_coverage_pct: Option<f64>,
    left_out: &'a [String],
    unscored: &'a [String],
    documents: Vec<DocumentDto>,
}

#[derive(Serialize)]
struct DocumentDto {
    engine: &'static str,
    band: &'static str,
    rmspe_pct: f64,
}

#[derive(Serialize)]
struct ScoreDto {
    in_sample: ErrorsDto,
    held_out: ErrorsDto,
}

#[derive(Serialize)]
struct ErrorsDto {
    small: Option<f64>,
    medium: Option<f64>,
    large: Option<f64>,
    overall: Option<f64>,
}

#[derive(Serialize)]
struct ExcludedDto<'a> {
    id: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct SummaryDto {
    sets: usize,
    engines: BTreeMap<&'static str, EngineSummaryDto>,
    yardsticks: BTreeMap<&'static str, EngineSummaryDto>,
    placement_noise: Option<SpreadDto>,
    band_coverage_pct: Option<f64>,
}

#[derive(Serialize)]
struct EngineSummaryDto {
    in_sample: Option<SpreadDto>,
    held_out: Option<SpreadDto>,
}

#[derive(Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "names of the contract carry their unit"
)]
struct SpreadDto {
    median_pct: f64,
    p75_pct: f64,
    p90_pct: f64,
}

impl<'a> SetDto<'a> {
    fn new(set: &'a SetValidation) -> Self {
        let of = |role: Role| {
            let scores = set
                .scores
                .iter()
                .filter(|score| score.engine.role() == role);
            scores
                .map(|score| (score.engine.name(), ScoreDto::new(score)))
                .collect()
        };
        Self {
            id: &set.id,
            points: set.points,
            tier: set.tier.map(tier6_study::Tier::name),
            engines: of(Role::Engine),
            yardsticks: of(Role::Yardstick),
            placement_noise_pct: set.placement_noise_pct,
            band_coverage_pct: set.band_coverage_pct,
            left_out: &set.left_out,
            unscored: &set.unscored,
            documents: document_figures(&set.id)
                .map(|figure| DocumentDto {
                    engine: figure.engine.name(),
                    band: figure.band.name(),
                    rmspe_pct: figure.rmspe_pct,
                })
                .collect(),
        }
    }
}

impl ScoreDto {
    fn new(score: &Score) -> Self {
        Self {
            in_sample: ErrorsDto::new(score.in_sample),
            held_out: ErrorsDto::new(score.held_out),
        }
    }
}

impl ErrorsDto {
    fn new(errors: Errors) -> Self {
        Self {
            small: errors.small,
            medium: errors.medium,
            large: errors.large,
            overall: errors.overall,
        }
    }
}

impl SummaryDto {
    fn new(summary: &Summary) -> Self {
        let of = |role: Role| {
            let rows = summary
                .engines
                .iter()
                .filter(|row| row.engine.role() == role);
            rows.map(|row| (row.engine.name(), EngineSummaryDto::new(row)))
                .collect()
        };
        Self {
            sets: summary.sets,
            engines: of(Role::Engine),
            yardsticks: of(Role::Yardstick),
            placement_noise: summary.placement_noise.map(SpreadDto::new),
            band_coverage_pct: summary.band_coverage_pct,
        }
    }
}

impl EngineSummaryDto {
    fn new(row: &EngineSummary) -> Self {
        Self {
            in_sample: row.in_sample.map(SpreadDto::new),
            held_out: row.held_out.map(SpreadDto::new),
        }
    }
}

impl SpreadDto {
    fn new(spread: Spread) -> Self {
        Self {
            median_pct: spread.median,
            p75_pct: spread.p75,
            p90_pct: spread.p90,
        }
    }
}
