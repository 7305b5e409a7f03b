//! Axes: from values to a place between 0 and 1, and where ticks stand. Shared by the terminal
//! plot and the SVG charts.

use crate::number;
use tier6_units::Bytes;

/// How values are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    Log,
    Linear,
}

/// A range of values, laid out from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    spacing: Spacing,
    low: f64,
    high: f64,
}

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) place: f64,
    pub(crate) label: String,
}

/// Round numbers and the decimals that tell them apart.
struct Rounds {
    values: Vec<f64>,
    decimals: usize,
}

impl Axis {
    /// Returns the axis that spans the usable values; `None` when there are none.
    ///
    /// Values that are not finite, or not positive on a log axis, are passed over. A single
    /// value gets room on both sides.
    pub(crate) fn spanning(
        spacing: Spacing,
        values: impl IntoIterator<Item = f64>,
    ) -> Option<Self> {
        let usable =
            |value: &f64| value.is_finite() && (spacing == Spacing::Linear || *value > 0.0);
        let (low, high) = values
            .into_iter()
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return None;
        }
        let (low, high) = match spacing {
            _ if low < high => (low, high),
            Spacing::Log => (low / 2.0, high * 2.0),
            Spacing::Linear => (low - 1.0, high + 1.0),
        };
        Some(Self { spacing, low, high })
    }

    /// Returns the axis with `share` of its length added at both ends.
    pub(crate) fn padded(self, share: f64) -> Self {
        match self.spacing {
            Spacing::Log => {
                let factor = (self.high / self.low).powf(share);
                Self {
                    low: self.low / factor,
                    high: self.high * factor,
                    ..self
                }
            }
            Spacing::Linear => {
                let room = (self.high - self.low) * share;
                Self {
                    low: self.low - room,
                    high: self.high + room,
                    ..self
                }
            }
        }
    }

    /// Returns the place of `value`: 0 at the low end, 1 at the high end, beyond them outside;
    /// `None` for what has no place.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.spacing {
            Spacing::Log => (value / self.low).log2() / (self.high / self.low).log2(),
            Spacing::Linear => (value - self.low) / (self.high - self.low),
        };
        place.is_finite().then_some(place)
    }

    /// Returns the value at a place.
    pub(crate) fn value_at(&self, place: f64) -> f64 {
        match self.spacing {
            Spacing::Log => self.low * (self.high / self.low).powf(place),
            Spacing::Linear => self.low + (self.high - self.low) * place,
        }
    }

    /// Returns ticks at powers of two of bytes, at most `ticks_max`, evenly spaced.
    pub(crate) fn size_ticks(&self, ticks_max: usize) -> Vec<Tick> {
        let first = self.low.log2().ceil().max(0.0);
        let last = self.high.log2().floor().min(63.0);
        let powers = |stride: u32| (0..64_u32).step_by(stride as usize);
        let inside = |power: &u32| (first..=last).contains(&f64::from(*power));
        let stride = [1, 2, 5, 10, 20]
            .into_iter()
            .find(|stride| powers(*stride).filter(inside).count() <= ticks_max.max(1))
            .unwrap_or(20);
        let ticks = powers(stride).filter(inside).filter_map(|power| {
            let bytes = Bytes::new(1 << power);
            self.tick(bytes.as_f64(), bytes.to_label())
        });
        ticks.collect()
    }

    /// Returns ticks of time at powers of ten of a microsecond, with 2 and 5 or 3 between them
    /// while no more than `ticks_max` result; at round numbers when the axis is short.
    pub(crate) fn time_ticks(&self, ticks_max: usize) -> Vec<Tick> {
        let decades = (-3..=12).map(|decade| 10_f64.powi(decade));
        let values = |steps: &[f64]| -> Vec<f64> {
            let all = decades
                .clone()
                .flat_map(|unit| steps.iter().map(move |step| unit * step));
            all.filter(|value| (self.low..=self.high).contains(value))
                .collect()
        };
        let choices = [
            values(&[1.0, 2.0, 5.0]),
            values(&[1.0, 3.0]),
            values(&[1.0]),
        ];
        if choices[0].len() < 3 {
            return self.short_time_ticks(ticks_max);
        }
        let fits = |ticks: &&Vec<f64>| ticks.len() <= ticks_max;
        let chosen = choices.iter().find(fits).unwrap_or(&choices[2]);
        let ticks = chosen
            .iter()
            .filter_map(|us| self.tick(*us, number::duration(*us)));
        ticks.collect()
    }

    /// Returns ticks at round numbers of the unit that suits the high end.
    fn short_time_ticks(&self, ticks_max: usize) -> Vec<Tick> {
        let (scale, unit) = number::duration_unit(self.high);
        let Rounds { values, decimals } = self.rounds(u32::try_from(ticks_max).unwrap_or(5), scale);
        let label = |value: f64| format!("{} {unit}", number::fixed(value, decimals));
        let ticks = values
            .into_iter()
            .filter_map(|value| self.tick(value * scale, label(value)));
        ticks.collect()
    }

    /// Returns ticks at round numbers (1, 2 or 5 times a power of ten), at most about `wanted`.
    pub(crate) fn round_ticks(&self, wanted: u32) -> Vec<Tick> {
        let Rounds { values, decimals } = self.rounds(wanted, 1.0);
        let ticks = values
            .into_iter()
            .filter_map(|value| self.tick(value, number::fixed(value, decimals)));
        ticks.collect()
    }

    /// Returns the round numbers of the range divided by `scale`.
    fn rounds(&self, wanted: u32, scale: f64) -> Rounds {
        let (low, high) = (self.low / scale, self.high / scale);
        let rough = (high - low) / f64::from(wanted.max(1));
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * unit)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * unit);
        let first = (low / step).ceil();
        let values = (0..=wanted + 1).map(|index| (first + f64::from(index)) * step);
        Rounds {
            values: values
                .filter(|value| *value <= high + step * 1e-9)
                .collect(),
            decimals: if step >= 1.0 {
                0
            } else {
                digits_below_one(step)
            },
        }
    }

    fn tick(&self, value: f64, label: String) -> Option<Tick> {
        let place = self.place(value)?;
        Some(Tick { place, label })
    }
}

