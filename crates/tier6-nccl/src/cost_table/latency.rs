//! The latency table: base latency plus steps.
//!
//! Source: `TUNER_SPEC.md` section 6. Microseconds everywhere.

use super::model::{Model, floor_log2};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::{CpuArch, Graph};
use crate::path_type::PathType;
use crate::term::{Operation, Trace, single};
use tier6_collective::Protocol;

/// The kind of link that a step crosses; the index of the hardware latencies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Nvlink,
    Pci,
    Network,
}

impl Model<'_> {
    /// Returns the latency of a cell inside the model.
    pub(crate) fn latency(
        &self,
        collective: NcclCollective,
        candidate: Candidate,
        trace: &mut impl Trace,
    ) -> f32 {
        let graph = self.communicator.graph(candidate.algorithm);
        let base = single(
            self.release.base_latency_us[candidate.algorithm as usize][candidate.protocol as usize],
        );
        // Only NVLink as such: a single GPU (LOC), NVB and C2C count as PCI.
        let inside = if graph.intra_path == PathType::Nvl {
            Link::Nvlink
        } else {
            Link::Pci
        };
        let intra = self.step(inside, candidate.algorithm, candidate.protocol);
        let inter = self.network_step(candidate, graph);
        match candidate.algorithm {
            NcclAlgorithm::Ring if collective.is_rooted() => {
                self.ring_rooted(collective, candidate.protocol, graph, inside, base, trace)
            }
            NcclAlgorithm::Ring => {
                self.ring_all(collective, candidate.protocol, base, intra, inter, trace)
            }
            NcclAlgorithm::Tree => self.tree_latency(base, intra, inter, trace),
            NcclAlgorithm::CollNetDirect => self.collnet_direct_latency(base, intra, inter, trace),
            NcclAlgorithm::CollNetChain => self.collnet_chain_latency(base, intra, inter, trace),
            NcclAlgorithm::Nvls => {
                let inside = trace.start("step inside the node", intra);
                if self.nodes > 1 {
                    plus(trace, "step between nodes", inside, 1.0, inter)
                } else {
                    inside
                }
            }
            NcclAlgorithm::NvlsTree => {
                let levels = (2 * floor_log2(self.nodes)) as f32;
                let start = trace.start("base", base);
                let steps = intra + levels * inter;
                trace.note(
                    "step inside the node + levels x step between nodes",
                    Operation::Plus {
                        times: 1.0,
                        each: f64::from(steps),
                    },
                    start + steps,
                )
            }
            NcclAlgorithm::Pat => self.pat_latency(base, inter, trace),
        }
    }

    fn step(&self, link: Link, algorithm: NcclAlgorithm, protocol: Protocol) -> f32 {
        let is_slow_on_power = link == Link::Pci
            && algorithm == NcclAlgorithm::Tree
            && protocol == Protocol::Simple
            && self.cpu.arch == CpuArch::Power;
        let algorithm = if is_slow_on_power {
            NcclAlgorithm::Ring
        } else {
            algorithm
        };
        single(self.release.hw_latency_us[link as usize][algorithm as usize][protocol as usize])
    }

    fn network_step(&self, candidate: Candidate, graph: &Graph) -> f32 {
        let row = if self.release.counts_network_hops && self.communicator.n_ranks == self.nodes {
            NcclAlgorithm::Tree
        } else {
            candidate.algorithm
        };
        let step = self.step(Link::Network, row, candidate.protocol) + graph.inter_latency_us;
        match candidate.protocol {
            Protocol::Simple => step + graph.inter_latency_us,
            Protocol::Ll | Protocol::Ll128 => step,
        }
    }

    fn ring_rooted(
        &self,
        collective: NcclCollective,
        protocol: Protocol,
        graph: &Graph,
        inside: Link,
        base: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        let link = if self.nodes == 1 {
            inside
        } else {
            Link::Network
        };
        let start = trace.start("base", base);
        if graph.same_channels {
            let step = self.step(link, NcclAlgorithm::Ring, protocol);
            return plus(trace, "one step, same channels", start, 1.0, step);
        }
        let row = match protocol {
            Protocol::Simple => NcclAlgorithm::Tree,
            Protocol::Ll | Protocol::Ll128 => NcclAlgorithm::Ring,
        };
        let steps = self.ring_steps(collective) as f32;
        plus(trace, "steps", start, steps, self.step(link, row, protocol))
    }

    fn ring_all(
        &self,
        collective: NcclCollective,
        protocol: Protocol,
        base: f32,
        intra: f32,
        inter: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        let overhead = match protocol {
            _ if self.nodes == 1 => 0.0,
            Protocol::Simple => self.net_overhead_us() * 3.0,
            Protocol::Ll | Protocol::Ll128 => self.net_overhead_us(),
        };
        let intra = intra.max(overhead);
        let between = self.ring_steps_between_nodes(collective);
        let inside = self.ring_steps(collective) - between;
        let start = trace.start("base", base);
        let inside_us = inside as f32 * intra;
        let between_us = between as f32 * inter;
        let result = start + (inside_us + between_us);
        trace.note(
            "steps inside nodes",
            Operation::Plus {
                times: f64::from(inside),
                each: f64::from(intra),
            },
            if between == 0 {
                result
            } else {
                start + inside_us
            },
        );
        if between == 0 {
            return result;
        }
        trace.note(
            "steps between nodes",
            Operation::Plus {
                times: f64::from(between),
                each: f64::from(inter),
            },
            result,
        )
    }

    fn ring_steps_between_nodes(&self, collective: NcclCollective) -> i32 {
        let nodes = self.nodes;
        match collective {
            NcclCollective::AllReduce if nodes == 1 => 0,
            NcclCollective::AllReduce if self.release.counts_network_hops => 2 * (nodes - 1),
            NcclCollective::AllReduce => 2 * nodes,
            _ => nodes - 1,
        }
    }

    fn tree_latency(&self, base: f32, intra: f32, inter: f32, trace: &mut impl Trace) -> f32 {
        let chain = (self.communicator.n_ranks / self.nodes - 1) as f32;
        let levels = floor_log2(self.nodes) as f32;
        let start = trace.start("base", base);
        let inside_us = chain * intra;
        let result = start + 2.0 * (inside_us + levels * inter);
        let inside_only = start + 2.0 * inside_us;
        trace.note(
            "up and down the chain inside nodes",
            Operation::Plus {
                times: f64::from(2.0 * chain),
                each: f64::from(intra),
            },
            inside_only,
        );
        if self.nodes == 1 {
            return inside_only;
        }
        trace.note(
            "up and down the levels between nodes",
            Operation::Plus {
                times: f64::from(2.0 * levels),
                each: f64::from(inter),
            },
            result,
        )
    }

    fn collnet_direct_latency(
        &self,
        base: f32,
        intra: f32,
        inter: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        let others = self.communicator.n_ranks / self.nodes - 1;
        let start = trace.start("base", base);
        let inside = others.min(1) as f32 * intra;
        let steps = 2.0 * (f64::from(inside) + f64::from(others) * 0.4) + f64::from(inter);
        trace.note(
            "2 x (step inside + 0.4 per other rank) + step between nodes",
            Operation::Plus {
                times: 1.0,
                each: steps,
            },
            single(f64::from(start) + steps),
        )
    }

    fn collnet_chain_latency(
        &self,
        base: f32,
        intra: f32,
        inter: f32,
        trace: &mut impl Trace,
    ) -> f32 {
        let steps = (2 * (self.communicator.n_ranks / self.nodes - 1)) as f32;
        let start = trace.start("base", base);
        let sum = steps * intra + inter;
        trace.note(
            "chain inside the node + step between nodes",
            Operation::Plus {
                times: 1.0,
                each: f64::from(sum),
            },
            start + sum,
        )
    }

    fn pat_latency(&self, base: f32, inter: f32, trace: &mut impl Trace) -> f32 {
        let levels = f64::from(floor_log2(self.nodes));
        let network = levels * (f64::from(inter) / 3.5);
        let ranks = f64::from(self.communicator.n_ranks) * 2.8;
        let has_base = self.release.pat.is_some_and(|pat| pat.base_in_table);
        let base_us = if has_base { f64::from(base) } else { 8.0 };
        let start = trace.start("base", single(base_us));
        let result = if has_base {
            single(base_us + (network + ranks))
        } else {
            single(base_us + network + ranks)
        };
        trace.note(
            "levels x network step / 3.5",
            Operation::Plus {
                times: levels,
                each: f64::from(inter) / 3.5,
            },
            start + single(network),
        );
        trace.note(
            "ranks",
            Operation::Plus {
                times: f64::from(self.communicator.n_ranks),
                each: 2.8,
            },
            result,
        )
    }
}

fn plus(trace: &mut impl Trace, name: &'static str, value: f32, times: f32, each: f32) -> f32 {
    let result = value + times * each;
    trace.note(
        name,
        Operation::Plus {
            times: f64::from(times),
            each: f64::from(each),
        },
        result,
    )
}
