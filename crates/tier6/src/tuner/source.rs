//! What an argument stands for where several kinds are allowed: a version, a system, or a file
//! of some kind, told by its content.

use super::load::{CommunicatorInput, Tuner, TunerRequest, from_read_log, load_tuner};
use crate::Error;
use crate::text::read_text;
use std::path::Path;
use tier6_nccl::{
    Dialect, LibraryVersion, Release, TunerConfig, read_config, read_log, system_names,
};

use super::lint::dialect_of;

/// An argument, understood.
pub(super) enum Reference {
    /// A version of NCCL.
    Version(LibraryVersion),
    /// A file or a name that makes a communicator.
    Communicator(CommunicatorInput),
    /// A log; its text, since standard input is read once.
    Log(String),
    /// Choices that `tier6 tuner choose` wrote as CSV.
    Choices(String),
    /// A tuner configuration file.
    Config(TunerConfig),
}

/// Tells what an argument stands for.
///
/// # Errors
///
/// When it is no version, no system and no readable file.
pub(super) fn reference(argument: &str, dialect: Option<Dialect>) -> Result<Reference, Error> {
    let is_file = argument == "-" || Path::new(argument).exists();
    if !is_file {
        if let Ok(version) = Release::read_version(argument) {
            return Ok(Reference::Version(version));
        }
        let looks_like_a_path = argument.contains(['/', '.']);
        if system_names().contains(&argument) || !looks_like_a_path {
            let name = argument.to_owned();
            return Ok(Reference::Communicator(CommunicatorInput::System(name)));
        }
    }
    let text = read_text(argument)?;
    let start = text.trim_start();
    let path = argument.to_owned();
    let communicator = |input| Ok(Reference::Communicator(input));
    if start.starts_with('<') {
        communicator(CommunicatorInput::Graph(path))
    } else if start.starts_with('{') || is_toml_communicator(&text) {
        communicator(CommunicatorInput::Communicator(path))
    } else if start.starts_with("nccl,collective,bytes,") {
        Ok(Reference::Choices(text))
    } else if text.contains("NCCL INFO") {
        Ok(Reference::Log(text))
    } else {
        let dialect = dialect.unwrap_or_else(|| dialect_of(argument, &text));
        Ok(Reference::Config(read_config(&text, dialect)))
    }
}

fn is_toml_communicator(text: &str) -> bool {
    let mut names = text.lines().filter_map(|line| line.split_once('='));
    names.any(|(name, _)| name.trim() == "nRanks")
}

/// Loads the communicator of a reference, with `request` for what it does not say.
///
/// # Errors
///
/// As [`load_tuner`].
pub(super) fn load(input: CommunicatorInput, request: &TunerRequest) -> Result<Tuner, Error> {
    load_tuner(&TunerRequest {
        input,
        ..request.clone()
    })
}

/// Loads the communicator of a log's text.
///
/// # Errors
///
/// As [`load_tuner`].
pub(super) fn load_log(path: &str, text: &str, request: &TunerRequest) -> Result<Tuner, Error> {
    from_read_log(request, path, read_log(text))
}
