//! The sending end of a queue pair: slots, window, retransmission.
//!
//! The slots are never stored. Frames are sent in order, so three counters tell every slot's
//! state: below `acked` it is empty again, below `next` it awaits an acknowledgement, above it
//! waits for a grant. Going back is `next = acked`.

use std::collections::VecDeque;

use tier6_units::SimTime;

use super::{Missing, Sequence, SequenceSpace};
use crate::{RcLink, Recovery};

/// The sending end of a queue pair.
///
/// ```
/// use tier6_g5::RcLink;
/// use tier6_g5::rc_link::RcSender;
/// use tier6_units::SimTime;
///
/// let mut sender = RcSender::new(&RcLink::defaults());
/// sender.offer(2);
/// let frame = sender.send(SimTime::ZERO).expect("the window is open");
/// assert_eq!((frame.number, sender.in_flight(), sender.waiting()), (0, 1, 1));
/// ```
#[derive(Debug, Clone)]
pub struct RcSender {
    space: SequenceSpace,
    window: u64,
    timeout: SimTime,
    retries: u32,
    recovery: Recovery,
    acked: u64,
    next: u64,
    /// One more than the last frame ever sent.
    reached: u64,
    offered: u64,
    /// Runs of frames, first and end, that a selective receiver misses.
    missing: VecDeque<(u64, u64)>,
    held_until: Option<SimTime>,
    deadline: Option<SimTime>,
    /// Retransmissions since the last frame was acknowledged.
    attempts: u32,
    state: QueuePair,
    resent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueuePair {
    Live,
    Fatal,
}

/// A frame to put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Its number in the order of offering.
    pub number: u64,
    /// What the wire carries of it.
    pub sequence: Sequence,
    /// Whether it was sent before.
    pub transmission: Transmission,
}

/// Whether a frame was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transmission {
    /// No.
    First,
    /// Yes.
    Again,
}

/// The state of a frame's slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Not offered yet, or acknowledged.
    Empty,
    /// Offered, or to be sent again.
    WaitingForGrant,
    /// At the head of those that wait, held by the rate control.
    RateBlocked,
    /// Sent.
    WaitingForAck,
}

/// A queue pair gave up; only [`RcSender::revive`] brings it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a queue pair gave up after {retries} retransmissions in a row")]
pub struct QueuePairFatal {
    /// The limit.
    pub retries: u32,
}

impl RcSender {
    /// Returns the end of a fresh queue pair.
    ///
    /// # Panics
    ///
    /// When the parameters were not checked.
    pub fn new(link: &RcLink) -> Self {
        let space = SequenceSpace::new(link.sequence_bits);
        assert!(
            link.window <= space.mask,
            "Invariant: parameters are checked"
        );
        Self {
            space,
            window: link.window.into(),
            timeout: link.timeout,
            retries: link.retries,
            recovery: link.recovery,
            acked: 0,
            next: 0,
            reached: 0,
            offered: 0,
            missing: VecDeque::new(),
            held_until: None,
            deadline: None,
            attempts: 0,
            state: QueuePair::Live,
            resent: 0,
        }
    }

    /// Takes frames that wait for their grant; returns the number of the first.
    pub fn offer(&mut self, frames: u64) -> u64 {
        let first = self.offered;
        self.offered += frames;
        first
    }

    /// Returns what the wire carries of a frame's number.
    pub fn sequence_of(&self, number: u64) -> Sequence {
        self.space.of(number)
    }

    /// Returns the frame that goes next, if the window lets one go.
    pub fn peek(&self) -> Option<u64> {
        if self.state == QueuePair::Fatal {
            return None;
        }
        if let Some(&(first, _)) = self.missing.front() {
            return Some(first);
        }
        (self.next < self.offered && self.next < self.acked + self.window).then_some(self.next)
    }

    /// Sends the frame that goes next, if the window lets one go and the rate control does not
    /// hold it.
    pub fn send(&mut self, now: SimTime) -> Option<Frame> {
        if self.held_until.is_some_and(|until| now < until) {
            return None;
        }
        let number = self.peek()?;
        self.held_until = None;
        match self.missing.front_mut() {
            Some((first, _)) => *first += 1,
            None => self.next += 1,
        }
        self.drop_found();
        let transmission = if number < self.reached {
            self.resent += 1;
            Transmission::Again
        } else {
            self.reached = number + 1;
            Transmission::First
        };
        if self.deadline.is_none() {
            self.deadline = Some(now + self.timeout);
        }
        Some(Frame {
            number,
            sequence: self.space.of(number),
            transmission,
        })
    }

    /// Holds the frame that goes next until the rate control lets it go.
    pub fn hold(&mut self, until: SimTime) {
        self.held_until = Some(until);
    }

