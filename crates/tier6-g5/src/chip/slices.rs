//! How a transfer is cut into slices.

use tier6_collective::Grain;

/// The most slices of a transfer; where the grain asks for more, slices are larger.
const SLICES_MAX: u64 = 1 << 24;

/// The slices of a transfer: all of one size but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slices {
    pub(crate) count: u32,
    bytes: u64,
    each: u64,
}

impl Slices {
    pub(crate) fn of(grain: Grain, bytes: u64) -> Self {
        let each = match grain {
            Grain::Message | Grain::Slices { bytes: 0 } => bytes,
            Grain::Slices { bytes: slice } => slice.max(bytes.div_ceil(SLICES_MAX)),
        };
        let count = if bytes <= each {
            1
        } else {
            bytes.div_ceil(each)
        };
        Self {
            count: u32::try_from(count).expect("Invariant: slices are few enough"),
            bytes,
            each,
        }
    }

    pub(crate) fn bytes(self, slice: u32) -> u64 {
        (self.bytes - u64::from(slice) * self.each).min(self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_sum_to_the_transfer() {
        for (grain, bytes, count) in [
            (Grain::Message, 1000, 1),
            (Grain::Slices { bytes: 0 }, 1000, 1),
            (Grain::Slices { bytes: 300 }, 1000, 4),
            (Grain::Slices { bytes: 500 }, 1000, 2),
            (Grain::Slices { bytes: 500 }, 0, 1),
            (Grain::Slices { bytes: 1 }, 1 << 30, 1 << 24),
        ] {
            let slices = Slices::of(grain, bytes);
            assert_eq!(slices.count, count);
            if count < 100 {
                let sum: u64 = (0..count).map(|slice| slices.bytes(slice)).sum();
                assert_eq!(sum, bytes);
            }
        }
    }
}
