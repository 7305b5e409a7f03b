//! Which class goes next on a link.

/// A class of traffic, with a buffer and a virtual channel of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Writes and reads.
    Request,
    /// Their answers.
    Response,
    /// Writes to a group.
    Multicast,
}

impl Class {
    /// The classes, in the order of their weights.
    pub const ALL: [Self; 3] = [Self::Request, Self::Response, Self::Multicast];

    /// Returns the virtual channel of a link with so many of them: its own, or the last one with
    /// others. Requests and responses on one channel can wait for each other for ever.
    pub fn channel(self, virtual_channels: u32) -> u32 {
        let own = match self {
            Self::Request => 0,
            Self::Response => 1,
            Self::Multicast => 2,
        };
        own.min(virtual_channels.saturating_sub(1))
    }
}

/// Shares a link among the classes by their weights, as evenly in time as they allow.
///
/// Every choice gives each waiting class its weight and takes their sum from the class chosen, the
/// one that has most. A class that does not wait neither gains nor loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arbiter {
    weights: [u32; 3],
    due: [i64; 3],
}

impl Arbiter {
    /// Returns an arbiter with the weights of requests, responses and multicasts.
    pub const fn new(weights: [u32; 3]) -> Self {
        Self {
            weights,
            due: [0; 3],
        }
    }

    /// Chooses among the classes of which something waits, given how much of each.
    pub fn choose(&mut self, waiting: [u64; 3]) -> Option<Class> {
        let mut sum = 0;
        let mut best: Option<usize> = None;
        for (class, _) in waiting.iter().enumerate().filter(|(_, left)| **left > 0) {
            let weight = i64::from(self.weights[class]);
            self.due[class] += weight;
            sum += weight;
            if best.is_none_or(|best| self.due[class] > self.due[best]) {
                best = Some(class);
            }
        }
        let chosen = best?;
        self.due[chosen] -= sum;
        Some(Class::ALL[chosen])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(waiting: [u64; 3], turns: u32) -> [u32; 3] {
        let mut arbiter = Arbiter::new([8, 8, 256]);
        let mut count = [0; 3];
        for _ in 0..turns {
            if let Some(class) = arbiter.choose(waiting) {
                count[class.channel(8) as usize] += 1;
            }
        }
        count
    }

    #[test]
    fn waiting_classes_share_by_weight() {
        assert_eq!(shares([1, 1, 1], 272), [8, 8, 256]);
        assert_eq!(shares([1, 1, 1], 2_720), [80, 80, 2_560]);
        assert_eq!(shares([1, 1, 0], 100), [50, 50, 0]);
        assert_eq!(shares([1, 0, 1], 33), [1, 0, 32]);
        assert_eq!(shares([0, 5, 0], 100), [0, 100, 0]);
        assert_eq!(shares([0, 0, 0], 100), [0, 0, 0]);
    }

    /// A request waits for no more than one round of the weights.
    #[test]
    fn no_class_starves() {
        let mut arbiter = Arbiter::new([8, 8, 256]);
        let mut since = 0;
        for _ in 0..10_000 {
            let class = arbiter.choose([1, 1, 1]);
            since = if class == Some(Class::Request) {
                0
            } else {
                since + 1
            };
            assert!(since <= 272 / 8);
        }
    }

    #[test]
    fn few_channels_are_shared_in_order() {
        let channels = |count| Class::ALL.map(|class| class.channel(count));
        assert_eq!(channels(8), [0, 1, 2]);
        assert_eq!(channels(2), [0, 1, 1]);
        assert_eq!(channels(1), [0, 0, 0]);
    }
}
