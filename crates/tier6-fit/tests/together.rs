//! What several series say together, on small made-up measurements of the kinds that people
//! misread.

use tier6_collective::Collective;
use tier6_fit::{
    AnalysisOptions, Finding, SeriesAnalysis, SetSeries, analyze_run, findings_together,
};
use tier6_measure::{Dataset, ReadOptions, RunSetup, read};
use tier6_units::GbPerSec;

const OPTIONS: AnalysisOptions = AnalysisOptions::STANDARD;

fn dataset(text: &str, columns: &[(&str, &str)]) -> Dataset {
    let pair = |(ours, theirs): &(&str, &str)| ((*ours).to_owned(), (*theirs).to_owned());
    let options = ReadOptions {
        collective: Some(Collective::AllReduce),
        columns: columns.iter().map(pair).collect(),
        ..ReadOptions::default()
    };
    read(&mut text.as_bytes(), &options)
        .expect("readable")
        .value
}

fn told_with(datasets: &[Dataset], options: &AnalysisOptions) -> Vec<Finding> {
    let series: Vec<(SeriesAnalysis, &RunSetup)> = datasets
        .iter()
        .flat_map(|dataset| dataset.runs.iter().enumerate())
        .flat_map(|(index, run)| {
            let analyses = analyze_run(run, index, &[], options);
            analyses
                .into_iter()
                .map(move |analysis| (analysis, &run.setup))
        })
        .collect();
    let set: Vec<SetSeries> = series
        .iter()
        .map(|(analysis, setup)| SetSeries { analysis, setup })
        .collect();
    findings_together(&set, options)
}

fn told(text: &str, columns: &[(&str, &str)]) -> Vec<Finding> {
    told_with(&[dataset(text, columns)], &OPTIONS)
}

#[track_caller]
fn message(found: &[Finding], code: &str) -> String {
    let one = found.iter().find(|finding| finding.code == code);
    let codes: Vec<&str> = found.iter().map(|finding| finding.code).collect();
    one.unwrap_or_else(|| panic!("no {code} among {codes:?}"))
        .message
        .clone()
}

#[track_caller]
fn check(text: &str, code: &str, words: &[&str]) {
    let message = message(&told(text, &[]), code);
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
}

fn steps(rows: &[(u32, f64)], algorithm: &str) -> String {
    let row = |(ranks, us): &(u32, f64)| format!("{ranks},16,{algorithm},{us}\n");
    let rows: String = rows.iter().map(row).collect();
    format!("ranks,bytes,algo,time_us\n{rows}")
}

/// 4 us and 1.5 us per step, with some scatter.
const RING: [(u32, f64); 5] = [(2, 7.1), (3, 9.9), (4, 13.1), (6, 18.9), (8, 25.0)];

#[test]
fn ring_steps_over_rank_counts() {
    let words = [
        "16 B on 2 to 8 ranks: t = a + b x 2(n-1)",
        "the fixed part (launch and set-up) is not zero",
        "from 3.55 us (n = 2) to 1.79 us (n = 8)",
        "extrapolated",
        "16 ranks 49 us",
    ];
    check(&steps(&RING, "Ring"), "ring-latency", &words);
}

#[test]
fn ring_steps_are_not_claimed_of_what_is_no_ring() {
    let tree = [(2, 10.0), (4, 14.0), (8, 18.0), (16, 22.0)];
    assert!(told(&steps(&tree, ""), &[]).is_empty(), "grows with log2");
    assert!(
        told(&steps(&RING, "Tree"), &[]).is_empty(),
        "another algorithm"
    );
    assert!(
        told(&steps(&RING[..2], "Ring"), &[]).is_empty(),
        "two counts"
    );
    let large = steps(&RING, "Ring").replace(",16,", ",1048576,");
    assert!(told(&large, &[]).is_empty(), "not latency");
}

fn rates(rows: &[(u32, f64)]) -> String {
    let row = |(ranks, rate): &(u32, f64)| format!("{ranks},1073741824,{rate}\n");
    let rows: String = rows.iter().map(row).collect();
    format!("ranks,bytes,busbw\n{rows}")
}

#[test]
fn a_fabric_shows_in_the_trend() {
    let ring = [(2, 341.0), (4, 339.5), (8, 343.2)];
    check(
        &rates(&ring),
        "rank-trend",
        &["flat in the number of ranks (339.5 to 343.2"],
    );
    let mesh = [(2, 41.0), (8, 280.0)];
    let words = [
        "ratio of 6.83",
        "7.00 times the links",
        "estimate for 4 ranks: 120 to 123",
    ];
    check(&rates(&mesh), "rank-trend", &words);
    let switch = [(3, 331.0), (4, 333.0), (6, 405.0), (7, 418.0), (8, 425.0)];
    let words = [
        "up to 4 ranks busbw is 331.0 to 333.0",
        "from 6 ranks on",
        "242.9 to 243.8",
    ];
    check(&rates(&switch), "rank-trend", &words);
}

#[test]
fn a_mesh_is_measured_against_its_links() {
    let options = AnalysisOptions {
        line_rate: Some(GbPerSec::new(420.0)),
        ..OPTIONS
    };
    let found = told_with(&[dataset(&rates(&[(2, 42.0), (8, 285.6)]), &[])], &options);
    let message = message(&found, "rank-trend");
    assert!(message.contains("70 % of 60 GB/s (2 ranks)"), "{message}");
    assert!(message.contains("68 % of 60 GB/s (8 ranks)"), "{message}");
}

