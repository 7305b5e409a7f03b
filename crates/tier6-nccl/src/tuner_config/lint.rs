//! Finds what a configuration file does beside what it says.

use super::{Channels, Dialect, Finding, Interval, RuleCode, Severity, TunerConfig, TunerRule};
use crate::call::Call;
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::choice::Entry;
use crate::cost_table::CostTable;
use crate::release::Release;
use crate::why_not::WhyNot;
use tier6_collective::{DataType, Protocol, RedOp};

/// Sizes up to here are in use: 8 GiB.
const BYTES_IN_USE: u64 = 8 << 30;

/// What a file is checked against beside itself.
#[derive(Debug, Clone, Default)]
pub struct LintContext<'a> {
    /// The communicator that the file is meant for.
    pub table: Option<&'a CostTable>,
    /// The release that the file is meant for, where the communicator is not known.
    pub release: Option<&'static Release>,
    /// Names of environment variables that are set where the file is used.
    pub variables: Vec<&'a str>,
}

/// Returns everything that reading and checking brought up, by line.
pub fn lint_config(config: &TunerConfig, context: &LintContext<'_>) -> Vec<Finding> {
    let mut findings = config.findings.clone();
    for rule in &config.rules {
        findings.extend(one_channel(rule));
        findings.extend(never_matches(rule));
        findings.extend(impossible(rule, config.dialect, context));
    }
    findings.extend(shadowed(config));
    for collective in NcclCollective::ALL {
        for group in groups(config, collective) {
            findings.extend(ranges(&group, config.dialect));
            findings.extend(alternating(&group));
        }
    }
    findings.extend(no_catch_all(config, context));
    findings.extend(environment(config, context));
    findings.sort_by_key(|finding| (finding.line, finding.code));
    findings
}

fn one_channel(rule: &TunerRule) -> Option<Finding> {
    (rule.channels == Channels::OneByMistake).then(|| {
        Finding::new(
            RuleCode::OneChannel,
            Severity::Error,
            rule.line,
            "-1 channels are one channel in this plug-in; hint: 0 keeps NCCL's count",
        )
    })
}

fn never_matches(rule: &TunerRule) -> Option<Finding> {
    let why = if rule.bytes.is_empty() {
        "the smallest size is above the largest"
    } else if rule.pipe_ops.most == 0 || rule.pipe_ops.is_empty() {
        "a call has at least one pipelined operation"
    } else if !rule.registered.overlaps(Interval::new(0, 1)) {
        "registered buffers are 0 or 1"
    } else if rule.nodes.most == 0 || rule.nodes.is_empty() {
        "a communicator has at least one node"
    } else if rule.ranks.most == 0 || rule.ranks.is_empty() {
        "a communicator has at least one rank"
    } else {
        return None;
    };
    let message = format!("no call matches: {why}");
    let (code, severity) = (RuleCode::NeverMatches, Severity::Info);
    Some(Finding::new(code, severity, rule.line, message))
}

/// Combinations that NCCL does not run: never at all, or not on this communicator.
fn impossible(rule: &TunerRule, dialect: Dialect, context: &LintContext<'_>) -> Option<Finding> {
    let here = context.table.filter(|table| is_for(rule, table));
    let why = match here {
        Some(table) => why_not_here(rule, table)?,
        None => why_never(rule.collective, rule.candidate)
            .or_else(|| why_not_at(rule, dialect, context.release))?,
    };
    let is_ll128 = matches!(
        why,
        WhyNot::Ll128Network | WhyNot::Ll128Intra | WhyNot::Ll128Mixed | WhyNot::Ll128CompCap
    );
    let code = if is_ll128 {
        RuleCode::UnsafeLl128
    } else {
        RuleCode::Impossible
    };
    let message = format!(
        "{} of {} is not available: {why}; the rule is passed over",
        rule.candidate,
        rule.collective.plain_name()
    );
    Some(Finding::new(code, Severity::Error, rule.line, message))
}

