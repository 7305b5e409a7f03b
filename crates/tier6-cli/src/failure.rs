//! How a command ends without an answer: one clear error, a hint, the right exit code.

use crate::terminal::Terminal;
use std::io;
use std::process::ExitCode;
use tier6::{Error, Exit};

/// Code of a process that a closed pipe ended: 128 + SIGPIPE, as shells count.
const CLOSED_PIPE: u8 = 141;

/// Why a command ends without an answer.
#[derive(Debug)]
pub enum Failure {
    /// A use case failed.
    Facade(Error),
    /// The reader of our output went away: nobody is left to tell.
    ClosedPipe,
    /// Standard output cannot be written.
    Output(io::Error),
    /// The arguments contradict each other or cannot be read.
    Usage {
        message: String,
        hint: Option<String>,
    },
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: None,
        }
    }

    /// Prints the error and returns the exit code.
    pub fn report(self, terminal: &Terminal) -> ExitCode {
        let (message, hint, code) = match self {
            Self::ClosedPipe => return ExitCode::from(CLOSED_PIPE),
            Self::Facade(error) => (error.to_string(), error.hint(), error.exit().code()),
            Self::Output(error) => (
                format!("failed to write standard output: {error}"),
                None,
                Exit::Internal.code(),
            ),
            Self::Usage { message, hint } => (message, hint, Exit::Usage.code()),
        };
        terminal.error(&message);
        if let Some(hint) = hint {
            terminal.hint(&hint);
        }
        ExitCode::from(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Facade(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Output(error)
        }
    }
}
