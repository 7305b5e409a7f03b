//! The rank check of a fit: which constants its times tell, and what would tell the others.

use super::constant::Key;
use super::site::Sites;
use super::solve::{Problem, Solution};
use super::{Observed, Refused};
use crate::identify::{Design, TwoLevel};
use tier6_units::Bytes;

/// What the fitted times can tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) rank: usize,
    /// Constants that no fitted time depends on: their path is never the fastest.
    pub(super) idle: Vec<usize>,
    /// Groups of constants that cannot be told apart.
    groups: Vec<Vec<usize>>,
    /// By constant of the model: relative standard deviation per unit of noise.
    pub(super) relative_sd: Vec<Option<f64>>,
}

/// Decomposes the derivatives of the fitted times.
pub(super) fn check(problem: &Problem<'_>, solution: &Solution) -> Told {
    let n: usize = problem.observed.iter().map(|set| set.points.len()).sum();
    let residuals = problem.residuals(&solution.logs);
    let columns = residuals.columns.iter().map(|column| column[..n].to_vec());
    let columns: Vec<Vec<f64>> = columns.collect();
    let is_idle = |column: &Vec<f64>| column.iter().all(|value| *value == 0.0);
    let (idle, busy): (Vec<usize>, Vec<usize>) =
        (0..columns.len()).partition(|index| is_idle(&columns[*index]));
    let of_model = |indices: &[usize]| -> Vec<usize> {
        indices.iter().map(|index| problem.free[*index]).collect()
    };
    let mut told = Told {
        rank: 0,
        idle: of_model(&idle),
        groups: Vec::new(),
        relative_sd: vec![None; problem.model.keys().len()],
    };
    let names = busy.iter().map(|index| problem.free[*index]);
    let names: Vec<String> = names
        .map(|at| problem.model.keys()[at].to_string())
        .collect();
    let busy_columns = busy.iter().map(|index| columns[*index].clone()).collect();
    let Some(design) = Design::new(names, busy_columns) else {
        return told;
    };
    let found = design.identify();
    told.rank = found.rank;
    for (index, sd) in busy.iter().zip(&found.relative_sd) {
        told.relative_sd[problem.free[*index]] = *sd;
    }
    told.groups = found
        .groups
        .iter()
        .map(|group| {
            group
                .iter()
                .map(|index| problem.free[busy[*index]])
                .collect()
        })
        .collect();
    told
}

/// Names the groups, with the measurements that would part them.
pub(super) fn confounded(
    problem: &Problem<'_>,
    told: &Told,
    observed: &[&Observed],
    sites: &Sites,
) -> Vec<Refused> {
    let key = |at: usize| &problem.model.keys()[at];
    let mut refused = Vec::new();
    let settings = if told.groups.is_empty() {
        Vec::new()
    } else {
        missing_settings(observed, sites)
    };
    for group in &told.groups {
        let mut names: Vec<String> = group.iter().map(|at| key(*at).to_string()).collect();
        names.sort();
        refused.push(Refused {
            names,
            why: "the measurements tell these only together".to_owned(),
            measure: if settings.is_empty() {
                all_forced(group.iter().map(|at| key(*at)))
            } else {
                settings.clone()
            },
        });
    }
    for at in &told.idle {
        refused.push(Refused {
            names: vec![key(*at).to_string()],
            why: "no fitted time depends on it: its path is never the fastest".to_owned(),
            measure: forced(key(*at)),
        });
    }
    refused.sort_by(|a, b| a.names.cmp(&b.names));
    refused
}

/// Returns the settings whose measurement would tell all constants of the two-level model.
fn missing_settings(observed: &[&Observed], sites: &Sites) -> Vec<String> {
    let mut settings: Vec<_> = observed
        .iter()
        .map(|set| sites.setting(&set.call))
        .collect();
    settings.sort_unstable();
    settings.dedup();
    let sizes = || {
        observed
            .iter()
            .flat_map(|set| set.points.iter().map(|point| point.bytes))
    };
    // Two sizes tell a slope and an intercept; more of them tell no other direction.
    let ends: Vec<Bytes> = sizes().min().into_iter().chain(sizes().max()).collect();
    let reach = if sites.is_multi_node() { u32::MAX } else { 1 };
    let missing = TwoLevel::TYPICAL.missing(&settings, &ends);
    let within = missing.iter().filter(|setting| setting.nodes <= reach);
    within.map(ToString::to_string).collect()
}

/// Returns the runs in which the paths of a group are taken, each once.
fn all_forced<'a>(group: impl Iterator<Item = &'a Key>) -> Vec<String> {
    let mut paths: Vec<String> = group.flat_map(forced).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the run in which the constant's path is taken.
fn forced(key: &Key) -> Vec<String> {
    let run = match key {
        Key::Step(_, protocol) | Key::Share(_, protocol) => {
            let name = protocol.name().to_uppercase();
            format!("a sweep with `NCCL_PROTO={name}`")
        }
        Key::NvlsRate | Key::NvlsAlpha => "a sweep with `NCCL_ALGO=NVLS`".to_owned(),
        Key::SharpAlpha | Key::SharpEfficiency => {
            "a sweep with `NCCL_ALGO=CollnetDirect`".to_owned()
        }
        Key::Efficiency(_) => "a sweep with `NCCL_ALGO=Ring` up to large sizes".to_owned(),
        Key::Software | Key::Latency(_) => return Vec::new(),
    };
    vec![run]
}
