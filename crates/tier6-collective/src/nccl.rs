//! Which algorithms NCCL runs: what an unforced call may have been, and what `auto` weighs.
//!
//! The textbooks know more algorithms than the library has, and some of them would be faster. A
//! prediction of what a machine does must not choose one that it does not have.

use crate::{Algorithm, Collective};

/// Whether NCCL runs an algorithm for a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InNccl {
    /// Among those that it chooses from without being told to, where the machine can.
    Yes,
    /// Where somebody has enabled aggregation in the network, or from a release on: PAT from 2.23.
    Sometimes,
    /// Not, or in another form.
    No,
}

impl InNccl {
    /// Says whether NCCL runs an algorithm for a collective of `ranks` ranks on `nodes` nodes.
    ///
    /// Inside one node the library's tree is a chain, as long as a ring: the binary trees of
    /// [`Algorithm::Tree`] are its form between nodes. Groups of sends and receives lie between
    /// one exchange after another and all at once.
    ///
    /// ```
    /// use tier6_collective::{Algorithm, Collective, InNccl};
    ///
    /// let of = |algorithm, nodes| InNccl::of(algorithm, Collective::AllReduce, 8 * nodes, nodes);
    /// assert_eq!(of(Algorithm::Tree, 4), InNccl::Yes);
    /// assert_eq!(of(Algorithm::Tree, 1), InNccl::No);
    /// assert_eq!(of(Algorithm::HalvingDoubling, 4), InNccl::No);
    /// ```
    pub fn of(algorithm: Algorithm, collective: Collective, ranks: u32, nodes: u32) -> Self {
        use Collective::{
            AllGather, AllReduce, AllToAll, AllToAllV, Broadcast, Gather, HyperCube, Reduce,
            ReduceScatter, Scatter, SendRecv,
        };
        let is_one_node = nodes <= 1;
        match (algorithm, collective) {
            (Algorithm::Ring, AllReduce | AllGather | ReduceScatter | Broadcast | Reduce)
            | (
                Algorithm::Direct | Algorithm::Pairwise,
                AllToAll | AllToAllV | Gather | Scatter | SendRecv,
            )
            | (Algorithm::RecursiveDoubling, HyperCube) => Self::Yes,
            (Algorithm::Nvls, AllReduce | AllGather | ReduceScatter) if is_one_node => Self::Yes,
            (Algorithm::Tree | Algorithm::NvlsTree, AllReduce) if !is_one_node => Self::Yes,
            (Algorithm::Nvls | Algorithm::CollNetDirect | Algorithm::CollNetChain, AllReduce)
                if !is_one_node =>
            {
                Self::Sometimes
            }
            (Algorithm::Pat, AllGather | ReduceScatter) if !is_one_node && ranks == nodes => {
                Self::Sometimes
            }
            _ => Self::No,
        }
    }

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Sometimes => "sometimes",
            Self::No => "no",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offers;

    #[test]
    fn every_collective_that_is_offered_has_an_algorithm_of_nccl() {
        for collective in Collective::ALL {
            for (ranks, nodes) in [(8, 1), (32, 4), (4, 4)] {
                let mut offering = Algorithm::ALL
                    .into_iter()
                    .filter(|algorithm| offers(*algorithm, collective))
                    .peekable();
                if offering.peek().is_none() {
                    continue;
                }
                let runs =
                    |algorithm| InNccl::of(algorithm, collective, ranks, nodes) == InNccl::Yes;
                assert!(offering.any(runs), "{collective}, {ranks} on {nodes}");
            }
        }
    }

    #[test]
    fn pat_is_for_one_rank_per_node() {
        let of = |ranks| InNccl::of(Algorithm::Pat, Collective::AllGather, ranks, 4);
        assert_eq!(of(4), InNccl::Sometimes);
        assert_eq!(of(8), InNccl::No);
    }
}
