//! What a cell says: a number in one of the world's notations, a size with its unit.

use super::super::consistency::Printed;

/// Which character stands before the fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

impl Decimal {
    /// Finds the notation of a sheet: the comma is decimal as soon as one cell cannot be read
    /// otherwise, that is `18,35` but not `1,048,576`.
    pub(crate) fn of<'a>(mut cells: impl Iterator<Item = &'a str>) -> Self {
        let comma = cells.any(|cell| {
            let number = cell.trim_end_matches('%').trim();
            number.contains(',')
                && number
                    .chars()
                    .all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-'))
                && plain(number, Self::Point).is_none()
                && plain(number, Self::Comma).is_some()
        });
        if comma { Self::Comma } else { Self::Point }
    }
}

/// A number with what stands after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number<'a> {
    pub printed: Printed,
    pub suffix: &'a str,
}

/// Reads `13,246.05`, `4.71%`, `18.4 us`; `None` for words, `nan` and empty cells.
pub(crate) fn number(cell: &str, decimal: Decimal) -> Option<Number<'_>> {
    let cell = cell.trim();
    let length = number_length(cell);
    let (digits, suffix) = cell.split_at(length);
    let printed = Printed::parse(&plain(digits, decimal)?)?;
    let suffix = suffix.trim();
    let is_unit = suffix
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, '%' | '/'));
    is_unit.then_some(Number { printed, suffix })
}

fn number_length(cell: &str) -> usize {
    let bytes = cell.as_bytes();
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        let signed_exponent = matches!(bytes.get(end + 1), Some(b'+' | b'-')) && digit_at(end + 2);
        match byte {
            b'0'..=b'9' | b'.' | b',' => end += 1,
            b'+' | b'-' if end == 0 => end += 1,
            b'e' | b'E' if end > 0 && signed_exponent => end += 2,
            b'e' | b'E' if end > 0 && digit_at(end + 1) => end += 1,
            _ => break,
        }
    }
    end
}

/// Rewrites a number with a point and without grouping; `None` when the grouping is none.
fn plain(number: &str, decimal: Decimal) -> Option<String> {
    let (group, point) = match decimal {
        Decimal::Point => (',', '.'),
        Decimal::Comma => ('.', ','),
    };
    let (whole, fraction) = match number.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    if fraction.is_some_and(|fraction| fraction.contains(group)) {
        return None;
    }
    let mut groups = whole.split(group);
    let mut plain = groups.next()?.to_owned();
    for digits in groups {
        let is_group = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_group || plain.trim_start_matches(['+', '-']).is_empty() {
            return None;
        }
        plain.push_str(digits);
    }
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    Some(plain)
}

/// How `KB`, `MB`, `GB` are meant in a column of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalUnits {
    /// As they are written: powers of 1000.
    AsWritten,
    /// Powers of 1024, since every number before them is a power of two.
    Binary,
}

impl DecimalUnits {
    /// Decides for a column: a benchmark steps in powers of two, so `64KB, 256KB, 1MB` are KiB.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        let mut seen = false;
        for cell in cells {
            let Some((number, unit)) = split_unit(cell) else {
                continue;
            };
            if matches!(unit.as_str(), "kb" | "mb" | "gb" | "tb") {
                seen = true;
                if !number.parse::<u64>().is_ok_and(u64::is_power_of_two) {
                    return Self::AsWritten;
                }
            }
        }
        if seen { Self::Binary } else { Self::AsWritten }
    }
}

fn split_unit(cell: &str) -> Option<(&str, String)> {
    let cell = cell.trim();
    let at = cell.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = cell.split_at(at);
    Some((number.trim(), unit.to_ascii_lowercase()))
}

/// Reads a size: `1,048,576`, `4 KiB`, `64KB`.
pub(crate) fn size(cell: &str, decimal: Decimal, units: DecimalUnits) -> Option<u64> {
    let cell = cell.trim();
    let at = cell
        .find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'))
        .unwrap_or(cell.len());
    let (number, unit) = cell.split_at(at);
    let unit = match units {
        DecimalUnits::AsWritten => unit.to_owned(),
        DecimalUnits::Binary => unit.to_ascii_lowercase().replace('b', ""),
    };
    let number = plain(number.trim(), decimal)?;
    let bytes: tier6_units::Bytes = format!("{number}{unit}").parse().ok()?;
    Some(bytes.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(cell: &str, decimal: Decimal) -> Option<f64> {
        number(cell, decimal).map(|number| number.printed.value)
    }

    #[test]
    fn numbers_in_both_notations() {
        assert_eq!(value("13,246.050", Decimal::Point), Some(13246.05));
        assert_eq!(value("13.246,05", Decimal::Comma), Some(13246.05));
        assert_eq!(value("18,35", Decimal::Comma), Some(18.35));
        assert_eq!(value("18,35", Decimal::Point), None);
        assert_eq!(value("1.2e+06", Decimal::Point), Some(1.2e6));
        assert_eq!(value("4.71%", Decimal::Point), Some(4.71));
        assert_eq!(number("1.5 ms", Decimal::Point).unwrap().suffix, "ms");
        for none in ["", "nan", "N/A", "-", "1 B–512 KiB", "1.2.3", "0.99x 3"] {
            assert_eq!(value(none, Decimal::Point), None, "{none}");
        }
    }

    #[test]
    fn the_notation_of_a_sheet_is_found() {
        assert_eq!(
            Decimal::of(["1,048,576", "18.35"].into_iter()),
            Decimal::Point
        );
        assert_eq!(Decimal::of(["1024", "18,35"].into_iter()), Decimal::Comma);
        assert_eq!(Decimal::of(["a,b", ""].into_iter()), Decimal::Point);
    }

    #[test]
    fn sizes_with_units() {
        let read = |cell, units| size(cell, Decimal::Point, units);
        assert_eq!(read("1,048,576", DecimalUnits::AsWritten), Some(1 << 20));
        assert_eq!(read("4 KiB", DecimalUnits::AsWritten), Some(4096));
        assert_eq!(read("64KB", DecimalUnits::AsWritten), Some(64_000));
        assert_eq!(read("64KB", DecimalUnits::Binary), Some(65_536));
        assert_eq!(read("8B", DecimalUnits::Binary), Some(8));
        assert_eq!(read("1e6", DecimalUnits::AsWritten), Some(1_000_000));
        assert_eq!(read("1 B–512 KiB", DecimalUnits::AsWritten), None);
        let of = |cells: [&'static str; 2]| DecimalUnits::of(cells.into_iter());
        assert_eq!(of(["64KB", "1MB"]), DecimalUnits::Binary);
        assert_eq!(of(["100KB", "1MB"]), DecimalUnits::AsWritten);
        assert_eq!(of(["64", "1024"]), DecimalUnits::AsWritten);
    }

    proptest::proptest! {
        #[test]
        fn any_cell_is_taken(cell: String) {
            for decimal in [Decimal::Point, Decimal::Comma] {
                let _ = number(&cell, decimal);
                let _ = size(&cell, decimal, DecimalUnits::Binary);
            }
            let _ = Decimal::of([cell.as_str()].into_iter());
        }
    }
}
