//! Cuts a curve into straight pieces: exact dynamic programming over the cut positions, the
//! number of pieces by BIC = n ln(RSS / n) + (3k - 1) ln n (two coefficients per piece and
//! k - 1 cuts; FACTS E.4).
//!
//! More pieces must lower BIC by a stated amount and not only lower it: the best place of a cut
//! is searched for, which BIC does not count, and without a margin one noisy line in five is cut.
//!
//! The loss is the relative squared error. With u = 1/y and v = x/y it is the sum of
//! (1 - a u - b v)^2, so the cost of a piece needs three running rows of a QR factorisation.
//! Differences of prefix sums would give each cost in O(1) too, but weights span 1e20 between
//! the ends of a sweep and the small end would be lost in the difference. Instead each start
//! extends its piece point by point with two Givens rotations: also O(1) per piece, a sum of
//! squares that never cancels, and no cost table to store. O(k n^2) time, O(k n) memory.

/// What a segmentation may look like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentRules {
    /// Fewest points in a piece; at least 1.
    pub min_points: usize,
    /// Most pieces.
    pub max_segments: usize,
    /// How much more pieces must lower BIC to be believed; 6 is strong evidence (Kass and
    /// Raftery 1995).
    pub bic_gain_min: f64,
    /// Relative error below which residuals mean nothing (printed digits, timer grain); keeps
    /// exact data from being cut up over rounding.
    pub resolution: f64,
}

/// Where the pieces start, and how the choice was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmentation {
    /// Index of the first point of each piece; the first is 0.
    pub starts: Vec<usize>,
    /// Relative sum of squares of the chosen segmentation.
    pub rss: f64,
    /// BIC of the best segmentation with 1, 2, ... pieces, as far as the points allow.
    pub bic: Vec<f64>,
}

/// Segments points in the order given by lines with intercept >= 0 and slope >= 0. Fewer
/// than `min_points` points are one piece. `None` for no points, different lengths, values
/// that are not finite or a y of zero or less.
pub fn segment_lines(x: &[f64], y: &[f64], rules: SegmentRules) -> Option<Segmentation> {
    let usable = |(x, y): (&f64, &f64)| x.is_finite() && y.is_finite() && *y > 0.0;
    if x.is_empty() || x.len() != y.len() || !x.iter().zip(y).all(usable) {
        return None;
    }
    let n = x.len();
    let min_points = rules.min_points.clamp(1, n);
    let most = (n / min_points).clamp(1, rules.max_segments.max(1));
    let table = Table::fill(x, y, min_points, most);
    let floor = n as f64 * rules.resolution * rules.resolution;
    let bic: Vec<f64> = (1..=most)
        .map(|k| {
            let rss = table.loss(n, k).max(floor).max(f64::MIN_POSITIVE);
            n as f64 * (rss / n as f64).ln() + (3 * k - 1) as f64 * (n as f64).ln()
        })
        .collect();
    let mut pieces = 1;
    for k in 2..=most {
        if bic[k - 1] < bic[pieces - 1] - rules.bic_gain_min {
            pieces = k;
        }
    }
    Some(Segmentation {
        starts: table.starts(n, pieces),
        rss: table.loss(n, pieces),
        bic,
    })
}

/// Best loss of the first `j` points in exactly `k` pieces, and where the last piece starts.
struct Table {
    stride: usize,
    losses: Vec<f64>,
    last_starts: Vec<usize>,
}

