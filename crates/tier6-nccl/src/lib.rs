//! NCCL's tuner, version by version: the tables, the choice, and what happens afterwards.
//!
//! A [`Release`] holds the constants and rules of one version as data, a [`Communicator`]
//! what NCCL's search found, [`Settings`] what the environment says. A [`CostTable`] is
//! computed from the three in NCCL's own f32 arithmetic; [`CostTable::choose`] picks a
//! candidate for a [`Call`] with its time, channels and warps.
//!
//! Deliberately absent: the search that finds the graphs, symmetric-memory kernels and
//! copy-engine collectives, which bypass the tuner, and measured times, which belong to the
//! crates above.

mod c_number;
mod call;
mod candidate;
mod choice;
mod communicator;
mod cost_table;
mod graph_xml;
mod log;
mod machine;
mod named_system;
mod path_type;
mod release;
mod schedule;
mod settings;
mod term;
mod tuner_config;
mod verify;
mod why_not;

pub use call::Call;
pub use candidate::{Candidate, NcclAlgorithm, NcclCollective, NotTunedError};
pub use choice::{Basis, CallTerms, Choice, Entry, NoCandidateError};
pub use communicator::{
    Communicator, CommunicatorError, CommunicatorSource, Cpu, CpuArch, CpuVendor, Graph, Pattern,
    ReadCommunicatorError, UnknownKey, read_communicator, unknown_keys,
};
pub use cost_table::{CellTerms, CostTable};
pub use graph_xml::{GraphFile, ReadGraphError, read_graph_xml};
pub use log::{
    Identified, IdentifyError, LoggedCommunicator, NcclLog, PrintedTable, TableBasis, read_log,
};
pub use machine::{AssembleError, Assembled, Machine};
pub use named_system::{UnknownSystemError, named_system, system_names};
pub use path_type::PathType;
pub use release::{Evidence, FoundRelease, RELEASES, Release, UnknownVersionError};
pub use schedule::{Scheduled, Shares, UserCall};
pub use settings::{FilterError, NcclError, Settings};
pub use term::{Operation, Term};
pub use tier6_collective::{LibraryVersion, ParseVersionError};
pub use tuner_config::{
    Buffers, Channels, Dialect, Finding, Fixed, Interval, LintContext, PerfCsvError, PerfRow,
    PerfRows, PluginAnswer, PluginQuery, RuleCode, ScriptMetric, ScriptRanges, Severity,
    TunedChoice, TunerConfig, TunerRule, UnknownDialectError, WriteConfigError, fix_config,
    lint_config, read_config, read_perf_csv, script_config, write_config,
};
pub use verify::{
    Difference, Group, OracleFile, TableReport, Tally, VerifyError, VerifyReport, verify,
};
pub use why_not::WhyNot;
