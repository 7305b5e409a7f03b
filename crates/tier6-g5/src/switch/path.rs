//! Which of several equal paths a flow takes (FACTS D.4).

use crate::PathChoice;

/// Chooses paths by a hash of the seed (ECMP).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChooser {
    seed: u64,
}

impl PathChooser {
    /// Returns a chooser; another seed is another hash function.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the index of one of `paths` equal ways for a sub-flow of a flow between two chips.
    ///
    /// # Panics
    ///
    /// When there is no way.
    pub fn choose(&self, ends: (u32, u32), flow: u32, sub_flow: u32, paths: usize) -> usize {
        assert!(paths > 0, "Invariant: routes lead somewhere");
        let words = [ends.0, ends.1, flow, sub_flow];
        let mixed = words.iter().fold(self.seed, |state, word| {
            mix(state ^ u64::from(*word).wrapping_add(0x9e37_79b9_7f4a_7c15))
        });
        let chosen = mix(mixed) % paths as u64;
        usize::try_from(chosen).expect("Invariant: below a length")
    }
}

impl PathChoice {
    /// Returns whether packets of one flow can overtake each other: go-back-N then takes
    /// reordering for loss.
    pub const fn reorders(self) -> bool {
        match self {
            Self::Preferred | Self::PerFlow => false,
            Self::SubFlows(_) | Self::Spray | Self::RoundRobin => true,
        }
    }
}

/// Mixes the bits of a word (`SplitMix64`, Steele et al. 2014).
const fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
