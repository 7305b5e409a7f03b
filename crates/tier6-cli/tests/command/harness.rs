//! Runs the built program as a user would and shows all that it says.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What one run of the program said.
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A run of `tier6` in the folder of the fixtures, without a terminal and without the
/// environment's wishes for colour.
pub struct Run {
    command: Command,
    input: Vec<u8>,
}

impl Run {
    pub fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tier6"));
        command.args(arguments).current_dir(fixtures());
        for variable in [
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "COLUMNS",
            "TIER6_COLOR",
            "TIER6_ASCII",
            "TIER6_PROGRESS",
        ] {
            command.env_remove(variable);
        }
        Self {
            command,
            input: Vec::new(),
        }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn current_dir(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        self.input = bytes.to_vec();
        self
    }

    pub fn said(mut self) -> Said {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = std::mem::take(&mut self.input);
        let feeder = std::thread::spawn(move || {
            // The program may end before it has read everything.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Exit code, standard output and standard error as one text, for snapshots.
    pub fn snapshot(self) -> String {
        let said = self.said();
        format!(
            "exit: {}\n--- stdout\n{}--- stderr\n{}",
            said.code, said.stdout, said.stderr
        )
    }
}

/// The folder of the fixtures.
pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}
