//! The `packet` fidelity: every segment of every message, through every link.
//!
//! Messages are cut into segments with headers around them, which queue at links, first come
//! first served. Segments that meet nobody travel as trains (`lines`), which changes no result.
//!
//! Where something closes the loop (`control`: loss, windows, credits, buffers of switches, marks,
//! rates), packets are handled one by one, from the start or from when trains are about to meet.
//! What was on its way then is taken over without its acknowledgements and credits that were under
//! way. Should a window or credits then get as near as half of what would hold a sender back, or a
//! timeout pass, the run begins again, packet by packet from its start: no result depends on when
//! the loop was closed.
//!
//! Classes of traffic have virtual channels of their own where the link layer says so.
//!
//! Deliberately absent: loss on the trees by which switches serve groups. A message has a queue
//! pair for each way that it takes; sprayed packets have a share of the ways by chance and leave the
//! chip in turn.
//!
//! The events inside the network are its own; the run's agenda holds one wake-up for them. While
//! nobody can come in between, the network looks ahead as far as the next thing that the chips
//! hear.

mod calendar;
mod control;
mod ends;
mod fine;
mod flight;
mod laying;
mod lines;
mod progress;
mod pump;
mod route;
mod server;
#[cfg(test)]
mod tests;
mod train;

use tier6_system::LinkId;
use tier6_units::SimTime;

use crate::network::{Context, Message, Network, Responses};
use crate::{Fabric, G5Parameters, LinkAccount, LinkOf, Span, Track, Wait};

use control::Control;
use flight::Framing;
use laying::Ways;
use lines::{Lines, Trains};

/// Payload of the pieces into which messages are cut that enter the links whole: links take
/// turns between them.
const PIECE: u32 = 16 << 10;
/// Events inside the network for one of the run's, at most: the run checks its limits in between.
const AHEAD: u32 = 1_000;

/// A network of packets.
#[derive(Debug)]
pub struct PacketNetwork {
    lines: Lines,
    /// What takes each path, by its number, once a message does.
    ways: Vec<Option<Ways>>,
    wake: Option<SimTime>,
    injected: u64,
    parameters: G5Parameters,
    trains: Trains,
    closes: Closes,
}

/// When packets begin to be handled one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closes {
    /// When something is about to act on them.
    WhenNeeded,
    /// From the start: it was found too late before that it was needed earlier.
    AtOnce,
}

/// What a packet network wakes up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacketEvent {
    /// Something happens inside.
    Wake,
    /// It happens now, after everything that was to happen at this instant.
    Settle,
}

impl PacketNetwork {
    /// Returns a network with nothing on it. It learns of its links when the run starts.
    pub fn new(parameters: &G5Parameters) -> Self {
        let framing = match (parameters.paxi, parameters.rc_link) {
            (Some(paxi), rc_link) => Framing {
                segment: paxi.segment,
                overhead: rc_link.map_or(0, |rc_link| rc_link.overhead),
            },
            (None, _) => Framing {
                segment: PIECE,
                overhead: 0,
            },
        };
        let end = parameters.paxi.map_or(SimTime::ZERO, |paxi| paxi.latency);
        Self {
            lines: Lines::new(framing, end, Trains::On),
            ways: Vec::new(),
            wake: None,
            injected: 0,
            parameters: parameters.clone(),
            trains: Trains::On,
            closes: Closes::WhenNeeded,
        }
    }

    /// Returns the same network without trains: every packet by itself.
    #[cfg(test)]
    pub(crate) fn without_trains(parameters: &G5Parameters) -> Self {
        let mut network = Self::new(parameters);
        network.lines.set_trains(Trains::Off);
        network.trains = Trains::Off;
        network
    }

