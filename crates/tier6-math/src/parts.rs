//! The parts of a predicted time, kept apart because each has another cure.

use tier6_units::Micros;

/// A predicted time by what it is spent on, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// `T_sw`: launch and the rest of the call that no network sees.
    pub software: Micros,
    /// Steps, hops and pipeline fill that transfer does not hide.
    pub latency: Micros,
    /// Bytes through a rank's own port, as if no other rank used its links.
    pub transfer: Micros,
    /// Reduction that transfer does not hide.
    pub reduction: Micros,
    /// Waiting for links that other ranks use: contention.
    pub stall: Micros,
}

impl Parts {
    /// No time.
    pub const ZERO: Self = Self {
        software: Micros::new(0.0),
        latency: Micros::new(0.0),
        transfer: Micros::new(0.0),
        reduction: Micros::new(0.0),
        stall: Micros::new(0.0),
    };

    /// Returns the sum of the parts.
    pub const fn total(&self) -> Micros {
        Micros::new(
            self.software.get()
                + self.latency.get()
                + self.transfer.get()
                + self.reduction.get()
                + self.stall.get(),
        )
    }

    /// Returns the same after a software time.
    pub const fn after(self, software: Micros) -> Self {
        let software = Micros::new(self.software.get() + software.get());
        Self { software, ..self }
    }

    /// Returns the parts of one thing after another.
    pub const fn then(self, next: Self) -> Self {
        const fn sum(a: Micros, b: Micros) -> Micros {
            Micros::new(a.get() + b.get())
        }
        Self {
            software: sum(self.software, next.software),
            latency: sum(self.latency, next.latency),
            transfer: sum(self.transfer, next.transfer),
            reduction: sum(self.reduction, next.reduction),
            stall: sum(self.stall, next.stall),
        }
    }

    /// Returns the parts of doing this `times` times.
    pub const fn repeated(self, times: f64) -> Self {
        const fn product(time: Micros, times: f64) -> Micros {
            Micros::new(time.get() * times)
        }
        Self {
            software: product(self.software, times),
            latency: product(self.latency, times),
            transfer: product(self.transfer, times),
            reduction: product(self.reduction, times),
            stall: product(self.stall, times),
        }
    }
}
