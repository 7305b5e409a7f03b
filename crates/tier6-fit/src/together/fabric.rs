//! Large-message busbw over numbers of ranks of one node: which fabric, and what to expect of
//! other numbers of ranks.

use super::{SetSeries, by_ranks, listed, shared_sizes};
use crate::Finding;
use crate::analyze::AnalysisOptions;
use crate::finding::note;
use crate::rank_trend::{RankTrend, TrendFit, rank_trend};
use crate::wire::nvls_wire;
use tier6_collective::Collective;
use tier6_units::GbPerSec;

/// Smallest message that counts as large.
const LARGE_BYTES: u64 = 64 << 20;
/// Most ranks of one node when the input does not tell the nodes.
const ONE_NODE_RANKS_MAX: u32 = 16;
/// Largest spread of what should be constant, in percent.
const HOLDS_PCT: f64 = 10.0;
/// How many times the spread of the next best trend must be larger.
const CLEARLY: f64 = 2.0;
/// Spread of the next best trend, in percent, that a statement on all ranks needs.
const DISTINCT_PCT: f64 = 12.0;
/// Growth of busbw where reduction in the switch takes over from a ring.
const STEP_UP: f64 = 1.05;

/// Fewest ranks whose AllReduce gains from reduction in the switch.
const IN_SWITCH_RANKS: u32 = 4;

/// Number of ranks and busbw at one large size.
type Rates = [(u32, GbPerSec)];

pub(super) fn findings(group: &[SetSeries], options: &AnalysisOptions) -> Vec<Finding> {
    by_ranks(group)
        .iter()
        .filter_map(|set| finding(set, options))
        .collect()
}

fn finding(set: &[(u32, SetSeries)], options: &AnalysisOptions) -> Option<Finding> {
    let collective = set[0].1.analysis.collective.filter(|collective| {
        matches!(
            collective,
            Collective::AllReduce | Collective::AllGather | Collective::ReduceScatter
        )
    })?;
    let is_one_node = set.iter().all(|(ranks, one)| match one.analysis.nodes {
        Some(nodes) => nodes == 1,
        None => *ranks <= ONE_NODE_RANKS_MAX,
    });
    let bytes = shared_sizes(set.iter().map(|(_, one)| *one))
        .into_iter()
        .max()?;
    if set.len() < 2 || !is_one_node || bytes.get() < LARGE_BYTES {
        return None;
    }
    let rates: Vec<(u32, GbPerSec)> = set
        .iter()
        .filter_map(|(ranks, one)| Some((*ranks, one.at(bytes)?.busbw?)))
        .collect();
    let rate = options.line_rate;
    let message = match whole(collective, &rates) {
        Some(fit) => match fit.trend {
            RankTrend::FlatBusbw => flat_busbw(&rates, rate),
            RankTrend::FlatAlgbw => flat_algbw(&rates, &fit),
            RankTrend::PerLink => per_link(&rates, &fit, rate),
        },
        None => takes_over(collective, &rates)?,
    };
    Some(note(
        "rank-trend",
        format!("{collective} of {bytes} on {}: {message}", ranks_of(&rates)),
    ))
}

/// The trend of all numbers of ranks, when one holds and no other comes near.
fn whole(collective: Collective, rates: &Rates) -> Option<TrendFit> {
    let fit = rank_trend(collective, rates)?;
    let holds = fit.spread_pct <= HOLDS_PCT
        && fit.runner_up_pct >= DISTINCT_PCT.max(CLEARLY * fit.spread_pct);
    // The switch pays from four ranks on (FACTS B.6).
    let allowed = match fit.trend {
        RankTrend::FlatBusbw | RankTrend::PerLink => true,
        RankTrend::FlatAlgbw => {
            collective == Collective::AllReduce && rates.len() > 2 && rates[0].0 >= IN_SWITCH_RANKS
        }
    };
    (holds && allowed).then_some(fit)
}

fn ranks_of(rates: &Rates) -> String {
    let ranks: Vec<String> = rates.iter().map(|(ranks, _)| ranks.to_string()).collect();
    format!("{} ranks", listed(&ranks))
}

fn span(values: impl Iterator<Item = f64> + Clone) -> String {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(0.0, f64::max);
    if format!("{low:.1}") == format!("{high:.1}") {
        format!("{low:.1} GB/s")
    } else {
        format!("{low:.1} to {high:.1} GB/s")
    }
}

fn busbw(rates: &Rates) -> String {
    span(rates.iter().map(|(_, rate)| rate.get()))
}

