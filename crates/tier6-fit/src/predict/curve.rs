//! The curve through cleaned points: in each gap the number that costs least over what may have
//! happened there, and straight lines from point to point.
//!
//! In the middle of a gap (the geometric mean of its sizes) there are up to three explanations:
//!
//! * **even**: no switch. T = alpha + n/beta through both ends. Where curves bend between
//!   latency and bandwidth this is what measured ones do in the median.
//! * **late**: the path changes just below the upper end, so the line from below still holds.
//! * **early**: it changes just above the lower end, so the line from above already holds.
//!
//! The middle is their [`relative_center`] with weights 4 : 1 : 1, two to one that nothing
//! switched. The weights were chosen on half of the machines of the published measurements and hold on
//! the other half; between 2 and 8 for the first one the figures hardly move.
//!
//! A slope lies between 0 (latency) and T/n of its anchor (pure bandwidth), so a line
//! never turns noise into a negative time or an intercept below zero.

use std::fmt;
use tier6_stats::relative_center;
use tier6_units::{Bytes, Micros};

/// Weight of the even explanation; each of the two switches weighs 1.
const EVEN_WEIGHT: f64 = 4.0;

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Knot {
    pub(super) bytes: Bytes,
    pub(super) us: f64,
}

impl Knot {
    /// Returns the time at `bytes` on the straight line through this knot and `other`.
    pub(super) fn toward(&self, other: &Self, bytes: f64) -> f64 {
        let (from, to) = (self.bytes.as_f64(), other.bytes.as_f64());
        let share = (bytes - from) / (to - from);
        self.us + (other.us - self.us) * share
    }

    /// Returns the time at `bytes` on the line anchored here whose slope comes from `other`.
    fn line(&self, other: &Self, bytes: f64) -> f64 {
        let at = self.bytes.as_f64();
        let slope = (other.us - self.us) / (other.bytes.as_f64() - at);
        let us = self.us + slope.clamp(0.0, self.us / at) * (bytes - at);
        // Rounding may take pure bandwidth below its own line.
        us.max(self.us * (bytes / at).min(1.0))
    }
}

/// The curve: at least two knots, and what stands in the middle of each gap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    knots: Vec<Knot>,
    gaps: Vec<Gap>,
}

/// What is known of the sizes between two knots.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    /// The geometric middle, and the time there.
    middle: f64,
    us: f64,
    explanations: Explanations,
}

/// Times in the middle of a gap.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Explanations {
    even: f64,
    late: Option<f64>,
    early: Option<f64>,
}

/// A time at one size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimate {
    pub(super) us: f64,
    /// Half the logarithm of the ratio between the largest and the smallest explanation.
    pub(super) half_spread: f64,
    /// Distance to the nearest measured size, in gaps; 0 within the measured sizes.
    pub(super) gaps_outside: f64,
    pub(super) grounds: Grounds,
}

/// How a prediction was made. Prints as a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Grounds {
    /// The size was measured.
    Measured {
        /// The size.
        bytes: Bytes,
    },
    /// Two measured sizes surround it. The times are those in the middle of the gap.
    Between {
        /// Measured size below.
        below: Bytes,
        /// Measured size above.
        above: Bytes,
        /// Time if nothing switches.
        even: Micros,
        /// Time if the line from below still holds; `None` in the first gap.
        late: Option<Micros>,
        /// Time if the line from above already holds; `None` in the last gap.
        early: Option<Micros>,
    },
    /// Above the largest size: on the lines through the last two and through the last and the
    /// third but last.
    Above {
        /// Largest measured size.
        largest: Bytes,
    },
    /// Below the smallest size: on the line through the first two.
    Below {
        /// Smallest measured size.
        smallest: Bytes,
    },
}

impl fmt::Display for Grounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured { bytes } => write!(f, "{bytes} was measured"),
            Self::Between {
                below,
                above,
                even,
                late,
                early,
            } => {
                let others = [
                    (late, "the line from below"),
                    (early, "the line from above"),
                ];
                let share = |time: Micros| 100.0 * (time.get() / even.get() - 1.0);
                let parts: Vec<String> = others
                    .iter()
                    .filter_map(|(time, line)| {
                        time.map(|time| format!("{line} {:+.1} %", share(time)))
                    })
                    .collect();
                write!(f, "between {below} and {above}, growing evenly")?;
                if !parts.is_empty() {
                    write!(f, " ({} in the middle)", parts.join(", "))?;
                }
                Ok(())
            }
            Self::Above { largest } => write!(
                f,
                "above the largest measured size {largest}: on the line of the last sizes"
            ),
            Self::Below { smallest } => write!(
                f,
                "below the smallest measured size {smallest}: on the line of the first sizes"
            ),
        }
    }
}

impl Curve {
    /// Builds the curve over knots of ascending sizes above zero with times above zero; `None` for fewer than two.
    pub(super) fn new(knots: Vec<Knot>) -> Option<Self> {
        if knots.len() < 2 {
            return None;
        }
        let gaps = (0..knots.len() - 1).map(|below| Gap::new(&knots, below));
        Some(Self {
            gaps: gaps.collect(),
            knots,
        })
    }

