//! Arguments as typed. Each help page starts with examples.

pub mod calibrate;
pub mod experiment;
pub mod predict;
pub mod simulate;
pub mod tuner;

use clap::builder::FalseyValueParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// What `tier6` prints when called alone.
pub const GREETING: &str = "\
tier6: from benchmark files of GPU collectives to models that one can trust

  tier6 demo                               a tour on a bundled 31-point V100 scan
  tier6 analyze all_reduce.txt             segments, fits, verdicts of an nccl-tests run
  tier6 compare before.txt after.txt       did it regress, where, and why

Other commands: predict, simulate, experiment, calibrate, systems, convert, validate, tuner,
                completions, man
Help:           tier6 --help, tier6 COMMAND --help
";

const EXAMPLES: &str = "\
Examples:
  tier6 demo
  tier6 analyze all_reduce.txt --log nccl.log
  mpirun ... all_reduce_perf -b 8 -e 8G -f 2 | tier6 analyze -
  tier6 compare before.txt after.txt
  tier6 analyze run.txt -o report.html
";

const EXITS: &str = "\
Exit codes:
  0  done                         5  outside a model's domain
  1  internal error              10  the answer is no: regression,
  2  usage                            check failed, data wrong
  3  input cannot be read        12  simulation stopped
  4  nothing to work on
";

/// Models and verdicts from GPU collective benchmarks
#[derive(Debug, Parser)]
#[command(name = "tier6", version, styles = STYLES, before_help = EXAMPLES, after_help = EXITS)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub global: Global,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Colour in the terminal
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        env = "TIER6_COLOR"
    )]
    #[arg(
        hide_env_values = true,
        help_heading = "Global options",
        display_order = 900
    )]
    pub color: When,
    /// Draw plots and tables with ASCII only
    #[arg(long, global = true, env = "TIER6_ASCII", value_parser = FalseyValueParser::new())]
    #[arg(
        hide_env_values = true,
        help_heading = "Global options",
        display_order = 901
    )]
    pub ascii: bool,
    /// Progress of long reads: a bar on a terminal, or plain lines for logs
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        env = "TIER6_PROGRESS"
    )]
    #[arg(
        hide_env_values = true,
        help_heading = "Global options",
        display_order = 902
    )]
    pub progress: Progress,
    /// No warnings on standard error
    #[arg(
        short,
        long,
        global = true,
        help_heading = "Global options",
        display_order = 903
    )]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    Auto,
    Plain,
    None,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Analyze(Analyze),
    Compare(Compare),
    Convert(Convert),
    Validate(Validate),
    Calibrate(calibrate::Calibrate),
    Predict(predict::Predict),
    Simulate(simulate::Simulate),
    Experiment(experiment::Experiment),
    Systems(predict::Systems),
    Tuner(tuner::Tuner),
    Demo(Demo),
    /// Print completions for a shell
    #[command(before_help = "Example:\n  tier6 completions bash > /etc/bash_completion.d/tier6\n")]
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write one page per command
    #[command(before_help = "Examples:\n  tier6 man | man -l -\n  tier6 man -o share/man/man1\n")]
    Man {
        /// Write the pages of all commands into this folder
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
}

/// Segments, fits, regions and verdicts of measurements
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 analyze all_reduce.txt
  tier6 analyze perf.txt --log tuning.log --wide
  tier6 analyze run.json -o report.html
  tier6 analyze results/ --format json | jq '.series[].fits'
  tier6 analyze run.txt --predict 3M,96M
  tier6 analyze table.csv --map time_us=Latency --collective all_gather --ranks 16
")]
pub struct Analyze {
    /// Files, folders, globs; `-` is standard input; .gz and .zst are read as they are
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// NCCL log that tells which path ran (`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING`)
    #[arg(long = "log", value_name = "NCCL_LOG")]
    pub logs: Vec<String>,
    /// Fit one more line to this range of sizes: 16M..1G
    #[arg(long, value_name = "FIRST..LAST")]
    pub range: Option<String>,
    /// Predict the time of sizes that were not measured: 3M,96M or 1M..1G:x2
    #[arg(long, value_name = "SIZES")]
    pub predict: Option<String>,
    /// Show one placement only; without it both
    #[arg(long, value_enum)]
    pub placement: Option<Placement>,
    /// Show everything: both losses, all points
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub output: Output,
}

/// What changed between two runs, where, and the likely cause
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 compare before.txt after.txt
  tier6 compare nccl-2.22.json nccl-2.27.json --min-effect 5%
  tier6 compare base.txt new.txt --format json   # exit 10 on a regression
  tier6 compare base.txt new.txt -o diff.html
")]
pub struct Compare {
    /// The run to compare with
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The run in question
    #[arg(value_name = "NEW")]
    pub new: String,
    /// Changes smaller than this are no change
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "3%",
        allow_negative_numbers = true
    )]
    pub min_effect: String,
    /// Share of false alarms among the sizes that are called changed
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        allow_negative_numbers = true
    )]
    pub fdr: String,
    /// Compare one placement only; without it both
    #[arg(long, value_enum)]
    pub placement: Option<Placement>,
    /// Show speeds even where data is wrong
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub output: Output,
}

