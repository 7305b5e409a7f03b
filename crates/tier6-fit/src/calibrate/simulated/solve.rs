//! Least squares of the constants on lines, and the rounds that hold the lines to the simulation.
//!
//! Relative errors, the pull to what the system says and the robust loss are those of the Math
//! engine's calibration, so that the two differ in their engines alone.

use super::super::solve::robust;
use super::lines::{Ground, Line, Lines};
use super::survey::Survey;
use tier6_collective::{Algorithm, Path, Protocol};
use tier6_stats::{Residuals, fit_bounded};
use tier6_units::Bytes;

/// A measured time in the units of a fit, relative.
const NOISE: f64 = 0.05;
/// How strong the pull is: a constant at its belief's distance counts as this part of a point.
const PULL: f64 = 0.3;
/// How often lines are held to the simulation anew.
const ROUNDS: usize = 3;
/// Constants that move less, as logarithms, are settled.
const SETTLED: f64 = 1e-3;
/// So is a fit that a round makes better by a smaller part.
const GAIN_MIN: f64 = 0.01;
/// How far constants move in a round, as a logarithm.
const REACH: f64 = 1.5;

/// Constants that were fitted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Solution {
    /// Logarithms of constant / prior.
    pub(super) logs: Vec<f64>,
    /// The lines around them.
    pub(super) lines: Lines,
    /// Sum of squared residuals, pulls included.
    pub(super) objective: f64,
}

impl Ground<'_> {
    /// Fits the constants of the paths under some protocols.
    pub(super) fn solve(
        &self,
        survey: &mut Survey,
        from: &[f64],
        protocols: &[Protocol],
        rounds: usize,
    ) -> Option<Solution> {
        let mut best: Option<Solution> = None;
        let mut at = from.to_vec();
        let mut is_settled = false;
        for _ in 0..=rounds {
            let lines = survey.lines(self, &at, protocols)?;
            let objective = self.objective(&lines, &at);
            let is_better = |best: &Solution| objective < best.objective;
            if best.as_ref().is_none_or(is_better) {
                let gains = |best: &Solution| objective < best.objective * (1.0 - GAIN_MIN);
                is_settled |= !best.as_ref().is_none_or(gains);
                best = Some(Solution {
                    logs: at.clone(),
                    lines,
                    objective,
                });
            } else if let Some(best) = &best {
                // Too far: half of the way.
                let halfway = |(a, b): (&f64, &f64)| 0.5 * (a + b);
                at = at.iter().zip(&best.logs).map(halfway).collect();
                continue;
            }
            if is_settled {
                break;
            }
            let best = best.as_ref()?;
            let next = self.fit(&best.lines, &best.logs, true)?;
            is_settled = next.iter().zip(&at).all(|(a, b)| (a - b).abs() < SETTLED);
            at = next;
            if is_settled {
                break;
            }
        }
        best
    }

    /// The same with as many rounds as it takes.
    pub(super) fn settle(
        &self,
        survey: &mut Survey,
        from: &[f64],
        protocols: &[Protocol],
    ) -> Option<Solution> {
        self.solve(survey, from, protocols, ROUNDS)
    }

    /// Sets constants that no fitted time depends on back to what the system says, each unless its
    /// path would then be faster than what was measured.
    pub(super) fn give_back(&self, solution: &mut Solution) {
        let squares = |logs: &[f64]| -> f64 {
            let values = self.residuals(&solution.lines, logs, None).values;
            let n = values.len() - self.keys.len();
            values[..n].iter().map(|value| value * value).sum()
        };
        let columns = self.columns(solution);
        let mut logs = solution.logs.clone();
        for (at, column) in columns.iter().enumerate() {
            if column.iter().any(|value| *value != 0.0) {
                continue;
            }
            let mut back = logs.clone();
            back[at] = 0.0;
            if squares(&back) <= squares(&logs) * (1.0 + 1e-9) {
                logs = back;
            }
        }
        solution.logs = logs;
    }

    fn objective(&self, lines: &Lines, logs: &[f64]) -> f64 {
        let residuals = self.residuals(lines, logs, None);
        residuals.values.iter().map(|value| value * value).sum()
    }

    /// Fits on lines, from some constants; many starts assign protocols to sizes by themselves.
    pub(super) fn fit(&self, lines: &Lines, from: &[f64], many: bool) -> Option<Vec<f64>> {
        let bounds: Vec<(f64, f64)> = self
            .keys
            .iter()
            .zip(&self.priors)
            .zip(from)
            .map(|((key, prior), at)| {
                let (low, high) = key.bounds(*prior, self.topology());
                (
                    low.max(at - REACH),
                    high.min(at + REACH).max(low.max(at - REACH)),
                )
            })
            .collect();
        let mut best: Option<(f64, Vec<f64>)> = None;
        let cuts = if many { cuts(lines) } else { vec![None] };
        for cut in cuts {
            let first = fit_bounded(from, &bounds, |logs| self.residuals(lines, logs, cut))?;
            let fit = fit_bounded(&first.parameters, &bounds, |logs| {
                self.residuals(lines, logs, None)
            })?;
            if best
                .as_ref()
                .is_none_or(|(least, _)| fit.sum_of_squares < *least)
            {
                best = Some((fit.sum_of_squares, fit.parameters));
            }
        }
        best.map(|(_, logs)| logs)
    }

    /// Relative errors of all points, then the pulls, with derivatives by logarithms.
    fn residuals(&self, lines: &Lines, logs: &[f64], cut: Option<Cut>) -> Residuals {
        let constants = self.constants(logs);
        let n: usize = lines.calls.iter().map(Vec::len).sum();
        let rows = n + self.keys.len();
        let mut residuals = Residuals {
            values: vec![0.0; rows],
            columns: vec![vec![0.0; rows]; self.keys.len()],
        };
        let mut row = 0;
        for (points, measured) in lines.calls.iter().zip(&lines.measured) {
            for (of_point, (bytes, measured)) in points.iter().zip(measured) {
                let may_run = |line: &&Line| cut.is_none_or(|cut| cut.allows(*bytes, line.path));
                let mut among: Vec<&Line> = of_point.iter().filter(may_run).collect();
                if among.is_empty() {
                    among = of_point.iter().collect();
                }
                let timed = among.into_iter().map(|line| line.slope(&constants));
                let Some(slope) = timed.min_by(|a, b| a.time.total_cmp(&b.time)) else {
                    continue;
                };
                let (value, factor) = robust((slope.time / measured).ln());
                residuals.values[row] = value;
                for (at, by_log) in slope.by {
                    residuals.columns[at][row] += factor * by_log / slope.time;
                }
                row += 1;
            }
        }
        for (at, key) in self.keys.iter().enumerate() {
            let weight = PULL * NOISE / key.belief();
            residuals.values[n + at] = weight * logs[at];
            residuals.columns[at][n + at] = weight;
        }
        residuals
    }

    /// Returns the derivatives of the logarithms of all fitted times, by constant.
    pub(super) fn columns(&self, solution: &Solution) -> Vec<Vec<f64>> {
        let n: usize = solution.lines.calls.iter().map(Vec::len).sum();
        let residuals = self.residuals(&solution.lines, &solution.logs, None);
        let columns = residuals.columns.into_iter();
        columns.map(|column| column[..n].to_vec()).collect()
    }

    /// Returns the times of the fastest path at each size on lines, by call.
    pub(super) fn times(&self, lines: &Lines, logs: &[f64]) -> Vec<Vec<f64>> {
        let constants = self.constants(logs);
        let fastest = |of_point: &Vec<Line>| {
            let times = of_point.iter().map(|line| line.slope(&constants).time);
            times.fold(f64::INFINITY, f64::min)
        };
        let calls = lines.calls.iter();
        calls
            .map(|points| points.iter().map(fastest).collect())
            .collect()
    }
}

