//! Tuner configuration files: rules that override NCCL's choice, in the dialects of the
//! plug-ins that read them.
//!
//! A file is read exactly as its plug-in reads it, with all its silence: what NVIDIA's example
//! plug-in takes for `allreduce` because it does not know the name is `allreduce` here, too,
//! and a [`Finding`] says so. Sources: `TUNER_SPEC.md` section 13 for NVIDIA's example; for
//! RCCL its built-in CSV tuner, for NCCLX the description of its built-in tuner.
//!
//! Deliberately absent: the edit of model constants that NVIDIA's example makes on Blackwell.

mod finding;
mod fix;
mod interval;
mod lines;
mod lint;
mod ncclx;
mod own;
mod perf_csv;
mod positional;
mod script;
mod write;

use crate::call::Call;
use crate::candidate::{Candidate, NcclCollective};
use crate::choice::{Choice, Entry, NoCandidateError};
use crate::communicator::Communicator;
use crate::cost_table::CostTable;
pub use finding::{Finding, RuleCode, Severity};
pub use fix::{Fixed, fix_config};
pub use interval::Interval;
pub use lint::{LintContext, lint_config};
pub use perf_csv::{PerfCsvError, PerfRow, PerfRows, read_perf_csv};
pub use script::{ScriptMetric, ScriptRanges, script_config};
use std::fmt;
use std::str::FromStr;
pub use write::{WriteConfigError, write_config};

