//! A tour on the bundled 31-point scan of source document 000: four V100, AllReduce, 1 B to 1 GiB.

use crate::analyze::report_of;
use crate::{Error, Form, bundled, render_analysis};
use tier6_fit::{AnalysisOptions, Loss};
use tier6_report::AnalysisReport;

/// Id of the scan.
const SCAN: &str = "s0_v100_ar_4gpu_nv2";

/// Analyses the bundled scan.
///
/// # Errors
///
/// When the bundled scan cannot be read, which is a bug.
pub fn demo() -> Result<AnalysisReport, Error> {
    let scan = bundled::sets().into_iter().find(|set| set.id == SCAN);
    let scan = scan.expect("Invariant: the scan is bundled");
    Ok(report_of(
        scan.id,
        &scan.read()?,
        &AnalysisOptions::STANDARD,
        Loss::Absolute,
    ))
}

/// Renders the tour; every form but the table is the plain analysis.
pub fn render_demo(report: &AnalysisReport, form: Form) -> String {
    render_analysis(report, form)
}
