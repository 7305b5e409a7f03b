//! What a run that was read to its end has to say of itself: what is missing, how it ended,
//! whether its numbers agree, how many ranks it had.

use super::columns::LayoutSource;
use super::header::apply_options;
use super::run_builder::{ALIGNMENT_BYTES, RunBuilder};
use super::signature::Signature;
use super::sweep::Sweep;
use crate::read::command::timing_notes;
use crate::warning::WarningList;
use crate::{Device, Placement, Ranks, ReadOptions, Run, RunEnd, Trace, WarningCode};
use std::collections::BTreeSet;
use tier6_collective::Collective;
use tier6_units::GbPerSec;

/// Closes a run.
pub(super) fn finish(
    mut run: RunBuilder,
    options: &ReadOptions,
    trace: &Trace,
    warnings: &mut WarningList,
) -> Run {
    run.settle_half_rows();
    if run.setup.library_version.is_none() {
        run.setup.library_version = trace.version;
    }
    if let Some(command) = run.setup.command.clone() {
        apply_options(&command, &mut run.setup);
    }
    report_header(&run, warnings);
    let sweep = Sweep::of(&run.setup);
    let end = report_end(&run, sweep, warnings);
    report_data(&run, warnings);
    report_average(&run, sweep, warnings);
    let collective = name_collective(&run, options, warnings);
    let (ranks, nodes) = if run.rows > 0 {
        count_ranks(&run, collective, options, trace, warnings)
    } else {
        (stated_ranks(&run, options, trace), options.nodes)
    };
    let (setup, footer) = (run.setup.clone(), run.footer.clone());
    let (rows, first_line) = (run.rows, run.first_line);
    Run {
        setup,
        series: run.into_series(collective, ranks, nodes),
        footer,
        end,
        rows,
        first_line,
    }
}

fn report_header(run: &RunBuilder, warnings: &mut WarningList) {
    let line = run.first_line;
    if run.lost_hashes {
        let text = "the header lines have lost their `#`, and were read without it";
        warnings.push(WarningCode::Repaired, line, text.to_owned());
    }
    match run.layout.as_ref().map(|layout| layout.source) {
        Some(LayoutSource::Arithmetic | LayoutSource::Assumed) => {
            let text = "the table has no header; the columns follow from size / time = algbw";
            warnings.push(WarningCode::Missing, line, text.to_owned());
        }
        Some(LayoutSource::Header) | None => {}
    }
    let setup = &run.setup;
    let mut missing = Vec::new();
    if setup.devices.is_empty() {
        missing.push("device list");
    }
    if setup.iterations.is_none() {
        missing.push("iteration counts");
    }
    if run.footer.is_none() {
        missing.push("footer");
    }
    if !missing.is_empty() {
        if setup.library_version.is_none() {
            missing.push("NCCL version");
        }
        let text = format!("not in the input: {}", missing.join(", "));
        warnings.push(WarningCode::Missing, line, text);
    }
    if run.rows == 0 {
        let text = "the header is followed by no complete row";
        warnings.push(WarningCode::Missing, line, text.to_owned());
    }
    let upstream = |key: &str| key == "unalign";
    let foreign: Vec<String> = setup
        .extra
        .iter()
        .filter(|(key, _)| !upstream(key))
        .map(|(key, value)| format!("`{key}: {value}`"))
        .collect();
    if !foreign.is_empty() {
        let text = format!(
            "{} in the parameter line: this is not upstream nccl-tests",
            foreign.join(", ")
        );
        warnings.push(WarningCode::Unknown, line, text);
    }
    report_timing_options(run, warnings);
}

/// Options that change what the printed time means.
fn report_timing_options(run: &RunBuilder, warnings: &mut WarningList) {
    let line = run.first_line;
    for text in timing_notes(&run.setup) {
        warnings.push(WarningCode::Note, line, text);
    }
    if run.has_cpu_time() {
        let text = "the `cputime` column (-C) is the time of the call on the CPU, not of the \
                    operation; only the bandwidths are used";
        warnings.push(WarningCode::Note, line, text.to_owned());
    }
    if run.below_threshold {
        let text = "the average is below the threshold that the run was given";
        warnings.push(WarningCode::Note, line, text.to_owned());
    }
}

/// Says how many rows of the announced sweep are absent; `None` when that cannot be told.
fn absent_rows(run: &RunBuilder, sweep: Option<Sweep>) -> Option<u64> {
    let wanted = sweep?.sizes * run.keys();
    if run.rows == 0 || !run.rows.is_multiple_of(wanted) {
        Some(wanted.saturating_sub(run.rows))
    } else {
        Some(0)
    }
}

