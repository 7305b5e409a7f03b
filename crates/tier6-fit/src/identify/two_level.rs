//! The two-level AllReduce of source document 003, its five constants, and the settings that
//! tell them.
//!
//! A row of (g, n, M) is [2(g-1)/g M, 2(n-1)/n M/g, 2(g-1), 2(n-1), 1] for
//! (1/`B_i`, 1/`B_e`, `α_i`, `α_e`, `T_sw`) (FACTS B.5, E.5).

use super::{Design, Identifiability};
use std::fmt;
use tier6_units::{Bytes, GbPerSec, Micros};

/// The names of the five constants, in the order of the columns.
pub const TWO_LEVEL_CONSTANTS: [&str; 5] = [
    "rate inside a node",
    "rail rate",
    "step inside a node",
    "step between nodes",
    "T_sw",
];

/// Ranks as they are placed: n nodes of g.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// g.
    pub per_node: u32,
    /// n.
    pub nodes: u32,
}

impl fmt::Display for Setting {
    /// Prints the run to make: `a single-node run with 8 ranks`, `1 rank per node on 2 nodes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks = if self.per_node == 1 { "rank" } else { "ranks" };
        match self.nodes {
            1 => write!(f, "a single-node run with {} {ranks}", self.per_node),
            nodes => write!(f, "{} {ranks} per node on {nodes} nodes", self.per_node),
        }
    }
}

/// The five constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevel {
    /// `B_i`, per rank.
    pub inside: GbPerSec,
    /// `B_e`, per rank.
    pub rail: GbPerSec,
    /// `α_i`.
    pub step_inside: Micros,
    /// `α_e`.
    pub step_across: Micros,
    /// `T_sw`.
    pub software: Micros,
}

impl TwoLevel {
    /// Values of the usual order, where only what can be told matters: H100 with NDR.
    pub const TYPICAL: Self = Self {
        inside: GbPerSec::new(370.0),
        rail: GbPerSec::new(48.5),
        step_inside: Micros::new(1.0),
        step_across: Micros::new(5.0),
        software: Micros::new(15.0),
    };

    /// Returns the time of an AllReduce, in microseconds.
    pub fn time(&self, setting: Setting, bytes: Bytes) -> Micros {
        Micros::new(self.terms(setting, bytes).iter().sum())
    }

    /// Returns what each constant adds to a time, in microseconds.
    fn terms(&self, setting: Setting, bytes: Bytes) -> [f64; 5] {
        let (g, n) = (f64::from(setting.per_node), f64::from(setting.nodes));
        let m = bytes.as_f64();
        [
            2.0 * (g - 1.0) / g * m / (1e3 * self.inside.get()),
            2.0 * (n - 1.0) / n * m / g / (1e3 * self.rail.get()),
            2.0 * (g - 1.0) * self.step_inside.get(),
            2.0 * (n - 1.0) * self.step_across.get(),
            self.software.get(),
        ]
    }

    /// Returns the design of measuring all sizes at all settings; `None` without a size or a
    /// setting, or when a constant is not a finite number.
    pub fn design(&self, settings: &[Setting], sizes: &[Bytes]) -> Option<Design> {
        let mut columns = vec![Vec::new(); 5];
        for setting in settings {
            for bytes in sizes.iter().filter(|bytes| bytes.get() > 0) {
                let terms = self.terms(*setting, *bytes);
                let time: f64 = terms.iter().sum();
                for (column, term) in columns.iter_mut().zip(terms) {
                    column.push(term / time);
                }
            }
        }
        if columns[0].is_empty() {
            return None;
        }
        Design::new(TWO_LEVEL_CONSTANTS.map(str::to_owned).to_vec(), columns)
    }

