//! From what a log says to a communicator and its tables.
//!
//! A log does not name the GPUs' compute capability. Where it prints the tables, the
//! capability (and whatever else is not printed) is the one whose exact tables, rounded to one
//! decimal, are those of the print-out; the exact tables are then used. Where none fits, the
//! printed numbers are used as they are. Without tables the capability is guessed.

use super::{LoggedCommunicator, PrintedTable};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::cost_table::CostTable;
use crate::machine::{AssembleError, Assembled, Machine, guess_comp_cap};
use crate::release::Release;
use crate::settings::Settings;

/// Compute capabilities that GPUs have, the common ones first.
const COMP_CAPS: [i32; 12] = [70, 80, 90, 100, 75, 86, 89, 103, 120, 121, 61, 60];

/// Latencies that network plug-ins report, us: none, EFA of the second and first generation.
const INTER_LATENCIES_US: [f32; 3] = [0.0, 35.0, 75.0];

/// A communicator from a log, with its tables.
#[derive(Debug, Clone, PartialEq)]
pub struct Identified {
    /// The tables.
    pub table: CostTable,
    /// Where their numbers come from.
    pub basis: TableBasis,
    /// One sentence per assumption.
    pub assumptions: Vec<String>,
}

/// Where the numbers of a table come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableBasis {
    /// The model's exact numbers; they round to every number that the log prints.
    ModelEqualToLog,
    /// The numbers that the log prints, with one decimal, since the model gives others.
    Log,
    /// The model's numbers; the log prints none.
    Model,
}

/// Why a log does not make a communicator.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: failed to put the communicator of `{speaker}` together")]
pub struct IdentifyError {
    /// Line of the communicator's first fact.
    pub line: u64,
    /// Host, process and thread.
    pub speaker: String,
    /// What is missing or wrong.
    #[source]
    pub reason: AssembleError,
}

impl LoggedCommunicator {
    /// Puts the communicator together and fills its tables.
    ///
    /// `known` holds what the caller knows beside the log; it wins over the log.
    ///
    /// # Errors
    ///
    /// Fails when the log lacks the ranks or a graph, or contradicts itself.
    pub fn identify(
        &self,
        known: &Machine,
        release: &'static Release,
        settings: &Settings,
    ) -> Result<Identified, IdentifyError> {
        let machine = self.machine(known);
        let assemble = |machine: &Machine| {
            machine
                .assemble(self.graphs, release)
                .map_err(|reason| IdentifyError {
                    line: self.line,
                    speaker: self.source.clone(),
                    reason,
                })
        };
        let table = |assembled: &Assembled| {
            let communicator = settings.applied_to(assembled.communicator.clone(), release);
            CostTable::new(release, communicator, settings.clone())
        };
        let plain = assemble(&machine)?;
        let Some(printed) = &self.table else {
            return Ok(Identified {
                table: table(&plain),
                basis: TableBasis::Model,
                assumptions: plain.assumptions,
            });
        };
        for candidate in self.candidates(&machine) {
            let assembled = assemble(&candidate)?;
            let table = table(&assembled);
            if printed.is_rounded_from(&table) {
                return Ok(Identified {
                    table,
                    basis: TableBasis::ModelEqualToLog,
                    assumptions: assembled.assumptions,
                });
            }
        }
        let mut assumptions = plain.assumptions.clone();
        assumptions.push(format!(
            "no compute capability gives the tables of the log under NCCL {}; they are used as printed",
            release.version()
        ));
        Ok(Identified {
            table: table(&plain).with_printed(printed),
            basis: TableBasis::Log,
            assumptions,
        })
    }

    fn machine(&self, known: &Machine) -> Machine {
        Machine {
            n_ranks: known.n_ranks.or(self.n_ranks),
            n_nodes: known.n_nodes.or(self.n_nodes),
            local_ranks: known.local_ranks.or(self.local_ranks),
            comp_cap: known.comp_cap,
            cpu: known.cpu.or(self.cpu),
            has_nvswitch: known.has_nvswitch.or(Some(self.has_nvswitch)),
            is_mnnvl: known.is_mnnvl.or(self.is_mnnvl),
            n_channels: known.n_channels.or(self.n_channels),
            nvls_channels: known.nvls_channels.or(self.nvls_channels),
            nvls_chunk_bytes: known.nvls_chunk_bytes.or(self.nvls_chunk_bytes),
            nvls_tree_chunk_bytes_max: known
                .nvls_tree_chunk_bytes_max
                .or(self.nvls_tree_chunk_bytes_max),
            has_collnet: known.has_collnet,
            collnet_gathers: known.collnet_gathers,
            inter_latency_us: known.inter_latency_us,
        }
    }

    /// Returns the machines that the log leaves open, the likeliest first.
    fn candidates(&self, machine: &Machine) -> Vec<Machine> {
        let guess = self.graphs[NcclAlgorithm::Ring as usize]
            .as_ref()
            .map(guess_comp_cap);
        let comp_caps: Vec<i32> = match machine.comp_cap {
            Some(known) => vec![known],
            None => guess.into_iter().chain(COMP_CAPS).collect(),
        };
        let latencies: Vec<f32> = match machine.inter_latency_us {
            Some(known) => vec![known],
            None => INTER_LATENCIES_US.to_vec(),
        };
        let gathers: Vec<bool> = match machine.collnet_gathers {
            Some(known) => vec![known],
            None => vec![false, true],
        };
        let mut machines = Vec::new();
        for &latency_us in &latencies {
            for &gathers in &gathers {
                for &comp_cap in &comp_caps {
                    machines.push(Machine {
                        comp_cap: Some(comp_cap),
                        collnet_gathers: Some(gathers),
                        inter_latency_us: Some(latency_us),
                        ..machine.clone()
                    });
                }
            }
        }
        machines
    }
}

impl PrintedTable {
    /// Says whether every printed number is the table's, rounded to one decimal.
    pub fn is_rounded_from(&self, table: &CostTable) -> bool {
        let rounds = |printed: f32, exact: f32| {
            let text = format!("{exact:.1}");
            text.parse::<f32>()
                .is_ok_and(|exact| exact.to_bits() == printed.to_bits())
        };
        let threads_fit = Candidate::all().all(|candidate| {
            let printed =
                self.threads_max[candidate.algorithm as usize][candidate.protocol as usize];
            printed.is_none_or(|printed| printed == table.threads_max(candidate))
        });
        threads_fit
            && NcclCollective::ALL.into_iter().all(|collective| {
                Candidate::all().all(|candidate| {
                    let row = &self.cells[collective as usize][candidate.algorithm as usize];
                    row[candidate.protocol as usize].is_none_or(|printed| {
                        rounds(printed.latency_us, table.latency_us(collective, candidate))
                            && rounds(
                                printed.bandwidth_gbs,
                                table.bandwidth_gbs(collective, candidate),
                            )
                    })
                })
            })
    }
}
