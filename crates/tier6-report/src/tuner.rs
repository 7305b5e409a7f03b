//! Reports on NCCL's tuner: choices, candidates and tables, explanations, checks of
//! configuration files, and the comparison with NCCL's own answers.
//!
//! Each report is a value; each format is one function of it. `tier6.tuner/1` and
//! `tier6.verify/1` are the command-line contract, the other schemas are additions to it.

mod audit;
mod choice;
mod config;
mod diff;
mod explain;
mod json;
mod lint;
mod verify;

pub use audit::{
    AuditReport, AuditedCall, AuditedRun, audit_csv, audit_json, audit_markdown, audit_table,
};
pub use choice::{
    TableCell, TunerChoices, TunerView, WeighedCall, tuner_choices_csv, tuner_choices_json,
    tuner_choices_markdown, tuner_choices_table,
};
pub use config::{ConfigReport, config_csv, config_json, config_markdown, config_table};
pub use diff::{DiffReport, DiffSide, diff_csv, diff_json, diff_markdown, diff_table};
pub use explain::{
    ExplainedCandidate, TunerExplanation, tuner_explanation_csv, tuner_explanation_json,
    tuner_explanation_markdown, tuner_explanation_table,
};
pub use lint::{LintReport, LintedFile, lint_csv, lint_json, lint_markdown, lint_table};
pub use verify::{verify_csv, verify_json, verify_markdown, verify_table};

use crate::number::count;
use tier6_nccl::{LibraryVersion, NcclCollective};

/// What a report of the tuner is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunerSubject {
    /// Where the communicator comes from: a path, or the name of a system.
    pub source: String,
    /// The NCCL version that was asked for.
    pub nccl: LibraryVersion,
    /// The release whose tables were used: that version, or the nearest older one.
    pub version_used: LibraryVersion,
    /// Ranks of the communicator.
    pub ranks: i32,
    /// Nodes of the communicator.
    pub nodes: i32,
    /// One sentence per assumption and substitution.
    pub notes: Vec<String>,
}

impl TunerSubject {
    /// Returns `all_reduce on 4 ranks, 1 node · NCCL 2.22.3 · v100x4-nv2`.
    fn headline(&self, collective: NcclCollective) -> String {
        let ranks = usize::try_from(self.ranks).unwrap_or(0);
        let nodes = usize::try_from(self.nodes).unwrap_or(0);
        format!(
            "{collective} on {}, {}; NCCL {}; {}",
            count(ranks, "rank"),
            count(nodes, "node"),
            self.version_used,
            self.source
        )
    }
}
