//! Numbers in variables that mean something else to NCCL than to their author.

use crate::c_number::integer;

/// Variables that hold words or lists.
const LISTS: [&str; 3] = ["NCCL_ALGO", "NCCL_PROTO", "NCCL_THREAD_THRESHOLDS"];
/// Threads of a warp.
const WARP: i64 = 32;

/// Says what NCCL makes of a number that it reads otherwise or does not take; `None` where it takes
/// it as it is written.
pub(super) fn misread(name: &str, value: &str) -> Option<String> {
    let number = integer(value).filter(|_| !LISTS.contains(&name))?;
    if !is_number(value) {
        return Some(format!("{name}: NCCL reads `{value}` as {number}"));
    }
    let counts_threads = matches!(name, "NCCL_NTHREADS" | "NCCL_LL128_NTHREADS");
    (counts_threads && number > 0 && number % WARP != 0).then(|| {
        format!("{name}: {number} is no multiple of {WARP}; NCCL takes the most threads instead")
    })
}

fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['+', '-']);
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let all =
        |digits: &str, is: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|b| is(&b));
    hex.map_or_else(
        || all(digits, u8::is_ascii_digit),
        |hex| all(hex, u8::is_ascii_hexdigit),
    )
}
