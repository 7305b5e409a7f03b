//! `tier6.analysis/1`: the contract of the command line as types. A number that is not finite
//! becomes `null`; fields beyond the contract are additions.

use crate::report::{AnalysisReport, InputReport, RunReport, SeriesReport};
use serde::Serialize;
use tier6_collective::Path;
use tier6_fit::{
    Finding, Fit, Interval, LatencyRegion, PointSummary, Prediction, Regions, ResidualFinding,
    Saturation, Switch,
};
use tier6_measure::{Correctness, Ranks, RunEnd, Warning};

/// Returns the report as JSON of schema `tier6.analysis/1`, indented, with a final newline.
pub fn analysis_json(report: &AnalysisReport) -> String {
    let dto = AnalysisDto {
        schema: "tier6.analysis/1",
        inputs: report.inputs.iter().map(InputDto::new).collect(),
        status: report.status.name(),
        series: report.series.iter().map(SeriesDto::new).collect(),
        findings: report.findings.iter().map(FindingDto::new).collect(),
    };
    pretty(&dto)
}

/// Returns a value as indented JSON with a final newline.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value)
        .expect("Invariant: our values have text keys and no failing serialisers");
    text + "\n"
}

#[derive(Serialize)]
struct AnalysisDto<'a> {
    schema: &'static str,
    inputs: Vec<InputDto<'a>>,
    status: &'static str,
    series: Vec<SeriesDto<'a>>,
    findings: Vec<FindingDto<'a>>,
}

#[derive(Serialize)]
struct InputDto<'a> {
    path: &'a str,
    dialect: &'static str,
    rows: u64,
    warnings: Vec<WarningDto<'a>>,
    runs: Vec<RunDto>,
}

#[derive(Serialize)]
struct WarningDto<'a> {
    code: &'static str,
    line: Option<u64>,
    message: &'a str,
}

#[derive(Serialize)]
struct RunDto {
    first_line: u64,
    rows: u64,
    correctness: &'static str,
    end: &'static str,
    library_version: Option<String>,
    cycles: Option<u32>,
    average_busbw_gbs: Option<f64>,
}

#[derive(Serialize)]
struct SeriesDto<'a> {
    collective: Option<&'static str>,
    ranks: Option<u32>,
    nodes: Option<u32>,
    datatype: Option<&'static str>,
    redop: Option<&'static str>,
    placement: &'static str,
    points: Vec<PointDto>,
    fits: Vec<FitDto<'a>>,
    switches: Vec<SwitchDto>,
    regions: RegionsDto,
    residuals: Vec<ResidualDto<'a>>,
    findings: Vec<FindingDto<'a>>,
    ranks_range: Option<[u32; 2]>,
    predictions: Vec<PredictionDto>,
    input: usize,
    run: usize,
}

#[derive(Serialize)]
struct PredictionDto {
    bytes: u64,
    time_us: f64,
    low_us: Option<f64>,
    high_us: Option<f64>,
    evidence: &'static str,
    grounds: String,
}

#[derive(Serialize)]
struct PathDto {
    algorithm: &'static str,
    protocol: &'static str,
}

#[derive(Serialize)]
struct PointDto {
    bytes: u64,
    samples: u32,
    median_us: f64,
    p95_us: Option<f64>,
    cv_pct: Option<f64>,
    stable: Option<bool>,
    wrong: Option<u64>,
    algbw_gbs: f64,
    busbw_gbs: Option<f64>,
    path: Option<PathDto>,
    tuner_us: Option<f64>,
    tuner_error_pct: Option<f64>,
    wire_gbs: Option<f64>,
    excluded: Option<&'static str>,
}

