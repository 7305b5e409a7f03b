//! What a simulation says beside its numbers: what limits each size, what the time is sensitive
//! to, and what a reader must know before believing it.

use super::beside::beside_notes;
use super::{SimulatedCall, SimulationReport, algorithm_name};
use crate::call::AlgorithmChoice;
use crate::grid::{Columns, Grid};
use crate::naming;
use crate::style::Detail;
use tier6_g5::Fidelity;
use tier6_math::Basis;

/// Sizes with the sentence on what limits them.
pub(super) fn bottlenecks(report: &SimulationReport, detail: Detail) -> Vec<(String, String)> {
    let rows = report.rows.iter().enumerate();
    let first = |at: usize| at == 0 || report.rows[at - 1].bytes != report.rows[at].bytes;
    let shown = rows.filter(|(at, _)| detail == Detail::Wide || first(*at));
    let line = |(_, row): (usize, &SimulatedCall)| {
        let sentence = format!("{}: {}", algorithm_name(row.algorithm), row.bottleneck);
        (row.bytes.to_string(), sentence)
    };
    shown.map(line).collect()
}

/// Constants by run, when the runs were repeated with others.
pub(super) fn sensitivity_grid(report: &SimulationReport) -> Option<Grid> {
    let with = report
        .rows
        .iter()
        .filter(|row| !row.sensitivities.is_empty());
    let with: Vec<&SimulatedCall> = with.collect();
    let names = &with.first()?.sensitivities;
    let several = with.iter().any(|row| row.algorithm != with[0].algorithm);
    let mut columns = Columns::of(names).left("constant", |one| one.constant.clone());
    for row in with {
        let head = if several {
            format!("{} {}", algorithm_name(row.algorithm), row.bytes)
        } else {
            row.bytes.to_string()
        };
        columns = columns.signed(&head, 2, |one| {
            let same = row.sensitivities.iter();
            let mut same = same.filter(|other| other.constant == one.constant);
            same.next().map(|same| same.elasticity)
        });
    }
    Some(columns.grid())
}

/// What a reader must know before believing the numbers.
pub(super) fn notes(report: &SimulationReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(flaw) = &report.flaw {
        let name = naming::collective(Some(report.collective));
        notes.push(format!("the schedule does not compute {name}: {flaw}"));
    }
    let of = |basis: Basis| report.rows.iter().any(|row| row.basis == basis);
    if of(Basis::Assumed) {
        notes.push(
            "assumed: the system is not calibrated; some constant behind the time is a prior of the \
             system or of the engine, or none was fitted on measurements"
                .to_owned(),
        );
    }
    if of(Basis::Extrapolated) {
        notes.push("extrapolated: the constants were fitted on other sizes".to_owned());
    }
    notes.extend(beside_notes(report));
    match report.fidelity {
        Fidelity::Flow => notes.push(
            "flow: messages share links max-min fairly; queues, loss and congestion control are not \
             modelled (`--fidelity packet`)"
                .to_owned(),
        ),
        Fidelity::Packet => {}
    }
    if report.choice == AlgorithmChoice::Auto {
        notes.push(
            match report.fidelity {
                Fidelity::Flow => {
                    "auto simulates the algorithms that NCCL runs and shows the fastest; \
                     `--algorithm all` shows every one"
                }
                Fidelity::Packet => {
                    "auto simulates the algorithms that NCCL runs as flows, and the fastest of them \
                     in packets; `--algorithm all` shows every one"
                }
            }
            .to_owned(),
        );
    }
    notes
}
