//! Arguments of `tier6 tuner` as typed.

use super::{Output, TextFormat};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What NCCL's tuner chooses, why, and whether the choice was right
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner choose --nccl 2.22.3 --system v100x4-nv2
  tier6 tuner table --graph graph.xml --nodes 2 --collective all_gather
  tier6 tuner explain --log nccl.log --bytes 1M
  tier6 tuner audit nccl.log all_reduce.txt
  tier6 tuner config 'sweep/*.txt' -o nccl_tuner.conf
  tier6 tuner lint nccl_tuner.conf
  tier6 tuner diff 2.22.3 2.27.7 --system h100x8-dgx-2n
")]
pub struct Tuner {
    #[command(subcommand)]
    pub command: TunerCommand,
}

#[derive(Debug, Subcommand)]
pub enum TunerCommand {
    Choose(Choose),
    Table(Table),
    Explain(Explain),
    Audit(Audit),
    Config(Config),
    Lint(Lint),
    Diff(Diff),
    Verify(Verify),
    Systems(Systems),
}

/// The algorithm, protocol, time, channels and warps that NCCL chooses for each size
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner choose --nccl 2.22.3 --system v100x4-nv2 --sizes 1K..1G:x4
  tier6 tuner choose --graph graph.xml --nodes 2 --collective all_gather
  tier6 tuner choose --log nccl.log --env NCCL_ALGO=^tree
  tier6 tuner choose --nccl 2.30.7 --comm communicator.toml --candidates --format json
  grep '\"id\":\"h100x8-dgx\"' systems.jsonl | tier6 tuner choose --comm -
