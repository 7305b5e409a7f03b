//! Arguments of `tier6 simulate` as typed.

use super::{ChartFormat, Output};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What a collective costs on a described system, by running every message of it
#[derive(Debug, Args)]
#[command(before_help = "\
Examples:
  tier6 simulate --system h100-x8 --collective all_reduce --algorithm ring --sizes 64M
  tier6 simulate --system h100-x8-ib-ndr --nodes 4 --collective all_to_all --fidelity flow
  tier6 simulate --system doc004-ring --ranks 16 --collective all_reduce --sizes 1M \\
      --grain 64K --trace ring.json --stats ring.csv
  tier6 simulate --system h100-x8 --schedule mine.json
  tier6 simulate --system h100-x8 --collective all_gather --algorithm ring \\
      --fault slow-link=chip0-nvswitch3:50% --fault late-rank=3:20us
  tier6 simulate --system h100-x8-ib-ndr --collective all_reduce --chips 0-14/2 --sizes 64M \\
      --beside all_to_all:16M:chips=1-15/2
")]
#[command(after_help = "\
Links in `--fault` are named from the sender to the receiver; `--stats` lists those in use:
  slow-link=LINK:SHARE    carries this share of its rate: 0.5, 50%
  failed-link=LINK[:TIME] carries nothing from this time on; what is down from the start
                          is routed around where there is an equal route
  late-rank=RANK:TIME     enters the call late
  loss=[LINK:]SHARE       loses frames, on every link or on one (packet fidelity)
Calls in `--beside` share links, and chips if they are the same, with the measured one:
  all_to_all:16M:algorithm=direct:chips=8-15:start=10us
Without a size it is that of the measured call, without an algorithm the one of NCCL's that
`tier6 predict` calls fastest, without chips all that no other call uses, else the same ones.
The trace is of the last size, in the Trace Event format: open it at ui.perfetto.dev, which
keeps it on your machine.
Exit 12 when a run stops: stall, deadlock, limit, with who waits for whom.
Exit 5 when the system or N does not do what is asked for, 3 for a bad system file.
")]
pub struct Simulate {
    /// A system of `tier6 systems`, or a TOML file; `-` is standard input
    #[arg(long, value_name = "NAME|FILE")]
    pub system: String,
    /// The collective: `all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, ...
    #[arg(long, value_name = "NAME", required_unless_present = "schedule")]
    pub collective: Option<String>,
    /// An algorithm, `all` of them, or `auto`: the fastest of those that NCCL runs
    #[arg(long, value_name = "NAME|all|auto", default_value = "auto")]
    pub algorithm: String,
    /// `ll`, `ll128`, `simple`, `auto`: the fastest of those that `[g5]` describes, or `none`
    #[arg(long, value_name = "NAME|auto|none", default_value = "auto")]
    pub protocol: String,
    /// A schedule instead: JSON of `tier6.schedule/1`, or MSCCL's XML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collective", "algorithm", "protocol", "variants"])]
    pub schedule: Option<String>,
    /// The number of ranks; all chips when absent, more than the system has add nodes
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..))]
    pub ranks: Option<u32>,
    /// The number of nodes, over which the ranks are spread evenly
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub nodes: Option<u32>,
    /// The chips of the ranks, in their order, instead of the first ones: `8-15`, `0-14/2`
    #[arg(long, value_name = "LIST", conflicts_with = "ranks")]
    pub chips: Option<String>,
    /// Another call that runs beside it, as below; may be given several times
    #[arg(long, value_name = "COLLECTIVE:..")]
    pub beside: Vec<String>,
    /// Message sizes in nccl-tests' meaning; a schedule in JSON has its own when absent [default:
    /// 1K..1G:x4]
    #[arg(long, value_name = "RANGE")]
    pub sizes: Option<String>,
    /// Forms of algorithms, as `tier6 predict` lists them; may be given several times
    #[arg(long = "variant", value_name = "NAME=VALUE,..")]
    pub variants: Vec<String>,
    /// Every segment with its queues, or messages as fluids
    #[arg(long, value_enum, default_value = "packet")]
    pub fidelity: Fidelity,
    /// What chance follows from: equal paths, marks, losses
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Ranks forward whole messages, or slices of this size
    #[arg(long, value_name = "SIZE|message", default_value = "message")]
    pub grain: String,
    /// Senders start at once, or wait for the receiver's credit; the algorithm's way when absent
    #[arg(long, value_enum)]
    pub handshake: Option<Handshake>,
    /// What goes wrong; may be given several times
    #[arg(long = "fault", value_name = "KIND=WHAT")]
    pub faults: Vec<String>,
    /// How the time follows each constant: every run again with each 10 % lower and higher
    #[arg(long)]
    pub sensitivity: bool,
    /// Stop a run after this many events
    #[arg(long, value_name = "N")]
    pub limit_events: Option<u64>,
    /// Write a timeline of the last size, of the fastest algorithm
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write what every link carried and every rank waited for, as CSV
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Tell the bottleneck of every row, and what the runs were made of
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub output: Output<ChartFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fidelity {
    Packet,
    Flow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Handshake {
    Eager,
    Rendezvous,
}
