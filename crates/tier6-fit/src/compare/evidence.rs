//! Weighs the evidence: noise, p-values, one false-discovery control over all of them, and the
//! outcome of each segment.

use super::noise::{Pooled, Scatter, p_value, pool, scatters};
use super::partition::{self, Part};
use super::size::{Matched, SizeComparison, SizeVerdict};
use super::tail::TailChange;
use super::{Cause, CompareOptions, ComparedRun, ComparisonVerdict, SegmentComparison};
use super::{shift, tail};
use crate::Interval;
use tier6_stats::{Decision, benjamini_hochberg};
use tier6_units::Micros;

/// How far a shift must leave the residual scatter behind when only medians exist.
const SCATTERS_MIN: f64 = 4.0;

/// Decides about every size and every segment.
pub(super) fn weigh(
    sizes: &[Matched],
    base: &ComparedRun,
    new: &ComparedRun,
    options: &CompareOptions,
) -> (Vec<SizeComparison>, Vec<SegmentComparison>) {
    let by_path = Weighed::of(sizes, partition::by_path(sizes, base), options);
    let by_switch = partition::by_detected_switch(sizes, &by_path.verdicts, base, new)
        .map(|parts| Weighed::of(sizes, parts, options));
    let weighed = by_switch.unwrap_or(by_path);
    let segments = weighed.segments(sizes);
    let sizes = sizes
        .iter()
        .zip(&weighed.verdicts)
        .zip(&weighed.p_values)
        .map(|((size, verdict), p_value)| SizeComparison {
            bytes: size.bytes,
            base: Micros::new(size.base.median),
            new: Micros::new(size.new.median),
            change_pct: 100.0 * size.change(),
            p_value: *p_value,
            verdict: *verdict,
        })
        .collect();
    (sizes, segments)
}

/// The decisions under one partition.
struct Weighed<'a> {
    options: &'a CompareOptions,
    parts: Vec<Part>,
    p_values: Vec<Option<f64>>,
    verdicts: Vec<SizeVerdict>,
    pooled: Vec<Pooled>,
    tails: Vec<Option<TailChange>>,
    /// Per part: whether its mean change and its tail change are believed.
    believed: Vec<(Decision, Decision)>,
}

impl<'a> Weighed<'a> {
    fn of(sizes: &[Matched], parts: Vec<Part>, options: &'a CompareOptions) -> Self {
        let scatters = scatters(sizes, &parts);
        let p_values: Vec<Option<f64>> = parts
            .iter()
            .zip(&scatters)
            .flat_map(|(part, scatter)| {
                sizes[part.range.clone()]
                    .iter()
                    .map(|size| p_value(size, *scatter))
            })
            .collect();
        let pooled: Vec<Pooled> = parts.iter().map(|part| pool(sizes, part, &parts)).collect();
        let tails: Vec<Option<TailChange>> = parts
            .iter()
            .map(|part| tail::change(&sizes[part.range.clone()], options))
            .collect();
        let family: Vec<f64> = p_values
            .iter()
            .copied()
            .chain(pooled.iter().map(|pooled| pooled.p_value))
            .chain(tails.iter().map(|tail| tail.map(|tail| tail.p_value)))
            .map(|p_value| p_value.unwrap_or(1.0))
            .collect();
        let decisions = benjamini_hochberg(&family, options.false_discovery_pct / 100.0);
        let (of_sizes, rest) = decisions.split_at(sizes.len());
        let (of_means, of_tails) = rest.split_at(parts.len());
        let mut verdicts = Vec::with_capacity(sizes.len());
        for (part, scatter) in parts.iter().zip(&scatters) {
            for index in part.range.clone() {
                verdicts.push(verdict(&sizes[index], of_sizes[index], *scatter, options));
            }
        }
        let believed = of_means
            .iter()
            .copied()
            .zip(of_tails.iter().copied())
            .collect();
        Self {
            options,
            parts,
            p_values,
            verdicts,
            pooled,
            tails,
            believed,
        }
    }

    fn segments(&self, sizes: &[Matched]) -> Vec<SegmentComparison> {
        (0..self.parts.len())
            .map(|index| self.segment(index, sizes))
            .collect()
    }

    fn segment(&self, index: usize, sizes: &[Matched]) -> SegmentComparison {
        let (part, pooled) = (&self.parts[index], &self.pooled[index]);
        let sizes = &sizes[part.range.clone()];
        let shift = shift::resolve(sizes);
        let (verdict, by_tail) = self.outcome(index, sizes);
        let changed = matches!(
            verdict,
            ComparisonVerdict::Regressed | ComparisonVerdict::Improved
        );
        let cause = match (changed, by_tail, &part.moved) {
            (false, ..) => None,
            (true, true, _) => Some(Cause::Tail),
            (true, false, Some(_)) => Some(Cause::Selection),
            (true, false, None) => shift.as_ref().and_then(|shift| shift.cause),
        };
        SegmentComparison {
            label: part.label.clone(),
            first: sizes[0].bytes,
            last: sizes[sizes.len() - 1].bytes,
            sizes: u32::try_from(sizes.len()).unwrap_or(u32::MAX),
            delta_alpha: shift.as_ref().map(|shift| Micros::new(shift.alpha_us)),
            delta_alpha_ci: shift.as_ref().and_then(|shift| shift.alpha_ci),
            delta_beta_pct: shift.as_ref().and_then(|shift| shift.beta_pct),
            mean_change_pct: 100.0 * pooled.change,
            mean_change_ci_pct: pooled.interval.map(|interval| Interval {
                low: 100.0 * interval.low,
                high: 100.0 * interval.high,
            }),
            verdict,
            cause,
            evidence: self.words(index, sizes, shift.as_ref()),
        }
    }

