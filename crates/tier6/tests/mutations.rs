//! Damaged inputs through the whole chain: read, analyse, render, compare, convert and read back.
//!
//! Every fixture of the command line, its CSV and JSON lines, small documents of other dialects,
//! and the published inputs where they are at hand are damaged in seeded ways. Whatever comes out,
//! there is no panic, the exit code is one of the contract, no number is lost to infinity, and
//! nothing takes long.

use serde_json::Value;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tier6::{
    AnalysisOptions, AnalyzeRequest, CompareOptions, CompareRequest, ConvertForm, Detail, Exit,
    Form, Loss, NoProgress, ReadOptions, Style,
};
use tier6_stats::Rng;

/// Damages of one input.
const OWN_ROUNDS: u64 = 14;
const PUBLISHED_ROUNDS: u64 = 4;

/// Time for one damaged input in a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

/// Numbers that arithmetic does not like.
const HOSTILE: [&str; 14] = [
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0",
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "1e-320",
    "1e999",
    "99999999999999999999999",
    "",
    "-",
    "4294967296",
];

/// One small document for each dialect that the fixtures lack.
const DOCUMENTS: [(&str, &str); 6] = [
    (
        "osu",
        "# OSU MPI-CUDA Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n4     21.40\n8     21.60\n16    22.03\n1024  25.90\n",
    ),
    (
        "markdown",
        "| size | time (us) | busbw (GB/s) |\n|---|---|---|\n| 1 KiB | 10.5 | 0.17 |\n| 1 MiB | 40.1 | 45.7 |\n| 64 MiB | 700 | 167.0 |\n",
    ),
    (
        "foreign csv",
        "bytes;latency_us;nodes\n1024;10,5;2\n2048;11,5;2\n4096;13,0;2\n8192;17,25;2\n",
    ),
    (
        "medians",
        "size_bytes,median_us,p95_us,cv_pct,algorithm,protocol,tuner_us\n1024,10,12,3,ring,ll,9\n2048,11,12,1,ring,ll,\n4096,12,15,9,ring,simple,13\n",
    ),
    (
        "rccl json lines",
        "{\"size\":1024,\"type\":\"float\",\"redop\":\"sum\",\"inPlace\":0,\"time\":10.5,\"algBw\":0.1,\"busBw\":0.17,\"wrong\":0}\n{\"size\":2048,\"type\":\"float\",\"redop\":\"sum\",\"inPlace\":0,\"time\":11.5,\"algBw\":0.18,\"busBw\":0.31,\"wrong\":0}\n",
    ),
    (
        "log",
        "n:1:1 [0] NCCL INFO NCCL version 2.22.3+cuda12.4\nn:1:1 [0] NCCL INFO AllReduce: 1024 Bytes -> Algo 1 proto 0 time 9.5\n",
    ),
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Inputs with their names, and how often each is damaged.
fn corpus() -> Vec<(String, Vec<u8>, u64)> {
    let mut inputs = Vec::new();
    for path in files(&workspace().join("crates/tier6-cli/tests/fixtures")) {
        inputs.push((
            path.display().to_string(),
            fs::read(path).unwrap(),
            OWN_ROUNDS,
        ));
    }
    let base = workspace().join("crates/tier6-cli/tests/fixtures/base.txt");
    for form in [ConvertForm::Csv, ConvertForm::JsonLines] {
        for (name, text) in converted(&base, form).unwrap() {
            inputs.push((format!("{form:?} {name}"), text.into_bytes(), OWN_ROUNDS));
        }
    }
    for (name, text) in DOCUMENTS {
        inputs.push((name.to_owned(), text.into(), OWN_ROUNDS));
    }
    let cases = workspace().join("../shared/cases");
    let published = files(&cases);
    eprintln!("{} own inputs, {} published", inputs.len(), published.len());
    for path in published {
        inputs.push((
            path.display().to_string(),
            fs::read(path).unwrap(),
            PUBLISHED_ROUNDS,
        ));
    }
    inputs
}

/// The files of a folder and its folders, sorted; none where there is no folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let nested = paths.into_iter().flat_map(|path| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    nested
        .filter(|path| path.file_name().is_some_and(|name| name != "expect.md"))
        .collect()
}

