//! A message as a fluid: how much is left, how fast it goes, when it ends.

use tier6_units::{ByteTime, SimTime};

use crate::network::{MessageId, PathId};
use crate::{Fabric, LinkOf, Span, Timeline, Track};

/// A rate that changes by less than this share has not changed.
const SAME: f64 = 1e-14;

/// A message on its way out of the sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) message: MessageId,
    pub(super) path: PathId,
    pub(super) bytes: u64,
    /// Number of the message, by injection.
    pub(super) number: u64,
    /// Least time per byte at the sender.
    pub(super) pace: ByteTime,
    /// Bytes that had not left at `since`.
    pub(super) left: f64,
    pub(super) rate: Rate,
    pub(super) since: SimTime,
    pub(super) start: SimTime,
    /// When the last byte leaves if nothing changes.
    pub(super) end: SimTime,
    pub(super) version: u32,
    pub(super) armed: Armed,
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    /// It has just come.
    Unknown,
    /// As fast as its pace and its path allow.
    Alone,
    /// Its share, in bytes per picosecond.
    Fair(f64),
}

/// Whether an event waits for the end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Armed {
    Yes,
    No,
}

impl Flow {
    /// Goes on at a rate.
    pub(super) fn turn(&mut self, rate: f64, now: SimTime, fabric: &Fabric<'_>) {
        let before = match self.rate {
            Rate::Unknown => 0.0,
            Rate::Alone => bytes_per_ps(self.pace.max(fabric.byte_time(self.path))),
            Rate::Fair(rate) => rate,
        };
        if self.rate != Rate::Unknown && (rate - before).abs() <= SAME * before {
            return;
        }
        let passed = (now - self.since).ps() as f64;
        self.left = (self.left - before * passed).max(0.0);
        self.rate = Rate::Fair(rate);
        self.since = now;
        self.end = now + time(self.left, rate);
        self.version = self.version.wrapping_add(1);
        self.armed = Armed::No;
    }
}

impl Ended {
    /// Draws a span on every link of the path.
    pub(super) fn draw(self, timeline: &mut Timeline, now: SimTime, fabric: &Fabric<'_>) {
        for one in fabric.path(self.path).uses {
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
