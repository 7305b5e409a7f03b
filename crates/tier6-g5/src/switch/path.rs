//! Which of several equal paths a packet takes (FACTS D.4).

use crate::PathChoice;

/// Chooses paths by a hash of the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChooser {
    choice: PathChoice,
    seed: u64,
}

impl PathChooser {
    /// Returns a chooser; another seed is another hash function.
    pub const fn new(choice: PathChoice, seed: u64) -> Self {
        Self { choice, seed }
    }

    /// Returns how packet number `packet` of the flow between two chips goes on at the place `at`
    /// (a switch, or the source of whole paths): the index of one of `paths` equal ways; nothing
    /// when the topology prefers one.
    ///
    /// # Panics
    ///
    /// When there is no way.
    pub fn choose(&self, at: u32, flow: (u32, u32), packet: u64, paths: u32) -> Option<u32> {
        assert!(paths > 0, "Invariant: routes lead somewhere");
        let hash = |sub: u64| {
            let place = mix(self.seed ^ mix(at.into()));
            let pair = u64::from(flow.0) << 32 | u64::from(flow.1);
            mix(mix(place ^ pair) ^ sub)
        };
        match self.choice {
            PathChoice::Preferred => None,
            PathChoice::PerFlow => Some(reduce(hash(0), paths)),
            PathChoice::SubFlows(sub_flows) => {
                Some(reduce(hash(packet % u64::from(sub_flows.max(1))), paths))
            }
            PathChoice::Spray => Some(reduce(hash(packet), paths)),
            PathChoice::RoundRobin => {
                // Flows begin at different paths, or all would be on the same one at a time.
                let first = u64::from(reduce(hash(0), paths));
                #[expect(clippy::cast_possible_truncation, reason = "below `paths`")]
                let turn = ((first + packet % u64::from(paths)) % u64::from(paths)) as u32;
                Some(turn)
            }
        }
    }

    /// Returns whether packets of one flow can overtake each other: go-back-N then takes
    /// reordering for loss.
    pub const fn reorders(&self) -> bool {
        match self.choice {
            PathChoice::Preferred | PathChoice::PerFlow => false,
            PathChoice::SubFlows(_) | PathChoice::Spray | PathChoice::RoundRobin => true,
        }
    }
}

/// Spreads 64 bits (the last step of splitmix64).
pub(crate) const fn mix(bits: u64) -> u64 {
    let z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Maps evenly spread bits onto `0..bins`.
fn reduce(hash: u64, bins: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "below `bins`")]
    let bin = ((u128::from(hash) * u128::from(bins)) >> 64) as u32;
    bin
}
