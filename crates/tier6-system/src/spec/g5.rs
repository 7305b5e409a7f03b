//! `[g5]`: what a system says of the event-driven engine's layers.
//!
//! Every value may be absent; the engine then takes its own prior. A layer whose table is absent
//! is what the engine takes by default, and one with `enabled = false` is off, whatever else its
//! table says: a file can switch a layer and keep its numbers.

use crate::constant::{Constant, Efficiency};
use tier6_units::{Bytes, GbPerSec, Micros};

/// The layers of the event-driven engine, as far as a system describes them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct G5Spec {
    /// Off turns every layer off.
    pub state: LayerState,
    /// Engines that move data.
    pub cdma: Option<CdmaSpec>,
    /// Memory and reduction.
    pub memory: Option<MemorySpec>,
    /// The transaction layer.
    pub paxi: Option<PaxiSpec>,
    /// The reliable link layer.
    pub rc_link: Option<RcLinkSpec>,
    /// Messages of the protocol LL; what stands elsewhere is Simple's.
    pub ll: Option<MessageSpec>,
    /// Messages of the protocol LL128.
    pub ll128: Option<MessageSpec>,
    /// Queues of switches.
    pub switch: Option<QueueSpec>,
    /// How packets choose among equal paths.
    pub paths: Option<PathRule>,
    /// Congestion control; without its table there is none.
    pub dcqcn: Option<DcqcnSpec>,
}

/// Whether a layer is part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LayerState {
    /// It is.
    #[default]
    On,
    /// It costs nothing and holds nothing back.
    Off,
}

/// `[g5.cdma]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CdmaSpec {
    /// Whether engines are modelled.
    pub state: LayerState,
    /// Engines per chip.
    pub units: Option<u32>,
    /// Instructions that an engine holds at a time.
    pub threads: Option<u32>,
    /// Over how many engines a message goes.
    pub split: Option<SplitSpec>,
    /// Receives that may be posted per engine.
    pub credits: Option<u32>,
    /// Time from a ready instruction to its first byte.
    pub start: Option<Constant<Micros>>,
    /// Time from the last byte to the completion.
    pub sync: Option<Constant<Micros>>,
    /// Rate of all engines of a chip together.
    pub rate: Option<Constant<GbPerSec>>,
}

/// Over how many engines a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitSpec {
    /// All of them.
    All,
    /// One for every so many bytes.
    Per(Bytes),
}

/// `[g5.ll]` and `[g5.ll128]`: how messages of a protocol differ from Simple's.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageSpec {
    /// Time from the last byte to the completion, in place of the engines' `sync`.
    pub sync: Option<Constant<Micros>>,
    /// Share of the bytes moved that is data.
    pub share: Option<Constant<Efficiency>>,
}

/// `[g5.memory]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemorySpec {
    /// Whether memory costs time.
    pub state: LayerState,
    /// Rate of a reduction of arriving data.
    pub reduce: Option<Constant<GbPerSec>>,
    /// Rate of a local copy.
    pub copy: Option<Constant<GbPerSec>>,
}

/// `[g5.paxi]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PaxiSpec {
    /// Whether messages are segments that await responses.
    pub state: LayerState,
    /// What the layer adds to a path, both ends together.
    pub latency: Option<Constant<Micros>>,
    /// Largest payload of a segment.
    pub segment: Option<Bytes>,
    /// Requests of a chip that may await their response.
    pub outstanding: Option<u32>,
}

/// `[g5.rc_link]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RcLinkSpec {
    /// Whether links have frames, credits and acknowledgements.
    pub state: LayerState,
    /// Header and framing around a segment.
    pub overhead: Option<Bytes>,
    /// What the headers carry.
    pub headers: Option<HeadersSpec>,
    /// Bits of a sequence number.
    pub sequence_bits: Option<u32>,
    /// Frames of a queue pair that may be unacknowledged.
    pub window: Option<u32>,
    /// Virtual channels.
    pub channels: Option<ChannelsSpec>,
    /// What is sent again after a loss.
    pub recovery: Option<RecoverySpec>,
    /// By how many frames one may overtake another before that one counts as lost.
    pub reorder: Option<u32>,
    /// Credits of a receive buffer.
    pub credits: Option<CreditsSpec>,
    /// How acknowledgements are merged.
    pub ack_merge: Option<AckMergeSpec>,
    /// Size of an acknowledgement; 0 for one that costs no bandwidth.
    pub ack: Option<Bytes>,
    /// Time after which frames are sent again.
    pub timeout: Option<Constant<Micros>>,
    /// Retransmissions in a row before the queue pair gives up.
    pub retries: Option<u32>,
    /// Probability that a frame is lost on a link.
    pub loss: Option<f64>,
}

/// `[g5.rc_link.channels]`: virtual channels of every link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChannelsSpec {
    /// 1 for all classes of traffic, 2 for one of responses alone, 3 for one of each class.
    pub count: Option<u32>,
    /// Who goes first at a port.
    pub arbiter: Option<ArbiterSpec>,
    /// Frames of requests in a turn.
    pub requests: Option<u32>,
    /// Frames of responses in a turn.
    pub responses: Option<u32>,
    /// Frames of multicasts in a turn.
    pub multicasts: Option<u32>,
}

/// Who goes first when several channels have something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArbiterSpec {
    /// Each in turn, as many frames as its weight.
    Weighted,
    /// Responses, then multicasts, then requests.
    Strict,
}

/// `[g5.rc_link.credits]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CreditsSpec {
    /// Off for a buffer without bound.
    pub state: LayerState,
    /// Size of a credit.
    pub unit: Option<Bytes>,
    /// Credits of a buffer.
    pub count: Option<u32>,
    /// How often they are returned; zero for at once.
    pub period: Option<Constant<Micros>>,
    /// Between whom they count.
    pub scope: Option<CreditScopeSpec>,
}

