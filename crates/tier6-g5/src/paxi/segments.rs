//! A message as segments.

/// The segments of a message: all full but the last. A message of no bytes is one empty segment,
/// which still crosses its path.
///
/// ```
/// use tier6_g5::paxi::Segments;
/// let segments = Segments::of(3_000, 1_344);
/// assert_eq!((segments.count(), segments.bytes(0), segments.bytes(2)), (3, 1_344, 312));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segments {
    full: u64,
    count: u64,
    last: u64,
}

impl Segments {
    /// Cuts a message into segments of at most `segment` bytes.
    ///
    /// # Panics
    ///
    /// When `segment` is zero, which [`crate::G5Parameters::check`] refuses.
    pub const fn of(bytes: u64, segment: u64) -> Self {
        assert!(segment > 0, "Invariant: parameters are checked");
        let count = match bytes.div_ceil(segment) {
            0 => 1,
            count => count,
        };
        Self {
            full: segment,
            count,
            last: bytes - (count - 1) * segment,
        }
    }

    /// Returns how many there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the payload of one of them.
    pub const fn bytes(&self, index: u64) -> u64 {
        if index + 1 < self.count {
            self.full
        } else {
            self.last
        }
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
            assert_eq!((count - 1) * 1_344 + last, bytes, "bytes in = bytes out");
        }
    }

    /// 1402/1344: the overhead factor that source document 004 shows (FACTS A.3).
    #[test]
    fn large_messages_cost_the_framing() {
        let bytes = 1_u64 << 30;
        let wire = bytes + 58 * Segments::of(bytes, 1_344).count();
        let factor = wire as f64 / bytes as f64;
        assert!((factor - 1.0432).abs() < 1e-4, "{factor}");
    }
}
