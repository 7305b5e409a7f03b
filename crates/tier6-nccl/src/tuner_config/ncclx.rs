//! The CSV dialect of NCCLX's built-in tuner:
//! `collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks[,chunkSize]`.
//!
//! Sizes are per rank, and sizes, nodes and ranks per node are intervals with brackets:
//! `*`, `5`, `[0,1048576]`, `(1,)`, `[2,8)`. A line that is not understood makes the start of
//! every communicator fail, so each is an error here and gives no rule. Earlier versions had
//! `numPipeOps` and `regBuff` before `chunkSize`; those files have ten fields.

use super::positional::{algorithm, collective, protocol};
use super::{Channels, Dialect, Finding, Interval, RuleCode, Severity, TunerConfig, TunerRule};
use crate::c_number::{int, is_decimal};
use crate::candidate::Candidate;

pub(super) fn read(text: &str) -> TunerConfig {
    let mut config = TunerConfig {
        dialect: Dialect::NcclxCsv,
        rules: Vec::new(),
        findings: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index as u64 + 1;
        match rule(line, number) {
            Ok(rule) => config.rules.push(rule),
            Err((code, why)) => config.findings.push(Finding::new(
                code,
                Severity::Error,
                number,
                format!("{why}; communicators fail to start with this file"),
            )),
        }
    }
    config
}

type Problem = (RuleCode, String);

fn rule(line: &str, number: u64) -> Result<TunerRule, Problem> {
    let fields = split(line);
    let (pipe_ops, registered, chunk) = match fields.len() {
        7 => (None, None, None),
        8 => (None, None, Some(fields[7])),
        9 => (Some(fields[7]), Some(fields[8]), None),
        10 => (Some(fields[7]), Some(fields[8]), Some(fields[9])),
        count => {
            let why = format!("line has {count} fields, 7 to 10 are needed");
            return Err((RuleCode::Skipped, why));
        }
    };
    Ok(TunerRule {
        line: number,
        collective: name(fields[0], "collective", collective)?,
        bytes: interval(fields[1], "bytesPerRank")?,
        candidate: Candidate {
            algorithm: name(fields[2], "algorithm", algorithm)?,
            protocol: name(fields[3], "protocol", protocol)?,
        },
        channels: match whole(fields[4], "channels")? {
            -1 | 0 => Channels::Own,
            channels => Channels::Exactly(channels),
        },
        nodes: interval(fields[5], "nNodes")?,
        ranks: interval(fields[6], "nLocalRanks")?,
        pipe_ops: any_or_exactly(pipe_ops, "numPipeOps")?,
        registered: any_or_exactly(registered, "regBuff")?,
        chunk_bytes: match chunk {
            None => None,
            Some(field) => {
                let bytes: u64 = field
                    .parse()
                    .map_err(|_| not_a_number(field, "chunkSize"))?;
                (bytes > 0).then_some(bytes)
            }
        },
    })
}

/// Splits at commas outside of brackets.
fn split(line: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in line.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                fields.push(line[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    fields.push(line[start..].trim());
    fields
}

fn name<T>(field: &str, what: &str, known: fn(&str) -> Option<T>) -> Result<T, Problem> {
    known(field).ok_or_else(|| {
        let lower = field.to_ascii_lowercase();
        if known(&lower).is_some() {
            let why = format!("unknown {what} `{field}`; hint: write `{lower}`");
            (RuleCode::UpperCase, why)
        } else {
            (RuleCode::UnknownName, format!("unknown {what} `{field}`"))
        }
    })
}

fn not_a_number(field: &str, what: &str) -> Problem {
    (RuleCode::NotANumber, format!("{what} is `{field}`"))
}

fn whole(field: &str, what: &str) -> Result<i32, Problem> {
    if is_decimal(field) {
        Ok(int(field))
    } else {
        Err(not_a_number(field, what))
    }
}

fn any_or_exactly(field: Option<&str>, what: &str) -> Result<Interval, Problem> {
    match field {
        None => Ok(Interval::ANY),
        Some(field) => Ok(Interval::from_int(whole(field, what)?)),
    }
}

fn interval(field: &str, what: &str) -> Result<Interval, Problem> {
    let bad = || not_a_number(field, what);
    if field == "*" {
        return Ok(Interval::ANY);
    }
    let inside = field.strip_prefix(['(', '[']);
    let Some(inside) = inside.and_then(|inside| inside.strip_suffix([')', ']'])) else {
        return field.parse().map(Interval::exactly).map_err(|_| bad());
    };
    let (low, high) = inside.split_once(',').ok_or_else(bad)?;
    let bound = |text: &str| -> Result<Option<u64>, Problem> {
        match text.trim() {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(|_| bad()),
        }
    };
    let least = match (bound(low)?, field.starts_with('(')) {
        (None, _) => 0,
        (Some(low), true) => low.checked_add(1).ok_or_else(bad)?,
        (Some(low), false) => low,
    };
    let most = match (bound(high)?, field.ends_with(')')) {
        (None, _) => u64::MAX,
        (Some(high), true) => high.checked_sub(1).ok_or_else(bad)?,
        (Some(high), false) => high,
    };
    if least > most {
        return Err(bad());
    }
    Ok(Interval::new(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_read_in_every_form() {
        let read = |text: &str| interval(text, "nNodes").ok();
        assert_eq!(read("*"), Some(Interval::ANY));
        assert_eq!(read("5"), Some(Interval::exactly(5)));
        assert_eq!(read("[2,8]"), Some(Interval::new(2, 8)));
        assert_eq!(read("(2, 8)"), Some(Interval::new(3, 7)));
        assert_eq!(read("(1,)"), Some(Interval::new(2, u64::MAX)));
        assert_eq!(read("(,4]"), Some(Interval::new(0, 4)));
        for bad in ["", "x", "(2,1]", "[1", "[1;2]", "(,0)", "[a,b]"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn commas_inside_brackets_do_not_split() {
        assert_eq!(split("a,[0,1], b ,(,4)"), ["a", "[0,1]", "b", "(,4)"]);
    }
}
