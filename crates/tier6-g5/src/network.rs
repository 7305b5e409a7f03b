//! What the chips ask of a network, whatever its fidelity.
//!
//! A chip hands over a [`Message`]; the network answers with [`Notice`]s at their time. Between
//! them the network keeps its own events on the run's agenda through a [`Context`].

use tier6_des::Agenda;
use tier6_system::LinkId;
use tier6_units::{ByteTime, SimTime};

use crate::{Fabric, LinkAccount, Timeline, Wait};

/// Names a message in flight; the chips choose it and may use it again after its last notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u32);

/// Names a path that the fabric has laid: a route between two chips, or a tree of links that a
/// switch serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// One message that a chip hands to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Its name in notices.
    pub id: MessageId,
    /// Where it goes.
    pub path: PathId,
    /// Payload in bytes; may be 0, which still crosses the path.
    pub bytes: u64,
    /// Least time per byte at the sender: what its engines can do. Zero for no limit.
    pub pace: ByteTime,
}

/// What the network tells the chips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The last byte has left the sender: its engine is free.
    Sent(MessageId),
    /// The last byte is at the receiver. Always after or with `Sent`.
    Arrived(MessageId),
    /// The sender holds the response to the last byte. Only from networks that model responses.
    Answered(MessageId),
    /// The queue pair that carried the message gave up after this many retransmissions; no other
    /// notice of the message follows, and the run ends.
    Fatal {
        /// The message.
        id: MessageId,
        /// The limit of retransmissions.
        retries: u32,
    },
}

/// Whether a network tells the sender when the response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responses {
    /// [`Notice::Answered`] follows every message that arrived.
    Modelled,
    /// It never does; the chips charge the latency of the way back.
    Unmodelled,
}

/// What a network may do while it handles something.
#[derive(Debug)]
pub struct Context<'a, E> {
    /// The links and paths of the run, which the run owns: chips lay paths in it
    /// ([`Fabric::lay`]) before their first message.
    pub fabric: &'a Fabric<'a>,
    /// The agenda of the run, where a network's events are wrapped by the run.
    pub agenda: &'a mut Agenda<E>,
    /// Notices for the chips, at the current time, in order.
    pub notices: &'a mut Vec<Notice>,
    /// Where spans and queue lengths are written, when a timeline is kept.
    pub timeline: Option<&'a mut Timeline>,
}

/// A network of one fidelity.
pub trait Network {
    /// Its own events.
    type Event: Copy;

    /// Sets up what happens by itself: links that fail, timers. Called once, before the first
    /// message.
    fn start<E: From<Self::Event>>(&mut self, context: &mut Context<'_, E>);

    /// Makes room for so many more messages, which may come together. It need not.
    fn make_room(&mut self, _messages: usize) {}

    /// Takes a message at the current time.
    fn inject<E: From<Self::Event>>(
        &mut self,
        message: Message,
        now: SimTime,
        context: &mut Context<'_, E>,
    );

    /// Handles one of its own events.
    fn handle<E: From<Self::Event>>(
        &mut self,
        event: Self::Event,
        now: SimTime,
        context: &mut Context<'_, E>,
    );

    /// Says whether the network sends [`Notice::Answered`].
    fn responses(&self) -> Responses;

    /// Returns whether what it has told may not hold.
    fn is_in_doubt(&self) -> bool {
        false
    }

    /// Returns whether it is in doubt, so that the run has to begin again; it has forgotten
    /// everything then but how to do better.
    fn must_begin_again(&mut self) -> bool {
        false
    }

    /// Returns how many events it has handled until now beside those on the run's agenda.
    fn events(&self) -> u64 {
        0
    }

    /// Returns packets times links crossed until now; 0 where there are no packets.
    fn packet_hops(&self) -> u64;

    /// Returns what each link has carried until now.
    fn accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)>;

    /// Returns who waits for whom inside the network, when nothing moves any more.
    fn waits(&self, fabric: &Fabric<'_>) -> Vec<Wait>;

    /// Checks what must hold at the end of a run: bytes in = bytes out, credits taken = credits
    /// returned, queues empty.
    ///
    /// # Errors
    ///
    /// Says what does not hold.
    fn audit(&self) -> Result<(), String>;
}
