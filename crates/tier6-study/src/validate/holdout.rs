//! Which sizes are held out.

use super::LARGE_ABOVE;
use std::fmt;
use std::str::FromStr;
use tier6_fit::KnownPoint;

/// Fewest sizes to fit on; fewer describe and never validate.
const TRAINING_SIZES_MIN: usize = 3;

/// A scheme of holding out. Written `alternate`, `large`, `kfold:5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holdout {
    /// Fit on the first, third, fifth.. size and predict those between: interpolation. With an
    /// even number of sizes the last one lies outside.
    Alternate,
    /// Fit on sizes up to 64 MiB and predict the larger ones: extrapolation.
    Large,
    /// Size i belongs to fold i mod K; each fold is predicted from the others.
    KFold(u32),
}

/// One fit and what it is asked to predict.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    pub(crate) train: Vec<KnownPoint>,
    pub(crate) test: Vec<KnownPoint>,
}

impl Holdout {
    /// Returns the rounds over points in ascending order of size; none when too few can be
    /// fitted or none is held out.
    pub(crate) fn rounds(self, points: &[KnownPoint]) -> Vec<Round> {
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
        };
        let usable =
            |round: &Round| round.train.len() >= TRAINING_SIZES_MIN && !round.test.is_empty();
        if rounds.iter().all(usable) {
            rounds
        } else {
            Vec::new()
        }
    }

    /// Returns why a set of so many sizes has no rounds.
    pub(crate) fn what_is_missing(self, sizes: usize) -> String {
        match self {
            Self::Large => {
                format!(
                    "{sizes} sizes; `large` needs {TRAINING_SIZES_MIN} up to {LARGE_ABOVE} and one above"
                )
            }
            Self::Alternate | Self::KFold(_) => {
                format!("{sizes} sizes are too few for `{self}`")
            }
        }
    }
}

impl fmt::Display for Holdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alternate => f.pad("alternate"),
            Self::Large => f.pad("large"),
            Self::KFold(folds) => f.pad(&format!("kfold:{folds}")),
        }
    }
}

/// Why a text is not a holdout scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseHoldoutError {
    /// The name is not known.
    #[error("expected `alternate`, `large` or `kfold:K`, found `{0}`")]
    Unknown(String),
    /// The number of folds is not a number from 2.
    #[error("expected a number of folds from 2, found `{0}`")]
    Folds(String),
}

impl FromStr for Holdout {
    type Err = ParseHoldoutError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "alternate" => Ok(Self::Alternate),
            "large" => Ok(Self::Large),
            other => {
                let folds = other
                    .strip_prefix("kfold:")
                    .ok_or_else(|| ParseHoldoutError::Unknown(other.to_owned()))?;
                match folds.parse() {
                    Ok(number @ 2..) => Ok(Self::KFold(number)),
                    Ok(0 | 1) | Err(_) => Err(ParseHoldoutError::Folds(folds.to_owned())),
                }
            }
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
            .rounds(&points(sizes))
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
        assert!(error("odd").contains("kfold:K"));
        assert!(error("kfold:1").contains("from 2"));
        assert!(error("kfold:x").contains("from 2"));
    }
}
