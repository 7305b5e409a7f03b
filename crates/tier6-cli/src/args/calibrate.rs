//! Arguments of `tier6 calibrate` as typed.

use super::{Output, Reading, TextFormat};
use clap::Args;

/// The constants of a described system from measurements
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 calibrate run.txt --system h100-x8 -o calibrated.toml
  tier6 calibrate 1node.txt 2node.txt 4node.txt --system a100-x8-ib-hdr -o calibrated.toml
  tier6 calibrate run.txt --system my-machine.toml --method b
  tier6 calibrate run.txt --system h200-x8 --engine g5 -o calibrated.toml
  tier6 calibrate --system h100-x8 --plan 5 --sizes 8..8G:x2   # what to measure
  tier6 predict --system calibrated.toml --collective all_reduce
")]
#[command(after_help = "\
Several data sets (sizes, rank counts, collectives, algorithms, protocols) calibrate one
system together. `-o FILE.toml` writes the system and leaves the report on standard
output; any other suffix writes the report. What the data cannot tell is named
with the measurement that would; with `--strict` that ends the command with exit 5.
")]
pub struct Calibrate {
    /// Measurements: files, folders, globs; `-` is standard input
    #[arg(value_name = "DATASET", required_unless_present = "plan")]
    pub files: Vec<String>,
    /// A system of `tier6 systems`, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    pub system: String,
    /// Whose constants: the closed forms' (math), or the event-driven engine's (g5)
    #[arg(long, value_name = "ENGINE", default_value = "math")]
    pub engine: String,
    /// Components (a), pipelined hops (b), least squares (fit), or a grid
    #[arg(long, value_name = "METHOD", default_value = "fit")]
    pub method: String,
    /// The algorithm that was forced in all data sets (`NCCL_ALGO`)
    #[arg(long, value_name = "NAME")]
    pub algorithm: Option<String>,
    /// The protocol that was forced in all data sets (`NCCL_PROTO`)
    #[arg(long, value_name = "NAME")]
    pub protocol: Option<String>,
    /// Fail when constants are confounded, instead of keeping them near what the system says
    #[arg(long)]
    pub strict: bool,
    /// Choose this many sizes to measure, or to calibrate on out of the data sets
    #[arg(long, value_name = "SIZES", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub plan: Option<u32>,
    /// The sizes to choose from when there is no data set
    #[arg(long, value_name = "RANGE", default_value = "8..8G:x2")]
    pub sizes: String,
    /// Show every size, not only the errors of each data set
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}