fn report_end(run: &RunBuilder, sweep: Option<Sweep>, warnings: &mut WarningList) -> RunEnd {
    let absent = absent_rows(run, sweep);
    let cap = cap_note(run, sweep).unwrap_or_default();
    if let Some((message, line)) = &run.failure {
        let hosts: Vec<String> = run.failed_hosts.iter().cloned().collect();
        let who = match hosts.len() {
            0 => "the run".to_owned(),
            1..=4 => hosts.join(", "),
            count => format!("{} and {} more", hosts[..3].join(", "), count - 3),
        };
        let rows = match absent {
            Some(0) => format!("; no row is missing{cap}, it failed after the last size"),
            Some(count) => format!("; {count} sizes are missing{cap}"),
            None => String::new(),
        };
        let text = format!("{who} failed: {message}{rows}");
        warnings.push(WarningCode::Aborted, *line, text);
        return RunEnd::Aborted {
            hosts,
            message: message.clone(),
        };
    }
    match (absent, sweep) {
        (Some(count), Some(sweep)) if count > 0 => {
            let wanted = sweep.sizes * run.keys();
            let text = format!(
                "{count} of {wanted} rows up to {} are not in the input{cap}",
                sweep.last
            );
            let code = if run.footer.is_some() {
                WarningCode::Missing
            } else {
                WarningCode::Unfinished
            };
            warnings.push(code, run.first_line, text);
        }
        (Some(_), _) if !cap.is_empty() => {
            let text = format!("no row is missing{cap}");
            warnings.push(WarningCode::Note, run.first_line, text);
        }
        (None, _) if !cap.is_empty() => {
            let text = cap.trim_matches([' ', '(', ')']).to_owned();
            warnings.push(WarningCode::Note, run.first_line, text);
        }
        _ => {}
    }
    if run.footer.is_some() {
        RunEnd::Complete
    } else {
        RunEnd::Unfinished
    }
}

/// Explains a sweep that ends below the size asked for.
fn cap_note(run: &RunBuilder, sweep: Option<Sweep>) -> Option<String> {
    let cap = run.setup.reduced_max_bytes?;
    let Some(next) = sweep.and_then(|sweep| sweep.next) else {
        return Some(format!(
            " (maxBytes was reduced to {} by the memory)",
            cap.get()
        ));
    };
    Some(format!(
        " (the next size, {} B, is above the cap of {} B that the memory sets)",
        next.get(),
        cap.get()
    ))
}

fn report_data(run: &RunBuilder, warnings: &mut WarningList) {
    if let Some(found) = &run.wrong {
        let text = format!(
            "wrong data in {} results, first {}",
            found.count, found.example
        );
        warnings.push(WarningCode::WrongData, found.line, text);
    }
    let footer_failed = run.footer.as_ref().is_some_and(|footer| {
        footer.passed == Some(false) || footer.out_of_bounds.is_some_and(|count| count > 0)
    });
    if footer_failed {
        let text = "the footer says that values were out of bounds";
        warnings.push(WarningCode::WrongData, run.first_line, text.to_owned());
    }
    if run.setup.validation == Some(false) {
        let text = "the results were not checked (validation: 0)";
        warnings.push(WarningCode::NotChecked, run.first_line, text.to_owned());
    }
    if let Some(found) = &run.zero_sizes {
        let text = format!(
            "{} rows have size 0 (a size divided over the ranks and rounded down); they are kept \
             out of bandwidths and fits",
            found.count
        );
        warnings.push(WarningCode::ZeroSize, found.line, text);
    }
    if let Some(found) = &run.inconsistent {
        let text = format!("{} ({} such results)", found.example, found.count);
        warnings.push(WarningCode::Inconsistent, found.line, text);
    }
    if let Some(left) = run.misalignment.filter(|left| *left > 0 && run.rows > 1) {
        let text = format!(
            "every size is {left} B off the {ALIGNMENT_BYTES}-byte grid, which may cost a little"
        );
        warnings.push(WarningCode::Note, run.first_line, text);
    }
    let two = run
        .layout
        .as_ref()
        .is_some_and(|layout| layout.placements.len() == 2);
    if let Some(only) = run.only_placement().filter(|_| two) {
        let absent = match only {
            Placement::OutOfPlace => "in-place",
            Placement::InPlace => "out-of-place",
        };
        let text = format!("no row has the {absent} half");
        warnings.push(WarningCode::Placement, run.first_line, text);
    }
}

/// Compares the footer's mean with that of the rows, when they are the same rows.
fn report_average(run: &RunBuilder, sweep: Option<Sweep>, warnings: &mut WarningList) {
    let footer = run.footer.as_ref().and_then(|footer| footer.average_busbw);
    let (Some(average), true) = (footer.map(GbPerSec::get), run.busbw_count > 0) else {
        return;
    };
    let count = run.busbw_count as f64;
    let mean = run.busbw_sum / count;
    // The footer has six digits.
    let room = run.busbw_slack / count + average * 5e-6;
    if (mean - average).abs() <= room {
        return;
    }
    let all_here = absent_rows(run, sweep) == Some(0) && run.lost_rows == 0 && !run.omits_lines;
    let (code, text) = if all_here {
        (
            WarningCode::Inconsistent,
            format!("the footer says an average busbw of {average}, the rows give {mean:.4}"),
        )
    } else {
        (
            WarningCode::Note,
            format!(
                "the footer's average busbw of {average} is of all rows of the run; it cannot be \
                 recomputed from the {} rows that are here (mean {mean:.4})",
                run.rows
            ),
        )
    };
    warnings.push(code, run.first_line, text);
}

