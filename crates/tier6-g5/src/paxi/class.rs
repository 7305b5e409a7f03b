//! Classes of traffic, their virtual channels, and whose turn it is at a port (FACTS A.2, A.4).
//!
//! Law: channels that always have something to send share a port as their weights, in frames; with
//! strict priority a class sees of the lower ones a frame that has begun, at most.

use crate::{Arbiter, Channels, Class};

/// How many classes there are, and channels at most.
pub(crate) const CLASSES: usize = 3;

impl Channels {
    /// Returns the channel of a class: requests have the first, responses the second, multicasts the
    /// third. With two channels multicasts go with the requests, with one all go together.
    pub const fn of(self, class: Class) -> usize {
        match (class, self.count) {
            (_, 0 | 1) | (Class::Request, _) | (Class::Multicast, 2) => 0,
            (Class::Response, _) => 1,
            (Class::Multicast, _) => 2,
        }
    }
}

/// Whose turn it is among the channels of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    channel: usize,
    /// Frames that it may send before another has its turn.
    left: u32,
}

impl Turns {
    /// Returns which of the channels with something to send goes next.
    pub fn next(self, arbiter: Arbiter, has_frame: [bool; CLASSES]) -> Option<usize> {
        let mut order = match arbiter {
            Arbiter::Strict => [1, 2, 0],
            Arbiter::Weighted(_) => {
                let first = self.channel + usize::from(self.left == 0);
                [first, first + 1, first + 2].map(|channel| channel % CLASSES)
            }
        }
        .into_iter();
        order.find(|channel| has_frame[*channel])
    }

    /// Notes that a channel sends a frame.
    pub fn took(&mut self, arbiter: Arbiter, channel: usize) {
        let Arbiter::Weighted(weights) = arbiter else {
            return;
        };
        if self.channel == channel && self.left > 0 {
            self.left -= 1;
        } else {
            self.channel = channel;
            self.left = weights[channel].saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many frames each channel sends.
    fn shares(arbiter: Arbiter, has_frame: [bool; CLASSES], frames: u32) -> [u32; CLASSES] {
        let (mut turns, mut sent) = (Turns::default(), [0; CLASSES]);
        for _ in 0..frames {
            let channel = turns.next(arbiter, has_frame).unwrap();
            turns.took(arbiter, channel);
            sent[channel] += 1;
        }
        sent
    }

    #[test]
    fn busy_channels_share_by_their_weights() {
        let all = [true; CLASSES];
        let weighted = Arbiter::Weighted([8, 8, 256]);
        assert_eq!(shares(weighted, all, 2_720), [80, 80, 2_560]);
        let three_to_one = Arbiter::Weighted([3, 1, 7]);
        assert_eq!(
            shares(three_to_one, [true, true, false], 400),
            [300, 100, 0]
        );
        assert_eq!(shares(Arbiter::Weighted([1; 3]), all, 300), [100; 3]);
        assert_eq!(shares(Arbiter::Strict, all, 9), [0, 9, 0]);
        assert_eq!(shares(Arbiter::Strict, [true, false, true], 9), [0, 0, 9]);
    }

    #[test]
    fn who_has_nothing_to_send_keeps_nobody_waiting() {
        let arbiter = Arbiter::Weighted([8, 8, 256]);
        assert_eq!(shares(arbiter, [false, true, false], 50), [0, 50, 0]);
        assert_eq!(Turns::default().next(arbiter, [false; CLASSES]), None);
    }

    #[test]
    fn classes_find_their_channels() {
        let channels = |count| Channels {
            count,
            arbiter: Arbiter::Strict,
        };
        let of = |count| {
            [Class::Request, Class::Response, Class::Multicast]
                .map(|class| channels(count).of(class))
        };
        assert_eq!([of(1), of(2), of(3)], [[0, 0, 0], [0, 1, 0], [0, 1, 2]]);
    }
}
