//! From files to an analysis report.

use crate::{Error, Exit, Input, Progress, input};
use tier6_fit::{
    AnalysisOptions, Finding, KnownPoint, Loss, Prediction, Predictor, SeriesAnalysis, SetSeries,
    findings_together,
};
use tier6_measure::{
    Correctness, Dataset, Parsed, Placement, ReadError, ReadOptions, RunEnd, Selection,
};
use tier6_report::{AnalysisReport, InputReport, RunReport, SeriesReport, Status};
use tier6_units::{Bytes, SizeRange};

/// What to analyse, and how.
#[derive(Debug, Clone)]
pub struct AnalyzeRequest {
    /// Files, folders, patterns; `-` for standard input.
    pub files: Vec<String>,
    /// NCCL logs that tell which path ran.
    pub logs: Vec<String>,
    /// What the inputs do not say themselves.
    pub reading: ReadOptions,
    /// Limits of the model.
    pub options: AnalysisOptions,
    /// The loss that is shown first.
    pub loss: Loss,
    /// One more range to fit a line to.
    pub range: Option<(Bytes, Bytes)>,
    /// Sizes to predict.
    pub predict: Option<SizeRange>,
    /// The only placement to show; `None` for both.
    pub placement: Option<Placement>,
}

/// An analysis, and the inputs that could not be part of it.
#[derive(Debug)]
pub struct Analyzed {
    /// The report.
    pub report: AnalysisReport,
    /// Inputs that could not be read.
    pub failures: Vec<Error>,
    /// Files of folders and patterns that are no measurements.
    pub ignored: Vec<String>,
}

impl Analyzed {
    /// Returns the exit code: wrong data first, then unreadable inputs.
    pub fn exit(&self) -> Exit {
        match (self.report.status, self.failures.is_empty()) {
            (Status::Failed, _) => Exit::No,
            (Status::Ok, false) => Exit::Input,
            (Status::Ok, true) => Exit::Done,
        }
    }
}

/// Reads all inputs and analyses every series in them.
///
/// # Errors
///
/// When no input can be read, or none holds a measured size. Where some can be read, the
/// errors of the others are part of the answer.
pub fn analyze(request: &AnalyzeRequest, progress: &mut dyn Progress) -> Result<Analyzed, Error> {
    let selections = read_logs(&request.logs, progress)?;
    let mut inputs = Inputs::read(&request.files, &request.reading, progress)?;
    let mut report = empty_report(request.loss);
    for (input, parsed) in &inputs.read {
        add_input(
            &mut report,
            &input.name(),
            parsed,
            &selections,
            &request.series(),
        );
    }
    report.findings = together(&report, &inputs.read, &request.options);
    if report.series.is_empty() {
        return Err(inputs
            .failures
            .pop()
            .unwrap_or_else(|| nothing_measured(&inputs.read)));
    }
    Ok(Analyzed {
        report,
        failures: inputs.failures,
        ignored: inputs.ignored,
    })
}

/// The inputs of a use case as far as they could be read.
pub(crate) struct Inputs {
    pub(crate) read: Vec<(Input, Parsed<Dataset>)>,
    pub(crate) failures: Vec<Error>,
    ignored: Vec<String>,
}

