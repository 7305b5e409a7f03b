//! What the writers write reads back.

use crate::material::measurements;
use std::fs;
use tier6_collective::Collective;
use tier6_measure::{
    Dataset, Dialect, Placement, ReadOptions, Wrong, read, read_index, to_json_lines,
    to_nccl_tests_text, to_tier6_csv,
};
use tier6_units::Micros;

fn parse(text: &str, options: &ReadOptions) -> Dataset {
    read(text.as_bytes(), options).unwrap().value
}

/// Placement, size, times in us, correctness, median: what a round trip must keep.
type Shape = Vec<(
    Placement,
    u64,
    Vec<Option<Micros>>,
    Vec<Wrong>,
    Option<Micros>,
)>;

fn shape(dataset: &Dataset) -> Shape {
    let series = dataset.runs.iter().flat_map(|run| &run.series);
    let points =
        series.flat_map(|series| series.points.iter().map(|point| (series.placement, point)));
    let described = points.map(|(placement, point)| {
        let times = point.samples.iter().map(|sample| sample.time).collect();
        let wrong = point.samples.iter().map(|sample| sample.wrong).collect();
        let median = point.published.map(|stats| stats.median);
        (placement, point.bytes.get(), times, wrong, median)
    });
    described.collect()
}

const CYCLES: &str = "\
size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,ip_time_us,ip_algbw,ip_busbw,ip_wrong
1024,256,float,sum,-1,20.15,0.05,0.09,0,19.25,0.05,0.09,N/A
2048,512,float,sum,-1,21.00,0.10,0.17,5e-07,,,,
1024,256,float,sum,-1,22.75,0.05,0.08,3,19.5,0.05,0.09,0
";

fn options() -> ReadOptions {
    ReadOptions {
        collective: Some(Collective::AllReduce),
        ranks: Some(8),
        nodes: Some(1),
        ..ReadOptions::default()
    }
}

