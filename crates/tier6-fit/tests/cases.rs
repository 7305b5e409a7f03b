//! Measurements that people misread: what the findings say about tables of their kind. Each has
//! a small table of its own here; the published original is used too when `../shared` is there.

use std::fs;
use std::path::PathBuf;
use tier6_collective::{Algorithm, Collective, Path, Protocol};
use tier6_fit::{
    AnalysisOptions, Loss, PointSummary, RankTrend, SeriesAnalysis, analyze_run, find_cliffs,
    fit_ring_steps, nvls_wire, rank_trend,
};
use tier6_measure::{Dataset, ReadOptions, read};
use tier6_units::{Bytes, GbPerSec, Micros};

fn dataset(text: &str, ranks: Option<u32>) -> Dataset {
    let options = ReadOptions {
        collective: Some(Collective::AllReduce),
        ranks,
        ..ReadOptions::default()
    };
    read(&mut text.as_bytes(), &options)
        .expect("readable")
        .value
}

fn analysed(text: &str, ranks: Option<u32>) -> Vec<SeriesAnalysis> {
    let dataset = dataset(text, ranks);
    let trace = &dataset.trace.selections;
    let runs = dataset.runs.iter().enumerate();
    runs.flat_map(|(index, run)| analyze_run(run, index, trace, &AnalysisOptions::STANDARD))
        .collect()
}

/// Returns a file of a published case, when there.
fn published(case: &str, file: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let text = fs::read_to_string(folder.join(case).join(file)).ok();
    if text.is_none() {
        eprintln!("{case} is not here; only the own table was used");
    }
    text
}

/// Makes a table of nccl-tests: bytes and time, both placements alike.
fn table(rows: &[(u64, f64)], ranks: f64, after: &str) -> String {
    let head = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
         #\n#                                                              out-of-place                       in-place          \n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n";
    let row = |(bytes, us): &(u64, f64)| {
        let algbw = *bytes as f64 / us / 1e3;
        let half = format!(
            "{us:.2} {algbw:.4} {:.4} 0",
            algbw * 2.0 * (ranks - 1.0) / ranks
        );
        format!("{bytes} {} float sum -1 {half} {half}\n", bytes / 4)
    };
    head.to_owned() + &rows.iter().map(row).collect::<String>() + after
}

fn message<'a>(analysis: &'a SeriesAnalysis, code: &str) -> &'a str {
    let finding = analysis
        .findings
        .iter()
        .find(|finding| finding.code == code);
    let codes: Vec<&str> = analysis
        .findings
        .iter()
        .map(|finding| finding.code)
        .collect();
    &finding
        .unwrap_or_else(|| panic!("no {code} in {codes:?}"))
        .message
}

fn has(analysis: &SeriesAnalysis, code: &str) -> bool {
    analysis.findings.iter().any(|finding| finding.code == code)
}

const MIB: u64 = 1 << 20;

#[test]
fn a_fixed_cost_spread_over_more_bytes() {
    let rows: Vec<(u64, f64)> = (18..=28)
        .map(|power| (1_u64 << power, 35.0 + (1_u64 << power) as f64 / 4.1 / 1e3))
        .collect();
    let own = analysed(&table(&rows, 4.0, ""), Some(4));
    let half = message(&own[0], "half-performance-size");
    assert!(
        half.contains("35.0 us") && half.contains("tends to 4.10 GB/s"),
        "{half}"
    );
    let Some(text) = published("10-in-place-half-missing", "input.txt") else {
        return;
    };
    let analyses = analysed(&text, None);
    assert_eq!(analyses.len(), 1, "no in-place series");
    let global = &analyses[0].fits[0];
    assert_eq!((global.loss, global.points), (Loss::Relative, 12));
    let line = global.line.unwrap();
    assert!((30.0..=50.0).contains(&line.alpha.get()), "{line:?}");
    assert!((3.22..=3.30).contains(&line.beta.get()), "{line:?}");
    assert!(
        (2.0..4.0).contains(&global.max_error.unwrap().0),
        "{:?}",
        global.max_error
    );
    let half = line.alpha.get() * line.beta.get() * 1e3;
    assert!((100e3..160e3).contains(&half), "{half}");
    assert!(has(&analyses[0], "half-performance-size"));
    assert_eq!(
        analyses[0].regions.saturation.unwrap().entry,
        Bytes::new(MIB / 2)
    );
}

