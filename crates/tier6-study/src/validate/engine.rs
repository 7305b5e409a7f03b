//! What is held against the data: the model that `analyze` offers, and yardsticks that it has to
//! beat to be worth its name.

use super::calibrated::Calibrated;
use super::set::Machine;
use tier6_fit::{
    Anchored, CalibrateOptions, Call, KnownPoint, Observed, Predictor, segment_starts,
};
use tier6_stats::{LineFit, Weighting, fit_line_non_negative};
use tier6_units::Bytes;

/// A model of time by size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// [`Predictor`]: what tier6 answers for a size that was not measured. It passes through its
    /// points, so its in-sample error only shows which of them it took for disturbed.
    Fit,
    /// The closed forms of the Math engine on the described system, its constants calibrated on
    /// the points.
    Math,
    /// The event-driven engine on the described system, its constants calibrated on the points by
    /// simulating.
    G5,
    /// T = alpha + n/beta through all points, relative loss.
    OneLine,
    /// One such line per detected segment; a segment reaches up to the first point of the next.
    SegmentLines,
    /// Straight lines between neighbours in log-log, the last two prolonged.
    LogLog,
    /// For each size a straight line in log-log over the two nearest smaller numbers of ranks; the
    /// time of the nearest where there is one. Sizes that were not measured there come from
    /// [`Engine::LogLog`].
    LogLogRanks,
}

/// What a system that was calibrated on a sweep answers for other sizes of that sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// What the calibrated model says.
    Model,
    /// The same, held to the measured times: [`Anchored`].
    Anchored,
}

/// A predicted time in us, with its interval where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Predicted {
    pub(super) us: f64,
    pub(super) band_us: Option<(f64, f64)>,
}

/// Whether tier6 offers an engine or only measures itself by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Offered.
    Engine,
    /// A simple thing that anybody can do.
    Yardstick,
}

impl Engine {
    /// All, the offered ones first.
    pub const ALL: [Self; 7] = [
        Self::Fit,
        Self::Math,
        Self::G5,
        Self::OneLine,
        Self::SegmentLines,
        Self::LogLog,
        Self::LogLogRanks,
    ];

    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Math => "math",
            Self::G5 => "g5",
            Self::OneLine => "one_line",
            Self::SegmentLines => "segment_lines",
            Self::LogLog => "log_log",
            Self::LogLogRanks => "log_log_ranks",
        }
    }

    /// Returns the name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Fit => "tier6 fit",
            Self::Math => "Math, calibrated",
            Self::G5 => "G5, calibrated",
            Self::OneLine => "one line",
            Self::SegmentLines => "line per segment",
            Self::LogLog => "log-log interpolation",
            Self::LogLogRanks => "log-log over ranks",
        }
    }

    /// Returns whether it is offered.
    pub const fn role(self) -> Role {
        match self {
            Self::Fit | Self::Math | Self::G5 => Role::Engine,
            Self::OneLine | Self::SegmentLines | Self::LogLog | Self::LogLogRanks => {
                Role::Yardstick
            }
        }
    }

    /// Fits the engine on points of ascending sizes.
    ///
    /// # Errors
    ///
    /// Says why it cannot be: too few points, or a machine that is not described.
    pub(super) fn train(
        self,
        points: &[KnownPoint],
        machine: Option<&Machine>,
        basis: Basis,
    ) -> Result<Trained, String> {
        let sizes: Vec<f64> = points.iter().map(|point| point.bytes.as_f64()).collect();
        let times: Vec<f64> = points.iter().map(|point| point.time.get()).collect();
        let line = |from: usize, to: usize| {
            fit_line_non_negative(&sizes[from..to], &times[from..to], Weighting::Relative)
        };
        let trained = match self {
            Self::Fit => Predictor::fit(points).ok().map(Trained::Fit),
            Self::Math | Self::G5 => return self.calibrated(points, machine, basis),
            Self::OneLine => line(0, points.len()).map(|line| Trained::Lines(vec![(0.0, line)])),
            Self::SegmentLines => segment_starts(&sizes, &times).and_then(|starts| {
                let ends = starts.iter().skip(1).copied().chain([points.len()]);
                let pieces = starts.iter().zip(ends);
                pieces
                    .map(|(start, end)| Some((sizes[*start], line(*start, end)?)))
                    .collect::<Option<Vec<_>>>()
                    .map(Trained::Lines)
            }),
            Self::LogLog => (points.len() > 1).then(|| {
                let logs = sizes.iter().zip(&times);
                Trained::LogLog(logs.map(|(size, time)| (size.ln(), time.ln())).collect())
            }),
            Self::LogLogRanks => return Err("one sweep has one number of ranks".to_owned()),
        };
        trained.ok_or_else(|| "too few points".to_owned())
    }

    /// Calibrates the system that a sweep was measured on. A simulated system is never held to the
    /// measured times.
    fn calibrated(
        self,
        points: &[KnownPoint],
        machine: Option<&Machine>,
        basis: Basis,
    ) -> Result<Trained, String> {
        let Machine { system, call } = machine.ok_or("no system describes its machine")?;
        let observed = Observed::of_known("set", *call, points);
        if self == Self::Math && basis == Basis::Anchored {
            let anchored = Anchored::fit(system, &observed, &CalibrateOptions::STANDARD);
            let anchored = anchored.map_err(|error| error.to_string())?;
            return Ok(Trained::Anchored(Box::new(anchored)));
        }
        let calibrated = Calibrated::fit(self, system, &[observed])?;
        Ok(Trained::Calibrated(calibrated, *call))
    }
}

