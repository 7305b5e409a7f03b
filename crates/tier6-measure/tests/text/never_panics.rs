//! Any bytes are read or refused, and nothing is made up.

use super::*;
use proptest::prelude::*;

/// Inputs to break: small ones of every kind, and the published ones where they are at hand.
fn corpus() -> Vec<Vec<u8>> {
    let info =
        "h:1:2 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n";
    let rows: String = (3..10).map(|power| row(1 << power)).collect();
    let table = format!(
        "{}{HEADER}{info}{rows}# Avg bus bandwidth : 1.5\n",
        parameters(4096)
    );
    let tagged: String = table
        .lines()
        .map(|line| format!("> [1,0]<stdout>: {line}\r\n"))
        .collect();
    let wide = tagged.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut inputs = vec![
        table.into_bytes(),
        tagged.into_bytes(),
        wide,
        rows.into_bytes(),
    ];
    if let Some(folder) = published_folder() {
        let files =
            |folder: std::path::PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = files(folder)
            .flat_map(|case| files(case.path()))
            .map(|file| file.path())
            .collect();
        paths.sort();
        inputs.extend(paths.iter().filter_map(|path| std::fs::read(path).ok()));
    }
    eprintln!("{} inputs are broken", inputs.len());
    inputs
}

/// Words that tables and logs are made of.
const WORDS: &str = "#|size|count|type|redop|root|time|cputime|algbw|busbw|#wrong|error|timestamp|\
    out-of-place|in-place|N/A|nan|inf|-1|0|float|half|sum|none|nThread|nGpus|minBytes|maxBytes|\
    step:|2(factor)|iters:|agg|Rank|Pid|on|device|[0x1]|h:1:2|[0]|NCCL|INFO|WARN|Bytes|->|Algo|\
    proto|channel{Lo..Hi}={0..1}|AllReduce:|Channel|00/08|:|coll|channels,|\
    Out of bounds values :|Avg bus bandwidth :|OK|FAILED|Test NCCL failure|Testing|cycle.|\
    all_reduce_perf|-N|>|0:|[1,0]<stdout>:|Reducing maxBytes to|...|\r|\u{1b}[0m|NCCL version";

fn word() -> impl Strategy<Value = String> {
    let fixed: Vec<&str> = WORDS.split('|').collect();
    prop_oneof![
        6 => proptest::sample::select(fixed).prop_map(str::to_owned),
        2 => any::<u64>().prop_map(|number| number.to_string()),
        2 => (0.0_f64..1e6).prop_map(|number| format!("{number:.2}")),
        1 => "[ -~]{0,6}",
    ]
}

fn mutate(mut bytes: Vec<u8>, kind: u8, at: usize, value: u8) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let at = at % bytes.len();
    let line_ends: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] == b'\n').collect();
    let line = match line_ends.as_slice() {
        [] => 0..bytes.len(),
        ends => {
            let pick = at % ends.len();
            let start = pick.checked_sub(1).map_or(0, |before| ends[before] + 1);
            start..ends[pick] + 1
        }
    };
    match kind % 5 {
        0 => bytes[at] = value,
        1 => bytes.truncate(at),
        2 => {
            bytes.drain(line);
        }
        3 => {
            let copy = bytes[line.clone()].to_vec();
            bytes.splice(line.start..line.start, copy);
        }
        _ => bytes.insert(at, value),
    }
    bytes
}

/// What is true of any input that was read.
fn check(bytes: &[u8]) {
    let Ok(parsed) = try_parse(bytes) else { return };
    for run in &parsed.value.runs {
        for series in &run.series {
            let sizes: Vec<u64> = series
                .points
                .iter()
                .map(|point| point.bytes.get())
                .collect();
            assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
            for sample in series.points.iter().flat_map(|point| &point.samples) {
                assert!(
                    sample
                        .time
                        .is_none_or(|time| time.get() >= 0.0 && time.get().is_finite())
                );
            }
        }
    }
}

#[test]
fn broken_inputs_are_read_or_refused() {
    let corpus = corpus();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let count = corpus.len();
    let mutations = proptest::collection::vec((any::<u8>(), any::<usize>(), any::<u8>()), 1..6);
    for _ in 0..1500 {
        let tree = (0..count, &mutations).new_tree(&mut runner).unwrap();
        let (pick, mutations) = proptest::strategy::ValueTree::current(&tree);
        let mut bytes = corpus[pick].clone();
        for (kind, at, value) in mutations {
            bytes = mutate(bytes, kind, at, value);
        }
        check(&bytes);
    }
}

#[test]
fn an_input_cut_anywhere_gives_no_number_that_is_not_in_it() {
    let rows: String = (10..14).map(|power| row(1 << power)).collect();
    let table = format!("{HEADER}{rows}");
    let whole = parse(&table);
    for end in HEADER.len()..table.len() {
        let Ok(cut) = try_parse(&table[..end]) else {
            continue;
        };
        // Whatever stands of a row is told, to the last digit of its size.
        let last = table[..end].rsplit('\n').next().unwrap_or("").trim();
        let told = lines(&cut, WarningCode::CutRow).len();
        assert_eq!(told, usize::from(!last.is_empty()), "cut at {end}");
        for run_ in &cut.value.runs {
            for (series_, known) in run_.series.iter().zip(&run(&whole).series) {
                let is_known = |point| known.points.contains(point);
                assert!(series_.points.iter().all(is_known), "cut at {end}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        check(&bytes);
    }

    #[test]
    fn any_words_are_read_or_refused(
        lines in proptest::collection::vec(proptest::collection::vec(word(), 0..16), 0..24)
    ) {
        let text: Vec<String> = lines.iter().map(|line| line.join(" ")).collect();
        check(text.join("\n").as_bytes());
    }
}
