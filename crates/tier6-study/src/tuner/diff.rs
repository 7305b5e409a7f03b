//! Where two choosers choose differently, and by how much the model says it matters.

use std::collections::BTreeSet;
use tier6_collective::{DataType, RedOp};
use tier6_nccl::{
    Call, Candidate, CostTable, Entry, NcclCollective, NoCandidateError, TunerConfig,
};
use tier6_units::{Bytes, Micros};

/// NCCL on one communicator under one release, with or without a tuner file.
#[derive(Debug, Clone, Copy)]
pub struct Chooser<'a> {
    /// The tables.
    pub table: &'a CostTable,
    /// The tuner file.
    pub config: Option<&'a TunerConfig>,
}

/// What is chosen at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiffChoice {
    /// The path.
    pub candidate: Candidate,
    /// The model's time for it.
    pub time: Micros,
    /// The most channels.
    pub channels: i8,
    /// Warps per channel.
    pub warps: i32,
}

/// Two choices at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffSize {
    /// Bytes as the chooser counts them.
    pub bytes: Bytes,
    /// The first chooser's choice, or how NCCL fails.
    pub a: Result<DiffChoice, NoCandidateError>,
    /// The second chooser's choice.
    pub b: Result<DiffChoice, NoCandidateError>,
    /// By how much the second's path is slower than the first's in the first's model, in
    /// percent; negative when it is faster. `None` where the first cannot run it.
    pub b_in_a_pct: Option<f64>,
    /// By how much the first's path is slower than the second's in the second's model, in
    /// percent.
    pub a_in_b_pct: Option<f64>,
}

impl DiffSize {
    /// Returns what differs.
    pub fn difference(&self) -> Difference {
        match (&self.a, &self.b) {
            (Ok(a), Ok(b)) if a.candidate != b.candidate => Difference::Path,
            (Ok(a), Ok(b)) if a.channels != b.channels => Difference::Channels,
            (Ok(a), Ok(b)) if a.warps != b.warps => Difference::Warps,
            (Ok(_), Ok(_)) => Difference::Nothing,
            (Err(a), Err(b)) if a == b => Difference::Nothing,
            (Err(_), _) | (_, Err(_)) => Difference::Failure,
        }
    }
}

/// What differs between two choices, the gravest that does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// Neither path, nor channels, nor warps.
    Nothing,
    /// Warps per channel only.
    Warps,
    /// The number of channels.
    Channels,
    /// The algorithm or the protocol.
    Path,
    /// One fails, or they fail differently.
    Failure,
}

impl Difference {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Warps => "warps",
            Self::Channels => "channels",
            Self::Path => "path",
            Self::Failure => "failure",
        }
    }
}

/// Sizes in a row with the same two paths and the same kind of difference.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffRange {
    /// First size of the grid.
    pub first: Bytes,
    /// Last size of the grid.
    pub last: Bytes,
    /// Number of sizes.
    pub sizes: usize,
    /// What differs.
    pub difference: Difference,
    /// The first chooser's path; `None` where NCCL fails.
    pub a: Option<Candidate>,
    /// The second chooser's path.
    pub b: Option<Candidate>,
    /// The largest of what the two models say that the other's path costs, in percent, with its
    /// size.
    pub worst: Option<(f64, Bytes)>,
}

/// Two choosers on a grid of sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerDiff {
    /// Every size, ascending.
    pub sizes: Vec<DiffSize>,
    /// The ranges on which something differs.
    pub ranges: Vec<DiffRange>,
}

/// Compares two choosers for single calls of a collective.
pub fn diff_choosers(
    a: Chooser<'_>,
    b: Chooser<'_>,
    collective: NcclCollective,
    (datatype, op): (DataType, RedOp),
    sizes: &[Bytes],
) -> TunerDiff {
    let grid: BTreeSet<u64> = sizes.iter().map(|bytes| bytes.get()).collect();
    let sizes: Vec<DiffSize> = grid
        .into_iter()
        .map(|bytes| {
            let call = |chooser: Chooser<'_>| {
                let communicator = chooser.table.communicator();
                Call::new(communicator, collective, bytes, datatype, op)
            };
            diff_size(a, &call(a), b, &call(b))
        })
        .collect();
    let ranges = ranges(&sizes);
    TunerDiff { sizes, ranges }
}

fn diff_size(a: Chooser<'_>, call_a: &Call, b: Chooser<'_>, call_b: &Call) -> DiffSize {
    let (chosen_a, chosen_b) = (a.choose(call_a), b.choose(call_b));
    let (b_in_a_pct, a_in_b_pct) = match (&chosen_a, &chosen_b) {
        (Ok(own_a), Ok(own_b)) => (
            a.excess_pct(call_a, own_a, own_b.candidate),
            b.excess_pct(call_b, own_b, own_a.candidate),
        ),
        (Err(_), _) | (_, Err(_)) => (None, None),
    };
    DiffSize {
        bytes: Bytes::new(call_a.bytes),
        a: chosen_a,
        b: chosen_b,
        b_in_a_pct,
        a_in_b_pct,
    }
}

impl Chooser<'_> {
    fn choose(self, call: &Call) -> Result<DiffChoice, NoCandidateError> {
        let choice = match self.config {
            Some(config) => config.choose(self.table, call)?.choice,
            None => self.table.choose(call)?,
        };
        Ok(DiffChoice {
            candidate: choice.candidate,
            time: Micros::new(f64::from(choice.time_us)),
            channels: choice.channels_max,
            warps: choice.warps,
        })
    }

    /// Returns by how much the other path is slower than the chosen one in this model.
    fn excess_pct(self, call: &Call, own: &DiffChoice, other: Candidate) -> Option<f64> {
        let own = own.time.get();
        match self.table.entry(call, other) {
            Entry::Time(us) | Entry::Backup(us) if us >= 0.0 && own > 0.0 => {
                Some((f64::from(us) / own - 1.0) * 100.0)
            }
            Entry::Time(_) | Entry::Backup(_) | Entry::Unavailable { .. } => None,
        }
    }
}

fn ranges(sizes: &[DiffSize]) -> Vec<DiffRange> {
    let key = |size: &DiffSize| {
        let path = |choice: &Result<DiffChoice, NoCandidateError>| {
            choice.as_ref().ok().map(|choice| choice.candidate)
        };
        (size.difference(), path(&size.a), path(&size.b))
    };
    sizes
        .chunk_by(|a, b| key(a) == key(b))
        .filter(|chunk| chunk[0].difference() != Difference::Nothing)
        .map(|chunk| {
            let (difference, a, b) = key(&chunk[0]);
            let costs = chunk.iter().flat_map(|size| {
                let both = [size.b_in_a_pct, size.a_in_b_pct];
                both.into_iter().flatten().map(|pct| (pct, size.bytes))
            });
            DiffRange {
                first: chunk[0].bytes,
                last: chunk[chunk.len() - 1].bytes,
                sizes: chunk.len(),
                difference,
                a,
                b,
                worst: costs
                    .filter(|_| difference == Difference::Path)
                    .max_by(|a, b| a.0.total_cmp(&b.0)),
            }
        })
        .collect()
}
