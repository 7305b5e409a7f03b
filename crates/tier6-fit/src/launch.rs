//! A call of a collective, ready for the event-driven engine: a program per channel over the chips
//! of its ranks.
//!
//! What `tier6-math` prices and what `tier6-g5` runs must be the same call: as many channels, trees
//! laid alike, messages in as many pieces. This is the one place that says so, for simulation and
//! for calibration. It is on this floor because it knows both engines.

use thiserror::Error;
use tier6_collective::{
    Algorithm, BuildError, BuildOptions, Collective, Grain, Handshake, Partner, Path, Protocol,
    Schedule, Trees, build,
};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, G5Parameters, Job, Lowered, Parts, Program, ProgramError,
    Relabelled, RingPace, RingProgram, moved,
};
use tier6_math::law::Overlap;
use tier6_math::{Parameters, Pieces, Placement, Plan, PlanError, chain_orders, ring_orders};
use tier6_system::{ChipId, Topology};
use tier6_units::{Bytes, SimTime};

/// Slices of in-switch algorithms when whole messages are asked for: a rank stores what the switch
/// hands it while it reads on, so that both directions of its link are in use (FACTS B.6).
pub(crate) const IN_SWITCH_SLICE: u64 = 256 << 10;
/// The most slices of all ranks: they are larger where there would be more.
const IN_SWITCH_SLICES_MAX: u64 = 1 << 15;
/// The most pieces in which trees pipeline a message, those of all channels together.
const PIECES_MAX: u64 = 1 << 12;
/// The same of chains. Their channels share the engines of a chip, and larger pieces take more of them.
const CHAIN_PIECES_MAX: u64 = 1 << 14;
/// The most pieces that stand for full overlap, which is a limit.
const STAGE_PIECES_MAX: u32 = 64;

/// A call as it is asked for, apart from its size.
#[derive(Debug, Clone)]
pub struct CallSetup<'a> {
    /// The system.
    pub topology: &'a Topology,
    /// What the call assumes beside it: placement, channels, pieces, forms of algorithms.
    pub parameters: &'a Parameters,
    /// The collective.
    pub collective: Collective,
    /// N.
    pub ranks: u32,
    /// The grain in which ranks forward.
    pub grain: Grain,
    /// How sender and receiver agree; `None` for the algorithm's own way.
    pub handshake: Option<Handshake>,
}

/// A call, ready to run.
#[expect(
    missing_debug_implementations,
    reason = "programs are trait objects; nobody prints millions of transfers"
)]
pub struct Launch {
    chips: Vec<ChipId>,
    programs: Vec<Box<dyn Program>>,
}

/// A call that cannot be laid out.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LaunchError {
    /// No builder does it.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The engine cannot hold it.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There is no closed form by which its pieces are chosen.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// More ranks than there are chips.
    #[error("{ranks} ranks on a system of {chips} chips")]
    Chips {
        /// N.
        ranks: u32,
        /// What there is.
        chips: usize,
    },
}

impl Launch {
    /// Lays a call out for `data` bytes of a message; what a protocol sends beside data comes on
    /// top.
    ///
    /// # Errors
    ///
    /// When there is no such schedule, or it has more transfers than the engine can number.
    pub fn new(setup: &CallSetup<'_>, path: Path, data: Bytes) -> Result<Self, LaunchError> {
        let parameters = setup.parameters;
        let chips = chips_of(setup.topology, parameters.placement, setup.ranks);
        Self::on(setup, path, data, chips)
    }

    /// As [`Launch::new`], on these chips, one per rank, laid over nodes as the setup's placement
    /// says.
    ///
    /// # Errors
    ///
    /// As [`Launch::new`], and when there are not as many chips as ranks.
    pub fn on(
        setup: &CallSetup<'_>,
        path: Path,
        data: Bytes,
        chips: Vec<ChipId>,
    ) -> Result<Self, LaunchError> {
        fits(setup, setup.ranks, &chips)?;
        let of_protocol = G5Parameters::of_protocol(setup.topology, path.protocol);
        let whole = of_protocol.map_or(data, |(_, share)| moved(data, share));
        let per_node = setup.per_node();
        let orders = orders(setup, path.algorithm, &chips);
        // A channel has at least a byte of every chunk.
        let most = whole.get().div_ceil(setup.ranks.into()).max(1);
        let count = u64::try_from(orders.len()).map_or(most, |count| count.min(most));
        let pieces = pieces(setup, path.algorithm, whole, count)?;
        let mut programs = Vec::new();
        for (channel, order) in (0..count).zip(&orders) {
            let end = |at: u64| end_of_part(whole.get(), at, count);
            let part = Part {
                setup,
                algorithm: path.algorithm,
                per_node,
                pieces,
                share: Bytes::new(end(channel + 1) - end(channel)),
            };
            programs.push(part.program(order)?);
        }
        Ok(Self { chips, programs })
    }

