//! The tables that NCCL fills once per communicator: latency and bandwidth of every
//! candidate for every collective, thread limits and thresholds.
//!
//! f32 arithmetic in NCCL's order, so that every cell is equal to the last bit. Source:
//! `TUNER_SPEC.md` sections 4 to 7.

mod availability;
mod bandwidth;
mod latency;
mod model;
mod threads;

use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::communicator::Communicator;
use crate::log::PrintedTable;
use crate::release::{PerCandidate, Release};
use crate::settings::Settings;
use crate::term::{Silent, Term};
use crate::why_not::WhyNot;
use model::Model;
pub(crate) use model::floor_log2;
use tier6_collective::Protocol;

/// Latencies and bandwidths of one communicator under one release.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    pub(crate) release: &'static Release,
    pub(crate) communicator: Communicator,
    pub(crate) settings: Settings,
    pub(crate) latency_us: [PerCandidate<f32>; 5],
    pub(crate) bandwidth_gbs: [PerCandidate<f32>; 5],
    pub(crate) ring_backup_gbs: Option<[[f32; 3]; 5]>,
    pub(crate) threads_max: PerCandidate<i32>,
    pub(crate) thread_thresholds: PerCandidate<i64>,
    pub(crate) unavailable: [PerCandidate<Option<WhyNot>>; 5],
    /// The candidates that can have a time at all, in NCCL's order.
    pub(crate) weighed: [Vec<Candidate>; 5],
}

impl CostTable {
    /// Fills the tables for `communicator` under `settings`.
    ///
    /// The communicator is taken as it is; see [`Settings::applied_to`] for variables that
    /// change it.
    pub fn new(release: &'static Release, communicator: Communicator, settings: Settings) -> Self {
        let model = Model::new(release, &communicator, &settings);
        let mut latency_us = [[[0.0; 3]; 7]; 5];
        let mut bandwidth_gbs = [[[0.0; 3]; 7]; 5];
        let mut unavailable = [[[None; 3]; 7]; 5];
        let silent = &mut Silent;
        for collective in NcclCollective::ALL {
            for candidate in Candidate::all() {
                let at = Cell::new(collective, candidate);
                if let Some(why) = model.outside_model(collective, candidate) {
                    *at.of(&mut unavailable) = Some(why);
                } else {
                    *at.of(&mut latency_us) = model.latency(collective, candidate, silent);
                    *at.of(&mut bandwidth_gbs) = model.bandwidth(collective, candidate, silent);
                }
            }
        }
        let ring_backup_gbs = model.apply_availability(&mut bandwidth_gbs, &mut unavailable);
        let threads_max = model.threads_max();
        let thread_thresholds = model.thread_thresholds();
        let mut table = Self {
            release,
            communicator,
            settings,
            latency_us,
            bandwidth_gbs,
            ring_backup_gbs,
            threads_max,
            thread_thresholds,
            unavailable,
            weighed: Default::default(),
        };
        table.list_weighed();
        table
    }

    /// Returns the table with the numbers that a log prints in place of the model's.
    pub(crate) fn with_printed(mut self, printed: &PrintedTable) -> Self {
        for collective in NcclCollective::ALL {
            for candidate in Candidate::all() {
                let at = Cell::new(collective, candidate);
                let (algorithm, protocol) = (candidate.algorithm as usize, candidate.protocol);
                let cell = printed.cells[collective as usize][algorithm][protocol as usize];
                if let Some(cell) = cell {
                    *at.of(&mut self.latency_us) = cell.latency_us;
                    *at.of(&mut self.bandwidth_gbs) = cell.bandwidth_gbs;
                    let why = at.of(&mut self.unavailable);
                    *why =
                        (cell.bandwidth_gbs == 0.0).then_some(why.unwrap_or(WhyNot::NoBandwidth));
                }
                if let Some(threads) = printed.threads_max[algorithm][protocol as usize] {
                    self.threads_max[algorithm][protocol as usize] = threads;
                }
            }
        }
        self.list_weighed();
        self
    }

