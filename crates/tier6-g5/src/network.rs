//! What the chips ask of a network, whatever its fidelity.
//!
//! A chip hands over a [`Message`]; the network answers with [`Notice`]s at their time. Between
//! them the network keeps its own events on the run's agenda through a [`Context`].

use tier6_des::Agenda;
use tier6_system::LinkId;
use tier6_units::{ByteTime, SimTime};

use crate::{LinkAccount, Timeline, Wait};

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
}

/// What a network may do while it handles something.
#[derive(Debug)]
pub struct Context<'a, E> {
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

    /// Returns the unloaded time of a message of no bytes along a path, for control messages
    /// (receive credits, responses) that the chips exchange.
    fn latency(&self, path: PathId) -> SimTime;

    /// Returns what each link has carried until now.
    fn accounts(&self) -> Vec<(LinkId, LinkAccount)>;

    /// Returns who waits for whom inside the network, when nothing moves any more.
    fn waits(&self) -> Vec<Wait>;

    /// Checks what must hold at the end of a run: bytes in = bytes out, credits taken = credits
    /// returned, queues empty.
    ///
    /// # Errors
    ///
    /// Says what does not hold.
    fn audit(&self) -> Result<(), String>;
}
