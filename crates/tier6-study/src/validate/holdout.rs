//! What is held out: sizes of a sweep, or whole sweeps of many ranks.

use super::LARGE_ABOVE;
use super::engine::{Basis, Engine};
use super::set::Machine;
use std::fmt;
use std::str::FromStr;
use tier6_fit::{KnownPoint, plan_sizes};
use tier6_units::Bytes;

/// Fewest sizes to fit on; fewer describe and never validate.
const TRAINING_SIZES_MIN: usize = 3;

/// A scheme of holding out. Written `alternate`, `large`, `kfold:5`, `plan:5`, `ranks`,
/// `ranks:32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holdout {
    /// Fit on the first, third, fifth.. size and predict those between: interpolation. With an
    /// even number of sizes the last one lies outside.
    Alternate,
    /// Fit on sizes up to 64 MiB and predict the larger ones: extrapolation.
    Large,
    /// Size i belongs to fold i mod K; each fold is predicted from the others.
    KFold(u32),
    /// Fit on the K sizes that are chosen to be measured, without a look at any time, on the
    /// system that describes the machine; predict all others.
    Plan(u32),
    /// Calibrate on sweeps of the smaller numbers of ranks and predict those of the larger ones.
    Ranks(HeldOutRanks),
}

/// Which numbers of ranks are held out of a family of sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldOutRanks {
    /// The largest.
    Largest,
    /// All above this one.
    Above(u32),
}

/// One fit and what it is asked to predict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Round {
    pub(super) train: Vec<KnownPoint>,
    pub(super) test: Vec<KnownPoint>,
}

impl Holdout {
    /// Returns the fewest sizes of a set that counts in the summary. Where sizes are held out, a
    /// shorter set leaves too few to predict; where whole sweeps are, all of theirs are predicted.
    pub const fn summary_sizes_min(self) -> usize {
        match self {
            Self::Alternate | Self::Large | Self::KFold(_) | Self::Plan(_) => 15,
            Self::Ranks(_) => 4,
        }
    }

    /// Says whether an engine is asked under this scheme when it was not named.
    pub(super) fn has_yardstick(self, engine: Engine) -> bool {
        engine != Engine::LogLogRanks || matches!(self, Self::Ranks(_))
    }

    /// Returns how a calibrated system answers: few sizes describe the model badly, and are held to.
    pub(super) const fn basis(self) -> Basis {
        match self {
            Self::Plan(_) => Basis::Anchored,
            Self::Alternate | Self::Large | Self::KFold(_) | Self::Ranks(_) => Basis::Model,
        }
    }

    /// Returns the rounds over points in ascending order of size.
    ///
    /// # Errors
    ///
    /// Says what is missing: sizes to fit on or to predict, or a machine to choose sizes for.
    pub(super) fn rounds(
        self,
        points: &[KnownPoint],
        machine: Option<&Machine>,
    ) -> Result<Vec<Round>, String> {
        let split = |is_held_out: &dyn Fn(usize, &KnownPoint) -> bool| {
            let side = |held_out: bool| {
                points
                    .iter()
                    .enumerate()
                    .filter(|(index, point)| is_held_out(*index, point) == held_out)
                    .map(|(_, point)| *point)
                    .collect::<Vec<KnownPoint>>()
            };
            Round {
                train: side(false),
                test: side(true),
            }
        };
        let rounds: Vec<Round> = match self {
            Self::Alternate => vec![split(&|index, _| index % 2 == 1)],
            Self::Large => vec![split(&|_, point| point.bytes > LARGE_ABOVE)],
            // A fold without a size could not be tested.
            Self::KFold(folds) if folds as usize > points.len() => Vec::new(),
            Self::KFold(folds) => (0..folds as usize)
                .map(|fold| split(&|index, _| index % folds as usize == fold))
                .collect(),
            Self::Plan(count) => {
                let chosen = planned(points, machine, count)?;
                vec![split(&|_, point| !chosen.contains(&point.bytes))]
            }
            // Whole sweeps are held out, not sizes.
            Self::Ranks(_) => Vec::new(),
        };
        let usable =
            |round: &Round| round.train.len() >= TRAINING_SIZES_MIN && !round.test.is_empty();
        if !rounds.is_empty() && rounds.iter().all(usable) {
            Ok(rounds)
        } else {
            Err(self.what_is_missing(points.len()))
        }
    }

    /// Returns why a set of so many sizes has no rounds.
    fn what_is_missing(self, sizes: usize) -> String {
        let sizes = match sizes {
            1 => "1 size".to_owned(),
            sizes => format!("{sizes} sizes"),
        };
        match self {
            Self::Large => {
                format!(
                    "{sizes}; `large` needs {TRAINING_SIZES_MIN} up to {LARGE_ABOVE} and one above"
                )
            }
            Self::Alternate | Self::KFold(_) | Self::Plan(_) | Self::Ranks(_) => {
                format!("{sizes}: too few for `{self}`")
            }
        }
    }
}

