//! Paths that may not be written into a tuner file.

use super::Sweep;
use super::contender::Ask;
use std::fmt;
use tier6_collective::Protocol;
use tier6_nccl::{
    Channels, CostTable, Dialect, Interval, LintContext, RuleCode, Severity, TunerConfig,
    TunerRule, lint_config,
};

/// When LL128 may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ll128 {
    /// The communicator's model enables it, or a log shows that NCCL chose it without force.
    WhereNcclUsesIt,
    /// The caller knows that it is safe; a communicator's model may still refuse it.
    Trusted,
}

/// A path that is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The path.
    pub ask: Ask,
    /// Why not.
    pub why: RefusalReason,
}

/// Why a path is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefusalReason {
    /// Nothing shows that NCCL would use LL128 here by itself.
    UnprovenLl128,
    /// The linter's sentence: NCCL does not run the path here.
    NotRun(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            RefusalReason::UnprovenLl128 => write!(
                f,
                "{}: nothing shows that NCCL uses LL128 here by itself, and where it does not, LL128 may corrupt data; hint: name the communicator",
                self.ask
            ),
            RefusalReason::NotRun(message) => write!(f, "{}: {message}", self.ask),
        }
    }
}

/// Returns why a path may not be written; sweeps are of one call, the table is of it.
pub(crate) fn refusal(
    ask: Ask,
    sweeps: &[Sweep],
    table: Option<&CostTable>,
    ll128: Ll128,
) -> Option<Refusal> {
    if let Some(message) = not_run(ask, sweeps.first()?, table) {
        let why = RefusalReason::NotRun(message);
        return Some(Refusal { ask, why });
    }
    let is_unproven = ask.candidate.protocol == Protocol::Ll128
        && table.is_none()
        && ll128 == Ll128::WhereNcclUsesIt
        && !is_chosen_unforced(ask, sweeps);
    is_unproven.then_some(Refusal {
        ask,
        why: RefusalReason::UnprovenLl128,
    })
}

/// Says whether a run that left the protocol to NCCL shows the path in its log or columns.
fn is_chosen_unforced(ask: Ask, sweeps: &[Sweep]) -> bool {
    sweeps
        .iter()
        .filter(|sweep| sweep.forced.protocol.is_none())
        .flat_map(|sweep| &sweep.points)
        .any(|point| point.path == Some(ask.candidate))
}

/// Asks the linter about a rule of this path alone, on the communicator or, where it is not
/// known, on the nodes and ranks that were measured.
fn not_run(ask: Ask, sweep: &Sweep, table: Option<&CostTable>) -> Option<String> {
    let measured = |number: Option<u32>| match (number, table) {
        (Some(number), None) => Interval::exactly(number.into()),
        (None, _) | (_, Some(_)) => Interval::ANY,
    };
    let rule = TunerRule {
        line: 1,
        collective: sweep.collective,
        bytes: Interval::ANY,
        candidate: ask.candidate,
        channels: Channels::Own,
        nodes: measured(sweep.nodes),
        ranks: measured(sweep.ranks),
        pipe_ops: Interval::ANY,
        registered: Interval::ANY,
        chunk_bytes: None,
    };
    let config = TunerConfig {
        dialect: Dialect::Rccl,
        rules: vec![rule],
        findings: Vec::new(),
    };
    let context = LintContext {
        table,
        release: None,
        variables: Vec::new(),
    };
    let findings = lint_config(&config, &context);
    let refused = findings.into_iter().find(|finding| {
        finding.severity == Severity::Error
            && matches!(finding.code, RuleCode::Impossible | RuleCode::UnsafeLl128)
    });
    refused.map(|finding| finding.message)
}
