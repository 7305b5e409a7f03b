//! Collectives and their bus factors.

use std::fmt;
use std::str::FromStr;

/// A collective operation, or the point-to-point patterns that are benchmarked like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the field's own terms")]
pub enum Collective {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    /// All-to-all with a count per peer.
    AllToAllV,
    Broadcast,
    Reduce,
    SendRecv,
    Gather,
    Scatter,
    /// nccl-tests' exchange with the neighbours of a hypercube.
    HyperCube,
}

impl Collective {
    /// Every collective, in the order of the contract.
    pub const ALL: [Self; 11] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::AllToAllV,
        Self::Broadcast,
        Self::Reduce,
        Self::SendRecv,
        Self::Gather,
        Self::Scatter,
        Self::HyperCube,
    ];

    /// Returns the name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::AllToAll => "all_to_all",
            Self::AllToAllV => "all_to_all_v",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::SendRecv => "send_recv",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::HyperCube => "hypercube",
        }
    }

    /// Returns busbw / algbw for `ranks` ranks, as nccl-tests defines it.
    ///
    /// AllReduce 2(N-1)/N; AllGather, ReduceScatter, AllToAll, Gather, Scatter (N-1)/N;
    /// Broadcast, Reduce, SendRecv 1. A factor is a scale, not a measurement of the wire: with
    /// reduction in the switch busbw exceeds the line rate. Source: nccl-tests
    /// `doc/PERFORMANCE.md`; FACTS B.0.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let n = f64::from(ranks.max(1));
        match self {
            Self::AllReduce => 2.0 * (n - 1.0) / n,
            Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::AllToAllV
            | Self::Gather
            | Self::Scatter
            | Self::HyperCube => (n - 1.0) / n,
            Self::Broadcast | Self::Reduce | Self::SendRecv => 1.0,
        }
    }

    /// Says whether nccl-tests' `size` is `count` x element size x ranks rather than
    /// `count` x element size, that is whether `count` is per peer.
    pub const fn counts_per_peer(self) -> bool {
        match self {
            Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::AllToAllV
            | Self::Gather
            | Self::Scatter
            | Self::HyperCube => true,
            Self::AllReduce | Self::Broadcast | Self::Reduce | Self::SendRecv => false,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Collective {
    type Err = ();

    /// Reads a name in any of the spellings in use: `all_reduce`, `AllReduce`, `allreduce`,
    /// `all_reduce_perf`, `alltoall_perf`, `ncclAllReduce`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let plain = plain.strip_prefix("nccl").unwrap_or(&plain);
        let plain = plain.strip_suffix("perf").unwrap_or(plain);
        match plain {
            "allreduce" => Ok(Self::AllReduce),
            "allgather" => Ok(Self::AllGather),
            "reducescatter" => Ok(Self::ReduceScatter),
            "alltoall" | "all2all" => Ok(Self::AllToAll),
            "alltoallv" => Ok(Self::AllToAllV),
            "broadcast" | "bcast" => Ok(Self::Broadcast),
            "reduce" => Ok(Self::Reduce),
            "sendrecv" => Ok(Self::SendRecv),
            "gather" => Ok(Self::Gather),
            "scatter" => Ok(Self::Scatter),
            "hypercube" => Ok(Self::HyperCube),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_factors_are_those_of_nccl_tests() {
        let factor = |collective: Collective, n| collective.bus_factor(n);
        assert!((factor(Collective::AllReduce, 8) - 1.75).abs() < 1e-12);
        assert!((factor(Collective::AllGather, 8) - 0.875).abs() < 1e-12);
        assert!((factor(Collective::Broadcast, 8) - 1.0).abs() < 1e-12);
        assert!(factor(Collective::AllReduce, 1).abs() < 1e-12);
    }

    #[test]
    fn every_spelling_reads_back() {
        for collective in Collective::ALL {
            assert_eq!(collective.name().parse(), Ok(collective));
        }
        assert_eq!("alltoall_perf".parse(), Ok(Collective::AllToAll));
        assert_eq!("ncclAllReduce".parse(), Ok(Collective::AllReduce));
        assert_eq!("AllReduce".parse(), Ok(Collective::AllReduce));
        assert_eq!("all".parse::<Collective>(), Err(()));
    }
}
