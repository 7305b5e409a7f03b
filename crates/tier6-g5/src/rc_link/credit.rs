//! Credits of a receive buffer (FACTS D.5).
//!
//! A packet of L bytes takes ⌈L/c⌉ credits of c bytes, so a buffer of many credits holds
//! L/(c·⌈L/c⌉) of its bytes. A pool of C bytes carries min(B, C/T), T from taking a credit to
//! having it again: flight, dwell in the buffer, return.
//!
//! Credits are counted, not sent: a lost packet's credits are returned with those of the next one
//! that comes, as with the absolute counters that links exchange, so nothing leaks.

use crate::Credits;

/// The credits that a sender holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditPool {
    unit: u32,
    total: u32,
    left: u32,
}

impl CreditPool {
    /// Returns a pool that holds all credits.
    pub const fn new(credits: &Credits) -> Self {
        Self {
            unit: credits.unit,
            total: credits.count,
            left: credits.count,
        }
    }

    /// Returns how many credits a packet takes, rounded up.
    pub const fn of(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.unit)
    }

    /// Returns how many packets of this size could be sent at once.
    pub fn room_for(&self, bytes: u32) -> u32 {
        self.left.checked_div(self.of(bytes)).unwrap_or(u32::MAX)
    }

    /// Takes the credits of a packet, all or none; returns them if there were enough.
    pub fn take(&mut self, bytes: u32) -> Option<u32> {
        let credits = self.of(bytes);
        self.left = self.left.checked_sub(credits)?;
        Some(credits)
    }

    /// Takes credits back.
    ///
    /// # Panics
    ///
    /// When more come back than were taken.
    pub fn restore(&mut self, credits: u32) {
        self.left += credits;
        assert!(
            self.left <= self.total,
            "Invariant: credits returned = credits taken"
        );
    }

    /// Returns the bytes of a credit.
    pub const fn unit(&self) -> u32 {
        self.unit
    }

    /// Returns the credits in hand.
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// Returns the credits under way or in the receiver's buffer.
    pub const fn taken(&self) -> u32 {
        self.total - self.left
    }
}
