//! How many channels a message takes: small ones take fewer than all.

use crate::constant::Quantity;
use std::fmt;
use std::num::NonZeroU32;
use tier6_units::Bytes;

/// The channels of large messages, and how many bytes bring in one more.
///
/// NCCL takes channels away while a message has fewer bytes than channels times `bytes`
/// (FACTS B.2), so a message of up to `bytes` has one channel, one of `channels` times `bytes`
/// all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ramp {
    /// Channels that together reach the payload rate.
    pub channels: NonZeroU32,
    /// Bytes of a message per channel; at least one.
    pub bytes: Bytes,
}

impl fmt::Display for Ramp {
    /// Prints as `4 x 32 KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} x {}", self.channels, self.bytes))
    }
}

impl Quantity for Ramp {
    const EXPECTED: &'static str = "channels and bytes of each, such as \"4 x 32 KiB\"";

    fn from_text(text: &str) -> Result<Self, String> {
        let expected = || format!("expected `4 x 32 KiB`, found `{}`", text.trim());
        let (channels, bytes) = text.split_once('x').ok_or_else(expected)?;
        let channels = channels.trim().parse().map_err(|_| expected())?;
        let bytes: Bytes = bytes.parse().map_err(|error| format!("{error}"))?;
        if bytes.get() == 0 {
            return Err("channels of no bytes each ramp nothing".to_owned());
        }
        Ok(Self { channels, bytes })
    }

    fn from_number(_: f64) -> Option<Result<Self, String>> {
        None
    }

    fn to_toml(self) -> String {
        format!("\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_reads_what_it_writes() {
        for text in ["1 x 1 B", "4 x 32 KiB", "24 x 5 KiB", "2 x 1000 B"] {
            assert_eq!(Ramp::from_text(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "4",
            "0 x 1 KiB",
            "x 1 KiB",
            "-1 x 1 KiB",
            "4 x 0",
            "4 x",
        ] {
            assert!(Ramp::from_text(text).is_err(), "{text}");
        }
    }
}
