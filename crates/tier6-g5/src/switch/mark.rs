//! Congestion marks.

use crate::EcnCurve;

impl EcnCurve {
    /// Returns the probability of a mark at a queue of so many bytes: 0 up to `k_min`, linear to
    /// `p_max` at `k_max`, 1 above.
    pub fn probability(&self, queue: u64) -> f64 {
        if queue <= self.k_min {
            0.0
        } else if queue > self.k_max {
            1.0
        } else {
            let above = (queue - self.k_min) as f64;
            self.p_max * above / (self.k_max - self.k_min) as f64
        }
    }

    /// Returns whether a packet that joins this queue is marked, given 64 random bits.
    pub fn marks(&self, queue: u64, draw: u64) -> bool {
        // The upper 53 bits are an even number in 0..1.
        queue > self.k_min && ((draw >> 11) as f64) < self.probability(queue) * (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use tier6_des::Random;

    use super::*;

    const CURVE: EcnCurve = EcnCurve {
        k_min: 100,
        k_max: 300,
        p_max: 0.2,
    };

    #[test]
    fn the_curve_bends_at_its_thresholds() {
        let cases = [(0, 0.0), (100, 0.0), (200, 0.1), (300, 0.2), (301, 1.0)];
        for (queue, probability) in cases {
            assert!(
                (CURVE.probability(queue) - probability).abs() < 1e-12,
                "{queue}"
            );
        }
    }

    #[test]
    fn marks_come_as_often_as_the_curve_says() {
        for queue in [50, 101, 200, 300, 301, 1000] {
            let (draws, mut random) = (100_000_u32, Random::new(queue));
            let marked = (0..draws).filter(|_| CURVE.marks(queue, random.next_u64()));
            let marked = marked.count();
            let share = marked as f64 / f64::from(draws);
            assert!(
                (share - CURVE.probability(queue)).abs() < 0.004,
                "{queue}: {share}"
            );
        }
    }

    #[test]
    fn a_step_marks_all_or_nothing() {
        let step = EcnCurve {
            k_min: 100,
            k_max: 100,
            p_max: 0.0,
        };
        assert!(!step.marks(100, 0) && step.marks(101, u64::MAX));
    }
}
