//! From arguments to data sets: files, folders, globs, standard input, and the index beside
//! a data set that states what its columns do not.

use crate::progress::Watched;
use crate::{Error, Progress};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tier6_measure::{Dataset, Parsed, ReadError, ReadOptions, SetFacts};

/// Name of the file that states facts of the data sets beside it.
const INDEX_NAME: &str = "INDEX.tsv";

/// One input of a use case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file that the user named.
    File(PathBuf),
    /// A file that a folder or a pattern brought along; it may be something else altogether.
    Found(PathBuf),
}

impl Input {
    /// Returns the name to show.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) | Self::Found(path) => path.display().to_string(),
        }
    }

    /// Returns the name of the data set: the file's without folder and suffix.
    pub fn id(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) | Self::Found(path) => path
                .file_stem()
                .map_or_else(|| self.name(), |stem| stem.to_string_lossy().into_owned()),
        }
    }
}

/// Expands arguments to inputs: `-`, files, folders (whole, sorted by name), globs.
///
/// # Errors
///
/// When a path does not exist, a pattern is malformed, or nothing matches.
pub fn expand(arguments: &[String]) -> Result<Vec<Input>, Error> {
    let mut inputs = Vec::new();
    for argument in arguments {
        expand_one(argument, &mut inputs)?;
    }
    let mut seen = BTreeSet::new();
    inputs.retain(|input| is_new(input, &mut seen));
    Ok(inputs)
}

/// Says whether an input was not met before under any name: links and overlapping patterns bring
/// a file along more than once. A file that the user names is read as often as it is named.
fn is_new(input: &Input, seen: &mut BTreeSet<PathBuf>) -> bool {
    match input {
        Input::Stdin => true,
        Input::File(path) | Input::Found(path) => {
            let is_new = fs::canonicalize(path).is_ok_and(|real| seen.insert(real));
            is_new || matches!(input, Input::File(_))
        }
    }
}

/// Says whether an output is one of the files that the user named as inputs: writing it would
/// destroy the measurement.
///
/// # Errors
///
/// When it is.
pub fn keep_inputs<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a String>,
) -> Result<(), Error> {
    let Ok(real) = fs::canonicalize(output) else {
        return Ok(());
    };
    let is_same = |input: &String| {
        Path::new(input).is_file() && fs::canonicalize(input).is_ok_and(|input| input == real)
    };
    match inputs.into_iter().find(|input| is_same(input)) {
        None => Ok(()),
        Some(input) => Err(Error::Usage {
            message: format!("`{}` is the input `{input}`", output.display()),
            hint: Some("write to another file".to_owned()),
        }),
    }
}

fn expand_one(argument: &str, inputs: &mut Vec<Input>) -> Result<(), Error> {
    if argument == "-" {
        inputs.push(Input::Stdin);
        return Ok(());
    }
    let path = Path::new(argument);
    let before = inputs.len();
    let no_match = || Error::NoMatch {
        pattern: argument.to_owned(),
    };
    if path.is_dir() {
        walk(path, inputs)?;
    } else if !path.exists() && argument.contains(['*', '?', '[']) {
        let matches = glob::glob(argument).map_err(|error| Error::Usage {
            message: format!("malformed pattern `{argument}`: {}", error.msg),
            hint: Some("`[[]` stands for the character `[`".to_owned()),
        })?;
        for found in matches {
            let found = found.map_err(|error| {
                let path = error.path().display().to_string();
                Error::Open {
                    path,
                    source: error.into(),
                }
            })?;
            if found.is_dir() {
                walk(&found, inputs)?;
            } else if found.is_file() {
                // A pipe would wait for its writer; a link may lead nowhere.
                inputs.push(Input::Found(found));
            }
        }
    } else {
        inputs.push(Input::File(path.to_owned()));
    }
    if inputs.len() == before {
        Err(no_match())
    } else {
        Ok(())
    }
}

/// Collects the files of a folder and its folders, sorted by name.
fn walk(folder: &Path, inputs: &mut Vec<Input>) -> Result<(), Error> {
    let open = |source| Error::Open {
        path: folder.display().to_string(),
        source,
    };
    let mut entries = fs::read_dir(folder)
        .and_then(Iterator::collect::<io::Result<Vec<_>>>)
        .map_err(open)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        // A link to a folder is not followed: it may lead back.
        let kind = entry.file_type().map_err(open)?;
        if kind.is_dir() && !hidden {
            walk(&path, inputs)?;
        } else if path.is_file() && !hidden && name != INDEX_NAME {
            inputs.push(Input::Found(path));
        }
    }
    Ok(())
}

/// Reads one input, with what an index beside it states.
///
/// # Errors
///
/// When it cannot be opened or understood.
pub(crate) fn read(
    input: &Input,
    options: &ReadOptions,
    progress: &mut dyn Progress,
) -> Result<Parsed<Dataset>, Error> {
    let name = input.name();
    let result = match input {
        Input::Stdin => {
            progress.start(&name, None);
            tier6_measure::read(Watched::new(io::stdin().lock(), progress), options)
        }
        Input::File(path) | Input::Found(path) => {
            let file = fs::File::open(path).map_err(|source| Error::Open {
                path: name.clone(),
                source,
            })?;
            let bytes = file.metadata().ok().map(|metadata| metadata.len());
            progress.start(&name, bytes);
            let options =
                facts_of(path).map_or_else(|| options.clone(), |facts| completed(options, &facts));
            tier6_measure::read(Watched::new(file, progress), &options)
        }
    };
    progress.finish();
    result.map_err(|source| match source {
        ReadError::Io(source) => Error::Open { path: name, source },
        source => Error::Read { path: name, source },
    })
}

/// Completes the user's statements with the index's; the user has the last word.
fn completed(options: &ReadOptions, facts: &SetFacts) -> ReadOptions {
    ReadOptions {
        collective: options.collective.or(facts.collective),
        ranks: options.ranks.or(facts.ranks),
        nodes: options.nodes.or(facts.nodes),
        ..options.clone()
    }
}

/// Returns what the index in the same folder says of a data set, if there is one.
pub(crate) fn facts_of(path: &Path) -> Option<SetFacts> {
    let id = path.file_stem()?.to_str()?;
    let index = fs::read_to_string(path.with_file_name(INDEX_NAME)).ok()?;
    let facts = tier6_measure::read_index(&index).value;
    facts.into_iter().find(|facts| facts.id == id)
}
