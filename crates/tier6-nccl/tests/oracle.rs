//! The model against tables that NCCL's own code printed, one test per version: the full set
//! when the shared folder is there, else the thinned copy beside this test.

use std::fs;
use std::path::{Path, PathBuf};
use tier6_nccl::{OracleFile, VerifyReport, verify};

const FOLDERS: [&str; 6] = ["systems", "cost", "sched", "types", "env", "fuzz"];

fn thinned() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle")
}

fn full() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/nccl");
    folder.is_dir().then_some(folder)
}

/// Returns the names and texts of the files whose name starts with `prefix`.
fn read(folder: &Path, prefix: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for kind in FOLDERS {
        for entry in fs::read_dir(folder.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with(prefix) {
                let text = fs::read_to_string(&path).unwrap();
                files.push((format!("{kind}/{name}"), text));
            }
        }
    }
    files.sort();
    files
}

fn compare(folder: &Path, prefix: &str) -> VerifyReport {
    let files = read(folder, prefix);
    let files: Vec<OracleFile<'_>> = files
        .iter()
        .map(|(name, text)| OracleFile { name, text })
        .collect();
    verify(&files).unwrap()
}

fn every_row_is_equal(version: &str) {
    let (folder, which) = match full() {
        Some(folder) => (folder, "full"),
        None => (thinned(), "thinned"),
    };
    let report = compare(&folder, &format!("{version}."));
    for table in &report.tables {
        eprintln!(
            "{which} {}: {} rows, {} equal, {} different",
            table.file, table.rows, table.equal, table.different
        );
    }
    assert!(report.rows() > 100, "{version} has too few rows");
    assert_eq!(report.examples, []);
    assert_eq!(report.equal(), report.rows());
}

macro_rules! one_test_per_version {
    ($($test:ident $version:literal)*) => {
        $(
            #[test]
            fn $test() {
                every_row_is_equal($version);
            }
        )*
    };
}

one_test_per_version! {
    nccl_2_19_3 "2.19.3"
    nccl_2_20_5 "2.20.5"
    nccl_2_21_5 "2.21.5"
    nccl_2_22_3 "2.22.3"
    nccl_2_23_4 "2.23.4"
    nccl_2_24_3 "2.24.3"
    nccl_2_25_1 "2.25.1"
    nccl_2_26_6 "2.26.6"
    nccl_2_27_3 "2.27.3"
    nccl_2_27_7 "2.27.7"
    nccl_2_28_9 "2.28.9"
    nccl_2_29_7 "2.29.7"
    nccl_2_30_7 "2.30.7"
}

#[test]
fn the_thinned_copy_holds_every_kind_of_table_and_is_equal() {
    let report = compare(&thinned(), "2.");
    assert_eq!(report.examples, []);
    assert_eq!(report.equal(), report.rows());
    let files: Vec<&str> = report.tables.iter().map(|t| t.file.as_str()).collect();
    for folder in FOLDERS {
        assert!(
            files.iter().any(|file| file.starts_with(folder)),
            "{folder}"
        );
    }
}

#[test]
fn a_wrong_field_is_found_and_named() {
    let folder = thinned();
    let mut files = read(&folder, "2.22.3.");
    let costs = files
        .iter_mut()
        .find(|(name, _)| name == "cost/2.22.3.csv")
        .unwrap();
    // Line 2 is the first row; its channel count gets one more digit.
    let row = costs.1.lines().nth(1).unwrap().to_owned();
    let mut fields: Vec<String> = row.split(',').map(str::to_owned).collect();
    fields[10].push('0');
    costs.1 = costs.1.replacen(&row, &fields.join(","), 1);
    costs
        .1
        .push_str("no-such-system,allreduce,f32sum,1,1,0,0,ring,LL,1,1,3,10=1\n");
    let files: Vec<OracleFile<'_>> = files
        .iter()
        .map(|(name, text)| OracleFile { name, text })
        .collect();
    let report = verify(&files).unwrap();
    assert_eq!(report.different(), 2);
    let first = &report.examples[0];
    assert_eq!((first.file.as_str(), first.row), ("cost/2.22.3.csv", 2));
    assert_eq!(
        (first.field.as_str(), &first.theirs),
        ("nMaxChannels", &fields[10])
    );
    let last = report.examples.last().unwrap();
    assert_eq!(
        (last.id.as_str(), last.field.as_str()),
        ("no-such-system", "id")
    );
}

#[test]
fn a_foreign_file_is_refused_by_name() {
    let error = |name: &str| {
        verify(&[OracleFile { name, text: "" }])
            .unwrap_err()
            .to_string()
    };
    assert!(error("logs/2.22.3.csv").contains("`logs/2.22.3.csv` is none of"));
    assert!(error("cost/new.csv").contains("version"));
    assert!(error("cost/2.1.0.csv").contains("cost/2.1.0.csv"));
}
