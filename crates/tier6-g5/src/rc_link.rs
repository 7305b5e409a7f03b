//! The reliable link layer: numbered frames, acknowledgement, retransmission, credits
//! (FACTS A.4, D.5, D.6).
//!
//! State machines without I/O: whoever moves the frames calls them with the time and does what
//! they answer. A queue pair is an [`RcSender`] and an [`RcReceiver`]; an [`AckScanner`] merges the
//! acknowledgements of all queue pairs of a chip; a [`CreditPool`] stands before a buffer.
//!
//! Laws that they keep: go-back-N delivers (1−p)/(1−p+pW) of the line at loss p with W frames in
//! flight; a window or a pool of C bytes carries min(B, C/T), T the time of its loop.

mod credit;
mod receiver;
mod scanner;
mod sender;

pub use credit::CreditPool;
pub use receiver::{Answer, RcReceiver, Reaction, Urgency};
pub use scanner::AckScanner;
pub use sender::{Frame, QueuePairFatal, RcSender, Slot, Transmission};

/// A sequence number as the wire carries it: the frame's number, cut to a few bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sequence(u32);

/// Frames that did not come, as a receiver reports them (NAK).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The first.
    pub first: Sequence,
    /// How many; after it a go-back-N receiver does not look.
    pub count: u32,
}

/// The sequence numbers of a queue pair, which wrap at 2^bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SequenceSpace {
    mask: u32,
}

impl SequenceSpace {
    /// # Panics
    ///
    /// Unless there are 2 to 31 bits, as [`crate::G5Parameters::check`] makes sure.
    fn new(bits: u32) -> Self {
        assert!(
            (2..=31).contains(&bits),
            "Invariant: parameters are checked"
        );
        Self {
            mask: (1 << bits) - 1,
        }
    }

    fn of(self, frame: u64) -> Sequence {
        Sequence(self.low(frame))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the cut is what is meant")]
    const fn low(self, frame: u64) -> u32 {
        frame as u32 & self.mask
    }

    /// Returns how far a sequence number is ahead of a frame, going up.
    fn ahead(self, sequence: Sequence, frame: u64) -> u32 {
        sequence.0.wrapping_sub(self.low(frame)) & self.mask
    }

    /// Returns the frame nearest to `frame` that has this sequence number.
    fn nearest(self, sequence: Sequence, frame: u64) -> u64 {
        let ahead = self.ahead(sequence, frame);
        if ahead <= self.mask / 2 {
            return frame + u64::from(ahead);
        }
        let behind = u64::from(self.mask - ahead) + 1;
        // Before the first frame there is none: what is left is ahead.
        frame
            .checked_sub(behind)
            .unwrap_or(frame + u64::from(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        let space = SequenceSpace::new(12);
        assert_eq!(space.of(4096), space.of(0));
        assert_eq!(space.ahead(space.of(4100), 4090), 10);
        for frame in [0, 1, 4095, 4096, 10_000, u64::from(u32::MAX) + 5] {
            for other in frame.saturating_sub(2047)..frame + 2048 {
                assert_eq!(space.nearest(space.of(other), frame), other);
            }
        }
    }
}
