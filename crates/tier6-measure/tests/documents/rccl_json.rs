//! rccl-tests' JSON, in lines and as an array.

use crate::material::shared_starting;
use crate::{fails, said};
use tier6_measure::{Dataset, Dialect, Parsed, Ranks, ReadOptions, Series, WarningCode, Wrong};

const LINES: &str = r##"{"#wrong":"0","algBw":0.1024,"busBw":0.1792,"gpus":8,"inPlace":0,"name":"AllReduce","redop":"sum","size":2048,"time":20.0,"type":"float"}
{"#wrong":"0","algBw":0.1024,"busBw":0.1792,"gpus":8,"inPlace":1,"name":"AllReduce","redop":"sum","size":2048,"time":20.0,"type":"float"}
{"#wrong":"N/A","algBw":0.16384,"busBw":0.28672,"gpus":8,"inPlace":0,"name":"AllReduce","redop":"sum","size":4096,"time":25.0,"type":"float"}
{"#wrong":"0","al
"##;

/// The later form: an array, MPI keys, cycles, `wrong` without its sign.
const ARRAY: &str = r#"[
{"numCycle":0, "name":"AllGather", "nodes":2, "ranks":4, "ranksPerNode":2, "gpusPerRank":2, "size":8192, "type":"half", "redop":"none", "inPlace":0, "time":40.0, "algBw":0.2048, "busBw":0.1792, "wrong":"0"},
{"numCycle":1, "name":"AllGather", "nodes":2, "ranks":4, "ranksPerNode":2, "gpusPerRank":2, "size":8192, "type":"half", "redop":"none", "inPlace":0, "time":32.0, "algBw":0.256, "busBw":0.224, "wrong":"0"}
]
"#;

fn parse(text: &str) -> Parsed<Dataset> {
    let parsed = tier6_measure::read(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::RcclJsonLines);
    parsed
}

fn times(series: &Series) -> Vec<(u64, f64)> {
    let sample =
        |point: &tier6_measure::Point| (point.bytes.get(), point.samples[0].time.unwrap().get());
    series.points.iter().map(sample).collect()
}

#[test]
fn lines_become_two_placements() {
    let parsed = parse(LINES);
    insta::assert_snapshot!(said(&parsed), @r"
    line 4: the object is cut and not used [cut-row]
    in_place is missing at 4096 B [placement]
    ");
    let [out_of_place, in_place] = parsed.value.runs[0].series.as_slice() else {
        panic!("two series")
    };
    assert_eq!(out_of_place.ranks, Ranks::Stated(8));
    assert_eq!(times(out_of_place), [(2048, 20.0), (4096, 25.0)]);
    assert_eq!(times(in_place), [(2048, 20.0)]);
    assert_eq!(out_of_place.points[0].samples[0].wrong, Wrong::Elements(0));
    assert_eq!(out_of_place.points[1].samples[0].wrong, Wrong::NotChecked);
}

#[test]
fn an_array_of_an_mpi_build_counts_all_gpus() {
    let parsed = parse(ARRAY);
    assert_eq!(said(&parsed), "");
    let [series] = parsed.value.runs[0].series.as_slice() else {
        panic!("one series")
    };
    assert_eq!((series.ranks, series.nodes), (Ranks::Stated(8), Some(2)));
    assert_eq!(series.points[0].samples.len(), 2);
    // When `ranks` already counts GPUs, the bandwidths object and decide.
    let counted = parse(&ARRAY.replace("\"gpusPerRank\":2", "\"gpusPerRank\":4"));
    let series = &counted.value.runs[0].series[0];
    assert_eq!(series.ranks.exact(), Some(8));
    assert!(
        said(&counted).contains("the objects say 16 ranks"),
        "{}",
        said(&counted)
    );
}

#[test]
fn the_shared_lines() {
    let Some(text) = shared_starting("cases/15-rccl-json-lines", "results") else {
        return;
    };
    let parsed = parse(&text);
    let codes: Vec<_> = parsed
        .warnings
        .iter()
        .map(|warning| (warning.code, warning.line))
        .collect();
    assert_eq!(
        codes,
        [
            (WarningCode::CutRow, Some(6)),
            (WarningCode::Placement, None)
        ]
    );
    let run = &parsed.value.runs[0];
    assert_eq!(run.rows, 5);
    let [out_of_place, in_place] = run.series.as_slice() else {
        panic!("two series")
    };
    assert_eq!(out_of_place.ranks, Ranks::Stated(4));
    assert_eq!(times(out_of_place)[0], (1024, 19.184_150_000_000_002));
    assert_eq!(
        times(in_place),
        [
            (1024, 19.897_650_000_000_002),
            (2048, 20.260_200_000_000_005)
        ]
    );
    let busbw = out_of_place.points[0].samples[0].busbw.unwrap().get();
    assert!((busbw - 0.080_066_1).abs() < 1e-7);
    assert_eq!(out_of_place.points.len(), 3);
}

#[test]
fn other_objects_are_told() {
    let parsed = parse(&format!("{LINES}{{\"inPlace\":0}}\n"));
    assert!(
        said(&parsed).contains("line 5: the object is no measurement"),
        "{}",
        said(&parsed)
    );
    assert!(fails("{\"inPlace\":0,\"busBw\":1}").starts_with("no benchmark table"));
}

proptest::proptest! {
    #[test]
    fn damaged_lines_are_taken(at in 0_usize..LINES.len(), byte in 0_u8..128) {
        let mut bytes = LINES.as_bytes().to_vec();
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = tier6_measure::read(text.as_bytes(), &ReadOptions::default());
    }
}
