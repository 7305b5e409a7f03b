//! `tier6.validation/1`: errors are RMSPE in percent, `null` where a band has no points or the
//! engine has no answer.
//! Additions to the contract: `holdout`, `yardsticks`, `summary`, the same by `tiers` and, where
//! whole sweeps are held out, by the numbers of ranks that they come from, `excluded`,
//! per set what was left out, why an engine has no score, what the source documents claim, the
//! difference of placements, the coverage of the band and, where whole sweeps are held out, what
//! they were predicted from; per engine its `interval`.

use crate::analysis::json::pretty;
use serde::Serialize;
use std::collections::BTreeMap;
use tier6_study::{
    Cause, Coverage, Engine, EngineSummary, Errors, FromRanks, Group, Role, Score, SetValidation,
    Spread, Summary, ValidationReport, document_figures,
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
                cause: match set.cause {
                    Cause::KnownBad => "known_bad",
                    Cause::Scheme => "scheme",
                },
                reason: &set.reason,
            })
            .collect(),
        summary: SummaryDto::new(&report.summary),
        tiers: summaries(report, |group| matches!(group, Group::Tier(_))),
        from_ranks: summaries(report, |group| !matches!(group, Group::Tier(_))),
    })
}

/// Summaries of the groups of a kind, by name.
fn summaries(
    report: &ValidationReport,
    is_of_kind: impl Fn(Group) -> bool,
) -> BTreeMap<&'static str, SummaryDto> {
    let groups = report.groups.iter();
    let of_kind = groups.filter(|one| is_of_kind(one.group));
    of_kind
        .map(|one| (one.group.name(), SummaryDto::new(&one.summary)))
        .collect()
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    holdout: String,
    sets: Vec<SetDto<'a>>,
    excluded: Vec<ExcludedDto<'a>>,
    summary: SummaryDto,
    tiers: BTreeMap<&'static str, SummaryDto>,
    from_ranks: BTreeMap<&'static str, SummaryDto>,
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
    from_ranks: Option<FromRanksDto<'a>>,
}

#[derive(Serialize)]
struct FromRanksDto<'a> {
    family: &'a str,
    collective: &'static str,
    trained_on: &'a [String],
    trained_ranks: &'a [u32],
    ranks: u32,
    scale: f64,
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
    interval: Option<IntervalDto>,
}

#[derive(Serialize)]
struct IntervalDto {
    inside_pct: f64,
    factor: Option<f64>,
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
    cause: &'static str,
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
    sets: usize,
    in_sample: Option<SpreadDto>,
    held_out: Option<SpreadDto>,
    inside_pct: Option<f64>,
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
            band_coverage_pct: set
                .score(Engine::Fit)
                .and_then(|score| Some(score.interval?.inside_pct)),
            left_out: &set.left_out,
            unscored: &set.unscored,
            documents: document_figures(&set.id)
                .map(|figure| DocumentDto {
                    engine: figure.engine.name(),
                    band: figure.band.name(),
                    rmspe_pct: figure.rmspe_pct,
                })
                .collect(),
            from_ranks: set.from_ranks.as_ref().map(FromRanksDto::new),
        }
    }
}

impl<'a> FromRanksDto<'a> {
    fn new(from: &'a FromRanks) -> Self {
        Self {
            family: &from.family,
            collective: from.collective.name(),
            trained_on: &from.trained_on,
            trained_ranks: &from.trained_ranks,
            ranks: from.ranks,
            scale: from.scale(),
        }
    }
}

impl IntervalDto {
    fn new(interval: Coverage) -> Self {
        Self {
            inside_pct: interval.inside_pct,
            factor: interval.factor,
        }
    }
}

impl ScoreDto {
    fn new(score: &Score) -> Self {
        Self {
            in_sample: ErrorsDto::new(score.in_sample),
            held_out: ErrorsDto::new(score.held_out),
            interval: score.interval.map(IntervalDto::new),
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
            band_coverage_pct: summary.engine(Engine::Fit).and_then(|row| row.inside_pct),
        }
    }
}

impl EngineSummaryDto {
    fn new(row: &EngineSummary) -> Self {
        Self {
            sets: row.sets,
            in_sample: row.in_sample.map(SpreadDto::new),
            held_out: row.held_out.map(SpreadDto::new),
            inside_pct: row.inside_pct,
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