    /// Returns the settings to measure besides those given, in the order in which they tell most,
    /// until all five constants can be told; none when they can already.
    ///
    /// Candidates are whole and half nodes alone, one rank on each of two nodes, the given ranks
    /// per node on two nodes, and twice as many nodes.
    pub fn missing(&self, settings: &[Setting], sizes: &[Bytes]) -> Vec<Setting> {
        let Some(widest) = settings.iter().map(|setting| setting.per_node).max() else {
            return Vec::new();
        };
        let nodes = settings.iter().map(|setting| setting.nodes).max();
        let nodes = nodes.unwrap_or(1).max(2);
        let at = |per_node: u32, nodes: u32| Setting { per_node, nodes };
        let widest = widest.max(2);
        let candidates = [
            at(widest, 1),
            at(widest.div_ceil(2), 1),
            at(1, 2),
            at(widest, nodes),
            at(widest, nodes.saturating_mul(2)),
        ];
        let mut have = settings.to_vec();
        let mut missing = Vec::new();
        let rank = |settings: &[Setting]| {
            let found: Option<Identifiability> =
                self.design(settings, sizes).map(|design| design.identify());
            found.map_or(0, |found| found.rank)
        };
        while rank(&have) < 5 {
            let gain = |candidate: &Setting| {
                let with: Vec<Setting> = have.iter().copied().chain([*candidate]).collect();
                rank(&with)
            };
            let before = rank(&have);
            let mut best: Option<(usize, Setting)> = None;
            for candidate in candidates.iter().filter(|one| one.per_node * one.nodes > 1) {
                let gained = gain(candidate);
                if gained > best.map_or(before, |(most, _)| most) {
                    best = Some((gained, *candidate));
                }
            }
            let Some((_, setting)) = best else {
                break;
            };
            have.push(setting);
            missing.push(setting);
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(per_node: u32, nodes: u32) -> Setting {
        Setting { per_node, nodes }
    }

    /// The sizes of FACTS E.5: 24 powers of two.
    fn sizes() -> Vec<Bytes> {
        (10..34).map(|bits| Bytes::new(1 << bits)).collect()
    }

    /// Rank, and relative standard deviations in percent at 2 % noise.
    fn check(settings: &[Setting], rank: usize, sd_pct: Option<[f64; 5]>) {
        let design = TwoLevel::TYPICAL.design(settings, &sizes()).unwrap();
        let found = design.identify();
        assert_eq!(found.rank, rank, "{settings:?}");
        let Some(sd_pct) = sd_pct else {
            assert!(!found.is_full());
            return;
        };
        for (sd, want) in found.relative_sd.iter().zip(sd_pct) {
            let got = (sd.unwrap() * 2.0 * 10.0).round() / 10.0;
            assert!((got - want).abs() < 1e-9, "{settings:?}: {got}, not {want}");
        }
    }

    #[test]
    fn the_table_of_identifiability() {
        check(&[at(8, 2)], 2, None);
        check(&[at(8, 1), at(8, 2)], 4, None);
        check(&[at(8, 1), at(8, 2), at(8, 4)], 4, None);
        let three = [at(8, 1), at(4, 1), at(8, 2)];
        check(&three, 5, Some([0.5, 2.0, 2.6, 2.9, 1.7]));
        let single = [at(8, 1), at(1, 2), at(8, 2)];
        check(&single, 5, Some([0.6, 0.6, 2.0, 2.9, 2.2]));
        let six = [at(8, 1), at(4, 1), at(1, 2), at(1, 4), at(8, 2), at(8, 4)];
        check(&six, 5, Some([0.4, 0.4, 1.4, 0.8, 1.0]));
    }

    #[test]
    fn groups_say_what_is_confounded() {
        let groups = |settings: &[Setting]| {
            let design = TwoLevel::TYPICAL.design(settings, &sizes()).unwrap();
            design.identify().groups
        };
        assert_eq!(groups(&[at(8, 2)]), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(groups(&[at(8, 1), at(8, 2)]), [[2, 4]]);
        assert_eq!(groups(&[at(8, 1)]), [vec![1], vec![2, 4], vec![3]]);
    }

    #[test]
    fn missing_settings_are_proposed_in_words() {
        let missing = |settings: &[Setting]| -> Vec<String> {
            let missing = TwoLevel::TYPICAL.missing(settings, &sizes());
            missing.iter().map(Setting::to_string).collect()
        };
        assert_eq!(
            missing(&[at(8, 2)]),
            [
                "a single-node run with 8 ranks",
                "a single-node run with 4 ranks"
            ]
        );
        assert_eq!(
            missing(&[at(4, 1), at(8, 1)]),
            ["1 rank per node on 2 nodes"]
        );
        assert!(missing(&[at(8, 1), at(1, 2), at(8, 2)]).is_empty());
        assert!(missing(&[]).is_empty());
    }

    #[test]
    fn times_add_up() {
        let time = TwoLevel::TYPICAL.time(at(8, 2), Bytes::new(1 << 30));
        let want = 1.75 * 1_073_741_824.0 / 370e3
            + 1_073_741_824.0 / 8.0 / 48.5e3
            + 14.0
            + 2.0 * 5.0
            + 15.0;
        assert!((time.get() - want).abs() < 1e-9);
    }
}
