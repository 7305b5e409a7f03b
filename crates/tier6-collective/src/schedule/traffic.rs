//! What a schedule puts on the wires: bytes between pairs, per rank, per step.

use std::collections::BTreeMap;

use super::Schedule;
use super::ids::{GroupId, PortId, RankId, TransferId};
use super::transfer::{Op, Route};

/// An end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// A rank.
    Rank(RankId),
    /// The switch, or the tree of switches, that serves a group.
    Switch(GroupId),
}

/// Bytes of one transfer from one end to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The transfer.
    pub transfer: TransferId,
    /// Where the bytes leave.
    pub from: Endpoint,
    /// Where they arrive.
    pub to: Endpoint,
    /// The port of the transfer.
    pub port: Option<PortId>,
    /// Payload in bytes.
    pub bytes: u64,
}

/// Bytes of one step from one end to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairBytes {
    /// The step, from 0.
    pub step: u32,
    /// Where the bytes leave.
    pub from: Endpoint,
    /// Where they arrive.
    pub to: Endpoint,
    /// The port that they leave through, for its direction.
    pub port: Option<PortId>,
    /// Payload in bytes.
    pub bytes: u64,
}

impl Schedule {
    /// Returns every flow in the order of the transfers; local transfers make none.
    ///
    /// A multicast goes to the switch once and from it to each member; a load-reduce comes to the
    /// switch from each member and leaves it once; an aggregation does both (FACTS B.6, B.7).
    pub fn flows(&self) -> impl Iterator<Item = Flow> {
        self.iter()
            .filter(|(_, transfer)| !transfer.is_local())
            .flat_map(|(id, transfer)| {
                let (sources, sinks) = self.readers_and_writers(&transfer.route);
                let switch = match transfer.route {
                    Route::Send { .. } => None,
                    Route::Multicast { group, .. }
                    | Route::LoadReduce { group, .. }
                    | Route::Aggregate { group } => Some(Endpoint::Switch(group)),
                };
                let flow = move |from, to| Flow {
                    transfer: id,
                    from,
                    to,
                    port: transfer.port,
                    bytes: transfer.bytes,
                };
                let sink = sinks.first().map(|sink| Endpoint::Rank(*sink));
                let inward = sources.iter().filter_map(move |source| {
                    Some(flow(Endpoint::Rank(*source), switch.or(sink)?))
                });
                let outward = sinks
                    .iter()
                    .filter_map(move |sink| Some(flow(switch?, Endpoint::Rank(*sink))));
                inward.chain(outward)
            })
    }

    /// Returns the bytes between each pair of ends in each step, ordered by step and ends: the
    /// link loads of a step once a topology routes the pairs.
    pub fn pair_bytes(&self) -> Vec<PairBytes> {
        let steps = self.steps();
        let mut pairs: BTreeMap<(u32, Endpoint, Endpoint, Option<PortId>), u64> = BTreeMap::new();
        for flow in self.flows() {
            let step = steps.of[flow.transfer.index()];
            *pairs
                .entry((step, flow.from, flow.to, flow.port))
                .or_default() += flow.bytes;
        }
        pairs
            .into_iter()
            .map(|((step, from, to, port), bytes)| PairBytes {
                step,
                from,
                to,
                port,
                bytes,
            })
            .collect()
    }

    /// Returns the bytes that each rank puts on its links.
    pub fn sent_bytes(&self) -> Vec<u64> {
        self.bytes_by_rank(|flow| flow.from)
    }

    /// Returns the bytes that each rank takes off its links.
    pub fn received_bytes(&self) -> Vec<u64> {
        self.bytes_by_rank(|flow| flow.to)
    }

    /// Returns the bytes that each rank reduces itself; what a switch reduces is not counted.
    pub fn reduced_bytes(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.ranks() as usize];
        for transfer in self.transfers() {
            if transfer.op == Op::Reduce {
                for rank in self.readers_and_writers(&transfer.route).1 {
                    bytes[rank.index()] += transfer.bytes;
                }
            }
        }
        bytes
    }

    fn bytes_by_rank(&self, end: impl Fn(&Flow) -> Endpoint) -> Vec<u64> {
        let mut bytes = vec![0; self.ranks() as usize];
        for flow in self.flows() {
            if let Endpoint::Rank(rank) = end(&flow) {
                bytes[rank.index()] += flow.bytes;
            }
        }
        bytes
    }
}
