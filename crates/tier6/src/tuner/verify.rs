//! A folder of NCCL's own answers against the model, row by row.

use super::{chain, choose::no_charts};
use crate::text::read_text;
use crate::{Error, Exit, Form};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};
use tier6_nccl::{OracleFile, VerifyError, VerifyReport, verify};
use tier6_report::{verify_csv, verify_json, verify_markdown, verify_table};

/// Folders that hold tables; whatever else lies beside them is not looked at.
const FOLDERS: [&str; 6] = ["systems", "cost", "sched", "types", "env", "fuzz"];

/// Compares every row of a folder laid out as `systems/`, `cost/`, `sched/`, `types/`, `env/`,
/// `fuzz/`.
///
/// # Errors
///
/// When the folder cannot be read, holds no table, or a file's name does not say what it is.
pub fn verify_folder(folder: &str) -> Result<VerifyReport, Error> {
    let (names, aside) = names(Path::new(folder))?
        .into_iter()
        .partition::<Vec<_>, _>(|(name, _)| !version_part(name).is_empty());
    if names.is_empty() {
        return Err(Error::Nothing {
            message: format!("no table in `{folder}`"),
            hint: Some(format!(
                "it needs one of the folders {}",
                FOLDERS.join(", ")
            )),
        });
    }
    // Files of one version belong together; the versions are compared side by side.
    let mut versions: BTreeMap<&str, Vec<&(String, PathBuf)>> = BTreeMap::new();
    for named in &names {
        versions
            .entry(version_part(&named.0))
            .or_default()
            .push(named);
    }
    let groups: Vec<Vec<&(String, PathBuf)>> = versions.into_values().collect();
    let outcomes = side_by_side(&groups);
    let mut whole = VerifyReport::default();
    for (name, _) in &aside {
        let note = format!("`{name}` is left aside: its name does not start with a version");
        whole.notes.push(note);
    }
    for outcome in outcomes {
        let report = outcome?;
        whole.tables.extend(report.tables);
        whole.examples.extend(report.examples);
        whole.notes.extend(report.notes);
    }
    let place = |file: &str| names.iter().position(|(name, _)| name == file);
    whole.tables.sort_by_key(|table| place(&table.file));
    whole.examples.sort_by_key(|example| place(&example.file));
    Ok(whole)
}

/// Compares groups of files on as many threads as the machine has; results come in the order
/// of the groups.
fn side_by_side(groups: &[Vec<&(String, PathBuf)>]) -> Vec<Result<VerifyReport, Error>> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // Worker k takes groups k, k + workers, ...
    let shares: Vec<Vec<Result<VerifyReport, Error>>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|worker| {
                let share = groups.iter().skip(worker).step_by(workers);
                scope.spawn(move || share.map(|group| compare(group)).collect())
            })
            .collect();
        let joined = handles.into_iter().map(|handle| match handle.join() {
            Ok(share) => share,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    let mut shares: Vec<_> = shares.into_iter().map(Vec::into_iter).collect();
    (0..groups.len())
        .filter_map(|index| shares[index % workers].next())
        .collect()
}

fn compare(group: &[&(String, PathBuf)]) -> Result<VerifyReport, Error> {
    let texts = group
        .iter()
        .map(|(_, path)| read_text(&path.display().to_string()))
        .collect::<Result<Vec<_>, _>>()?;
    let files: Vec<OracleFile<'_>> = group
        .iter()
        .zip(&texts)
        .map(|((name, _), text)| OracleFile { name, text })
        .collect();
    verify(&files).map_err(|error| {
        let message = chain(&error);
        match error {
            VerifyError::UnknownFile(path) | VerifyError::Version { file: path, .. } => {
                Error::Malformed {
                    path,
                    message,
                    hint: None,
                }
            }
            VerifyError::UnknownVersion { .. } => Error::Domain {
                message,
                hint: None,
            },
        }
    })
}

/// Returns the names inside the folder and the paths of all tables, in a fixed order.
fn names(folder: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let open = |path: &Path, source| Error::Open {
        path: path.display().to_string(),
        source,
    };
    // An absent folder is an error, an absent part of it is not.
    fs::read_dir(folder).map_err(|source| open(folder, source))?;
    let mut names = Vec::new();
    for part in FOLDERS {
        let inside = folder.join(part);
        if !inside.is_dir() {
            continue;
        }
        let mut entries = fs::read_dir(&inside)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(|source| open(&inside, source))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let file = entry.file_name().to_string_lossy().into_owned();
            let plain = file
                .strip_suffix(".gz")
                .or_else(|| file.strip_suffix(".zst"))
                .unwrap_or(&file);
            let suffix = Path::new(plain).extension();
            let is_table = suffix.is_some_and(|suffix| suffix == "csv" || suffix == "jsonl");
            if is_table && entry.path().is_file() {
                names.push((format!("{part}/{plain}"), entry.path()));
            }
        }
    }
    Ok(names)
}

/// Returns the digits that a file's name starts with.
fn version_part(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    let end = file.find(|c: char| !c.is_ascii_digit() && c != '.');
    file[..end.unwrap_or(file.len())].trim_end_matches('.')
}

/// Returns the exit code of a comparison: no, when a row differs.
pub fn verification_exit(report: &VerifyReport) -> Exit {
    if report.different() == 0 {
        Exit::Done
    } else {
        Exit::No
    }
}

/// Renders a comparison.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_verification(report: &VerifyReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(verify_table(report, style, detail)),
        Form::Json => Ok(verify_json(report)),
        Form::Csv => Ok(verify_csv(report)),
        Form::Markdown => Ok(verify_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}
