//! Singular values of a tall matrix of a few columns: its rank, and which columns it cannot tell
//! apart.
//!
//! One-sided Jacobi (Hestenes 1958): pairs of columns are rotated until all are orthogonal; their
//! lengths are then the singular values. It is exact to rounding even for tiny values, which is
//! what a rank decision needs, and short.

/// Sweeps over all pairs of columns; a dozen columns need about six.
const SWEEPS_MAX: u32 = 60;

/// The singular values of a matrix with their right vectors, largest first.
#[derive(Debug, Clone, PartialEq)]
pub struct SingularValues {
    values: Vec<f64>,
    /// `vectors[k][j]`: the share of column j in direction k.
    vectors: Vec<Vec<f64>>,
}

impl SingularValues {
    /// Decomposes a matrix given by its columns; `None` when there is no column, they differ in
    /// length, or a value is not finite.
    pub fn of_columns(columns: &[Vec<f64>]) -> Option<Self> {
        let rows = columns.first()?.len();
        let is_sound = |column: &Vec<f64>| {
            column.len() == rows && column.iter().all(|value| value.is_finite())
        };
        if !columns.iter().all(is_sound) {
            return None;
        }
        let n = columns.len();
        let mut turned = columns.to_vec();
        let mut vectors: Vec<Vec<f64>> = (0..n)
            .map(|k| (0..n).map(|j| f64::from(u8::from(j == k))).collect())
            .collect();
        for _ in 0..SWEEPS_MAX {
            let mut is_done = true;
            for p in 0..n {
                for q in p + 1..n {
                    is_done &= !rotate(&mut turned, &mut vectors, p, q);
                }
            }
            if is_done {
                break;
            }
        }
        let lengths: Vec<f64> = turned
            .iter()
            .map(|column| dot(column, column).sqrt())
            .collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| lengths[*b].total_cmp(&lengths[*a]));
        Some(Self {
            values: order.iter().map(|k| lengths[*k]).collect(),
            vectors: order.iter().map(|k| vectors[*k].clone()).collect(),
        })
    }

    /// Returns the singular values, largest first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns how many are above `tolerance` times the largest.
    pub fn rank(&self, tolerance: f64) -> usize {
        let largest = self.values[0];
        let is_above = |value: &&f64| **value > tolerance * largest;
        self.values.iter().filter(is_above).count()
    }

    /// Returns the directions that the matrix takes to nothing, or nearly: those beyond the rank.
    pub fn null_space(&self, tolerance: f64) -> &[Vec<f64>] {
        &self.vectors[self.rank(tolerance)..]
    }

    /// Returns the diagonal of the inverse of A'A, the variance of each coefficient per unit of
    /// noise; a direction beyond the rank counts as unbounded in the columns that it moves.
    pub fn variances(&self, tolerance: f64) -> Vec<f64> {
        let rank = self.rank(tolerance);
        let of = |j: usize| {
            let mut sum = 0.0;
            for (k, vector) in self.vectors.iter().enumerate() {
                let share = vector[j];
                if k < rank {
                    sum += (share / self.values[k]).powi(2);
                } else if share.abs() > 1e-6 {
                    return f64::INFINITY;
                }
            }
            sum
        };
        (0..self.vectors.len()).map(of).collect()
    }
}

/// Makes columns p and q orthogonal; says whether they were not.
fn rotate(columns: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) -> bool {
    let (pp, qq) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
    let pq = dot(&columns[p], &columns[q]);
    if pq.abs() <= 1e-15 * (pp * qq).sqrt() || pp * qq == 0.0 {
        return false;
    }
    let zeta = (qq - pp) / (2.0 * pq);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for matrix in [columns, vectors] {
        for row in 0..matrix[p].len() {
            let (a, b) = (matrix[p][row], matrix[q][row]);
            matrix[p][row] = cosine * a - sine * b;
            matrix[q][row] = sine * a + cosine * b;
        }
    }
    true
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_known_matrix() {
        // A'A = [[2, 1], [1, 2]] has the eigenvalues 3 and 1.
        let columns = vec![vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]];
        let found = SingularValues::of_columns(&columns).unwrap();
        assert!((found.values()[0] - 3.0_f64.sqrt()).abs() < 1e-14);
        assert!((found.values()[1] - 1.0).abs() < 1e-14);
        let variances = found.variances(1e-9);
        // The inverse is [[2, -1], [-1, 2]] / 3.
        assert!(variances.iter().all(|v| (v - 2.0 / 3.0).abs() < 1e-14));
    }

    #[test]
    fn the_null_space_names_columns_that_are_one() {
        let columns = vec![
            vec![1.0, 1.0, 1.0],
            vec![1.0, 2.0, 4.0],
            vec![14.0, 14.0, 14.0],
        ];
        let found = SingularValues::of_columns(&columns).unwrap();
        assert_eq!(found.rank(1e-9), 2);
        let null = &found.null_space(1e-9)[0];
        assert!(null[1].abs() < 1e-12);
        assert!((null[0] / null[2] + 14.0).abs() < 1e-9);
        let variances = found.variances(1e-9);
        assert!(variances[0].is_infinite() && variances[1].is_finite());
    }

    #[test]
    fn nothing_and_not_a_number_have_no_values() {
        assert_eq!(SingularValues::of_columns(&[]), None);
        assert_eq!(SingularValues::of_columns(&[vec![f64::NAN]]), None);
        assert_eq!(SingularValues::of_columns(&[vec![1.0], vec![]]), None);
        let zero = SingularValues::of_columns(&[vec![0.0, 0.0]]).unwrap();
        assert_eq!(zero.rank(1e-9), 0);
    }
}
