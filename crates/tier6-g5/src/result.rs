//! What a run ends with.

use tier6_collective::TransferId;
use tier6_system::LinkId;
use tier6_units::SimTime;

use crate::Timeline;

/// The result of a run that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Time of the call, software included.
    pub total: SimTime,
    /// Time of the hardware: from the first instruction of the call to its last completion.
    pub hardware: SimTime,
    /// The same of all calls together.
    pub whole: SimTime,
    /// Where the time of the critical path went; the parts sum to `total`.
    pub parts: Parts,
    /// The critical path, first step first.
    pub critical_path: Vec<PathStep>,
    /// What each link carried, by link.
    pub links: Vec<(LinkId, LinkAccount)>,
    /// What each chip did, by rank, one job after another.
    pub chips: Vec<ChipAccount>,
    /// When each job began and ended.
    pub jobs: Vec<(SimTime, SimTime)>,
    /// What limited the run.
    pub bottleneck: Bottleneck,
    /// Events handled, those inside the network included.
    pub events: u64,
    /// Messages that chips sent.
    pub messages: u64,
    /// Packets times links crossed; 0 for `flow`.
    pub packet_hops: u64,
    /// What happened when, if the run kept it.
    pub timeline: Option<Timeline>,
}

/// Where the time of the critical path went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// `T_sw`.
    pub software: SimTime,
    /// Links, switches, engine starts and completions, unloaded.
    pub latency: SimTime,
    /// Bytes at the rate that an empty network gives.
    pub transfer: SimTime,
    /// Reductions and local copies.
    pub reduce: SimTime,
    /// Everything that an empty network would not have cost: queues, shared links, credits,
    /// pauses, retransmission, late ranks.
    pub stall: SimTime,
}

/// One step of the critical path: a transfer, when it could begin, and when that had happened
/// which the next step waited for: its completion, or that its port was free again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathStep {
    /// The job.
    pub job: u32,
    /// The transfer.
    pub transfer: TransferId,
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// When it could begin.
    pub ready: SimTime,
    /// When the next step could go on.
    pub done: SimTime,
}

/// What a link carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkAccount {
    /// Bytes on the wire, headers and retransmissions included.
    pub wire_bytes: u64,
    /// Payload bytes.
    pub payload_bytes: u64,
    /// Time in which something was on the wire; at `flow` fidelity, bytes over rate.
    pub busy: SimTime,
    /// Time in which it waited for credit with something to send.
    pub credit_stall: SimTime,
    /// Time in which it was paused with something to send.
    pub paused: SimTime,
    /// Largest queue in bytes.
    pub peak_queue: u64,
    /// Packets that got a congestion mark.
    pub marked: u64,
    /// Packets dropped or lost.
    pub lost: u64,
    /// Packets sent again.
    pub resent: u64,
}

/// What a chip did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChipAccount {
    /// Time in which some engine sent.
    pub sending: SimTime,
    /// Time in which it reduced or copied.
    pub reducing: SimTime,
    /// Time in which it had instructions, all of which waited for the receiver's credit.
    pub waiting_for_credit: SimTime,
    /// Time in which it had instructions, all of which waited for data of a peer.
    pub waiting_for_peer: SimTime,
    /// When its last instruction was complete.
    pub done: SimTime,
}

/// What limited a run; its text names the thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Bottleneck {
    /// The link that carried most for its rate, if any link carried something.
    pub link: Option<LinkId>,
    /// Share of the hardware time in which it was busy, 0 to 1.
    pub busy_share: f64,
    /// One sentence: what limited the run and why.
    pub sentence: String,
}

/// A run that did not end by itself.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason} at {at}, {done} of {transfers} transfers done")]
pub struct RunStop {
    /// Why.
    pub reason: StopReason,
    /// When.
    pub at: SimTime,
    /// Transfers that were complete.
    pub done: u64,
    /// Transfers of the schedule.
    pub transfers: u64,
    /// Who waits for whom.
    pub waits: Vec<Wait>,
    /// What had happened.
    pub so_far: SoFar,
}

/// What had happened when a run stopped.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SoFar {
    /// What each link had carried, by link.
    pub links: Vec<(LinkId, LinkAccount)>,
    /// What each chip had done, by rank, one job after another.
    pub chips: Vec<ChipAccount>,
    /// What happened when, if the run kept it; what was under way ends with the run.
    pub timeline: Option<Timeline>,
}

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// Nothing is left to happen and not all is done, and the waits form a cycle.
    #[error("deadlock")]
    Deadlock,
    /// Nothing is left to happen and not all is done: something will never come.
    #[error("stalled")]
    Stalled,
    /// A queue pair gave up after too many retransmissions.
    #[error("a queue pair gave up after {retries} retransmissions")]
    QueuePairFatal {
        /// The limit.
        retries: u32,
    },
    /// The limit of events.
    #[error("limit of {0} events reached")]
    Events(u64),
    /// The limit of simulated time.
    #[error("limit of {0} simulated time reached")]
    Time(SimTime),
    /// A law that always holds did not: a bug of the engine.
    #[error("internal: {0}")]
    Broken(String),
}

/// Somebody who waits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// Who: `rank 3 (transfer 17)`, `queue of link leaf 0 to spine 1`.
    pub who: String,
    /// For whom or what.
    pub for_whom: String,
    /// Why.
    pub why: String,
}

impl Wait {
    /// Why a transfer waits for a message that the schedule of a file has nobody send.
    pub const UNSENT: &'static str = "nobody sends this message";
}
