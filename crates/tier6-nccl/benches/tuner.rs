//! Times the choice of one call, a table of choices, and the comparison with the oracle.
//!
//! Plain wall-clock times of many repetitions, the least of five rounds: what the targets of
//! the project speak of.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use tier6_collective::{DataType, RedOp};
use tier6_nccl::{
    Call, CostTable, NcclCollective, OracleFile, Release, Settings, read_communicator, verify,
};

const ROUNDS: u32 = 5;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let full = root.join("../../../shared/nccl");
    let folder = if full.is_dir() {
        full
    } else {
        root.join("tests/data/oracle")
    };
    println!("tables of {}", folder.display());
    let systems = fs::read_to_string(folder.join("systems/2.30.7.jsonl")).expect("a readable file");
    let tables: Vec<CostTable> = systems.lines().map(table).collect();
    one_choice(&tables);
    table_of_choices(&tables);
    whole_folder(&folder);
}

fn table(line: &str) -> CostTable {
    let release = Release::newest();
    let source = read_communicator(line, release).expect("a communicator");
    CostTable::new(release, source.communicator, Settings::unset(release))
}

fn call(table: &CostTable, collective: NcclCollective, bytes: u64) -> Call {
    let communicator = table.communicator();
    Call::new(communicator, collective, bytes, DataType::Float, RedOp::Sum)
}

fn least(mut round: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn one_choice(tables: &[CostTable]) {
    const CHOICES: u32 = 100_000;
    let table = tables
        .iter()
        .max_by_key(|table| table.communicator().n_ranks)
        .expect("a table");
    let calls: Vec<Call> = (0..32)
        .map(|exponent| call(table, NcclCollective::AllReduce, 1 << exponent))
        .collect();
    let time = least(|| {
        for call in calls.iter().cycle().take(CHOICES as usize) {
            black_box(table.choose(black_box(call))).ok();
        }
    });
    println!(
        "one choice: {:.1} ns",
        time.as_secs_f64() * 1e9 / f64::from(CHOICES)
    );
}

fn table_of_choices(tables: &[CostTable]) {
    let time = least(|| {
        for table in tables {
            for collective in NcclCollective::ALL {
                for exponent in 0..35 {
                    let call = call(table, collective, 1 << exponent);
                    black_box(table.choose(black_box(&call))).ok();
                }
            }
        }
    });
    println!(
        "5 collectives x 35 sizes x {} systems: {:.2} ms",
        tables.len(),
        time.as_secs_f64() * 1e3
    );
}

fn whole_folder(folder: &Path) {
    let mut files = Vec::new();
    for kind in ["systems", "cost", "sched", "types", "env", "fuzz"] {
        for entry in fs::read_dir(folder.join(kind)).expect("a readable folder") {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).expect("a readable file");
            files.push((format!("{kind}/{name}"), text));
        }
    }
    let files: Vec<OracleFile<'_>> = files
        .iter()
        .map(|(name, text)| OracleFile { name, text })
        .collect();
    let mut rows = 0;
    let time = least(|| rows = verify(&files).expect("a comparison").rows());
    println!("verify {rows} rows: {:.2} s", time.as_secs_f64());
}
