//! The receiving end of a queue pair: order, cumulative acknowledgement, notices of gaps.

use super::{Missing, Sequence, SequenceSpace};
use crate::{AckMerge, RcLink, Recovery};

/// The receiving end of a queue pair.
///
/// A gap is reported once per flight. A flight begins when a frame is no later than the last one
/// seen: the sender went back. So a frame that is lost again is reported again, without a
/// timeout. That needs a path that keeps order, as go-back-N does anyway.
#[derive(Debug, Clone)]
pub struct RcReceiver {
    space: SequenceSpace,
    window: u32,
    merge: AckMerge,
    expected: u64,
    /// One more than the last frame seen, taken or not.
    seen: u64,
    gap: Gap,
    mark: Mark,
    early: Option<Box<Early>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Reported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Clear,
    Pending,
}

/// Frames that came before their turn: a ring of bits, one for each frame of the window.
#[derive(Debug, Clone)]
struct Early {
    bits: Box<[u64]>,
    reorder: u64,
    /// One more than the last frame that came.
    highest: u64,
    /// Frames before this one are here or reported missing.
    examined: u64,
}

/// Whether a frame asks for its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// It may be merged.
    Merge,
    /// At once: the last frame of a message.
    Force,
}

/// What the receiver does with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Takes it.
    Take {
        /// Its number.
        number: u64,
        /// How it is acknowledged.
        answer: Answer,
        /// What to report missing: of a selective receiver only.
        nak: Option<Missing>,
    },
    /// Has it already, and says at once what it expects.
    Again(Sequence),
    /// Drops it, for one before it is missing.
    Gap {
        /// What to report missing; nothing when this flight was reported.
        nak: Option<Missing>,
    },
}

/// How a frame is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With an acknowledgement at once, which names the frame expected.
    Now(Sequence),
    /// When the scanner comes; it has to be told.
    Mark,
    /// When the scanner comes; it knows.
    Merged,
}

impl RcReceiver {
    /// Returns the end of a fresh queue pair.
    ///
    /// # Panics
    ///
    /// When the parameters were not checked.
    pub fn new(link: &RcLink) -> Self {
        Self {
            space: SequenceSpace::new(link.sequence_bits),
            window: link.window,
            merge: link.ack,
            expected: 0,
            seen: 0,
            gap: Gap::None,
            mark: Mark::Clear,
            early: match link.recovery {
                Recovery::GoBackN => None,
                Recovery::Selective { reorder } => Some(Box::new(Early::new(link.window, reorder))),
            },
        }
    }

    /// Takes a frame off the wire.
    pub fn on_frame(&mut self, sequence: Sequence, urgency: Urgency) -> Reaction {
        let number = self.number_of(sequence);
        if self.early.is_some() {
            return self.on_frame_in_any_order(number, urgency);
        }
        let starts_flight = number < self.seen;
        self.seen = number + 1;
        if number == self.expected {
            self.expected += 1;
            self.gap = Gap::None;
            let answer = self.answer(urgency);
            return Reaction::Take {
                number,
                answer,
                nak: None,
            };
        }
        if number < self.expected {
            return Reaction::Again(self.space.of(self.expected));
        }
        let report = starts_flight || self.gap == Gap::None;
        self.gap = Gap::Reported;
        Reaction::Gap {
            nak: report.then(|| Missing {
                first: self.space.of(self.expected),
                count: 1,
            }),
        }
    }

    /// Returns the number of a frame: the nearest to that expected that has its sequence number. A
    /// go-back-N window may be larger than half of what sequence numbers tell apart; then, behind a
    /// gap, a frame is taken for one of the window that begins with the gap.
    fn number_of(&self, sequence: Sequence) -> u64 {
        let ahead = self.space.ahead(sequence, self.expected);
        if self.gap == Gap::Reported && ahead < self.window {
            return self.expected + u64::from(ahead);
        }
        self.space.nearest(sequence, self.expected)
    }

    fn on_frame_in_any_order(&mut self, number: u64, urgency: Urgency) -> Reaction {
        let early = self
            .early
            .as_mut()
            .expect("Invariant: a selective receiver keeps early frames");
        if number < self.expected || !early.insert(number) {
            return Reaction::Again(self.space.of(self.expected));
        }
        while early.remove(self.expected) {
            self.expected += 1;
        }
        let nak = early
            .next_missing(self.expected)
            .map(|(first, count)| Missing {
                first: self.space.of(first),
                count,
            });
        let answer = self.answer(urgency);
        Reaction::Take {
            number,
            answer,
            nak,
        }
    }

    fn answer(&mut self, urgency: Urgency) -> Answer {
        match (self.merge, urgency, self.mark) {
            (AckMerge::Never, _, _) | (AckMerge::Every(_), Urgency::Force, _) => {
                self.mark = Mark::Clear;
                Answer::Now(self.space.of(self.expected))
            }
            (AckMerge::Every(_), Urgency::Merge, Mark::Clear) => {
                self.mark = Mark::Pending;
                Answer::Mark
            }
            (AckMerge::Every(_), Urgency::Merge, Mark::Pending) => Answer::Merged,
        }
    }

    /// Returns the cumulative acknowledgement of a visit; nothing when a forced one went ahead.
    pub fn acknowledge(&mut self) -> Option<Sequence> {
        let pending = self.mark == Mark::Pending;
        self.mark = Mark::Clear;
        pending.then(|| self.space.of(self.expected))
    }

    /// Returns whether all frames before `end` may be there once frame `number` is; when it says no,
    /// they are not.
    pub fn would_end(&self, number: u64, end: u64) -> bool {
        let seen = match &self.early {
            None => number + 1,
            Some(early) => early.highest.max(number + 1),
        };
        number == self.expected && seen == end
    }