/// Damages an input in one of many ways.
fn damaged(input: &[u8], other: &[u8], rng: &mut Rng) -> (&'static str, Vec<u8>) {
    let mut bytes = input.to_vec();
    let at = rng.below(bytes.len());
    match rng.below(12) {
        0 => {
            bytes.truncate(at);
            ("cut", bytes)
        }
        1 => {
            for _ in 0..=rng.below(8) {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
            ("bit flips", bytes)
        }
        2 => {
            let junk: Vec<u8> = (0..40).map(|_| rng.next_u64().to_be_bytes()[0]).collect();
            bytes.splice(at..at, junk);
            ("junk", bytes)
        }
        3 => {
            bytes.splice(at..at, [0, b'\r', 0x1b, b'[', b'3', b'1', b'm', 0xff]);
            ("control bytes", bytes)
        }
        4 => {
            bytes.retain(|byte| *byte != b'\n');
            ("one line", bytes)
        }
        5 => {
            for byte in &mut bytes {
                if *byte == b'\n' {
                    *byte = b'\r';
                }
            }
            ("carriage returns alone", bytes)
        }
        6 => {
            let wide = bytes.iter().flat_map(|byte| [*byte, 0]);
            let mut bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
            bytes.pop();
            ("UTF-16 of odd length", bytes)
        }
        7 => {
            bytes.truncate(at);
            bytes.extend(&other[rng.below(other.len())..]);
            ("two inputs in one", bytes)
        }
        8 => ("lines in another order", lines_shuffled(&bytes, rng)),
        _ => ("hostile numbers", hostile(&bytes, rng)),
    }
}

fn lines_shuffled(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, two) = (rng.below(lines.len()), rng.below(lines.len()));
    lines.swap(one, two);
    lines.push(lines[one]);
    lines.remove(two);
    lines.concat()
}

/// Puts numbers at the limits of arithmetic in the place of ordinary ones.
fn hostile(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let mut result = Vec::new();
    for token in bytes.chunk_by(|one, two| is_part(*one) == is_part(*two)) {
        if is_part(token[0]) && rng.below(12) == 0 {
            result.extend(HOSTILE[rng.below(HOSTILE.len())].bytes());
        } else {
            result.extend(token);
        }
    }
    result
}

fn converted(path: &Path, form: ConvertForm) -> Result<Vec<(String, String)>, tier6::Error> {
    let path = path.to_str().unwrap();
    tier6::convert(path, form, &ReadOptions::default(), &mut NoProgress)
        .map(|converted| converted.sheets)
}

/// Takes one input through everything and returns whether it was a measurement.
fn check(path: &Path, original: &Path) -> bool {
    let request = AnalyzeRequest {
        files: vec![path.to_str().unwrap().to_owned()],
        logs: Vec::new(),
        reading: ReadOptions::default(),
        options: AnalysisOptions::STANDARD,
        loss: Loss::Relative,
        range: None,
        predict: Some("1,3M,18446744073709551615".parse().unwrap()),
        placement: None,
    };
    let analyzed = match tier6::analyze(&request, &mut NoProgress) {
        Err(error) => {
            assert!(
                matches!(error.exit(), Exit::Input | Exit::Nothing),
                "{error}"
            );
            assert!(!error.to_string().is_empty());
            return false;
        }
        Ok(analyzed) => analyzed,
    };
    assert!(matches!(analyzed.exit(), Exit::Done | Exit::No));
    let style = Style {
        color: tier6::Color::Off,
        charset: tier6::Charset::Unicode,
        width: 80,
    };
    for detail in [Detail::Short, Detail::Wide] {
        assert!(!tier6::render_analysis(&analyzed.report, Form::Table(style, detail)).is_empty());
    }
    for form in [Form::Markdown, Form::Svg, Form::Html, Form::Csv] {
        let text = tier6::render_analysis(&analyzed.report, form);
        assert!(!text.is_empty());
        if matches!(form, Form::Svg | Form::Csv) {
            let is_lost = |word: &str| ["NaN", "inf"].contains(&word);
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            assert!(!words.any(is_lost), "{form:?} holds a lost number: {text}");
        }
    }
    check_json(&tier6::render_analysis(&analyzed.report, Form::Json));
    check_comparison(path, original);
    for form in [
        ConvertForm::Csv,
        ConvertForm::JsonLines,
        ConvertForm::NcclTests,
    ] {
        converted(path, form).unwrap();
    }
    true
}