    /// Lays out a custom schedule on these chips, one per rank.
    ///
    /// # Errors
    ///
    /// When it has more ranks than there are chips.
    pub fn of_schedule(
        setup: &CallSetup<'_>,
        schedule: Lowered,
        chips: Vec<ChipId>,
    ) -> Result<Self, LaunchError> {
        fits(setup, schedule.ranks(), &chips)?;
        let lowered = with_handshake(schedule, setup.handshake);
        Ok(Self {
            chips,
            programs: vec![Box::new(lowered)],
        })
    }

    /// Returns the number of programs that share the message: rings of their own.
    ///
    /// # Panics
    ///
    /// Never: channels are few.
    pub fn channels(&self) -> u32 {
        u32::try_from(self.programs.len()).expect("Invariant: channels are few")
    }

    /// Returns the jobs of a run, one per channel, all from the beginning.
    pub fn jobs(&self) -> Vec<Job<'_>> {
        let jobs = (0..).zip(&self.programs).map(|(flow, program)| Job {
            program: program.as_ref(),
            chips: &self.chips,
            start: SimTime::ZERO,
            flow,
        });
        jobs.collect()
    }
}

/// How a call's fixed time comes about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FixedTime {
    /// Software, before the hardware begins.
    Software(SimTime),
    /// What a call of no bytes takes in all.
    WholeCall(SimTime),
}

impl FixedTime {
    /// Returns the software of a call, given what the hardware needs for one of no bytes; `None`
    /// where that would have to be known.
    pub fn software(self, empty: impl FnOnce() -> Option<SimTime>) -> Option<SimTime> {
        match self {
            Self::Software(software) => Some(software),
            Self::WholeCall(whole) => empty().map(|empty| whole.saturating_sub(empty)),
        }
    }

    /// Splits the parts of a call as Math does: software is at most that of every call, and what else
    /// the call had to do before its messages is latency.
    pub fn split(parts: Parts, of_every_call: SimTime) -> Parts {
        let software = parts.software.min(of_every_call);
        Parts {
            software,
            latency: parts.latency + (parts.software - software),
            ..parts
        }
    }
}

/// Says whether switches do the sums or the copies of an algorithm. They work on what lies in
/// memory, whole, so that only Simple runs it.
pub const fn is_in_switch(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::Nvls | Algorithm::NvlsTree | Algorithm::CollNetDirect | Algorithm::CollNetChain
    )
}

/// Returns the protocols under which an algorithm can be simulated on a system: Simple, and those
/// whose messages `[g5]` describes.
pub fn simulated_protocols(topology: &Topology, algorithm: Algorithm) -> Vec<Protocol> {
    let runs = |protocol: &Protocol| match protocol {
        Protocol::Simple => true,
        Protocol::Ll | Protocol::Ll128 => {
            !is_in_switch(algorithm) && G5Parameters::of_protocol(topology, *protocol).is_some()
        }
    };
    let all = [Protocol::Simple, Protocol::Ll128, Protocol::Ll];
    all.into_iter().filter(runs).collect()
}

impl CallSetup<'_> {
    /// Returns the fixed time of an algorithm: the system's `alpha` of in-switch calls, where it
    /// has one, else the software of every call.
    pub fn fixed_time(&self, parameters: &G5Parameters, algorithm: Algorithm) -> FixedTime {
        let constants = self.topology.constants();
        let nvls = constants.nvls.as_ref();
        let nvls = nvls.and_then(|nvls| Some(SimTime::from(nvls.alpha.as_ref()?.value)));
        let sharp = constants.sharp.as_ref();
        let sharp = sharp.map(|sharp| SimTime::from(sharp.alpha.value));
        let software = parameters.software;
        let whole = match algorithm {
            // Two in-switch stages in a pipeline share one call's software.
            Algorithm::Nvls if self.per_node() < self.ranks => sharp.map(|sharp| {
                let nvls = nvls.unwrap_or(software);
                sharp + nvls.saturating_sub(software)
            }),
            Algorithm::Nvls => nvls,
            // Beside what the tree between nodes takes.
            Algorithm::NvlsTree => return FixedTime::Software(nvls.unwrap_or(software)),
            Algorithm::CollNetDirect | Algorithm::CollNetChain => sharp,
            _ => None,
        };
        whole.map_or(FixedTime::Software(software), FixedTime::WholeCall)
    }

    fn per_node(&self) -> u32 {
        match self.parameters.placement {
            Placement::Packed => self.topology.chips_per_node().min(self.ranks),
            Placement::PerNode(each) => each.get().min(self.ranks),
        }
    }

    /// Whether the ranks load sums from one switch and store them through it in the same call.
    fn loads_and_stores(&self, algorithm: Algorithm) -> bool {
        algorithm == Algorithm::Nvls
            && self.collective == Collective::AllReduce
            && self.per_node() == self.ranks
    }

    /// The bytes that ranks forward at once where switches work, for a message so large.
    fn in_switch_slice(&self, message: Bytes) -> u64 {
        let slice = match self.grain {
            Grain::Slices { bytes } => bytes,
            Grain::Message => IN_SWITCH_SLICE,
        };
        slice.max(message.get().div_ceil(IN_SWITCH_SLICES_MAX))
    }
}