/// Between whom credits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditScopeSpec {
    /// The two ends of every link.
    PerLink,
    /// The two chips; switches between them may drop.
    EndToEnd,
}

/// What the headers of a frame carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadersSpec {
    /// An IP header, which a switch can mark.
    Ip,
    /// None that could be marked.
    Compressed,
}

/// What is sent again after a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoverySpec {
    /// Everything from the lost frame on.
    GoBackN,
    /// The lost frame alone.
    Selective,
}

/// How acknowledgements are merged.
#[derive(Debug, Clone, PartialEq)]
pub enum AckMergeSpec {
    /// One for every frame.
    Never,
    /// One for all that arrived since the last.
    Every(Constant<Micros>),
}

/// `[g5.switch]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueSpec {
    /// Off for queues without bound, pause frames and marks.
    pub state: LayerState,
    /// Buffer that the ports of a switch share.
    pub buffer: Option<Bytes>,
    /// How many times the free buffer a queue may hold.
    pub threshold: Option<f64>,
    /// Pause frames.
    pub pfc: Option<PfcSpec>,
    /// Congestion marks.
    pub ecn: Option<EcnSpec>,
}

/// `[g5.switch.pfc]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PfcSpec {
    /// Off for switches that drop what finds no room.
    pub state: LayerState,
    /// What an input port holds without pausing.
    pub reserve: Option<Bytes>,
    /// How far below the threshold a neighbour resumes.
    pub resume: Option<Bytes>,
    /// Room of an input port for what is in flight.
    pub headroom: Option<Bytes>,
}

/// `[g5.switch.ecn]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EcnSpec {
    /// Off for switches that do not mark.
    pub state: LayerState,
    /// Queue from which on packets are marked.
    pub k_min: Option<Bytes>,
    /// Queue above which all are.
    pub k_max: Option<Bytes>,
    /// Probability at `k_max`.
    pub p_max: Option<f64>,
}

/// `[g5.paths]`: how packets choose among equal paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRule {
    /// The path that the topology prefers.
    Preferred,
    /// One path per pair of chips, hashed.
    PerFlow,
    /// So many hashed flows per pair of chips.
    SubFlows(u32),
    /// Every packet at random.
    Spray,
    /// Packets in turn.
    RoundRobin,
}

/// `[g5.dcqcn]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DcqcnSpec {
    /// Off for senders at line rate.
    pub state: LayerState,
    /// The published set that fills what is not given.
    pub preset: Option<DcqcnPreset>,
    /// Gain of the congestion estimate.
    pub g: Option<f64>,
    /// Period after which the estimate decays.
    pub alpha_period: Option<Constant<Micros>>,
    /// The estimate at the first notice.
    pub initial_alpha: Option<f64>,
    /// At most one cut in this time.
    pub cut_interval: Option<Constant<Micros>>,
    /// At most one notice per flow in this time; zero for one per marked packet.
    pub cnp_interval: Option<Constant<Micros>>,
    /// Timer of increases.
    pub timer: Option<Constant<Micros>>,
    /// Byte counter of increases.
    pub byte_counter: Option<ByteCounterSpec>,
    /// Events of fast recovery.
    pub fast_recovery: Option<u32>,
    /// Additive increase.
    pub additive: Option<Constant<GbPerSec>>,
    /// Hyper increase.
    pub hyper: Option<Constant<GbPerSec>>,
    /// Lowest rate.
    pub min_rate: Option<Constant<GbPerSec>>,
    /// Window of the byte budget by which a rate is kept; zero for a gap after every frame.
    pub budget: Option<Constant<Micros>>,
}

/// A published set of DCQCN's parameters (FACTS D.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DcqcnPreset {
    /// The paper of 2015.
    Sigcomm15,
    /// NVIDIA's NICs.
    Nvidia,
    /// The configuration of HPCC's simulator.
    Hpcc,
    /// The defaults in the code of HPCC's simulator.
    HpccCode,
    /// `SimAI.conf`.
    SimAi,
}

/// Byte counter of DCQCN's increases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteCounterSpec {
    /// There is none.
    None,
    /// One increase per so many bytes.
    Every(Bytes),
}

impl LayerState {
    /// Says whether the layer is part of a run.
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

impl PathRule {
    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preferred => "preferred",
            Self::PerFlow => "per_flow",
            Self::SubFlows(_) => "sub_flows",
            Self::Spray => "spray",
            Self::RoundRobin => "round_robin",
        }
    }
}

impl DcqcnPreset {
    /// Every set.
    pub const ALL: [Self; 5] = [
        Self::Sigcomm15,
        Self::Nvidia,
        Self::Hpcc,
        Self::HpccCode,
        Self::SimAi,
    ];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sigcomm15 => "sigcomm15",
            Self::Nvidia => "nvidia",
            Self::Hpcc => "hpcc",
            Self::HpccCode => "hpcc_code",
            Self::SimAi => "simai",
        }
    }
}

impl ArbiterSpec {
    /// Every arbiter.
    pub const ALL: [Self; 2] = [Self::Weighted, Self::Strict];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weighted => "weighted",
            Self::Strict => "strict",
        }
    }
}

impl CreditScopeSpec {
    /// Every scope.
    pub const ALL: [Self; 2] = [Self::PerLink, Self::EndToEnd];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PerLink => "per_link",
            Self::EndToEnd => "end_to_end",
        }
    }
}

impl HeadersSpec {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Ip, Self::Compressed];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ip => "ip",
            Self::Compressed => "compressed",
        }
    }
}

impl RecoverySpec {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::GoBackN, Self::Selective];

    /// Returns the word in system files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GoBackN => "go_back_n",
            Self::Selective => "selective",
        }
    }
}