fn why_never(collective: NcclCollective, candidate: Candidate) -> Option<WhyNot> {
    use NcclCollective::{AllGather, AllReduce, Broadcast, Reduce, ReduceScatter};
    let simple_only = candidate.algorithm != NcclAlgorithm::Tree
        && candidate.algorithm != NcclAlgorithm::Ring
        && candidate.protocol != Protocol::Simple;
    let does = match (candidate.algorithm, collective) {
        (NcclAlgorithm::Ring, _)
        | (
            NcclAlgorithm::Tree | NcclAlgorithm::CollNetChain | NcclAlgorithm::NvlsTree,
            AllReduce,
        )
        | (
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::Nvls,
            AllReduce | AllGather | ReduceScatter,
        )
        | (NcclAlgorithm::Pat, AllGather | ReduceScatter) => true,
        (_, Broadcast | Reduce | AllGather | ReduceScatter | AllReduce) => false,
    };
    if !does {
        Some(WhyNot::Collective)
    } else if simple_only {
        Some(WhyNot::Protocol)
    } else {
        None
    }
}

/// What the release and the rule's own nodes and ranks exclude.
fn why_not_at(
    rule: &TunerRule,
    dialect: Dialect,
    release: Option<&'static Release>,
) -> Option<WhyNot> {
    let algorithm = rule.candidate.algorithm;
    if algorithm == NcclAlgorithm::Pat && release.is_some_and(|release| !release.has_pat()) {
        return Some(WhyNot::NotInRelease);
    }
    let exact = |range: Interval| (range.least == range.most).then_some(range.least);
    let nodes = exact(rule.nodes)?;
    if algorithm == NcclAlgorithm::NvlsTree && nodes == 1 {
        return Some(WhyNot::OneNode);
    }
    let one_per_node = match dialect {
        Dialect::NvidiaExample | Dialect::Rccl => nodes,
        Dialect::NcclxCsv => 1,
    };
    let is_nvls = matches!(algorithm, NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree);
    let is_alone = nodes > 1 && exact(rule.ranks) == Some(one_per_node);
    (is_nvls && is_alone).then_some(WhyNot::NvlsOneRankPerNode)
}

/// A float sum is what most rules are written for, and what most algorithms can do.
fn why_not_here(rule: &TunerRule, table: &CostTable) -> Option<WhyNot> {
    let communicator = table.communicator();
    let (datatype, op) = (DataType::Float, RedOp::Sum);
    let call = Call::new(
        communicator,
        rule.collective,
        rule.bytes.least,
        datatype,
        op,
    );
    match table.entry(&call, rule.candidate) {
        Entry::Time(_) => None,
        Entry::Backup(_) => Some(WhyNot::Backup(rule.candidate.protocol)),
        Entry::Unavailable { why, .. } => Some(why),
    }
}

fn shadowed(config: &TunerConfig) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, rule) in config.rules.iter().enumerate() {
        let earlier = config.rules[..index]
            .iter()
            .find(|earlier| takes_all(earlier, rule));
        if let Some(earlier) = earlier {
            let message = format!(
                "the rule of line {} takes every call of this one",
                earlier.line
            );
            let (code, severity) = (RuleCode::Shadowed, Severity::Warning);
            findings.push(Finding::new(code, severity, rule.line, message));
        }
    }
    findings
}

fn takes_all(earlier: &TunerRule, rule: &TunerRule) -> bool {
    earlier.collective == rule.collective
        && earlier.bytes.covers(rule.bytes)
        && earlier.nodes.covers(rule.nodes)
        && earlier.ranks.covers(rule.ranks)
        && earlier.pipe_ops.covers(rule.pipe_ops)
        && earlier.registered.covers(rule.registered)
}

/// Rules of one collective under equal conditions, in the order of the file.
fn groups(config: &TunerConfig, collective: NcclCollective) -> Vec<Vec<&TunerRule>> {
    let mut groups: Vec<Vec<&TunerRule>> = Vec::new();
    for rule in config
        .rules
        .iter()
        .filter(|rule| rule.collective == collective)
    {
        let same = |group: &&mut Vec<&TunerRule>| {
            let first = group[0];
            (first.nodes, first.ranks, first.pipe_ops, first.registered)
                == (rule.nodes, rule.ranks, rule.pipe_ops, rule.registered)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(rule),
            None => groups.push(vec![rule]),
        }
    }
    groups
}

