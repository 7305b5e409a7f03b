//! Requests that await their response.

/// Bounds the requests that await a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outstanding {
    limit: u32,
    open: u32,
}

impl Outstanding {
    /// Returns a bound with nothing open.
    pub const fn new(limit: u32) -> Self {
        Self { limit, open: 0 }
    }

    /// Admits as many of `requests` as the bound allows; returns how many.
    pub fn admit(&mut self, requests: u32) -> u32 {
        let admitted = requests.min(self.limit - self.open);
        self.open += admitted;
        admitted
    }

    /// Takes responses.
    ///
    /// # Panics
    ///
    /// When there are more than open requests.
    pub fn answer(&mut self, responses: u32) {
        self.open = self
            .open
            .checked_sub(responses)
            .expect("Invariant: one response for each request");
    }

    /// Returns the requests that await a response.
    pub const fn open(&self) -> u32 {
        self.open
    }

    /// Returns how many may be open.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns how many more may be sent.
    pub const fn room(&self) -> u32 {
        self.limit - self.open
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// The share of a line, a request per slot, with this loop.
    fn carried(limit: u32, loop_slots: u64) -> f64 {
        let mut window = Outstanding::new(limit);
        let mut responses = VecDeque::new();
        let (slots, mut sent) = (50_000, 0);
        for slot in 0..slots {
            while responses.front().is_some_and(|&at| at <= slot) {
                responses.pop_front();
                window.answer(1);
            }
            if window.admit(1) == 1 {
                sent += 1;
                responses.push_back(slot + loop_slots);
            }
        }
        assert_eq!(window.open() as usize, responses.len());
        f64::from(sent) / slots as f64
    }

    #[test]
    fn throughput_is_the_window_per_loop() {
        for (limit, loop_slots) in [(1, 7), (10, 40), (39, 40), (40, 40), (512, 40), (512, 600)] {
            let law = (f64::from(limit) / loop_slots as f64).min(1.0);
            let got = carried(limit, loop_slots);
            assert!(
                (got / law - 1.0).abs() < 0.02,
                "{limit}, {loop_slots}: {got}"
            );
        }
    }

    /// 512 requests of 1,344 bytes cover 13.8 us of loop at 50 GB/s (FACTS A.2).
    #[test]
    fn the_published_window_covers_its_loop() {
        let slots_in = |ns: u64| ns * 50 / 1_344;
        assert!(carried(512, slots_in(13_700)) > 0.999);
        assert!(carried(512, slots_in(15_000)) < 0.93);
    }

    #[test]
    fn admission_is_partial() {
        let mut window = Outstanding::new(5);
        assert_eq!(
            [window.admit(3), window.admit(3), window.admit(3)],
            [3, 2, 0]
        );
        window.answer(1);
        assert_eq!((window.room(), window.admit(9)), (1, 1));
    }
}