#[derive(Serialize)]
struct FitDto<'a> {
    label: String,
    basis: &'static str,
    loss: &'static str,
    first_bytes: u64,
    last_bytes: u64,
    points: u32,
    alpha_us: Option<f64>,
    beta_gbs: Option<f64>,
    alpha_ci_us: Option<[f64; 2]>,
    beta_ci_gbs: Option<[f64; 2]>,
    r2: Option<f64>,
    mape_pct: Option<f64>,
    max_error_pct: Option<f64>,
    rmspe_pct: Option<f64>,
    verdict: &'static str,
    why: &'a str,
    max_error_bytes: Option<u64>,
    held_out_rmspe_pct: Option<f64>,
}

#[derive(Serialize)]
struct SwitchDto {
    bytes: u64,
    from: String,
    to: String,
    basis: &'static str,
}

#[derive(Serialize)]
struct RegionsDto {
    latency: Option<LatencyDto>,
    saturation: Option<SaturationDto>,
}

#[derive(Serialize)]
struct LatencyDto {
    first_bytes: u64,
    last_bytes: u64,
    low_us: f64,
    high_us: f64,
}

#[derive(Serialize)]
struct SaturationDto {
    threshold_pct: f64,
    entry_bytes: u64,
    peak_algbw_gbs: f64,
}

#[derive(Serialize)]
struct ResidualDto<'a> {
    fit: String,
    pattern: &'static str,
    evidence: &'a str,
    suspects: &'static str,
}

#[derive(Serialize)]
struct FindingDto<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
}

impl<'a> InputDto<'a> {
    fn new(input: &'a InputReport) -> Self {
        Self {
            path: &input.path,
            dialect: input.dialect.name(),
            rows: input.rows,
            warnings: input.warnings.iter().map(WarningDto::new).collect(),
            runs: input.runs.iter().map(RunDto::new).collect(),
        }
    }
}

impl<'a> WarningDto<'a> {
    fn new(warning: &'a Warning) -> Self {
        Self {
            code: warning.code.name(),
            line: warning.line,
            message: &warning.message,
        }
    }
}

impl RunDto {
    fn new(run: &RunReport) -> Self {
        let footer = run.footer.as_ref();
        Self {
            first_line: run.first_line,
            rows: run.rows,
            correctness: match run.correctness {
                Correctness::Passed => "passed",
                Correctness::Failed => "failed",
                Correctness::NotChecked => "not_checked",
                Correctness::NotStated => "not_stated",
            },
            end: match run.end {
                RunEnd::Complete => "complete",
                RunEnd::Unfinished => "unfinished",
                RunEnd::Aborted { .. } => "aborted",
                RunEnd::NotStated => "not_stated",
            },
            library_version: run.setup.library_version.map(|version| version.to_string()),
            cycles: run.setup.cycles,
            average_busbw_gbs: footer.and_then(|footer| Some(footer.average_busbw?.get())),
        }
    }
}

impl PredictionDto {
    fn new(prediction: &Prediction) -> Self {
        Self {
            bytes: prediction.bytes.get(),
            time_us: prediction.time.get(),
            low_us: prediction.band.map(|band| band.low.get()),
            high_us: prediction.band.map(|band| band.high.get()),
            evidence: prediction.evidence.name(),
            grounds: prediction.grounds.to_string(),
        }
    }
}

impl<'a> SeriesDto<'a> {
    fn new(series: &'a SeriesReport) -> Self {
        let analysis = &series.analysis;
        Self {
            collective: analysis.collective.map(tier6_collective::Collective::name),
            ranks: analysis.ranks.exact(),
            nodes: analysis.nodes,
            datatype: analysis.datatype.map(tier6_collective::DataType::name),
            redop: analysis.redop.map(tier6_collective::RedOp::name),
            placement: analysis.placement.name(),
            points: analysis.points.iter().map(PointDto::new).collect(),
            fits: analysis.fits.iter().map(FitDto::new).collect(),
            switches: analysis.switches.iter().map(SwitchDto::new).collect(),
            regions: RegionsDto::new(&analysis.regions),
            residuals: analysis.residuals.iter().map(ResidualDto::new).collect(),
            findings: analysis.findings.iter().map(FindingDto::new).collect(),
            ranks_range: match analysis.ranks {
                Ranks::Estimated { low, high } => Some([low, high]),
                Ranks::Stated(_) | Ranks::Unknown => None,
            },
            predictions: series.predictions.iter().map(PredictionDto::new).collect(),
            input: series.input,
            run: analysis.run,
        }
    }
}