impl Inputs {
    pub(crate) fn read(
        files: &[String],
        options: &ReadOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, Error> {
        let mut inputs = Self {
            read: Vec::new(),
            failures: Vec::new(),
            ignored: Vec::new(),
        };
        for file in input::expand(files)? {
            match (input::read(&file, options, progress), &file) {
                (Ok(parsed), Input::Found(_)) if is_bare(&parsed.value) => {
                    inputs.ignored.push(file.name());
                }
                (Ok(parsed), _) => inputs.read.push((file, parsed)),
                (
                    Err(Error::Read {
                        source:
                            ReadError::NotRecognised { .. }
                            | ReadError::NotDialect { .. }
                            | ReadError::Packed { .. }
                            | ReadError::Empty,
                        ..
                    }),
                    Input::Found(_),
                ) => inputs.ignored.push(file.name()),
                (Err(error), _) => inputs.failures.push(error),
            }
        }
        Ok(inputs)
    }
}

/// Says whether neither a measured size nor a choice of NCCL is in the data: a text that merely
/// looks like a benchmark's.
fn is_bare(dataset: &Dataset) -> bool {
    dataset.trace.selections.is_empty()
        && dataset
            .runs
            .iter()
            .flat_map(|run| &run.series)
            .all(|series| series.points.is_empty())
}

fn read_logs(logs: &[String], progress: &mut dyn Progress) -> Result<Vec<Selection>, Error> {
    let mut selections = Vec::new();
    for log in input::expand(logs)? {
        let parsed = input::read(&log, &ReadOptions::default(), progress)?;
        if parsed.value.trace.selections.is_empty() {
            return Err(Error::NothingMeasured {
                inputs: format!("the log `{}`: no TUNING line", log.name()),
                instead: Some("run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING".to_owned()),
            });
        }
        selections.extend(parsed.value.trace.selections);
    }
    Ok(selections)
}

/// Returns the report of one data set that is already read.
pub(crate) fn report_of(
    name: &str,
    parsed: &Parsed<Dataset>,
    loss: Loss,
    request: &SeriesRequest,
) -> AnalysisReport {
    let mut report = empty_report(loss);
    add_input(&mut report, name, parsed, &[], request);
    report
}

/// What is asked of each series.
pub(crate) struct SeriesRequest<'a> {
    pub(crate) options: AnalysisOptions,
    pub(crate) range: Option<(Bytes, Bytes)>,
    pub(crate) predict: Option<&'a SizeRange>,
    pub(crate) placement: Option<Placement>,
}

impl AnalyzeRequest {
    fn series(&self) -> SeriesRequest<'_> {
        SeriesRequest {
            options: self.options,
            range: self.range,
            predict: self.predict.as_ref(),
            placement: self.placement,
        }
    }
}

fn empty_report(loss: Loss) -> AnalysisReport {
    AnalysisReport {
        inputs: Vec::new(),
        status: Status::Ok,
        loss,
        series: Vec::new(),
        findings: Vec::new(),
    }
}

fn add_input(
    report: &mut AnalysisReport,
    name: &str,
    parsed: &Parsed<Dataset>,
    selections: &[Selection],
    request: &SeriesRequest,
) {
    let dataset = &parsed.value;
    let index = report.inputs.len();
    report.inputs.push(input_report(name, parsed));
    // A log that the user names speaks before lines that happen to stand in the input.
    let selections = if selections.is_empty() {
        &dataset.trace.selections
    } else {
        selections
    };
    for (run_index, run) in dataset.runs.iter().enumerate() {
        if run.correctness() == Correctness::Failed || matches!(run.end, RunEnd::Aborted { .. }) {
            report.status = Status::Failed;
        }
        let analyses = tier6_fit::analyze_run(run, run_index, selections, &request.options);
        for analysis in analyses
            .iter()
            .filter(|analysis| !analysis.points.is_empty())
            .filter(|analysis| {
                request
                    .placement
                    .is_none_or(|only| analysis.placement == only)
            })
        {
            let mut series = SeriesReport::new(index, analysis.clone());
            series.predictions = predictions(analysis, &analyses, request.predict);
            if let Some((first, last)) = request.range {
                for loss in [Loss::Relative, Loss::Absolute] {
                    let fit = tier6_fit::fit_range(&analysis.points, first, last, loss);
                    series.analysis.fits.push(fit);
                }
            }
            report.series.push(series);
        }
    }
}

/// The most files that a user is taken to name one by one; more were likely expanded by a shell.
const NAMED_FILES_MAX: usize = 16;