    /// Handles what happens by now, then looks ahead.
    fn advance<E: From<PacketEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        let heard = context.notices.len();
        let next = context.agenda.next_time();
        for _ in 0..AHEAD {
            let Some(time) = self.lines.next_time() else {
                self.lines.finish_spans();
                break;
            };
            if time > now {
                let is_alone = next.is_none_or(|next| time < next);
                let is_quiet = context.notices.len() == heard;
                if !is_alone || !is_quiet || self.lines.next_is_notice() {
                    break;
                }
            }
            context.notices.extend(self.lines.step());
        }
        self.await_next(now, context);
        self.draw(context);
    }

    /// Asks to be woken for the next event.
    fn await_next<E: From<PacketEvent>>(&mut self, now: SimTime, context: &mut Context<'_, E>) {
        // What has happened ahead of the run moves its time when nothing else does.
        let next = self.lines.next_time();
        let time = next.unwrap_or_else(|| self.lines.now()).max(now);
        if next.is_none() && time == now {
            return;
        }
        if self.wake.is_none_or(|wake| time < wake) {
            self.wake = Some(time);
            context.agenda.at(time, PacketEvent::Wake.into());
        }
    }

    fn draw<E>(&mut self, context: &mut Context<'_, E>) {
        let Some(timeline) = context.timeline.as_deref_mut() else {
            return;
        };
        let links = context.fabric.links();
        let wire = |server: u32| match links[server as usize].of {
            LinkOf::Wire(link) => Some(link),
            LinkOf::Engines(_) => None,
        };
        let spans = self.lines.take_spans().filter_map(|span| {
            Some(Span {
                track: Track::Link(wire(span.server)?),
                name: format!("message {}, {} packets", span.message.0, span.packets),
                start: span.start.to_sim(),
                end: span.end.to_sim(),
            })
        });
        timeline.spans.extend(spans);
        let queues = self.lines.take_queues();
        let queues =
            queues.filter_map(|(server, time, bytes)| Some((wire(server)?, time.to_sim(), bytes)));
        timeline.queues.extend(queues);
    }
}

impl Network for PacketNetwork {
    type Event = PacketEvent;

    fn start<E: From<PacketEvent>>(&mut self, context: &mut Context<'_, E>) {
        for link in context.fabric.links() {
            self.lines.add_server(link.frame, link.latency);
        }
        self.lines.begin();
        for (server, link) in (0..).zip(context.fabric.links()) {
            if let Some(time) = link.fails {
                self.lines.fail(server, time);
            }
        }
        let control = Control::new(context.fabric, &self.parameters);
        self.lines.control = control.map(Box::new);
        if self.closes == Closes::AtOnce {
            self.lines.ask_to_close();
        }
        // Before anything happens, so that it knows of all that does: links may fail first.
        self.lines.close_if_asked();
        if context.timeline.is_some() {
            self.lines.keep_spans();
        }
        self.await_next(SimTime::ZERO, context);
    }

    fn inject<E: From<PacketEvent>>(
        &mut self,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        self.injected += 1;
        let at = message.path.0 as usize;
        if self.ways.len() <= at {
            self.ways.resize_with(context.fabric.n_paths(), || None);
        }
        let (lines, choice) = (&mut self.lines, self.parameters.paths);
        let ways = self.ways[at]
            .get_or_insert_with(|| Ways::lay(context.fabric, message.path, choice, lines));
        ways.send(message, now, &mut self.lines);
        self.await_next(now, context);
    }

    fn handle<E: From<PacketEvent>>(
        &mut self,
        event: PacketEvent,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        match event {
            PacketEvent::Wake => {
                if self.wake == Some(now) {
                    self.wake = None;
                }
                if context.agenda.next_time() == Some(now) {
                    context.agenda.at(now, PacketEvent::Settle.into());
                } else {
                    self.advance(now, context);
                }
            }
            PacketEvent::Settle => self.advance(now, context),
        }
    }

    fn responses(&self) -> Responses {
        Responses::Unmodelled
    }

    fn is_in_doubt(&self) -> bool {
        self.lines.is_in_doubt()
    }

    fn must_begin_again(&mut self) -> bool {
        let is_in_doubt = self.lines.is_in_doubt();
        if is_in_doubt {
            let fresh = Self::new(&self.parameters);
            let trains = self.trains;
            *self = Self {
                trains,
                closes: Closes::AtOnce,
                ..fresh
            };
            self.lines.set_trains(trains);
        }
        is_in_doubt
    }

    fn events(&self) -> u64 {
        self.lines.events()
    }

    fn packet_hops(&self) -> u64 {
        let servers = self.lines.servers().iter();
        servers.map(|server| server.tally.packets).sum()
    }

    fn accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)> {
        let links = (0..).zip(fabric.links());
        links
            .filter_map(|(server, link)| match link.of {
                LinkOf::Wire(id) => Some((id, self.lines.account(server))),
                LinkOf::Engines(_) => None,
            })
            .collect()
    }

    fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        self.lines.waits(fabric)
    }

    fn audit(&self) -> Result<(), String> {
        self.lines.audit()
    }
}
