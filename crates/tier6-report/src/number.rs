//! Numbers as people read them. A value that is not finite prints as `-`, never as `NaN`.

/// What stands where there is no value.
pub(crate) const ABSENT: &str = "-";

/// Returns `value` with `decimals` digits after the point; no `-0.00`.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// Returns [`fixed`] of a value that may be absent.
pub(crate) fn fixed_or_absent(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| fixed(value, decimals))
}

/// Returns `value` with at least `digits` significant digits; whole digits are never cut.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    fixed(value, decimals_for(value, digits))
}

/// Returns `value [low, high]` with the same decimals throughout.
pub(crate) fn with_interval(value: f64, interval: Option<(f64, f64)>, digits: i32) -> String {
    let decimals = decimals_for(value, digits);
    let text = fixed(value, decimals);
    match interval {
        Some((low, high)) => format!(
            "{text} [{}, {}]",
            fixed(low, decimals),
            fixed(high, decimals)
        ),
        None => text,
    }
}

/// Returns `value` with its sign and one or more decimals: `+1.5`, `-44.7`.
pub(crate) fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if value.is_finite() && !text.starts_with('-') {
        format!("+{text}")
    } else {
        text
    }
}

/// Decimals that show `digits` significant digits of `value`.
fn decimals_for(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 1;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "log10 of a finite f64 lies within -324..=308"
    )]
    let magnitude = value.abs().log10().floor() as i32;
    usize::try_from((digits - 1 - magnitude).clamp(0, 9)).expect("Invariant: clamped to 0..=9")
}

/// Returns a time in the unit that suits it: `18.4 us`, `1.69 ms`, `2 s`.
pub(crate) fn duration(us: f64) -> String {
    let (scale, unit) = duration_unit(us);
    let text = significant(us / scale, 3);
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{short} {unit}")
}

/// Returns the microseconds of the unit that suits a time, and its name.
pub(crate) fn duration_unit(us: f64) -> (f64, &'static str) {
    match us.abs() {
        magnitude if magnitude < 1.0 => (1e-3, "ns"),
        magnitude if magnitude < 1e3 => (1.0, "us"),
        magnitude if magnitude < 1e6 => (1e3, "ms"),
        _ => (1e6, "s"),
    }
}

/// Returns `n` with the word in the right number: `1 size`, `31 sizes`.
pub(crate) fn count(n: usize, word: &str) -> String {
    match n {
        1 => format!("1 {word}"),
        _ => format!("{n} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_meaning_are_a_dash() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(fixed(value, 2), "-");
            assert_eq!(significant(value, 4), "-");
            assert_eq!(signed(value, 1), "-");
        }
        assert_eq!(fixed_or_absent(None, 2), "-");
    }

    #[test]
    fn whole_digits_are_never_cut() {
        assert_eq!(significant(13_246.05, 3), "13246");
        assert_eq!(significant(18.184, 4), "18.18");
        assert_eq!(significant(0.004_563_2, 3), "0.00456");
        assert_eq!(fixed(-0.0001, 2), "0.00");
        assert_eq!(signed(0.31, 2), "+0.31");
        assert_eq!(
            with_interval(50.93, Some((41.2, 60.1)), 3),
            "50.9 [41.2, 60.1]"
        );
    }

    #[test]
    fn durations_take_the_unit_that_suits() {
        assert_eq!(duration(18.435), "18.4 us");
        assert_eq!(duration(1692.91), "1.69 ms");
        assert_eq!(duration(1e6), "1 s");
        assert_eq!(duration(100.0), "100 us");
        assert_eq!(duration(0.25), "250 ns");
    }
}
