//! An orthonormal basis built column by column: least squares for a handful of columns, and
//! the question what one more column would explain.

/// Whether a column added a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// The column points somewhere new.
    Grown,
    /// The columns before it already explain it.
    Unchanged,
}

/// Orthonormal columns of equal length.
#[derive(Debug, Clone)]
pub struct OrthonormalBasis {
    rows: usize,
    columns: Vec<Vec<f64>>,
}

impl OrthonormalBasis {
    /// Starts without columns, for vectors of length `rows`.
    pub const fn new(rows: usize) -> Self {
        Self {
            rows,
            columns: Vec::new(),
        }
    }

    /// Returns the number of directions.
    pub fn rank(&self) -> usize {
        self.columns.len()
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// Adds a column; one that the others explain to 1e-8 of its length, has another length,
    /// or is not finite, is left out.
    pub fn add(&mut self, column: &[f64]) -> Span {
        let length = norm(column);
        if column.len() != self.rows || !(length > 0.0 && length.is_finite()) {
            return Span::Unchanged;
        }
        let scaled: Vec<f64> = column.iter().map(|value| value / length).collect();
        // Twice is enough (Kahan and Parlett): the second pass removes what rounding left.
        let rest = self.residual(&self.residual(&scaled));
        let rest_length = norm(&rest);
        if rest_length <= 1e-8 {
            return Span::Unchanged;
        }
        self.columns
            .push(rest.iter().map(|value| value / rest_length).collect());
        Span::Grown
    }

    /// Returns the part of `y` that the columns do not explain.
    pub fn residual(&self, y: &[f64]) -> Vec<f64> {
        let mut rest = y.to_vec();
        for column in &self.columns {
            let share = dot(column, &rest);
            for (rest, value) in rest.iter_mut().zip(column) {
                *rest -= share * value;
            }
        }
        rest
    }

    /// Returns the leverage of a row: the share of its own value in its fitted value.
    pub fn leverage(&self, row: usize) -> f64 {
        self.columns
            .iter()
            .map(|column| column.get(row).map_or(0.0, |value| value * value))
            .sum()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependent_column_adds_nothing() {
        let mut basis = OrthonormalBasis::new(3);
        assert_eq!(basis.add(&[1.0, 1.0, 1.0]), Span::Grown);
        assert_eq!(basis.add(&[1.0, 2.0, 3.0]), Span::Grown);
        assert_eq!(basis.add(&[5.0, 7.0, 9.0]), Span::Unchanged);
        assert_eq!(basis.add(&[1.0]), Span::Unchanged);
        assert_eq!(basis.add(&[f64::NAN; 3]), Span::Unchanged);
        assert_eq!(basis.rank(), 2);
        assert!(
            basis
                .residual(&[3.0, 5.0, 7.0])
                .iter()
                .all(|rest| rest.abs() < 1e-12)
        );
        let total: f64 = (0..3).map(|row| basis.leverage(row)).sum();
        assert!((total - 2.0).abs() < 1e-12);
    }
}
