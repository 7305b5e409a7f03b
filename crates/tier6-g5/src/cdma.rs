//! How many engines carry a message, and at what pace (FACTS A.2 to A.4).
//!
//! A chip has a few identical engines, each with its share of the chip's rate. A message goes over
//! k = min(units, ⌈bytes/split⌉) of them in equal parts and is complete with the last one, so a
//! message of no more than `split` bytes gets one share only. Between `split` and
//! `units · split` bytes the bytes per engine, and so the time, stay at one plateau.

use tier6_units::ByteTime;

use crate::{Cdma, CdmaSplit};

impl Cdma {
    /// Returns over how many engines a message goes: at least one, at most all.
    pub const fn engines(&self, bytes: u64) -> u32 {
        match self.split {
            CdmaSplit::All => self.units,
            CdmaSplit::Per(split) => {
                let pieces = bytes.div_ceil(split);
                if pieces == 0 {
                    1
                } else if pieces >= self.units as u64 {
                    self.units
                } else {
                    #[expect(clippy::cast_possible_truncation, reason = "below `units`")]
                    let engines = pieces as u32;
                    engines
                }
            }
        }
    }

    /// Returns what a byte of a message takes on the engines that it goes over: units/k times the
    /// chip's own. Zero when the engines have no rate of their own.
    pub fn pace(&self, bytes: u64) -> ByteTime {
        self.pace_of(self.engines(bytes))
    }

    /// Returns what a byte takes on so many engines.
    pub(crate) fn pace_of(&self, engines: u32) -> ByteTime {
        match self.rate {
            Some(rate) => rate.scaled(self.units, engines),
            None => ByteTime::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::{GbPerSec, SimTime};

    fn h200() -> Cdma {
        Cdma {
            units: 8,
            threads: 8,
            split: CdmaSplit::Per(64 << 10),
            credits: 32,
            start: SimTime::ZERO,
            sync: SimTime::ZERO,
            rate: Some(ByteTime::at(GbPerSec::new(8.0 * 55.1))),
        }
    }

    #[test]
    fn engines_follow_the_split() {
        let cdma = h200();
        let cases = [
            (0, 1),
            (1, 1),
            (64 << 10, 1),
            ((64 << 10) + 1, 2),
            (448 << 10, 7),
            (512 << 10, 8),
            (1 << 40, 8),
        ];
        for (bytes, engines) in cases {
            assert_eq!(cdma.engines(bytes), engines, "{bytes} bytes");
        }
        let whole = Cdma {
            split: CdmaSplit::All,
            ..cdma
        };
        assert_eq!(whole.engines(1), 8);
        assert_eq!(whole.pace(1), whole.rate.unwrap());
    }

    /// The step times of source document 003's H200 (FACTS A.3): bytes per engine at 55.1 GB/s
    /// and 0.07 us per step.
    #[test]
    fn steps_of_a_published_platform() {
        let cdma = h200();
        for (kib, us) in [(8, 0.221), (32, 0.664), (128, 1.264)] {
            let bytes = kib << 10;
            let step = cdma.pace(bytes).of_bytes(bytes).to_micros().get() + 0.07;
            assert!((step - us).abs() < 0.006, "{kib} KiB: {step} for {us}");
        }
    }

    /// From `split` to `units · split` the time of a message does not move.
    #[test]
    fn a_plateau_between_one_engine_and_all() {
        let cdma = h200();
        let time = |kib: u64| cdma.pace(kib << 10).of_bytes(kib << 10).ps();
        for kib in [128, 192, 320, 512] {
            assert!(time(kib).abs_diff(time(64)) <= 1, "{kib} KiB");
        }
        assert!(time(1024).abs_diff(2 * time(512)) <= 1);
    }
}