impl Table {
    /// Visits the starts in ascending order; all entries at a start are final by then, because
    /// they come from earlier starts only.
    fn fill(x: &[f64], y: &[f64], min_points: usize, most: usize) -> Self {
        let n = x.len();
        let stride = most + 1;
        let mut table = Self {
            stride,
            losses: vec![f64::INFINITY; (n + 1) * stride],
            last_starts: vec![0; (n + 1) * stride],
        };
        table.losses[0] = 0.0;
        let scale = |values: &[f64]| {
            values
                .iter()
                .fold(f64::MIN_POSITIVE, |most, v| most.max(v.abs()))
        };
        let (x_scale, y_scale) = (scale(x), scale(y));
        let rows: Vec<(f64, f64)> = x
            .iter()
            .zip(y)
            .map(|(x, y)| {
                let y = y / y_scale;
                (1.0 / y, x / x_scale / y)
            })
            .collect();
        for start in 0..n {
            let (before, after) = table.losses.split_at_mut((start + 1) * stride);
            let here = &before[start * stride..];
            if here.iter().all(|loss| loss.is_infinite()) {
                continue;
            }
            let mut piece = Piece::default();
            for (offset, row) in rows[start..].iter().enumerate() {
                piece.push(*row);
                if offset + 1 < min_points {
                    continue;
                }
                let cost = piece.loss();
                let slot = offset * stride;
                let ends = &mut after[slot..slot + stride];
                let starts = &mut table.last_starts[(start + 1) * stride + slot..][..stride];
                for k in 1..stride {
                    let loss = here[k - 1] + cost;
                    if loss < ends[k] {
                        ends[k] = loss;
                        starts[k] = start;
                    }
                }
            }
        }
        table
    }

    fn loss(&self, points: usize, pieces: usize) -> f64 {
        self.losses[points * self.stride + pieces]
    }

    fn starts(&self, points: usize, pieces: usize) -> Vec<usize> {
        let mut starts = vec![0; pieces];
        let mut end = points;
        for k in (1..=pieces).rev() {
            end = self.last_starts[end * self.stride + k];
            starts[k - 1] = end;
        }
        starts
    }
}

/// The triangle R and right-hand side Q of the rows (u, v | 1) seen so far, and the squares
/// that no coefficients can explain.
#[derive(Default)]
struct Piece {
    r11: f64,
    r12: f64,
    r22: f64,
    q1: f64,
    q2: f64,
    rss: f64,
}

impl Piece {
    fn push(&mut self, (u, v): (f64, f64)) {
        let (v, one) = rotate(&mut self.r11, u, [&mut self.r12, &mut self.q1], [v, 1.0]);
        let mut unused = 0.0;
        let (rest, _) = rotate(&mut self.r22, v, [&mut self.q2, &mut unused], [one, 0.0]);
        self.rss += rest * rest;
    }

    /// Returns the least loss with both coefficients non-negative.
    fn loss(&self) -> f64 {
        let slope = self.q2 / self.r22;
        let level = self.rss + self.q2 * self.q2;
        // Not a number when all x are equal: then the level is the whole answer.
        if slope.is_nan() || slope < 0.0 {
            return level;
        }
        if self.q1 - self.r12 * slope >= 0.0 {
            return self.rss;
        }
        let cross = self.r12 * self.q1 + self.r22 * self.q2;
        let squares = self.r12 * self.r12 + self.r22 * self.r22;
        let origin =
            self.rss + (self.q1 * self.q1 + self.q2 * self.q2 - cross * cross / squares).max(0.0);
        origin.min(level)
    }
}

