//! How far messages in flight are: what the chips will hear of them, and where answers go.

use super::fine::Fine;
use crate::network::MessageId;

/// How far a flight is; of the flight that speaks for a message, how far that is.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) name: MessageId,
    /// The flight that speaks for the message: itself, unless the message goes several ways.
    pub(crate) leader: u32,
    /// When the last byte will have left, if that is known.
    pub(crate) sent: Option<Fine>,
    /// When the last byte will have arrived, by leaf, if that is known.
    pub(crate) arrivals: Arrivals,
    /// Parts of the message that have not left, and ends that have not got it; of the leader.
    pub(crate) unsent: u32,
    pub(crate) unarrived: u32,
    /// Parts whose queue pairs are still at work; of the leader.
    pub(crate) unretired: u32,
    /// Flights of the same message; of the leader.
    pub(crate) others: Vec<u32>,
    pub(crate) errand: Errand,
    /// What an answer takes back to the sender.
    pub(crate) back: Fine,
    /// Where answers go that take bytes: the first hop of the way back.
    pub(crate) way_back: Option<u32>,
    /// The last link.
    pub(crate) exit: u32,
}

/// What a flight carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errand {
    Message,
    /// The answer of this number.
    Answer(u32),
}

/// When the last byte arrives at each end.
#[derive(Debug)]
pub(crate) enum Arrivals {
    One(Option<Fine>),
    Many(Vec<Option<Fine>>),
}

impl Arrivals {
    pub(crate) fn of(leaves: u32) -> Self {
        match leaves {
            0 | 1 => Self::One(None),
            leaves => Self::Many(vec![None; leaves as usize]),
        }
    }

    pub(crate) fn at(&mut self, leaf: u32) -> &mut Option<Fine> {
        match self {
            Self::One(time) => time,
            Self::Many(times) => &mut times[leaf as usize],
        }
    }
}

impl Progress {
    /// Returns the progress of a flight of a message that goes nowhere yet.
    pub(crate) fn new(name: MessageId) -> Self {
        Self {
            name,
            leader: 0,
            sent: None,
            arrivals: Arrivals::One(None),
            unsent: 0,
            unarrived: 0,
            unretired: 0,
            others: Vec::new(),
            errand: Errand::Message,
            back: Fine::ZERO,
            way_back: None,
            exit: 0,
        }
    }
}
