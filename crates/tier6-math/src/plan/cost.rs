//! The size-dependent rest of a plan.

use super::prices::Tariff;
use crate::Parts;
use crate::law::{Overlap, overlapped};
use crate::pace::{Pace, stream};
use crate::parameters::Pieces;
use tier6_units::Micros;

/// Time as a function of the message size.
#[derive(Debug, Clone)]
pub(super) enum Cost {
    /// Steps of whole messages: a sum.
    Sum(Linear),
    /// Steps that forward slices of so many bytes: the max law.
    Stream { runs: Vec<Run>, slice: f64 },
    /// Pieces through a pipeline: the first through all steps, each other one after `next`.
    Pieces {
        first: Linear,
        next: Linear,
        pieces: Pieces,
    },
    /// The stages of a hierarchy.
    Stages {
        stages: [Linear; 3],
        floor: Linear,
        overlap: Overlap,
    },
    /// A fitted line, never faster than the links allow.
    InSwitch {
        /// α of the call, software included.
        alpha: f64,
        /// The least that is left of it without software: the way to the switch and back.
        latency: f64,
        us_per_byte: f64,
        floor_us_per_byte: f64,
    },
    /// The faster of two.
    Faster(Box<[Self; 2]>),
}

/// A line in the message size: microseconds, and microseconds per byte.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Linear {
    pub(super) latency: f64,
    pub(super) transfer: f64,
    pub(super) stall: f64,
    pub(super) reduction: f64,
}

/// Steps of a ring that are alike: microseconds per byte of M, and what does not depend on M.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) repeat: f64,
    pub(super) chunk: f64,
    pub(super) own: f64,
    pub(super) hop: f64,
    pub(super) reduction: f64,
    /// Bytes of a message per byte of M.
    pub(super) message: f64,
}

impl Linear {
    pub(super) fn at(&self, bytes: f64) -> Parts {
        Parts {
            software: Micros::new(0.0),
            latency: Micros::new(self.latency),
            transfer: Micros::new(self.transfer * bytes),
            reduction: Micros::new(self.reduction * bytes),
            stall: Micros::new(self.stall * bytes),
        }
    }

    /// Microseconds per byte.
    fn rate(&self) -> f64 {
        self.transfer + self.stall + self.reduction
    }

    pub(super) fn add(&mut self, repeat: f64, step: &Self) {
        self.latency += repeat * step.latency;
        self.transfer += repeat * step.transfer;
        self.stall += repeat * step.stall;
        self.reduction += repeat * step.reduction;
    }
}

impl Run {
    pub(super) fn at(&self, bytes: f64, slice: f64) -> Pace {
        let message = (self.message * bytes).max(f64::MIN_POSITIVE);
        let chunk = self.chunk * bytes;
        Pace {
            repeat: self.repeat,
            chunk,
            own: self.own * bytes,
            slice: chunk * (slice / message).min(1.0),
            hop: self.hop,
            reduction: self.reduction * bytes,
        }
    }
}

/// Returns the time of k pieces of a size, the last of which may be shorter.
fn in_pieces(bytes: f64, piece: f64, k: f64, first: &Linear, next: &Linear) -> Parts {
    let others = Linear {
        latency: (k - 1.0) * next.latency,
        ..*next
    };
    first.at(piece).then(others.at(bytes - piece))
}

/// Returns the size of a piece and how many there are.
pub(super) fn cut(bytes: f64, pieces: Pieces, first: &Linear, next: &Linear) -> (f64, f64) {
    match pieces {
        Pieces::Count(k) => (bytes / f64::from(k.get()), k.get().into()),
        Pieces::Of(piece) => {
            let piece = piece.as_f64().max(1.0).min(bytes);
            (piece, (bytes / piece.max(1.0)).ceil().max(1.0))
        }
        Pieces::Best => {
            let k = best(bytes, first, next);
            (bytes / k, k)
        }
    }
}

