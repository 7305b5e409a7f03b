//! Seeded random numbers.
//!
//! PCG-XSH-RR 64/32 (O'Neill 2014): its numbers are fixed by the algorithm, so a seed means the
//! same in every version. A stream per link or flow keeps one from shifting the numbers of
//! another. Deliberately absent: seeds from a clock or the system.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng as _;

/// A stream of random numbers.
///
/// ```
/// use tier6_des::Random;
/// assert_eq!(Random::new(7).next_u64(), Random::new(7).next_u64());
/// assert_ne!(Random::stream(7, 1).next_u64(), Random::stream(7, 2).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct Random {
    generator: Pcg32,
}

impl Random {
    /// Starts the first stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self::stream(seed, 0)
    }

    /// Starts one of the streams of a seed.
    pub fn stream(seed: u64, stream: u64) -> Self {
        Self {
            generator: Pcg32::new(seed, stream),
        }
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a number from 0 to just below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `bound`, or 0 when `bound` is 0; the high half of a product, biased
    /// by less than `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// Says yes with a probability; always from 1 on, never up to 0.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the generator's own demonstration program (pcg32-demo, seed 42, stream 54).
    #[test]
    fn the_numbers_of_a_seed_are_fixed() {
        let mut random = Random::stream(42, 54);
        let numbers = [random.next_u64(), random.next_u64(), random.next_u64()];
        let published = [
            0x7b47_f409_a15c_02b7,
            0x83d2_f293_ba1d_3330,
            0xcbed_606e_bfa4_784b,
        ];
        assert_eq!(numbers, published);
    }

    #[test]
    fn chances_are_what_they_say() {
        let mut random = Random::stream(1, 9);
        let hits = (0..100_000).filter(|_| random.chance(0.3)).count();
        // Standard deviation 145.
        assert!((29_300..30_700).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| random.chance(1.0) && !random.chance(0.0)));
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(0), 0);
    }
}
