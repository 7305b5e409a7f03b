//! What the linter of tuner configuration files found: file and line, code, severity, sentence
//! and way out.

use crate::analysis::csv::quoted;
use crate::analysis::json::pretty;
use crate::grid::{Columns, terminal_text};
use crate::number::count;
use crate::style::{Style, Tone};
use serde::Serialize;
use std::fmt::Write as _;
use tier6_nccl::{Dialect, Finding, Severity};

/// The findings of one run of the linter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintReport {
    /// The files, in the order given.
    pub files: Vec<LintedFile>,
}

/// One file that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintedFile {
    /// The path as given.
    pub path: String,
    /// The dialect that it was read in.
    pub dialect: Dialect,
    /// How many rules its plug-in takes from it.
    pub rules: usize,
    /// What was found; after a repair, what is left.
    pub findings: Vec<Finding>,
    /// Lines that were repaired, from 1.
    pub repaired: Vec<u64>,
}

impl LintReport {
    /// Returns how many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let all = self.files.iter().flat_map(|file| &file.findings);
        all.filter(|finding| finding.severity == severity).count()
    }

    fn summary(&self) -> String {
        let rules: usize = self.files.iter().map(|file| file.rules).sum();
        let found = [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
            let number = self.count(severity);
            (number > 0).then(|| match severity {
                Severity::Info => format!("{number} info"),
                Severity::Error | Severity::Warning => count(number, severity.name()),
            })
        });
        let found: Vec<String> = found.into_iter().flatten().collect();
        let found = if found.is_empty() {
            "nothing found".to_owned()
        } else {
            found.join(", ")
        };
        let (rules, files) = (count(rules, "rule"), count(self.files.len(), "file"));
        format!("{rules} in {files}: {found}")
    }
}

/// Returns the sentence and, apart, the way out.
fn split_hint(message: &str) -> (&str, Option<&str>) {
    message
        .split_once("; hint: ")
        .map_or((message, None), |(message, hint)| (message, Some(hint)))
}

const fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Caution,
        Severity::Info => Tone::Dim,
    }
}

/// Returns `path:12`, or the path alone for what concerns the whole file.
fn place(path: &str, line: u64) -> String {
    match line {
        0 => path.to_owned(),
        line => format!("{path}:{line}"),
    }
}