/// Checks that each rank has a chip.
fn fits(setup: &CallSetup<'_>, ranks: u32, chips: &[ChipId]) -> Result<(), LaunchError> {
    if chips.len() == ranks as usize {
        return Ok(());
    }
    Err(LaunchError::Chips {
        ranks,
        chips: setup.topology.chips().len(),
    })
}

/// Returns the chip of each rank where nothing else is said: one node after another.
pub fn chips_of(topology: &Topology, placement: Placement, ranks: u32) -> Vec<ChipId> {
    let width = match placement {
        Placement::Packed => usize::MAX,
        Placement::PerNode(each) => each.get() as usize,
    };
    let nodes = topology.nodes().iter();
    let chips = nodes.flat_map(|node| node.chips.clone().take(width));
    chips.take(ranks as usize).map(ChipId::new).collect()
}

/// The end of part `at` of a message in `count` parts.
fn end_of_part(bytes: u64, at: u64, count: u64) -> u64 {
    let end = u128::from(bytes) * u128::from(at) / u128::from(count);
    u64::try_from(end).expect("Invariant: a part of the message")
}

/// Returns the order of the ranks in each channel.
fn orders(setup: &CallSetup<'_>, algorithm: Algorithm, chips: &[ChipId]) -> Vec<Vec<u32>> {
    let (ranks, per_node) = (setup.ranks, setup.per_node());
    let channels = setup.parameters.channels;
    let has_nodes = per_node < ranks && ranks.is_multiple_of(per_node);
    if has_channels(setup.collective, algorithm) {
        return ring_orders(setup.topology, chips, per_node, channels);
    }
    if algorithm == Algorithm::Ring && is_piped(setup.collective) {
        return chain_orders(setup.topology, chips, per_node, channels);
    }
    if has_nodes && has_channels_inside(setup, algorithm) {
        // Every node in the same order, so that rails stay rails.
        let inside = &chips[..per_node as usize];
        let cycles = ring_orders(setup.topology, inside, per_node, channels).into_iter();
        let firsts = (0..ranks).step_by(per_node as usize);
        let over_nodes = |cycle: Vec<u32>| {
            let nodes = firsts.clone();
            let node = |first: u32| cycle.iter().map(move |local| first + local);
            nodes.flat_map(node).collect()
        };
        return cycles.map(over_nodes).collect();
    }
    vec![(0..ranks).collect()]
}

/// Whether a call is several rings over the same ranks.
const fn has_channels(collective: Collective, algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ring | Algorithm::SendRecvRing)
        && matches!(
            collective,
            Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter
        )
}

/// Whether a message goes along a chain, in pieces.
const fn is_piped(collective: Collective) -> bool {
    matches!(collective, Collective::Broadcast | Collective::Reduce)
}

/// Whether a call does its part inside the nodes in every order of their ranks.
fn has_channels_inside(setup: &CallSetup<'_>, algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::Hierarchical => true,
        Algorithm::Tree => {
            let trees =
                setup
                    .parameters
                    .build_options(setup.ranks, setup.per_node(), Bytes::new(1));
            setup.collective == Collective::AllReduce && trees.trees == Trees::OverNodes
        }
        _ => false,
    }
}

/// The part of a call that a channel does.
struct Part<'a> {
    setup: &'a CallSetup<'a>,
    algorithm: Algorithm,
    per_node: u32,
    pieces: u32,
    share: Bytes,
}

