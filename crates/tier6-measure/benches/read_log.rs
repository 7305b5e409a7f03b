//! How fast is a large log read, compared with `grep -c "NCCL INFO"` on the same file?
//!
//! Writes a log of nccl-tests with INFO lines to the build's temporary folder (1 GiB, or the
//! number of MiB given: `cargo bench --bench read_log -- 256`), then lets both read it in turn,
//! several times, and prints throughputs, their ratio and the peak memory. The file is in the
//! page cache for both.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use tier6_measure::{ReadOptions, read};

const REPETITIONS: usize = 5;
const SIZES: u32 = 28;

fn main() {
    let mebibytes = std::env::args().find_map(|word| word.parse::<u64>().ok());
    let bytes = mebibytes.unwrap_or(1024) << 20;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for tagged in [Tags::None, Tags::Launcher] {
        let path = folder.join(format!("read_log_{tagged:?}.log"));
        generate(&path, bytes, tagged).expect("the log is written");
        compare(&path, tagged);
        std::fs::remove_file(&path).expect("the log is removed");
    }
    println!("peak memory of this process: {} MiB", peak_mebibytes());
}

/// What stands before each line.
#[derive(Debug, Clone, Copy)]
enum Tags {
    None,
    Launcher,
}

fn compare(path: &Path, tagged: Tags) {
    let size = std::fs::metadata(path).expect("the log exists").len();
    let rate = |seconds: f64| size as f64 / seconds / 1e9;
    let (mut grep, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        grep.push(seconds(|| {
            // Into /dev/null grep would stop at the first match.
            let output = Command::new("grep")
                .args(["-c", "NCCL INFO"])
                .arg(path)
                .output();
            assert!(output.expect("grep is installed").status.success());
        }));
        ours.push(seconds(|| {
            let file = File::open(path).expect("the log opens");
            let parsed =
                read(BufReader::new(file), &ReadOptions::default()).expect("the log is read");
            assert!(parsed.value.runs[0].rows >= u64::from(SIZES));
            assert_eq!(parsed.value.trace.selections.len(), SIZES as usize);
        }));
    }
    let (grep, ours) = (median(&mut grep), median(&mut ours));
    println!(
        "{size} bytes, tags {tagged:?}: grep {:.2} GB/s, tier6 {:.2} GB/s, ratio {:.2} \
         (median of {REPETITIONS})",
        rate(grep),
        rate(ours),
        grep / ours
    );
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

/// Writes cycles of a sweep, with the choices and the chatter of 16 ranks between the rows.
fn generate(path: &Path, bytes: u64, tagged: Tags) -> std::io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut written = 0;
    let mut put = |line: String, written: &mut u64| {
        let tag = match tagged {
            Tags::None => "",
            Tags::Launcher => "[1,0]<stdout>:",
        };
        *written += (line.len() + tag.len() + 1) as u64;
        writeln!(file, "{tag}{line}")
    };
    let header = "# nThread 1 nGpus 1 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 \
                  iters: 20 agg iters: 1 validation: 1 graph: 0\n\
                  #       size         count      type   redop    root     time   algbw   busbw #wrong     \
                  time   algbw   busbw #wrong";
    for line in header.lines() {
        put(line.to_owned(), &mut written)?;
    }
    let mut cycle = 0_u64;
    while written < bytes {
        cycle += 1;
        put(format!("# Testing {cycle} cycle."), &mut written)?;
        for power in 3..3 + SIZES {
            let size = 1_u64 << power;
            for rank in 0..16 {
                chatter(cycle, power, rank, |line| put(line, &mut written))?;
            }
            let time = 20.0 + size as f64 / 4e5 + (cycle % 7) as f64 / 10.0;
            let algbw = size as f64 / time / 1e3;
            let half = format!("{time:9.2} {algbw:7.2} {:7.2}      0", algbw * 1.875);
            put(
                format!(
                    "{size:12} {:13}     float     sum      -1 {half} {half}",
                    size / 4
                ),
                &mut written,
            )?;
        }
    }
    file.flush()
}

fn chatter(
    cycle: u64,
    power: u32,
    rank: u64,
    mut put: impl FnMut(String) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let size = 1_u64 << power;
    let host = format!(
        "gpu-node-{:02}:{}:{}",
        rank / 8,
        41_000 + rank,
        42_000 + rank
    );
    let device = rank % 8;
    if rank == 0 {
        let time = 19.0 + size as f64 / 4e5;
        put(format!(
            "{host} [{device}] NCCL INFO {size} Bytes -> Algo 1 proto 0 time {time:.6}"
        ))?;
    }
    put(format!(
        "{host} [{device}] NCCL INFO AllReduce: opCount {cycle:x} sendbuff 0x7f3c{size:08x} recvbuff \
         0x7f3d{size:08x} count {} datatype 7 op 0 root 0 comm 0x55e0c0a0 [nranks=16] stream 0x55e0c1b0",
        size / 4
    ))?;
    put(format!(
        "{host} [{device}] NCCL INFO Channel {:02}/0 : {rank}[{device}] -> {}[{}] [send] via NET/IB/{}/GDRDMA",
        cycle % 16,
        (rank + 1) % 16,
        (device + 1) % 8,
        device
    ))
}
