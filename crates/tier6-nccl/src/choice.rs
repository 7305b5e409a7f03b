//! The choice for one call: every candidate's time, the least of them, its channels and
//! warps.
//!
//! f32 arithmetic in NCCL's order. Source: `TUNER_SPEC.md` sections 8 and 9.

mod exclude;
mod launch;
mod time;

use crate::call::Call;
use crate::candidate::{Candidate, NcclCollective};
use crate::cost_table::CostTable;
use crate::release::PerCandidate;
use crate::settings::NcclError;
use crate::term::{Silent, Term};
use crate::why_not::WhyNot;

/// What NCCL chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The algorithm and protocol.
    pub candidate: Candidate,
    /// The predicted time, us.
    pub time_us: f32,
    /// The most channels that the call may use.
    pub channels_max: i8,
    /// Warps per channel.
    pub warps: i32,
    /// How the candidate came to be chosen.
    pub basis: Basis,
}

/// How a candidate came to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// It has the least time.
    LeastTime,
    /// Nothing was available, so Ring runs without its filters; only up to 2.23.
    RingBackup,
    /// A rule of a tuner configuration names it.
    Rule,
}

/// NCCL finds no candidate, and the call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no algorithm or protocol is available for {collective}; NCCL fails with {}", error.code())]
pub struct NoCandidateError {
    /// The collective.
    pub collective: NcclCollective,
    /// How NCCL fails.
    pub error: NcclError,
}

/// A candidate's entry in the cost table of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// The predicted time, us.
    Time(f32),
    /// The time of Ring as a backup, us.
    Backup(f32),
    /// Not weighed. NCCL writes -1 in its table, except where a factor was applied to it.
    Unavailable {
        /// Why not.
        why: WhyNot,
        /// What NCCL writes.
        marker: f32,
    },
}

impl Entry {
    const fn unavailable(why: WhyNot) -> Self {
        Self::Unavailable { why, marker: -1.0 }
    }
}

impl CostTable {
    /// Chooses for one call as NCCL does.
    ///
    /// # Errors
    ///
    /// Fails where NCCL fails: when the environment leaves no candidate.
    pub fn choose(&self, call: &Call) -> Result<Choice, NoCandidateError> {
        let mut least = (self.release.start_time_us, None);
        let mut backup = (self.release.start_time_us, None);
        for &candidate in &self.weighed[call.collective as usize] {
            let best = match self.entry(call, candidate) {
                Entry::Time(us) if us >= 0.0 && us < least.0 => Some((&mut least, us)),
                Entry::Backup(us) if us >= 0.0 && us < backup.0 => Some((&mut backup, us)),
                Entry::Time(_) | Entry::Backup(_) | Entry::Unavailable { .. } => None,
            };
            if let Some((best, us)) = best {
                *best = (us, Some(candidate));
            }
        }
        let (time_us, candidate, basis) = match (least, backup) {
            ((us, Some(candidate)), _) => (us, candidate, Basis::LeastTime),
            ((_, None), (us, Some(candidate))) => (us, candidate, Basis::RingBackup),
            ((_, None), (_, None)) => {
                return Err(NoCandidateError {
                    collective: call.collective,
                    error: self.settings.no_candidate(self.release),
                });
            }
        };
        let (channels_max, warps) = self.launch(call, candidate);
        Ok(Choice {
            candidate,
            time_us,
            channels_max,
            warps,
            basis,
        })
    }

    /// Returns the choice when somebody else picks the candidate: its time by the model, its
    /// channels and warps. The time is NaN where the candidate is not available.
    pub(crate) fn launched(&self, call: &Call, candidate: Candidate) -> Choice {
        let time_us = match self.entry(call, candidate) {
            Entry::Time(us) | Entry::Backup(us) => us,
            Entry::Unavailable { .. } => f32::NAN,
        };
        let (channels_max, warps) = self.launch(call, candidate);
        Choice {
            candidate,
            time_us,
            channels_max,
            warps,
            basis: Basis::Rule,
        }
    }

    /// Returns every candidate's entry for one call.
    pub fn entries(&self, call: &Call) -> PerCandidate<Entry> {
        let mut entries = [[Entry::unavailable(WhyNot::NoBandwidth); 3]; 7];
        for candidate in Candidate::all() {
            entries[candidate.algorithm as usize][candidate.protocol as usize] =
                self.entry(call, candidate);
        }
        entries
    }

    /// Returns one candidate's entry for one call.
    pub fn entry(&self, call: &Call, candidate: Candidate) -> Entry {
        match self.excluded(call, candidate.algorithm) {
            Some(why) => Entry::unavailable(why),
            None => self.weigh(call, candidate, &mut Silent),
        }
    }

    /// Returns how a candidate's time comes about from its latency and bandwidth, term by
    /// term; empty where it is not available.
    pub fn explain_call(&self, call: &Call, candidate: Candidate) -> CallTerms {
        let mut bandwidth = Vec::new();
        let mut latency = Vec::new();
        let mut time = Vec::new();
        if self.excluded(call, candidate.algorithm).is_none()
            && let Some(gbs) = self.usable_bandwidth(call, candidate)
        {
            let gbs = self.corrected_bandwidth(call, candidate, gbs, &mut bandwidth);
            let us = self.call_latency(call, candidate, &mut latency);
            self.time(call, candidate, us, gbs, &mut time);
        }
        CallTerms {
            bandwidth_gbs: bandwidth,
            latency_us: latency,
            time_us: time,
        }
    }
}

/// How a call's time comes about.
#[derive(Debug, Clone, PartialEq)]
pub struct CallTerms {
    /// From the table's bandwidth to the call's, GB/s.
    pub bandwidth_gbs: Vec<Term>,
    /// From the table's latency to the call's, us.
    pub latency_us: Vec<Term>,
    /// From both to the time, us.
    pub time_us: Vec<Term>,
}