fn name_collective(
    run: &RunBuilder,
    options: &ReadOptions,
    warnings: &mut WarningList,
) -> Option<Collective> {
    if let Some(known) = options.collective.or(run.named) {
        return Some(known);
    }
    let signature = run.signature?;
    let inferred = signature
        .collective()
        .filter(|collective| match collective {
            Collective::Broadcast | Collective::Reduce | Collective::SendRecv => {
                run.factor.allows_factor_one()
            }
            _ => true,
        });
    let text = match inferred {
        Some(collective) => {
            format!("the collective is not named; redop, root and count are those of {collective}")
        }
        None => "the collective is not named, and the columns fit several".to_owned(),
    };
    warnings.push(WarningCode::Note, run.first_line, text);
    inferred
}

/// Ranks as the device list counts them; `None` when it is not a whole list.
fn listed_ranks(devices: &[Device]) -> Option<u32> {
    let ranks: BTreeSet<u32> = devices.iter().map(|device| device.rank).collect();
    let count = ranks.last()?.checked_add(1)?;
    (ranks.len() as u64 == u64::from(count)).then_some(count)
}

fn stated_ranks(run: &RunBuilder, options: &ReadOptions, trace: &Trace) -> Ranks {
    let listed = listed_ranks(&run.setup.devices);
    let stated = options.ranks.or(listed).or(trace.ranks);
    stated.map_or(Ranks::Unknown, Ranks::Stated)
}

/// Settles the number of ranks and nodes: what is stated, unless the digits refute it.
fn count_ranks(
    run: &RunBuilder,
    collective: Option<Collective>,
    options: &ReadOptions,
    trace: &Trace,
    warnings: &mut WarningList,
) -> (Ranks, Option<u32>) {
    let mut warn = |text: String| warnings.push(WarningCode::RankCount, run.first_line, text);
    let allows = |ranks| collective.is_none_or(|c| run.factor.allows(c, ranks));
    if run.factor.is_empty() {
        warn("busbw / algbw differs from row to row".to_owned());
    }
    if let Some(ranks) = options.ranks {
        if !allows(ranks) {
            warn(format!(
                "busbw / algbw does not fit the {ranks} ranks given"
            ));
        }
        return (Ranks::Stated(ranks), options.nodes.or(trace.nodes));
    }
    let listed = listed_ranks(&run.setup.devices);
    let by_count = run.signature.and_then(Signature::ranks_by_count);
    if let Some(ranks) = by_count.filter(|ranks| allows(*ranks)) {
        let nodes = options.nodes.or_else(|| nodes_of(run, ranks, trace));
        return (Ranks::Stated(ranks), nodes);
    }
    for ranks in [listed, trace.ranks].into_iter().flatten() {
        if allows(ranks) || run.factor.is_empty() {
            let nodes = options.nodes.or_else(|| nodes_of(run, ranks, trace));
            return (Ranks::Stated(ranks), nodes);
        }
    }
    let setup = &run.setup;
    let per_process = setup
        .threads
        .unwrap_or(1)
        .saturating_mul(setup.gpus.unwrap_or(1));
    let estimate = collective.map_or(Ranks::Unknown, |collective| {
        run.factor.ranks(collective, per_process)
    });
    let list = match setup.devices.len() {
        0 => String::new(),
        count => format!("; the device list shows {count} and is not whole"),
    };
    let ranks = match estimate {
        Ranks::Estimated { low, high } if low == high => {
            warn(format!("{low} ranks follow from busbw / algbw{list}"));
            Ranks::Stated(low)
        }
        Ranks::Estimated { low, high } => {
            warn(format!("busbw / algbw fits {low} to {high} ranks{list}"));
            estimate
        }
        Ranks::Stated(_) | Ranks::Unknown => {
            warn(format!("the number of ranks is not in the input{list}"));
            estimate
        }
    };
    (ranks, options.nodes.or(trace.nodes))
}

/// Nodes, when the device list is that of all ranks.
fn nodes_of(run: &RunBuilder, ranks: u32, trace: &Trace) -> Option<u32> {
    if listed_ranks(&run.setup.devices) != Some(ranks) {
        return trace.nodes.filter(|_| trace.ranks == Some(ranks));
    }
    let hosts: BTreeSet<&str> = run.setup.devices.iter().map(|d| d.host.as_str()).collect();
    u32::try_from(hosts.len()).ok()
}
