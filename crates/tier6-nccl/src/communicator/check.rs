//! What a communicator must fulfil before the model may compute with it.

use super::Communicator;
use crate::candidate::NcclAlgorithm;

/// Why the values of a communicator cannot be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommunicatorError {
    /// A count that must be positive is not.
    #[error("`{field}` is {value}; at least 1 is needed")]
    NotPositive {
        /// The field's name in the file.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// A count is negative.
    #[error("`{field}` is {value}; a count is not negative")]
    Negative {
        /// The field's name in the file.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// There are fewer ranks than nodes.
    #[error("{ranks} ranks cannot fill {nodes} nodes")]
    FewerRanksThanNodes {
        /// Ranks.
        ranks: i32,
        /// Nodes.
        nodes: i32,
    },
    /// The ranks per node do not add up.
    #[error("`nodeLocalRanks` holds {sum} ranks on {listed} nodes, `nRanks` is {ranks} on {nodes}")]
    RanksDoNotAddUp {
        /// Sum of the list.
        sum: i64,
        /// Length of the list.
        listed: usize,
        /// Ranks.
        ranks: i32,
        /// Nodes.
        nodes: i32,
    },
    /// The compute capabilities are the wrong way round.
    #[error("`minCompCap` {min} is above `maxCompCap` {max}")]
    CompCaps {
        /// The least.
        min: i32,
        /// The largest.
        max: i32,
    },
    /// A graph that NCCL always has is empty.
    #[error("the {algorithm} graph has no channels")]
    NoChannels {
        /// The graph's algorithm.
        algorithm: NcclAlgorithm,
    },
    /// A bandwidth or latency is not a finite number of zero or more.
    #[error(
        "`{field}` of the {algorithm} graph is {value}; a finite number of 0 or more is needed"
    )]
    BadNumber {
        /// The graph's algorithm.
        algorithm: NcclAlgorithm,
        /// The field's name in the file.
        field: &'static str,
        /// Its value.
        value: f32,
    },
}

impl Communicator {
    /// Checks what no file of NCCL would ever hold otherwise.
    pub(crate) fn check(self) -> Result<Self, CommunicatorError> {
        for (field, value) in [
            ("nNodes", self.n_nodes),
            ("nRanks", self.n_ranks),
            ("nChannels", self.n_channels),
            ("minCompCap", self.comp_cap_min),
            ("localRanks", self.local_ranks),
            ("maxLocalRanks", self.local_ranks_max),
        ] {
            if value < 1 {
                let value = i64::from(value);
                return Err(CommunicatorError::NotPositive { field, value });
            }
        }
        for (field, value) in [
            ("nvlsChannels", self.nvls_channels),
            ("collNetHeadsNum", self.collnet_heads),
        ] {
            if value < 0 {
                let value = i64::from(value);
                return Err(CommunicatorError::Negative { field, value });
            }
        }
        self.check_ranks()?;
        for algorithm in NcclAlgorithm::ALL {
            self.check_graph(algorithm)?;
        }
        Ok(self)
    }

    fn check_ranks(&self) -> Result<(), CommunicatorError> {
        let (ranks, nodes) = (self.n_ranks, self.n_nodes);
        if ranks < nodes {
            return Err(CommunicatorError::FewerRanksThanNodes { ranks, nodes });
        }
        let sum: i64 = self.node_local_ranks.iter().map(|&n| i64::from(n)).sum();
        let listed = self.node_local_ranks.len();
        if sum != i64::from(ranks) || i64::try_from(listed) != Ok(i64::from(nodes)) {
            return Err(CommunicatorError::RanksDoNotAddUp {
                sum,
                listed,
                ranks,
                nodes,
            });
        }
        let (min, max) = (self.comp_cap_min, self.comp_cap_max);
        if min > max {
            return Err(CommunicatorError::CompCaps { min, max });
        }
        Ok(())
    }

    fn check_graph(&self, algorithm: NcclAlgorithm) -> Result<(), CommunicatorError> {
        let graph = self.graph(algorithm);
        let is_always_searched = matches!(algorithm, NcclAlgorithm::Ring | NcclAlgorithm::Tree);
        if graph.n_channels < 0 || (graph.n_channels == 0 && is_always_searched && self.n_ranks > 1)
        {
            return Err(CommunicatorError::NoChannels { algorithm });
        }
        for (field, value) in [
            ("bwIntra", graph.intra_gbs),
            ("bwInter", graph.inter_gbs),
            ("latencyInter", graph.inter_latency_us),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(CommunicatorError::BadNumber {
                    algorithm,
                    field,
                    value,
                });
            }
        }
        Ok(())
    }
}
