//! Many tests at once: which to believe when a share of false alarms is allowed.

/// What is decided about one hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The difference is believed.
    Rejected,
    /// It may be chance.
    Kept,
}

/// Decides about all p-values so that the expected share of false rejections stays below
/// `rate`: with the p-values sorted, everything up to the last one with p(i) <= rate i / m
/// (Benjamini and Hochberg 1995). A p-value that is not a number is kept and counted.
///
/// ```
/// use tier6_stats::{Decision::{Kept, Rejected}, benjamini_hochberg};
/// let decisions = benjamini_hochberg(&[0.01, 0.8, 0.02, 0.9], 0.05);
/// assert_eq!(decisions, [Rejected, Kept, Rejected, Kept]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64], rate: f64) -> Vec<Decision> {
    let m = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let rejected = order
        .iter()
        .enumerate()
        .filter(|(rank, index)| p_values[**index] <= rate * (rank + 1) as f64 / m)
        .map(|(rank, _)| rank + 1)
        .next_back()
        .unwrap_or(0);
    let mut decisions = vec![Decision::Kept; p_values.len()];
    for index in &order[..rejected] {
        decisions[*index] = Decision::Rejected;
    }
    decisions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_of_the_paper() {
        // Benjamini and Hochberg 1995, section 4.1: 15 comparisons, four rejected at 5 %.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let rejected = benjamini_hochberg(&p, 0.05)
            .iter()
            .filter(|decision| **decision == Decision::Rejected)
            .count();
        assert_eq!(rejected, 4);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
        assert_eq!(benjamini_hochberg(&[f64::NAN], 0.05), [Decision::Kept]);
    }
}
