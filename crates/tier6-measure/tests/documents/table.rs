//! Tables in running text.

use crate::material::shared_starting;
use crate::said;
use tier6_collective::Collective;
use tier6_measure::{Dataset, Dialect, Parsed, Point, Ranks, ReadOptions, Run, Series};

const DOCUMENT: &str = "\
A chapter on latency. It speaks of sizes, times and 3 other things.

fit\talpha
LL 1 B–512 KiB\t17.1 us

bytes\tmedian us\tP95 us\tCV
16\t18.500\t30.100\t31.10%
1 KiB\t18.700\t20.000\t2.10%

bytes\tmedian us\tP95 us\tCV\talgbw GB/s\tselection
16\t18.500\t30.100\t31.10%\t0.00\tRing+LL
1 KiB\t18.700\t20.000\t2.10%\t0.05\tRing+LL
2 MiB\t75.125\t77.250\t1.80%\t27.92\tRing+LL128
1 GiB\t13,250.500\t13,300.000\t0.06%\t81.03\tRing+Simple

size\tselection\ttuner us\tmeasured us\ttuner error
1 KiB\tRing+LL\t10.300\t18.700\t-44.92%
1 GiB\tRing+Simple\t13440.000\t13250.500\t+1.43%
The end.
";

fn options() -> ReadOptions {
    ReadOptions {
        collective: Some(Collective::AllReduce),
        ranks: Some(4),
        ..ReadOptions::default()
    }
}

fn parse(text: &str) -> Parsed<Dataset> {
    let parsed = tier6_measure::read(text.as_bytes(), &options()).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::TextTable);
    parsed
}

fn series_of(run: &Run) -> &Series {
    let [series] = run.series.as_slice() else {
        panic!("one series, not {}", run.series.len())
    };
    series
}

fn describe(point: &Point) -> String {
    let stats = point.published.unwrap();
    format!(
        "{} {} {:?} {:?} {} {:?}",
        point.bytes,
        stats.median.get(),
        stats.p95.map(tier6_units::Micros::get),
        stats.cv_pct,
        point.path.unwrap(),
        point.tuner.map(tier6_units::Micros::get),
    )
}

#[test]
fn the_largest_table_takes_in_what_smaller_ones_repeat() {
    let parsed = parse(DOCUMENT);
    assert_eq!(said(&parsed), "");
    let [run] = parsed.value.runs.as_slice() else {
        panic!("one run")
    };
    assert_eq!(run.first_line, 10);
    let points: Vec<String> = series_of(run).points.iter().map(describe).collect();
    insta::assert_snapshot!(points.join("\n"), @r"
    16 B 18.5 Some(30.1) Some(31.1) ring+ll None
    1 KiB 18.7 Some(20.0) Some(2.1) ring+ll Some(10.3)
    2 MiB 75.125 Some(77.25) Some(1.8) ring+ll128 None
    1 GiB 13250.5 Some(13300.0) Some(0.06) ring+simple Some(13440.0)
    ");
}

#[test]
fn contradicting_cells_are_told() {
    let parsed = parse(&DOCUMENT.replace("81.03", "91.03"));
    assert!(
        said(&parsed).contains("line 14: out_of_place: 1073741824 B in 13250.5 us"),
        "{}",
        said(&parsed)
    );
}

#[test]
fn markdown_and_blank_columns_are_tables() {
    let markdown = "\
Results:

| Size | `time` (us) | **algbw** (GB/s) | note |
|-----:|------:|---|---|
| 64KB | 23.0 | 2.85 | a |
| 1MB | 36.5 | 28.7 | |

Tail.
";
    let parsed = parse(markdown);
    let series = series_of(&parsed.value.runs[0]);
    let sizes: Vec<u64> = series
        .points
        .iter()
        .map(|point| point.bytes.get())
        .collect();
    assert_eq!(sizes, [65_536, 1 << 20]);
    insta::assert_snapshot!(said(&parsed), @r"
    line 3: columns `note` are not known and left out [note]
    line 3: sizes such as `64KB` are read in units of 1024, since all are powers of two [note]
    ");
    let blanks = "  size (B)    avg time (us)   busbw (GB/s)\n      1024            20.5           0.07\n      2048            21.0           0.15\n";
    let parsed = parse(blanks);
    assert_eq!(said(&parsed), "");
    assert_eq!(series_of(&parsed.value.runs[0]).points.len(), 2);
    assert_eq!(series_of(&parsed.value.runs[0]).ranks, Ranks::Stated(4));
}

#[test]
fn a_row_that_ends_the_text_openly_is_not_used() {
    let parsed = parse("| size | time us |\n|---|---|\n| 8 | 10.0 |\n| 16 | 11.0 |\n| 32 | 12");
    assert!(said(&parsed).contains("line 5: the last row is cut"));
    assert_eq!(series_of(&parsed.value.runs[0]).points.len(), 2);
}

#[test]
fn text_without_such_a_table_is_none() {
    for text in [
        "",
        "prose\n",
        "a\tb\n1\t2\n3\t4\n",
        "bytes\tpoints\n8\t1\n9\t2\n",
        "| x |\n|---|\n",
    ] {
        assert!(tier6_measure::read(text.as_bytes(), &options()).is_err());
    }
}

#[test]
fn the_shared_chapter_holds_its_31_points() {
    let Some(text) = shared_starting("source-documents", "000") else {
        return;
    };
    let parsed = parse(&text);
    assert_eq!(said(&parsed), "");
    let [run] = parsed.value.runs.as_slice() else {
        panic!("one run")
    };
    let series = series_of(run);
    assert_eq!(series.points.len(), 31);
    assert_eq!(
        describe(&series.points[0]),
        "1 B 18.435 Some(19.763) Some(4.71) ring+ll Some(10.2)"
    );
    assert_eq!(
        describe(&series.points[7]),
        "128 B 18.11 Some(31.925) Some(36.12) ring+ll None"
    );
    assert_eq!(
        describe(&series.points[30]),
        "1 GiB 13246.05 Some(13261.5) Some(0.06) ring+simple Some(13450.572)"
    );
    let paths = |name: &str| {
        series
            .points
            .iter()
            .filter(|point| point.path.unwrap().to_string() == name)
            .count()
    };
    assert_eq!(
        (paths("ring+ll"), paths("ring+ll128"), paths("ring+simple")),
        (20, 2, 9)
    );
    assert_eq!(
        series
            .points
            .iter()
            .filter(|point| point.tuner.is_some())
            .count(),
        11
    );
}

#[test]
fn the_shared_validation_holds_two_measured_tables() {
    let Some(text) = shared_starting("source-documents", "003") else {
        return;
    };
    let parsed = parse(&text);
    let runs: Vec<Vec<(u64, f64)>> = parsed
        .value
        .runs
        .iter()
        .map(|run| {
            let points = &series_of(run).points;
            points
                .iter()
                .map(|point| (point.bytes.get(), point.samples[0].time.unwrap().get()))
                .collect()
        })
        .collect();
    let [h200, a100] = runs.as_slice() else {
        panic!("two tables, not {}", runs.len())
    };
    assert_eq!((h200.len(), a100.len()), (9, 7));
    assert_eq!((h200[0], h200[8]), ((65_536, 23.1), (4 << 30, 15_823.0)));
    assert_eq!((a100[0], a100[6]), ((8, 20.6), (512 << 20, 4165.7)));
}

proptest::proptest! {
    #[test]
    fn any_text_is_taken(text in "(size|time us|8|[0-9]{1,3}|\t|\\||  |\n|x|\u{00b5}){0,60}") {
        let _ = tier6_measure::read(text.as_bytes(), &options());
    }
}
