//! Numbers as C's library reads them: blanks, a sign, digits up to the first other character;
//! no digits are zero.

/// Reads an integer as `strtoll` with base 0: `0x` is hexadecimal, a leading 0 octal. Empty
/// is unset.
pub(crate) fn integer(text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    let (sign, digits) = sign_and_digits(text);
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (radix, digits) = match hex {
        Some(rest) => (16, rest),
        None if digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let magnitude = i64::try_from(magnitude(digits, radix)).unwrap_or(i64::MAX);
    Some(match sign {
        Sign::Plus => magnitude,
        Sign::Minus => -magnitude,
    })
}

/// Reads a number as `strtoull` with base 10: a minus wraps around, too many digits are the
/// largest number.
pub(crate) fn unsigned(text: &str) -> u64 {
    let (sign, digits) = sign_and_digits(text);
    let magnitude = magnitude(digits, 10);
    match sign {
        Sign::Minus if magnitude != u64::MAX => magnitude.wrapping_neg(),
        Sign::Minus | Sign::Plus => magnitude,
    }
}

/// Reads a number as `atoi`: the low 32 bits of a `long`.
pub(crate) fn int(text: &str) -> i32 {
    let (sign, digits) = sign_and_digits(text);
    let magnitude = magnitude(digits, 10);
    let long = match sign {
        Sign::Plus => i64::try_from(magnitude).unwrap_or(i64::MAX),
        Sign::Minus => i64::try_from(magnitude).map_or(i64::MIN, |magnitude| -magnitude),
    };
    #[expect(clippy::cast_possible_truncation, reason = "atoi truncates")]
    let int = long as i32;
    int
}

/// Says whether the whole text is a decimal number, with or without a sign.
pub(crate) fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

enum Sign {
    Plus,
    Minus,
}

fn sign_and_digits(text: &str) -> (Sign, &str) {
    let text = text.trim_start_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']);
    match text.strip_prefix('-') {
        Some(rest) => (Sign::Minus, rest),
        None => (Sign::Plus, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn magnitude(digits: &str, radix: u32) -> u64 {
    digits
        .chars()
        .map_while(|c| c.to_digit(radix))
        .fold(0_u64, |value, digit| {
            value
                .saturating_mul(u64::from(radix))
                .saturating_add(u64::from(digit))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_read_as_strtoll_reads_them() {
        for (text, expect) in [
            ("", None),
            ("64", Some(64)),
            (" -5", Some(-5)),
            ("0x40", Some(64)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("100k", Some(100)),
            ("rubbish", Some(0)),
            ("0x", Some(0)),
        ] {
            assert_eq!(integer(text), expect, "`{text}`");
        }
    }

    #[test]
    fn unsigned_numbers_read_as_strtoull_reads_them() {
        assert_eq!(unsigned(" 1000\r"), 1000);
        assert_eq!(unsigned("-1"), u64::MAX);
        assert_eq!(unsigned("99999999999999999999999"), u64::MAX);
        assert_eq!(unsigned("abc"), 0);
    }

    #[test]
    fn ints_read_as_atoi_reads_them() {
        assert_eq!(int("-1\r"), -1);
        assert_eq!(int("x"), 0);
        assert_eq!(int("4294967297"), 1);
        assert_eq!(int("99999999999999999999"), -1);
    }
}
