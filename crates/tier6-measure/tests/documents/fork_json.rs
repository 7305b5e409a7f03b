//! JSON of a fork between the lines of other programs.

use crate::material::shared_starting;
use crate::{fails, said};
use tier6_collective::Collective;
use tier6_measure::{
    Dataset, Dialect, LibraryVersion, Parsed, Point, Ranks, ReadOptions, RunEnd, WarningCode, Wrong,
};

const RUN: &str = r#"[host3][[4711,1],0][btl_openib_component.c:99:init_one_device] error obtaining device attributes
  Local host:   host3
NCCL version 2.25.1+cudaCUDA_MAJOR.CUDA_MINOR
{"identifier": "nccl-tests structured output", "version": "2.25.1", "benchmark": [
{"4096": {"count": 256, "type": "float", "redop": "none", "root": "-1", "oop_time": 20.0, "oop_algbw": 0.204800, "oop_busbw": 0.153600, "oop_error": 0.000000, "ip_time": 21.5, "ip_algbw": 0.190512, "ip_busbw": 0.142884, "ip_error": "N/A"},
 "8192": {"count": 512, "type": "float", "redop": "none", "root": "-1", "oop_time": 25.0, "oop_algbw": 0.327680, "oop_busbw": 0.245760, "oop_error": 2.000000, "ip_time": 26.0, "ip_algbw": 0.315077, "ip_busbw": 0.236308, "ip_error": "N/A"}}]}
"#;

fn parse(text: &str, options: &ReadOptions) -> Parsed<Dataset> {
    let parsed = tier6_measure::read(text.as_bytes(), options).unwrap();
    assert_eq!(parsed.value.dialect, Dialect::ForkJson);
    parsed
}

fn numbers(point: &Point) -> (u64, f64, f64, f64, Wrong) {
    let sample = &point.samples[0];
    let rate = |rate: Option<tier6_units::GbPerSec>| rate.unwrap().get();
    (
        point.bytes.get(),
        sample.time.unwrap().get(),
        rate(sample.algbw),
        rate(sample.busbw),
        sample.wrong,
    )
}

#[test]
fn the_document_is_found_in_its_noise() {
    let options = ReadOptions {
        collective: Some(Collective::AllGather),
        ..ReadOptions::default()
    };
    let parsed = parse(RUN, &options);
    insta::assert_snapshot!(said(&parsed), @r"
    line 1: another program says: [host3][[4711,1],0][btl_openib_component.c:99:init_one_device] error obtaining device attributes [foreign]
    line 4: 2 wrong elements at 8192 B, out_of_place [wrong-data]
    ");
    let run = &parsed.value.runs[0];
    assert_eq!(run.first_line, 4);
    assert_eq!(
        run.setup.library_version,
        Some(LibraryVersion::new(2, 25, 1))
    );
    let [out_of_place, in_place] = run.series.as_slice() else {
        panic!("two series")
    };
    // 256 floats are 1024 B, a quarter of the size: four ranks, without any header.
    assert_eq!(out_of_place.ranks, Ranks::Stated(4));
    assert_eq!(
        numbers(&out_of_place.points[0]),
        (4096, 20.0, 0.2048, 0.1536, Wrong::Elements(0))
    );
    assert_eq!(out_of_place.points[1].samples[0].wrong, Wrong::Elements(2));
    assert_eq!(in_place.points[1].samples[0].wrong, Wrong::NotChecked);
}

#[test]
fn whole_sizes_of_a_cut_document_are_used() {
    let cut = &RUN[..RUN.find("\"oop_error\": 2.0").unwrap()];
    let parsed = parse(cut, &ReadOptions::default());
    assert_eq!(parsed.value.runs[0].end, RunEnd::Unfinished);
    assert_eq!(parsed.value.runs[0].series[0].points.len(), 1);
    assert!(said(&parsed).contains("the document is cut"));
    let early = &RUN[..RUN.find("\"oop_error\"").unwrap()];
    assert!(
        tier6_measure::read(early.as_bytes(), &ReadOptions::default())
            .unwrap_err()
            .to_string()
            .contains("before its first size")
    );
    assert!(fails("{\"identifier\": 1} benchmark").starts_with("no benchmark table"));
}

#[test]
fn the_shared_output_on_noisy_stdout() {
    let Some(text) = shared_starting("cases/19-fork-json-on-noisy-stdout", "stdout") else {
        return;
    };
    let parsed = parse(&text, &ReadOptions::default());
    let codes: Vec<_> = parsed.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(
        codes,
        [
            WarningCode::Foreign,
            WarningCode::Foreign,
            WarningCode::CutRow
        ]
    );
    let run = &parsed.value.runs[0];
    assert_eq!(
        run.setup.library_version,
        Some(LibraryVersion::new(2, 26, 6))
    );
    let [out_of_place, in_place] = run.series.as_slice() else {
        panic!("two series")
    };
    assert_eq!((out_of_place.points.len(), in_place.points.len()), (2, 2));
    assert_eq!(out_of_place.ranks, Ranks::Stated(8));
    assert_eq!(
        numbers(&out_of_place.points[0]),
        (
            33_554_432,
            1_494.278_386,
            22.455_275,
            19.648_366,
            Wrong::Elements(0)
        )
    );
    assert_eq!(
        numbers(&in_place.points[0]),
        (
            33_554_432,
            1_459.561_667,
            22.989_390,
            20.115_716,
            Wrong::NotChecked
        )
    );
    assert_eq!(out_of_place.points[1].bytes.get(), 67_108_864);
}

proptest::proptest! {
    #[test]
    fn damaged_output_is_taken(cut in 0_usize..RUN.len(), at in 0_usize..RUN.len(), byte in 0_u8..128) {
        let mut bytes = RUN.as_bytes()[..cut].to_vec();
        if at < cut {
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = tier6_measure::read(text.as_bytes(), &ReadOptions::default());
    }
}