/// Returns how many decimals a step below one needs.
fn digits_below_one(step: f64) -> usize {
    (1..9)
        .find(|decimals| step * 10_f64.powi(*decimals) >= 0.999)
        .and_then(|decimals| usize::try_from(decimals).ok())
        .unwrap_or(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    fn axis(spacing: Spacing, low: f64, high: f64) -> Axis {
        Axis::spanning(spacing, [low, high]).unwrap()
    }

    #[test]
    fn sizes_are_ticked_in_binary_units() {
        let scan = axis(Spacing::Log, 1.0, 1_073_741_824.0);
        let want = ["1 B", "32 B", "1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"];
        assert_eq!(labels(&scan.size_ticks(8)), want);
        assert_eq!(
            labels(&scan.size_ticks(4)),
            ["1 B", "1 KiB", "1 MiB", "1 GiB"]
        );
        assert_eq!(
            labels(&axis(Spacing::Log, 1024.0, 4096.0).size_ticks(8)),
            ["1 KiB", "2 KiB", "4 KiB"]
        );
    }

    #[test]
    fn times_are_ticked_in_decades() {
        let scan = axis(Spacing::Log, 18.0, 13_246.0);
        assert_eq!(
            labels(&scan.time_ticks(6)),
            ["30 us", "100 us", "300 us", "1 ms", "3 ms", "10 ms"]
        );
        assert_eq!(labels(&scan.time_ticks(4)), ["100 us", "1 ms", "10 ms"]);
    }

    #[test]
    fn short_ranges_of_time_have_ticks_too() {
        let narrow = |low, high| axis(Spacing::Log, low, high).time_ticks(6);
        assert_eq!(
            labels(&narrow(70.7, 79.1)),
            ["72 us", "74 us", "76 us", "78 us"]
        );
        assert_eq!(
            labels(&narrow(1001.2, 1003.1)),
            ["1.0015 ms", "1.0020 ms", "1.0025 ms", "1.0030 ms"]
        );
        assert_eq!(
            labels(&narrow(93.7, 120.9)),
            ["95 us", "100 us", "105 us", "110 us", "115 us", "120 us"]
        );
    }

    #[test]
    fn round_ticks_stay_inside() {
        assert_eq!(
            labels(&axis(Spacing::Linear, 0.0, 81.06).round_ticks(4)),
            ["0", "50"]
        );
        assert_eq!(
            labels(&axis(Spacing::Linear, -8.0, 5.0).round_ticks(4)),
            ["-5", "0", "5"]
        );
        assert_eq!(
            labels(&axis(Spacing::Linear, 0.98, 1.03).round_ticks(5)),
            ["0.98", "0.99", "1.00", "1.01", "1.02", "1.03"]
        );
    }

    #[test]
    fn values_without_a_place_are_passed_over() {
        assert_eq!(Axis::spanning(Spacing::Log, [0.0, -1.0, f64::NAN]), None);
        let single = Axis::spanning(Spacing::Log, [8.0]).unwrap();
        assert_eq!(single.place(8.0), Some(0.5));
        assert_eq!(single.place(0.0), None);
        assert_eq!(single.place(f64::NAN), None);
    }
}
