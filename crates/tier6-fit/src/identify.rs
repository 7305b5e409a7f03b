//! What measurements can tell apart: the rank check before a fit.
//!
//! A model of five constants can be drawn through any curve, and then means nothing: on one
//! setting of nodes and ranks only the slope and the intercept of a two-level AllReduce exist
//! (FACTS E.5). So before a fit the derivatives of all times by all constants are decomposed
//! into singular values. Constants that share a direction without effect are confounded: they
//! are named as a group, with the setting whose measurement would part them.
//!
//! Everything is relative: a row says by how many percent a time moves when a constant moves by
//! one percent, so neither units nor magnitudes decide the rank.

mod two_level;

pub use two_level::{Setting, TWO_LEVEL_CONSTANTS, TwoLevel};

use tier6_stats::SingularValues;

/// A direction whose effect is this share of the largest one, or less, is none: what rounding
/// leaves of an exact dependence is 1e-15 and squared conditions of real designs reach 1e-6.
const RANK_TOLERANCE: f64 = 1e-9;
/// Two constants move together in a direction without effect when their common share is this.
const GROUP_SHARE: f64 = 1e-6;

/// How times depend on constants: relative derivatives, a row per time and a column per constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

/// What a design can tell of its constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// How many combinations of constants can be told.
    pub rank: usize,
    /// How many constants there are.
    pub constants: usize,
    /// The largest singular value over the smallest one that counts.
    pub condition: f64,
    /// Per constant, its relative standard deviation per unit of relative noise in a time;
    /// `None` where it cannot be told.
    pub relative_sd: Vec<Option<f64>>,
    /// Groups of constants that cannot be told apart, each by ascending index. A constant that
    /// no time depends on is a group of its own.
    pub groups: Vec<Vec<usize>>,
}

impl Design {
    /// Wraps relative derivatives; `None` when there is no constant, names and columns differ in
    /// number, or a value is not finite.
    pub fn new(names: Vec<String>, columns: Vec<Vec<f64>>) -> Option<Self> {
        let rows = columns.first()?.len();
        let is_sound = |column: &Vec<f64>| {
            column.len() == rows && column.iter().all(|value| value.is_finite())
        };
        (names.len() == columns.len() && columns.iter().all(is_sound))
            .then_some(Self { names, columns })
    }

    /// Returns the names of the constants.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns what the design can tell.
    ///
    /// # Panics
    ///
    /// Never: a design is finite and has a column.
    pub fn identify(&self) -> Identifiability {
        let values = SingularValues::of_columns(&self.columns)
            .expect("Invariant: a design is finite and has a column");
        let rank = values.rank(RANK_TOLERANCE);
        let variances = values.variances(RANK_TOLERANCE);
        let sd = |variance: &f64| variance.is_finite().then(|| variance.sqrt());
        let all = values.values();
        Identifiability {
            rank,
            constants: self.columns.len(),
            condition: match rank {
                0 => f64::INFINITY,
                rank => all[0] / all[rank - 1],
            },
            relative_sd: variances.iter().map(sd).collect(),
            groups: groups(values.null_space(RANK_TOLERANCE), self.columns.len()),
        }
    }
}

impl Identifiability {
    /// Says whether every constant can be told.
    pub fn is_full(&self) -> bool {
        self.rank == self.constants
    }
}

/// Parts the constants that directions without effect move into groups. The projector on those
/// directions does not depend on how they were chosen, and constants of different groups have no
/// share in common there.
fn groups(null_space: &[Vec<f64>], constants: usize) -> Vec<Vec<usize>> {
    let common =
        |a: usize, b: usize| -> f64 { null_space.iter().map(|vector| vector[a] * vector[b]).sum() };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for constant in (0..constants).filter(|j| common(*j, *j) > GROUP_SHARE * GROUP_SHARE) {
        let is_kin = |group: &Vec<usize>| {
            group
                .iter()
                .any(|other| common(constant, *other).abs() > GROUP_SHARE)
        };
        let (kin, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_kin);
        let mut merged: Vec<usize> = kin.into_iter().flatten().chain([constant]).collect();
        merged.sort_unstable();
        groups = rest;
        groups.push(merged);
    }
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: &[&[f64]], rank: usize, groups: &[&[usize]]) {
        let names = (0..columns.len()).map(|j| format!("c{j}")).collect();
        let columns = columns.iter().map(|column| column.to_vec()).collect();
        let found = Design::new(names, columns).unwrap().identify();
        assert_eq!(found.rank, rank);
        assert_eq!(found.groups, groups);
        for (j, sd) in found.relative_sd.iter().enumerate() {
            assert_eq!(sd.is_none(), groups.iter().any(|group| group.contains(&j)));
        }
    }

    #[test]
    fn confounded_constants_are_grouped_and_others_are_not() {
        let (one, two) = ([1.0, 2.0, 3.0, 5.0], [1.0, 0.0, 1.0, 0.0]);
        let four = [0.0, 1.0, 0.0, 0.0];
        check(&[&one, &two, &four], 3, &[]);
        check(&[&one, &one, &two], 2, &[&[0, 1]]);
        check(&[&one, &two, &one, &two, &four], 3, &[&[0, 2], &[1, 3]]);
        check(&[&one, &[0.0; 4]], 1, &[&[1]]);
        let sum: Vec<f64> = one.iter().zip(two).map(|(a, b)| a + b).collect();
        check(&[&one, &two, &sum, &four], 3, &[&[0, 1, 2]]);
    }

    #[test]
    fn a_design_is_finite_and_rectangular() {
        let names = |n: usize| vec![String::new(); n];
        assert_eq!(Design::new(names(0), vec![]), None);
        assert_eq!(Design::new(names(1), vec![vec![f64::NAN]]), None);
        assert_eq!(Design::new(names(2), vec![vec![1.0]]), None);
        assert_eq!(Design::new(names(2), vec![vec![1.0], vec![]]), None);
    }
}