/// Sizes up to which protocols run, and from which the switches reduce.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cut {
    ll_last: Bytes,
    ll128_last: Bytes,
    nvls_first: Bytes,
}

impl Cut {
    fn allows(self, bytes: Bytes, path: Path) -> bool {
        let runs = if bytes <= self.ll_last {
            Protocol::Ll
        } else if bytes <= self.ll128_last {
            Protocol::Ll128
        } else {
            Protocol::Simple
        };
        let is_in_switch = path.algorithm == Algorithm::Nvls;
        path.protocol == runs && is_in_switch == (bytes >= self.nvls_first)
    }
}

/// Where a fit starts: the fastest path by what the system says, or protocols that give way to
/// each other at some sizes.
fn cuts(lines: &Lines) -> Vec<Option<Cut>> {
    let all = || lines.calls.iter().flatten().flatten();
    let runs = |protocol| all().any(|line| line.path.protocol == protocol);
    let has_switch = all().any(|line| line.path.algorithm == Algorithm::Nvls);
    let some = |runs, sizes: &'static [u64]| if runs { sizes } else { &[0] };
    let mut cuts = vec![None];
    for nvls in some(has_switch, &[1 << 20, 8 << 20]) {
        for ll in some(runs(Protocol::Ll), &[1 << 10, 64 << 10, 512 << 10]) {
            for ll128 in some(runs(Protocol::Ll128), &[128 << 10, 4 << 20]) {
                cuts.push(Some(Cut {
                    ll_last: Bytes::new(*ll),
                    ll128_last: Bytes::new(*ll128),
                    nvls_first: Bytes::new(if has_switch { *nvls } else { u64::MAX }),
                }));
            }
        }
    }
    cuts
}
