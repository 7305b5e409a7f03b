//! Checks tuner configuration files, and repairs them where that is safe.

use super::Tuner;
use super::choose::no_charts;
use crate::input::{self, Input};
use crate::text::read_text;
use crate::{Error, Exit, Form, write_file};
use std::path::Path;
use tier6_nccl::{
    Dialect, LibraryVersion, LintContext, Release, Severity, fix_config, lint_config, read_config,
};
use tier6_report::{LintReport, LintedFile, lint_csv, lint_json, lint_markdown, lint_table};

/// What to check, and against what.
#[derive(Debug, Clone)]
pub struct LintRequest<'a> {
    /// Files, folders, patterns; `-` for standard input.
    pub files: &'a [String],
    /// The dialect; without one it is told by the name and the fields.
    pub dialect: Option<Dialect>,
    /// The communicator that the files are meant for.
    pub tuner: Option<&'a Tuner>,
    /// The NCCL version, where the communicator is not known.
    pub nccl: Option<LibraryVersion>,
    /// Names of variables that are set where the files are used.
    pub variables: Vec<&'a str>,
    /// Whether files are repaired.
    pub repair: Repair,
}

/// Whether files are repaired where that is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Write repaired files.
    Write,
    /// Leave files as they are.
    No,
}

/// Checks every file.
///
/// # Errors
///
/// When a file cannot be read, holds no text of rules, or cannot be written.
pub fn lint_files(request: &LintRequest<'_>) -> Result<LintReport, Error> {
    let found = request.nccl.map(Release::for_version).transpose();
    let found = found.map_err(|error| Error::Domain {
        message: error.to_string(),
        hint: None,
    })?;
    let context = LintContext {
        table: request.tuner.map(|tuner| &tuner.table),
        release: found.map(|found| found.release),
        variables: request.variables.clone(),
    };
    let mut files = Vec::new();
    for file in input::expand(request.files)? {
        files.push(lint_file(&file, request, &context)?);
    }
    Ok(LintReport { files })
}

fn lint_file(
    file: &Input,
    request: &LintRequest<'_>,
    context: &LintContext<'_>,
) -> Result<LintedFile, Error> {
    let path = file.name();
    let mut text = read_text(&path)?;
    let dialect = request.dialect.unwrap_or_else(|| dialect_of(&path, &text));
    let mut repaired = Vec::new();
    if request.repair == Repair::Write {
        let fixed = fix_config(&text, dialect);
        if !fixed.lines.is_empty() {
            let (Input::File(target) | Input::Found(target)) = file else {
                return Err(Error::Usage {
                    message: "standard input cannot be repaired in place".to_owned(),
                    hint: Some("give a file to `--fix`".to_owned()),
                });
            };
            write_file(target, &fixed.text)?;
            text = fixed.text;
            repaired = fixed.lines;
        }
    }
    let config = read_config(&text, dialect);
    Ok(LintedFile {
        path,
        dialect,
        rules: config.rules.len(),
        findings: lint_config(&config, context),
        repaired,
    })
}

/// Tells the dialect: NCCLX has one field for sizes where the others have two; RCCL's file is
/// known by its name.
pub(super) fn dialect_of(path: &str, text: &str) -> Dialect {
    let rule = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    let third = rule.and_then(|line| line.split(',').nth(2)).map(str::trim);
    let is_name = third.is_some_and(|field| field.starts_with(|c: char| c.is_alphabetic()));
    let name = Path::new(path)
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    if is_name {
        Dialect::NcclxCsv
    } else if name.contains("rccl") {
        Dialect::Rccl
    } else {
        Dialect::NvidiaExample
    }
}

/// Returns the exit code of a check: no, when there are errors.
pub fn lint_exit(report: &LintReport) -> Exit {
    if report.count(Severity::Error) == 0 {
        Exit::Done
    } else {
        Exit::No
    }
}

/// Renders findings.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_lint(report: &LintReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, _) => Ok(lint_table(report, style)),
        Form::Json => Ok(lint_json(report)),
        Form::Csv => Ok(lint_csv(report)),
        Form::Markdown => Ok(lint_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}
