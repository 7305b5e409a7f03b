//! A run while it is being read: rows become samples of points of series, and what the findings
//! at the end need is summed up on the way.

use super::columns::{Column, Layout};
use super::row::{Half, Preamble};
use super::signature::Signature;
use crate::read::consistency::{not_the_speed, speed};
use crate::read::rank_count::FactorRange;
use crate::warning::WarningList;
use crate::{Footer, Placement, Point, Ranks, RunSetup, Sample, Series, WarningCode, Wrong};
use std::collections::BTreeSet;
use std::rc::Rc;
use tier6_collective::{Collective, DataType, Path, RedOp};
use tier6_units::{Bytes, GbPerSec, Micros};

/// What tells the series of one run apart, besides the placement.
pub(super) type Key = (Option<DataType>, Option<RedOp>, Option<i64>);

/// A row with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableRow {
    pub preamble: Preamble,
    pub halves: Vec<(Placement, Half)>,
    pub path: Option<Path>,
    pub line: u64,
}

impl TableRow {
    pub(super) fn key(&self) -> Key {
        let preamble = &self.preamble;
        (preamble.datatype, preamble.redop, preamble.root)
    }
}

/// A kind of finding that is told once, with its first line.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Finding {
    pub line: u64,
    pub count: u64,
    pub example: String,
}

impl Finding {
    fn add(slot: &mut Option<Self>, line: u64, example: impl FnOnce() -> String) {
        slot.get_or_insert_with(|| Self {
            line,
            count: 0,
            example: example(),
        })
        .count += 1;
    }
}

/// What is known of rows with one placement, where the layout has two.
#[derive(Debug, Clone, PartialEq)]
enum HalfRows {
    /// No row has two placements yet; these wait.
    AllSoFar(Vec<TableRow>),
    /// Some row has two, so a row with one is cut.
    AreCut,
}

/// A run that is being read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunBuilder {
    pub setup: RunSetup,
    pub layout: Option<Rc<Layout>>,
    /// The collective that the input names.
    pub named: Option<Collective>,
    pub footer: Option<Footer>,
    /// Hosts that reported a failure.
    pub failed_hosts: BTreeSet<String>,
    /// First failure: message and line.
    pub failure: Option<(String, u64)>,
    pub first_line: u64,
    pub rows: u64,
    /// The author left lines out of the device list, or out of the table.
    pub omits_lines: bool,
    /// Rows that were not used.
    pub lost_rows: u64,
    /// The `#` of header lines are gone.
    pub lost_hashes: bool,
    /// The run's threshold for the average was missed.
    pub below_threshold: bool,
    halves: HalfRows,
    pub last: Option<(Key, u64)>,
    pub first_bytes: Option<u64>,
    series: Vec<(Key, Placement, Vec<Point>)>,
    pub signature: Option<Signature>,
    pub factor: FactorRange,
    pub busbw_sum: f64,
    pub busbw_slack: f64,
    pub busbw_count: u64,
    pub inconsistent: Option<Finding>,
    pub wrong: Option<Finding>,
    pub zero_sizes: Option<Finding>,
    /// What all sizes leave when divided by [`ALIGNMENT_BYTES`]; `None` when they differ.
    pub misalignment: Option<u64>,
}

/// The widest access of NCCL's kernels.
pub(super) const ALIGNMENT_BYTES: u64 = 16;

impl RunBuilder {
    pub(super) fn new(first_line: u64) -> Self {
        Self {
            setup: RunSetup::default(),
            layout: None,
            named: None,
            footer: None,
            failed_hosts: BTreeSet::new(),
            failure: None,
            first_line,
            rows: 0,
            omits_lines: false,
            lost_rows: 0,
            lost_hashes: false,
            below_threshold: false,
            halves: HalfRows::AllSoFar(Vec::new()),
            last: None,
            first_bytes: None,
            series: Vec::new(),
            signature: None,
            factor: FactorRange::new(),
            busbw_sum: 0.0,
            busbw_slack: 0.0,
            busbw_count: 0,
            inconsistent: None,
            wrong: None,
            zero_sizes: None,
            misalignment: None,
        }
    }

    pub(super) fn has_rows(&self) -> bool {
        self.rows > 0 || matches!(&self.halves, HalfRows::AllSoFar(rows) if !rows.is_empty())
    }

    /// Says whether the run is over: a footer or a failure was read.
    pub(super) fn has_ended(&self) -> bool {
        self.footer.is_some() || self.failure.is_some()
    }

    /// Returns how many samples a size has.
    pub(super) fn samples_at(&self, key: Key, bytes: u64) -> usize {
        let of_key = self.series.iter().filter(|(known, _, _)| *known == key);
        let points = of_key.filter_map(|(_, _, points)| {
            let at = points.binary_search_by_key(&bytes, |point| point.bytes.get());
            at.ok().map(|at| points[at].samples.len())
        });
        points.max().unwrap_or(0)
    }

    /// Returns the number of distinct types, operators and roots.
    pub(super) fn keys(&self) -> u64 {
        let keys: BTreeSet<Key> = self.series.iter().map(|(key, _, _)| *key).collect();
        keys.len().max(1) as u64
    }

    /// Takes in a row.
    ///
    /// A row with one half where others have two is cut; where no row has two, the benchmark
    /// measured one placement only. Until that is clear such rows wait.
    pub(super) fn push(&mut self, row: TableRow, warnings: &mut WarningList) {
        let groups = self
            .layout
            .as_ref()
            .map_or(2, |layout| layout.placements.len());
        self.last = Some((row.key(), row.preamble.bytes));
        self.first_bytes.get_or_insert(row.preamble.bytes);
        if row.halves.len() == groups {
            if let HalfRows::AllSoFar(rows) = std::mem::replace(&mut self.halves, HalfRows::AreCut)
            {
                for cut in rows {
                    self.report_cut(&cut, warnings);
                }
            }
            return self.take(row);
        }
        match &mut self.halves {
            HalfRows::AllSoFar(rows) => rows.push(row),
            HalfRows::AreCut => self.report_cut(&row, warnings),
        }
    }

