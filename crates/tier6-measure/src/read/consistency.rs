//! Do the printed numbers of a row follow from each other?
//!
//! A benchmark prints time, algbw = bytes / time and busbw = algbw x factor, each rounded on its
//! own. The checks work on the printed text, since only it tells how far a number was rounded:
//! `20.50` stands for 20.495 to 20.505. Nothing is corrected here.

use tier6_collective::DataType;

/// Room beyond half of the last printed digit, for programs that round a rounded number.
const ROUNDING_SLACK: f64 = 1.02;

/// Room for the float arithmetic of the check itself, relative.
const FLOAT_SLACK: f64 = 1e-9;

/// A number as it was printed: its value and how far the true value may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    /// The number as read.
    pub value: f64,
    half_step: f64,
}

impl Printed {
    /// Reads a finite number; `None` for anything else, `nan` and `inf` included.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(plain) = Self::parse_plain(text) {
            return Some(plain);
        }
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let decimals = mantissa.split_once('.').map_or(0, |(_, tail)| tail.len());
        let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
        let step = 10_f64.powi(exponent.saturating_sub(decimals));
        Some(Self {
            value,
            half_step: 0.5 * step * ROUNDING_SLACK,
        })
    }

    /// Reads digits with at most one point, the form of nearly every number of a table.
    ///
    /// The result is exact, as that of the general reader: a whole number below 2^53 is divided by
    /// a power of ten that a float holds exactly, and a division rounds once.
    fn parse_plain(text: &str) -> Option<Self> {
        const DIGITS_MAX: usize = 15;
        const POWERS: [f64; DIGITS_MAX + 1] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        ];
        let bytes = text.as_bytes();
        if bytes.len() > DIGITS_MAX || !bytes.first()?.is_ascii_digit() {
            return None;
        }
        let (mut whole, mut decimals) = (0_u64, None);
        for byte in bytes {
            match (byte, &mut decimals) {
                (b'0'..=b'9', None) => {}
                (b'0'..=b'9', Some(count)) => *count += 1,
                (b'.', None) => {
                    decimals = Some(0_usize);
                    continue;
                }
                _ => return None,
            }
            whole = whole * 10 + u64::from(byte - b'0');
        }
        let power = POWERS[decimals.unwrap_or(0)];
        Some(Self {
            value: whole as f64 / power,
            half_step: 0.5 / power * ROUNDING_SLACK,
        })
    }

    /// Returns the number in another unit.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            half_step: self.half_step * factor,
        }
    }

    /// Returns the number as a median of printed numbers, which is off by up to a whole unit of
    /// the last digit.
    pub(crate) fn as_median(self) -> Self {
        Self {
            value: self.value,
            half_step: 2.0 * self.half_step,
        }
    }

    /// Returns the lowest and the highest value that print as this text.
    pub(crate) fn interval(self) -> Interval {
        Interval {
            low: self.value - self.half_step,
            high: self.value + self.half_step,
        }
    }
}

/// The values from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    fn scaled(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        let slack = FLOAT_SLACK * (1.0 + self.high.abs().min(other.high.abs()));
        self.low <= other.high + slack && other.low <= self.high + slack
    }
}

/// Says what of a row does not follow from the rest of it; empty when all of it does.
///
/// The numbers are in us and GB/s; an absent one is not checked. `factor` is busbw / algbw of the
/// collective for its ranks; without it busbw is not checked.
///
/// busbw may follow from the printed algbw or from bytes / time: programs do either.
pub(crate) fn check_row(
    bytes: u64,
    time: Option<Printed>,
    algbw: Option<Printed>,
    busbw: Option<Printed>,
    factor: Option<f64>,
) -> Vec<String> {
    let mut findings = Vec::new();
    let time = time.filter(|time| time.value > 0.0);
    let speed = time.map(|time| speed(bytes, time));
    if let (Some(time), Some(algbw)) = (time, algbw)
        && !is_speed(algbw, bytes, time)
    {
        findings.push(not_the_speed(algbw, bytes, time));
    }
    if let (Some(busbw), Some(factor)) = (busbw, factor) {
        let from_algbw = algbw.map(|algbw| algbw.interval().scaled(factor));
        let from_time = speed.map(|speed| speed.scaled(factor));
        let mut wanted = [from_algbw, from_time].into_iter().flatten().peekable();
        if let Some(first) = wanted.peek().copied()
            && !wanted.any(|wanted| busbw.interval().overlaps(wanted))
        {
            findings.push(format!(
                "busbw says {}, but algbw x {factor:.4} is {:.4} GB/s",
                busbw.value,
                f64::midpoint(first.low, first.high)
            ));
        }
    }
    findings
}

/// The bandwidth in GB/s of `bytes` in a printed time of us.
pub(crate) fn speed(bytes: u64, time: Printed) -> Interval {
    let Interval { low, high } = time.interval();
    Interval {
        low: bytes as f64 / high / 1e3,
        high: bytes as f64 / low.max(FLOAT_SLACK) / 1e3,
    }
}

