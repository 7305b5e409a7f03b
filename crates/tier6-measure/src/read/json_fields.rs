//! Fields of JSON results, which tools write as numbers or as strings.

use super::consistency::Printed;
use super::sheet::wrong;
use crate::Wrong;
use serde_json::Value;

/// Reads a number with the precision that is left of its print: trailing zeros are lost in JSON,
/// so `446.530000` counts as `446.53`.
pub(super) fn printed(value: Option<&Value>) -> Option<Printed> {
    match value? {
        Value::Number(number) => Printed::parse(&number.to_string()),
        Value::String(text) => Printed::parse(text),
        _ => None,
    }
}

/// Reads a time or a rate that was really measured, that is above zero.
pub(super) fn positive(value: Option<&Value>) -> Option<Printed> {
    printed(value).filter(|number| number.value > 0.0)
}

/// Reads a whole number of zero or more; `"    -1"` is none.
pub(super) fn whole<T: TryFrom<u64>>(value: Option<&Value>) -> Option<T> {
    let whole = match value? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }?;
    T::try_from(whole).ok()
}

/// Reads a text in lower case and without padding.
pub(super) fn lower(value: Option<&Value>) -> Option<String> {
    Some(value?.as_str()?.trim().to_ascii_lowercase())
}

/// Reads a correctness field: a number, a number as text, null or `N/A`.
pub(super) fn correctness(value: Option<&Value>) -> Wrong {
    match value {
        Some(Value::Number(number)) => match number.as_f64() {
            Some(elements) if elements >= 0.0 && elements.fract() == 0.0 => {
                wrong(&format!("{elements:.0}"))
            }
            // A negative count stands for "not checked".
            Some(error) if error >= 0.0 => Wrong::LargestError(error),
            _ => Wrong::NotChecked,
        },
        Some(Value::String(text)) => wrong(text.trim()),
        _ => Wrong::NotChecked,
    }
}