    /// Returns the outcome of a part, and whether it rests on the tail.
    ///
    /// A believed tail explains a few slower sizes as well, since slow samples push medians too:
    /// as long as these are the minority and the mean change does not matter. One size with one
    /// sample a side proves nothing: it may be a spike.
    fn outcome(&self, index: usize, sizes: &[Matched]) -> (ComparisonVerdict, bool) {
        let min_effect = self.options.min_effect_pct / 100.0;
        let pooled = &self.pooled[index];
        let (mean_decision, tail_decision) = self.believed[index];
        let verdicts = &self.verdicts[self.parts[index].range.clone()];
        let count = |wanted: SizeVerdict| {
            let found = || sizes.iter().zip(verdicts).filter(|(_, v)| **v == wanted);
            match found().count() {
                1 if sizes.len() > 1 && found().all(|(size, _)| size.spread.is_none()) => 0,
                several => several,
            }
        };
        let (slower, faster) = (count(SizeVerdict::Slower), count(SizeVerdict::Faster));
        let mean_moved =
            |sign: f64| mean_decision == Decision::Rejected && sign * pooled.change >= min_effect;
        let tail = self.tails[index]
            .filter(|_| tail_decision == Decision::Rejected)
            .map(|tail| tail.change);
        let medians_stay = pooled.change.abs() < min_effect;
        match tail {
            Some(tail) if tail > 0.0 && medians_stay && 2 * slower < verdicts.len() => {
                return (ComparisonVerdict::Regressed, true);
            }
            Some(tail) if tail < 0.0 && medians_stay && slower + faster == 0 => {
                return (ComparisonVerdict::Improved, true);
            }
            Some(_) | None => {}
        }
        if slower > 0 || mean_moved(1.0) {
            (ComparisonVerdict::Regressed, false)
        } else if tail.is_some_and(|tail| tail > 0.0) {
            (ComparisonVerdict::Regressed, true)
        } else if faster > 0 || mean_moved(-1.0) {
            (ComparisonVerdict::Improved, false)
        } else if pooled
            .interval
            .is_some_and(|ci| -min_effect < ci.low && ci.high < min_effect)
        {
            (ComparisonVerdict::Unchanged, false)
        } else {
            (ComparisonVerdict::Undecided, false)
        }
    }

    /// Puts the numbers behind a segment's outcome into words.
    fn words(&self, index: usize, sizes: &[Matched], shift: Option<&shift::Shift>) -> String {
        let (part, pooled) = (&self.parts[index], &self.pooled[index]);
        let count = |wanted: SizeVerdict| {
            self.verdicts[part.range.clone()]
                .iter()
                .filter(|v| **v == wanted)
                .count()
        };
        let mut parts = vec![format!(
            "{} of {} sizes slower, {} faster; mean change {:+.2} %{}",
            count(SizeVerdict::Slower),
            sizes.len(),
            count(SizeVerdict::Faster),
            100.0 * pooled.change,
            pooled
                .interval
                .map_or(" with unknown noise".to_owned(), |ci| format!(
                    " [{:+.2}, {:+.2}]",
                    100.0 * ci.low,
                    100.0 * ci.high
                ))
        )];
        if let Some(shift) = shift {
            let interval = shift.alpha_ci.map_or(String::new(), |ci| {
                format!(" [{:+.2}, {:+.2}]", ci.low, ci.high)
            });
            let beta = shift
                .beta_pct
                .map_or(String::new(), |beta| format!(", beta {beta:+.1} %"));
            parts.push(format!("alpha {:+.2} us{interval}{beta}", shift.alpha_us));
        }
        if let Some(moved) = &part.moved {
            parts.push(format!("path changed from {moved}"));
        }
        if let Some(tail) = self.tails[index] {
            parts.push(format!(
                "P95 / median {:.3} before, {:.3} now over {} sizes",
                tail.ratios.0, tail.ratios.1, tail.sizes
            ));
        }
        parts.push(samples(sizes));
        parts.join("; ")
    }
}

/// Says what the decision rests on.
fn samples(sizes: &[Matched]) -> String {
    let counts: Option<Vec<(f64, f64)>> = sizes
        .iter()
        .map(|size| size.spread.map(|spread| spread.counts))
        .collect();
    match counts {
        Some(counts) => {
            let base = counts
                .iter()
                .map(|(base, _)| *base)
                .fold(f64::INFINITY, f64::min);
            let new = counts
                .iter()
                .map(|(_, new)| *new)
                .fold(f64::INFINITY, f64::min);
            format!("at least {base:.0} and {new:.0} samples per size")
        }
        None => "only medians, so the scatter of the fits stands in for the noise".to_owned(),
    }
}

fn verdict(
    size: &Matched,
    decision: Decision,
    scatter: Scatter,
    options: &CompareOptions,
) -> SizeVerdict {
    let change = size.change();
    let far = size.spread.is_some()
        || scatter.is_some_and(|(scatter, _)| change.abs() > SCATTERS_MIN * scatter);
    let matters = 100.0 * change.abs() >= options.min_effect_pct;
    if decision == Decision::Kept || !far || !matters {
        SizeVerdict::NotShown
    } else if change > 0.0 {
        SizeVerdict::Slower
    } else {
        SizeVerdict::Faster
    }
}