#[test]
fn a_floor_of_two_thousand_ring_steps() {
    let rows = [
        (1 << 30, 18_000.0),
        (2 << 30, 18_900.0),
        (4 << 30, 24_000.0),
        (8 << 30, 46_000.0),
    ];
    let own = analysed(&table(&rows, 1024.0, ""), Some(1024));
    let floor = message(&own[0], "ring-latency-floor");
    assert!(
        floor.contains("2046 dependent ring steps") && floor.contains("8.8 us each"),
        "{floor}"
    );
    let Some(text) = published("13-abort-after-last-size-1024-ranks", "input.txt") else {
        return;
    };
    for analysis in analysed(&text, None) {
        let floor = message(&analysis, "ring-latency-floor");
        assert!(
            floor.contains(" to "),
            "an estimated number of ranks stays a range: {floor}"
        );
    }
    for analysis in analysed(&text, Some(1024)) {
        let floor = message(&analysis, "ring-latency-floor");
        assert!(
            floor.contains("9.5 us each") || floor.contains("9.4 us each"),
            "{floor}"
        );
        assert!(!has(&analysis, "cliff"));
        assert!(message(&analysis, "aborted").contains("did not pass"));
    }
}

#[test]
fn busbw_above_the_wire_is_explained() {
    let rows = [(4096 * MIB, 16_100.0), (8192 * MIB, 32_000.0)];
    let own = &analysed(&table(&rows, 8.0, ""), Some(8))[0];
    let words = message(own, "busbw-may-exceed-wire");
    // 8 GiB in 32 ms are 268.4 GB/s, 302 GB/s on the wire.
    assert!(
        words.contains("469.8 GB/s") && words.contains("about 302.0 GB/s"),
        "{words}"
    );
    let known = AnalysisOptions {
        line_rate: Some(GbPerSec::new(450.0)),
        ..AnalysisOptions::STANDARD
    };
    let dataset = dataset(&table(&rows, 8.0, ""), Some(8));
    let told = &analyze_run(&dataset.runs[0], 0, &[], &known)[0];
    assert!(message(told, "busbw-above-ring").contains("likely reduction in the switch"));
    let fast_link = AnalysisOptions {
        line_rate: Some(GbPerSec::new(900.0)),
        ..known
    };
    let told = &analyze_run(&dataset.runs[0], 0, &[], &fast_link)[0];
    assert!(
        !told
            .findings
            .iter()
            .any(|finding| finding.code.starts_with("busbw"))
    );
}

#[test]
fn a_path_that_reduces_in_the_switch_gives_the_wire() {
    let rows = [(4096 * MIB, 16_100.0), (8192 * MIB, 32_000.0)];
    let mut dataset = dataset(&table(&rows, 8.0, ""), Some(8));
    for point in &mut dataset.runs[0].series[0].points {
        point.path = Some(Path {
            algorithm: Algorithm::Nvls,
            protocol: Protocol::Simple,
        });
    }
    let analysis = &analyze_run(&dataset.runs[0], 0, &[], &AnalysisOptions::STANDARD)[0];
    let wire = analysis.points[1].wire.unwrap().get();
    assert!((wire - 302.0).abs() < 0.1, "{wire}");
    let words = message(analysis, "busbw-is-not-wire");
    assert!(
        words.contains("nvls+simple ran") && words.contains("302.0 GB/s"),
        "{words}"
    );
}

