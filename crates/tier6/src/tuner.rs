//! NCCL's tuner offline: load a communicator, ask what NCCL chooses and why, check
//! configuration files, compare with NCCL's own answers.

mod audit;
mod choose;
mod config;
mod diff;
mod lint;
mod load;
mod source;
mod sweep;
mod unknown_key;
mod verify;

pub use audit::{AuditRequest, audit, audit_exit, render_audit};
pub use choose::{
    TunerCall, choices_exit, explain_choice, render_choices, render_explanation, weigh,
};
pub use config::{ConfigRequest, make_config, render_config};
pub use diff::{DiffRequest, diff_tuners, render_diff};
pub use lint::{LintRequest, Repair, lint_exit, lint_files, render_lint};
pub use load::{CommunicatorInput, Tuner, TunerRequest, load_tuner, parse_variable};
pub use verify::{render_verification, verification_exit, verify_folder};

/// Splits what a lower crate says into the sentence and the way out.
pub(crate) fn split_hint(message: &str) -> (String, Option<String>) {
    match message.split_once("; hint: ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (message.to_owned(), None),
    }
}

/// Returns an error with the errors below it, each after a colon.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(source) = below {
        let more = source.to_string();
        // Some errors repeat the one below them.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        below = source.source();
    }
    text
}
