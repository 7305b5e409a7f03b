//! Runs made of three lines (LL, LL128, Simple) with noise, and changes to inject.

use tier6_collective::{Algorithm, Collective, DataType, Path, Protocol, RedOp};
use tier6_fit::{AnalysisOptions, ComparedRun, SeriesAnalysis, analyze};
use tier6_measure::{
    Correctness, Placement, Point, PublishedStats, Ranks, RunEnd, RunSetup, Sample, Series, Wrong,
};
use tier6_stats::{Rng, cv, median, percentile};
use tier6_units::{Bytes, Micros};

/// A change of the machine.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    None,
    /// Microseconds more at every size.
    FixedCost(f64),
    /// Factor on every bandwidth.
    Bandwidth(f64),
    /// log2 of the size from which Simple runs.
    SimpleFrom(u32),
    /// A share of the samples takes longer by a factor.
    Tail {
        share: f64,
        factor: f64,
    },
}

/// How to make a run.
#[derive(Debug, Clone)]
pub struct Recipe {
    noise: f64,
    cycles: u32,
    seed: u64,
    change: Change,
    paths: bool,
    published: bool,
    wrong_at: Option<usize>,
}

/// Returns the recipe of an unchanged run: 31 sizes, 10 cycles, 2 % noise.
pub fn base() -> Recipe {
    Recipe {
        noise: 0.02,
        cycles: 10,
        seed: 0,
        change: Change::None,
        paths: true,
        published: false,
        wrong_at: None,
    }
}

impl Recipe {
    pub fn noise(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }
    pub fn cycles(mut self, cycles: u32) -> Self {
        self.cycles = cycles;
        self
    }
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    pub fn change(mut self, change: Change) -> Self {
        self.change = change;
        self
    }
    pub fn without_paths(mut self) -> Self {
        self.paths = false;
        self
    }
    pub fn published(mut self) -> Self {
        self.published = true;
        self
    }
    pub fn wrong_at(mut self, index: usize) -> Self {
        self.wrong_at = Some(index);
        self
    }

    /// Makes the run.
    pub fn build(&self) -> Synthetic {
        let mut rng = Rng::new(self.seed);
        // Neighbouring seeds give neighbouring streams; leave them apart.
        let mut rng = Rng::new(rng.next_u64());
        let points = (0..31).map(|power| self.point(power, &mut rng)).collect();
        let series = Series {
            collective: Some(Collective::AllReduce),
            ranks: Ranks::Stated(4),
            nodes: Some(1),
            datatype: Some(DataType::Float),
            redop: Some(RedOp::Sum),
            root: None,
            placement: Placement::OutOfPlace,
            points,
        };
        let analysis = analyze(&series, 0, &[], &AnalysisOptions::STANDARD);
        Synthetic {
            series,
            analysis,
            setup: RunSetup::default(),
            correctness: Correctness::Passed,
            end: RunEnd::Complete,
        }
    }

    fn point(&self, power: u32, rng: &mut Rng) -> Point {
        let simple_from = if let Change::SimpleFrom(power) = self.change {
            power
        } else {
            22
        };
        let (protocol, alpha, beta) = match power {
            0..=19 => (Protocol::Ll, 18.2, 40.0),
            _ if power < simple_from => (Protocol::Ll128, 25.0, 43.0),
            _ => (Protocol::Simple, 54.0, 81.4),
        };
        let bytes = Bytes::new(1 << power);
        let line = alpha + bytes.as_f64() / beta / 1e3;
        let line = match self.change {
            Change::FixedCost(us) => line + us,
            Change::Bandwidth(factor) => alpha + bytes.as_f64() / (beta * factor) / 1e3,
            Change::None | Change::SimpleFrom(_) | Change::Tail { .. } => line,
        };
        let times: Vec<f64> = (0..self.cycles)
            .map(|_| {
                // Log-normal: positive at any noise.
                let time = line * (self.noise * rng.normal()).exp();
                match self.change {
                    Change::Tail { share, factor } if rng.uniform() < share => time * factor,
                    _ => time,
                }
            })
            .collect();
        let published = self.published.then(|| PublishedStats {
            samples: Some(self.cycles),
            median: Micros::new(median(&times).unwrap()),
            p95: percentile(&times, 95.0).map(Micros::new),
            cv_pct: cv(&times).map(|cv| 100.0 * cv),
        });
        let wrong = if self.wrong_at == Some(power as usize) {
            3
        } else {
            0
        };
        let sample = |time: &f64| Sample {
            time: Some(Micros::new(*time)),
            algbw: None,
            busbw: None,
            wrong: Wrong::Elements(wrong),
            line: 1,
        };
        Point {
            bytes,
            count: None,
            samples: if self.published {
                Vec::new()
            } else {
                times.iter().map(sample).collect()
            },
            iterations: Vec::new(),
            published,
            path: self.paths.then_some(Path {
                algorithm: Algorithm::Ring,
                protocol,
            }),
            tuner: None,
        }
    }
}

/// A made run with its analysis.
#[derive(Debug, Clone)]
pub struct Synthetic {
    pub series: Series,
    pub analysis: SeriesAnalysis,
    pub setup: RunSetup,
    pub correctness: Correctness,
    pub end: RunEnd,
}

impl Synthetic {
    /// Returns the run as one side of a comparison.
    pub fn side(&self) -> ComparedRun<'_> {
        ComparedRun {
            series: &self.series,
            analysis: &self.analysis,
            setup: &self.setup,
            correctness: self.correctness,
            end: &self.end,
        }
    }

    /// Analyses again after the series was changed by hand.
    pub fn refresh(&mut self) {
        self.analysis = analyze(&self.series, 0, &[], &AnalysisOptions::STANDARD);
    }

    /// Replaces what the run's check said.
    pub fn correctness(mut self, correctness: Correctness) -> Self {
        self.correctness = correctness;
        self
    }
}