impl Part<'_> {
    /// Returns the program of ranks that follow each other in an order: computed where the engine
    /// can, else the schedule that the algorithm's builder unrolls.
    fn program(&self, order: &[u32]) -> Result<Box<dyn Program>, LaunchError> {
        let setup = self.setup;
        let (collective, grain) = (setup.collective, setup.grain);
        let pace = match self.algorithm {
            Algorithm::Ring => Some(RingPace::Arrival),
            Algorithm::SendRecvRing => Some(RingPace::OwnSend),
            _ => None,
        };
        let exchange = match self.algorithm {
            Algorithm::Direct => Some(ExchangeOrder::AllAtOnce),
            Algorithm::Pairwise if setup.parameters.partner == Partner::Shift => {
                Some(ExchangeOrder::ByDistance)
            }
            _ => None,
        };
        let is_plain = setup.handshake.is_none();
        match (pace, exchange) {
            (Some(pace), _) if is_plain && has_channels(collective, self.algorithm) => {
                let ring = RingProgram::new(collective, setup.ranks, self.share, grain, pace)?;
                Ok(named(ring, order))
            }
            (_, Some(exchange)) if is_plain && collective == Collective::AllToAll => {
                let all = ExchangeProgram::new(setup.ranks, self.share, grain, exchange)?;
                Ok(named(all, order))
            }
            (Some(_) | None, Some(_) | None) => {
                let lowered = Lowered::new(&self.schedule()?);
                Ok(named(with_handshake(lowered, setup.handshake), order))
            }
        }
    }

    fn schedule(&self) -> Result<Schedule, BuildError> {
        let setup = self.setup;
        let parameters = setup.parameters;
        let options = BuildOptions {
            pieces: self.pieces,
            grain: self.grain(),
            ..parameters.build_options(setup.ranks, self.per_node, self.share)
        };
        build(setup.collective, self.algorithm, &options)
    }

    /// What in-switch algorithms forward when nothing is asked for: slices. Where loads and stores
    /// share the links of a switch these are pieces, for which a rank has limited room.
    fn grain(&self) -> Grain {
        match self.setup.grain {
            _ if self.setup.loads_and_stores(self.algorithm) => Grain::Message,
            Grain::Message if is_in_switch(self.algorithm) => Grain::Slices {
                bytes: self.setup.in_switch_slice(self.share),
            },
            grain => grain,
        }
    }
}

/// In how many pieces a message in so many channels goes, as Math has it: slices pipeline chains by
/// themselves, the two trees cut each half into as many.
fn pieces(
    setup: &CallSetup<'_>,
    algorithm: Algorithm,
    whole: Bytes,
    channels: u64,
) -> Result<u32, LaunchError> {
    let is_chain =
        matches!(algorithm, Algorithm::Ring | Algorithm::BidirRing) && is_piped(setup.collective);
    match algorithm {
        Algorithm::Tree
        | Algorithm::NvlsTree
        | Algorithm::CollNetDirect
        | Algorithm::CollNetChain => {}
        Algorithm::Hierarchical => return stage_pieces(setup, whole),
        _ if setup.loads_and_stores(algorithm) => {
            let per_rank = whole.get().div_ceil(setup.ranks.into());
            let pieces = per_rank.div_ceil(setup.in_switch_slice(whole)).max(1);
            return Ok(u32::try_from(pieces).expect("Invariant: slices are limited"));
        }
        _ if is_chain && setup.grain == Grain::Message => {}
        _ => return Ok(1),
    }
    let pieces = match setup.parameters.pieces {
        Pieces::Of(piece) => whole.get().div_ceil(piece.get().max(1)),
        Pieces::Count(count) => count.get().into(),
        Pieces::Best => 1,
    };
    let most = if is_chain {
        CHAIN_PIECES_MAX
    } else {
        PIECES_MAX
    };
    let most = (most / channels).min((1 << 22) / u64::from(setup.ranks.max(1)));
    Ok(u32::try_from(pieces.clamp(1, most.max(1))).expect("Invariant: clamped"))
}

/// In how many pieces a hierarchy's message goes so that its stages overlap: as many as Math finds
/// fastest where they overlap in full.
fn stage_pieces(setup: &CallSetup<'_>, whole: Bytes) -> Result<u32, LaunchError> {
    let parameters = setup.parameters;
    match parameters.overlap {
        Overlap::Serial => Ok(1),
        Overlap::Chunked(pieces) => Ok(pieces.get()),
        Overlap::Full => {
            let (collective, ranks) = (setup.collective, setup.ranks);
            let algorithm = Algorithm::Hierarchical;
            let plan = Plan::new(setup.topology, collective, algorithm, ranks, parameters)?;
            Ok(plan.stage_pieces(whole, STAGE_PIECES_MAX).unwrap_or(1))
        }
    }
}

fn with_handshake(lowered: Lowered, handshake: Option<Handshake>) -> Lowered {
    match handshake {
        Some(handshake) => lowered.with_handshake(handshake),
        None => lowered,
    }
}

/// A program whose ranks follow each other in an order.
fn named<P: Program + 'static>(program: P, order: &[u32]) -> Box<dyn Program> {
    if (0..).zip(order).all(|(at, rank)| at == *rank) {
        return Box::new(program);
    }
    let named = Relabelled::new(program, order);
    Box::new(named.expect("Invariant: an order names each rank once"))
}
