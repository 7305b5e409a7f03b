//! Markdown takes `#` for a heading.

use super::*;
use tier6_measure::{RunEnd, SizeStep};

#[test]
fn a_header_needs_no_hashes() {
    let devices = "# Using devices\n#  Rank  0 Group  0 Pid  5 on h device  0 [0x1] X\n\
                   #  Rank  1 Group  0 Pid  5 on h device  1 [0x2] X\n\
                   #  Rank  2 Group  0 Pid  5 on h device  2 [0x3] X\n\
                   #  Rank  3 Group  0 Pid  5 on h device  3 [0x4] X\n";
    let whole = format!("{}{devices}{HEADER}{}{}", parameters(64), row(8), row(16));
    let without = whole.replace("\n#", "\n").replace("# nThread", "nThread");
    let (expect, found) = (parse(&whole), parse(&without));
    assert_eq!(found.value, expect.value);
    assert_eq!(run(&found).series[0].ranks.exact(), Some(4));
    assert_eq!(run(&found).series[0].nodes, Some(1));
    assert_eq!(lines(&found, WarningCode::Repaired), [Some(1)]);
    assert_eq!(lines(&found, WarningCode::Unfinished), [Some(1)]);
    let text = messages(&found, WarningCode::Unfinished).join("");
    assert!(text.starts_with("2 of 4 rows up to 64 B"), "{text}");
}

#[test]
fn a_header_alone_is_a_run_without_rows() {
    let text = parameters(64).replace("graph: 0", "graph: 0 single: 1");
    let parsed = parse(text);
    assert_eq!(run(&parsed).rows, 0);
    assert_eq!(
        run(&parsed).setup.extra,
        [("single".to_owned(), "1".to_owned())]
    );
    assert!(
        messages(&parsed, WarningCode::Missing)
            .iter()
            .any(|m| m.contains("no complete row"))
    );
    assert!(messages(&parsed, WarningCode::Unknown)[0].contains("`single: 1`"));
}

#[test]
fn the_published_paste_is_read() {
    let case = "07-markdown-ate-the-hashes";
    let Some(input) = published(case, "input.md") else {
        return;
    };
    let parsed = parse(input);
    let run_ = run(&parsed);
    assert_eq!((run_.rows, run_.setup.devices.len()), (2, 2));
    assert_eq!(run_.series[0].ranks.exact(), Some(2));
    let setup = &run_.setup;
    assert_eq!((setup.threads, setup.gpus), (Some(1), Some(2)));
    assert_eq!(setup.min_bytes.unwrap().get(), 32);
    assert_eq!(setup.max_bytes.unwrap().get(), 1_073_741_824);
    assert_eq!(setup.step, Some(SizeStep::Factor(2.0)));
    assert_eq!(
        (setup.warmup_iterations, setup.iterations),
        (Some(5), Some(20))
    );
    assert_eq!(setup.validation, Some(true));
    assert_eq!(numbers(run_, Placement::OutOfPlace, 64).0, 10.14);
    assert_eq!(numbers(run_, Placement::InPlace, 64).0, 10.31);
    assert_eq!(run_.end, RunEnd::Unfinished);
    assert_eq!(messages(&parsed, WarningCode::Unfinished).len(), 1);
    let parsed = parse(published(case, "fork-header.txt").unwrap());
    assert_eq!(run(&parsed).rows, 0);
    let extra = &run(&parsed).setup.extra;
    assert_eq!(extra[0], ("single_test".to_owned(), "0".to_owned()));
    assert_eq!(extra[1], ("test_buffer_kind".to_owned(), "2".to_owned()));
    let text = messages(&parsed, WarningCode::Unknown).join("");
    assert!(text.contains("not upstream nccl-tests"), "{text}");
}
