//! What the ranks of a call run: a program per channel, and where its ranks are.

use super::SimulateRequest;
use crate::Error;
use crate::predict::Site;
use crate::tuner::split_hint;
use tier6_collective::{
    Algorithm, BuildOptions, Collective, Grain, Partner, Protocol, Schedule, Trees, build,
};
use tier6_g5::{
    ExchangeOrder, ExchangeProgram, G5Parameters, Job, Lowered, Program, Relabelled, RingPace,
    RingProgram, moved,
};
use tier6_math::{Parameters, Pieces, Placement, ring_orders};
use tier6_system::ChipId;
use tier6_units::{Bytes, SimTime};

/// Slices of in-switch algorithms when whole messages are asked for: a rank stores what the switch
/// hands it while it reads on, so that both directions of its link are in use (FACTS B.6).
const IN_SWITCH_SLICE: u64 = 256 << 10;
/// The most pieces in which chains and trees pipeline a message.
const PIECES_MAX: u64 = 1 << 12;

/// A call, ready to run.
pub(crate) struct Call {
    pub(crate) algorithm: Algorithm,
    pub(crate) protocol: Protocol,
    /// Of data; a protocol's flags come on top.
    pub(crate) bytes: Bytes,
    chips: Vec<ChipId>,
    programs: Vec<Box<dyn Program>>,
}

impl Call {
    /// Unrolls a call.
    ///
    /// # Errors
    ///
    /// When there is no such schedule.
    pub(crate) fn new(
        request: &SimulateRequest<'_>,
        site: &Site,
        (algorithm, protocol): (Algorithm, Protocol),
        bytes: Bytes,
    ) -> Result<Self, Error> {
        let of_protocol = G5Parameters::of_protocol(&site.topology, protocol);
        let data = bytes;
        let bytes = of_protocol.map_or(data, |(_, share)| moved(data, share));
        let parameters = Parameters::of(&site.topology);
        let chips = chips(site);
        let per_node = ranks_per_node(site);
        let orders = if has_channels(request.collective, algorithm) {
            ring_orders(&site.topology, &chips, per_node, parameters.channels)
        } else {
            vec![(0..site.ranks).collect()]
        };
        // A channel has at least a byte of every chunk.
        let most = bytes.get().div_ceil(site.ranks.into()).max(1);
        let count = u64::try_from(orders.len()).map_or(most, |count| count.min(most));
        let mut programs: Vec<Box<dyn Program>> = Vec::new();
        for (channel, order) in (0..count).zip(&orders) {
            let share = part(bytes.get(), channel + 1, count) - part(bytes.get(), channel, count);
            let part = Part {
                request,
                parameters: &parameters,
                algorithm,
                ranks: site.ranks,
                per_node,
                share: Bytes::new(share),
                whole: bytes,
            };
            programs.push(part.program(order)?);
        }
        Ok(Self {
            algorithm,
            protocol,
            bytes: data,
            chips,
            programs,
        })
    }

    /// Returns the number of channels.
    pub(crate) fn channels(&self) -> u32 {
        u32::try_from(self.programs.len()).expect("Invariant: channels are few")
    }

    /// Returns the jobs of a run, one per channel.
    pub(crate) fn jobs(&self) -> Vec<Job<'_>> {
        let jobs = (0..).zip(&self.programs).map(|(flow, program)| Job {
            program: program.as_ref(),
            chips: &self.chips,
            start: SimTime::ZERO,
            flow,
        });
        jobs.collect()
    }
}

/// The end of part `at` of a message in `count` parts.
fn part(bytes: u64, at: u64, count: u64) -> u64 {
    let end = u128::from(bytes) * u128::from(at) / u128::from(count);
    u64::try_from(end).expect("Invariant: a part of the message")
}

/// The part of a call that a channel does.
struct Part<'a> {
    request: &'a SimulateRequest<'a>,
    parameters: &'a Parameters,
    algorithm: Algorithm,
    ranks: u32,
    per_node: u32,
    share: Bytes,
    whole: Bytes,
}

