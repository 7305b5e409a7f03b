//! The rows of `tier6.tuner/1`. Times are singles, written with the digits that tell them
//! apart; what has no value is `null`.

use super::choice::{Switch, TableCell, WeighedCall};
use serde::Serialize;
use tier6_fit::Interval;
use tier6_nccl::{Candidate, Entry, WhyNot};
use tier6_study::{Crossover, PathRange};
use tier6_units::Bytes;

#[derive(Serialize)]
pub(super) struct ChoiceDto {
    bytes: u64,
    algorithm: Option<String>,
    protocol: Option<String>,
    time_us: Option<f32>,
    channels: Option<i8>,
    warps: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl ChoiceDto {
    pub(super) fn new(call: &WeighedCall) -> Self {
        let choice = call.choice.ok();
        Self {
            bytes: call.bytes.get(),
            algorithm: choice.map(|choice| choice.candidate.algorithm.to_string()),
            protocol: choice.map(|choice| choice.candidate.protocol.to_string()),
            time_us: choice.map(|choice| choice.time_us),
            channels: choice.map(|choice| choice.channels_max),
            warps: choice.map(|choice| choice.warps),
            error: call.choice.err().map(|error| error.to_string()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct CandidateDto {
    bytes: u64,
    algorithm: String,
    protocol: String,
    time_us: Option<f32>,
    why_not: Option<String>,
}

impl CandidateDto {
    pub(super) fn new(bytes: Bytes, candidate: Candidate, entry: &Entry) -> Self {
        let (time_us, why_not) = match entry {
            Entry::Time(us) => (Some(*us), None),
            Entry::Backup(us) => (Some(*us), Some(WhyNot::Backup(candidate.protocol))),
            Entry::Unavailable { why, .. } => (None, Some(*why)),
        };
        Self {
            bytes: bytes.get(),
            algorithm: candidate.algorithm.to_string(),
            protocol: candidate.protocol.to_string(),
            time_us,
            why_not: why_not.map(|why| why.to_string()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct CellDto {
    algorithm: String,
    protocol: String,
    latency_us: f32,
    bandwidth_gbs: f32,
    threads_max: i32,
    why_not: Option<String>,
}

impl CellDto {
    pub(super) fn new(cell: &TableCell) -> Self {
        Self {
            algorithm: cell.candidate.algorithm.to_string(),
            protocol: cell.candidate.protocol.to_string(),
            latency_us: cell.latency_us,
            bandwidth_gbs: cell.bandwidth_gbs,
            threads_max: cell.threads_max,
            why_not: cell.why_not.map(|why| why.to_string()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct SwitchDto {
    bytes: u64,
    from: String,
    to: String,
}

impl SwitchDto {
    pub(super) fn new(switch: &Switch) -> Self {
        Self {
            bytes: switch.bytes.get(),
            from: switch.from.to_string(),
            to: switch.to.to_string(),
        }
    }
}

/// `[low, high]`.
#[derive(Serialize)]
pub(super) struct IntervalDto(f64, f64);

impl IntervalDto {
    pub(super) const fn new(interval: Interval) -> Self {
        Self(interval.low, interval.high)
    }
}

#[derive(Serialize)]
pub(super) struct CrossoverDto {
    from: String,
    to: String,
    bytes: u64,
    between_bytes: (u64, u64),
    interval_bytes: Option<(u64, u64)>,
}

impl CrossoverDto {
    pub(super) fn new(crossover: &Crossover) -> Self {
        let pair = |(low, high): (Bytes, Bytes)| (low.get(), high.get());
        Self {
            from: crossover.from.to_string(),
            to: crossover.to.to_string(),
            bytes: crossover.bytes.get(),
            between_bytes: pair(crossover.between),
            interval_bytes: crossover.interval.map(pair),
        }
    }
}

/// Which path a run took on a range of sizes, and how that is known.
#[derive(Serialize)]
pub(super) struct PathsDto {
    run: String,
    first_bytes: u64,
    last_bytes: u64,
    path: Option<String>,
    basis: Option<&'static str>,
}

impl PathsDto {
    pub(super) fn all(paths: &[(String, Vec<PathRange>)]) -> Vec<Self> {
        let of = |(run, ranges): &(String, Vec<PathRange>)| {
            let run = run.clone();
            let ranges = ranges.clone().into_iter();
            ranges.map(move |range| Self {
                run: run.clone(),
                first_bytes: range.first.get(),
                last_bytes: range.last.get(),
                path: range.path.map(|path| path.candidate.to_string()),
                basis: range.path.map(|path| path.basis.name()),
            })
        };
        paths.iter().flat_map(of).collect()
    }
}