#[test]
fn switch_reduction_shows_in_flat_algbw() {
    let Some(text) = published("27-nvls-busbw-above-line-rate", "h200-8GiB.csv") else {
        return;
    };
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let pick = |keep: &str, column: usize| -> Vec<(u32, GbPerSec)> {
        rows.iter()
            .filter(|row| row[1] == keep || keep.is_empty())
            .map(|row| {
                (
                    row[0].parse().unwrap(),
                    GbPerSec::new(row[column].parse().unwrap()),
                )
            })
            .collect()
    };
    let nvls = rank_trend(Collective::AllReduce, &pick("NVLS", 2)).unwrap();
    assert_eq!(nvls.trend, RankTrend::FlatAlgbw, "{nvls:?}");
    assert!(nvls.spread_pct < 5.0);
    let ring = rank_trend(Collective::AllReduce, &pick("", 3)).unwrap();
    assert_eq!(ring.trend, RankTrend::FlatBusbw, "{ring:?}");
    assert!((nvls_wire(GbPerSec::new(473.1 / 1.75), 8).get() - 304.0).abs() < 0.5);
}

#[test]
fn direct_links_show_in_busbw_per_link() {
    let Some(text) = published("48-mi300x-two-vs-eight-gpus", "mi300x-4GiB.csv") else {
        return;
    };
    let rates: Vec<(u32, GbPerSec)> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|row| {
            (
                row[0].parse().unwrap(),
                GbPerSec::new(row[2].parse().unwrap()),
            )
        })
        .collect();
    let mesh = rank_trend(Collective::AllReduce, &rates).unwrap();
    assert_eq!(mesh.trend, RankTrend::PerLink);
    assert!(
        (134.0..=142.0).contains(&mesh.estimate(4).get()),
        "{mesh:?}"
    );
}

#[test]
fn a_cliff_between_two_sizes() {
    let below = |mib: u64| (mib * MIB, 300.0 + (mib * MIB) as f64 / 22e3);
    let above = |mib: u64| (mib * MIB, 5200.0 + (mib * MIB) as f64 / 40e3);
    let rows = [
        below(8),
        below(16),
        below(32),
        above(64),
        above(128),
        above(256),
    ];
    let own = &analysed(&table(&rows, 16.0, ""), Some(16))[0];
    let cliff = message(own, "cliff");
    assert!(cliff.contains("(33554432, 67108864] bytes"), "{cliff}");
    assert!(
        cliff.contains("comes too early") && cliff.contains("likely"),
        "{cliff}"
    );
    let files =
        ["factor2.log", "step2M.log"].map(|file| published("30-p4d-cliff-after-46MB", file));
    let [Some(factor2), Some(step)] = files else {
        return;
    };
    let (factor2, step) = (analysed(&factor2, None), analysed(&step, None));
    for analysis in &factor2 {
        let cliff = message(analysis, "cliff");
        assert!(cliff.contains("(33554432, 67108864] bytes"), "{cliff}");
        let growth = if cliff.contains("3.41-fold") {
            3.41
        } else {
            3.36
        };
        assert!(
            cliff.contains(&format!("{growth}-fold for 2.00-fold")),
            "{cliff}"
        );
        assert!(message(analysis, "time-stands-still").contains("less: 16 MiB"));
    }
    let points = |analysis: &SeriesAnalysis| -> Vec<(Bytes, Micros)> {
        analysis
            .points
            .iter()
            .map(|point: &PointSummary| (point.bytes, point.median))
            .collect()
    };
    let both: Vec<_> = points(&factor2[0])
        .into_iter()
        .chain(points(&step[0]))
        .collect();
    let [cliff] = find_cliffs(&both).try_into().expect("one cliff");
    assert_eq!(
        (cliff.after.get(), cliff.until.get()),
        (46_137_344, 67_108_864)
    );
    let (below, n) = cliff.below.unwrap();
    assert_eq!(n, 7);
    assert!(
        (below.alpha.get() - 350.0).abs() < 60.0 && (below.beta.get() - 20.9).abs() < 0.7,
        "{below:?}"
    );
    let (above, _) = cliff.above.unwrap();
    assert!(
        (above.alpha.get() - 4800.0).abs() < 100.0 && (above.beta.get() - 38.3).abs() < 0.6,
        "{above:?}"
    );
    assert!(
        (150e6..250e6).contains(&cliff.crossing.unwrap().as_f64()),
        "{cliff:?}"
    );
}

