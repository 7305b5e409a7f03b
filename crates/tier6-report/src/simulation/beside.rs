//! Calls beside the measured one: where they are, what they took, and what both cost each other.

use super::{SimulationReport, algorithm_name, us};
use crate::grid::{Columns, Grid};
use tier6_collective::{Algorithm, Collective};
use tier6_units::{Bytes, SimTime};

/// A call beside the measured one.
#[derive(Debug, Clone, PartialEq)]
pub struct BesideCall {
    /// `beside 1`.
    pub name: String,
    /// The collective.
    pub collective: Collective,
    /// Its size; `None` for that of the measured call.
    pub bytes: Option<Bytes>,
    /// The chip of each of its ranks.
    pub chips: Vec<u32>,
    /// When it begins, counted from the beginning of the measured call's hardware.
    pub start: SimTime,
}

/// What a call beside took in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct BesideTime {
    /// The algorithm.
    pub algorithm: Option<Algorithm>,
    /// Its size.
    pub bytes: Bytes,
    /// From its start on, software included.
    pub total: SimTime,
    /// With no other call; `None` when it stops then.
    pub alone: Option<SimTime>,
}

/// How many times as long a call took as it does alone; `None` for a time of zero.
pub(crate) fn slowdown(total: SimTime, alone: Option<SimTime>) -> Option<f64> {
    let alone = alone.filter(|alone| *alone > SimTime::ZERO)?;
    Some(us(total) / us(alone))
}

/// A row of the table: a call beside in the run of a measured one.
struct Line<'r> {
    of: String,
    call: &'r BesideCall,
    time: &'r BesideTime,
}

/// Returns what the calls beside took, run by run; `None` when there are none.
pub(super) fn beside_grid(report: &SimulationReport) -> Option<Grid> {
    let several = report
        .rows
        .iter()
        .any(|row| row.algorithm != report.rows[0].algorithm);
    let lines = report.rows.iter().flat_map(|row| {
        let of = if several {
            format!("{} {}", algorithm_name(row.algorithm), row.bytes)
        } else {
            row.bytes.to_string()
        };
        let calls = report.beside.iter().zip(&row.beside);
        calls.map(move |(call, time)| Line {
            of: of.clone(),
            call,
            time,
        })
    });
    let lines: Vec<Line<'_>> = lines.collect();
    if lines.is_empty() {
        return None;
    }
    let grid = Columns::of(&lines)
        .left("during", |line| line.of.clone())
        .left("call", |line| line.call.name.clone())
        .left("collective", |line| line.call.collective.name().to_owned())
        .left("algorithm", |line| {
            algorithm_name(line.time.algorithm).to_owned()
        })
        .right("size", |line| line.time.bytes.to_string())
        .left("chips", |line| chip_ranges(&line.call.chips))
        .numbers("start us", 1, |line| Some(us(line.call.start)))
        .numbers("time us", 1, |line| Some(us(line.time.total)))
        .numbers("alone us", 1, |line| line.time.alone.map(us))
        .numbers("slowdown", 2, |line| {
            slowdown(line.time.total, line.time.alone)
        })
        .grid();
    Some(grid)
}

/// What a reader must know of a load that does not last.
pub(super) fn beside_notes(report: &SimulationReport) -> Vec<String> {
    if report.beside.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "alone: the same call with nothing beside it; a call beside runs once, under the protocol of \
         the measured call"
            .to_owned(),
    ];
    let short = report.rows.iter().filter(|row| {
        let times = report.beside.iter().zip(&row.beside);
        let ends = times.map(|(call, time)| call.start + time.total);
        ends.max().is_some_and(|end| end < row.total)
    });
    let short: Vec<String> = short.map(|row| row.bytes.to_string()).collect();
    if !short.is_empty() {
        notes.push(format!(
            "at {} all calls beside were over before the measured one: for a load that lasts give \
             them a larger size",
            short.join(", ")
        ));
    }
    notes
}

/// Numbers of chips, rows of them as `8-15` or `0-14/2`.
pub(super) fn chip_ranges(chips: &[u32]) -> String {
    let mut rest = chips;
    let mut parts = Vec::new();
    while let Some(&first) = rest.first() {
        let step = rest.get(1).map_or(1, |second| second.saturating_sub(first));
        let in_row = (0..)
            .zip(rest)
            .take_while(|(at, chip)| **chip == first + at * step);
        let length = in_row.count();
        // Two chips are a row only when they are neighbours.
        let length = if length < 3 && step > 1 {
            1
        } else {
            length.max(1)
        };
        let last = rest[length - 1];
        parts.push(match (length, step) {
            (1, _) => first.to_string(),
            (_, 1) => format!("{first}-{last}"),
            (_, step) => format!("{first}-{last}/{step}"),
        });
        rest = &rest[length..];
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_chips_are_short() {
        assert_eq!(chip_ranges(&[0, 1, 2, 5, 8, 9]), "0-2,5,8-9");
        assert_eq!(chip_ranges(&[3, 2]), "3,2");
        assert_eq!(chip_ranges(&[0, 2, 4, 6, 1, 3]), "0-6/2,1,3");
    }

    #[test]
    fn a_slowdown_needs_a_time_alone() {
        let ps = SimTime::from_ps;
        assert_eq!(slowdown(ps(30), Some(ps(20))), Some(1.5));
        assert_eq!(slowdown(ps(30), Some(ps(0))), None);
        assert_eq!(slowdown(ps(30), None), None);
    }
}
