//! "Did you mean": the known name nearest to one that is not known.

/// Returns the candidate with the fewest edits to `name`, when they are few for its length.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A pasted paragraph is no misspelling, and distances are quadratic.
    if name.len() > 64 {
        return None;
    }
    let allowed = (name.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Edits between two words, a swap of neighbours counting once (optimal string alignment);
/// case, hyphens and underscores do not count.
fn distance(a: &str, b: &str) -> usize {
    let fold = |text: &str| -> Vec<char> {
        let lower = text.chars().flat_map(char::to_lowercase);
        lower.filter(|c| !matches!(c, '-' | '_')).collect()
    };
    let (a, b) = (fold(a), fold(b));
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut edits = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(rows[i - 2][j - 2] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let names = ["rate", "latency", "efficiency", "oversubscription"];
        assert_eq!(nearest("raet", names), Some("rate"));
        assert_eq!(nearest("Latncy", names), Some("latency"));
        assert_eq!(
            nearest("over-subscription", names),
            Some("oversubscription")
        );
        assert_eq!(nearest("h200x8", ["h20-x8", "h200-x8"]), Some("h200-x8"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest(&"a".repeat(10_000), names), None);
    }
}
