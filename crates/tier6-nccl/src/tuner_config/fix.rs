//! Repairs what can be repaired without changing what a file is meant to do: the case of
//! names, -1 channels of NVIDIA's example, blanks, quotes and carriage returns, and a last
//! range that ends early, unless its path is not known or would be LL for large messages.

use super::lines::fields;
use super::lint::LintContext;
use super::positional::{algorithm, collective, protocol};
use super::{Dialect, RuleCode, lint_config, read_config};
use tier6_collective::Protocol;

/// A repaired file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// Lines that changed, from 1.
    pub lines: Vec<u64>,
}

/// Repairs a file where that is safe; what else `lint_config` finds stays.
pub fn fix_config(text: &str, dialect: Dialect) -> Fixed {
    let ends_early = last_ranges(text, dialect);
    let mut fixed = String::with_capacity(text.len());
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index as u64 + 1;
        let new = match dialect {
            Dialect::NvidiaExample | Dialect::Rccl => {
                fix_positional(line, dialect, ends_early.contains(&number))
            }
            Dialect::NcclxCsv => fix_ncclx(line),
        };
        // `lines` has taken a carriage return away already.
        let had_return = text
            .split('\n')
            .nth(index)
            .is_some_and(|raw| raw.ends_with('\r'));
        if new != line || had_return {
            lines.push(number);
        }
        fixed.push_str(&new);
        fixed.push('\n');
    }
    Fixed { text: fixed, lines }
}

fn last_ranges(text: &str, dialect: Dialect) -> Vec<u64> {
    let config = read_config(text, dialect);
    let is_meant_for_large = |line: u64| {
        let mut findings = config.findings.iter();
        let is_guessed = findings.any(|f| f.line == line && f.code == RuleCode::UnknownName);
        let rule = config.rules.iter().find(|rule| rule.line == line);
        !is_guessed && rule.is_some_and(|rule| rule.candidate.protocol != Protocol::Ll)
    };
    lint_config(&config, &LintContext::default())
        .into_iter()
        .filter(|finding| finding.code == RuleCode::EndsEarly)
        .map(|finding| finding.line)
        .filter(|line| is_meant_for_large(*line))
        .collect()
}

fn fix_positional(line: &str, dialect: Dialect, ends_early: bool) -> String {
    let bare = line.trim();
    if bare.is_empty() || bare.starts_with('#') {
        return bare.to_owned();
    }
    let unquoted: String = bare.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
    let mut fields: Vec<String> = fields(&unquoted).into_iter().map(str::to_owned).collect();
    if fields.len() < 8 {
        return line.to_owned();
    }
    lower(&mut fields[0], |name| collective(name).is_some());
    lower(&mut fields[3], |name| algorithm(name).is_some());
    lower(&mut fields[4], |name| protocol(name).is_some());
    if dialect == Dialect::NvidiaExample && fields[5] == "-1" {
        "0".clone_into(&mut fields[5]);
    }
    if ends_early {
        fields[2] = u64::MAX.to_string();
    }
    fields.join(",")
}

fn fix_ncclx(line: &str) -> String {
    let bare = line.trim();
    if bare.starts_with('#') {
        return bare.to_owned();
    }
    // Only names hold letters.
    bare.to_ascii_lowercase()
}

/// Lowers a name if that makes it known.
fn lower(field: &mut String, is_known: impl Fn(&str) -> bool) {
    let lower = field.to_ascii_lowercase();
    if is_known(&lower) {
        *field = lower;
    }
}
