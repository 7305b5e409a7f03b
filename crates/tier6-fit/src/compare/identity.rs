//! Whether two runs may be compared at all, and what makes the comparison doubtful.

use super::ComparedRun;
use tier6_collective::Collective;
use tier6_measure::{Correctness, Ranks};

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
    let mut warnings = Vec::new();
    let mut differ = |what: &str, a: Option<String>, b: Option<String>| {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            warnings.push(format!(
                "{what} differs: {a} in the baseline, {b} in the new run"
            ));
        }
    };
    let (a, b) = (base.series, new.series);
    differ(
        "placement",
        Some(a.placement.to_string()),
        Some(b.placement.to_string()),
    );
    differ(
        "data type",
        a.datatype.map(|t| t.to_string()),
        b.datatype.map(|t| t.to_string()),
    );
    differ(
        "reduction",
        a.redop.map(|op| op.to_string()),
        b.redop.map(|op| op.to_string()),
    );
    differ(
        "number of nodes",
        a.nodes.map(|n| n.to_string()),
        b.nodes.map(|n| n.to_string()),
    );
    let (a, b) = (base.setup, new.setup);
    // nccl-tests' defaults: one operation per group, no graph. A header that was not seen says nothing.
    let known = |seen: bool, value: Option<u32>, default: u32| {
        (seen || value.is_some()).then(|| value.unwrap_or(default).to_string())
    };
    differ(
        "number of operations per group",
        known(a.header_seen, a.aggregated_iterations, 1),
        known(b.header_seen, b.aggregated_iterations, 1),
    );
    differ(
        "number of graph launches",
        known(a.header_seen, a.graph_launches, 0),
        known(b.header_seen, b.graph_launches, 0),
    );
    differ("blocking mode", a.blocking.clone(), b.blocking.clone());
    for (name, run) in [("baseline", base), ("new run", new)] {
        if run.correctness == Correctness::NotChecked {
            warnings.push(format!("the results of the {name} were not checked"));
        }
    }
    if ranks.exact().is_none() || new_ranks.exact().is_none() {
        warnings.push("the number of ranks is not certain on both sides".to_owned());
    }
    Ok(warnings)
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
