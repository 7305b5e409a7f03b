//! The warnings of an input, told once for places that say the same.

use crate::number;
use crate::report::InputReport;
use std::collections::BTreeSet;
use tier6_measure::{Warning, WarningCode};

/// Warnings of one code that are told in one sentence.
pub(crate) struct WarningGroup {
    pub(crate) code: WarningCode,
    pub(crate) count: usize,
    /// Where, and what.
    pub(crate) text: String,
}

/// How many messages of one code are told one by one.
const MESSAGES_MAX: usize = 3;

/// Returns the warnings of an input by code and message; of a code with many messages only the
/// first is told.
pub(crate) fn warning_groups(input: &InputReport) -> Vec<WarningGroup> {
    let mut codes: Vec<(WarningCode, Vec<Vec<&Warning>>)> = Vec::new();
    for warning in &input.warnings {
        let at = codes.iter().position(|(code, _)| *code == warning.code);
        let at = at.unwrap_or_else(|| {
            codes.push((warning.code, Vec::new()));
            codes.len() - 1
        });
        let messages = &mut codes[at].1;
        match messages
            .iter_mut()
            .find(|m| m[0].message == warning.message)
        {
            Some(alike) => alike.push(warning),
            None => messages.push(vec![warning]),
        }
    }
    let groups = codes.into_iter().flat_map(|(code, messages)| {
        let sets = if messages.len() > MESSAGES_MAX {
            vec![messages.concat()]
        } else {
            messages
        };
        sets.into_iter().map(move |warnings| WarningGroup {
            code,
            count: warnings.len(),
            text: warning_group(&warnings),
        })
    });
    groups.collect()
}

/// How many line numbers a summary of warnings names.
const LINES_MAX: usize = 6;

fn warning_group(warnings: &[&Warning]) -> String {
    let first = &warnings[0].message;
    let lines: BTreeSet<u64> = warnings.iter().filter_map(|w| w.line).collect();
    let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
    let places = match lines.len() {
        0 => String::new(),
        1 => format!("line {}: ", lines[0]),
        n if n <= LINES_MAX => format!("lines {}: ", lines.join(", ")),
        n => format!(
            "lines {} and {} more: ",
            lines[..LINES_MAX].join(", "),
            n - LINES_MAX
        ),
    };
    let more = match warnings.iter().filter(|w| w.message != *first).count() {
        0 => String::new(),
        n => format!(" (and {} that differ)", number::count(n, "message")),
    };
    format!("{places}{first}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_measure::Dialect;

    fn told(warnings: &[(WarningCode, u64, &str)]) -> Vec<String> {
        let warnings = warnings.iter().map(|(code, line, message)| Warning {
            code: *code,
            line: Some(*line),
            message: (*message).to_owned(),
        });
        let input = InputReport {
            path: "run.txt".to_owned(),
            dialect: Dialect::ForeignCsv,
            rows: 0,
            warnings: warnings.collect(),
            runs: Vec::new(),
        };
        let groups = warning_groups(&input).into_iter();
        groups
            .map(|group| format!("{} x{} {}", group.code, group.count, group.text))
            .collect()
    }

    #[test]
    fn each_message_is_told_once_with_its_lines() {
        use WarningCode::{BadRow, Note};
        assert_eq!(
            told(&[
                (Note, 1, "`Lat` names no unit"),
                (BadRow, 4, "no time"),
                (Note, 1, "1 KB is 1024 bytes"),
                (BadRow, 2, "no time"),
                (BadRow, 4, "no time"),
            ]),
            [
                "note x1 line 1: `Lat` names no unit",
                "note x1 line 1: 1 KB is 1024 bytes",
                "bad-row x3 lines 2, 4: no time",
            ]
        );
    }

    #[test]
    fn of_many_messages_the_first_is_told() {
        let all: Vec<_> = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "a")]
            .map(|(line, message)| (WarningCode::Note, line, message))
            .to_vec();
        assert_eq!(
            told(&all),
            ["note x5 lines 1, 2, 3, 4, 5: a (and 3 messages that differ)"]
        );
    }
}
