//! Tables shaped otherwise than the ones in the project: other columns, line ends, blanks,
//! unknown versions. Every row counts, and what differs is named at its line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tier6_nccl::{OracleFile, TableReport, VerifyReport, verify};

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Compares a cost table under a name with the communicators of 2.22.3.
fn compare(name: &str, costs: &str) -> (TableReport, VerifyReport) {
    let systems = read("systems/2.22.3.jsonl");
    let files = [
        OracleFile { name, text: costs },
        OracleFile {
            name: "systems/2.22.3.jsonl",
            text: &systems,
        },
    ];
    let report = verify(&files).unwrap();
    (report.tables[0].clone(), report)
}

fn costs() -> String {
    read("cost/2.22.3.csv")
}

fn rows() -> u64 {
    costs().lines().count() as u64 - 1
}

/// Rearranges the fields of every line.
fn with_fields(text: &str, change: impl Fn(&mut Vec<&str>)) -> String {
    let lines = text.lines().map(|line| {
        let mut fields: Vec<&str> = line.split(',').collect();
        change(&mut fields);
        fields.join(",") + "\n"
    });
    lines.collect()
}

#[test]
fn the_header_says_where_a_field_stands() {
    let backwards = with_fields(&costs(), |fields| fields.reverse());
    let (table, _) = compare("cost/2.22.3.csv", &backwards);
    assert_eq!((table.rows, table.equal), (rows(), rows()));
}

#[test]
fn without_a_header_the_first_row_is_a_row() {
    let costs = costs();
    let (_, bare) = costs.split_once('\n').unwrap();
    let (table, _) = compare("cost/2.22.3.csv", bare);
    assert_eq!((table.rows, table.equal), (rows(), rows()));
}

#[test]
fn a_missing_column_is_a_difference_of_every_row() {
    let narrow = with_fields(&costs(), |fields| {
        fields.remove(11);
    });
    let (table, report) = compare("cost/2.22.3.csv", &narrow);
    assert_eq!((table.rows, table.different), (rows(), rows()));
    for example in report.examples {
        assert_eq!(example.field, "nWarps");
        assert_eq!(example.theirs, "missing");
    }
}

#[test]
fn more_fields_than_columns_are_a_difference() {
    let costs = costs();
    let wide = costs.lines().enumerate().map(|(index, line)| {
        let more = if index == 3 { ",1" } else { "" };
        format!("{line}{more}\n")
    });
    let (table, report) = compare("cost/2.22.3.csv", &wide.collect::<String>());
    assert_eq!(table.different, 1);
    assert_eq!(
        (report.examples[0].row, report.examples[0].field.as_str()),
        (4, "fields")
    );
}

#[test]
fn lines_are_counted_as_an_editor_does() {
    let costs = costs();
    let mut lines: Vec<String> = costs.lines().map(str::to_owned).collect();
    lines[2] = lines[2].replacen("v100", "v999", 1);
    lines.insert(1, String::new());
    lines.insert(1, String::new());
    for end in ["\n", "\r\n"] {
        let (table, report) = compare("cost/2.22.3.csv", &(lines.join(end) + end));
        assert_eq!((table.rows, table.different), (rows(), 1));
        let example = &report.examples[0];
        assert_eq!((example.row, example.field.as_str()), (5, "id"));
        assert_eq!(example.ours, "no such communicator");
    }
}

#[test]
fn one_unit_in_the_last_place_is_a_difference() {
    let costs = costs();
    let line = costs.lines().nth(1).unwrap();
    let time = line.split(',').nth(9).unwrap();
    let next = time.parse::<f32>().unwrap().next_up().to_string();
    let changed = line.replacen(&format!(",{time},"), &format!(",{next},"), 1);
    let (table, report) = compare("cost/2.22.3.csv", &costs.replacen(line, &changed, 1));
    assert_eq!(table.different, 1);
    assert_eq!(report.examples[0].field, "time_us");
    assert_eq!(report.examples[0].theirs, next);
}

#[test]
fn an_unknown_version_is_compared_with_the_nearest_older_release_and_says_so() {
    let systems = read("systems/2.27.7.jsonl").replace("2.27.7", "2.27.8");
    let costs = read("cost/2.27.7.csv");
    let files = [
        OracleFile {
            name: "systems/2.27.8.jsonl",
            text: &systems,
        },
        OracleFile {
            name: "cost/2.27.8.csv",
            text: &costs,
        },
    ];
    let report = verify(&files).unwrap();
    assert_eq!(report.different(), 0);
    assert_eq!(report.notes.len(), 2);
    assert!(report.notes[0].contains("the nearest older release 2.27.7 is used"));
}

#[test]
fn communicators_beside_a_table_come_before_those_of_systems() {
    let systems = read("systems/2.22.3.jsonl");
    let costs = costs();
    let files = [
        OracleFile {
            name: "types/2.22.3.cost.csv",
            text: &costs,
        },
        OracleFile {
            name: "types/2.22.3.jsonl",
            text: &systems,
        },
    ];
    let report = verify(&files).unwrap();
    assert_eq!((report.rows() > rows(), report.different()), (true, 0));
}

#[test]
fn one_bad_row_does_not_hide_the_others() {
    let costs = costs();
    let lines = costs.lines().enumerate().map(|(index, line)| {
        let line = match index {
            // Nothing but the call is left of these.
            1..=6 => line.split(',').take(7).collect::<Vec<_>>().join(","),
            _ => line.to_owned(),
        };
        line + "\n"
    });
    let (table, report) = compare("cost/2.22.3.csv", &lines.collect::<String>());
    assert_eq!(table.different, 6);
    let named: BTreeSet<u64> = report.examples.iter().map(|example| example.row).collect();
    assert!(named.len() >= 5, "{named:?}");
}
