//! Algorithms, protocols, and the path that a call took: one of each.

use std::fmt;
use std::str::FromStr;

/// A collective algorithm, NCCL's and the textbooks'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum Algorithm {
    Ring,
    BidirRing,
    Tree,
    HalvingDoubling,
    RecursiveDoubling,
    SendRecvRing,
    Pairwise,
    Bruck,
    Direct,
    OneShot,
    TwoShot,
    Hierarchical,
    Nvls,
    NvlsTree,
    CollNetDirect,
    CollNetChain,
    Pat,
    /// A binomial tree: Broadcast, Reduce, Gather, Scatter.
    Binomial,
    /// Broadcast as a binomial Scatter and an AllGather.
    ScatterAllGather,
    /// Ring phases along the dimensions of a torus.
    TorusBucket,
    Swing,
}

impl Algorithm {
    /// Every algorithm, in the order of the contract.
    pub const ALL: [Self; 21] = [
        Self::Ring,
        Self::BidirRing,
        Self::Tree,
        Self::HalvingDoubling,
        Self::RecursiveDoubling,
        Self::SendRecvRing,
        Self::Pairwise,
        Self::Bruck,
        Self::Direct,
        Self::OneShot,
        Self::TwoShot,
        Self::Hierarchical,
        Self::Nvls,
        Self::NvlsTree,
        Self::CollNetDirect,
        Self::CollNetChain,
        Self::Pat,
        Self::Binomial,
        Self::ScatterAllGather,
        Self::TorusBucket,
        Self::Swing,
    ];

    /// Returns the name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::BidirRing => "bidir_ring",
            Self::Tree => "tree",
            Self::HalvingDoubling => "halving_doubling",
            Self::RecursiveDoubling => "recursive_doubling",
            Self::SendRecvRing => "send_recv_ring",
            Self::Pairwise => "pairwise",
            Self::Bruck => "bruck",
            Self::Direct => "direct",
            Self::OneShot => "one_shot",
            Self::TwoShot => "two_shot",
            Self::Hierarchical => "hierarchical",
            Self::Nvls => "nvls",
            Self::NvlsTree => "nvls_tree",
            Self::CollNetDirect => "collnet_direct",
            Self::CollNetChain => "collnet_chain",
            Self::Pat => "pat",
            Self::Binomial => "binomial",
            Self::ScatterAllGather => "scatter_all_gather",
            Self::TorusBucket => "torus_bucket",
            Self::Swing => "swing",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = ();

    /// Reads a name in any case, with or without separators: `nvls_tree`, `NVLSTree`, `NVLS_TREE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = letters(text);
        Self::ALL
            .into_iter()
            .find(|algorithm| letters(algorithm.name()) == wanted)
            .ok_or(())
    }
}

/// An NCCL protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Low latency: a flag with every four bytes of data.
    Ll,
    /// Low latency in lines of 128 bytes, 120 of them data.
    Ll128,
    /// Plain copies with fences.
    Simple,
}

impl Protocol {
    /// Every protocol, in NCCL's order.
    pub const ALL: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];

    /// Returns the name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ll => "ll",
            Self::Ll128 => "ll128",
            Self::Simple => "simple",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Protocol {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = letters(text);
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == wanted)
            .ok_or(())
    }
}

/// What really ran: an algorithm with a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
}

impl fmt::Display for Path {
    /// Prints `ring+ll128`, the label of a segment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}+{}", self.algorithm, self.protocol))
    }
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_in_any_spelling() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.name().parse(), Ok(algorithm));
            assert_eq!(algorithm.name().to_uppercase().parse(), Ok(algorithm));
        }
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().to_uppercase().parse(), Ok(protocol));
        }
        assert_eq!("NVLSTree".parse(), Ok(Algorithm::NvlsTree));
        assert_eq!("CollNetDirect".parse(), Ok(Algorithm::CollNetDirect));
        assert_eq!("star".parse::<Algorithm>(), Err(()));
    }
}
