//! What goes wrong on purpose.

use tier6_system::LinkId;
use tier6_units::SimTime;

/// An injected fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// A link carries this share of its rate.
    SlowLink {
        /// The link.
        link: LinkId,
        /// Share of its rate, above 0, at most 1.
        share: f64,
    },
    /// A link carries nothing from this instant on. When that is the beginning, messages take
    /// another of the shortest routes where there is one; what fails later is not routed around.
    FailedLink {
        /// The link.
        link: LinkId,
        /// When.
        at: SimTime,
    },
    /// A link loses frames (packet fidelity only).
    Loss {
        /// The link; `None` for every link.
        link: Option<LinkId>,
        /// Probability per frame.
        probability: f64,
    },
    /// A rank enters the call late.
    LateRank {
        /// The rank.
        rank: u32,
        /// By how much.
        by: SimTime,
    },
}
