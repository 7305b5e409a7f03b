//! Arguments of `tier6 experiment` as typed.

use super::Format;
use clap::Args;
use std::path::PathBuf;

/// Algorithms over message sizes or ranks, by both engines side by side
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 experiment                          # the four of source document 004
  tier6 experiment 1 4 -o plots             # tables, CSV, SVG and one page
  tier6 experiment both-directions --format csv
  tier6 experiment mine.toml --wide
")]
#[command(after_help = "\
An experiment is a TOML file:
  system = \"h100-x8\"          # of `tier6 systems`, or a file
  ranks = [4, 8]
  sizes = \"1K..1G:x4\"
  baseline = \"ring\"           # optional: the others are divided by it
  engines = [\"math\", \"g5\"]  # both when absent
  fidelity = \"flow\"           # of g5: flow (when absent) or packet
  [[line]]
  collective = \"all_reduce\"
  algorithms = [\"ring\", \"tree\"]
Also `name`, `title`, `note`, and `[[reference]]` for times from elsewhere.
Exit 3 for a bad file, 4 when no call of any experiment could run.
")]
pub struct Experiment {
    /// Names or numbers of source document 004's experiments, or TOML files; none means the four
    #[arg(value_name = "NAME|NUMBER|FILE")]
    pub experiments: Vec<String>,
    /// Show the times of both engines
    #[arg(long)]
    pub wide: bool,
    /// Form of what is printed
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<Format>,
    /// Write into this folder: per experiment .md, .csv and .svg, and index.html and
    /// experiments.json of all
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,
}