/// Returns the findings as text for a terminal: one line each, the way out below it. What holds for
/// lines in a row is said once, as `path:16-43`.
pub fn lint_table(report: &LintReport, style: Style) -> String {
    let mut out = String::new();
    for file in &report.files {
        let is_next = |one: &Finding, next: &Finding| {
            (next.line, next.code, &next.message) == (one.line + 1, one.code, &one.message)
        };
        for alike in file.findings.chunk_by(is_next) {
            let finding = &alike[0];
            let (message, hint) = split_hint(&finding.message);
            let label = format!("{}[{}]", finding.severity.name(), finding.code);
            let mut place = place(&file.path, finding.line);
            if let [_, .., last] = alike {
                let _ = write!(place, "-{}", last.line);
            }
            let _ = writeln!(
                out,
                "{}: {}: {}",
                terminal_text(&place),
                style.paint(tone(finding.severity), &label),
                terminal_text(message)
            );
            if let Some(hint) = hint {
                let _ = writeln!(out, "  hint: {}", terminal_text(hint));
            }
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for file in report.files.iter().filter(|file| !file.repaired.is_empty()) {
        let path = terminal_text(&file.path);
        let _ = writeln!(out, "{path}: repaired {}", lines_text(&file.repaired));
    }
    let _ = writeln!(out, "{}", report.summary());
    out
}

fn lines_text(lines: &[u64]) -> String {
    let numbers: Vec<String> = lines.iter().map(u64::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", numbers.join(", "))
}

/// Returns the findings as Markdown.
pub fn lint_markdown(report: &LintReport) -> String {
    let rows: Vec<(&LintedFile, &Finding)> = (report.files.iter())
        .flat_map(|file| file.findings.iter().map(move |finding| (file, finding)))
        .collect();
    let mut out = format!("# Tuner configuration\n\n{}.\n", report.summary());
    if !rows.is_empty() {
        let grid = Columns::of(&rows)
            .left("place", |(file, finding)| place(&file.path, finding.line))
            .left("severity", |(_, finding)| {
                finding.severity.name().to_owned()
            })
            .left("code", |(_, finding)| finding.code.to_string())
            .left("finding", |(_, finding)| {
                split_hint(&finding.message).0.to_owned()
            })
            .left("hint", |(_, finding)| {
                split_hint(&finding.message).1.unwrap_or("").to_owned()
            })
            .grid();
        let _ = write!(out, "\n{}", grid.markdown());
    }
    out
}

/// Returns the findings as CSV.
pub fn lint_csv(report: &LintReport) -> String {
    let mut out = "file,line,severity,code,message,hint\n".to_owned();
    for file in &report.files {
        for finding in &file.findings {
            let (message, hint) = split_hint(&finding.message);
            let line = match finding.line {
                0 => String::new(),
                line => line.to_string(),
            };
            let _ = writeln!(
                out,
                "{},{line},{},{},{},{}",
                quoted(&file.path),
                finding.severity.name(),
                finding.code,
                quoted(message),
                quoted(hint.unwrap_or(""))
            );
        }
    }
    out
}

/// Returns the findings as JSON of schema `tier6.tuner_lint/1`.
pub fn lint_json(report: &LintReport) -> String {
    pretty(&ReportDto {
        schema: "tier6.tuner_lint/1",
        files: report.files.iter().map(FileDto::new).collect(),
        errors: report.count(Severity::Error),
        warnings: report.count(Severity::Warning),
        infos: report.count(Severity::Info),
    })
}

#[derive(Serialize)]
struct ReportDto<'a> {
    schema: &'static str,
    files: Vec<FileDto<'a>>,
    errors: usize,
    warnings: usize,
    infos: usize,
}

#[derive(Serialize)]
struct FileDto<'a> {
    path: &'a str,
    dialect: &'static str,
    rules: usize,
    repaired_lines: &'a [u64],
    findings: Vec<FindingDto<'a>>,
}

#[derive(Serialize)]
struct FindingDto<'a> {
    line: Option<u64>,
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> FileDto<'a> {
    fn new(file: &'a LintedFile) -> Self {
        let findings = file.findings.iter().map(|finding| {
            let (message, hint) = split_hint(&finding.message);
            FindingDto {
                line: Some(finding.line).filter(|&line| line > 0),
                code: finding.code.code(),
                severity: finding.severity.name(),
                message,
                hint,
            }
        });
        Self {
            path: &file.path,
            dialect: file.dialect.name(),
            rules: file.rules,
            repaired_lines: &file.repaired,
            findings: findings.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Charset, Color};
    use tier6_nccl::{LintContext, lint_config, read_config};

    #[test]
    fn lines_in_a_row_that_say_the_same_are_one() {
        let dialect = Dialect::Rccl;
        let config = read_config("one\ntwo\nthree\n\nfour\n", dialect);
        let file = LintedFile {
            path: "notes.txt".to_owned(),
            dialect,
            rules: config.rules.len(),
            findings: lint_config(&config, &LintContext::default()),
            repaired: Vec::new(),
        };
        let report = LintReport { files: vec![file] };
        let style = Style {
            color: Color::Off,
            charset: Charset::Ascii,
            width: 80,
        };
        assert_eq!(
            lint_table(&report, style),
            "notes.txt:1-3: error[T6217]: the line has 1 of 8 fields; the plug-in skips it\n\
             notes.txt:5: error[T6217]: the line has 1 of 8 fields; the plug-in skips it\n\n\
             0 rules in 1 file: 4 errors\n"
        );
    }
}
