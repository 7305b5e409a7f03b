//! The reader of nccl-tests text and NCCL logs, against small tables with one trap each and,
//! where they are at hand, the published inputs with the same traps.

#![expect(clippy::float_cmp, reason = "printed numbers are read back exactly")]
#![expect(clippy::format_collect, reason = "fixtures are short")]

mod aborted;
mod choices;
mod empty_sizes;
mod encodings;
mod lost_hashes;
mod never_panics;
mod no_header;
mod old_table;
mod one_placement;
mod options;
mod several_runs;
mod split_rows;
mod tagged_lines;
mod warnings;

use std::path::PathBuf;
use tier6_collective::Collective;
use tier6_measure::{
    Dataset, Parsed, Placement, ReadError, ReadOptions, Run, Sample, Series, WarningCode, read,
};

/// Header of current versions, without the title.
const HEADER: &str = "#       size         count      type   redop    root     time   algbw   \
                      busbw #wrong     time   algbw   busbw #wrong\n";

/// A parameter line for 8 B to `max` bytes, doubled.
fn parameters(max: u64) -> String {
    format!(
        "# nThread 1 nGpus 4 minBytes 8 maxBytes {max} step: 2(factor) warmup iters: 5 iters: 20 \
         agg iters: 1 validation: 1 graph: 0\n"
    )
}

/// A row of an all-reduce over 4 ranks that takes 10 us and 10 ns per KiB.
fn row(bytes: u64) -> String {
    format!(
        "{bytes:12} {:13}     float     sum      -1 {half} {half}\n",
        bytes / 4,
        half = half(bytes)
    )
}

/// The numbers of one placement of such a row.
fn half(bytes: u64) -> String {
    let time = 10.0 + bytes as f64 / 102_400.0;
    let algbw = bytes as f64 / time / 1e3;
    format!("{time:8.2} {algbw:7.2} {:7.2}      0", algbw * 1.5)
}

fn parse(input: impl AsRef<[u8]>) -> Parsed<Dataset> {
    try_parse(input).expect("the input is read")
}

fn try_parse(input: impl AsRef<[u8]>) -> Result<Parsed<Dataset>, ReadError> {
    read(input.as_ref(), &ReadOptions::default())
}

/// Reads a published input; `None` where the collection is not at hand.
fn published(case: &str, file: &str) -> Option<Vec<u8>> {
    let path = published_folder()?.join(case).join(file);
    let bytes = std::fs::read(&path).ok();
    let used = if bytes.is_some() {
        "published input"
    } else {
        "own fixture only"
    };
    eprintln!("{case}: {used}");
    bytes
}

fn published_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    folder.is_dir().then_some(folder)
}

fn run(parsed: &Parsed<Dataset>) -> &Run {
    assert_eq!(parsed.value.runs.len(), 1, "{:?}", parsed.warnings);
    &parsed.value.runs[0]
}

fn series(run: &Run, placement: Placement) -> Option<&Series> {
    run.series
        .iter()
        .find(|series| series.placement == placement)
}

/// Returns the samples at a size.
fn samples(run: &Run, placement: Placement, bytes: u64) -> &[Sample] {
    let series = series(run, placement).expect("the placement was measured");
    let point = series
        .points
        .iter()
        .find(|point| point.bytes.get() == bytes);
    &point.expect("the size was measured").samples
}

/// Time in us, algbw and busbw in GB/s of the only sample at a size.
fn numbers(run: &Run, placement: Placement, bytes: u64) -> (f64, f64, f64) {
    let [sample] = samples(run, placement, bytes) else {
        panic!("several samples")
    };
    (
        sample.time.expect("a time").get(),
        sample.algbw.expect("algbw").get(),
        sample.busbw.expect("busbw").get(),
    )
}

fn measurements(run: &Run) -> usize {
    let points = run.series.iter().flat_map(|series| &series.points);
    points.map(|point| point.samples.len()).sum()
}

fn messages(parsed: &Parsed<Dataset>, code: WarningCode) -> Vec<String> {
    let of_code = parsed
        .warnings
        .iter()
        .filter(|warning| warning.code == code);
    of_code.map(|warning| warning.message.clone()).collect()
}

fn lines(parsed: &Parsed<Dataset>, code: WarningCode) -> Vec<Option<u64>> {
    let of_code = parsed
        .warnings
        .iter()
        .filter(|warning| warning.code == code);
    of_code.map(|warning| warning.line).collect()
}

fn collective(run: &Run) -> Option<Collective> {
    run.series[0].collective
}