#[test]
fn no_trend_without_evidence() {
    for rows in [
        vec![(2, 250.0), (8, 402.0)],
        vec![(7, 340.0), (8, 341.0)],
        vec![(2, 300.0), (4, 200.0), (8, 320.0)],
    ] {
        assert!(told(&rates(&rows), &[]).is_empty(), "{rows:?}");
    }
    let twice = rates(&[(2, 341.0), (4, 340.0), (8, 343.0)]) + "8,1073741824,200\n";
    assert!(
        told(&twice, &[])
            .iter()
            .all(|finding| finding.code != "cliff")
    );
}

#[test]
fn two_columns_of_one_table_make_a_pair() {
    let text = "gpus,usual,nvls_off\n4,331,330\n6,405,332\n8,425,333\n";
    let columns = [
        ("ranks", "gpus"),
        ("size_bytes", "=4GiB"),
        ("busbw", "usual"),
        ("busbw", "nvls_off"),
    ];
    let pair = message(&told(text, &columns), "in-switch-pair");
    for word in [
        "405.0 against 332.0 GB/s on 6 ranks",
        "about 273 GB/s on 8 ranks",
        "without NVLS expect up to 333.0 GB/s",
        "no difference on 4 ranks",
    ] {
        assert!(pair.contains(word), "{word}: {pair}");
    }
    let unnamed = text.replace("nvls_off", "second");
    let columns = columns.map(|(ours, theirs)| (ours, theirs.replace("nvls_off", "second")));
    let columns: Vec<(&str, &str)> = columns.iter().map(|(a, b)| (*a, b.as_str())).collect();
    let found = told(&unnamed, &columns);
    assert!(
        found.iter().all(|finding| finding.code != "in-switch-pair"),
        "nothing says that NVLS is the difference"
    );
}

const GRID: [u64; 4] = [1 << 26, 1 << 27, 1 << 28, 1 << 29];

fn halves(all_reduce_share: f64) -> String {
    let row = |name: &str, bytes: u64, us: f64| format!("{name},8,{bytes},{us}\n");
    let rows = GRID.map(|bytes| {
        let half = 20.0 + bytes as f64 / 200e3;
        [
            row("reduce_scatter", bytes, half),
            row("all_gather", bytes, half),
            row("all_reduce", bytes, 2.0 * half * all_reduce_share),
        ]
        .concat()
    });
    format!("collective,ranks,bytes,time_us\n{}", rows.concat())
}

#[test]
fn all_reduce_is_held_against_its_halves() {
    check(
        &halves(1.3),
        "allreduce-against-halves",
        &["64 MiB to 512 MiB", "+30.0 %"],
    );
    check(
        &halves(0.7),
        "allreduce-against-halves",
        &["-30.0 %", "reduction in the switch"],
    );
    assert!(told(&halves(1.1), &[]).is_empty(), "within noise");
    assert!(
        told(&halves(0.9), &[]).is_empty(),
        "within noise and one launch"
    );
}

fn sweep(rows: &[(u64, f64)]) -> Dataset {
    let row = |(mib, us): &(u64, f64)| format!("{},8,{us},{us}\n", mib << 20);
    let rows: String = rows.iter().map(row).collect();
    dataset(
        &format!("size_bytes,ranks,oop_time_us,ip_time_us\n{rows}"),
        &[],
    )
}

#[test]
fn two_sweeps_narrow_a_cliff() {
    let coarse = [
        (8, 1100.0),
        (16, 1500.0),
        (32, 1540.0),
        (64, 5300.0),
        (128, 6500.0),
        (256, 9000.0),
    ];
    let fine = [
        (32, 1530.0),
        (36, 1720.0),
        (40, 1900.0),
        (44, 2090.0),
        (48, 2270.0),
    ];
    let found = told_with(&[sweep(&coarse), sweep(&fine)], &OPTIONS);
    let cliff = message(&found, "pooled-cliff");
    for word in [
        "one cliff in both placements",
        "(50331648, 67108864] bytes",
        "too early",
        "16 MiB takes 1500 us, about as long as 32 MiB",
        "most likely",
    ] {
        assert!(cliff.contains(word), "{word}: {cliff}");
    }
    assert!(!cliff.to_lowercase().contains("nic"), "{cliff}");
    assert!(
        told_with(&[sweep(&coarse)], &OPTIONS).is_empty(),
        "one sweep"
    );
    let other = fine.map(|(mib, us)| (mib, 2.0 * us));
    let found = told_with(&[sweep(&coarse), sweep(&other)], &OPTIONS);
    assert!(found.is_empty(), "sweeps that disagree: {found:?}");
}

#[test]
fn runs_that_were_timed_differently_do_not_compare() {
    let text = "command,bytes,time_us\n\
         ./all_reduce_perf -g 8 -m 50 -G 5,2048,0.4\n\
         ./all_reduce_perf -g 8 -m 50 -z 1,2048,2.4\n\
         ./sendrecv_perf -g 8 -m 50 -G 5,2048,3.1\n";
    let words = [
        "0.40 and 2.40 us, a ratio of 6.0",
        "number of graph launches (5 and 0) and blocking mode (0 and 1) at the same time",
        "-m 1",
    ];
    check(text, "timed-differently", &words);
    check(
        text,
        "grouped-operations",
        &["send_recv 3.10 us", "does not show"],
    );
}
