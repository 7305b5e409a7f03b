//! Constants that differ by NCCL's protocol: how long a step takes, and which share of a link's
//! payload rate is left for data.

use crate::constant::{Constant, Efficiency, Evidence, Provenance};
use tier6_units::Micros;

/// One value per protocol.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByProtocol<T> {
    /// A flag with every four bytes of data.
    pub ll: T,
    /// A flag with every 120 bytes of data.
    pub ll128: T,
    /// Copies with fences.
    pub simple: T,
}

/// Time of a step between neighbours, by protocol: flight, synchronisation and all.
pub type ProtocolSteps = ByProtocol<Option<Constant<Micros>>>;

/// Share of the rate times the efficiency that is left for data, by protocol.
pub type ProtocolShares = ByProtocol<Option<Constant<Efficiency>>>;

impl<T> ByProtocol<Option<T>> {
    /// Returns the same, gaps filled from another.
    pub fn or(self, other: Self) -> Self {
        Self {
            ll: self.ll.or(other.ll),
            ll128: self.ll128.or(other.ll128),
            simple: self.simple.or(other.simple),
        }
    }
}

/// Fills what a class does not say: Simple is what the efficiency was measured with, LL sends
/// half flags, LL128 one flag per 15 words and 2 % of other costs (FACTS C.7).
pub(crate) fn shares_or_priors(shares: ProtocolShares) -> ByProtocol<Constant<Efficiency>> {
    let prior = |share, source| {
        let share = Efficiency::new(share).expect("Invariant: a prior is a share");
        Constant::assumed(share, source)
    };
    let simple = || Constant {
        value: Efficiency::FULL,
        interval: None,
        provenance: Some(Provenance {
            source: Some("the efficiency is what Simple reaches".to_owned()),
            ..Provenance::new(Evidence::Derived)
        }),
    };
    ByProtocol {
        ll: shares
            .ll
            .unwrap_or_else(|| prior(0.5, "prior: 4 B of flag per 4 B [R:nccl tuning.cc], ring")),
        ll128: shares.ll128.unwrap_or_else(|| {
            prior(
                0.92,
                "prior: 120 of 128 B and more [R:nccl tuning.cc], ring",
            )
        }),
        simple: shares.simple.unwrap_or_else(simple),
    }
}
