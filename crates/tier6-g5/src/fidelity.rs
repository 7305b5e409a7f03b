//! How closely the network is looked at.

use std::fmt;

/// The fidelity of a run's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fidelity {
    /// Messages as fluids that share links max-min fairly: no queues, loss or congestion control.
    Flow,
    /// Every segment through queues, credits, loss and congestion control.
    Packet,
}

impl Fidelity {
    /// Every fidelity.
    pub const ALL: [Self; 2] = [Self::Packet, Self::Flow];

    /// Returns the word of the command line and of JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Packet => "packet",
        }
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
