//! A sweep of message sizes: `1K..1G:x2`.

use crate::{Bytes, ParseBytesError};
use std::str::FromStr;

/// The longest sweep that a range may name; more is a typing error, not a plan.
const SIZES_MAX: usize = 100_000;

/// An ascending list of message sizes.
///
/// Written as single sizes and ranges, joined by commas: `8`, `1K..1G` (doubling),
/// `1K..1G:x4` (factor), `1M..16M:+1M` (step). Both ends are part of the range where a step
/// lands on them.
///
/// ```
/// use tier6_units::SizeRange;
/// let sizes: SizeRange = "1K..8K:x2".parse().unwrap();
/// assert_eq!(sizes.sizes().iter().map(|b| b.get()).collect::<Vec<_>>(), [1024, 2048, 4096, 8192]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeRange(Vec<Bytes>);

impl SizeRange {
    /// Returns the sizes, ascending, without repeats.
    pub fn sizes(&self) -> &[Bytes] {
        &self.0
    }
}

/// Why a text is not a range of sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseSizeRangeError {
    /// One of the sizes cannot be read.
    #[error(transparent)]
    Size(#[from] ParseBytesError),
    /// The part after the colon is neither `xFACTOR` nor `+STEP`.
    #[error("expected a step such as `x2` or `+1M`, found `{0}`")]
    Step(String),
    /// The range ends below its start.
    #[error("range `{0}` ends below its start")]
    Descending(String),
    /// The step does not move forward.
    #[error("step of range `{0}` does not move forward")]
    Stuck(String),
    /// The range names too many sizes.
    #[error("range `{0}` names more than {SIZES_MAX} sizes")]
    TooLong(String),
}

enum Step {
    Factor(f64),
    Add(u64),
}

impl FromStr for SizeRange {
    type Err = ParseSizeRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            push_part(part, &mut sizes)?;
        }
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

fn push_part(part: &str, sizes: &mut Vec<Bytes>) -> Result<(), ParseSizeRangeError> {
    let Some((first, rest)) = part.split_once("..") else {
        sizes.push(part.parse()?);
        return Ok(());
    };
    let (last, step) = match rest.split_once(':') {
        Some((last, step)) => (last, parse_step(step)?),
        None => (rest, Step::Factor(2.0)),
    };
    let (first, last) = (first.parse::<Bytes>()?, last.parse::<Bytes>()?);
    if last < first {
        return Err(ParseSizeRangeError::Descending(part.to_owned()));
    }
    let mut size = first.get();
    loop {
        sizes.push(Bytes::new(size));
        if sizes.len() > SIZES_MAX {
            return Err(ParseSizeRangeError::TooLong(part.to_owned()));
        }
        let Some(next) = next_size(size, &step) else {
            return Ok(());
        };
        if next <= size {
            return Err(ParseSizeRangeError::Stuck(part.to_owned()));
        }
        if next > last.get() {
            return Ok(());
        }
        size = next;
    }
}

fn parse_step(text: &str) -> Result<Step, ParseSizeRangeError> {
    let error = || ParseSizeRangeError::Step(text.to_owned());
    if let Some(factor) = text.strip_prefix('x') {
        let factor: f64 = factor.parse().map_err(|_| error())?;
        return if factor.is_finite() {
            Ok(Step::Factor(factor))
        } else {
            Err(error())
        };
    }
    let step = text.strip_prefix('+').ok_or_else(error)?;
    Ok(Step::Add(step.parse::<Bytes>()?.get()))
}

/// The next size of a sweep, rounded to the nearest byte; `None` past 2^64.
fn next_size(size: u64, step: &Step) -> Option<u64> {
    match step {
        Step::Add(bytes) => size.checked_add(*bytes),
        Step::Factor(factor) => {
            let next = (size as f64 * factor).round();
            if next >= 18_446_744_073_709_551_616.0 {
                return None;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rounded and below 2^64; a negative factor saturates to 0, which is refused as stuck"
            )]
            Some(next as u64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<u64> {
        let range: SizeRange = text.parse().unwrap();
        range.sizes().iter().map(|bytes| bytes.get()).collect()
    }

    #[test]
    fn ranges_double_multiply_or_step() {
        assert_eq!(sizes("8"), [8]);
        assert_eq!(sizes("1..8"), [1, 2, 4, 8]);
        assert_eq!(sizes("1K..16K:x4"), [1024, 4096, 16384]);
        assert_eq!(sizes("1M..3M:+1M"), [1 << 20, 2 << 20, 3 << 20]);
        assert_eq!(sizes("1..9,4"), [1, 2, 4, 8]);
        assert_eq!(sizes("1..1G:x2").len(), 31);
    }

    #[test]
    fn bad_ranges_say_why() {
        let error = |text: &str| text.parse::<SizeRange>().unwrap_err().to_string();
        assert!(error("8..4").contains("below its start"));
        assert!(error("1..4:x1").contains("forward"));
        assert!(error("0..4").contains("forward"));
        assert!(error("1..4:2").contains("x2"));
        assert!(error("1..1G:+1").contains("more than"));
        assert!(error("a..b").contains("expected a size"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[0-9KMGx+.:,eB-]{0,24}") {
            let _ = text.parse::<SizeRange>();
        }
    }
}