fn share(value: f64, rate: Option<GbPerSec>) -> String {
    match rate.filter(|rate| rate.get() > 0.0) {
        Some(rate) => format!(
            ", {:.0} % of {:.0} GB/s",
            100.0 * value / rate.get(),
            rate.get()
        ),
        None => String::new(),
    }
}

fn mean(rates: &Rates) -> f64 {
    rates.iter().map(|(_, rate)| rate.get()).sum::<f64>() / rates.len() as f64
}

fn flat_busbw(rates: &Rates, rate: Option<GbPerSec>) -> String {
    format!(
        "busbw is flat in the number of ranks ({}{}), as of a ring on links that stay the \
         same, through a switch for one; this is the ceiling to expect of a ring on this machine \
         (estimate, for other numbers of ranks too)",
        busbw(rates),
        share(mean(rates), rate)
    )
}

fn flat_algbw(rates: &Rates, fit: &TrendFit) -> String {
    let algbw =
        |(ranks, rate): &(u32, GbPerSec)| rate.get() / Collective::AllReduce.bus_factor(*ranks);
    let wire = rates
        .iter()
        .map(|one| nvls_wire(GbPerSec::new(algbw(one)), one.0).get());
    format!(
        "busbw rises with the number of ranks ({}) while algbw stays nearly constant ({}, spread {:.1} \
         %; of busbw {:.1} %): likely reduction in the switch (NVLS), where busbw is no wire rate; each \
         link carries about algbw x (1 + 1/n) = {} (estimate); use algbw in models",
        busbw(rates),
        span(rates.iter().map(algbw)),
        fit.spread_pct,
        fit.runner_up_pct,
        span(wire)
    )
}

/// Few ranks on a ring, more ranks with the switch's help.
fn takes_over(collective: Collective, rates: &Rates) -> Option<String> {
    if collective != Collective::AllReduce {
        return None;
    }
    let (below, above, fit) = (1..rates.len().saturating_sub(2)).find_map(|at| {
        let (below, above) = rates.split_at(at);
        let fit = rank_trend(collective, above)?;
        let high = below.iter().map(|(_, rate)| rate.get()).fold(0.0, f64::max);
        let low = below
            .iter()
            .map(|(_, rate)| rate.get())
            .fold(f64::INFINITY, f64::min);
        let least = above
            .iter()
            .map(|(_, rate)| rate.get())
            .fold(f64::INFINITY, f64::min);
        let is_flat = high <= STEP_UP * low;
        let holds = above[0].0 >= IN_SWITCH_RANKS
            && fit.trend == RankTrend::FlatAlgbw
            && CLEARLY * fit.spread_pct <= fit.runner_up_pct;
        (is_flat && holds && least > STEP_UP * high).then_some((below, above, fit))
    })?;
    Some(format!(
        "up to {} ranks busbw is {}, ring-like; from {} ranks on {}",
        below[below.len() - 1].0,
        busbw(below),
        above[0].0,
        flat_algbw(above, &fit)
    ))
}

fn per_link(rates: &Rates, fit: &TrendFit, rate: Option<GbPerSec>) -> String {
    let (few, many) = (rates[0], rates[rates.len() - 1]);
    let links = |ranks: u32| f64::from(ranks - 1);
    let per = |one: &(u32, GbPerSec)| one.1.get() / links(one.0);
    // The line rate is that of a rank with all its links in use.
    let link_rate = rate.map(|rate| GbPerSec::new(rate.get() / links(many.0)));
    let shares: Vec<String> = [few, many]
        .iter()
        .map(|one| {
            format!(
                "{:.1} GB/s per link{}",
                per(one),
                share(per(one), link_rate)
            )
        })
        .collect();
    let estimate = (few.0..many.0)
        .rev()
        .find(|ranks| ranks.is_power_of_two() && !rates.iter().any(|(known, _)| known == ranks))
        .map_or_else(String::new, |ranks| {
            let all: Vec<f64> = rates.iter().map(per).collect();
            let low = all.iter().copied().fold(f64::INFINITY, f64::min);
            let high = all.iter().copied().fold(0.0, f64::max);
            format!(
                "; estimate for {ranks} ranks: {:.0} to {:.0} GB/s",
                links(ranks) * low,
                links(ranks) * high
            )
        });
    format!(
        "busbw {:.1} and {:.1} GB/s, a ratio of {:.2} at {:.2} times the links: each rank seems to have a \
         link to every other (spread {:.1} %), {} ({} ranks) and {} ({} ranks), so no link stands \
         out as bad{estimate}. Behind a switch 2 ranks would get the busbw of all",
        few.1.get(),
        many.1.get(),
        many.1.get() / few.1.get(),
        links(many.0) / links(few.0),
        fit.spread_pct,
        shares[0],
        few.0,
        shares[1],
        many.0,
    )
}
