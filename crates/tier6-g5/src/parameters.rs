//! The parameters of every layer, as the engine uses them. [`G5Parameters::ideal`] turns every
//! layer off, [`G5Parameters::defaults`] turns them on as published, [`G5Parameters::check`] tells
//! what cannot run.

mod check;
mod defaults;

pub use check::ParameterError;

use tier6_units::{ByteTime, SimTime};

/// What the layers above and below the links do.
#[derive(Debug, Clone, PartialEq)]
pub struct G5Parameters {
    /// Fixed time of a call, `T_sw`, outside the simulated hardware.
    pub software: SimTime,
    /// The engines that move data of a chip.
    pub cdma: Cdma,
    /// Memory and reduction of a chip.
    pub memory: Memory,
    /// The transaction layer; `None` for a message that enters the link whole.
    pub paxi: Option<Paxi>,
    /// The reliable link layer; `None` for links that lose nothing and need no credits.
    pub rc_link: Option<RcLink>,
    /// What switches do with packets that wait.
    pub queue: SwitchQueue,
    /// How a packet chooses among equal paths.
    pub paths: PathChoice,
    /// Congestion control of senders.
    pub rate_control: RateControl,
    /// Groups for which a switch adds at a time (SHARP); `None` for any number (FACTS B.7).
    pub contexts: Option<u32>,
}

/// The engines (CDMA) that move data out of a chip (FACTS A.2, A.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cdma {
    /// Engines per chip, which share the chip's rate evenly: k engines move k/units of it.
    pub units: u32,
    /// Instructions that one engine holds at a time; they share one datapath.
    pub threads: u32,
    /// Over how many engines a message goes.
    pub split: CdmaSplit,
    /// Receives that may be posted per engine before the first is used up.
    pub credits: u32,
    /// Time from a ready instruction to its first byte.
    pub start: SimTime,
    /// Time from the last byte to the completion that dependents see.
    pub sync: SimTime,
    /// Rate of all engines of a chip together; `None` for no limit beside the links.
    pub rate: Option<ByteTime>,
}

/// Over how many engines a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CdmaSplit {
    /// All of them, whatever its size: the split is off.
    All,
    /// As many as it has pieces of this many bytes, at most all: min(units, ⌈bytes/split⌉).
    Per(u64),
}

/// Memory of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Time per byte of a reduction of arriving data (γ); zero when it costs nothing beside the
    /// transfer.
    pub reduce: ByteTime,
    /// Time per byte of a local copy.
    pub copy: ByteTime,
}

/// The transaction layer (PAXI): messages as segments, a bound on those that await a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paxi {
    /// Latency that the layer adds to a path, both ends together.
    pub latency: SimTime,
    /// Largest payload of a segment in bytes (MPS).
    pub segment: u32,
    /// Requests of a chip, over all its ports, that may await their response.
    pub outstanding: u32,
}

/// The reliable connected link layer: frames, credits, acknowledgement, retransmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RcLink {
    /// Virtual channels of every link.
    pub channels: Channels,
    /// Header and framing bytes around a segment.
    pub overhead: u32,
    /// What the headers carry.
    pub headers: Headers,
    /// Bits of a sequence number.
    pub sequence_bits: u32,
    /// Frames of a queue pair that may be unacknowledged: its slots.
    pub window: u32,
    /// What is sent again after a loss.
    pub recovery: Recovery,
    /// Credits of a receive buffer.
    pub credits: Option<Credits>,
    /// How acknowledgements are merged.
    pub ack: AckMerge,
    /// Bytes of an acknowledgement frame; 0 for acknowledgements that cost no bandwidth.
    pub ack_bytes: u32,
    /// Time after which unacknowledged frames are sent again.
    pub timeout: SimTime,
    /// Retransmissions in a row before the queue pair is fatal.
    pub retries: u32,
    /// Probability that a frame is lost on a link.
    pub loss: f64,
}

/// A class of traffic (FACTS A.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Frames of messages between two chips.
    Request,
    /// Acknowledgements, where they have bytes.
    Response,
    /// Frames that switches copy or add.
    Multicast,
}

/// Virtual channels: each has its own queues at a port, its own credits of a link, and its own
/// share and pauses at the input of a switch. Frames of one channel keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// How many: 1 for all classes, 2 for one of responses alone, 3 for one of each class.
    pub count: u32,
    /// Who goes first at a port.
    pub arbiter: Arbiter,
}

/// Who goes first when several channels have something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbiter {
    /// Responses, then multicasts, then requests.
    Strict,
    /// In turn, so many frames of requests, of responses, of multicasts.
    Weighted([u32; 3]),
}

/// Credits of a link's receiver (FACTS D.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credits {
    /// Size of a credit in bytes.
    pub unit: u32,
    /// Credits of a buffer.
    pub count: u32,
    /// How often credits are returned; zero for at once.
    pub period: SimTime,
    /// Between whom they count.
    pub scope: CreditScope,
}

/// Between whom credits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditScope {
    /// Between the two ends of every link: nothing is ever dropped for want of room.
    PerLink,
    /// Between the two chips: a switch on the way keeps its own queues, and may drop.
    EndToEnd,
}

