//! The candidates: for each shape the column that would explain the residuals, how much it
//! explains, and how likely chance explains as much.

use super::{PredictedPoint, PredictionOrigin};
use crate::Pattern;
use tier6_stats::{OrthonormalBasis, Span, f_p_value};

/// A shape at one place.
pub(super) struct Candidate {
    pub(super) pattern: Pattern,
    /// Probability that chance explains as much, times the number of places tried.
    pub(super) p_value: f64,
    /// Root mean square of the explained part over the points it concerns, as a fraction.
    pub(super) effect: f64,
    /// n ln(RSS / n) + p ln n, a place counting as a parameter.
    pub(super) bic: f64,
    /// The columns that explain it.
    columns: Vec<Vec<f64>>,
    /// Index of the spike, or of the first point after the jump.
    at: usize,
}

/// What explains the residuals so far, and what is left.
pub(super) struct Model<'a> {
    points: &'a [PredictedPoint],
    origin: PredictionOrigin,
    /// measured / predicted - 1.
    z: Vec<f64>,
    basis: OrthonormalBasis,
    rest: Vec<f64>,
    rss: f64,
    spikes: Vec<usize>,
}

impl<'a> Model<'a> {
    pub(super) fn new(points: &'a [PredictedPoint], origin: PredictionOrigin) -> Self {
        let z = points
            .iter()
            .map(|point| point.measured.get() / point.predicted.get() - 1.0)
            .collect();
        let mut model = Self {
            points,
            origin,
            z,
            basis: OrthonormalBasis::new(points.len()),
            rest: Vec::new(),
            rss: 0.0,
            spikes: Vec::new(),
        };
        if origin == PredictionOrigin::SamePoints {
            model.basis.add(&model.fixed());
            model.basis.add(&model.per_byte());
        }
        model.refresh();
        model
    }

    /// Adds the columns of a candidate to what is explained.
    pub(super) fn adopt(&mut self, candidate: &Candidate) {
        for column in &candidate.columns {
            self.basis.add(column);
        }
        if candidate.pattern == Pattern::Spike {
            self.spikes.push(candidate.at);
        }
        self.refresh();
    }

    fn refresh(&mut self) {
        self.rest = self.basis.residual(&self.z);
        self.rss = squares(&self.rest);
    }

    /// One microsecond at every size, relative to the prediction.
    fn fixed(&self) -> Vec<f64> {
        self.points
            .iter()
            .map(|point| 1.0 / point.predicted.get())
            .collect()
    }