    /// Returns the frame expected: all before it are taken.
    pub fn expected(&self) -> u64 {
        self.expected
    }
}

impl Early {
    fn new(window: u32, reorder: u32) -> Self {
        Self {
            bits: vec![0; window.div_ceil(64).next_power_of_two() as usize].into(),
            reorder: reorder.into(),
            highest: 0,
            examined: 0,
        }
    }

    /// Returns the next run of frames, first and count, that were overtaken by too many.
    fn next_missing(&mut self, expected: u64) -> Option<(u64, u32)> {
        let end = self.highest.saturating_sub(1 + self.reorder);
        self.examined = self.examined.max(expected);
        while self.examined < end && self.holds(self.examined) {
            self.examined += 1;
        }
        let first = self.examined;
        while self.examined < end && !self.holds(self.examined) {
            self.examined += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "within the window")]
        let count = (self.examined - first) as u32;
        (count > 0).then_some((first, count))
    }

    fn holds(&self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        self.bits[word] & bit != 0
    }

    fn place(&self, number: u64) -> (usize, u64) {
        let word = (number / 64) as usize & (self.bits.len() - 1);
        (word, 1 << (number % 64))
    }

    /// Returns whether it is new.
    fn insert(&mut self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        let is_new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        self.highest = self.highest.max(number + 1);
        is_new
    }

    /// Returns whether it was there.
    fn remove(&mut self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        let was_there = self.bits[word] & bit != 0;
        self.bits[word] &= !bit;
        was_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::SimTime;

    fn receiver(change: impl Fn(&mut RcLink)) -> RcReceiver {
        let mut link = RcLink {
            ack: AckMerge::Never,
            ..RcLink::defaults()
        };
        change(&mut link);
        RcReceiver::new(&link)
    }

    fn take(receiver: &mut RcReceiver, frame: u64) -> Reaction {
        receiver.on_frame(receiver.space.of(frame), Urgency::Merge)
    }

    fn is_reported(reaction: Reaction) -> bool {
        match reaction {
            Reaction::Gap { nak } => nak.is_some(),
            other => panic!("expected a gap, found {other:?}"),
        }
    }

    /// A window of all but one of the numbers: its far end looks like what is behind the gap.
    #[test]
    fn the_far_end_of_a_large_window_is_a_gap() {
        let mut receiver = receiver(|link| {
            link.sequence_bits = 4;
            link.window = 15;
            link.recovery = Recovery::GoBackN;
        });
        // The first frame is lost, and once more when the sender has gone back.
        for _ in 0..2 {
            for number in 1..15 {
                let nak = (number == 1).then_some(Missing {
                    first: Sequence(0),
                    count: 1,
                });
                let reaction = receiver.on_frame(Sequence(number), Urgency::Merge);
                assert_eq!(reaction, Reaction::Gap { nak }, "{number}");
            }
        }
        for number in 0..15 {
            let reaction = receiver.on_frame(Sequence(number), Urgency::Merge);
            assert!(matches!(reaction, Reaction::Take { .. }), "{number}");
        }
    }

    #[test]
    fn a_gap_is_reported_once_per_flight() {
        let mut receiver = receiver(|_| {});
        assert!(matches!(
            take(&mut receiver, 0),
            Reaction::Take { number: 0, .. }
        ));
        // Frame 1 is lost, then lost again, then comes.
        for _ in 0..2 {
            assert!(is_reported(take(&mut receiver, 2)));
            assert!(!is_reported(take(&mut receiver, 3)));
            assert!(!is_reported(take(&mut receiver, 4)));
        }
        assert!(matches!(
            take(&mut receiver, 1),
            Reaction::Take { number: 1, .. }
        ));
        assert_eq!(receiver.expected(), 2);
        assert!(matches!(take(&mut receiver, 0), Reaction::Again(_)));
    }

    #[test]
    fn acknowledgements_are_merged_unless_forced() {
        let mut receiver = receiver(|link| link.ack = AckMerge::Every(SimTime::from_ps(10)));
        let answer = |reaction| match reaction {
            Reaction::Take { answer, .. } => answer,
            other => panic!("{other:?}"),
        };
        assert_eq!(answer(take(&mut receiver, 0)), Answer::Mark);
        assert_eq!(answer(take(&mut receiver, 1)), Answer::Merged);
        assert_eq!(receiver.acknowledge(), Some(receiver.space.of(2)));
        assert_eq!(answer(take(&mut receiver, 2)), Answer::Mark);
        let forced = receiver.on_frame(receiver.space.of(3), Urgency::Force);
        assert_eq!(answer(forced), Answer::Now(receiver.space.of(4)));
        assert_eq!(receiver.acknowledge(), None);
    }

    #[test]
    fn a_selective_receiver_takes_any_order() {
        let mut receiver = receiver(|link| {
            link.recovery = Recovery::Selective { reorder: 2 };
            link.window = 128;
        });
        let nak = |reaction| match reaction {
            Reaction::Take { nak, .. } => nak.map(|missing| missing.count),
            other => panic!("{other:?}"),
        };
        let frames = [0, 3, 4, 2, 5];
        // 1 and 2 are overtaken by 2 frames at most until 4 comes.
        let reported: Vec<_> = frames.map(|frame| nak(take(&mut receiver, frame))).into();
        assert_eq!(reported, [None, None, Some(1), None, None]);
        assert_eq!(receiver.expected(), 1);
        assert_eq!(nak(take(&mut receiver, 1)), None);
        assert_eq!(receiver.expected(), 6);
        for frame in (6..5_000).step_by(2) {
            take(&mut receiver, frame + 1);
            take(&mut receiver, frame);
        }
        assert_eq!(receiver.expected(), 5_000);
    }
}