impl Part<'_> {
    /// Returns the program of ranks that follow each other in an order: computed where the engine
    /// can, else the schedule that the algorithm's builder unrolls.
    fn program(&self, order: &[u32]) -> Result<Box<dyn Program>, Error> {
        let (collective, grain) = (self.request.collective, self.request.grain);
        let pace = match self.algorithm {
            Algorithm::Ring => Some(RingPace::Arrival),
            Algorithm::SendRecvRing => Some(RingPace::OwnSend),
            _ => None,
        };
        let exchange = match self.algorithm {
            Algorithm::Direct => Some(ExchangeOrder::AllAtOnce),
            Algorithm::Pairwise if self.parameters.partner == Partner::Shift => {
                Some(ExchangeOrder::ByDistance)
            }
            _ => None,
        };
        let is_plain = self.request.handshake.is_none();
        match (pace, exchange) {
            (Some(pace), _) if is_plain && has_channels(collective, self.algorithm) => {
                let ring = RingProgram::new(collective, self.ranks, self.share, grain, pace);
                Ok(named(ring.map_err(|error| domain(&error))?, order))
            }
            (_, Some(exchange)) if is_plain && collective == Collective::AllToAll => {
                let all = ExchangeProgram::new(self.ranks, self.share, grain, exchange);
                Ok(named(all.map_err(|error| domain(&error))?, order))
            }
            (Some(_) | None, Some(_) | None) => {
                let lowered = Lowered::new(&self.schedule()?);
                let lowered = match self.request.handshake {
                    Some(handshake) => lowered.with_handshake(handshake),
                    None => lowered,
                };
                Ok(named(lowered, order))
            }
        }
    }

    fn schedule(&self) -> Result<Schedule, Error> {
        let parameters = self.parameters;
        let options = BuildOptions {
            ranks_per_node: Some(self.per_node),
            trees: self.trees(),
            pieces: self.pieces(),
            bidir: parameters.bidir,
            distance: parameters.distance,
            partner: parameters.partner,
            torus: parameters.torus.clone(),
            torus_ports: parameters.torus_ports,
            pat_blocks: parameters.pat_blocks,
            grain: match self.request.grain {
                Grain::Message if is_in_switch(self.algorithm) => Grain::Slices {
                    bytes: IN_SWITCH_SLICE,
                },
                grain => grain,
            },
            ..BuildOptions::new(self.ranks, self.share)
        };
        build(self.request.collective, self.algorithm, &options).map_err(|error| domain(&error))
    }

    /// Trees go over nodes, as NCCL lays them and the Math engine has them.
    fn trees(&self) -> Trees {
        let has_nodes = self.ranks > self.per_node && self.ranks.is_multiple_of(self.per_node);
        if has_nodes && self.per_node > 1 {
            Trees::OverNodes
        } else {
            Trees::Double
        }
    }

    /// In how many pieces a message goes, as the Math engine has it: slices pipeline chains by
    /// themselves, trees cut each half.
    fn pieces(&self) -> u32 {
        let is_chain = matches!(
            self.algorithm,
            Algorithm::Ring | Algorithm::BidirRing | Algorithm::SendRecvRing
        ) && matches!(
            self.request.collective,
            Collective::Broadcast | Collective::Reduce
        );
        let halves = match self.algorithm {
            Algorithm::Tree => 2,
            _ if is_chain && self.request.grain == Grain::Message => 1,
            _ => return 1,
        };
        let pieces = match self.parameters.pieces {
            Pieces::Of(piece) => self.whole.get().div_ceil(halves * piece.get().max(1)),
            Pieces::Count(count) => count.get().into(),
            Pieces::Best => 1,
        };
        let most = PIECES_MAX.min((1 << 22) / u64::from(self.ranks.max(1)));
        u32::try_from(pieces.clamp(1, most.max(1))).expect("Invariant: clamped")
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

fn domain(error: &dyn std::error::Error) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    Error::Domain { message, hint }
}

pub(crate) const fn is_in_switch(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::Nvls | Algorithm::NvlsTree | Algorithm::CollNetDirect | Algorithm::CollNetChain
    )
}

/// Whether a call is several rings over the same ranks.
const fn has_channels(collective: Collective, algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Ring | Algorithm::SendRecvRing)
        && matches!(
            collective,
            Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter
        )
}

fn ranks_per_node(site: &Site) -> u32 {
    match site.placement {
        Placement::Packed => site.topology.chips_per_node().min(site.ranks),
        Placement::PerNode(each) => each.get().min(site.ranks),
    }
}

/// The chip of each rank.
fn chips(site: &Site) -> Vec<ChipId> {
    let width = match site.placement {
        Placement::Packed => usize::MAX,
        Placement::PerNode(each) => each.get() as usize,
    };
    let nodes = site.topology.nodes().iter();
    let chips = nodes.flat_map(|node| node.chips.clone().take(width));
    chips.take(site.ranks as usize).map(ChipId::new).collect()
}
