//! Small symmetric systems of equations.

/// Solves a symmetric positive definite system by Cholesky's factorisation; `None` when it is
/// not one, to rounding.
pub fn solve_symmetric(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    if matrix.len() != n || matrix.iter().any(|row| row.len() != n) {
        return None;
    }
    for k in 0..n {
        let before: f64 = matrix[k][..k].iter().map(|value| value * value).sum();
        let pivot = matrix[k][k] - before;
        if !(pivot > 1e-14 * matrix[k][k] && pivot.is_finite()) {
            return None;
        }
        let pivot = pivot.sqrt();
        matrix[k][k] = pivot;
        for row in k + 1..n {
            let shared: f64 = (0..k).map(|j| matrix[row][j] * matrix[k][j]).sum();
            matrix[row][k] = (matrix[row][k] - shared) / pivot;
        }
    }
    for row in 0..n {
        let known: f64 = (0..row).map(|j| matrix[row][j] * right[j]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|j| matrix[j][row] * right[j]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_system() {
        let matrix = vec![
            vec![4.0, 2.0, 0.0],
            vec![2.0, 5.0, 1.0],
            vec![0.0, 1.0, 3.0],
        ];
        let solved = solve_symmetric(matrix, vec![8.0, 15.0, 11.0]).unwrap();
        for (got, want) in solved.iter().zip([1.0, 2.0, 3.0]) {
            assert!((got - want).abs() < 1e-12, "{solved:?}");
        }
        assert_eq!(solve_symmetric(vec![], vec![]), Some(vec![]));
    }

    #[test]
    fn dependent_equations_have_no_solution() {
        let matrix = vec![vec![1.0, 2.0], vec![2.0, 4.0]];
        assert_eq!(solve_symmetric(matrix, vec![1.0, 2.0]), None);
        assert_eq!(solve_symmetric(vec![vec![1.0]], vec![]), None);
    }
}