/// Returns the fastest number of pieces: with F the bytes' time of the first piece through all
/// steps and f that of each other, F M/K + (K-1)(o + f M/K) is least at sqrt((F - f) M/o).
fn best(bytes: f64, first: &Linear, next: &Linear) -> f64 {
    let ideal = ((first.rate() - next.rate()).max(0.0) * bytes / next.latency).sqrt();
    // Free pieces make the ideal infinite, or 0/0; `clamp` leaves a NaN, `max` does not.
    let floor = ideal.floor().max(1.0).min(bytes.max(1.0));
    let above = (floor + 1.0).min(bytes.max(1.0));
    let time = |k: f64| in_pieces(bytes, bytes / k, k, first, next).total().get();
    if time(above) < time(floor) {
        above
    } else {
        floor
    }
}

impl Cost {
    /// Returns the time of a message. All but in-switch reduction depends on what its channels
    /// carry.
    pub(super) fn parts(&self, message: f64, tariff: &Tariff) -> Parts {
        let (software, bytes) = (tariff.software, tariff.carried(message));
        let after = |parts: Parts| parts.after(Micros::new(software));
        match self {
            Self::Sum(line) => after(line.at(bytes)),
            Self::Stream { runs, slice } => {
                after(stream(runs.iter().map(|run| run.at(bytes, *slice))))
            }
            Self::Pieces {
                first,
                next,
                pieces,
            } => {
                let (piece, k) = cut(bytes, *pieces, first, next);
                after(in_pieces(bytes, piece, k, first, next))
            }
            Self::Stages {
                stages,
                floor,
                overlap,
            } => {
                let stages = stages.map(|stage| stage.at(bytes));
                after(overlapped(
                    &stages,
                    &[floor.at(bytes), Parts::ZERO],
                    *overlap,
                ))
            }
            Self::InSwitch {
                alpha,
                latency,
                us_per_byte,
                floor_us_per_byte,
            } => {
                let software = software.min(*alpha);
                Parts {
                    software: Micros::new(software),
                    latency: Micros::new((alpha - software).max(*latency)),
                    transfer: Micros::new(message * us_per_byte.max(*floor_us_per_byte)),
                    ..Parts::ZERO
                }
            }
            Self::Faster(both) => {
                let [a, b] = [&both[0], &both[1]].map(|cost| cost.parts(message, tariff));
                if b.total().get() < a.total().get() {
                    b
                } else {
                    a
                }
            }
        }
    }

    /// Returns with how many pieces the stages of a hierarchy take least, if the latency of the
    /// longest stage comes on top of the bytes of each: pieces of a stage follow each other. `None`
    /// of other costs.
    pub(super) fn stage_pieces(&self, message: f64, tariff: &Tariff) -> Option<f64> {
        let Self::Stages { stages, floor, .. } = self else {
            return None;
        };
        let mut first = Linear::default();
        let mut next = *floor;
        for stage in stages {
            first.add(1.0, stage);
            if stage.rate() > next.rate() {
                next = *stage;
            }
        }
        next.latency = stages.iter().map(|stage| stage.latency).fold(0.0, f64::max);
        Some(best(tariff.carried(message), &first, &next))
    }

    /// Says whether in-switch reduction, not a link, sets the transfer time.
    pub(super) fn is_in_switch(&self, bytes: f64, tariff: &Tariff) -> bool {
        match self {
            Self::InSwitch {
                us_per_byte,
                floor_us_per_byte,
                ..
            } => us_per_byte > floor_us_per_byte,
            Self::Faster(both) => {
                let [a, b] = [&both[0], &both[1]].map(|cost| cost.parts(bytes, tariff).total());
                let faster = usize::from(b.get() < a.get());
                both[faster].is_in_switch(bytes, tariff)
            }
            Self::Sum(_) | Self::Stream { .. } | Self::Pieces { .. } | Self::Stages { .. } => false,
        }
    }
}