/// A kind of configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// NVIDIA's example plug-in, `nccl_tuner.conf`.
    NvidiaExample,
    /// RCCL's built-in tuner, `rccl_tuner.csv`.
    Rccl,
    /// NCCLX's built-in tuner, the CSV form.
    NcclxCsv,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::NvidiaExample, Self::Rccl, Self::NcclxCsv];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NvidiaExample => "nvidia-example",
            Self::Rccl => "rccl",
            Self::NcclxCsv => "ncclx-csv",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text names no dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{0}`; use nvidia-example, rccl or ncclx-csv")]
pub struct UnknownDialectError(String);

impl FromStr for Dialect {
    type Err = UnknownDialectError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| UnknownDialectError(text.to_owned()))
    }
}

/// How many channels a rule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channels {
    /// NCCL's own count.
    Own,
    /// `-1` in NVIDIA's example: meant as NCCL's own count, but one channel.
    OneByMistake,
    /// This many.
    Exactly(i32),
}

impl Channels {
    /// Returns the number that the plug-in hands to NCCL; zero keeps NCCL's own.
    pub const fn answer(self) -> i32 {
        match self {
            Self::Own => 0,
            Self::OneByMistake => 1,
            Self::Exactly(channels) => channels,
        }
    }
}

/// One rule as the plug-in understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunerRule {
    /// The line of the file, from 1; 0 for a rule that was not read.
    pub line: u64,
    /// The collective.
    pub collective: NcclCollective,
    /// Sizes, as the chooser counts them; for NCCLX divided by the number of ranks.
    pub bytes: Interval,
    /// The algorithm and protocol to prefer.
    pub candidate: Candidate,
    /// The channels.
    pub channels: Channels,
    /// Nodes.
    pub nodes: Interval,
    /// Ranks; for NCCLX ranks per node.
    pub ranks: Interval,
    /// Pipelined operations.
    pub pipe_ops: Interval,
    /// Whether the buffers are registered, 0 or 1.
    pub registered: Interval,
    /// The chunk in bytes; NCCLX only.
    pub chunk_bytes: Option<u64>,
}

/// A configuration file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerConfig {
    /// The dialect it was read in.
    pub dialect: Dialect,
    /// The rules in order; the first that matches wins.
    pub rules: Vec<TunerRule>,
    /// What reading it brought up.
    pub findings: Vec<Finding>,
}

/// Reads a file as the plug-in of its dialect does. Never fails: what the plug-in skips is
/// skipped, and said.
pub fn read_config(text: &str, dialect: Dialect) -> TunerConfig {
    match dialect {
        Dialect::NvidiaExample | Dialect::Rccl => positional::read(text, dialect),
        Dialect::NcclxCsv => ncclx::read(text),
    }
}

/// Whether the buffers of a call are registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffers {
    /// Registered by the user or by a graph.
    Registered,
    /// Not registered.
    Plain,
}

/// What a plug-in is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginQuery {
    /// The collective.
    pub collective: NcclCollective,
    /// Bytes as the chooser counts them.
    pub bytes: u64,
    /// Pipelined operations.
    pub pipe_ops: u32,
    /// The buffers.
    pub buffers: Buffers,
    /// Nodes.
    pub n_nodes: u64,
    /// Ranks.
    pub n_ranks: u64,
}

impl PluginQuery {
    /// Returns the question for a call with plain buffers.
    pub fn new(communicator: &Communicator, call: &Call) -> Self {
        Self {
            collective: call.collective,
            bytes: call.bytes,
            pipe_ops: call.pipe_ops,
            buffers: Buffers::Plain,
            n_nodes: u64::from(communicator.n_nodes.unsigned_abs()),
            n_ranks: u64::from(communicator.n_ranks.unsigned_abs()),
        }
    }
}

/// What a plug-in answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginAnswer {
    /// The index of the rule that won.
    pub rule: Option<usize>,
    /// The number handed to NCCL; zero keeps NCCL's own.
    pub channels: i32,
}

/// A choice under a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TunedChoice {
    /// The choice; its time is the model's, not the zero that a plug-in writes.
    pub choice: Choice,
    /// The index of the rule that won, if one did.
    pub rule: Option<usize>,
}

impl TunerConfig {
    /// Returns the plug-in's answer; `is_offered` says whether NCCL's table holds a time for
    /// a candidate, since a rule for one without is passed over.
    pub fn answer(
        &self,
        query: &PluginQuery,
        is_offered: impl Fn(Candidate) -> bool,
    ) -> PluginAnswer {
        let won = self
            .rules
            .iter()
            .position(|rule| self.matches(rule, query) && is_offered(rule.candidate));
        let channels = match (won, self.dialect) {
            (Some(index), _) => self.rules[index].channels.answer(),
            (None, Dialect::NvidiaExample) => Channels::OneByMistake.answer(),
            (None, Dialect::Rccl | Dialect::NcclxCsv) => Channels::Own.answer(),
        };
        PluginAnswer {
            rule: won,
            channels,
        }
    }

    fn matches(&self, rule: &TunerRule, query: &PluginQuery) -> bool {
        let registered = match query.buffers {
            Buffers::Registered => 1,
            Buffers::Plain => 0,
        };
        let (bytes, ranks) = match self.dialect {
            Dialect::NvidiaExample | Dialect::Rccl => (query.bytes, query.n_ranks),
            // Both round down, as NCCLX does.
            Dialect::NcclxCsv => (
                query.bytes / query.n_ranks.max(1),
                query.n_ranks / query.n_nodes.max(1),
            ),
        };
        rule.collective == query.collective
            && rule.bytes.contains(bytes)
            && rule.nodes.contains(query.n_nodes)
            && rule.ranks.contains(ranks)
            && rule.pipe_ops.contains(u64::from(query.pipe_ops))
            && rule.registered.contains(registered)
    }

    /// Chooses for one call as NCCL does with this plug-in: the rule's candidate if one
    /// matches and is available, else NCCL's own, and the plug-in's channels in either case.
    ///
    /// # Errors
    ///
    /// Fails where NCCL fails without the plug-in: when no candidate is available.
    pub fn choose(&self, table: &CostTable, call: &Call) -> Result<TunedChoice, NoCandidateError> {
        let query = PluginQuery::new(table.communicator(), call);
        let answer = self.answer(&query, |candidate| {
            !matches!(
                table.entry(call, candidate),
                Entry::Unavailable { .. } | Entry::Backup(_)
            )
        });
        let mut choice = match answer.rule {
            Some(index) => table.launched(call, self.rules[index].candidate),
            None => table.choose(call)?,
        };
        if answer.channels != 0 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "NCCL keeps it in 8 signed bits"
            )]
            let channels = answer.channels as i8;
            choice.channels_max = channels;
        }
        Ok(TunedChoice {
            choice,
            rule: answer.rule,
        })
    }
}
