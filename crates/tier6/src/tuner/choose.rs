//! What NCCL chooses for sizes, and how the times come about.

use super::Tuner;
use crate::{Error, Exit, Form};
use tier6_collective::{DataType, RedOp};
use tier6_nccl::{Call, Candidate, Entry, NcclCollective, TableBasis};
use tier6_report::{
    ExplainedCandidate, TableCell, TunerChoices, TunerExplanation, TunerView, WeighedCall,
    tuner_choices_csv, tuner_choices_json, tuner_choices_markdown, tuner_choices_table,
    tuner_explanation_csv, tuner_explanation_json, tuner_explanation_markdown,
    tuner_explanation_table,
};
use tier6_units::{Bytes, SizeRange};

/// The call that NCCL decides about, but for its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunerCall {
    /// The collective.
    pub collective: NcclCollective,
    /// The type of the elements.
    pub datatype: DataType,
    /// The operator.
    pub op: RedOp,
    /// Operations in one group, per channel.
    pub pipe_ops: u32,
}

impl TunerCall {
    /// Returns the call with a size, as the chooser sees it.
    pub fn with_bytes(&self, tuner: &Tuner, bytes: Bytes) -> Call {
        let communicator = tuner.table.communicator();
        let (datatype, op) = (self.datatype, self.op);
        Call::new(communicator, self.collective, bytes.get(), datatype, op)
            .with_pipe_ops(self.pipe_ops)
    }
}

/// Chooses for every size and lists every candidate.
pub fn weigh(tuner: &Tuner, call: &TunerCall, sizes: &SizeRange) -> TunerChoices {
    let table = &tuner.table;
    let calls = sizes.sizes().iter().map(|&bytes| {
        let call = call.with_bytes(tuner, bytes);
        WeighedCall {
            bytes,
            choice: table.choose(&call),
            entries: Candidate::all()
                .map(|candidate| (candidate, entry(tuner, &call, candidate)))
                .collect(),
        }
    });
    let cells = Candidate::all().map(|candidate| TableCell {
        candidate,
        latency_us: table.latency_us(call.collective, candidate),
        bandwidth_gbs: table.bandwidth_gbs(call.collective, candidate),
        threads_max: table.threads_max(candidate),
        why_not: table.why_not(call.collective, candidate),
    });
    TunerChoices {
        subject: tuner.subject.clone(),
        collective: call.collective,
        pipe_ops: call.pipe_ops,
        calls: calls.collect(),
        cells: cells.collect(),
    }
}

/// Returns a candidate's entry. The reason of the communicator, which holds for every call, goes
/// before that of the call.
fn entry(tuner: &Tuner, call: &Call, candidate: Candidate) -> Entry {
    let entry = tuner.table.entry(call, candidate);
    match (entry, tuner.table.why_not(call.collective, candidate)) {
        (Entry::Unavailable { marker, .. }, Some(why)) => Entry::Unavailable { why, marker },
        (entry, _) => entry,
    }
}

/// Returns the exit code of choices: no, when NCCL fails at some size.
pub fn choices_exit(report: &TunerChoices) -> Exit {
    if report.calls.iter().all(|call| call.choice.is_ok()) {
        Exit::Done
    } else {
        Exit::No
    }
}

/// Explains every candidate's time for one size.
pub fn explain_choice(tuner: &Tuner, call: &TunerCall, bytes: Bytes) -> TunerExplanation {
    let table = &tuner.table;
    let sized = call.with_bytes(tuner, bytes);
    let candidates = Candidate::all().map(|candidate| ExplainedCandidate {
        candidate,
        entry: entry(tuner, &sized, candidate),
        cell: match tuner.basis {
            TableBasis::Model | TableBasis::ModelEqualToLog => {
                table.explain_cell(call.collective, candidate)
            }
            // The numbers were printed; the model's terms lead elsewhere.
            TableBasis::Log => None,
        },
        call: table.explain_call(&sized, candidate),
        threads_max: table.threads_max(candidate),
        thread_threshold: table.thread_threshold(candidate),
    });
    TunerExplanation {
        subject: tuner.subject.clone(),
        collective: call.collective,
        bytes,
        choice: table.choose(&sized),
        channels: table.communicator().n_channels,
        candidates: candidates.collect(),
    }
}

/// Renders choices.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_choices(report: &TunerChoices, view: TunerView, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, _) => Ok(tuner_choices_table(report, view, style)),
        Form::Json => Ok(tuner_choices_json(report, view)),
        Form::Csv => Ok(tuner_choices_csv(report, view)),
        Form::Markdown => Ok(tuner_choices_markdown(report, view)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}

/// Renders an explanation.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_explanation(report: &TunerExplanation, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, _) => Ok(tuner_explanation_table(report, style)),
        Form::Json => Ok(tuner_explanation_json(report)),
        Form::Csv => Ok(tuner_explanation_csv(report)),
        Form::Markdown => Ok(tuner_explanation_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}

/// The answer to a wish for charts of the tuner.
pub(super) fn no_charts() -> Error {
    Error::Usage {
        message: "the tuner's answers have no charts".to_owned(),
        hint: Some("use table, json, csv or md".to_owned()),
    }
}
