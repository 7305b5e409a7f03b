//! Tables whose header is gone.

use super::*;

#[test]
fn columns_follow_from_the_arithmetic() {
    let with_root = format!("{}{}", row(1 << 20), row(1 << 21));
    let without_root = with_root
        .replace("      -1 ", " ")
        .replace("      0", "  0e+00");
    let gather = "1048576 65536 float none -1 100.0 10.49 7.86 0 100.0 10.49 7.86 0\n";
    for (text, name) in [
        (with_root.as_str(), Some(Collective::AllReduce)),
        (&without_root, Some(Collective::AllReduce)),
        (gather, None),
    ] {
        let parsed = parse(text);
        assert_eq!(collective(run(&parsed)), name);
        assert_eq!(run(&parsed).series[0].ranks.exact(), Some(4));
        let missing = messages(&parsed, WarningCode::Missing).join("; ");
        assert!(missing.contains("no header"), "{missing}");
    }
}

#[test]
fn a_whole_number_of_microseconds_is_no_root() {
    let text = "1073741824 268435456 float sum 17016 63.10 94.65 0e+00 17016 63.10 94.65 0e+00\n";
    let parsed = parse(text);
    assert_eq!(
        numbers(run(&parsed), Placement::OutOfPlace, 1 << 30).0,
        17_016.0
    );
}

#[test]
fn sentences_with_numbers_are_no_rows() {
    assert!(try_parse("12 monkeys ran 3 tests\n20 30 forty 50\n").is_err());
}

#[test]
fn the_published_paste_is_read() {
    let Some(input) = published("38-24GBps-per-200G-nic-and-average", "pasted.txt") else {
        return;
    };
    let parsed = parse(input);
    let run_ = run(&parsed);
    assert_eq!((run_.rows, measurements(run_)), (6, 12));
    assert_eq!(run_.series[0].ranks.exact(), Some(24));
    let missing = messages(&parsed, WarningCode::Missing).join("; ");
    assert!(
        missing.contains("122 of 128 rows up to 133169160 B"),
        "{missing}"
    );
    assert!(messages(&parsed, WarningCode::Inconsistent).is_empty());
    let notes = messages(&parsed, WarningCode::Note).join("; ");
    assert!(notes.contains("mean 96.05"), "{notes}");
    assert!(notes.contains("8 B off the 16-byte grid"), "{notes}");
    let Some(input) = published("34-g5-topology-file-and-version", "nccl-tests-2.18.5.txt") else {
        return;
    };
    let parsed = parse(input);
    assert_eq!(run(&parsed).rows, 1);
    assert_eq!(run(&parsed).series[0].ranks.exact(), Some(4));
    assert_eq!(
        numbers(run(&parsed), Placement::OutOfPlace, 29_388_800),
        (14_207.0, 2.07, 3.1)
    );
    assert!(messages(&parsed, WarningCode::Unfinished).is_empty());
}