    /// One microsecond per byte, relative to the prediction.
    fn per_byte(&self) -> Vec<f64> {
        self.points
            .iter()
            .map(|point| point.bytes.as_f64() / point.predicted.get())
            .collect()
    }

    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        if self.origin == PredictionOrigin::Elsewhere {
            found.extend(self.test(Pattern::Offset, Vec::new(), self.fixed(), (1, 0)));
            found.extend(self.test(Pattern::Growth, Vec::new(), self.per_byte(), (1, 0)));
        }
        found.extend(self.jump());
        found.extend(self.spike());
        found.extend(self.curve());
        found
    }

    /// Tests what `key` explains beyond the model with `nuisance` columns in it, having tried
    /// `places` of its kind. What the nuisance explains is no evidence for the shape.
    fn test(
        &self,
        pattern: Pattern,
        nuisance: Vec<Vec<f64>>,
        key: Vec<f64>,
        (places, at): (usize, usize),
    ) -> Option<Candidate> {
        let n = self.z.len();
        let mut larger = self.basis.clone();
        for column in &nuisance {
            let _ = larger.add(column);
        }
        let without = squares(&larger.residual(&self.z));
        if larger.add(&key) == Span::Unchanged {
            return None;
        }
        let rss = squares(&larger.residual(&self.z));
        let freedom = n.checked_sub(larger.rank())?;
        let concerned = match pattern {
            Pattern::Spike => 1,
            Pattern::Jump => (n - at).min(at),
            Pattern::Scatter | Pattern::Offset | Pattern::Growth | Pattern::Curve => n,
        };
        let parameters = larger.rank() - self.basis.rank() + usize::from(places > 1);
        // Below 1e-6 residuals are rounding.
        let floor = rss.max(n as f64 * 1e-12);
        let mut columns = nuisance;
        columns.push(key);
        Some(Candidate {
            pattern,
            p_value: f_p_value(without, rss, 1, freedom)? * places as f64,
            effect: ((without - rss).max(0.0) / concerned.max(1) as f64).sqrt(),
            bic: n as f64 * (floor / n as f64).ln() + parameters as f64 * (n as f64).ln(),
            columns,
            at,
        })
    }

    /// The step that explains most, at least two points on each side. One pass: the gain of a
    /// step is (s.r)^2 / (|s|^2 - sum (s.q)^2), all of them sums over a suffix.
    fn jump(&self) -> Option<Candidate> {
        let n = self.z.len();
        let mut with_level = self.basis.clone();
        let _ = with_level.add(&vec![1.0; n]);
        let rest = with_level.residual(&self.z);
        let mut along_rest = 0.0;
        let mut along: Vec<f64> = vec![0.0; with_level.rank()];
        let mut best = (0.0, 0);
        for at in (1..n).rev() {
            along_rest += rest[at];
            for (sum, column) in along.iter_mut().zip(with_level.columns()) {
                *sum += column[at];
            }
            let length = (n - at) as f64 - squares(&along);
            if at >= 2 && n - at >= 2 && length > 1e-8 {
                let gain = along_rest * along_rest / length;
                if gain > best.0 {
                    best = (gain, at);
                }
            }
        }
        let at = best.1;
        if at == 0 {
            return None;
        }
        let step = (0..n)
            .map(|index| f64::from(u8::from(index >= at)))
            .collect();
        self.test(Pattern::Jump, vec![vec![1.0; n]], step, (n - 3, at))
    }

    /// The point whose own column explains most.
    fn spike(&self) -> Option<Candidate> {
        let n = self.z.len();
        let gain = |index: usize| {
            let own = 1.0 - self.basis.leverage(index);
            if own > 1e-8 {
                self.rest[index].powi(2) / own
            } else {
                0.0
            }
        };
        let at = (0..n)
            .filter(|index| !self.spikes.contains(index))
            .max_by(|a, b| gain(*a).total_cmp(&gain(*b)))?;
        let column = (0..n)
            .map(|index| f64::from(u8::from(index == at)))
            .collect();
        self.test(Pattern::Spike, Vec::new(), column, (n, at))
    }

    /// A parabola over log size whose ends lie on one side and whose middle on the other.
    fn curve(&self) -> Option<Candidate> {
        let logs: Vec<f64> = self
            .points
            .iter()
            .map(|point| point.bytes.as_f64().max(1.0).ln())
            .collect();
        let (low, high) = (logs.first()?, logs.last()?);
        let place = |log: &f64| 2.0 * (log - low) / (high - low) - 1.0;
        let t: Vec<f64> = logs.iter().map(place).collect();
        let (first, middle, last) = self.thirds();
        if first * last <= 0.0 || first * middle >= 0.0 {
            return None;
        }
        let parabola = t.iter().map(|t| t * t).collect();
        self.test(
            Pattern::Curve,
            vec![vec![1.0; t.len()], t],
            parabola,
            (1, 0),
        )
    }

    /// Means of what is left over the first, middle and last third of the sizes.
    fn thirds(&self) -> (f64, f64, f64) {
        let n = self.rest.len();
        let third = n / 3;
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (head, tail) = (&self.rest[..third.max(1)], &self.rest[n - third.max(1)..]);
        (mean(head), mean(&self.rest[third..n - third]), mean(tail))
    }

    /// Puts the numbers of a candidate into words.
    pub(super) fn evidence(&self, found: &Candidate) -> String {
        let n = self.rest.len();
        match found.pattern {
            Pattern::Offset => {
                let fixed = self.coefficient(&self.fixed());
                format!(
                    "{fixed:+.2} us at every size over {n} sizes ({})",
                    chance(found.p_value)
                )
            }
            Pattern::Growth => {
                let per_mib = self.coefficient(&self.per_byte()) * f64::from(1 << 20);
                format!(
                    "{per_mib:+.3} us per MiB over {n} sizes ({})",
                    chance(found.p_value)
                )
            }
            Pattern::Jump => {
                let mean = |part: &[f64]| 100.0 * part.iter().sum::<f64>() / part.len() as f64;
                format!(
                    "residuals {:+.1} % on average below {}, {:+.1} % from there on ({})",
                    mean(&self.rest[..found.at]),
                    self.points[found.at].bytes,
                    mean(&self.rest[found.at..]),
                    chance(found.p_value)
                )
            }
            Pattern::Spike => {
                let others = (self.rss - self.rest[found.at].powi(2)).max(0.0) / (n - 1) as f64;
                let off = self.rest[found.at];
                format!(
                    "{} is {:.1} % {} the model, {:.1} times the scatter of the others ({})",
                    self.points[found.at].bytes,
                    100.0 * off.abs(),
                    if off > 0.0 { "above" } else { "below" },
                    off.abs() / others.sqrt().max(1e-9),
                    chance(found.p_value)
                )
            }
            Pattern::Curve => {
                let (first, middle, last) = self.thirds();
                format!(
                    "{:+.1} % on average in the first third of the sizes, {:+.1} % in the middle, \
                     {:+.1} % in the last ({})",
                    100.0 * first,
                    100.0 * middle,
                    100.0 * last,
                    chance(found.p_value)
                )
            }
            Pattern::Scatter => self.scatter(),
        }
    }

    /// Says how far residuals without a shape scatter.
    pub(super) fn scatter(&self) -> String {
        let n = self.rest.len();
        let rms = 100.0 * (squares(&self.z) / n as f64).sqrt();
        format!("no order in {n} residuals; root mean square {rms:.2} %")
    }

    fn coefficient(&self, column: &[f64]) -> f64 {
        let along: f64 = column.iter().zip(&self.rest).map(|(a, b)| a * b).sum();
        along / squares(column)
    }
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn chance(p_value: f64) -> String {
    if p_value < 1e-4 {
        "chance p < 0.0001".to_owned()
    } else {
        format!("chance p = {p_value:.4}")
    }
}
