//! Arguments of `tier6 predict` and `tier6 systems` as typed.

use super::{ChartFormat, Output, TextFormat};
use clap::{Args, Subcommand};

/// What a collective costs on a described system, by its parts
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 predict --system h100-x8 --collective all_reduce --sizes 1K..1G:x4
  tier6 predict --system h100-x8 --collective all_reduce --algorithm all --sizes 1M,64M
  tier6 predict --system a100-x8-ib-hdr --ranks 32 --collective all_gather --algorithm ring
  tier6 predict --system h100-x8 --collective all_reduce --algorithm ring --protocol ll
  tier6 predict --system h100-x8 --ranks 6 --collective all_reduce --algorithm all \\
      --variant fold=halves,trees=single
  tier6 predict --system my-machine.toml --collective all_to_all --format json
")]
#[command(after_help = "\
Variants, the default first; one that no algorithm in question has is an error:
  trees=double|single|over_nodes       tree; over_nodes is the default on several nodes
  fold=whole|halves                    halving_doubling: ranks beyond a power of two
  distance=doubling|halving            halving_doubling: which partner comes first
  gather=ring|doubling                 scatter_all_gather
  second_shot=direct|multicast         two_shot
  bidir=short_side|split_data          bidir_ring
  partner=shift|xor                    pairwise
  torus=4x4 torus_ports=all|one        torus_bucket
  pat_blocks=all|N                     pat: the most blocks in a message
  pieces=512K|N|best                   tree, and ring in broadcast and reduce
  overlap=serial|full|N                hierarchical: its stages in N pieces
  channels=rotated|all_peers|one       ring, tree, send_recv_ring, hierarchical
  spread=even|preferred                how a flow uses equal routes
Of channels, spread and torus the fabric of the system says the default.

Closed forms with the system's constants. A preset that was not calibrated gives
`assumed` evidence: some constant is a prior. Protocols take their step times and shares of
the rate from the system; one without them is priced by its links.
Exit 5 when the system or N does not do what is asked for, 3 for a bad system file.
")]
pub struct Predict {
    /// A system of `tier6 systems`, or a TOML file; `-` is standard input
    #[arg(long, value_name = "NAME|FILE")]
    pub system: String,
    /// The collective: `all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, ...
    #[arg(long, value_name = "NAME")]
    pub collective: String,
    /// An algorithm, `all` of them ranked, or `auto`: for each size the fastest that NCCL runs
    #[arg(long, value_name = "NAME|all|auto", default_value = "auto")]
    pub algorithm: String,
    /// `ll`, `ll128`, `simple`, `auto`: the fastest, or `none`: steps cost what links cost
    #[arg(long, value_name = "NAME|auto|none", default_value = "auto")]
    pub protocol: String,
    /// Forms of algorithms other than the default, listed below; may be given several times
    #[arg(long = "variant", value_name = "NAME=VALUE,..")]
    pub variants: Vec<String>,
    /// Rings forward whole messages, or slices of this size
    #[arg(long, value_name = "SIZE|message", default_value = "message")]
    pub grain: String,
    /// The number of ranks; all chips when absent, more than the system has add nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..))]
    pub ranks: Option<u32>,
    /// The number of nodes, over which the ranks are spread evenly
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// Message sizes in nccl-tests' meaning
    #[arg(long, value_name = "RANGE", default_value = "1K..1G:x4")]
    pub sizes: String,
    /// The engine: math
    #[arg(long, value_name = "ENGINE", default_value = "math")]
    pub engine: String,
    /// Tell the bottleneck of every row, not once for neighbours that share it
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub output: Output<ChartFormat>,
}

/// The systems that come with tier6, or one of them with every constant
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(before_help = "\
Examples:
  tier6 systems
  tier6 systems show h100-x8
  tier6 systems show my-machine.toml
  tier6 systems show h100-x8 --format json | jq -r .written > my-machine.toml
")]
pub struct Systems {
    #[command(subcommand)]
    pub command: Option<SystemsCommand>,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}

#[derive(Debug, Subcommand)]
pub enum SystemsCommand {
    Show(Show),
}

/// What is written in a system and what is derived, with the evidence of each constant
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 systems show h100-x8
  tier6 systems show h100-x8-ib-ndr --nodes 16
  tier6 systems show my-machine.toml --format md
")]
#[command(after_help = "\
Evidence: `stated` in the file without a source, `read` in the source named, `derived`
from numbers that were read, `fitted` on measurements, `assumed`: a prior, not checked.
")]
pub struct Show {
    /// A system of `tier6 systems`, or a TOML file; `-` is standard input
    #[arg(value_name = "NAME|FILE")]
    pub system: String,
    /// The number of nodes, when it is another one
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    #[command(flatten)]
    pub output: Output<TextFormat>,
}
