//! CSV: tier6's own, foreign ones, and the published measurements.

use crate::material::measurements;
use crate::said;
use std::fs;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_measure::{
    Correctness, Dataset, Dialect, Parsed, Placement, Point, Ranks, ReadOptions, RunEnd, Sample,
    Series, Wrong, read_index, to_json_lines, to_nccl_tests_text, to_tier6_csv,
};
use tier6_units::{GbPerSec, Micros};

pub fn options(collective: Collective, ranks: u32) -> ReadOptions {
    ReadOptions {
        collective: Some(collective),
        ranks: Some(ranks),
        ..ReadOptions::default()
    }
}

fn read_with(text: &str, options: &ReadOptions) -> Parsed<Dataset> {
    tier6_measure::read(text.as_bytes(), options).unwrap()
}

pub fn parse(text: &str) -> Parsed<Dataset> {
    read_with(text, &ReadOptions::default())
}

pub fn only_series(parsed: &Parsed<Dataset>) -> &Series {
    let [run] = parsed.value.runs.as_slice() else {
        panic!("one run, not {}", parsed.value.runs.len())
    };
    let [series] = run.series.as_slice() else {
        panic!("one series, not {}", run.series.len())
    };
    series
}

pub fn times(series: &Series) -> Vec<(u64, Vec<f64>)> {
    let samples = |point: &Point| {
        let times = point.samples.iter().filter_map(|sample| sample.time);
        times.map(Micros::get).collect()
    };
    series
        .points
        .iter()
        .map(|point| (point.bytes.get(), samples(point)))
        .collect()
}

