//! A message as segments.

/// The segments of a message: all full but the last. A message of no bytes is one empty segment,
/// which still crosses its path.
///
/// ```
/// use tier6_g5::paxi::Segments;
/// let segments = Segments::of(3_000, 1_344);
/// assert_eq!((segments.count(), segments.bytes(0), segments.bytes(2)), (3, 1_344, 312));
/// assert_eq!(segments.wire_bytes(58), 3_174);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segments {
    full: u32,
    count: u64,
    last: u32,
    bytes: u64,
}

impl Segments {
    /// Cuts a message into segments of at most `segment` bytes.
    ///
    /// # Panics
    ///
    /// When `segment` is zero, which [`crate::G5Parameters::check`] refuses.
    pub const fn of(bytes: u64, segment: u32) -> Self {
        assert!(segment > 0, "Invariant: parameters are checked");
        let count = match bytes.div_ceil(segment as u64) {
            0 => 1,
            count => count,
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most `segment`")]
        let last = (bytes - (count - 1) * segment as u64) as u32;
        Self {
            full: segment,
            count,
            last,
            bytes,
        }
    }

    /// Returns how many there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the payload of one of them.
    pub const fn bytes(&self, index: u64) -> u32 {
        if index + 1 < self.count {
            self.full
        } else {
            self.last
        }
    }

    /// Returns the payload before one of them.
    pub const fn before(&self, index: u64) -> u64 {
        index * self.full as u64
    }

    /// Returns the bytes of all frames, with `overhead` around each segment.
    pub const fn wire_bytes(&self, overhead: u32) -> u64 {
        self.bytes + self.count * overhead as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up() {
        for (bytes, count, last) in [
            (0, 1, 0),
            (1, 1, 1),
            (1_344, 1, 1_344),
            (1_345, 2, 1),
            (1 << 40, 818_089_009, 1_024),
        ] {
            let segments = Segments::of(bytes, 1_344);
            assert_eq!(segments.count(), count, "{bytes}");
            assert_eq!(segments.bytes(count - 1), last, "{bytes}");
            assert_eq!(
                (count - 1) * 1_344 + u64::from(last),
                bytes,
                "bytes in = bytes out"
            );
        }
    }

    /// 1402/1344: the overhead factor that source document 004 shows (FACTS A.3).
    #[test]
    fn large_messages_cost_the_framing() {
        let segments = Segments::of(1 << 30, 1_344);
        let factor = segments.wire_bytes(58) as f64 / f64::from(1 << 30);
        assert!((factor - 1.0432).abs() < 1e-4, "{factor}");
    }
}
