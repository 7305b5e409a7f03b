//! The buffer of a class at a receiver.

use crate::switch::PauseSignal;

/// A buffer that pauses its sender while there is still room for what is in flight: the high mark
/// is one round trip below the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassBuffer {
    capacity: u64,
    high: u64,
    held: u64,
    sender: Sender,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Going,
    Paused,
}

impl ClassBuffer {
    /// Returns an empty buffer; `round_trip` is what the sender can send until a pause has
    /// stopped it, in bytes. `None` when the buffer is not even that large.
    pub const fn new(capacity: u64, round_trip: u64) -> Option<Self> {
        match capacity.checked_sub(round_trip) {
            None | Some(0) => None,
            Some(high) => Some(Self {
                capacity,
                high,
                held: 0,
                sender: Sender::Going,
            }),
        }
    }

    /// Takes a frame.
    ///
    /// # Panics
    ///
    /// When it does not fit: the round trip is longer than was said.
    pub fn arrive(&mut self, bytes: u64) -> Option<PauseSignal> {
        self.held += bytes;
        assert!(
            self.held <= self.capacity,
            "Invariant: what is in flight fits above the high mark"
        );
        if self.held >= self.high && self.sender == Sender::Going {
            self.sender = Sender::Paused;
            return Some(PauseSignal::Pause);
        }
        None
    }

    /// Lets a frame go.
    ///
    /// # Panics
    ///
    /// When more leaves than came.
    pub fn leave(&mut self, bytes: u64) -> Option<PauseSignal> {
        self.held = self
            .held
            .checked_sub(bytes)
            .expect("Invariant: bytes out of a buffer = bytes in");
        if self.held < self.high && self.sender == Sender::Paused {
            self.sender = Sender::Going;
            return Some(PauseSignal::Resume);
        }
        None
    }

    /// Returns the bytes held.
    pub const fn held(&self) -> u64 {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A sender at twice the rate of the drain, `delay` slots away both ways: nothing overflows,
    /// and the drain never waits once it has begun.
    #[test]
    fn a_round_trip_above_the_mark_loses_nothing() {
        for delay in [1, 5, 40] {
            let round_trip = 2 * delay + 1;
            let mut buffer = ClassBuffer::new(3 * round_trip, round_trip).unwrap();
            let mut frames = VecDeque::new();
            let mut signals = VecDeque::new();
            let (mut sends, mut drained, mut first) = (Sender::Going, 0, None);
            for slot in 0..10_000 {
                while let Some(&(at, signal)) = signals.front()
                    && at <= slot
                {
                    signals.pop_front();
                    sends = match signal {
                        PauseSignal::Pause => Sender::Paused,
                        PauseSignal::Resume => Sender::Going,
                    };
                }
                if sends == Sender::Going {
                    frames.push_back(slot + delay);
                }
                if frames.front() == Some(&slot) {
                    frames.pop_front();
                    first = first.or(Some(slot));
                    signals.extend(buffer.arrive(1).map(|signal| (slot + delay, signal)));
                }
                if slot % 2 == 0 && buffer.held() > 0 {
                    drained += 1;
                    signals.extend(buffer.leave(1).map(|signal| (slot + delay, signal)));
                }
            }
            let most = (10_000 - first.unwrap()).div_ceil(2);
            assert!(drained + 1 >= most, "{drained} of {most} at {delay}");
        }
        assert_eq!(ClassBuffer::new(10, 10), None);
    }
}