    /// Takes a cumulative acknowledgement, which names the frame that the receiver expects;
    /// returns how many frames it frees. What is stale frees none.
    pub fn on_ack(&mut self, expected: Sequence, now: SimTime) -> u64 {
        let freed = u64::from(self.space.ahead(expected, self.acked));
        if freed == 0 || freed > self.reached - self.acked {
            return 0;
        }
        self.acked += freed;
        // A frame that was to be sent again may be acknowledged by the flight before.
        self.next = self.next.max(self.acked);
        self.drop_found();
        self.attempts = 0;
        self.deadline = (self.acked < self.next).then(|| now + self.timeout);
        freed
    }

    /// Forgets missing frames that have been sent again or acknowledged.
    fn drop_found(&mut self) {
        while let Some((first, end)) = self.missing.front_mut() {
            *first = self.acked.max(*first);
            if first < end {
                break;
            }
            self.missing.pop_front();
        }
    }

    /// Takes a notice of missing frames; returns how many frames before them that acknowledges.
    ///
    /// # Errors
    ///
    /// When it was one retransmission too many.
    pub fn on_nak(&mut self, missing: Missing, now: SimTime) -> Result<u64, QueuePairFatal> {
        match self.recovery {
            Recovery::GoBackN => {
                let freed = self.on_ack(missing.first, now);
                if self.space.of(self.acked) == missing.first && self.acked < self.reached {
                    self.go_back()?;
                }
                Ok(freed)
            }
            Recovery::Selective { .. } => {
                let first = self.acked + u64::from(self.space.ahead(missing.first, self.acked));
                let end = (first + u64::from(missing.count)).min(self.reached);
                if first < end {
                    self.missing.push_back((first, end));
                }
                Ok(0)
            }
        }
    }

    /// Returns when [`RcSender::on_timer`] is due, if anything is unacknowledged.
    pub fn deadline(&self) -> Option<SimTime> {
        self.deadline
    }

