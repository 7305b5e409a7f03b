//! What a run's set-up and footer say about the numbers of its series.

use crate::finding::{note, warning};
use crate::rank_latency::ring_steps;
use crate::{Finding, SeriesAnalysis};
use tier6_measure::{Run, RunEnd};

/// No link passes anything on in less than this many us; a faster "step" was not a step.
const STEP_MIN_US: f64 = 0.3;

/// Most hosts that are named.
const HOSTS_MAX: usize = 8;

/// Adds the findings of a run to each of its analyses, keeping the most severe first.
pub(crate) fn add_run_findings(run: &Run, analyses: &mut [SeriesAnalysis]) {
    let shared: Vec<Finding> = [unfinished(run), average(run, analyses)]
        .into_iter()
        .flatten()
        .collect();
    for analysis in analyses {
        analysis.findings.extend(amortised(run, analysis));
        analysis.findings.extend(shared.iter().cloned());
        analysis.findings.sort_by_key(|finding| finding.severity);
    }
}

fn unfinished(run: &Run) -> Option<Finding> {
    match &run.end {
        RunEnd::Aborted { hosts, message } => Some(warning(
            "aborted",
            format!(
                "the run ended with `{message}`{}; the rows before it are usable, but the run did not \
                 pass",
                on_hosts(hosts)
            ),
        )),
        RunEnd::Complete | RunEnd::Unfinished | RunEnd::NotStated => None,
    }
}

/// Returns ` on 3 hosts (node2, node3, node4)`.
fn on_hosts(hosts: &[String]) -> String {
    let shown = hosts.iter().take(HOSTS_MAX).cloned().collect::<Vec<_>>();
    let more = match hosts.len().saturating_sub(HOSTS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match hosts.len() {
        0 => String::new(),
        1 => format!(" on {}", hosts[0]),
        n => format!(" on {n} hosts ({}{more})", shown.join(", ")),
    }
}

/// nccl-tests prints total time / (iterations x operations per group), and divides by graph
/// launches (nccl-tests `common.cu`, `BenchTime`).
fn amortised(run: &Run, analysis: &SeriesAnalysis) -> Option<Finding> {
    let operations = run.setup.aggregated_iterations.filter(|count| *count > 1)?;
    let fastest = analysis
        .points
        .iter()
        .filter(|point| point.excluded.is_none())
        .min_by(|a, b| a.median.get().total_cmp(&b.median.get()))?;
    let graph = match run.setup.graph_launches {
        Some(launches) if launches > 0 => format!(" and {launches} graph launches"),
        Some(_) | None => String::new(),
    };
    let message = format!(
        "{operations} operations share one group{graph}: a printed time is a share of the group's \
         time, a throughput figure and not the latency of a call; do not use it as alpha of \
         dependent calls, and measure latency with -m 1"
    );
    let hint = impossible_step(analysis, fastest.median.get());
    let parts: Vec<String> = [Some(message), hint].into_iter().flatten().collect();
    Some(warning("amortised-time", parts.join("; ")))
}

/// Shows that a time is too short for the dependent steps of a ring.
fn impossible_step(analysis: &SeriesAnalysis, fastest_us: f64) -> Option<String> {
    let steps = ring_steps(analysis.collective?, analysis.ranks.exact()?)?;
    let per_step = fastest_us / f64::from(steps.max(1));
    (per_step < STEP_MIN_US).then(|| {
        format!(
            "{fastest_us:.2} us would be {:.0} ns for each of the {steps} dependent steps of a ring, \
             less than one hop takes, so the operations overlap or are merged",
            1e3 * per_step
        )
    })
}

/// Explains a footer average that lies below what large sizes reach.
fn average(run: &Run, analyses: &[SeriesAnalysis]) -> Option<Finding> {
    let average = run.footer.as_ref()?.average_busbw?.get();
    let shown: Vec<f64> = analyses
        .iter()
        .flat_map(|analysis| &analysis.points)
        .filter_map(|point| Some(point.busbw?.get()))
        .collect();
    let peak = shown.iter().copied().fold(0.0, f64::max);
    let mean = tier6_stats::mean(&shown)?;
    if !(average > 0.0 && average < 0.95 * peak) {
        return None;
    }
    let mut parts = vec![format!(
        "the footer's average of {average:.2} GB/s weighs every size alike, small ones included; the \
         large sizes run at up to {peak:.2} GB/s, and that is what to compare with the link"
    )];
    if (mean / average - 1.0).abs() > 0.01 {
        parts.push(format!(
            "it is not the mean of the rows here ({mean:.2} GB/s), so it covers rows that are not in \
             this input"
        ));
    }
    Some(note("average-over-sizes", parts.join("; ")))
}