/// Chooses the sizes to measure among those that were.
fn planned(
    points: &[KnownPoint],
    machine: Option<&Machine>,
    count: u32,
) -> Result<Vec<Bytes>, String> {
    let machine = machine.ok_or("no system describes its machine, so no sizes can be chosen")?;
    let sizes: Vec<Bytes> = points.iter().map(|point| point.bytes).collect();
    plan_sizes(&machine.system, &machine.call, &sizes, count as usize)
        .map_err(|error| format!("no sizes can be chosen: {error}"))
}

impl fmt::Display for Holdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alternate => f.pad("alternate"),
            Self::Large => f.pad("large"),
            Self::KFold(folds) => f.pad(&format!("kfold:{folds}")),
            Self::Plan(count) => f.pad(&format!("plan:{count}")),
            Self::Ranks(HeldOutRanks::Largest) => f.pad("ranks"),
            Self::Ranks(HeldOutRanks::Above(ranks)) => f.pad(&format!("ranks:{ranks}")),
        }
    }
}

/// Why a text is not a holdout scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseHoldoutError {
    /// The name is not known.
    #[error("expected {schemes}, found `{found}`", schemes = Holdout::SCHEMES)]
    Unknown {
        /// The text.
        found: String,
    },
    /// The number of a scheme is none, or too small.
    #[error("expected a number of {what} from {least}, found `{found}`")]
    Number {
        /// What is counted.
        what: &'static str,
        /// The least that makes sense.
        least: u32,
        /// The text.
        found: String,
    },
}

impl Holdout {
    /// How schemes are written.
    pub const SCHEMES: &str = "`alternate`, `large`, `kfold:K`, `plan:K`, `ranks` or `ranks:N`";
}

impl FromStr for Holdout {
    type Err = ParseHoldoutError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |found: &str, what: &'static str, least: u32| {
            let number = found.parse().ok().filter(|number| *number >= least);
            number.ok_or_else(|| ParseHoldoutError::Number {
                what,
                least,
                found: found.to_owned(),
            })
        };
        match text.split_once(':') {
            None if text == "alternate" => Ok(Self::Alternate),
            None if text == "large" => Ok(Self::Large),
            None if text == "ranks" => Ok(Self::Ranks(HeldOutRanks::Largest)),
            Some(("kfold", folds)) => Ok(Self::KFold(number(folds, "folds", 2)?)),
            // Fewer sizes describe and never validate.
            Some(("plan", sizes)) => Ok(Self::Plan(number(sizes, "sizes", 3)?)),
            Some(("ranks", ranks)) => {
                let most = number(ranks, "ranks", 2)?;
                Ok(Self::Ranks(HeldOutRanks::Above(most)))
            }
            _ => Err(ParseHoldoutError::Unknown {
                found: text.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::{Bytes, Micros};

    fn points(count: u32) -> Vec<KnownPoint> {
        (0..count)
            .map(|power| KnownPoint::new(Bytes::new(1 << (20 + power)), Micros::new(1.0)))
            .collect()
    }

    /// Megabytes of (train, test) per round.
    fn check(scheme: &str, sizes: u32, expect: &[(&[u64], &[u64])]) {
        let holdout: Holdout = scheme.parse().unwrap();
        assert_eq!(holdout.to_string(), scheme);
        let mib = |points: &[KnownPoint]| -> Vec<u64> {
            points.iter().map(|point| point.bytes.get() >> 20).collect()
        };
        let got: Vec<_> = holdout
            .rounds(&points(sizes), None)
            .unwrap_or_default()
            .iter()
            .map(|round| (mib(&round.train), mib(&round.test)))
            .collect();
        let want: Vec<_> = expect
            .iter()
            .map(|(train, test)| (train.to_vec(), test.to_vec()))
            .collect();
        assert_eq!(got, want, "{scheme} of {sizes}");
    }

    #[test]
    fn schemes_split_as_they_say() {
        check("alternate", 6, &[(&[1, 4, 16], &[2, 8, 32])]);
        check("alternate", 5, &[(&[1, 4, 16], &[2, 8])]);
        check("alternate", 4, &[]);
        check("large", 8, &[(&[1, 2, 4, 8, 16, 32, 64], &[128])]);
        check("large", 7, &[]);
        check(
            "kfold:2",
            6,
            &[(&[2, 8, 32], &[1, 4, 16]), (&[1, 4, 16], &[2, 8, 32])],
        );
        check("kfold:9", 4, &[]);
    }

    #[test]
    fn what_is_not_a_scheme_is_refused() {
        let error = |text: &str| text.parse::<Holdout>().unwrap_err().to_string();
        for unknown in ["odd", "kfold", "alternate:2", ""] {
            assert!(error(unknown).contains("kfold:K"), "{unknown}");
        }
        assert!(error("kfold:1").contains("folds from 2"));
        assert!(error("kfold:x").contains("from 2"));
        assert!(error("plan:2").contains("sizes from 3"));
        assert!(error("ranks:1").contains("ranks from 2"));
    }

    #[test]
    fn schemes_are_written_as_they_are_read() {
        for text in [
            "alternate",
            "large",
            "kfold:5",
            "plan:5",
            "ranks",
            "ranks:32",
        ] {
            assert_eq!(text.parse::<Holdout>().unwrap().to_string(), text);
        }
    }
}