/// A number that is not finite would be a null where the contract has a number.
fn check_json(text: &str) {
    let json: Value = serde_json::from_str(text).unwrap();
    for series in json["series"].as_array().unwrap() {
        for point in series["points"].as_array().unwrap() {
            for key in ["bytes", "median_us", "algbw_gbs"] {
                assert!(point[key].is_number(), "`{key}` of {point}");
            }
        }
        for fit in series["fits"].as_array().unwrap() {
            let is_refused = fit["verdict"] == "refused";
            for key in ["alpha_us", "beta_gbs", "mape_pct", "rmspe_pct"] {
                assert!(is_refused || fit[key].is_number(), "`{key}` of {fit}");
            }
        }
    }
}

fn check_comparison(path: &Path, original: &Path) {
    let request = CompareRequest {
        base: original.to_str().unwrap().to_owned(),
        new: path.to_str().unwrap().to_owned(),
        reading: ReadOptions::default(),
        options: AnalysisOptions::STANDARD,
        change: CompareOptions::STANDARD,
        loss: Loss::Relative,
        placement: None,
    };
    match tier6::compare(&request, &mut NoProgress) {
        Err(error) => assert!(
            matches!(error.exit(), Exit::Input | Exit::Nothing),
            "{error}"
        ),
        Ok(report) => {
            let text = tier6::render_comparison(&report, Form::Json);
            let json: Value = serde_json::from_str(&text).unwrap();
            assert!(json["verdict"].is_string());
            for form in [Form::Csv, Form::Html] {
                assert!(!tier6::render_comparison(&report, form).is_empty());
            }
        }
    }
}

#[test]
fn damaged_inputs_never_panic_and_lose_no_number() {
    let folder = std::env::temp_dir().join(format!("tier6-mutations-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (original, path) = (folder.join("original"), folder.join("damaged"));
    let inputs = corpus();
    let mut rng = Rng::new(20_260_101);
    let (mut measured, mut all) = (0, 0);
    let mut failures = Vec::new();
    for (name, input, rounds) in &inputs {
        fs::write(&original, input).unwrap();
        for round in 0..*rounds {
            let (how, bytes) = if round == 0 {
                ("as it is", input.clone())
            } else {
                let other = &inputs[rng.below(inputs.len())].1;
                damaged(input, other, &mut rng)
            };
            fs::write(&path, &bytes).unwrap();
            let started = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| check(&path, &original)));
            all += 1;
            measured += u32::from(*outcome.as_ref().unwrap_or(&false));
            if outcome.is_err() || started.elapsed() > LIMIT {
                failures.push(format!(
                    "{name}: {how}, round {round}, {:?}",
                    started.elapsed()
                ));
                if let Some(folder) = std::env::var_os("MUTATIONS_KEEP") {
                    let kept = Path::new(&folder).join(format!("{}.damaged", failures.len()));
                    fs::write(kept, &bytes).unwrap();
                }
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    eprintln!("{measured} of {all} inputs hold a measurement");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        measured > all / 4,
        "{measured} of {all}: the damage is too great to test much"
    );
}
