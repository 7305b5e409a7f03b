//! A message in equal shares, as schedules cut it.

use tier6_units::Bytes;

/// M bytes in n shares: share i covers floor(i M / n) to floor((i + 1) M / n).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    /// M = whole · n + rest.
    whole: u64,
    rest: u64,
    count: u64,
}

impl Shares {
    /// Returns M.
    pub(super) const fn all(&self) -> Bytes {
        Bytes::new(self.whole * self.count + self.rest)
    }

    pub(super) const fn of(bytes: Bytes, count: u32) -> Self {
        let count = count as u64;
        Self {
            whole: bytes.get() / count,
            rest: bytes.get() % count,
            count,
        }
    }

    /// Returns the size of share i.
    pub(super) const fn bytes(self, index: u32) -> u64 {
        if self.rest == 0 {
            return self.whole;
        }
        let index = index as u64;
        // Both factors are below 2^32.
        let extra = (index + 1) * self.rest / self.count - index * self.rest / self.count;
        self.whole + extra
    }
}