/// Rotates `incoming` into the diagonal and returns what is left of the two other entries.
fn rotate(diagonal: &mut f64, incoming: f64, rest: [&mut f64; 2], row: [f64; 2]) -> (f64, f64) {
    let length = (*diagonal * *diagonal + incoming * incoming).sqrt();
    if length == 0.0 {
        return (row[0], row[1]);
    }
    let (cos, sin) = (*diagonal / length, incoming / length);
    *diagonal = length;
    let mut left = [0.0; 2];
    for ((upper, lower), left) in rest.into_iter().zip(row).zip(&mut left) {
        *left = cos * lower - sin * *upper;
        *upper = cos * *upper + sin * lower;
    }
    (left[0], left[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rng, Weighting, fit_line_non_negative};

    const RULES: SegmentRules = SegmentRules {
        min_points: 3,
        max_segments: 6,
        bic_gain_min: 6.0,
        resolution: 1e-4,
    };

    fn sizes(n: u32) -> Vec<f64> {
        (0..n).map(|power| f64::from(power).exp2()).collect()
    }

    #[test]
    fn exact_pieces_are_found_where_they_are() {
        let x = sizes(30);
        let y: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, x)| match i {
                0..12 => 18.0 + x / 4e4,
                12..20 => 30.0 + x / 6e4,
                _ => 60.0 + x / 8e4,
            })
            .collect();
        let got = segment_lines(&x, &y, RULES).unwrap();
        assert_eq!(got.starts, [0, 12, 20]);
        assert!(got.rss < 1e-18);
    }

    #[test]
    fn one_line_stays_one_piece() {
        let x = sizes(31);
        let y: Vec<f64> = x.iter().map(|x| 20.0 + x / 8e4).collect();
        assert_eq!(segment_lines(&x, &y, RULES).unwrap().starts, [0]);
        assert_eq!(segment_lines(&x[..2], &y[..2], RULES).unwrap().starts, [0]);
        assert_eq!(
            segment_lines(&[7.0; 9], &[3.0; 9], RULES).unwrap().starts,
            [0]
        );
        assert_eq!(segment_lines(&[], &[], RULES), None);
        assert_eq!(segment_lines(&[1.0], &[f64::NAN], RULES), None);
    }

    #[test]
    fn the_running_cost_is_the_loss_of_the_fitted_line() {
        let mut rng = Rng::new(4);
        for trial in 0..200 {
            let n = 3 + trial % 9;
            // Some fall, some are steep, so that each constraint is met.
            let tilt = rng.normal() * 1e-3;
            let x: Vec<f64> = (0..n).map(|i| 1e4 * f64::from(i + 1)).collect();
            let y: Vec<f64> = x
                .iter()
                .map(|x| (20.0 + tilt * x).abs() + 3.0 * rng.uniform() + 0.1)
                .collect();
            let mut piece = Piece::default();
            x.iter()
                .zip(&y)
                .for_each(|(x, y)| piece.push((1.0 / y, x / y)));
            let fit = fit_line_non_negative(&x, &y, Weighting::Relative).unwrap();
            assert!(
                (piece.loss() - fit.rss).abs() < 1e-9 * fit.rss.max(1e-6),
                "{trial}"
            );
        }
    }

    #[test]
    fn pieces_at_the_far_end_keep_their_digits() {
        // Weights fall by 1e18 from end to end; the last piece must still be seen.
        let x = sizes(35);
        let y: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, x)| {
                if i < 31 {
                    1e-3 + x / 1e3
                } else {
                    5e5 + x / 1.05e3
                }
            })
            .collect();
        assert_eq!(segment_lines(&x, &y, RULES).unwrap().starts, [0, 31]);
    }

    #[test]
    fn a_noisy_line_is_rarely_cut() {
        let mut rng = Rng::new(8);
        let mut cut = 0;
        for _ in 0..200 {
            let (x, y): (Vec<f64>, Vec<f64>) = (0..31)
                .map(|power| f64::from(power).exp2())
                .map(|x| (x, (20.0 + x / 8e4) * (1.0 + 0.01 * rng.normal())))
                .unzip();
            cut += u32::from(segment_lines(&x, &y, RULES).unwrap().starts.len() > 1);
        }
        // Some remain: the cut is placed where noise helps it most.
        assert!(cut <= 16, "{cut} of 200");
    }

    proptest::proptest! {
        #[test]
        fn no_numbers_panic(
            points in proptest::collection::vec((proptest::num::f64::ANY, proptest::num::f64::ANY), 0..12),
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().map(|(x, y)| (x, y.abs())).unzip();
            if let Some(found) = segment_lines(&x, &y, RULES) {
                proptest::prop_assert_eq!(found.starts[0], 0);
                proptest::prop_assert!(found.starts.is_sorted());
            }
        }
    }
}