")]
pub struct Choose {
    #[command(flatten)]
    pub communicator: Communicator,
    #[command(flatten)]
    pub call: Call,
    /// Sizes as the chooser sees them: for AllGather and ReduceScatter the message of all ranks
    #[arg(long, value_name = "RANGE", default_value = "8..8G:x2")]
    pub sizes: String,
    /// Show every candidate with its time, or why it is not weighed
    #[arg(long)]
    pub candidates: bool,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// Latency and bandwidth of every candidate, and its time for each size or why it has none
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner table --nccl 2.22.3 --system v100x4-nv2
  tier6 tuner table --log nccl.log --collective reduce_scatter --sizes 1M..1G:x8
  tier6 tuner table --system h100x8-dgx -o candidates.csv
")]
pub struct Table {
    #[command(flatten)]
    pub communicator: Communicator,
    #[command(flatten)]
    pub call: Call,
    /// Sizes as the chooser sees them: for AllGather and ReduceScatter the message of all ranks
    #[arg(long, value_name = "RANGE", default_value = "1K..1G:x4")]
    pub sizes: String,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// Each candidate's time for one size, term by term, to redo by hand
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner explain --nccl 2.22.3 --system v100x4-nv2 --bytes 1M
  tier6 tuner explain --graph graph.xml --nodes 4 --bytes 64K --format md
")]
pub struct Explain {
    #[command(flatten)]
    pub communicator: Communicator,
    #[command(flatten)]
    pub call: Call,
    /// The size as the chooser sees it
    #[arg(long, value_name = "SIZE")]
    pub bytes: String,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// What is wrong or doubtful in tuner configuration files; exit 10 on errors
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner lint nccl_tuner.conf
  tier6 tuner lint rccl_tuner.csv --dialect rccl --fix
  tier6 tuner lint nccl_tuner.conf --nccl 2.30.7 --system h100x8-dgx
  tier6 tuner lint nccl_tuner.conf --env NCCL_ALGO=ring --format json
")]
pub struct Lint {
    /// Files, folders, globs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Read as this dialect: nvidia-example, rccl, ncclx-csv; else told by name and fields
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Option<String>,
    /// Repair the files where that is safe, and report what is left
    #[arg(long)]
    pub fix: bool,
    #[command(flatten)]
    pub communicator: LintCommunicator,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// The model against tables that NCCL's own code printed, row by row; exit 10 when one differs
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner verify ../nccl
  tier6 tuner verify ../nccl --wide
  tier6 tuner verify ../nccl --format json | jq .different
")]
pub struct Verify {
    /// A folder with systems/, cost/, sched/, types/, env/, fuzz/, or some of them
    #[arg(value_name = "FOLDER")]
    pub folder: String,
    /// Count by version, kind, collective and system, too
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// The names that `--system` takes
#[derive(Debug, Args)]
#[command(before_help = "\
Example:
  tier6 tuner systems | grep h100
")]
pub struct Systems {}

/// Where the communicator comes from.
#[derive(Debug, Args)]
#[command(next_help_heading = "Communicator")]
#[command(mut_group("Source", |source| source.required(true)))]
pub struct Communicator {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub known: Known,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Source {
    /// Graphs as NCCL writes them with `NCCL_GRAPH_DUMP_FILE`
    #[arg(long, value_name = "FILE.xml")]
    pub graph: Option<String>,
    /// One communicator as JSON or TOML: an `inputs` object, or a whole line around it
    #[arg(long, value_name = "FILE")]
    pub comm: Option<String>,
    /// NCCL's log: `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING`
    #[arg(long, value_name = "FILE")]
    pub log: Option<String>,
    /// A system with a name; `tier6 tuner systems` lists them
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
}

/// The communicator that files are checked against.
#[derive(Debug, Args)]
#[command(next_help_heading = "Communicator to check against")]
pub struct LintCommunicator {
    #[command(flatten)]
    pub source: Option<Source>,
    #[command(flatten)]
    pub known: Known,
}

/// What the communicator's source does not say itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Communicator")]
pub struct Known {
    /// NCCL version; else the input's, else the newest known. An unknown one takes the nearest
    /// older one
    #[arg(long, value_name = "VERSION")]
    pub nccl: Option<String>,
    /// The number of ranks, where the source does not state it
    #[arg(long, value_name = "N")]
    pub ranks: Option<i32>,
    /// The number of nodes, where the source does not state it
    #[arg(long, value_name = "N")]
    pub nodes: Option<i32>,
    /// Compute capability of the GPUs, which graphs and logs do not state: 9.0
    #[arg(long, value_name = "X.Y")]
    pub comp_cap: Option<String>,
    /// The CPU, which graphs do not state: intel, amd, zhaoxin, arm, power
    #[arg(long, value_name = "KIND")]
    pub cpu: Option<String>,
    /// Which communicator of a log, from 1
    #[arg(long, value_name = "N")]
    pub communicator: Option<usize>,
    /// A variable of the environment, over those of the source; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
}

/// The call that is decided about.
#[derive(Debug, Args)]
#[command(next_help_heading = "Call")]
pub struct Call {
    /// `all_reduce`, `all_gather`, `reduce_scatter`, `broadcast` or `reduce`
    #[arg(long, value_name = "NAME", default_value = "all_reduce")]
    pub collective: String,
    /// Operations that are pipelined per channel
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub pipe_ops: u32,
    /// Type of the elements
    #[arg(long, value_name = "TYPE", default_value = "float")]
    pub datatype: String,
    /// Operator of the reduction
    #[arg(long, value_name = "OP", default_value = "sum")]
    pub op: String,
}

/// NCCL's predictions against measured times, its choices against forced runs
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner audit nccl.log all_reduce.txt
  tier6 tuner audit v100x4-nv2 all_reduce.txt --nccl 2.22.3
  tier6 tuner audit l40sx8-roce200-2n 'sweep/*.txt' --format json
  tier6 tuner choose --graph graph.xml -o choices.csv; tier6 tuner audit choices.csv run.txt
")]
pub struct Audit {
    /// Where predictions come from: a log, a graph file, a communicator, a system, or choices as CSV
    #[arg(value_name = "LOG_OR_TABLE")]
    pub reference: String,
    /// Measurements; `NCCL_ALGO` and `NCCL_PROTO` are read from their environment, index or name
    #[arg(required = true, value_name = "MEASURED")]
    pub files: Vec<String>,
    /// Show the predictions for forced runs, too
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub known: Known,
    #[command(flatten)]
    pub reading: MeasuredReading,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// A tuner configuration file from forced sweeps: few rows, safe paths, expected gain
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner config 'sweep/*.txt' --dry-run
  tier6 tuner config 'sweep/*.txt' -o nccl_tuner.conf
  tier6 tuner config 'sweep/*.txt' -o rccl_tuner.csv --dialect rccl --margin 2%
  tier6 tuner config 'sweep/*.txt' --system h100x8-dgx-2n --nccl 2.27.7 -o nccl_tuner.conf

A sweep is a benchmark under NCCL_ALGO or NCCL_PROTO, or both; runs without either are
NCCL's own choice. What was forced is read from the run's environment, its command, the
index beside it, or its name: `run_ring_ll128.txt`.
")]
pub struct Config {
    /// Measurements under `NCCL_ALGO` and `NCCL_PROTO`, and without
    #[arg(required = true, value_name = "SWEEP")]
    pub files: Vec<String>,
    /// Where to write the file; without it the file is printed
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The plug-in that reads the file: nvidia-example, rccl, ncclx-csv
    #[arg(long, value_name = "DIALECT", default_value = "nvidia-example")]
    pub dialect: String,
    /// Write nothing; show rows, gains and the file
    #[arg(long)]
    pub dry_run: bool,
    /// A row must gain this much per size
    #[arg(long, value_name = "PERCENT", default_value = "1%")]
    pub margin: String,
    /// Write LL128 without proof that NCCL uses it by itself; where it does not, LL128 may corrupt
    /// data
    #[arg(long)]
    pub trust_ll128: bool,
    /// Form of what speaks for the file
    #[arg(long, value_enum)]
    pub format: Option<TextFormat>,
    #[command(flatten)]
    pub communicator: MeasuredCommunicator,
    #[command(flatten)]
    pub reading: MeasuredReading,
}

/// Where two versions, systems or tuner files choose differently, and what it costs
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 tuner diff 2.22.3 2.27.7 --system h100x8-dgx-2n
  tier6 tuner diff h100x8-dgx-2n h100x8-ndv5-2n --nccl 2.27.7 --collective all_gather
  tier6 tuner diff default nccl_tuner.conf --system h100x8-dgx --wide
")]
pub struct Diff {
    /// A version, system, log, graph, communicator, tuner file, or `default`: NCCL's own choice
    #[arg(value_name = "A")]
    pub a: String,
    /// The same
    #[arg(value_name = "B")]
    pub b: String,
    /// One collective; without it all five
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// Sizes as the chooser sees them
    #[arg(long, value_name = "RANGE", default_value = "1K..8G:x2")]
    pub sizes: String,
    /// Type of the elements
    #[arg(long, value_name = "TYPE", default_value = "float")]
    pub datatype: String,
    /// Operator of the reduction
    #[arg(long, value_name = "OP", default_value = "sum")]
    pub op: String,
    /// Dialect of tuner files; else told by name and fields
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Option<String>,
    /// Show every size
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub communicator: BaseCommunicator,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// The communicator that versions and tuner files choose on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Communicator for versions and tuner files")]
pub struct BaseCommunicator {
    #[command(flatten)]
    pub source: Option<Source>,
    #[command(flatten)]
    pub known: Known,
}

/// The communicator that was measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Communicator that was measured")]
pub struct MeasuredCommunicator {
    #[command(flatten)]
    pub source: Option<Source>,
    #[command(flatten)]
    pub known: Known,
}

/// What the measurements do not say themselves; ranks and nodes are the communicator's.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct MeasuredReading {
    /// Read measurements as this format, whatever the content looks like
    #[arg(long = "as", value_name = "DIALECT")]
    pub read_as: Option<String>,
    /// The collective, where the measurements do not name it
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// Column of a foreign CSV: `time_us=Latency`, `size_bytes=Bytes`
    #[arg(long = "map", value_name = "OURS=THEIRS")]
    pub columns: Vec<String>,
}
