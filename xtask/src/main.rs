//! `cargo xtask check`: everything that must hold before a change lands, in one command.
//!
//! `.ci/run` calls this and nothing else. The checks of the tree itself (floors, ignored tests,
//! leftovers, links in the book) are ordinary tests in `tests/house.rs`.

use std::process::{Command, ExitCode};
use std::time::Instant;

/// One step: what it proves, the cargo arguments, and extra environment.
type Step = (
    &'static str,
    &'static [&'static str],
    Option<(&'static str, &'static str)>,
);

const STEPS: [Step; 4] = [
    ("formatting", &["fmt", "--all", "--check"], None),
    (
        "lints",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
        None,
    ),
    (
        "documentation",
        &["doc", "--workspace", "--no-deps", "--locked"],
        Some(("RUSTDOCFLAGS", "-D warnings")),
    ),
    ("tests", &["test", "--workspace", "--locked"], None),
];

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    if task.as_deref() != Some("check") {
        eprintln!(
            "usage: cargo xtask check    format, lint, document and test the whole workspace"
        );
        return ExitCode::from(2);
    }
    for (what, arguments, variable) in STEPS {
        let started = Instant::now();
        eprintln!("check: {what}: cargo {}", arguments.join(" "));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments);
        if let Some((name, value)) = variable {
            cargo.env(name, value);
        }
        match cargo.status() {
            Ok(status) if status.success() => {
                eprintln!("check: {what}: passed in {} s", started.elapsed().as_secs());
            }
            Ok(status) => {
                eprintln!("check: {what}: failed ({status})");
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("check: {what}: failed to start cargo: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    eprintln!("check: all passed");
    ExitCode::SUCCESS
}
