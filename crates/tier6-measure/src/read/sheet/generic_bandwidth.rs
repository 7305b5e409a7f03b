//! Which bandwidth a column named only `bandwidth` holds.
//!
//! With a time beside it the numbers tell: algbw or busbw, bytes or bits. Without one the header
//! is taken at its word, and the doubt is said.

use super::columns::Rate;
use crate::read::consistency::{Printed, check_row};
use crate::{Warning, WarningCode};

/// How far a bandwidth may be from size / time and still be it: means of rates and rates of mean
/// times differ by a few percent.
const TOLERANCE: f64 = 0.05;

/// Share of the rows that must agree.
const AGREEMENT: f64 = 0.9;

/// A row as far as this question goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    pub bytes: u64,
    pub time: Option<Printed>,
    pub bandwidth: Option<Printed>,
    pub factor: Option<f64>,
}

/// What the column holds, with its factor to GB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Algbw(f64),
    Busbw(f64),
    /// It follows from neither, so it is left out.
    Neither,
}

/// Decides for the whole column.
pub(super) fn decide(
    name: &str,
    unit: Rate,
    evidence: &[Evidence],
    warnings: &mut Vec<Warning>,
) -> Meaning {
    let scales = match unit {
        Rate::Known(scale) => vec![scale],
        Rate::Ambiguous => vec![1.0, 0.125],
    };
    let note = |message: String| Warning {
        code: WarningCode::Note,
        line: None,
        message,
    };
    let with_time = evidence
        .iter()
        .filter(|row| row.time.is_some() && row.bandwidth.is_some())
        .count();
    if with_time == 0 {
        let said = match unit {
            Rate::Known(_) => "",
            Rate::Ambiguous => " in GB/s",
        };
        warnings.push(note(format!(
            "column `{name}` does not say which bandwidth it holds; read as algbw{said}"
        )));
        return Meaning::Algbw(scales[0]);
    }
    for scale in scales {
        let agreeing = |factor_of: fn(&Evidence) -> Option<f64>| {
            let rows = evidence
                .iter()
                .filter(|row| factor_of(row).is_some_and(|factor| follows(row, scale, factor)));
            rows.count() as f64 >= AGREEMENT * with_time as f64
        };
        if agreeing(|_| Some(1.0)) {
            return Meaning::Algbw(scale);
        }
        if agreeing(|row| row.factor) {
            return Meaning::Busbw(scale);
        }
    }
    warnings.push(note(format!(
        "column `{name}` follows from sizes and times neither as algbw nor as busbw; left out"
    )));
    Meaning::Neither
}

/// Says whether the bandwidth is bytes / time x `factor`, within rounding or a few percent.
fn follows(row: &Evidence, scale: f64, factor: f64) -> bool {
    let (Some(time), Some(bandwidth)) = (row.time, row.bandwidth) else {
        return false;
    };
    let bandwidth = bandwidth.scaled(scale / factor);
    let speed = row.bytes as f64 / time.value / 1e3;
    (bandwidth.value / speed - 1.0).abs() < TOLERANCE
        || check_row(row.bytes, Some(time), Some(bandwidth), None, None).is_empty()
}