/// Every published set reads without error, and exactly the ten that fail the arithmetic or hold
/// wrong elements carry warnings.
#[test]
fn published_measurements_warn_where_they_should() {
    let folder = measurements();
    let index = read_index(&fs::read_to_string(folder.join("INDEX.tsv")).unwrap());
    assert_eq!(index.warnings, []);
    // The workspace's copy also lists the tables of the source documents.
    let published = index.value.iter();
    let published = published.filter(|facts| !facts.id.starts_with(['s']));
    assert_eq!(published.count(), 364);
    let mut warned = Vec::new();
    for facts in &index.value {
        let text = fs::read_to_string(folder.join(format!("{}.csv", facts.id))).unwrap();
        let parsed = read_with(&text, &facts.read_options());
        assert_eq!(parsed.value.dialect, Dialect::Tier6Csv, "{}", facts.id);
        let [run] = parsed.value.runs.as_slice() else {
            panic!("{}: one run", facts.id)
        };
        let sizes = run.series.iter().map(|series| series.points.len()).max();
        assert_eq!(
            sizes,
            facts.points.map(|points| points as usize),
            "{}",
            facts.id
        );
        assert!(
            run.series
                .iter()
                .all(|series| series.ranks == Ranks::Stated(facts.ranks.unwrap()))
        );
        let mut codes: Vec<&str> = parsed
            .warnings
            .iter()
            .map(|warning| warning.code.name())
            .collect();
        codes.dedup();
        if !codes.is_empty() {
            warned.push(format!(
                "{}: {} {}",
                facts.id,
                parsed.warnings.len(),
                codes.join(" ")
            ));
        }
    }
    insta::assert_snapshot!(warned.join("\n"), @r"
    gh200_ar_32gpu_8node_alps_ofi1130: 2 wrong-data
    gh200_ar_64gpu_16node_alps_ofi1130: 2 wrong-data
    gh200_ar_1024gpu_256node_alps_ofi1130: 1 wrong-data
    gh200_ar_2048gpu_512node_alps_ofi1130: 1 wrong-data
    gh200_ar_16gpu_4node_alps_ofi192: 1 wrong-data
    gh200_ar_32gpu_8node_alps_ofi192: 1 wrong-data
    gh200_ar_64gpu_16node_alps_ofi192: 2 wrong-data
    gh200_ar_2048gpu_512node_alps_ofi192: 2 wrong-data
    gh200_ar_16gpu_4node_olivia_corrupt: 11 wrong-data
    rtx2080ti_ag_2gpu_nvlink_nccltests44: 26 inconsistent
    ");
}

#[test]
fn placements_become_two_series() {
    let text = "\
size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,ip_time_us,ip_algbw,ip_busbw,ip_wrong
1024,256,float,sum,-1,20.00,0.05,0.09,0,,,,
2048,512,float,sum,-1,21.00,0.10,0.17,5e-07,20.50,0.10,0.17,N/A
";
    let parsed = read_with(text, &options(Collective::AllReduce, 8));
    assert_eq!(parsed.warnings, []);
    let run = &parsed.value.runs[0];
    assert_eq!(run.end, RunEnd::NotStated);
    let [out_of_place, in_place] = run.series.as_slice() else {
        panic!("two series")
    };
    assert_eq!(out_of_place.placement, Placement::OutOfPlace);
    assert_eq!(out_of_place.ranks, Ranks::Stated(8));
    assert_eq!(
        times(out_of_place),
        [(1024, vec![20.0]), (2048, vec![21.0])]
    );
    assert_eq!(times(in_place), [(2048, vec![20.5])]);
    let wrong = |at: usize| out_of_place.points[at].samples[0].wrong;
    assert_eq!(wrong(0), Wrong::Elements(0));
    assert_eq!(wrong(1), Wrong::LargestError(5e-7));
    assert_eq!(in_place.points[0].samples[0].wrong, Wrong::NotChecked);
    assert_eq!(out_of_place.points[1].samples[0].line, 3);
}

#[test]
fn a_bandwidth_alone_stays_one() {
    let text = "\
size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,ip_time_us,ip_algbw,ip_busbw,ip_wrong
4096,1024,float,sum,-1,,0.25,,,,,,
8192,2048,float,sum,-1,,,,,,,,
";
    let parsed = read_with(text, &options(Collective::AllReduce, 2));
    assert_eq!(
        said(&parsed),
        "line 3: the row holds no time and no bandwidth [bad-row]"
    );
    let sample: &Sample = &only_series(&parsed).points[0].samples[0];
    assert_eq!((sample.time, sample.algbw.unwrap().get()), (None, 0.25));
}

#[test]
fn statistics_paths_and_predictions_are_kept_apart() {
    let text = "\
size_bytes,median_us,p95_us,cv_pct,algorithm,protocol,tuner_us
1024,18.3,19.8,4.71,ring,ll,10.2
2048,18.9,,,ring,ll128,
";
    let parsed = read_with(text, &options(Collective::AllReduce, 4));
    assert_eq!(parsed.warnings, []);
    let [first, second] = only_series(&parsed).points.as_slice() else {
        panic!("two points")
    };
    let stats = first.published.unwrap();
    assert_eq!((stats.median.get(), stats.cv_pct), (18.3, Some(4.71)));
    assert_eq!(stats.p95, Some(Micros::new(19.8)));
    assert!(first.samples.is_empty());
    assert_eq!(first.tuner, Some(Micros::new(10.2)));
    assert_eq!(first.path.unwrap().protocol, Protocol::Ll);
    assert_eq!((second.tuner, second.published.unwrap().p95), (None, None));

    let simulated = "size_bytes,measured_us,g5_total_us,math_us\n8,20.6,20.5,26.0\n";
    let parsed = read_with(simulated, &options(Collective::AllReduce, 8));
    assert_eq!(parsed.warnings, []);
    assert_eq!(times(only_series(&parsed)), [(8, vec![20.6])]);
    let extra = &parsed.value.runs[0].setup.extra;
    assert_eq!(extra[0].1, "`g5_total_us`, `math_us`");
}

#[test]
fn contradictions_and_wrong_data_are_told_with_line_and_numbers() {
    let text = "\
size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,ip_time_us,ip_algbw,ip_busbw,ip_wrong
1048576,262144,float,sum,-1,100.0,10.49,18.35,0,,,,
2097152,524288,float,sum,-1,200.0,12.49,18.35,0,,,,
4194304,1048576,float,sum,-1,400.0,10.49,14.35,7,,,,
8388608,1048576,float,sum,-1,800.0,10.49,18.35,0.5,,,,
4096,1024,float,sum,-1,20.0,0.20,0.36,0,,,,
";
    let parsed = read_with(text, &options(Collective::AllReduce, 8));
    insta::assert_snapshot!(said(&parsed), @r"
    line 3: out_of_place: 2097152 B in 200 us are 10.4858 GB/s, but algbw says 12.49 [inconsistent]
    line 4: out_of_place: busbw says 14.35, but algbw x 1.7500 is 18.3575 GB/s [inconsistent]
    line 4: 7 wrong elements at 4194304 B, out_of_place [wrong-data]
    line 5: 1048576 x float are 4194304 B, not 8388608 B, nor 8 times that [inconsistent]
    line 5: an error of 5e-1 at 8388608 B, out_of_place [wrong-data]
    line 6: size 4096 follows a larger one; the sizes are sorted [inconsistent]
    ");
    assert_eq!(only_series(&parsed).points.len(), 5);
}

#[test]
fn repeated_sizes_are_samples() {
    let parsed = parse("size,time_us\n8,10\n16,11\n8,12\n16,13\n");
    assert_eq!(
        times(only_series(&parsed)),
        [(8, vec![10.0, 12.0]), (16, vec![11.0, 13.0])]
    );
    assert_eq!(said(&parsed), "");
}

#[test]
fn cut_and_bad_rows_are_not_used() {
    let parsed =
        parse("size,time_us,algbw\n8,10,0.1\nabc,1,1\n16,11,\n32,12\n64,13,0.2,9\n128,14,0");
    assert_eq!(
        times(only_series(&parsed)),
        [(8, vec![10.0]), (16, vec![11.0])]
    );
    insta::assert_snapshot!(said(&parsed), @r"
    line 2: out_of_place: 8 B in 10 us are 0.0008 GB/s, but algbw says 0.1 [inconsistent]
    line 3: `abc` is no size [bad-row]
    line 5: expected 3 cells, found 2; the row is not used [bad-row]
    line 6: expected 3 cells, found 4; the row is not used [bad-row]
    line 7: the last row is cut (no line break at its end) and not used [cut-row]
    ");
    let short = parse("size,time_us,algbw\n8,10,0.001\n16,11\n");
    assert!(said(&short).contains("line 3: the last row is cut (2 of 3 cells)"));
}

#[test]
fn notations_of_the_world() {
    let decimal_comma = "\u{feff}Message Size;Latency (ms);\"Note; quoted\"\r\n1024;0,0205;a\r\n1.048.576;1,5;\"b;c\"\r\n";
    let parsed = parse(decimal_comma);
    assert_eq!(
        times(only_series(&parsed)),
        [(1024, vec![20.5]), (1 << 20, vec![1500.0])]
    );
    assert_eq!(parsed.value.dialect, Dialect::ForeignCsv);
    let excel = "sep=,\n# a comment\nRun of May\nnbytes,avg (us),,bandwidth\n\"1,024\",20.5,,\n2048,nan,,\n";
    let parsed = parse(excel);
    assert_eq!(times(only_series(&parsed)), [(1024, vec![20.5])]);
    let tabs = parse("msg_size\tlat(us)\n4K\t1.5 ms\n8K\t2e3\n");
    assert_eq!(
        times(only_series(&tabs)),
        [(4096, vec![1500.0]), (8192, vec![2000.0])]
    );
    let no_unit = parse("size,time\n8,10\n16,11\n");
    assert!(said(&no_unit).contains("column `time` names no unit; read as us"));
    let units = parse("size_mb,time_s\n1,0.001\n2,0.002\n");
    assert_eq!(
        times(only_series(&units)),
        [(1 << 20, vec![1000.0]), (2 << 20, vec![2000.0])]
    );
    assert!(said(&units).contains("units of 1024"));
    let behind_hash = parse("# size,time_us\n8,10\n");
    assert_eq!(times(only_series(&behind_hash)), [(8, vec![10.0])]);
}

#[test]
fn a_bandwidth_column_is_what_its_numbers_are() {
    let rate = |text: &str, options: &ReadOptions| {
        let parsed = read_with(text, options);
        let sample = only_series(&parsed).points[0].samples[0].clone();
        (sample.algbw.map(GbPerSec::get), said(&parsed))
    };
    let ranks = options(Collective::AllReduce, 8);
    // The times decide: the column is redundant and says nothing wrong.
    let (algbw, said) = rate(
        "size,time_us,bandwidth_gbps\n1000000,100,10\n2000000,200,10\n",
        &ranks,
    );
    assert_eq!((algbw, said.as_str()), (None, ""));
    let (_, said) = rate("size,time_us,bandwidth_gbps\n1000000,100,17.5\n", &ranks);
    assert_eq!(said, "");
    let (_, said) = rate("size,time_us,bandwidth_gbps\n1000000,100,80\n", &ranks);
    assert_eq!(said, "");
    let (_, said) = rate("size,time_us,bandwidth\n1000000,100,33\n", &ranks);
    assert!(said.contains("neither as algbw nor as busbw"), "{said}");
    // Without times the header's word is taken.
    let (algbw, said) = rate("size,bandwidth (Gbps)\n1000000,80\n", &ranks);
    assert_eq!(algbw, Some(10.0));
    assert!(said.contains("does not say which"), "{said}");
    let (algbw, _) = rate("size,algbw GB/s\n1000000,80\n", &ranks);
    assert_eq!(algbw, Some(80.0));
}

#[test]
fn forced_paths_are_series_and_settings_are_runs() {
    let text = "\
collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,bandwidth_gbps,latency_us
allreduce,1000,ring,ll,8,1,8,-1,0,0.1,10
allreduce,2000,ring,ll,8,1,8,-1,0,0.1,20
allreduce,1000,tree,simple,8,1,8,-1,0,0.05,20
allreduce,2000,tree,simple,8,1,8,-1,0,0.08,25
allreduce,1000,ring,ll,16,1,8,-1,0,0.11,9
broadcast,1000,ring,ll,8,2,16,-1,0,0.1,10
";
    let parsed = parse(text);
    let shape: Vec<String> = parsed
        .value
        .runs
        .iter()
        .flat_map(|run| {
            let channels = run.setup.extra.iter().find(|(name, _)| name == "channels");
            let channels = channels.map_or("", |(_, value)| value.as_str());
            run.series.iter().map(move |series| {
                let paths: Vec<String> = series
                    .points
                    .iter()
                    .filter_map(|point| point.path)
                    .map(|path| path.to_string())
                    .collect();
                format!(
                    "{channels} {} {:?} {:?} {}",
                    series.collective.unwrap(),
                    series.ranks,
                    series.nodes,
                    paths.join(" ")
                )
            })
        })
        .collect();
    insta::assert_snapshot!(shape.join("\n"), @r"
    8 all_reduce Stated(8) Some(1) ring+ll ring+ll
    8 all_reduce Stated(8) Some(1) tree+simple tree+simple
    8 broadcast Stated(16) Some(2) ring+ll
    16 all_reduce Stated(8) Some(1) ring+ll
    ");
    // A path that changes with the size is a tuner at work: one series.
    let tuned = parse("size,algo,proto,time_us\n8,Ring,LL,10\n16,Ring,LL128,11\n");
    let series = only_series(&tuned);
    assert_eq!(series.points[1].path.unwrap().algorithm, Algorithm::Ring);
}

#[test]
fn a_median_keeps_what_the_check_said() {
    let text = "size_bytes,median_us,wrong\n1024,10,5\n2048,11,0\n4096,12,\n";
    let parsed = read_with(text, &ReadOptions::default());
    assert_eq!(parsed.value.runs[0].correctness(), Correctness::Failed);
    assert!(said(&parsed).contains("5 wrong elements at 1024 B"));
    let points = &parsed.value.runs[0].series[0].points;
    assert_eq!(points[0].samples[0].wrong, Wrong::Elements(5));
    assert_eq!(points[0].samples[0].time, None, "the median is no sample");
    assert!(points[2].samples.is_empty());
    for again in [
        to_tier6_csv(&parsed.value).remove(0).text,
        to_nccl_tests_text(&parsed.value),
        to_json_lines(&parsed.value),
    ] {
        let reread = read_with(&again, &ReadOptions::default());
        let run = &reread.value.runs[0];
        assert_eq!(run.correctness(), Correctness::Failed, "{again}");
        assert_eq!(run.series[0].points.len(), 3, "{again}");
    }
}

#[test]
fn a_column_of_placements_sets_rows_apart() {
    let text = "input,placement,size_bytes,median_us,segment\n\
                a.txt,out_of_place,1024,10,segment 1\n\
                a.txt,in_place,1024,11,segment 1\n\
                b.txt,out_of_place,1024,12,segment 1\n";
    let parsed = read_with(text, &ReadOptions::default());
    let medians: Vec<f64> = parsed
        .value
        .runs
        .iter()
        .flat_map(|run| &run.series)
        .map(|series| series.points[0].published.unwrap().median.get())
        .collect();
    assert_eq!(medians, [10.0, 11.0, 12.0]);
    assert!(!said(&parsed).contains("repeats"), "{}", said(&parsed));
}

#[test]
fn a_document_without_end_is_refused_by_its_size() {
    use std::io::{BufReader, Read, repeat};
    let endless = BufReader::new("size,time_us\n8,10\n".as_bytes().chain(repeat(b'\n')));
    let error = tier6_measure::read(endless, &ReadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a csv document of more than 128 MiB is not read"
    );
    assert!(error.hint().is_some());
}
