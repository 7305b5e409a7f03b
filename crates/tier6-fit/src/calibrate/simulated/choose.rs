//! Which form of the model: over how many engines a message goes, and which protocols there are.
//!
//! Every second size is predicted from the others, both ways round, on the lines of each form. The
//! form with the least error is taken, held out and in sample together, and the plainest of those
//! that are about as good: held out alone a few sizes choose by chance.

use super::lines::{Ground, Lines};
use super::survey::Survey;
use crate::calibrate::SetFit;
use tier6_collective::Protocol;
use tier6_system::SplitSpec;
use tier6_units::Bytes;

/// A form must be this much better than a plainer one.
const GAIN_MIN: f64 = 0.05;
/// Messages of one pass over all calls beyond which one form of split is tried only, as over several
/// nodes, where the network hides it: what the system says, else none at all.
const MESSAGES_MAX: u64 = 100_000;

/// A form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// `None` for what the system says.
    pub(super) split: Option<SplitSpec>,
    pub(super) protocols: Vec<Protocol>,
    /// Logarithms of constant / prior that a first fit of the form found.
    pub(super) logs: Vec<f64>,
}

/// Returns the best form.
pub(super) fn choose(ground: &Ground<'_>) -> Option<(Choice, Survey)> {
    let mut best: Option<(f64, Choice, Survey)> = None;
    let start = vec![0.0; ground.keys.len()];
    let all = forms().pop()?;
    for split in splits(ground) {
        let Some(mut survey) = Survey::start(ground, &start, split) else {
            continue;
        };
        let Some(around) = ground.solve(&mut survey, &start, &all, 1) else {
            continue;
        };
        for protocols in forms() {
            let Some(lines) = around.lines.under(&protocols) else {
                continue;
            };
            let Some(logs) = ground.fit(&lines, &around.logs, true) else {
                continue;
            };
            let unseen = held_out(ground, &lines, &logs);
            let seen = in_sample(ground, &lines, &logs);
            let errors = unseen.iter().flatten().chain(&seen);
            let total = errors.map(|error| error * error).sum::<f64>().sqrt();
            let limit = best.as_ref().map(|(least, ..)| least * (1.0 - GAIN_MIN));
            if limit.is_none_or(|limit| total < limit) {
                let choice = Choice {
                    split,
                    protocols,
                    logs,
                };
                best = Some((total, choice, survey.clone()));
            }
        }
    }
    best.map(|(_, choice, survey)| (choice, survey))
}

/// Protocols to choose from, the plainest form first, all of them last.
fn forms() -> Vec<Vec<Protocol>> {
    vec![
        vec![Protocol::Simple],
        vec![Protocol::Simple, Protocol::Ll],
        vec![Protocol::Simple, Protocol::Ll128, Protocol::Ll],
    ]
}

/// Splits to choose from, none at all first.
fn splits(ground: &Ground<'_>) -> Vec<Option<SplitSpec>> {
    let points = ground.observed.iter().map(|set| set.points.len() as u64);
    let calls = ground.scene.calls().iter();
    let messages: u64 = calls.zip(points).map(|(call, n)| n * call.messages()).sum();
    let is_over_nodes = ground.observed.iter().any(|set| set.call.nodes > 1);
    if messages > MESSAGES_MAX || is_over_nodes {
        let cdma = ground.system.g5.as_ref().and_then(|g5| g5.cdma.as_ref());
        let is_said = cdma.is_some_and(|cdma| cdma.split.is_some());
        return vec![(!is_said).then_some(SplitSpec::All)];
    }
    let sizes = (12..=20).map(|power| SplitSpec::Per(Bytes::new(1 << power)));
    [SplitSpec::All]
        .into_iter()
        .chain(sizes)
        .map(Some)
        .collect()
}

/// Predicts every second size from the others, both ways round, on lines, and returns the RMSPE
/// per set in percent. The ends of a sweep are never held out: that would ask for another question.
pub(super) fn held_out(ground: &Ground<'_>, lines: &Lines, from: &[f64]) -> Vec<Option<f64>> {
    let mut squares = vec![(0.0, 0_u32); lines.calls.len()];
    for fold in 0..2 {
        let is_held =
            |call: usize, at: usize| at % 2 == fold && at > 0 && at + 1 < lines.calls[call].len();
        let train = lines.only(|call, at| !is_held(call, at));
        let Some(logs) = ground.fit(&train, from, true) else {
            return vec![None; lines.calls.len()];
        };
        let times = ground.times(lines, &logs);
        for (call, sum) in squares.iter_mut().enumerate() {
            for (at, (_, measured)) in lines.measured[call].iter().enumerate() {
                if is_held(call, at) {
                    sum.0 += (times[call][at] / measured - 1.0).powi(2);
                    sum.1 += 1;
                }
            }
        }
    }
    let rmspe = |(sum, n): &(f64, u32)| (*n > 0).then(|| 100.0 * (sum / f64::from(*n)).sqrt());
    squares.iter().map(rmspe).collect()
}

/// Returns the RMSPE per set on lines, in percent.
fn in_sample(ground: &Ground<'_>, lines: &Lines, logs: &[f64]) -> Vec<f64> {
    let times = ground.times(lines, logs);
    let of_call = |(times, measured): (&Vec<f64>, &Vec<(Bytes, f64)>)| {
        let errors = times.iter().zip(measured);
        let squares = errors.map(|(time, (_, measured))| (time / measured - 1.0).powi(2));
        100.0 * (squares.sum::<f64>() / measured.len() as f64).sqrt()
    };
    times.iter().zip(&lines.measured).map(of_call).collect()
}

/// Returns the root of the mean squared held-out error over all points.
pub(super) fn pooled(sets: &[SetFit]) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0.0);
    for set in sets {
        if let Some(error) = set.held_out_rmspe_pct {
            let points = set.points as f64;
            sum += points * error * error;
            n += points;
        }
    }
    (n > 0.0).then(|| (sum / n).sqrt())
}