/// Collects what series say together: of all inputs when each is a file that the user named,
/// else of each input alone, since a folder may hold measurements of many machines.
fn together(
    report: &AnalysisReport,
    inputs: &[(Input, Parsed<Dataset>)],
    options: &AnalysisOptions,
) -> Vec<Finding> {
    let of = |chosen: &dyn Fn(usize) -> bool| {
        let series = report.series.iter().filter(|series| chosen(series.input));
        let set: Vec<SetSeries> = series
            .filter_map(|series| {
                Some(SetSeries {
                    analysis: &series.analysis,
                    setup: &report.run_of(series)?.setup,
                })
            })
            .collect();
        findings_together(&set, options)
    };
    let is_named = |(input, _): &(Input, Parsed<Dataset>)| !matches!(input, Input::Found(_));
    if inputs.len() <= NAMED_FILES_MAX && inputs.iter().all(is_named) {
        return of(&|_| true);
    }
    let mut found: Vec<Finding> = Vec::new();
    for (index, (input, _)) in inputs.iter().enumerate() {
        found.extend(
            of(&|chosen| chosen == index)
                .into_iter()
                .map(|finding| Finding {
                    message: format!("{}: {}", input.name(), finding.message),
                    ..finding
                }),
        );
    }
    found.sort_by_key(|finding| finding.severity);
    found
}

/// Predicts the sizes asked for; none where the points are too few.
fn predictions(
    analysis: &SeriesAnalysis,
    run: &[SeriesAnalysis],
    sizes: Option<&SizeRange>,
) -> Vec<Prediction> {
    let Some(sizes) = sizes else {
        return Vec::new();
    };
    let other = run
        .iter()
        .find(|other| analysis.is_other_placement_of(other));
    let points = KnownPoint::all_of(analysis, other);
    Predictor::fit(&points).map_or_else(
        |_| Vec::new(),
        |predictor| {
            sizes
                .sizes()
                .iter()
                .map(|bytes| predictor.predict(*bytes))
                .collect()
        },
    )
}

/// Says what was read of one input.
pub(crate) fn input_report(name: &str, parsed: &Parsed<Dataset>) -> InputReport {
    InputReport {
        path: name.to_owned(),
        dialect: parsed.value.dialect,
        rows: parsed.value.runs.iter().map(|run| run.rows).sum(),
        warnings: parsed.warnings.clone(),
        runs: parsed.value.runs.iter().map(RunReport::from).collect(),
    }
}

fn nothing_measured(read: &[(Input, Parsed<Dataset>)]) -> Error {
    let names: Vec<String> = read
        .iter()
        .map(|(input, _)| format!("`{}`", input.name()))
        .collect();
    let choices: Vec<&Selection> = read
        .iter()
        .flat_map(|(_, parsed)| &parsed.value.trace.selections)
        .collect();
    let instead = if choices.is_empty() {
        let warning = read.iter().flat_map(|(_, parsed)| &parsed.warnings).next();
        warning.map(|warning| format!("the reader said: {warning}"))
    } else {
        Some(format!(
            "it holds NCCL's choices ({}); give the benchmark's table as FILE and this with `--log`",
            ranges(choices)
        ))
    };
    Error::NothingMeasured {
        inputs: names.join(", "),
        instead,
    }
}

/// Returns `tree+ll 128 B to 8 KiB, ring+simple 8 GiB`: runs of sizes on one path.
fn ranges(mut choices: Vec<&Selection>) -> String {
    choices.sort_by_key(|choice| (choice.collective, choice.bytes));
    let runs = choices.chunk_by(|a, b| a.collective == b.collective && a.path == b.path);
    let text = |run: &[&Selection]| {
        let collective = run[0]
            .collective
            .map_or(String::new(), |collective| format!("{collective} "));
        let (first, last) = (run[0].bytes, run[run.len() - 1].bytes);
        let last = if first == last {
            String::new()
        } else {
            format!(" to {last}")
        };
        format!("{collective}{} {first}{last}", run[0].path)
    };
    runs.map(text).collect::<Vec<_>>().join(", ")
}
