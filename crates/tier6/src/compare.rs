//! A new run against a baseline.

use crate::analyze::{Inputs, input_report};
use crate::{Error, Exit, Form, Input, Progress};
use tier6_fit::{
    AnalysisOptions, CompareOptions, ComparedRun, ComparisonVerdict, Loss, SeriesAnalysis,
    analyze_run, compare as compare_series,
};
use tier6_measure::{Dataset, Parsed, Placement, ReadOptions, Run, Series};
use tier6_report::{
    ComparedSeries, ComparisonReport, SeriesReport, comparison_csv, comparison_html,
    comparison_json, comparison_markdown, comparison_svg, comparison_table,
};

/// What to compare, and how.
#[derive(Debug, Clone)]
pub struct CompareRequest {
    /// File, folder or pattern of the baseline.
    pub base: String,
    /// File, folder or pattern of the run in question.
    pub new: String,
    /// What the inputs do not say themselves.
    pub reading: ReadOptions,
    /// Limits of the model.
    pub options: AnalysisOptions,
    /// What counts as a change.
    pub change: CompareOptions,
    /// The loss whose fits are drawn.
    pub loss: Loss,
    /// The only placement to compare; `None` for both.
    pub placement: Option<Placement>,
}

/// One series of one side with everything that a comparison asks of it.
struct Side<'a> {
    input: usize,
    run: &'a Run,
    series: &'a Series,
    analysis: SeriesAnalysis,
}

/// Compares every series that both sides have.
///
/// # Errors
///
/// When an input cannot be read, or the sides have no series in common.
pub fn compare(
    request: &CompareRequest,
    progress: &mut dyn Progress,
) -> Result<ComparisonReport, Error> {
    let base_inputs = read_side(&request.base, request, progress)?;
    let new_inputs = read_side(&request.new, request, progress)?;
    let base_sides = sides(&base_inputs, request);
    let mut new_sides = sides(&new_inputs, request);
    let mut report = ComparisonReport {
        baseline: reports(&base_inputs),
        new: reports(&new_inputs),
        verdict: ComparisonVerdict::Unchanged,
        loss: request.loss,
        series: Vec::new(),
        not_compared: Vec::new(),
    };
    let mut paired: Vec<String> = Vec::new();
    for base in base_sides {
        let Some(index) = new_sides
            .iter()
            .position(|new| is_same_call(base.series, new.series))
        else {
            report
                .not_compared
                .push(alone(base.series, "baseline", &paired));
            continue;
        };
        let new = new_sides.remove(index);
        match compare_series(&compared(&base), &compared(&new), &request.change) {
            Ok(comparison) => {
                paired.push(name(base.series));
                report.series.push(ComparedSeries {
                    baseline: SeriesReport::new(base.input, base.analysis),
                    new: SeriesReport::new(new.input, new.analysis),
                    comparison,
                });
            }
            Err(error) => report
                .not_compared
                .push(format!("{}: {error}", name(base.series))),
        }
    }
    for new in new_sides {
        report
            .not_compared
            .push(alone(new.series, "new run", &paired));
    }
    if report.series.is_empty() {
        return Err(Error::NothingInCommon(report.not_compared.join("; ")));
    }
    report.verdict = overall(&report.series);
    Ok(report)
}

/// Returns the exit code of a comparison.
pub fn comparison_exit(report: &ComparisonReport) -> Exit {
    match report.verdict {
        ComparisonVerdict::Failed | ComparisonVerdict::Regressed => Exit::No,
        ComparisonVerdict::Undecided
        | ComparisonVerdict::Improved
        | ComparisonVerdict::Unchanged => Exit::Done,
    }
}

/// Renders a comparison.
pub fn render_comparison(report: &ComparisonReport, form: Form) -> String {
    match form {
        Form::Table(style, detail) => comparison_table(report, style, detail),
        Form::Json => comparison_json(report),
        Form::Csv => comparison_csv(report),
        Form::Markdown => comparison_markdown(report),
        Form::Svg => comparison_svg(report),
        Form::Html => comparison_html(report),
    }
}

