//! NCCL's predictions and choices against measurements.

use super::Tuner;
use super::choose::no_charts;
use super::load::TunerRequest;
use super::source::{Reference, load, load_log, reference};
use super::sweep::{ReadSweeps, read_sweeps};
use crate::{Error, Exit, Form, Progress};
use std::collections::{BTreeMap, BTreeSet};
use tier6_measure::{ReadOptions, Selection};
use tier6_nccl::{Candidate, NcclAlgorithm, Release, Settings, read_log};
use tier6_report::{
    AuditReport, AuditedCall, AuditedRun, TunerSubject, audit_csv, audit_json, audit_markdown,
    audit_table,
};
use tier6_study::{
    ChoiceVerdict, Predictions, Sweep, audit_choices, group_sweeps, predicted_against_measured,
    prediction_accuracy,
};
use tier6_units::Micros;

/// What to audit, and by what.
#[derive(Debug, Clone)]
pub struct AuditRequest<'a> {
    /// Where predictions come from: a log, a graph, a communicator, a system, or choices that
    /// were written as CSV.
    pub reference: &'a str,
    /// Measurements.
    pub files: &'a [String],
    /// What the reference does not say; its own input is not used.
    pub tuner: TunerRequest,
    /// What the measurements do not say.
    pub reading: &'a ReadOptions,
}

/// Where predicted times come from.
struct Source {
    tuner: Option<Tuner>,
    selections: Vec<Selection>,
    choices: BTreeMap<u64, (Candidate, f64)>,
    name: String,
}

/// Audits measurements.
///
/// # Errors
///
/// When an input cannot be read, or nothing predicts the measured sizes.
pub fn audit(
    request: &AuditRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<(AuditReport, Vec<Error>), Error> {
    let referred = reference(request.reference, None)?;
    let selections = match &referred {
        Reference::Log(text) => selections(text, request.reading),
        _ => Vec::new(),
    };
    let ReadSweeps {
        sweeps,
        version: measured_version,
        failures,
        variables,
    } = read_sweeps(request.files, &selections, request.reading, progress)?;
    let mut tuner_request = request.tuner.clone();
    let source = source(
        request,
        &mut tuner_request,
        referred,
        measured_version,
        selections,
    )?;
    let runs: Vec<AuditedRun> = sweeps.iter().map(|sweep| audited(sweep, &source)).collect();
    let calls = calls(&sweeps, source.tuner.as_ref());
    if calls.is_empty() && runs.iter().all(|run| run.sizes.is_empty()) {
        return Err(Error::Nothing {
            message: format!(
                "`{}` predicts none of the measured sizes",
                request.reference
            ),
            hint: Some(
                "a log needs lines of NCCL's choices with times (2.20 to 2.23), or graphs"
                    .to_owned(),
            ),
        });
    }
    let subject = source.tuner.map(|tuner| tuner.subject);
    let subject = subject.map(|mut subject| {
        let mut notes = other_scales(&sweeps, &subject);
        notes.extend(other_environments(&variables, &request.tuner.env));
        subject.notes.extend(notes);
        subject
    });
    let report = AuditReport {
        reference: source.name,
        subject,
        runs,
        calls,
    };
    Ok((report, failures))
}

/// Says which measurements are of other ranks or nodes than the predictions.
fn other_scales(sweeps: &[Sweep], subject: &TunerSubject) -> Vec<String> {
    let own = (subject.ranks, subject.nodes);
    let others: BTreeSet<(u32, u32)> = sweeps
        .iter()
        .filter_map(|sweep| Some((sweep.ranks?, sweep.nodes?)))
        .filter(|&(ranks, nodes)| {
            (i64::from(ranks), i64::from(nodes)) != (own.0.into(), own.1.into())
        })
        .collect();
    let scale = |ranks: i64, nodes: i64| {
        let plural = |n: i64| if n == 1 { "" } else { "s" };
        format!(
            "{ranks} rank{} on {nodes} node{}",
            plural(ranks),
            plural(nodes)
        )
    };
    let say = |(ranks, nodes): (u32, u32)| {
        format!(
            "measured: {}; predicted: {}; the errors say nothing of the model",
            scale(ranks.into(), nodes.into()),
            scale(own.0.into(), own.1.into())
        )
    };
    others.into_iter().map(say).collect()
}

/// Says which variables of the tuner a run was measured under that the predictions leave out.
fn other_environments(stated: &[(String, String)], given: &[(String, String)]) -> Vec<String> {
    let left_out = stated.iter().filter(|(_, variable)| {
        let name = variable.split('=').next().unwrap_or_default();
        Settings::reads(name, Release::newest()) && given.iter().all(|(given, _)| given != name)
    });
    left_out
        .map(|(label, variable)| {
            format!("`{label}` was measured under {variable}; `--env {variable}` predicts with it")
        })
        .collect()
}

/// Returns the choices that a log prints; none where it prints none.
fn selections(text: &str, reading: &ReadOptions) -> Vec<Selection> {
    tier6_measure::read(text.as_bytes(), reading)
        .map(|parsed| parsed.value.trace.selections)
        .unwrap_or_default()
}

fn source(
    request: &AuditRequest<'_>,
    tuner_request: &mut TunerRequest,
    referred: Reference,
    measured: Option<tier6_nccl::LibraryVersion>,
    selections: Vec<Selection>,
) -> Result<Source, Error> {
    let name = request.reference.to_owned();
    let mut source = Source {
        tuner: None,
        selections,
        choices: BTreeMap::new(),
        name,
    };
    match referred {
        Reference::Communicator(input) => {
            // Without a version of its own the reference is of the measured run's.
            tuner_request.nccl = tuner_request.nccl.or(measured);
            source.tuner = Some(load(input, tuner_request)?);
        }
        Reference::Log(text) => {
            let has_communicator = !read_log(&text).communicators.is_empty();
            if has_communicator || source.selections.is_empty() {
                source.tuner = Some(load_log(request.reference, &text, tuner_request)?);
            }
        }
        Reference::Choices(text) => source.choices = choices(request.reference, &text)?,
        Reference::Version(_) | Reference::Config(_) => {
            return Err(Error::Usage {
                message: format!("`{}` does not predict times", request.reference),
                hint: Some(
                    "the first argument is a log, a graph file, a communicator, a system, or choices \
                     of `tier6 tuner choose -o choices.csv`"
                        .to_owned(),
                ),
            });
        }
    }
    Ok(source)
}

/// Reads `nccl,collective,bytes,algorithm,protocol,time_us,...`.
fn choices(path: &str, text: &str) -> Result<BTreeMap<u64, (Candidate, f64)>, Error> {
    let mut choices = BTreeMap::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let row = (|| {
            let candidate = Candidate {
                algorithm: NcclAlgorithm::ALL
                    .into_iter()
                    .find(|algorithm| Some(&algorithm.to_string().as_str()) == fields.get(3))?,
                protocol: fields.get(4)?.parse().ok()?,
            };
            let us: f64 = fields.get(5)?.parse().ok()?;
            Some((fields.get(2)?.parse().ok()?, (candidate, us)))
        })();
        match row {
            Some((bytes, choice)) => choices.insert(bytes, choice),
            // A size at which NCCL fails.
            None if fields.get(3) == Some(&"") => continue,
            None => {
                return Err(Error::Malformed {
                    path: path.to_owned(),
                    message: format!("line {}: expected a choice, found `{line}`", index + 1),
                    hint: None,
                });
            }
        };
    }
    Ok(choices)
}

