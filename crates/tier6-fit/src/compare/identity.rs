//! Whether two runs may be compared at all, and what makes the comparison doubtful.

use super::ComparedRun;
use crate::set_up::timing_facts;
use tier6_collective::Collective;
use tier6_measure::{Correctness, Ranks, RunEnd};

/// Why two series cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Different operations.
    #[error("the baseline is {base}, the new run is {new}; compare runs of one collective")]
    Collective {
        /// The baseline's.
        base: Collective,
        /// The new run's.
        new: Collective,
    },
    /// Different numbers of ranks.
    #[error("the baseline has {base} ranks, the new run {new}; compare runs of one size")]
    Ranks {
        /// The baseline's.
        base: String,
        /// The new run's.
        new: String,
    },
    /// Nothing to compare.
    #[error("no message size is usable in both runs")]
    NoCommonSize,
}

/// Checks what must agree and returns a warning for each thing that should.
pub(super) fn check(base: &ComparedRun, new: &ComparedRun) -> Result<Vec<String>, CompareError> {
    match (base.series.collective, new.series.collective) {
        (Some(base), Some(new)) if base != new => {
            return Err(CompareError::Collective { base, new });
        }
        _ => {}
    }
    let (ranks, new_ranks) = (base.series.ranks, new.series.ranks);
    if let (Some(a), Some(b)) = (interval(ranks), interval(new_ranks))
        && (a.1 < b.0 || b.1 < a.0)
    {
        return Err(CompareError::Ranks {
            base: shown(a),
            new: shown(b),
        });
    }
    let mut warnings = differences(base, new);
    for (name, run) in [("baseline", base), ("new run", new)] {
        if run.correctness == Correctness::NotChecked {
            warnings.push(format!("the results of the {name} were not checked"));
        }
        if *run.end == RunEnd::Unfinished {
            warnings.push(format!("the {name} is unfinished, or its end was cut off"));
        }
    }
    if base.series.collective.is_none() || new.series.collective.is_none() {
        warnings.push("the collective is not certain on both sides".to_owned());
    }
    if ranks.exact().is_none() || new_ranks.exact().is_none() {
        warnings.push("the number of ranks is not certain on both sides".to_owned());
    }
    Ok(warnings)
}

/// Names what belongs to a run's identity and differs; what one side does not tell is no
/// difference.
fn differences(base: &ComparedRun, new: &ComparedRun) -> Vec<String> {
    let facts = |run: &ComparedRun| {
        let series = run.series;
        [
            ("placement", Some(series.placement.to_string())),
            (
                "data type",
                series.datatype.map(|datatype| datatype.to_string()),
            ),
            (
                "reduction",
                series.redop.map(|redop| redop.name().to_owned()),
            ),
            (
                "number of nodes",
                series.nodes.map(|nodes| nodes.to_string()),
            ),
        ]
    };
    let all = |run: &ComparedRun| facts(run).into_iter().chain(timing_facts(run.setup));
    all(base)
        .zip(all(new))
        .filter_map(|((what, old), (_, new))| {
            let (old, new) = (old?, new?);
            (old != new)
                .then(|| format!("{what} differs: {old} in the baseline, {new} in the new run"))
        })
        .collect()
}

const fn interval(ranks: Ranks) -> Option<(u32, u32)> {
    match ranks {
        Ranks::Stated(n) => Some((n, n)),
        Ranks::Estimated { low, high } => Some((low, high)),
        Ranks::Unknown => None,
    }
}

fn shown((low, high): (u32, u32)) -> String {
    if low == high {
        low.to_string()
    } else {
        format!("{low} to {high}")
    }
}