/// How acknowledgements are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckMerge {
    /// One for every frame.
    Never,
    /// One cumulative acknowledgement per visit: the receiver's scanner visits one queue pair with
    /// something to acknowledge in this time, so the delay grows with the number of them. A
    /// message's last frame forces one at once.
    Every(SimTime),
}

/// What the headers of a frame carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headers {
    /// An IP header among them: a switch can set a congestion mark.
    Ip,
    /// No IP header: nothing can be marked, so congestion control that lives on marks is dead.
    Compressed,
}

/// What is sent again after a loss (FACTS D.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Everything from the lost frame on; the receiver takes frames in order only.
    GoBackN,
    /// The lost frame alone; the receiver takes frames in any order within the window.
    Selective {
        /// By how many frames one may overtake another before that one counts as lost: 0 where
        /// paths keep order.
        reorder: u32,
    },
}

/// What switches do with packets that wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchQueue {
    /// Buffer that the ports of a switch share, in bytes; `None` for no bound.
    pub buffer: Option<u64>,
    /// `α_dt` of the dynamic threshold: a queue may hold this many times the free buffer.
    pub dynamic_threshold: f64,
    /// Pause frames; without them what finds no room is dropped.
    pub pfc: Option<Pfc>,
    /// Congestion marks.
    pub ecn: Option<Ecn>,
}

/// Priority flow control (FACTS D.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pfc {
    /// Bytes of an input port that never pause.
    pub reserve: u64,
    /// Bytes below the threshold at which a paused neighbour resumes.
    pub resume: u64,
    /// Bytes of an input port above the threshold for what is in flight.
    pub headroom: u64,
}

/// Congestion marks of an output queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ecn {
    /// The marking curve.
    pub curve: EcnCurve,
}

/// Probability of a mark: 0 below `k_min`, linear to `p_max` at `k_max`, 1 above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EcnCurve {
    /// Queue in bytes.
    pub k_min: u64,
    /// Queue in bytes.
    pub k_max: u64,
    /// Probability at `k_max`.
    pub p_max: f64,
}

/// How a packet chooses among equal paths (FACTS D.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathChoice {
    /// One path per pair of chips, chosen by a hash of the seed: ECMP.
    PerFlow,
    /// This many sub-flows per pair of chips, each hashed.
    SubFlows(u32),
    /// Every packet at random.
    Spray,
    /// Packets in turn.
    RoundRobin,
    /// The path that the topology prefers (d-mod-k in fat trees): no collision by chance.
    Preferred,
}

/// Congestion control of senders. The rate is kept by a budget of bytes per window of
/// [`Dcqcn::budget`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateControl {
    /// Line rate.
    Off,
    /// DCQCN (FACTS D.1).
    Dcqcn(Dcqcn),
}

/// What a cut does to the target rate, to which fast recovery returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetClamp {
    /// The rate before the cut becomes the target.
    Always,
    /// Only if the rate was raised since the last cut; several cuts in a row return to where the
    /// first began.
    AfterIncrease,
}

/// The parameters of DCQCN (FACTS D.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dcqcn {
    /// Gain of the congestion estimate a.
    pub g: f64,
    /// Period after which a decays.
    pub alpha_period: SimTime,
    /// a at the first notice.
    pub initial_alpha: f64,
    /// At most one cut in this time.
    pub cut_interval: SimTime,
    /// What a cut does to the target of recovery.
    pub clamp: TargetClamp,
    /// At most one notice per flow in this time; zero for one per marked packet.
    pub cnp_interval: SimTime,
    /// Timer T of increases.
    pub timer: SimTime,
    /// Byte counter of increases; `None` for none.
    pub byte_counter: Option<u64>,
    /// F: events of fast recovery.
    pub fast_recovery: u32,
    /// `R_AI` in bytes per second.
    pub additive: f64,
    /// `R_HAI` in bytes per second.
    pub hyper: f64,
    /// Lowest rate in bytes per second.
    pub min_rate: f64,
    /// Window of the byte budget by which a queue pair keeps its rate; zero for a gap after every
    /// frame.
    pub budget: SimTime,
}

impl G5Parameters {
    /// Returns every layer turned off: messages move at the payload rate of the links, start and
    /// complete at once, and nothing is lost. A run then equals the closed form.
    pub const fn ideal() -> Self {
        Self {
            software: SimTime::ZERO,
            cdma: Cdma {
                units: 1,
                threads: u32::MAX,
                split: CdmaSplit::All,
                credits: u32::MAX,
                start: SimTime::ZERO,
                sync: SimTime::ZERO,
                rate: None,
            },
            memory: Memory {
                reduce: ByteTime::ZERO,
                copy: ByteTime::ZERO,
            },
            paxi: None,
            rc_link: None,
            queue: SwitchQueue {
                buffer: None,
                dynamic_threshold: 1.0,
                pfc: None,
                ecn: None,
            },
            paths: PathChoice::Preferred,
            rate_control: RateControl::Off,
            contexts: None,
        }
    }
}