#[test]
fn a_sheet_reads_back_as_it_was_and_stands_alone() {
    let dataset = parse(CYCLES, &options());
    let [sheet] = to_tier6_csv(&dataset).try_into().unwrap();
    assert_eq!(sheet.name, "all_reduce_8");
    insta::assert_snapshot!(sheet.text, @r"
    size_bytes,count,dtype,redop,root,oop_time_us,oop_algbw,oop_busbw,oop_wrong,ip_time_us,ip_algbw,ip_busbw,ip_wrong,collective,ranks,nodes
    1024,256,float,sum,,20.15,0.05,0.09,0,19.25,0.05,0.09,,all_reduce,8,1
    1024,256,float,sum,,22.75,0.05,0.08,3,19.5,0.05,0.09,0,all_reduce,8,1
    2048,512,float,sum,,21,0.1,0.17,5e-7,,,,,all_reduce,8,1
    ");
    let again = parse(&sheet.text, &ReadOptions::default());
    assert_eq!(shape(&again), shape(&dataset));
    let series = &again.runs[0].series[0];
    assert_eq!(series.collective, Some(Collective::AllReduce));
    assert_eq!((series.ranks.exact(), series.nodes), (Some(8), Some(1)));
}

/// Every published set survives the way through tier6's CSV; nothing is lost or invented.
#[test]
fn published_measurements_survive_a_round_trip() {
    let folder = measurements();
    let index = read_index(&fs::read_to_string(folder.join("INDEX.tsv")).unwrap()).value;
    for facts in &index {
        let text = fs::read_to_string(folder.join(format!("{}.csv", facts.id))).unwrap();
        let dataset = parse(&text, &facts.read_options());
        let sheets = to_tier6_csv(&dataset);
        assert_eq!(sheets.len(), 1, "{}", facts.id);
        let again = parse(&sheets[0].text, &ReadOptions::default());
        assert_eq!(shape(&again), shape(&dataset), "{}", facts.id);
        let json = to_json_lines(&dataset);
        let again = parse(&json, &ReadOptions::default());
        assert_eq!(shape(&again), shape(&dataset), "{}", facts.id);
        let lines = json.lines().count();
        let points = dataset.runs[0]
            .series
            .iter()
            .flat_map(|series| &series.points);
        let expected: usize = points.map(|point| point.samples.len().max(1)).sum();
        assert_eq!(lines, expected, "{}", facts.id);
    }
}

#[test]
fn statistics_keep_their_columns() {
    let text = "size_bytes,median_us,p95_us,cv_pct,algorithm,protocol,tuner_us\n\
                1024,18.3,19.8,4.71,ring,ll,10.2\n2048,18.9,,,nvls_tree,simple,\n";
    let dataset = parse(text, &options());
    let sheets = to_tier6_csv(&dataset);
    let again = parse(&sheets[0].text, &options());
    assert_eq!(again.runs[0].series, dataset.runs[0].series);
}

#[test]
fn series_of_one_kind_get_names_of_their_own() {
    let text = "collective,size_bytes,algorithm,protocol,ranks,time_us\n\
                allreduce,8,ring,ll,4,1\nallreduce,8,tree,ll,4,2\nallgather,8,ring,ll,4,3\n";
    let sheets = to_tier6_csv(&parse(text, &ReadOptions::default()));
    let names: Vec<&str> = sheets.iter().map(|sheet| sheet.name.as_str()).collect();
    assert_eq!(names, ["all_reduce_4", "all_reduce_4_2", "all_gather_4"]);
    assert!(sheets[1].text.contains("tree,ll"));
}

#[test]
fn json_lines_hold_a_sample_each() {
    let dataset = parse(CYCLES, &options());
    insta::assert_snapshot!(to_json_lines(&dataset), @r#"
    {"schema":"tier6.dataset/1","run":0,"series":0,"collective":"all_reduce","ranks":8,"nodes":1,"datatype":"float","redop":"sum","placement":"out_of_place","bytes":1024,"count":256,"sample":0,"time_us":20.15,"algbw_gbs":0.05,"busbw_gbs":0.09,"wrong":0}
    {"schema":"tier6.dataset/1","run":0,"series":0,"collective":"all_reduce","ranks":8,"nodes":1,"datatype":"float","redop":"sum","placement":"out_of_place","bytes":1024,"count":256,"sample":1,"time_us":22.75,"algbw_gbs":0.05,"busbw_gbs":0.08,"wrong":3}
    {"schema":"tier6.dataset/1","run":0,"series":0,"collective":"all_reduce","ranks":8,"nodes":1,"datatype":"float","redop":"sum","placement":"out_of_place","bytes":2048,"count":512,"sample":0,"time_us":21.0,"algbw_gbs":0.1,"busbw_gbs":0.17,"largest_error":5e-7}
    {"schema":"tier6.dataset/1","run":0,"series":1,"collective":"all_reduce","ranks":8,"nodes":1,"datatype":"float","redop":"sum","placement":"in_place","bytes":1024,"count":256,"sample":0,"time_us":19.25,"algbw_gbs":0.05,"busbw_gbs":0.09}
    {"schema":"tier6.dataset/1","run":0,"series":1,"collective":"all_reduce","ranks":8,"nodes":1,"datatype":"float","redop":"sum","placement":"in_place","bytes":1024,"count":256,"sample":1,"time_us":19.5,"algbw_gbs":0.05,"busbw_gbs":0.09,"wrong":0}
    "#);
}

#[test]
fn the_pasteable_table_reads_back_within_its_digits() {
    let dataset = parse(CYCLES, &options());
    let text = to_nccl_tests_text(&dataset);
    insta::assert_snapshot!(text, @r"
    # Collective test starting: all_reduce_perf
    #
    # nRanks 8
    #
    #                                                        out-of-place                       in-place
    #       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
    #        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
            1024           256     float     sum      -1    20.15    0.05    0.09       0    19.25    0.05    0.09     N/A
            1024           256     float     sum      -1    22.75    0.05    0.08       3    19.50    0.05    0.09       0
    # Out of bounds values : 1 FAILED
    # Avg bus bandwidth    : 0.0875
    #
    # Collective test starting: all_reduce_perf
    #
    # nRanks 8
    #
    #                                                        out-of-place                       in-place
    #       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
    #        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
            2048           512     float     sum      -1    21.00    0.10    0.17   5e-07
    # Out of bounds values : 0 OK
    # Avg bus bandwidth    : 0.17
    #
    ");
    let again = parse(&text, &options());
    assert_eq!(again.dialect, Dialect::NcclTestsText);
    let times = |dataset: &Dataset| -> Vec<(Placement, u64, Option<Micros>)> {
        let described = shape(dataset);
        let mut times: Vec<_> = described
            .into_iter()
            .flat_map(|(placement, bytes, times, ..)| {
                times.into_iter().map(move |time| (placement, bytes, time))
            })
            .collect();
        times.sort_by(|one, other| one.partial_cmp(other).unwrap());
        times
    };
    assert_eq!(times(&again), times(&dataset));
}

/// Sets of one placement and of two, of bandwidths only, with old errors: the table holds every
/// point, with its time to the printed digits.
#[test]
fn published_measurements_survive_as_tables() {
    let folder = measurements();
    let index = read_index(&fs::read_to_string(folder.join("INDEX.tsv")).unwrap()).value;
    for facts in &index {
        let text = fs::read_to_string(folder.join(format!("{}.csv", facts.id))).unwrap();
        let dataset = parse(&text, &facts.read_options());
        let again = parse(&to_nccl_tests_text(&dataset), &facts.read_options());
        let points = |dataset: &Dataset| {
            let mut points: Vec<_> = shape(dataset)
                .into_iter()
                .map(|(placement, bytes, ..)| (placement, bytes))
                .collect();
            points.sort_unstable();
            points.dedup();
            points
        };
        assert_eq!(points(&again), points(&dataset), "{}", facts.id);
    }
}

#[test]
fn a_row_without_speed_is_left_out_and_counted() {
    let text = "size_bytes,busbw\n1024,0.5\n2048,0.7\n";
    let unknown = to_nccl_tests_text(&parse(text, &ReadOptions::default()));
    assert!(
        unknown.contains("# 2 rows without a time or bandwidth are left out"),
        "{unknown}"
    );
    // With collective and ranks the time follows: 1024 B at 0.5 / 1.75 GB/s.
    let known = to_nccl_tests_text(&parse(text, &options()));
    assert!(known.contains("3.58"), "{known}");
}