impl<'a> FindingDto<'a> {
    fn new(finding: &'a Finding) -> Self {
        Self {
            severity: finding.severity.name(),
            code: finding.code,
            message: &finding.message,
        }
    }
}

impl PathDto {
    const fn new(path: Path) -> Self {
        Self {
            algorithm: path.algorithm.name(),
            protocol: path.protocol.name(),
        }
    }
}

impl PointDto {
    fn new(point: &PointSummary) -> Self {
        Self {
            bytes: point.bytes.get(),
            samples: point.samples,
            median_us: point.median.get(),
            p95_us: point.p95.map(tier6_units::Micros::get),
            cv_pct: point.cv_pct,
            stable: point.stable,
            wrong: point.wrong,
            algbw_gbs: point.algbw.get(),
            busbw_gbs: point.busbw.map(tier6_units::GbPerSec::get),
            path: point.path.map(PathDto::new),
            tuner_us: point.tuner.map(tier6_units::Micros::get),
            tuner_error_pct: point.tuner_error_pct,
            wire_gbs: point.wire.map(tier6_units::GbPerSec::get),
            excluded: point.excluded.map(tier6_fit::Exclusion::name),
        }
    }
}

/// Returns both ends of an interval; `None` unless both are finite.
pub(crate) fn ends(interval: Option<Interval>) -> Option<[f64; 2]> {
    let Interval { low, high } = interval?;
    (low.is_finite() && high.is_finite()).then_some([low, high])
}

impl<'a> FitDto<'a> {
    fn new(fit: &'a Fit) -> Self {
        Self {
            label: fit.label.to_string(),
            basis: fit.basis.name(),
            loss: fit.loss.name(),
            first_bytes: fit.first.get(),
            last_bytes: fit.last.get(),
            points: fit.points,
            alpha_us: fit.line.map(|line| line.alpha.get()),
            beta_gbs: fit.line.map(|line| line.beta.get()),
            alpha_ci_us: ends(fit.alpha_ci),
            beta_ci_gbs: ends(fit.beta_ci),
            r2: fit.r2,
            mape_pct: fit.mape_pct,
            max_error_pct: fit.max_error.map(|(error, _)| error),
            rmspe_pct: fit.rmspe_pct,
            verdict: fit.verdict.name(),
            why: &fit.why,
            max_error_bytes: fit.max_error.map(|(_, bytes)| bytes.get()),
            held_out_rmspe_pct: fit.held_out_rmspe_pct,
        }
    }
}

impl SwitchDto {
    fn new(switch: &Switch) -> Self {
        Self {
            bytes: switch.bytes.get(),
            from: switch.from.to_string(),
            to: switch.to.to_string(),
            basis: switch.basis.name(),
        }
    }
}

impl RegionsDto {
    fn new(regions: &Regions) -> Self {
        let latency = |region: LatencyRegion| LatencyDto {
            first_bytes: region.first.get(),
            last_bytes: region.last.get(),
            low_us: region.low.get(),
            high_us: region.high.get(),
        };
        let saturation = |saturation: Saturation| SaturationDto {
            threshold_pct: saturation.threshold_pct,
            entry_bytes: saturation.entry.get(),
            peak_algbw_gbs: saturation.peak_algbw.get(),
        };
        Self {
            latency: regions.latency.map(latency),
            saturation: regions.saturation.map(saturation),
        }
    }
}

impl<'a> ResidualDto<'a> {
    fn new(finding: &'a ResidualFinding) -> Self {
        Self {
            fit: finding.fit.to_string(),
            pattern: finding.pattern.name(),
            evidence: &finding.evidence,
            suspects: finding.suspects,
        }
    }
}