fn audited(sweep: &Sweep, source: &Source) -> AuditedRun {
    let is_printed = sweep.points.iter().any(|point| point.predicted.is_some());
    let sizes = match &source.tuner {
        // What NCCL itself printed goes before what the model gives.
        Some(tuner) if source.selections.is_empty() || !is_printed => {
            predicted_against_measured(sweep, Predictions::Table(&tuner.table))
        }
        Some(_) => predicted_against_measured(sweep, Predictions::Carried),
        None if source.choices.is_empty() => {
            predicted_against_measured(sweep, Predictions::Carried)
        }
        None => {
            let told = with_choices(sweep, &source.choices);
            predicted_against_measured(&told, Predictions::Carried)
        }
    };
    AuditedRun {
        label: sweep.label.clone(),
        forced: sweep.forced.to_string(),
        collective: sweep.collective,
        ranks: sweep.ranks,
        nodes: sweep.nodes,
        accuracy: prediction_accuracy(&sizes),
        sizes,
    }
}

/// Returns the sweep with predictions from a file of choices.
fn with_choices(sweep: &Sweep, choices: &BTreeMap<u64, (Candidate, f64)>) -> Sweep {
    let mut told = sweep.clone();
    for point in &mut told.points {
        let choice = choices.get(&point.bytes.get());
        point.path = choice.map(|(candidate, _)| *candidate);
        point.predicted = choice.map(|(_, us)| Micros::new(*us));
    }
    told
}

/// Audits the choices of every call that has forced runs.
fn calls(sweeps: &[Sweep], tuner: Option<&Tuner>) -> Vec<AuditedCall> {
    let groups = group_sweeps(sweeps.to_vec()).into_iter();
    let forced = groups.filter(|group| group.iter().any(|sweep| !sweep.forced.is_nothing()));
    forced
        .map(|group| {
            let first = &group[0];
            let fits = |tuner: &&Tuner| {
                let count =
                    |n: Option<u32>, own: i32| n.is_none_or(|n| i64::from(n) == i64::from(own));
                count(first.ranks, tuner.subject.ranks) && count(first.nodes, tuner.subject.nodes)
            };
            let table = tuner.filter(fits).map(|tuner| &tuner.table);
            AuditedCall {
                collective: first.collective,
                ranks: first.ranks,
                nodes: first.nodes,
                audit: audit_choices(&group, table),
            }
        })
        .collect()
}

/// Returns the exit code of an audit: no, when a choice is wrong beyond noise. A wrong time is
/// no wrong choice.
pub fn audit_exit(report: &AuditReport) -> Exit {
    let sizes = report.calls.iter().flat_map(|call| &call.audit.sizes);
    if sizes
        .into_iter()
        .any(|size| size.verdict == ChoiceVerdict::Wrong)
    {
        Exit::No
    } else {
        Exit::Done
    }
}

/// Renders an audit.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_audit(report: &AuditReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(audit_table(report, style, detail)),
        Form::Json => Ok(audit_json(report)),
        Form::Csv => Ok(audit_csv(report)),
        Form::Markdown => Ok(audit_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}