    /// Returns the time at any size.
    pub(super) fn at(&self, bytes: f64) -> Estimate {
        let above = self
            .knots
            .partition_point(|knot| knot.bytes.as_f64() < bytes);
        match self.knots.get(above) {
            None => self.above(bytes),
            Some(knot) if knot.bytes.as_f64() <= bytes => Estimate {
                us: knot.us,
                half_spread: 0.0,
                gaps_outside: 0.0,
                grounds: Grounds::Measured { bytes: knot.bytes },
            },
            Some(_) if above == 0 => self.below(bytes),
            Some(_) => self.within(above - 1, bytes),
        }
    }

    fn within(&self, below: usize, bytes: f64) -> Estimate {
        let (low, high) = (&self.knots[below], &self.knots[below + 1]);
        let gap = &self.gaps[below];
        let (start, end, from, to) = if bytes < gap.middle {
            (low.bytes.as_f64(), gap.middle, low.us, gap.us)
        } else {
            (gap.middle, high.bytes.as_f64(), gap.us, high.us)
        };
        let micros = |us: Option<f64>| us.map(Micros::new);
        Estimate {
            us: from + (to - from) * ((bytes - start) / (end - start)),
            half_spread: half_spread(gap.explanations.list().iter().map(|(us, _)| *us)),
            gaps_outside: 0.0,
            grounds: Grounds::Between {
                below: low.bytes,
                above: high.bytes,
                even: Micros::new(gap.explanations.even),
                late: micros(gap.explanations.late),
                early: micros(gap.explanations.early),
            },
        }
    }

    fn above(&self, bytes: f64) -> Estimate {
        let (last, rest) = self
            .knots
            .split_last()
            .expect("Invariant: a curve has two knots");
        let lines: Vec<(f64, f64)> = rest
            .iter()
            .rev()
            .take(2)
            .map(|other| (last.line(other, bytes), 1.0))
            .collect();
        Estimate {
            us: relative_center(&lines)
                .expect("Invariant: a line upward from above zero stays there"),
            half_spread: half_spread(lines.iter().map(|(us, _)| *us)),
            gaps_outside: distance(last, &rest[rest.len() - 1], bytes),
            grounds: Grounds::Above {
                largest: last.bytes,
            },
        }
    }

    fn below(&self, bytes: f64) -> Estimate {
        let (first, second) = (&self.knots[0], &self.knots[1]);
        let us = first.line(second, bytes);
        Estimate {
            us,
            half_spread: half_spread([us, first.us].into_iter()),
            gaps_outside: distance(first, second, bytes),
            grounds: Grounds::Below {
                smallest: first.bytes,
            },
        }
    }
}

impl Gap {
    fn new(knots: &[Knot], below: usize) -> Self {
        let (low, high) = (&knots[below], &knots[below + 1]);
        let middle = (low.bytes.as_f64() * high.bytes.as_f64()).sqrt();
        let explanations = Explanations::new(knots, below, middle);
        let us = relative_center(&explanations.list())
            .expect("Invariant: each explanation lies above zero");
        Self {
            middle,
            us,
            explanations,
        }
    }
}

impl Explanations {
    fn new(knots: &[Knot], below: usize, middle: f64) -> Self {
        let (low, high) = (&knots[below], &knots[below + 1]);
        let before = below.checked_sub(1).map(|index| &knots[index]);
        let after = knots.get(below + 2);
        let (late, early) = (
            before.map(|before| low.line(before, middle)),
            after.map(|after| high.line(after, middle)),
        );
        // Where larger took longer, a line may not leave the range of both ends.
        let rising = high.us >= low.us;
        Self {
            even: low.toward(high, middle),
            late: late.map(|us| if rising { us.min(high.us) } else { us }),
            early: early.map(|us| if rising { us.max(low.us) } else { us }),
        }
    }

    /// Returns the times with their weights.
    fn list(&self) -> Vec<(f64, f64)> {
        let weighed = [
            (Some(self.even), EVEN_WEIGHT),
            (self.late, 1.0),
            (self.early, 1.0),
        ];
        weighed
            .into_iter()
            .filter_map(|(us, weight)| Some((us?, weight)))
            .collect()
    }
}

/// Returns half the logarithm of largest / smallest; 0 for fewer than two.
fn half_spread(times: impl Iterator<Item = f64> + Clone) -> f64 {
    let low = times.clone().fold(f64::INFINITY, f64::min);
    let high = times.fold(0.0, f64::max);
    if low > 0.0 && high > low {
        (high / low).ln() / 2.0
    } else {
        0.0
    }
}

/// Returns how far `bytes` lies beyond `edge`, counted in gaps like the one to `inner`.
fn distance(edge: &Knot, inner: &Knot, bytes: f64) -> f64 {
    let gap = (edge.bytes.as_f64() / inner.bytes.as_f64()).ln().abs();
    // A message of zero bytes lies as far out as one of a byte.
    (bytes.max(1.0) / edge.bytes.as_f64()).ln().abs() / gap
}
