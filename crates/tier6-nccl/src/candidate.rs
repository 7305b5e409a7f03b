//! The algorithms and collectives that NCCL's tuner weighs, in NCCL's order.
//!
//! The order matters: tables are indexed by it, and a tie goes to the lower index. The wider
//! sets of names, which also know textbook algorithms, are those of `tier6-collective`.

use std::fmt;
use tier6_collective::{Algorithm, Collective, Path, Protocol};

/// An algorithm of NCCL's cost table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are NCCL's own terms")]
pub enum NcclAlgorithm {
    Tree,
    Ring,
    CollNetDirect,
    CollNetChain,
    Nvls,
    NvlsTree,
    Pat,
}

impl NcclAlgorithm {
    /// Every algorithm, in NCCL's order. PAT exists from 2.23 on.
    pub const ALL: [Self; 7] = [
        Self::Tree,
        Self::Ring,
        Self::CollNetDirect,
        Self::CollNetChain,
        Self::Nvls,
        Self::NvlsTree,
        Self::Pat,
    ];

    /// Returns the name without separators, as `NCCL_ALGO` and the oracle tables write it.
    pub const fn plain_name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Ring => "ring",
            Self::CollNetDirect => "collnetdirect",
            Self::CollNetChain => "collnetchain",
            Self::Nvls => "nvls",
            Self::NvlsTree => "nvlstree",
            Self::Pat => "pat",
        }
    }

    /// Returns the algorithm with this plain name, in any case.
    pub fn from_plain_name(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.plain_name().eq_ignore_ascii_case(text))
    }
}

impl From<NcclAlgorithm> for Algorithm {
    fn from(algorithm: NcclAlgorithm) -> Self {
        match algorithm {
            NcclAlgorithm::Tree => Self::Tree,
            NcclAlgorithm::Ring => Self::Ring,
            NcclAlgorithm::CollNetDirect => Self::CollNetDirect,
            NcclAlgorithm::CollNetChain => Self::CollNetChain,
            NcclAlgorithm::Nvls => Self::Nvls,
            NcclAlgorithm::NvlsTree => Self::NvlsTree,
            NcclAlgorithm::Pat => Self::Pat,
        }
    }
}

impl fmt::Display for NcclAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Algorithm::from(*self).name())
    }
}

/// A collective that NCCL's tuner decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are NCCL's own terms")]
pub enum NcclCollective {
    Broadcast,
    Reduce,
    AllGather,
    ReduceScatter,
    AllReduce,
}

impl NcclCollective {
    /// Every collective, in NCCL's order.
    pub const ALL: [Self; 5] = [
        Self::Broadcast,
        Self::Reduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllReduce,
    ];

    /// Returns the name without separators, as `NCCL_ALGO` and the oracle tables write it.
    pub const fn plain_name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllGather => "allgather",
            Self::ReduceScatter => "reducescatter",
            Self::AllReduce => "allreduce",
        }
    }

    /// Returns the collective with this plain name, in any case.
    pub fn from_plain_name(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|collective| collective.plain_name().eq_ignore_ascii_case(text))
    }

    /// Says whether every rank holds a share of the message: AllGather, ReduceScatter.
    pub(crate) const fn is_gather(self) -> bool {
        matches!(self, Self::AllGather | Self::ReduceScatter)
    }

    /// Says whether one rank is the source or the target: Broadcast, Reduce.
    pub(crate) const fn is_rooted(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce)
    }
}

impl From<NcclCollective> for Collective {
    fn from(collective: NcclCollective) -> Self {
        match collective {
            NcclCollective::Broadcast => Self::Broadcast,
            NcclCollective::Reduce => Self::Reduce,
            NcclCollective::AllGather => Self::AllGather,
            NcclCollective::ReduceScatter => Self::ReduceScatter,
            NcclCollective::AllReduce => Self::AllReduce,
        }
    }
}

/// The collective has no algorithm choice in NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("NCCL's tuner does not decide about `{0}`")]
pub struct NotTunedError(pub Collective);

impl TryFrom<Collective> for NcclCollective {
    type Error = NotTunedError;

    fn try_from(collective: Collective) -> Result<Self, Self::Error> {
        match collective {
            Collective::Broadcast => Ok(Self::Broadcast),
            Collective::Reduce => Ok(Self::Reduce),
            Collective::AllGather => Ok(Self::AllGather),
            Collective::ReduceScatter => Ok(Self::ReduceScatter),
            Collective::AllReduce => Ok(Self::AllReduce),
            Collective::AllToAll
            | Collective::AllToAllV
            | Collective::SendRecv
            | Collective::Gather
            | Collective::Scatter
            | Collective::HyperCube => Err(NotTunedError(collective)),
        }
    }
}

impl fmt::Display for NcclCollective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Collective::from(*self).name())
    }
}

/// One entry of the cost table: an algorithm with a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The algorithm.
    pub algorithm: NcclAlgorithm,
    /// The protocol.
    pub protocol: Protocol,
}

impl Candidate {
    /// Every candidate, in the order in which NCCL walks them.
    pub fn all() -> impl Iterator<Item = Self> {
        NcclAlgorithm::ALL.into_iter().flat_map(|algorithm| {
            Protocol::ALL.into_iter().map(move |protocol| Self {
                algorithm,
                protocol,
            })
        })
    }
}

impl From<Candidate> for Path {
    fn from(candidate: Candidate) -> Self {
        Self {
            algorithm: candidate.algorithm.into(),
            protocol: candidate.protocol,
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Path::from(*self).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_come_in_nccl_order() {
        let names: Vec<String> = Candidate::all().map(|c| c.to_string()).collect();
        assert_eq!(names.len(), 21);
        assert_eq!(names[0], "tree+ll");
        assert_eq!(names[4], "ring+ll128");
        assert_eq!(names[20], "pat+simple");
    }

    #[test]
    fn point_to_point_patterns_are_not_tuned() {
        assert_eq!(
            NcclCollective::try_from(Collective::AllToAll),
            Err(NotTunedError(Collective::AllToAll))
        );
        for collective in NcclCollective::ALL {
            assert_eq!(Collective::from(collective).try_into(), Ok(collective));
            let name = collective.plain_name().to_uppercase();
            assert_eq!(NcclCollective::from_plain_name(&name), Some(collective));
        }
    }
}