/// Rewrite measurements in another format
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 convert run.json -o run.csv
  tier6 convert pasted.md -o clean.txt     # the table of nccl-tests
  tier6 convert run.txt -o run.jsonl
")]
pub struct Convert {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub file: String,
    /// Where to write; the suffix picks the format: .csv, .txt, .jsonl
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// tier6's CSV, the table of nccl-tests, or one JSON object per sample
    #[arg(long, value_enum)]
    pub format: Option<ConvertFormat>,
    #[command(flatten)]
    pub reading: Reading,
}

/// How well models predict sizes that they were not fitted on
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 validate                                   # the bundled measurements
  tier6 validate results/ --holdout kfold:5
  tier6 validate run.txt --engine fit,math --system h100-x8
  tier6 validate run.txt --holdout large --format json
  tier6 validate --engine fit,math --holdout plan:5     # five sizes predict the others
  tier6 validate 2node.txt 4node.txt 8node.txt --engine math --holdout ranks --system a100-x8-ib-hdr
")]
pub struct Validate {
    /// Measurements; none means the bundled ones
    #[arg(value_name = "DATASET")]
    pub files: Vec<String>,
    /// Engines to hold against the data: fit, math, g5
    #[arg(
        long,
        value_name = "ENGINE",
        value_delimiter = ',',
        default_value = "fit"
    )]
    pub engine: Vec<String>,
    /// The system that was measured, for engines that price one; bundled data name theirs
    #[arg(long, value_name = "NAME|FILE")]
    pub system: Option<String>,
    /// What is held out: sizes (alternate, large, kfold:K, all but the K planned ones: plan:K),
    /// or whole sweeps (the most ranks of a family: ranks; all above N ranks: ranks:N)
    #[arg(long, value_name = "SCHEME", default_value = "alternate")]
    pub holdout: String,
    /// Show every set, not only the summary
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

/// A tour on a bundled measurement: 4 V100, AllReduce, 1 B to 1 GiB
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 demo
  tier6 demo -o demo.html
")]
pub struct Demo {
    #[command(flatten)]
    pub output: Output,
}

/// Limits and choices of the model.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub struct Model {
    /// A size is unstable when its coefficient of variation is above this
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        allow_negative_numbers = true
    )]
    pub cv: String,
    /// Saturation starts where every algbw reaches this share of the peak
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "80%",
        allow_negative_numbers = true
    )]
    pub saturation: String,
    /// Rate of a rank's link in one direction, the yardstick for busbw: `450`, `400Gb/s`
    #[arg(long, value_name = "GB/S")]
    pub line_rate: Option<String>,
    /// The loss of the fits that are shown first
    #[arg(long, value_enum, default_value = "relative")]
    pub loss: Loss,
}

/// What the input does not say itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct Reading {
    /// Read as this format, whatever the content looks like
    #[arg(long = "as", value_name = "DIALECT")]
    pub dialect: Option<String>,
    /// The collective, where the input does not name it
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// The number of ranks, where the input does not state it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..))]
    pub ranks: Option<u32>,
    /// The number of nodes, where the input does not state it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// Column of a foreign CSV: `time_us=Latency`, `size_bytes==8GiB`; one more for each further
    /// column of the same kind
    #[arg(long = "map", value_name = "OURS=THEIRS")]
    pub columns: Vec<String>,
}

/// Where the result goes, and in which of its forms.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output<F: ValueEnum + Send + Sync + 'static = Format> {
    /// Form of the result
    #[arg(long, value_enum)]
    pub format: Option<F>,
    /// Write to a file; the suffix picks the form
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Placement {
    OutOfPlace,
    InPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Loss {
    Relative,
    Absolute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Table,
    Json,
    Csv,
    Md,
    Svg,
    Html,
}

/// Forms of a result with a chart, but no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartFormat {
    Table,
    Json,
    Csv,
    Md,
    Svg,
}

/// Forms of a result without charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    Table,
    Json,
    Csv,
    Md,
}

impl From<ChartFormat> for Format {
    fn from(format: ChartFormat) -> Self {
        match format {
            ChartFormat::Table => Self::Table,
            ChartFormat::Json => Self::Json,
            ChartFormat::Csv => Self::Csv,
            ChartFormat::Md => Self::Md,
            ChartFormat::Svg => Self::Svg,
        }
    }
}

impl From<TextFormat> for Format {
    fn from(format: TextFormat) -> Self {
        match format {
            TextFormat::Table => Self::Table,
            TextFormat::Json => Self::Json,
            TextFormat::Csv => Self::Csv,
            TextFormat::Md => Self::Md,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConvertFormat {
    Csv,
    Txt,
    Jsonl,
}
