//! Options of the benchmark that change its table.

use super::*;
use tier6_collective::{DataType, RedOp};
use tier6_measure::{LibraryVersion, SizeStep};

#[test]
fn timestamps_are_two_words_at_the_end() {
    let header = HEADER.replace('\n', "           timestamp\n");
    let row = row(1024).replace('\n', "  2025-03-04 05:06:07\n");
    let parsed = parse(format!("{header}{row}"));
    assert_eq!(numbers(run(&parsed), Placement::InPlace, 1024).0, 10.01);
}

#[test]
fn iteration_statistics_are_read_past() {
    let group = "time   algbw   busbw #wrong   i_min   i_max   i_p99   i_cv%";
    let header = format!("#  size  count  type  redop  root  {group}  {group}\n");
    let half = format!("{}   9.50   11.50   11.20   3.10", half(2048));
    let parsed = parse(format!("{header}2048 512 float sum -1 {half} {half}\n"));
    assert_eq!(measurements(run(&parsed)), 2);
    assert_eq!(numbers(run(&parsed), Placement::InPlace, 2048).0, 10.02);
}

#[test]
fn a_cpu_time_is_not_the_time_of_the_operation() {
    let header = HEADER.replace(" time", " cputime");
    let row = "1048576 262144 float sum -1 4.10 51.50 77.25 0 4.20 51.40 77.10 0\n";
    let parsed = parse(format!("{header}{row}"));
    let sample = &samples(run(&parsed), Placement::OutOfPlace, 1 << 20)[0];
    assert_eq!(sample.time, None);
    assert_eq!(sample.algbw.unwrap().get(), 51.5);
    assert_eq!(run(&parsed).series[0].ranks.exact(), Some(4));
    assert!(
        messages(&parsed, WarningCode::Note)
            .iter()
            .any(|note| note.contains("cputime"))
    );
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
}

#[test]
fn path_columns_of_rccl_tests_are_paths() {
    let header = HEADER.replace('\n', "    algo     proto    nchannels\n");
    let ring = row(8).replace('\n', "    RING        LL          16\n");
    let none = row(16).replace('\n', "     N/A       N/A         N/A\n");
    let parsed = parse(format!("{header}{ring}{none}"));
    let paths: Vec<Option<String>> = run(&parsed).series[0]
        .points
        .iter()
        .map(|point| point.path.map(|path| path.to_string()))
        .collect();
    assert_eq!(paths, [Some("ring+ll".to_owned()), None]);
}

#[test]
fn cycles_are_samples_of_the_same_points() {
    let sizes = format!("{}{}", row(8), row(16));
    let announced = format!("{HEADER}# Testing 1 cycle.\n{sizes}# Testing 2 cycle.\n{sizes}");
    let by_command =
        format!("$ ./all_reduce_perf -b 8 -e 16 -f 2 -N 3\n{HEADER}{sizes}{sizes}{sizes}");
    let silent = format!("{HEADER}{sizes}{sizes}");
    for (text, cycles) in [(announced, 2), (by_command, 3), (silent, 2)] {
        let parsed = parse(text);
        let run = run(&parsed);
        assert_eq!(run.rows, 2 * cycles as u64);
        assert_eq!(run.series[0].points.len(), 2);
        assert_eq!(samples(run, Placement::InPlace, 16).len(), cycles);
    }
}

#[test]
fn types_and_operators_are_series() {
    let half_row = row(8)
        .replace("float", " half")
        .replace("            2 ", "            4 ");
    let max_row = row(8).replace(" sum", " max");
    let parsed = parse(format!("{HEADER}{}{}{half_row}{max_row}", row(8), row(16)));
    let found: Vec<(Option<DataType>, Option<RedOp>, usize)> = run(&parsed)
        .series
        .iter()
        .map(|series| (series.datatype, series.redop, series.points.len()))
        .collect();
    let (float, half) = (Some(DataType::Float), Some(DataType::Half));
    let (sum, max) = (Some(RedOp::Sum), Some(RedOp::Max));
    assert_eq!(
        found,
        [
            (float, sum, 2),
            (float, sum, 2),
            (half, sum, 1),
            (half, sum, 1),
            (float, max, 1),
            (float, max, 1)
        ]
    );
}

#[test]
fn the_program_and_the_library_are_named() {
    let text = format!(
        "# nccl-tests version 2.17.8 nccl-headers=22703 nccl-library=22703\n\
         # Collective test starting: alltoall_perf\n{}{HEADER}\
         1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 N/A\n",
        parameters(64)
    );
    let parsed = parse(text);
    assert_eq!(collective(run(&parsed)), Some(Collective::AllToAll));
    assert_eq!(
        run(&parsed).setup.library_version,
        Some(LibraryVersion::new(2, 27, 3))
    );
    assert_eq!(run(&parsed).setup.step, Some(SizeStep::Factor(2.0)));
}

#[test]
fn rows_tell_the_collective_where_only_one_fits() {
    let table = |row: &str| format!("{HEADER}{row}\n");
    for (row, name) in [
        (
            "1048576 262144 float sum -1 100.0 10.49 15.73 0 100.0 10.49 15.73 0",
            Some("all_reduce"),
        ),
        (
            "1048576 65536 float sum -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0",
            Some("reduce_scatter"),
        ),
        (
            "1048576 262144 float sum 0 100.0 10.49 10.49 0 100.0 10.49 10.49 0",
            Some("reduce"),
        ),
        (
            "1048576 262144 float none 0 100.0 10.49 10.49 0 100.0 10.49 10.49 0",
            Some("broadcast"),
        ),
        (
            "1048576 262144 float none -1 100.0 10.49 10.49 0 100.0 10.49 10.49 N/A",
            Some("send_recv"),
        ),
        (
            "1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0",
            None,
        ),
    ] {
        let parsed = parse(table(row));
        assert_eq!(
            collective(run(&parsed)).map(Collective::name),
            name,
            "{row}"
        );
    }
}

#[test]
fn what_the_user_says_comes_first() {
    let options = ReadOptions {
        collective: Some(Collective::AllGather),
        ranks: Some(4),
        nodes: Some(2),
        ..ReadOptions::default()
    };
    let text =
        format!("{HEADER}1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n");
    let parsed = read(text.as_bytes(), &options).unwrap();
    let series = &parsed.value.runs[0].series[0];
    assert_eq!(series.collective, Some(Collective::AllGather));
    assert_eq!((series.ranks.exact(), series.nodes), (Some(4), Some(2)));
}

#[test]
fn aggregated_and_graph_runs_say_so() {
    let text = parameters(64)
        .replace("agg iters: 1", "agg iters: 50")
        .replace("graph: 0", "graph: 3");
    let parsed = parse(text);
    let setup = &run(&parsed).setup;
    assert_eq!(
        (setup.aggregated_iterations, setup.graph_launches),
        (Some(50), Some(3))
    );
    let notes = messages(&parsed, WarningCode::Note).join("; ");
    assert!(notes.contains("(-m)") && notes.contains("(-G)"), "{notes}");
}