fn read_side(
    argument: &str,
    request: &CompareRequest,
    progress: &mut dyn Progress,
) -> Result<Vec<(Input, Parsed<Dataset>)>, Error> {
    let mut inputs = Inputs::read(&[argument.to_owned()], &request.reading, progress)?;
    // A verdict on half of the data would be a wrong one.
    if let Some(error) = inputs.failures.pop() {
        return Err(error);
    }
    let measured = |(_, parsed): &(Input, Parsed<Dataset>)| {
        parsed.value.runs.iter().any(|run| !run.series.is_empty())
    };
    if !inputs.read.iter().any(measured) {
        return Err(Error::NothingMeasured {
            inputs: format!("`{argument}`"),
            instead: None,
        });
    }
    Ok(inputs.read)
}

fn reports(inputs: &[(Input, Parsed<Dataset>)]) -> Vec<tier6_report::InputReport> {
    inputs
        .iter()
        .map(|(input, parsed)| input_report(&input.name(), parsed))
        .collect()
}

fn sides<'a>(inputs: &'a [(Input, Parsed<Dataset>)], request: &CompareRequest) -> Vec<Side<'a>> {
    let wanted = |series: &Series| {
        !series.points.is_empty()
            && request
                .placement
                .is_none_or(|only| series.placement == only)
    };
    let mut sides = Vec::new();
    for (input, (_, parsed)) in inputs.iter().enumerate() {
        let trace = &parsed.value.trace.selections;
        for (index, run) in parsed.value.runs.iter().enumerate() {
            let analyses = analyze_run(run, index, trace, &request.options);
            for (series, analysis) in run.series.iter().zip(analyses) {
                if wanted(series) {
                    sides.push(Side {
                        input,
                        run,
                        series,
                        analysis,
                    });
                }
            }
        }
    }
    sides
}

fn compared<'a>(side: &'a Side<'a>) -> ComparedRun<'a> {
    ComparedRun {
        series: side.series,
        analysis: &side.analysis,
        setup: &side.run.setup,
        correctness: side.run.correctness(),
        end: &side.run.end,
    }
}

/// Says whether two series measure the same call; what one of them does not say is no difference.
fn is_same_call(base: &Series, new: &Series) -> bool {
    fn agree<T: PartialEq + Copy>(base: Option<T>, new: Option<T>) -> bool {
        base.is_none() || new.is_none() || base == new
    }
    base.placement == new.placement
        && agree(base.collective, new.collective)
        && agree(base.datatype, new.datatype)
        && agree(base.redop, new.redop)
        && agree(base.root, new.root)
        && agree(base.ranks.exact(), new.ranks.exact())
}

/// Says that a series has no partner on the other side.
fn alone(series: &Series, side: &str, paired: &[String]) -> String {
    let name = name(series);
    if paired.contains(&name) {
        format!("{name}: one more run of it in the {side}; runs are compared in pairs")
    } else {
        format!("{name}: only in the {side}")
    }
}

fn name(series: &Series) -> String {
    let collective = series
        .collective
        .map_or("unknown collective", tier6_collective::Collective::name);
    let ranks = series
        .ranks
        .exact()
        .map_or(String::new(), |ranks| format!(" on {ranks} ranks"));
    format!("{collective}{ranks}, {}", series.placement)
}

fn overall(series: &[ComparedSeries]) -> ComparisonVerdict {
    use ComparisonVerdict::{Failed, Improved, Regressed, Unchanged, Undecided};
    [Failed, Regressed, Undecided, Improved]
        .into_iter()
        .find(|verdict| {
            series
                .iter()
                .any(|series| series.comparison.verdict == *verdict)
        })
        .unwrap_or(Unchanged)
}
