//! The shape of what a model leaves over: source document 000's reading of residuals, as tests.
//!
//! With z = measured / predicted - 1, each shape is a column that would explain z: an offset is
//! 1/predicted (the same microseconds at every size), growth is bytes/predicted, a jump a step,
//! a spike a single one, a curve a parabola over log size. The shape that an F test believes
//! most (counting every position that was tried) is reported, its column joins the model, and
//! the rest is tested again. A model fitted to the same points already owns the first two
//! columns, so its residuals can only jump, spike or bend.

mod shape;

use crate::{Fit, Pattern, ResidualFinding};
use shape::{Candidate, Model};
use tier6_units::{Bytes, Micros};

/// Probability of a false alarm for one shape, so that five of them stay near 1 %.
const ALARM_RATE: f64 = 0.002;
/// Effects below this share of the time are not worth a sentence.
const EFFECT_MIN: f64 = 0.01;
/// Most shapes reported for one model.
const ROUNDS: usize = 3;
/// Fewest points whose residuals have a shape.
const POINTS_MIN: usize = 5;

/// Where the predictions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionOrigin {
    /// A line fitted to these points.
    SamePoints,
    /// Another model, or a line of other points.
    Elsewhere,
}

/// One size with what was measured and predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedPoint {
    /// Message size.
    pub bytes: Bytes,
    /// Measured time.
    pub measured: Micros,
    /// Predicted time.
    pub predicted: Micros,
}

/// A shape with the numbers that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResidualShape {
    /// The shape.
    pub pattern: Pattern,
    /// The numbers that show it.
    pub evidence: String,
}

/// Names the shapes in the residuals of `points`, ascending in size; [`Pattern::Scatter`] when
/// there is none. Empty for fewer than five points with positive, finite times.
pub fn residual_shapes(points: &[PredictedPoint], origin: PredictionOrigin) -> Vec<ResidualShape> {
    let usable: Vec<PredictedPoint> = points
        .iter()
        .filter(|point| {
            let ratio = point.measured.get() / point.predicted.get();
            ratio.is_finite() && ratio > 0.0 && point.predicted.get() > 0.0
        })
        .copied()
        .collect();
    if usable.len() < POINTS_MIN {
        return Vec::new();
    }
    let mut model = Model::new(&usable, origin);
    let mut shapes: Vec<ResidualShape> = Vec::new();
    while shapes.len() < ROUNDS {
        let Some(best) = best_candidate(&model) else {
            break;
        };
        let seen = shapes.iter().any(|shape| shape.pattern == best.pattern);
        if seen && best.pattern != Pattern::Spike {
            break;
        }
        shapes.push(ResidualShape {
            pattern: best.pattern,
            evidence: model.evidence(&best),
        });
        model.adopt(&best);
    }
    if shapes.is_empty() {
        shapes.push(ResidualShape {
            pattern: Pattern::Scatter,
            evidence: model.scatter(),
        });
    }
    shapes
}

/// Returns the believable shape with the lowest BIC.
fn best_candidate(model: &Model) -> Option<Candidate> {
    model
        .candidates()
        .into_iter()
        .filter(|candidate| candidate.p_value < ALARM_RATE && candidate.effect >= EFFECT_MIN)
        .min_by(|a, b| a.bic.total_cmp(&b.bic))
}

/// Returns the shapes in the residuals of a fit.
pub(crate) fn residual_findings(fit: &Fit) -> Vec<ResidualFinding> {
    let points: Vec<PredictedPoint> = fit
        .residuals
        .iter()
        .filter_map(|(bytes, residual, _)| {
            let predicted = fit.line?.predict(*bytes);
            Some(PredictedPoint {
                bytes: *bytes,
                measured: Micros::new(predicted.get() + residual.get()),
                predicted,
            })
        })
        .collect();
    residual_shapes(&points, PredictionOrigin::SamePoints)
        .into_iter()
        .map(|shape| ResidualFinding {
            fit: fit.label.clone(),
            pattern: shape.pattern,
            evidence: shape.evidence,
            suspects: suspects(shape.pattern),
        })
        .collect()
}

/// Returns what usually causes a shape (source document 000, "residual 应该怎样读").
pub const fn suspects(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Scatter => "measurement noise",
        Pattern::Offset => {
            "a fixed cost that the model lacks: launch, planner, synchronisation, contention"
        }
        Pattern::Growth => "bandwidth estimated too high: transport, link, contention",
        Pattern::Jump => "a change of algorithm, protocol or channel count at that size",
        Pattern::Spike => "an outlier: scheduling by the system, a clock event, one bad sample",
        Pattern::Curve => {
            "one line over a gradual change: channels and threads that grow with size, pipeline \
             fill, segments not told apart"
        }
    }
}