fn ranges(group: &[&TunerRule], dialect: Dialect) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |code, line, message: String| {
        findings.push(Finding::new(code, Severity::Warning, line, message));
    };
    for pair in group.windows(2) {
        let (before, rule) = (pair[0], pair[1]);
        let (line, earlier) = (rule.line, before.line);
        if rule.bytes.least < before.bytes.least {
            let message = format!("sizes start below those of line {earlier}");
            find(RuleCode::Unsorted, line, message);
        } else if before.bytes.overlaps(rule.bytes) && !before.bytes.covers(rule.bytes) {
            let message = format!("sizes overlap those of line {earlier}, which wins");
            find(RuleCode::Overlap, line, message);
        } else if before.bytes.most.saturating_add(1) < rule.bytes.least {
            let message = format!(
                "no rule for {} to {} bytes",
                before.bytes.most + 1,
                rule.bytes.least - 1
            );
            find(RuleCode::Gap, line, message);
        }
    }
    let last = group
        .iter()
        .filter(|rule| !rule.bytes.is_empty())
        .max_by_key(|rule| rule.bytes.most);
    if let Some(last) = last.filter(|last| last.bytes.most < BYTES_IN_USE) {
        let effect = match dialect {
            Dialect::NvidiaExample => "larger calls run on one channel",
            Dialect::Rccl | Dialect::NcclxCsv => "larger calls get NCCL's own choice",
        };
        let message = format!(
            "the largest range ends at {} bytes; {effect}",
            last.bytes.most
        );
        find(RuleCode::EndsEarly, last.line, message);
    }
    findings
}

/// Two candidates that take turns three times or more are rather noise than two regions.
fn alternating(group: &[&TunerRule]) -> Option<Finding> {
    let returns = group.windows(3).filter(|three| {
        let [a, b, c] = [three[0], three[1], three[2]].map(|rule| (rule.candidate, rule.channels));
        a == c && a != b
    });
    let returns = returns.count();
    (returns >= 2).then(|| {
        let message = format!(
            "the choice goes back to the one before {returns} times over the sizes; measure again, or join the ranges"
        );
        let line = group[0].line;
        Finding::new(RuleCode::Alternating, Severity::Warning, line, message)
    })
}

/// Says whether a rule's nodes and ranks are those of the communicator.
fn is_for(rule: &TunerRule, table: &CostTable) -> bool {
    let communicator = table.communicator();
    rule.nodes
        .contains(u64::from(communicator.n_nodes.unsigned_abs()))
        && rule
            .ranks
            .contains(u64::from(communicator.n_ranks.unsigned_abs()))
}

/// In NVIDIA's example every call that no rule takes runs on one channel.
fn no_catch_all(config: &TunerConfig, context: &LintContext<'_>) -> Option<Finding> {
    if config.dialect != Dialect::NvidiaExample {
        return None;
    }
    let open: Vec<&str> = NcclCollective::ALL
        .into_iter()
        .filter(|&collective| !is_caught(config, context, collective))
        .map(NcclCollective::plain_name)
        .collect();
    (!open.is_empty()).then(|| {
        let message = format!(
            "calls without a rule run on one channel; no rule takes every call of {}; hint: end with `COLLECTIVE,0,{},ring,simple,0,-1,-1` for each",
            open.join(", "),
            u64::MAX
        );
        Finding::new(RuleCode::NoCatchAll, Severity::Warning, 0, message)
    })
}

/// Says whether rules without conditions (or, where the communicator is known, with its nodes
/// and ranks) take every size of a collective.
fn is_caught(config: &TunerConfig, context: &LintContext<'_>, collective: NcclCollective) -> bool {
    let is_general = |rule: &&TunerRule| {
        let any_scale = (rule.nodes, rule.ranks) == (Interval::ANY, Interval::ANY);
        rule.collective == collective
            && (rule.pipe_ops, rule.registered) == (Interval::ANY, Interval::ANY)
            && (any_scale || context.table.is_some_and(|table| is_for(rule, table)))
    };
    let mut ranges: Vec<Interval> = config
        .rules
        .iter()
        .filter(is_general)
        .map(|rule| rule.bytes)
        .collect();
    ranges.sort_by_key(|range| range.least);
    let mut next = 0_u64;
    for range in ranges {
        if range.least > next {
            return false;
        }
        match range.most.checked_add(1) {
            None => return true,
            Some(after) => next = next.max(after),
        }
    }
    next > BYTES_IN_USE
}

fn environment(config: &TunerConfig, context: &LintContext<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &name in &context.variables {
        if !config.rules.is_empty() && matches!(name, "NCCL_ALGO" | "NCCL_PROTO") {
            let message = format!(
                "{name} is set: rules for what it leaves out are passed over, and some plug-ins refuse to run"
            );
            let (code, severity) = (RuleCode::Environment, Severity::Warning);
            findings.push(Finding::new(code, severity, 0, message));
        }
    }
    findings
}
