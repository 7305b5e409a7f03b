//! The sizes that a run's parameters announce.

use crate::{RunSetup, SizeStep};
use tier6_units::Bytes;

/// More sizes are no sweep that anyone ran.
const SIZES_MAX: u64 = 1 << 20;

/// An announced sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sweep {
    /// How many sizes.
    pub sizes: u64,
    /// The last one.
    pub last: Bytes,
    /// The one that would follow.
    pub next: Option<Bytes>,
}

impl Sweep {
    /// Counts the sizes from `-b` to `-e`, or to the cap of the memory.
    pub(super) fn of(setup: &RunSetup) -> Option<Self> {
        let first = setup.min_bytes?.get();
        let last = setup.reduced_max_bytes.or(setup.max_bytes)?.get();
        let (mut size, mut sizes) = (first, 1);
        if first > last {
            return None;
        }
        loop {
            let next = next_size(size, setup.step?);
            match next {
                Some(next) if next <= last && next > size && sizes < SIZES_MAX => {
                    size = next;
                    sizes += 1;
                }
                Some(next) if next <= size || sizes >= SIZES_MAX => return None,
                _ => {
                    return Some(Self {
                        sizes,
                        last: Bytes::new(size),
                        next: next.map(Bytes::new),
                    });
                }
            }
        }
    }
}

/// The next size; `None` past 2^64. nccl-tests multiplies whole numbers, so nothing is rounded
/// for whole factors; others are rounded down.
fn next_size(size: u64, step: SizeStep) -> Option<u64> {
    match step {
        SizeStep::Bytes(step) => size.checked_add(step.get()),
        SizeStep::Factor(factor) => {
            let next = size as f64 * factor;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "in range; a negative factor gives 0, which moves nowhere"
            )]
            (next < 18_446_744_073_709_551_616.0).then_some(next as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(min: u64, max: u64, cap: Option<u64>, step: SizeStep, expect: Option<(u64, u64)>) {
        let setup = RunSetup {
            min_bytes: Some(Bytes::new(min)),
            max_bytes: Some(Bytes::new(max)),
            reduced_max_bytes: cap.map(Bytes::new),
            step: Some(step),
            ..RunSetup::default()
        };
        let sweep = Sweep::of(&setup).map(|sweep| (sweep.sizes, sweep.last.get()));
        assert_eq!(sweep, expect);
    }

    #[test]
    fn sizes_are_counted() {
        let double = SizeStep::Factor(2.0);
        check(8, 1024, None, double, Some((8, 1024)));
        check(8, 1000, None, double, Some((7, 512)));
        check(8, 1 << 30, Some(600), double, Some((7, 512)));
        check(
            8,
            128 << 20,
            None,
            SizeStep::Bytes(Bytes::new(1 << 20)),
            Some((128, 133_169_160)),
        );
        check(
            64,
            64,
            None,
            SizeStep::Bytes(Bytes::new(1 << 20)),
            Some((1, 64)),
        );
        check(0, 64, None, double, None);
        check(64, 8, None, double, None);
        check(1, u64::MAX, None, SizeStep::Bytes(Bytes::new(1)), None);
    }
}
