//! A directed link: what waits for it, what it sends, what holds it back.

use std::collections::VecDeque;

use tier6_system::{Link, Topology, Vertex};
use tier6_units::{ByteTime, SimTime};

use tier6_g5::network::MessageId;
use tier6_g5::rc_link::CreditPool;
use tier6_g5::switch::SwitchBuffer;
use tier6_g5::{CreditScope, Ecn, FabricLink, G5Parameters, LinkAccount, Pfc, SwitchQueue};

use super::packet::Entered;

/// A directed link and the queues in front of it.
#[derive(Debug)]
pub(super) struct Port {
    /// What a byte takes on the wire.
    pub(super) byte: ByteTime,
    pub(super) latency: SimTime,
    /// Of 2^53 draws, how many lose a frame.
    pub(super) losses: u64,
    /// Where the link begins and ends.
    pub(super) from: u32,
    pub(super) to: u32,
    /// Its number among the links that end where it ends.
    pub(super) input: usize,
    /// Marks that a queue here sets: only in switches.
    pub(super) ecn: Option<Ecn>,
    /// Packets that came from other links.
    pub(super) queue: VecDeque<u32>,
    /// Bytes in the queue.
    pub(super) queued: u64,
    /// Queue pairs whose next frame goes over this link, in turn.
    pub(super) locals: VecDeque<u32>,
    pub(super) turn: Turn,
    /// When it is free, in units of 2^-32 ps.
    pub(super) free: u128,
    pub(super) serving: Option<Serving>,
    pub(super) state: State,
    blocked: Option<(SimTime, Cause)>,
    /// When it looks for something to send, if that is set.
    wake: Option<SimTime>,
    pub(super) credits: Option<CreditPool>,
    /// How often credits go back.
    pub(super) period: Option<SimTime>,
    pub(super) account: LinkAccount,
}

/// Who goes first: what passes through, or what begins here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Transit,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Up,
    Paused,
    Failed,
}

/// Why nothing is sent though something waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Pause,
    Credit,
}

/// The packet on the wire, of which the rest may be ahead already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Serving {
    pub(super) wire: u64,
    /// How it came here; nothing when it began here.
    pub(super) entered: Option<Entered>,
    /// The message of which it is the last frame, sent for the first time.
    pub(super) ends: Option<MessageId>,
}

impl Port {
    pub(super) fn new(
        link: &FabricLink,
        wire: &Link,
        topology: &Topology,
        parameters: &G5Parameters,
    ) -> Self {
        let credits = parameters
            .rc_link
            .and_then(|rc_link| rc_link.credits)
            .filter(|credits| credits.scope == CreditScope::PerLink);
        let in_switch = matches!(topology.vertices()[wire.from.index()], Vertex::Switch(_));
        let id = |vertex: usize| super::packet::index(vertex);
        let into = topology.links_into(wire.to);
        let input = into.iter().position(|other| topology.link(*other) == wire);
        Self {
            byte: link.frame,
            latency: link.latency,
            losses: of_draws(link.loss),
            from: id(wire.from.index()),
            to: id(wire.to.index()),
            input: input.expect("Invariant: a link ends where it ends"),
            ecn: parameters.queue.ecn.filter(|_| in_switch),
            queue: VecDeque::new(),
            queued: 0,
            locals: VecDeque::new(),
            turn: Turn::Transit,
            free: 0,
            serving: None,
            state: State::Up,
            blocked: None,
            wake: None,
            credits: credits.as_ref().map(CreditPool::new),
            period: credits.map(|credits| credits.period),
            account: LinkAccount::default(),
        }
    }

    /// Queues a packet that came from another link.
    pub(super) fn push(&mut self, packet: u32, wire: u64) {
        self.queue.push_back(packet);
        self.queued += wire;
        self.account.peak_queue = self.account.peak_queue.max(self.queued);
    }

    pub(super) fn pop(&mut self, wire: u64) {
        self.queue.pop_front();
        self.queued -= wire;
    }

    /// Returns whether something waits here.
    pub(super) fn has_work(&self) -> bool {
        !self.locals.is_empty() || !self.queue.is_empty()
    }

    pub(super) fn pause(&mut self) {
        if self.state == State::Up {
            self.state = State::Paused;
        }
    }

    pub(super) fn resume(&mut self) {
        if self.state == State::Paused {
            self.state = State::Up;
        }
    }

    pub(super) fn fail(&mut self) {
        self.state = State::Failed;
    }

    /// Takes credits back.
    pub(super) fn restore(&mut self, credits: u32) {
        if let Some(pool) = &mut self.credits {
            pool.restore(credits);
        }
    }

    /// Takes the credits of a packet, all of them for one that is larger than the buffer.
    pub(super) fn take_credits(&mut self, wire: u64) -> Option<u32> {
        match &mut self.credits {
            None => Some(0),
            Some(pool) => {
                let most = u64::from(pool.left() + pool.taken()) * u64::from(pool.unit());
                let bytes = u32::try_from(wire.min(most)).unwrap_or(u32::MAX);
                pool.take(bytes)
            }
        }
    }

    /// Notes that something waits and why it cannot go.
    pub(super) fn block(&mut self, now: SimTime, cause: Cause) {
        if self.blocked.is_none() {
            self.blocked = Some((now, cause));
        }
    }

    /// Notes that something goes.
    pub(super) fn unblock(&mut self, now: SimTime) {
        match self.blocked.take() {
            None => {}
            Some((since, Cause::Pause)) => self.account.paused += now - since,
            Some((since, Cause::Credit)) => self.account.credit_stall += now - since,
        }
    }

    /// Says whether to set an event for looking again then: not when it looks earlier anyway.
    pub(super) fn wakes_at(&mut self, time: SimTime) -> bool {
        let is_new = self.wake.is_none_or(|wake| time < wake);
        if is_new {
            self.wake = Some(time);
        }
        is_new
    }

    pub(super) fn woken(&mut self, now: SimTime) {
        if self.wake.is_some_and(|wake| wake <= now) {
            self.wake = None;
        }
    }
}

/// Returns the buffers of the switches, by vertex; none where they are not bounded.
pub(super) fn buffers(topology: &Topology, parameters: &G5Parameters) -> Vec<Option<SwitchBuffer>> {
    let vertices = topology.vertices().iter().enumerate();
    vertices
        .map(|(number, vertex)| {
            let is_switch = matches!(vertex, Vertex::Switch(_));
            let is_bounded = is_switch && parameters.queue.buffer.is_some();
            let id = tier6_system::VertexId::new(super::packet::index(number));
            let inputs = topology.links_into(id).len();
            is_bounded.then(|| SwitchBuffer::new(&fitting(&parameters.queue, inputs), inputs))
        })
        .collect()
}

/// Many ports leave less headroom for each: half of the buffer at most is set apart.
fn fitting(queue: &SwitchQueue, inputs: usize) -> SwitchQueue {
    let (Some(buffer), Some(pfc)) = (queue.buffer, queue.pfc) else {
        return *queue;
    };
    let most = buffer / 2 / (inputs.max(1) as u64);
    let reserve = pfc.reserve.min(most / 2);
    SwitchQueue {
        pfc: Some(Pfc {
            reserve,
            headroom: pfc.headroom.min(most - reserve),
            ..pfc
        }),
        ..*queue
    }
}

/// Returns of how many in 2^53 draws something happens that has this probability.
pub(super) fn of_draws(probability: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 2^53"
    )]
    let draws = (probability.clamp(0.0, 1.0) * (1_u64 << 53) as f64).round() as u64;
    draws
}
