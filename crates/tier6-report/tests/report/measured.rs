//! Published measurements through the whole way: read, analysed, written in every format.

use std::path::{Path, PathBuf};
use tier6_fit::{AnalysisOptions, Loss, analyze_run};
use tier6_measure::{Correctness, ReadOptions, read};
use tier6_report::{
    AnalysisReport, Charset, Color, Detail, InputReport, RunReport, SeriesReport, Status, Style,
    analysis_csv, analysis_html, analysis_json, analysis_markdown, analysis_svg, analysis_table,
};

/// Every how many files one is taken, to keep the test short.
const STRIDE: usize = 12;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/measurements");
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "csv"))
        .collect();
    files.sort();
    files
}

fn report(path: &Path) -> AnalysisReport {
    let bytes = std::fs::read(path).unwrap();
    let parsed = read(bytes.as_slice(), &ReadOptions::default()).unwrap();
    let dataset = parsed.value;
    let series = dataset.runs.iter().enumerate().flat_map(|(index, run)| {
        let selections = &dataset.trace.selections;
        analyze_run(run, index, selections, &AnalysisOptions::STANDARD)
    });
    let runs: Vec<RunReport> = dataset.runs.iter().map(RunReport::from).collect();
    let failed = runs
        .iter()
        .any(|run| run.correctness == Correctness::Failed);
    AnalysisReport {
        series: series
            .map(|analysis| SeriesReport::new(0, analysis))
            .collect(),
        inputs: vec![InputReport {
            path: path.file_name().unwrap().to_string_lossy().into_owned(),
            dialect: dataset.dialect,
            rows: runs.iter().map(|run| run.rows).sum(),
            warnings: parsed.warnings,
            runs,
        }],
        status: if failed { Status::Failed } else { Status::Ok },
        loss: Loss::Relative,
        findings: Vec::new(),
    }
}

#[test]
fn published_measurements_have_every_format() {
    let style = Style {
        color: Color::Off,
        charset: Charset::Ascii,
        width: 100,
    };
    let mut seen = 0;
    for path in files().iter().step_by(STRIDE) {
        let report = report(path);
        let name = path.display();
        let svg = analysis_svg(&report);
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let html = analysis_html(&report);
        assert!(
            html.len() < 200_000,
            "{name}: a page of {} bytes",
            html.len()
        );
        let table = analysis_table(&report, style, Detail::Wide);
        assert!(table.is_ascii(), "{name}");
        let points: usize = report
            .series
            .iter()
            .map(|series| series.analysis.points.len())
            .sum();
        let csv = analysis_csv(&report);
        assert_eq!(csv.lines().count(), points + 1, "{name}");
        let json: serde_json::Value = serde_json::from_str(&analysis_json(&report)).unwrap();
        assert_eq!(
            json["series"].as_array().unwrap().len(),
            report.series.len(),
            "{name}"
        );
        for text in [svg, html, table, csv, analysis_markdown(&report)] {
            assert!(!text.contains("NaN"), "{name}");
        }
        seen += 1;
    }
    assert!(seen > 10, "only {seen} files");
}