    fn report_cut(&mut self, row: &TableRow, warnings: &mut WarningList) {
        self.lost_rows += 1;
        let bytes = row.preamble.bytes;
        warnings.push(
            WarningCode::CutRow,
            row.line,
            format!("the row of {bytes} B has one placement, other rows have two; it is not used"),
        );
    }

    /// Takes in the rows that have one placement, when no row has two.
    pub(super) fn settle_half_rows(&mut self) {
        if let HalfRows::AllSoFar(rows) = std::mem::replace(&mut self.halves, HalfRows::AreCut) {
            for row in rows {
                self.take(row);
            }
        }
    }

    fn take(&mut self, row: TableRow) {
        self.rows += 1;
        let (preamble, line) = (row.preamble, row.line);
        match &mut self.signature {
            Some(signature) => signature.add(&preamble),
            None => self.signature = Some(Signature::of(&preamble)),
        }
        if preamble.bytes == 0 {
            Finding::add(&mut self.zero_sizes, line, String::new);
        }
        let left = preamble.bytes % ALIGNMENT_BYTES;
        if self.rows == 1 {
            self.misalignment = Some(left);
        } else if self.misalignment != Some(left) {
            self.misalignment = None;
        }
        let is_cpu_time = self.has_cpu_time();
        let key = row.key();
        for (placement, half) in row.halves {
            self.check(preamble.bytes, &half, line);
            let sample = Sample {
                time: half
                    .time
                    .filter(|_| !is_cpu_time)
                    .map(|time| Micros::new(time.value)),
                algbw: half.algbw.map(|algbw| GbPerSec::new(algbw.value)),
                busbw: half.busbw.map(|busbw| GbPerSec::new(busbw.value)),
                wrong: half.wrong,
                line,
            };
            let point = self.point(key, placement, &preamble);
            point.samples.push(sample);
            point.path = point.path.or(row.path);
        }
    }

    /// Says whether the time column is that of the CPU (`-C`).
    pub(super) fn has_cpu_time(&self) -> bool {
        let layout = self.layout.as_ref();
        layout.is_some_and(|layout| layout.group.contains(&Column::CpuTime))
    }

    fn check(&mut self, bytes: u64, half: &Half, line: u64) {
        if let (Some(time), Some(algbw)) = (half.time, half.algbw)
            && !half.is_consistent(bytes)
        {
            Finding::add(&mut self.inconsistent, line, || {
                not_the_speed(algbw, bytes, time)
            });
        } else if let (Some(time), Some(busbw)) = (half.time, half.busbw)
            && bytes > 0
            && time.value > 0.0
        {
            self.factor.narrow(speed(bytes, time), busbw.interval());
        } else if let (Some(algbw), Some(busbw)) = (half.algbw, half.busbw)
            && algbw.interval().low > 0.0
        {
            self.factor.narrow(algbw.interval(), busbw.interval());
        }
        if let Some(busbw) = half.busbw {
            let interval = busbw.interval();
            self.busbw_sum += busbw.value;
            self.busbw_slack += 0.5 * (interval.high - interval.low);
            self.busbw_count += 1;
        }
        if half.wrong.is_wrong() {
            Finding::add(&mut self.wrong, line, || match half.wrong {
                Wrong::Elements(count) => format!("{count} wrong elements at {bytes} B"),
                Wrong::LargestError(error) => format!("a largest error of {error} at {bytes} B"),
                Wrong::NotChecked => String::new(),
            });
        }
    }

    fn point(&mut self, key: Key, placement: Placement, preamble: &Preamble) -> &mut Point {
        let known = |(k, p, _): &(Key, Placement, Vec<Point>)| *k == key && *p == placement;
        let at = self.series.iter().position(known).unwrap_or_else(|| {
            self.series.push((key, placement, Vec::new()));
            self.series.len() - 1
        });
        let points = &mut self.series[at].2;
        let bytes = preamble.bytes;
        let place = match points.binary_search_by_key(&bytes, |point| point.bytes.get()) {
            Ok(place) => place,
            Err(place) => {
                points.insert(
                    place,
                    Point {
                        bytes: Bytes::new(bytes),
                        count: preamble.count,
                        samples: Vec::new(),
                        iterations: Vec::new(),
                        published: None,
                        path: None,
                        tuner: None,
                    },
                );
                place
            }
        };
        &mut points[place]
    }

    /// Returns the series, out-of-place before in-place.
    pub(super) fn into_series(
        mut self,
        collective: Option<Collective>,
        ranks: Ranks,
        nodes: Option<u32>,
    ) -> Vec<Series> {
        let mut keys: Vec<Key> = Vec::new();
        for (key, _, _) in &self.series {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        let order = |key: &Key| keys.iter().position(|known| known == key);
        self.series
            .sort_by_key(|(key, placement, _)| (order(key), *placement));
        let series = self.series.into_iter();
        series
            .map(|((datatype, redop, root), placement, points)| Series {
                collective,
                ranks,
                nodes,
                datatype,
                redop,
                root: root.and_then(|root| u32::try_from(root).ok()),
                placement,
                points,
            })
            .collect()
    }

    /// Says whether all rows measure one placement only.
    pub(super) fn only_placement(&self) -> Option<Placement> {
        let first = self.series.first()?.1;
        let all = self
            .series
            .iter()
            .all(|(_, placement, _)| *placement == first);
        all.then_some(first)
    }
}