    /// Lists the candidates that can have a time at all, so that a choice looks at no others.
    fn list_weighed(&mut self) {
        self.weighed = NcclCollective::ALL.map(|collective| {
            let has_time = |candidate: &Candidate| {
                let is_ring = candidate.algorithm == NcclAlgorithm::Ring;
                let backup = self.ring_backup_gbs(collective, candidate.protocol);
                self.bandwidth_gbs(collective, *candidate) != 0.0
                    || (is_ring && backup.is_some_and(|gbs| gbs != 0.0))
                    || (is_ring && self.communicator.n_ranks == 1)
            };
            Candidate::all().filter(has_time).collect()
        });
    }

    /// Returns the release that the table was computed for.
    pub fn release(&self) -> &'static Release {
        self.release
    }

    /// Returns the communicator that the table was computed for.
    pub fn communicator(&self) -> &Communicator {
        &self.communicator
    }

    /// Returns the latency of a candidate in microseconds, before the corrections of a call.
    pub fn latency_us(&self, collective: NcclCollective, candidate: Candidate) -> f32 {
        self.latency_us[collective as usize][candidate.algorithm as usize]
            [candidate.protocol as usize]
    }

    /// Returns the algorithm bandwidth of a candidate in GB/s; zero where it is unavailable.
    pub fn bandwidth_gbs(&self, collective: NcclCollective, candidate: Candidate) -> f32 {
        self.bandwidth_gbs[collective as usize][candidate.algorithm as usize]
            [candidate.protocol as usize]
    }

    /// Returns the bandwidth that Ring falls back to in GB/s; only up to 2.23.
    pub fn ring_backup_gbs(&self, collective: NcclCollective, protocol: Protocol) -> Option<f32> {
        self.ring_backup_gbs
            .map(|backup| backup[collective as usize][protocol as usize])
    }

    /// Returns the most threads per channel that a candidate may use.
    pub fn threads_max(&self, candidate: Candidate) -> i32 {
        self.threads_max[candidate.algorithm as usize][candidate.protocol as usize]
    }

    /// Returns the bytes per thread and channel below which channels and threads are reduced.
    pub fn thread_threshold(&self, candidate: Candidate) -> i64 {
        self.thread_thresholds[candidate.algorithm as usize][candidate.protocol as usize]
    }

    /// Returns why a candidate has no bandwidth, whatever the call.
    pub fn why_not(&self, collective: NcclCollective, candidate: Candidate) -> Option<WhyNot> {
        self.unavailable[collective as usize][candidate.algorithm as usize]
            [candidate.protocol as usize]
    }

    /// Returns how a candidate's latency and bandwidth come about, term by term; the
    /// bandwidth is the one before anything was switched off. `None` for a candidate that the
    /// model does not compute.
    pub fn explain_cell(
        &self,
        collective: NcclCollective,
        candidate: Candidate,
    ) -> Option<CellTerms> {
        let model = Model::new(self.release, &self.communicator, &self.settings);
        if model.outside_model(collective, candidate).is_some() {
            return None;
        }
        let mut latency = Vec::new();
        model.latency(collective, candidate, &mut latency);
        let mut bandwidth = Vec::new();
        model.bandwidth(collective, candidate, &mut bandwidth);
        Some(CellTerms {
            latency_us: latency,
            bandwidth_gbs: bandwidth,
        })
    }
}

/// How one cell of the tables comes about.
#[derive(Debug, Clone, PartialEq)]
pub struct CellTerms {
    /// The terms of the latency, us.
    pub latency_us: Vec<Term>,
    /// The terms of the algorithm bandwidth, GB/s.
    pub bandwidth_gbs: Vec<Term>,
}

/// The place of a candidate in the tables.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    collective: usize,
    algorithm: usize,
    protocol: usize,
}

impl Cell {
    pub(crate) fn new(collective: NcclCollective, candidate: Candidate) -> Self {
        Self {
            collective: collective as usize,
            algorithm: candidate.algorithm as usize,
            protocol: candidate.protocol as usize,
        }
    }

    pub(crate) fn of<T>(self, table: &mut [PerCandidate<T>; 5]) -> &mut T {
        &mut table[self.collective][self.algorithm][self.protocol]
    }
}

/// The row of Ring in a table.
pub(crate) const RING: usize = NcclAlgorithm::Ring as usize;
