//! A measured sweep as validation takes it: one placement is scored, the other one stands by.

use std::fmt;
use tier6_fit::{Exclusion, KnownPoint, PointSummary, SeriesAnalysis};

/// One sweep to be scored.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredSet {
    /// Name of the set.
    pub id: String,
    /// One or more nodes, when known.
    pub tier: Option<Tier>,
    /// Usable points, ascending in size.
    pub points: Vec<KnownPoint>,
    /// What is not among them and why, as sentences.
    pub left_out: Vec<String>,
}

/// How many levels of network a sweep crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Within one node.
    Single,
    /// Across nodes.
    Two,
}

impl Tier {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Two => "two",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl MeasuredSet {
    /// Takes the points of `scored` that are fit for use; `other` is the same sweep of the same
    /// run with the other placement, when there is one.
    pub fn new(
        id: impl Into<String>,
        scored: &SeriesAnalysis,
        other: Option<&SeriesAnalysis>,
    ) -> Self {
        let time = |point: &PointSummary| point.excluded.is_none().then_some(point.median);
        let time_of_other = |bytes| {
            let points = &other?.points;
            let index = points
                .binary_search_by_key(&bytes, |point| point.bytes)
                .ok()?;
            time(&points[index])
        };
        let points = scored.points.iter().filter_map(|point| {
            Some(KnownPoint {
                bytes: point.bytes,
                time: time(point)?,
                other_placement: time_of_other(point.bytes),
            })
        });
        Self {
            id: id.into(),
            tier: scored.nodes.map(|nodes| match nodes {
                0 | 1 => Tier::Single,
                2.. => Tier::Two,
            }),
            points: points.collect(),
            left_out: left_out(scored),
        }
    }
}

fn left_out(series: &SeriesAnalysis) -> Vec<String> {
    let sentence = |exclusion: Exclusion, text: &str| {
        let excluded = series.points.iter().map(|point| point.excluded);
        let count = excluded.filter(|found| *found == Some(exclusion)).count();
        (count > 0).then(|| format!("{text}: {count}"))
    };
    [
        sentence(Exclusion::WrongData, "sizes with wrong data"),
        sentence(Exclusion::ZeroSize, "sizes of zero bytes"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