/// An engine that was fitted on one sweep.
#[derive(Debug, Clone)]
pub(super) enum Trained {
    Fit(Predictor),
    /// A calibrated system, and the call on it.
    Calibrated(Calibrated, Call),
    /// The same, held to the measured times.
    Anchored(Box<Anchored>),
    /// Lines by the smallest size that each is for, ascending.
    Lines(Vec<(f64, LineFit)>),
    /// ln size, ln time; at least two, ascending.
    LogLog(Vec<(f64, f64)>),
}

impl Trained {
    /// Returns what is predicted, in the order of the sizes.
    ///
    /// # Errors
    ///
    /// Says why the call cannot be priced.
    pub(super) fn predict(&self, sizes: &[Bytes]) -> Result<Vec<Predicted>, String> {
        let each = |time: &dyn Fn(f64) -> f64| {
            let times = sizes
                .iter()
                .map(|bytes| Predicted::time(time(bytes.as_f64())));
            times.collect()
        };
        Ok(match self {
            Self::Fit(predictor) => {
                let predicted = sizes.iter().map(|bytes| predictor.predict(*bytes));
                let predicted = predicted.map(|one| Predicted {
                    us: one.time.get(),
                    band_us: one.band.map(|band| (band.low.get(), band.high.get())),
                });
                predicted.collect()
            }
            Self::Calibrated(calibrated, call) => calibrated.predict(call, sizes)?,
            Self::Anchored(curve) => {
                let times = curve.times(sizes).map_err(|error| error.to_string())?;
                let times = times.iter().map(|time| Predicted::time(time.get()));
                times.collect()
            }
            Self::Lines(lines) => each(&|bytes| {
                let after = lines.partition_point(|(first, _)| *first <= bytes);
                lines[after.saturating_sub(1)].1.predict(bytes)
            }),
            Self::LogLog(logs) => each(&|bytes| {
                let x = bytes.ln();
                let after = logs.partition_point(|(size, _)| *size < x);
                let upper = after.clamp(1, logs.len() - 1);
                log_log(logs[upper - 1], logs[upper], x).exp()
            }),
        })
    }
}

impl Predicted {
    /// A time without an interval.
    pub(super) const fn time(us: f64) -> Self {
        Self { us, band_us: None }
    }
}

/// Returns y at x on the line through two points.
pub(super) fn log_log((x0, y0): (f64, f64), (x1, y1): (f64, f64), x: f64) -> f64 {
    y0 + (y1 - y0) * ((x - x0) / (x1 - x0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::Micros;

    fn sweep(points: &[(u64, f64)]) -> Vec<KnownPoint> {
        points
            .iter()
            .map(|(bytes, us)| KnownPoint::new(Bytes::new(*bytes), Micros::new(*us)))
            .collect()
    }

    fn check(engine: Engine, points: &[(u64, f64)], asked: &[(u64, f64)]) {
        let model = engine.train(&sweep(points), None, Basis::Model).unwrap();
        let sizes: Vec<Bytes> = asked.iter().map(|(bytes, _)| Bytes::new(*bytes)).collect();
        let predicted = model.predict(&sizes).unwrap();
        for ((bytes, want), got) in asked.iter().zip(predicted) {
            let got = got.us;
            assert!(
                (got / want - 1.0).abs() < 1e-9,
                "{engine:?} at {bytes}: {got}"
            );
        }
    }

    #[test]
    fn log_log_is_geometric_between_and_beyond() {
        let points = [(4, 10.0), (16, 20.0), (64, 80.0)];
        check(
            Engine::LogLog,
            &points,
            &[(8, 200_f64.sqrt()), (32, 40.0), (128, 160.0), (1, 5.0)],
        );
    }

    #[test]
    fn a_line_is_a_line() {
        let points = [(1000, 11.0), (2000, 12.0), (4000, 14.0)];
        check(Engine::OneLine, &points, &[(8000, 18.0), (3000, 13.0)]);
        check(Engine::SegmentLines, &points, &[(8000, 18.0), (3000, 13.0)]);
    }

    #[test]
    fn a_segment_reaches_to_the_first_point_of_the_next() {
        let line = |alpha: f64, slope: f64, bytes: u64| (bytes, alpha + slope * bytes as f64);
        let small = [1, 2, 4, 8, 16].map(|kib| line(10.0, 1e-3, kib << 10));
        let large = [32, 64, 128, 256, 512].map(|kib| line(400.0, 1e-4, kib << 10));
        let points: Vec<_> = small.into_iter().chain(large).collect();
        let asked = [line(10.0, 1e-3, 24 << 10), line(400.0, 1e-4, 48 << 10)];
        check(Engine::SegmentLines, &points, &asked);
    }

    #[test]
    fn too_few_points_train_nothing() {
        for engine in Engine::ALL {
            assert!(engine.train(&[], None, Basis::Model).is_err(), "{engine:?}");
        }
        for engine in [Engine::LogLog, Engine::Fit] {
            let model = engine.train(&sweep(&[(8, 1.0)]), None, Basis::Model);
            assert!(model.is_err(), "{engine:?}");
        }
    }
}
