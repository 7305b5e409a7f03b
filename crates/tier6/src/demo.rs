//! A tour on the bundled 31-point scan of source document 000: four V100, AllReduce, 1 B to 1 GiB.

use crate::analyze::{SeriesRequest, report_of};
use crate::{Error, Form, bundled, render_analysis};
use tier6_fit::{AnalysisOptions, Loss};
use tier6_report::{AnalysisReport, Detail, Style};
use tier6_units::SizeRange;

/// Id of the scan.
const SCAN: &str = "s0_v100_ar_4gpu_nv2";

/// Sizes that the scan did not measure.
const BETWEEN: &str = "3M,96M,2G";

/// Two views of the bundled scan.
#[derive(Debug, Clone)]
pub struct Demo {
    /// With the path that NCCL's trace names, and predictions of sizes between the measured ones.
    pub traced: AnalysisReport,
    /// The same times without the trace: what the numbers alone show.
    pub blind: AnalysisReport,
}

/// Analyses the bundled scan.
///
/// # Errors
///
/// When the bundled scan cannot be read, which is a bug.
pub fn demo() -> Result<Demo, Error> {
    let scan = bundled::set(SCAN)?;
    let mut parsed = scan.read()?;
    let between: SizeRange = BETWEEN.parse().map_err(|error| Error::Usage {
        message: format!("`{BETWEEN}`: {error}"),
        hint: None,
    })?;
    let request = |predict| SeriesRequest {
        options: AnalysisOptions::STANDARD,
        range: None,
        predict,
        placement: None,
    };
    let traced = report_of(SCAN, &parsed, Loss::Absolute, &request(Some(&between)));
    let points = parsed
        .value
        .runs
        .iter_mut()
        .flat_map(|run| &mut run.series)
        .flat_map(|series| &mut series.points);
    for point in points {
        point.path = None;
        point.tuner = None;
    }
    let blind = report_of(SCAN, &parsed, Loss::Relative, &request(None));
    Ok(Demo { traced, blind })
}

/// Renders the tour; every form but the table is the analysis alone.
pub fn render_demo(demo: &Demo, form: Form) -> String {
    let Form::Table(style, _) = form else {
        return render_analysis(&demo.traced, form);
    };
    let stop = |number: u32, title: &str, text: &str| {
        format!("{}\n\n{text}\n", heading(number, title, style))
    };
    let table = |report| render_analysis(report, Form::Table(style, Detail::Short));
    [
        "A tour of tier6 on a measurement that travels with it: AllReduce on 4 V100, 31 sizes, 10\n\
         cycles, with the algorithm and protocol from NCCL's own trace. No GPU is needed.\n"
            .to_owned(),
        stop(1, "tier6 analyze: segments by the path that ran, and what may be claimed", &table(&demo.traced)),
        stop(2, "The same times without the trace: segments are found in the numbers", &table(&demo.blind)),
        stop(3, "Next, with your own files", NEXT),
    ]
    .join("\n")
}

fn heading(number: u32, title: &str, style: Style) -> String {
    let line = style.charset.pick("─", "-").repeat(style.width.min(100));
    format!("{line}\n{number}. {title}\n{line}")
}

const NEXT: &str =
    "  tier6 analyze all_reduce.txt --log nccl.log      add the trace: NCCL_DEBUG=INFO
                                                   NCCL_DEBUG_SUBSYS=TUNING
  tier6 analyze run.json -o report.html            one page, no network needed
  tier6 analyze run.txt --predict 3M,96M           sizes that were not measured
  tier6 compare before.txt after.txt               exit 10 on a regression
  tier6 validate                                   how well predictions hold
  tier6 demo -o demo.html                          this scan as a page
";