/// Says whether a printed algbw, in GB/s, is bytes / time within the printed digits.
pub(crate) fn is_speed(algbw: Printed, bytes: u64, time: Printed) -> bool {
    algbw.interval().overlaps(speed(bytes, time))
}

/// Tells of an algbw that is not bytes / time.
pub(crate) fn not_the_speed(algbw: Printed, bytes: u64, time: Printed) -> String {
    let (time, algbw) = (time.value, algbw.value);
    let rate = bytes as f64 / time / 1e3;
    format!("{bytes} B in {time} us are {rate:.4} GB/s, but algbw says {algbw}")
}

/// Says when an element count does not make up the size: `count` x element size must be the size,
/// or the size of one peer's part. Without `ranks` any whole number of parts will do.
pub(crate) fn check_count(
    bytes: u64,
    count: u64,
    datatype: DataType,
    ranks: Option<u32>,
) -> Option<String> {
    let part = count.checked_mul(datatype.bytes())?;
    let fits = match ranks {
        _ if part == bytes => true,
        Some(ranks) => part.checked_mul(u64::from(ranks)) == Some(bytes),
        None => part > 0 && bytes.is_multiple_of(part),
    };
    (!fits).then(|| {
        let of_ranks = ranks.map_or(String::new(), |n| format!(", nor {n} times that"));
        format!("{count} x {datatype} are {part} B, not {bytes} B{of_ranks}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(bytes: u64, texts: [&str; 3], factor: Option<f64>) -> Vec<String> {
        let [time, algbw, busbw] = texts.map(Printed::parse);
        check_row(bytes, time, algbw, busbw, factor)
    }

    fn check(bytes: u64, time: &str, algbw: &str, busbw: &str, factor: Option<f64>, expect: &str) {
        let found = check_text(bytes, [time, algbw, busbw], factor).join("; ");
        if expect.is_empty() {
            assert_eq!(found, "", "{bytes} {time} {algbw} {busbw}");
        } else {
            assert!(found.contains(expect), "{found}");
        }
    }

    #[test]
    fn rounding_of_the_print_is_allowed_for() {
        check(1024, "18.35", "0.06", "0.08", Some(1.5), "");
        check(1024, "18.35", "0.07", "", Some(1.5), "algbw says 0.07");
        check(1 << 30, "13246.1", "81.06", "121.59", Some(1.5), "");
        check(1 << 30, "1.3e+04", "81.06", "121.59", Some(1.5), "");
        check(1 << 30, "13246.1", "81.06", "141.9", Some(1.5), "busbw");
        check(1 << 30, "13246.1", "81.06", "141.9", None, "");
    }

    #[test]
    fn busbw_may_follow_from_time_alone() {
        // algbw rounds to 0.01; busbw was made from the unrounded value.
        check(128, "18.11", "0.01", "0.01", Some(1.75), "");
        check(256, "18.215", "", "0.02", Some(1.75), "");
        check(256, "", "0.01", "0.5", Some(1.75), "busbw");
    }

    #[test]
    fn absent_numbers_are_not_checked() {
        check(1024, "", "nan", "N/A", Some(1.5), "");
        check(1024, "0.00", "inf", "0.00", Some(1.5), "");
        check(1024, "18.35", "", "", Some(1.5), "");
    }

    #[test]
    fn counts_are_of_the_message_or_of_a_peer() {
        let float = DataType::Float;
        assert_eq!(check_count(4096, 1024, float, None), None);
        assert_eq!(check_count(4096, 256, float, Some(4)), None);
        assert_eq!(check_count(4096, 256, float, None), None);
        let found = check_count(4096, 256, float, Some(8)).unwrap();
        assert_eq!(
            found,
            "256 x float are 1024 B, not 4096 B, nor 8 times that"
        );
        assert!(check_count(4096, 0, float, None).is_some());
    }

    proptest::proptest! {
        #[test]
        fn plain_numbers_are_read_to_the_last_bit(text in "[0-9]{1,8}(\\.[0-9]{0,7})?") {
            let value = Printed::parse_plain(&text).map(|number| number.value);
            if let Some(value) = value {
                proptest::prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
            proptest::prop_assert_eq!(value.is_some(), text.len() <= 15);
        }

        #[test]
        fn any_text_is_taken(bytes: u64, time: String, algbw in "[0-9.e+-]{0,12}", busbw: String) {
            let _ = check_text(bytes, [&time, &algbw, &busbw], Some(1.75));
        }

        #[test]
        fn what_a_benchmark_prints_is_consistent(bytes in 1_u64..1 << 34, us in 1.0_f64..1e6) {
            let algbw = bytes as f64 / us / 1e3;
            let busbw = algbw * 1.75;
            let texts = [us, algbw, busbw].map(|number| format!("{number:.2}"));
            let texts = [&*texts[0], &*texts[1], &*texts[2]];
            let found = check_text(bytes, texts, Some(1.75));
            proptest::prop_assert_eq!(found, Vec::<String>::new());
        }
    }
}
