//! A message as a fluid: how much is left, how fast it goes, when it ends.

use tier6_units::{ByteTime, SimTime};

use super::groups::EndGroup;
use crate::network::{Message, MessageId, PathId};
use crate::{Fabric, LinkOf, Span, Timeline, Track};

/// A rate that changes by less than this share has not changed.
const SAME: f64 = 1e-14;

/// A message on its way out of the sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) message: MessageId,
    pub(super) path: PathId,
    pub(super) bytes: u64,
    /// How often the rate has changed, of all flows that had this place.
    pub(super) version: u32,
    /// Least time per byte at the sender.
    pub(super) pace: ByteTime,
    pub(super) start: SimTime,
    /// Bytes per picosecond of a flow that shares.
    pub(super) rate: f64,
    pub(super) going: Going,
}

/// More of a flow that shares a link.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    /// Bytes that had not left at `since`.
    left: f64,
    since: SimTime,
    /// The group that knows its end; `None` when it has none.
    pub(super) group: Option<EndGroup>,
}

/// What is left to say of a flow whose last byte has left the sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) message: MessageId,
    pub(super) path: PathId,
    pub(super) bytes: u64,
    pub(super) start: SimTime,
}

/// How fast a flow goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Going {
    /// It has just come.
    Not,
    /// As fast as its pace and its path allow.
    Alone,
    /// At its share of a link.
    Shared,
    /// Its last byte has left.
    Over,
}

impl Flow {
    pub(super) const fn new(message: Message, now: SimTime) -> Self {
        Self {
            message: message.id,
            path: message.path,
            bytes: message.bytes,
            pace: message.pace,
            start: now,
            version: 0,
            rate: 0.0,
            going: Going::Not,
        }
    }

    /// Takes the place of a flow that has ended.
    pub(super) const fn become_another(&mut self, other: Self) {
        *self = Self {
            version: self.version,
            ..other
        };
    }

    /// Returns how fast it goes, in bytes per picosecond.
    pub(super) fn rate(&self, fabric: &Fabric<'_>) -> f64 {
        match self.going {
            Going::Not | Going::Over => 0.0,
            Going::Alone => bytes_per_ps(self.pace.max(fabric.byte_time(self.path))),
            Going::Shared => self.rate,
        }
    }

    /// Goes on at a rate; returns when the last byte leaves if that is another rate than before.
    pub(super) fn turn(
        &mut self,
        share: &mut Share,
        rate: f64,
        now: SimTime,
        fabric: &Fabric<'_>,
    ) -> Option<SimTime> {
        let before = self.rate(fabric);
        if self.going != Going::Not && (rate - before).abs() <= SAME * before {
            return None;
        }
        let (left, since) = match self.going {
            Going::Not | Going::Alone | Going::Over => (self.bytes as f64, self.start),
            Going::Shared => (share.left, share.since),
        };
        let passed = (now - since).ps() as f64;
        share.left = (left - before * passed).max(0.0);
        share.since = now;
        self.rate = rate;
        self.going = Going::Shared;
        self.version = self.version.wrapping_add(1);
        Some(now + time(share.left, rate))
    }
}

impl Ended {
    /// Draws a span on every link of the path.
    pub(super) fn draw(self, timeline: &mut Timeline, now: SimTime, fabric: &Fabric<'_>) {
        for one in fabric.uses(self.path) {
            if let LinkOf::Wire(link) = fabric.link(one.link).of {
                timeline.spans.push(Span {
                    track: Track::Link(link),
                    name: format!("message {}, {} B", self.message.0, self.bytes),
                    start: self.start,
                    end: now,
                });
            }
        }
    }
}

/// Bytes per picosecond; 1 GB/s is a thousandth.
pub(super) fn bytes_per_ps(time: ByteTime) -> f64 {
    time.rate().get() * 1e-3
}

/// What bytes take at a rate, to the nearest picosecond.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and `as` saturates: a rate of zero takes for ever"
)]
fn time(bytes: f64, rate: f64) -> SimTime {
    if rate > 0.0 {
        SimTime::from_ps((bytes / rate).round() as u64)
    } else {
        SimTime::NEVER
    }
}
