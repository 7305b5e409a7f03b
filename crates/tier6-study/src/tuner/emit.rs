//! Plans as rules of a dialect, within what the dialect can say.
//!
//! NVIDIA's example plug-in runs every call without a rule on one channel, so a file for it also
//! needs a word on every other call: NCCL's own choices where the communicator is known, and last,
//! for any scale, Ring with LL for small and Simple for large messages, which every machine can
//! run. Those rows are there to keep the channels, not to be fast.

use super::config::{ConfigPlan, PlannedRow};
use tier6_collective::Protocol;
use tier6_nccl::{
    Candidate, Channels, CostTable, Dialect, Interval, NcclAlgorithm, NcclCollective, TunerRule,
    WriteConfigError, write_config,
};
use tier6_units::Bytes;

/// Up to here LL is the better guess for a machine that nobody measured.
const LL_BYTES_MAX: u64 = (64 << 10) - 1;

/// The rules of a file: those that were asked for, and those that keep other calls as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct EmittedRules {
    /// One per row of the plans.
    pub tuned: Vec<TunerRule>,
    /// Rules for all other calls; empty where the dialect leaves them to NCCL.
    pub rest: Vec<TunerRule>,
}

/// Why plans cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// NCCLX counts bytes per rank.
    #[error("ncclx-csv counts bytes per rank, and the ranks of the {0} sweeps are not known")]
    RanksUnknown(NcclCollective),
    /// The dialect cannot say it.
    #[error(transparent)]
    Write(#[from] WriteConfigError),
}

/// Returns the rules of `plans` in a dialect; `table` is the communicator, when known.
///
/// # Errors
///
/// Fails for NCCLX when the number of ranks is not known.
pub fn emit_rules(
    plans: &[ConfigPlan],
    dialect: Dialect,
    table: Option<&CostTable>,
) -> Result<EmittedRules, EmitError> {
    let mut tuned = Vec::new();
    for plan in plans {
        let mut next = 0;
        for row in &plan.rows {
            let rule = rule(plan, row, dialect, next)?;
            if !rule.bytes.is_empty() {
                next = rule.bytes.most.saturating_add(1);
                tuned.push(rule);
            }
        }
    }
    let rest = match dialect {
        Dialect::NvidiaExample => rest(plans, table),
        Dialect::Rccl | Dialect::NcclxCsv => Vec::new(),
    };
    Ok(EmittedRules { tuned, rest })
}

/// Writes `plans` as a file of a dialect.
///
/// # Errors
///
/// Fails when the dialect cannot say what a plan says.
pub fn write_plans(
    plans: &[ConfigPlan],
    dialect: Dialect,
    table: Option<&CostTable>,
) -> Result<String, EmitError> {
    let EmittedRules { mut tuned, rest } = emit_rules(plans, dialect, table)?;
    tuned.extend(rest);
    Ok(write_config(&tuned, dialect)?)
}

fn rule(
    plan: &ConfigPlan,
    row: &PlannedRow,
    dialect: Dialect,
    next: u64,
) -> Result<TunerRule, EmitError> {
    let last = row.last.map_or(u64::MAX, Bytes::get);
    let exactly =
        |number: Option<u32>| number.map_or(Interval::ANY, |n| Interval::exactly(u64::from(n)));
    let (last, ranks) = match dialect {
        Dialect::NvidiaExample | Dialect::Rccl => (last, exactly(plan.ranks)),
        Dialect::NcclxCsv => {
            let ranks = plan.ranks.filter(|ranks| *ranks > 0);
            let ranks = ranks.ok_or(EmitError::RanksUnknown(plan.collective))?;
            // Both round down, as NCCLX does.
            let per_node = plan.nodes.filter(|nodes| *nodes > 0).map(|n| ranks / n);
            let last = row
                .last
                .map_or(u64::MAX, |last| last.get() / u64::from(ranks));
            (last, exactly(per_node))
        }
    };
    Ok(TunerRule {
        line: 0,
        collective: plan.collective,
        bytes: Interval::new(next, last),
        candidate: row.ask.candidate,
        channels: row.ask.channels.map_or(Channels::Own, Channels::Exactly),
        nodes: exactly(plan.nodes),
        ranks,
        pipe_ops: Interval::ANY,
        registered: Interval::ANY,
        chunk_bytes: None,
    })
}

fn rest(plans: &[ConfigPlan], table: Option<&CostTable>) -> Vec<TunerRule> {
    let mut rules = Vec::new();
    for collective in NcclCollective::ALL {
        let is_planned = plans.iter().any(|plan| plan.collective == collective);
        if let Some(table) = table.filter(|_| !is_planned) {
            rules.extend(table.own_rules(collective).unwrap_or_default());
        }
    }
    for collective in NcclCollective::ALL {
        let is_any_scale = plans.iter().any(|plan| {
            plan.collective == collective && plan.ranks.is_none() && plan.nodes.is_none()
        });
        if !is_any_scale {
            rules.extend(guesses(collective));
        }
    }
    rules
}

/// Ring on any scale, channels as NCCL counts them.
fn guesses(collective: NcclCollective) -> [TunerRule; 2] {
    let rule = |protocol, least, most| TunerRule {
        line: 0,
        collective,
        bytes: Interval::new(least, most),
        candidate: Candidate {
            algorithm: NcclAlgorithm::Ring,
            protocol,
        },
        channels: Channels::Own,
        nodes: Interval::ANY,
        ranks: Interval::ANY,
        pipe_ops: Interval::ANY,
        registered: Interval::ANY,
        chunk_bytes: None,
    };
    [
        rule(Protocol::Ll, 0, LL_BYTES_MAX),
        rule(Protocol::Simple, LL_BYTES_MAX + 1, u64::MAX),
    ]
}
