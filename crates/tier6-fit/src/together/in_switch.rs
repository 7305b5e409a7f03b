//! Two runs of one AllReduce, with and without reduction in the switch.

use super::{SetSeries, is_one, listed};
use crate::Finding;
use crate::analyze::AnalysisOptions;
use crate::finding::note;
use crate::set_up::{Difference, setting_differences};
use crate::wire::nvls_wire;
use tier6_collective::{Algorithm, Collective};
use tier6_units::{Bytes, GbPerSec};

/// Smallest message that counts as large.
const LARGE_BYTES: u64 = 64 << 20;
/// Ratio of busbw from which the pair differs.
const DIFFERS: f64 = 1.05;

/// A pair at one number of ranks.
struct Pair<'a> {
    ranks: u32,
    bytes: Bytes,
    slow: (SetSeries<'a>, f64),
    fast: (SetSeries<'a>, f64),
    how: String,
}

impl Pair<'_> {
    fn differs(&self) -> bool {
        self.fast.1 > DIFFERS * self.slow.1
    }

    /// What each link carries when the switch reduces.
    fn wire(&self) -> f64 {
        let algbw = self.fast.1 / Collective::AllReduce.bus_factor(self.ranks);
        nvls_wire(GbPerSec::new(algbw), self.ranks).get()
    }
}

pub(super) fn findings(series: &[SetSeries], options: &AnalysisOptions) -> Vec<Finding> {
    let mut pairs = Vec::new();
    for (index, one) in series.iter().enumerate() {
        pairs.extend(
            series[index + 1..]
                .iter()
                .filter_map(|other| pair(one, other)),
        );
    }
    pairs.sort_by_key(|pair| (pair.how.clone(), pair.ranks));
    pairs
        .chunk_by(|a, b| a.how == b.how && a.ranks < b.ranks)
        .filter_map(|pairs| finding(pairs, series, options))
        .collect()
}

/// Makes a pair of two series that differ in reduction in the switch, and in nothing else that
/// they tell.
fn pair<'a>(one: &SetSeries<'a>, other: &SetSeries<'a>) -> Option<Pair<'a>> {
    let ranks = one.ranks().filter(|ranks| other.ranks() == Some(*ranks))?;
    let is_pair = one.analysis.collective == Some(Collective::AllReduce)
        && one.is_same_operation(other)
        && one.may_stand_beside(other)
        && is_one(one.analysis.nodes, other.analysis.nodes);
    let how = difference(one, other).filter(|_| is_pair)?;
    let bytes = one.points().map(|point| point.bytes);
    let bytes = bytes.filter(|bytes| other.at(*bytes).is_some()).max()?;
    let rate = |series: &SetSeries| Some(series.at(bytes)?.busbw?.get());
    let (first, second) = ((*one, rate(one)?), (*other, rate(other)?));
    let (slow, fast) = if first.1 <= second.1 {
        (first, second)
    } else {
        (second, first)
    };
    (bytes.get() >= LARGE_BYTES).then_some(Pair {
        ranks,
        bytes,
        slow,
        fast,
        how,
    })
}

/// Names the one difference when it is about NVLS.
fn difference(one: &SetSeries, other: &SetSeries) -> Option<String> {
    let about_nvls = |difference: &Difference| {
        [&difference.what, &difference.first, &difference.second]
            .iter()
            .any(|text| text.to_ascii_lowercase().contains("nvls"))
    };
    let settings = setting_differences(one.setup, other.setup);
    match settings.as_slice() {
        [only] if about_nvls(only) => {
            Some(format!("{}: {} or {}", only.what, only.first, only.second))
        }
        [] if reduces(one) != reduces(other) => Some("by the path that ran".to_owned()),
        _ => None,
    }
}

/// Says whether the largest size ran on NVLS, as far as a path tells.
fn reduces(one: &SetSeries) -> bool {
    let path = one.points().last().and_then(|point| point.path);
    path.is_some_and(|path| matches!(path.algorithm, Algorithm::Nvls | Algorithm::NvlsTree))
}

fn finding(pairs: &[Pair], all: &[SetSeries], options: &AnalysisOptions) -> Option<Finding> {
    // A link that carries a ring's busbw also carries what the switch leaves over.
    let differ: Vec<&Pair> = pairs.iter().filter(|pair| pair.differs()).collect();
    let last = *differ.last()?;
    if differ.iter().any(|pair| pair.wire() > 1.02 * pair.slow.1) {
        return None;
    }
    let rates: Vec<String> = differ
        .iter()
        .map(|pair| {
            format!(
                "{:.1} against {:.1} GB/s on {} ranks",
                pair.fast.1, pair.slow.1, pair.ranks
            )
        })
        .collect();
    let mut parts = vec![format!(
        "all_reduce of {} with and without reduction in the switch ({}): busbw {}. Both are right: \
         busbw assumes a ring, and with NVLS each link carries only algbw x (1 + 1/n), about {:.0} GB/s \
         on {} ranks (estimate)",
        last.bytes,
        last.how,
        listed(&rates),
        last.wire(),
        last.ranks
    )];
    parts.extend(ring_ceiling(pairs, options.line_rate));
    let alike: Vec<String> = pairs
        .iter()
        .filter(|pair| !pair.differs())
        .map(|pair| pair.ranks.to_string())
        .collect();
    if !alike.is_empty() {
        parts.push(format!(
            "no difference on {} ranks, where the default is likely a ring too",
            listed(&alike)
        ));
    }
    parts.extend(halves(last, all));
    parts.push("compare such values with others of their kind only".to_owned());
    Some(note("in-switch-pair", parts.join("; ")))
}

fn ring_ceiling(pairs: &[Pair], rate: Option<GbPerSec>) -> Option<String> {
    let best = pairs.iter().map(|pair| pair.slow.1).reduce(f64::max)?;
    let of = match rate.filter(|rate| rate.get() > 0.0) {
        Some(rate) => format!(
            ", {:.0} % of {:.0} GB/s",
            100.0 * best / rate.get(),
            rate.get()
        ),
        None => " (a ring reaches about 367 of 450 GB/s on H100 and H200, 680 of 900 on B200)"
            .to_owned(),
    };
    Some(format!("without NVLS expect up to {best:.1} GB/s{of}"))
}

/// AllGather and ReduceScatter gain nothing from the switch in the sense of busbw (FACTS B.6).
fn halves(pair: &Pair, all: &[SetSeries]) -> Option<String> {
    let told: Vec<String> = all
        .iter()
        .filter(|one| {
            let kind = one.analysis.collective;
            let is_half = matches!(
                kind,
                Some(Collective::AllGather | Collective::ReduceScatter)
            );
            is_half && one.ranks() == Some(pair.ranks) && one.may_stand_beside(&pair.slow.0)
        })
        .filter_map(|one| {
            let busbw = one.at(pair.bytes)?.busbw?.get();
            let is_ring_like = (busbw / pair.slow.1 - 1.0).abs() < 0.05;
            is_ring_like.then(|| Some(format!("{} {busbw:.1} GB/s", one.analysis.collective?)))?
        })
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "{} stay at the ring's level, as the switch saves them nothing in busbw",
            listed(&told)
        )
    })
}
