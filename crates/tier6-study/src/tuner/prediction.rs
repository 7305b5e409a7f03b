//! NCCL's predicted times beside measured ones.
//!
//! The model ranks candidates and does not promise what a benchmark measures: an error here says
//! nothing of the choice, which is judged in `audit`.

use super::Sweep;
use tier6_nccl::{Candidate, CostTable, Entry};
use tier6_stats::{Accuracy, accuracy};
use tier6_units::{Bytes, Micros};

/// Where predicted times come from.
#[derive(Debug, Clone, Copy)]
pub enum Predictions<'a> {
    /// From a cost table.
    Table(&'a CostTable),
    /// From the columns or the log that came with the measurement.
    Carried,
}

/// A predicted time beside the measured one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedSize {
    /// Message size.
    pub bytes: Bytes,
    /// The path that is predicted, when known.
    pub candidate: Option<Candidate>,
    /// NCCL's predicted time.
    pub predicted: Micros,
    /// Measured median time.
    pub measured: Micros,
    /// predicted / measured - 1, in percent.
    pub error_pct: f64,
}

/// Returns predicted against measured for every size of a sweep that has both. Under a forced
/// sweep a table predicts the least time of what the force leaves.
pub fn predicted_against_measured(
    sweep: &Sweep,
    predictions: Predictions<'_>,
) -> Vec<PredictedSize> {
    let points = sweep.by_size().into_iter();
    points
        .filter_map(|(bytes, point)| {
            let (candidate, us) = match predictions {
                Predictions::Carried => (point.path, point.predicted?.get()),
                Predictions::Table(table) => {
                    let (candidate, us) = modelled(table, sweep, bytes)?;
                    (Some(candidate), f64::from(us))
                }
            };
            let measured = point.time;
            us.is_finite().then_some(PredictedSize {
                bytes: point.bytes,
                candidate,
                predicted: Micros::new(us),
                measured,
                error_pct: (us / measured.get() - 1.0) * 100.0,
            })
        })
        .collect()
}

/// Returns NCCL's choice among what the sweep's variables leave, with its time in us.
pub(crate) fn modelled(table: &CostTable, sweep: &Sweep, bytes: u64) -> Option<(Candidate, f32)> {
    let call = sweep.call(table, bytes);
    if sweep.forced.is_nothing() {
        let choice = table.choose(&call).ok()?;
        return Some((choice.candidate, choice.time_us));
    }
    let left = Candidate::all().filter(|candidate| sweep.forced.allows(*candidate));
    let times = left.filter_map(|candidate| match table.entry(&call, candidate) {
        Entry::Time(us) if us >= 0.0 => Some((candidate, us)),
        Entry::Time(_) | Entry::Backup(_) | Entry::Unavailable { .. } => None,
    });
    // The first of equals, as in NCCL.
    times.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns the errors of all sizes together; `None` without sizes.
pub fn prediction_accuracy(sizes: &[PredictedSize]) -> Option<Accuracy> {
    let measured: Vec<f64> = sizes.iter().map(|size| size.measured.get()).collect();
    let predicted: Vec<f64> = sizes.iter().map(|size| size.predicted.get()).collect();
    accuracy(&measured, &predicted)
}