    /// Goes back if the acknowledgement is overdue; a timer that was set before the last
    /// progress does nothing.
    ///
    /// # Errors
    ///
    /// When it was one retransmission too many.
    pub fn on_timer(&mut self, now: SimTime) -> Result<(), QueuePairFatal> {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return Ok(());
        }
        self.go_back()
    }

    /// Moves every unacknowledged slot back to waiting (all of them, or the oldest alone). The time
    /// runs again when one is sent: what cannot be sent is not silence.
    fn go_back(&mut self) -> Result<(), QueuePairFatal> {
        self.attempts += 1;
        self.deadline = None;
        if self.attempts > self.retries {
            self.state = QueuePair::Fatal;
            return Err(QueuePairFatal {
                retries: self.retries,
            });
        }
        match self.recovery {
            Recovery::GoBackN => self.next = self.acked,
            Recovery::Selective { .. } => {
                self.missing.push_front((self.acked, self.acked + 1));
            }
        }
        Ok(())
    }

    /// Brings a queue pair that gave up back, as software would: from the oldest frame on.
    pub fn revive(&mut self) {
        self.state = QueuePair::Live;
        self.attempts = 0;
        self.next = self.acked;
        self.missing.clear();
    }

    /// Returns the state of a frame's slot.
    pub fn slot(&self, number: u64) -> Slot {
        let resending = self
            .missing
            .iter()
            .any(|&(first, end)| (first..end).contains(&number));
        if number < self.acked || number >= self.offered {
            Slot::Empty
        } else if number < self.next && !resending {
            Slot::WaitingForAck
        } else if self.held_until.is_some() && self.peek() == Some(number) {
            Slot::RateBlocked
        } else {
            Slot::WaitingForGrant
        }
    }

    /// Returns whether a frame was sent before.
    pub fn was_sent(&self, number: u64) -> bool {
        number < self.reached
    }

    /// Returns the frames acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acked
    }

    /// Returns the frames that were sent and await an acknowledgement.
    pub fn in_flight(&self) -> u64 {
        self.next - self.acked
    }

    /// Returns whether more than half of the window is in flight.
    pub fn has_half_in_flight(&self) -> bool {
        2 * self.in_flight() > self.window
    }

    /// Returns the frames that wait to be sent.
    pub fn waiting(&self) -> u64 {
        self.offered - self.next
    }

    /// Returns how many frames were sent again.
    pub fn resent(&self) -> u64 {
        self.resent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    fn sender(window: u32) -> RcSender {
        RcSender::new(&RcLink {
            window,
            timeout: SimTime::from_ps(100),
            retries: 2,
            ..RcLink::defaults()
        })
    }

    fn send_all(sender: &mut RcSender, now: SimTime) -> Vec<u64> {
        std::iter::from_fn(|| sender.send(now).map(|frame| frame.number)).collect()
    }

    fn missing(sender: &RcSender, frame: u64) -> Missing {
        Missing {
            first: sender.space.of(frame),
            count: 1,
        }
    }

    #[test]
    fn slots_go_through_their_states() {
        let mut sender = sender(2);
        assert_eq!(sender.slot(0), Slot::Empty);
        sender.offer(3);
        assert_eq!(sender.slot(0), Slot::WaitingForGrant);
        sender.hold(SimTime::from_ps(5));
        assert_eq!(sender.slot(0), Slot::RateBlocked);
        assert_eq!(sender.slot(1), Slot::WaitingForGrant);
        assert_eq!(sender.send(SimTime::from_ps(4)), None);
        assert_eq!(send_all(&mut sender, SimTime::from_ps(5)), [0, 1]);
        assert_eq!(sender.slot(1), Slot::WaitingForAck);
        assert_eq!(sender.on_ack(sender.space.of(1), NOW), 1);
        assert_eq!(sender.slot(0), Slot::Empty);
        assert_eq!(send_all(&mut sender, NOW), [2]);
    }

    #[test]
    fn a_gap_goes_back_to_the_oldest() {
        let mut sender = sender(8);
        sender.offer(8);
        send_all(&mut sender, NOW);
        assert_eq!(sender.on_nak(missing(&sender, 3), NOW), Ok(3));
        assert_eq!(sender.slot(3), Slot::WaitingForGrant);
        let again = sender.send(NOW).unwrap();
        assert_eq!((again.number, again.transmission), (3, Transmission::Again));
        assert_eq!(send_all(&mut sender, NOW), [4, 5, 6, 7]);
        assert_eq!(sender.resent(), 5);
        // A stale acknowledgement frees nothing.
        assert_eq!(sender.on_ack(sender.space.of(2), NOW), 0);
        assert_eq!(sender.on_ack(sender.space.of(8), NOW), 5);
        assert_eq!(sender.deadline(), None);
    }

    #[test]
    fn selective_sends_the_lost_ones_alone() {
        let mut sender = RcSender::new(&RcLink {
            recovery: Recovery::Selective { reorder: 0 },
            window: 8,
            ..RcLink::defaults()
        });
        sender.offer(12);
        send_all(&mut sender, NOW);
        sender.on_nak(missing(&sender, 3), NOW).unwrap();
        sender.on_nak(missing(&sender, 5), NOW).unwrap();
        assert_eq!(sender.slot(3), Slot::WaitingForGrant);
        assert_eq!(sender.slot(4), Slot::WaitingForAck);
        // Frame 3 came after all: 5 alone is left, and the window has moved by 4.
        assert_eq!(sender.on_ack(sender.space.of(4), NOW), 4);
        assert_eq!(send_all(&mut sender, NOW), [5, 8, 9, 10, 11]);
        assert_eq!(sender.resent(), 1);
    }

    /// A full 12-bit window over the wrap, thousands of times.
    #[test]
    fn the_window_slides_over_the_wrap() {
        let mut sender = sender(4095);
        sender.offer(40_000);
        let mut sent = 0;
        while sender.acknowledged() < 40_000 {
            sent += send_all(&mut sender, NOW).len();
            assert!(sender.in_flight() <= 4095);
            let expected = sender.acknowledged() + sender.in_flight().div_ceil(3);
            sender.on_ack(sender.space.of(expected), NOW);
            assert_eq!(sender.acknowledged(), expected);
        }
        assert_eq!(sent, 40_000);
    }

    #[test]
    fn silence_is_fatal_after_the_retries() {
        let mut sender = sender(4);
        sender.offer(4);
        let mut now = NOW;
        for _ in 0..2 {
            assert_eq!(send_all(&mut sender, now), [0, 1, 2, 3]);
            assert_eq!(sender.on_timer(now), Ok(()), "not due");
            now = sender.deadline().unwrap();
            assert_eq!(sender.on_timer(now), Ok(()));
            assert_eq!(sender.deadline(), None, "nothing is on the wire");
        }
        send_all(&mut sender, now);
        now = sender.deadline().unwrap();
        assert_eq!(sender.on_timer(now), Err(QueuePairFatal { retries: 2 }));
        assert_eq!((sender.peek(), sender.deadline()), (None, None));
        sender.revive();
        assert_eq!(sender.peek(), Some(0));
    }

    #[test]
    fn progress_resets_the_retries() {
        let mut sender = sender(4);
        sender.offer(100);
        for expected in 1..100 {
            send_all(&mut sender, NOW);
            assert_eq!(sender.on_nak(missing(&sender, expected), NOW), Ok(1));
        }
    }
}