#[test]
fn the_published_ring_latencies() {
    let Some(text) = published("32-ring-latency-fit", "latency.csv") else {
        return;
    };
    let times: Vec<(u32, Micros)> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|row| {
            (
                row[0].parse().unwrap(),
                Micros::new(row[4].parse().unwrap()),
            )
        })
        .collect();
    let steps = fit_ring_steps(Collective::AllReduce, &times).unwrap();
    assert!(
        (5.2..=5.9).contains(&steps.fixed.get()) && (1.9..=2.05).contains(&steps.per_step.get())
    );
    assert!(
        steps.fixed_ci.unwrap().low > 0.0,
        "the intercept is significant"
    );
    let worst = steps
        .residuals
        .iter()
        .map(|(_, rest)| rest.get().abs())
        .fold(0.0, f64::max);
    assert!((worst - 0.6).abs() < 0.15, "{worst}");
    let (low, high) = steps.per_added_rank.unwrap();
    assert!((low.get() - 3.6).abs() < 0.05 && (high.get() - 4.3).abs() < 0.05);
    assert!((steps.predict(16).time.get() - 65.0).abs() < 0.5);
}

#[test]
fn an_average_below_saturated_rows() {
    let rows: Vec<(u64, f64)> = (120..128)
        .map(|k: u64| (8 + k * MIB, (8 + k * MIB) as f64 / 50.0 / 1e3))
        .collect();
    let footer = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 80.5\n";
    let own = &analysed(&table(&rows, 24.0, footer), Some(24))[0];
    let words = message(own, "average-over-sizes");
    assert!(
        words.contains("80.50") && words.contains("covers rows that are not in"),
        "{words}"
    );
    assert!(message(own, "unaligned-sizes").starts_with("all sizes are 8 bytes off"));
    let Some(text) = published("38-24GBps-per-200G-nic-and-average", "pasted.txt") else {
        return;
    };
    for analysis in analysed(&text, Some(24)) {
        let words = message(&analysis, "average-over-sizes");
        assert!(words.contains("84.86") && words.contains("96.0"), "{words}");
    }
}

#[test]
fn a_share_of_a_group_is_no_latency() {
    let mut dataset = dataset(&table(&[(1024, 0.5), (2048, 0.52)], 4.0, ""), Some(4));
    let run = &mut dataset.runs[0];
    run.setup.aggregated_iterations = Some(100);
    run.setup.graph_launches = Some(10);
    let analysis = &analyze_run(run, 0, &[], &AnalysisOptions::STANDARD)[0];
    let words = message(analysis, "amortised-time");
    for part in [
        "100 operations",
        "10 graph launches",
        "83 ns",
        "6 dependent steps",
        "-m 1",
    ] {
        assert!(words.contains(part), "{part} in {words}");
    }
}

#[test]
fn every_published_measurement_is_analysed() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let full = root.join("../shared/data");
    let folder = if full.is_dir() {
        full
    } else {
        root.join("data/measurements")
    };
    eprintln!("measurements from {}", folder.display());
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut analysed = 0;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_none_or(|extension| extension != "csv") {
            continue;
        }
        let text = fs::read(&path).unwrap();
        let Ok(parsed) = read(&mut text.as_slice(), &ReadOptions::default()) else {
            continue;
        };
        for run in &parsed.value.runs {
            for analysis in analyze_run(run, 0, &[], &AnalysisOptions::STANDARD) {
                analysed += 1;
                assert!(analysis.fits.len() >= 2, "{}", path.display());
            }
        }
    }
    assert!(analysed > 0);
    eprintln!("{analysed} series analysed");
}
