//! What happened when: spans for a timeline that people look at.

use tier6_system::LinkId;
use tier6_units::SimTime;

/// Spans and counters in the order in which they ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Spans.
    pub spans: Vec<Span>,
    /// Queue lengths in bytes after each change.
    pub queues: Vec<(LinkId, SimTime, u64)>,
}

/// One span on a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it is drawn.
    pub track: Track,
    /// What: `send 17 to rank 4, 64 KiB`.
    pub name: String,
    /// From.
    pub start: SimTime,
    /// To.
    pub end: SimTime,
}

/// A row of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// Engine of a rank that sends; 0 when engines are not told apart.
    Engine {
        /// The rank.
        rank: u32,
        /// The engine.
        engine: u32,
    },
    /// Memory of a rank that reduces and copies.
    Memory {
        /// The rank.
        rank: u32,
    },
    /// A link.
    Link(LinkId),
}
