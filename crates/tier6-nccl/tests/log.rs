//! Communicators read from logs choose as those that NCCL had.
//!
//! The logs here are written by the test in NCCL's format, for the communicators of the
//! thinned oracle; with the shared folder, NCCL's own logs are read as well.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{
    Call, Candidate, Communicator, CommunicatorSource, CostTable, CpuArch, CpuVendor,
    LibraryVersion, Machine, NcclAlgorithm, NcclCollective, Pattern, Release, Settings, TableBasis,
    read_communicator, read_log,
};

fn release(version: &str) -> &'static Release {
    Release::for_version(version.parse().unwrap())
        .unwrap()
        .release
}

/// Writes what NCCL's rank 0 says of a communicator at start.
fn write_log(communicator: &Communicator, table: &CostTable) -> String {
    let mut log = String::from("ghost7:811:900 [3] NCCL INFO Pattern 4, crossNic 9\n");
    let mut say = |message: &str| writeln!(log, "ghost7:811:902 [0] NCCL INFO {message}").unwrap();
    let arch = match communicator.cpu.arch {
        CpuArch::X86 => 1,
        CpuArch::Power => 2,
        CpuArch::Arm => 3,
        CpuArch::Mixed | CpuArch::Unknown => -1,
    };
    let vendor = match communicator.cpu.vendor {
        CpuVendor::Intel => 1,
        CpuVendor::Amd => 2,
        CpuVendor::Zhaoxin => 3,
        CpuVendor::Mixed | CpuVendor::Unknown => -1,
    };
    say(&format!("CPU/0 ({arch}/{vendor}/2)"));
    if communicator.has_nvswitch {
        say("              + NVL[240.0] - NVS/0");
    }
    for (algorithm, pattern) in [
        (NcclAlgorithm::Ring, 4),
        (NcclAlgorithm::Tree, 1),
        (NcclAlgorithm::CollNetChain, 3),
        (NcclAlgorithm::CollNetDirect, 6),
        (NcclAlgorithm::Nvls, 5),
    ] {
        let graph = communicator.graph(algorithm);
        if graph.n_channels == 0 {
            continue;
        }
        let pattern = match graph.pattern {
            Some(Pattern::Tree) => 3,
            Some(Pattern::SplitTree) => 2,
            _ => pattern,
        };
        say(&format!(
            "Pattern {pattern}, crossNic 0, nChannels {}, bw {:.6}/{:.6}, type {}/{}, sameChannels {}",
            graph.n_channels,
            graph.intra_gbs,
            graph.inter_gbs,
            graph.intra_path,
            graph.inter_path,
            i32::from(graph.same_channels)
        ));
    }
    say(&format!(
        "comm 0x1 rank 0 nRanks {} nNodes {} localRanks {} localRank 0 MNNVL {}",
        communicator.n_ranks,
        communicator.n_nodes,
        communicator.local_ranks,
        i32::from(communicator.is_mnnvl)
    ));
    say(&format!("Channel 00/{:02} : 0 1", communicator.n_channels));
    if let Some(tree) = communicator.nvls_tree_chunk_bytes_max {
        say(&format!(
            "NVLS tuning: nChannels {} chunkSize {} treeMaxChunkSize {tree}",
            communicator.nvls_channels, communicator.nvls_chunk_bytes
        ));
    }
    write_tables(table, &mut say);
    log
}

fn write_tables(table: &CostTable, say: &mut impl FnMut(&str)) {
    for block in NcclAlgorithm::ALL.chunks(3) {
        let names = block.iter().map(|a| format!("{:>50}|", a.plain_name()));
        say(&format!("  Algorithm   |{}", names.collect::<String>()));
        say("  Protocol    |             LL |          LL128 |         Simple |");
        let row = |cell: &dyn Fn(Candidate) -> String| -> String {
            let mut text = String::new();
            for &algorithm in block {
                for protocol in Protocol::ALL {
                    text.push_str(&cell(Candidate {
                        algorithm,
                        protocol,
                    }));
                    text.push_str(" |");
                }
            }
            text
        };
        let threads = row(&|candidate| format!("{:14}", table.threads_max(candidate)));
        say(&format!(" Max NThreads |{threads}"));
        for collective in NcclCollective::ALL {
            let cells = row(&|candidate| {
                format!(
                    "{:8.1}/{:6.1}",
                    table.latency_us(collective, candidate),
                    table.bandwidth_gbs(collective, candidate)
                )
            });
            say(&format!("{:>13} |{cells}", collective.plain_name()));
        }
    }
}

/// Compares the choices of two tables for every collective and many sizes.
fn choices_are_equal(ours: &CostTable, theirs: &CostTable, id: &str) {
    for collective in NcclCollective::ALL {
        for exponent in 0..35 {
            for datatype in [DataType::Float, DataType::Int8] {
                let bytes = 3 << exponent >> 1;
                let choose = |table: &CostTable| {
                    let communicator = table.communicator();
                    let op = RedOp::Sum;
                    table.choose(&Call::new(communicator, collective, bytes, datatype, op))
                };
                assert_eq!(choose(ours), choose(theirs), "{id} {collective} {bytes}");
            }
        }
    }
}

fn check_written_logs(version: &str, systems: &str) {
    let release = release(version);
    let settings = Settings::unset(release);
    for line in systems.lines() {
        let source = read_communicator(line, release).unwrap();
        let theirs = CostTable::new(release, source.communicator.clone(), settings.clone());
        let log = read_log(&write_log(&source.communicator, &theirs));
        assert_eq!(log.warnings, [] as [String; 0]);
        assert_eq!(log.communicators.len(), 1, "{:?}", source.id);
        let found = log.communicators[0]
            .identify(&Machine::default(), release, &settings)
            .unwrap();
        let id = source.id.unwrap();
        assert_eq!(found.basis, TableBasis::ModelEqualToLog, "{id}");
        choices_are_equal(&found.table, &theirs, &id);
    }
}

#[test]
fn a_written_log_of_2_22_chooses_as_its_communicator() {
    let systems = include_str!("data/oracle/systems/2.22.3.jsonl");
    check_written_logs("2.22.3", systems);
}

#[test]
fn a_written_log_of_2_30_chooses_as_its_communicator() {
    let systems = include_str!("data/oracle/systems/2.30.7.jsonl");
    check_written_logs("2.30.7", systems);
}

#[test]
fn tables_that_no_gpu_has_are_used_as_printed() {
    let release = release("2.22.3");
    let settings = Settings::unset(release);
    let line = include_str!("data/oracle/systems/2.22.3.jsonl")
        .lines()
        .next()
        .unwrap();
    let communicator = read_communicator(line, release).unwrap().communicator;
    let table = CostTable::new(release, communicator.clone(), settings.clone());
    let text = write_log(&communicator, &table).replace("39.0", "99.9");
    let found = read_log(&text).communicators[0]
        .identify(&Machine::default(), release, &settings)
        .unwrap();
    assert_eq!(found.basis, TableBasis::Log);
    let ring_ll = Candidate {
        algorithm: NcclAlgorithm::Ring,
        protocol: Protocol::Ll,
    };
    let bandwidth = found.table.bandwidth_gbs(NcclCollective::Reduce, ring_ll);
    assert_eq!(bandwidth.to_bits(), 99.9_f32.to_bits());
    assert!(
        found
            .assumptions
            .last()
            .unwrap()
            .contains("used as printed")
    );
}

#[test]
fn a_log_without_tables_guesses_and_says_so() {
    let log = read_log(
        "n3:9:9 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n\
         n3:9:9 [0] NCCL INFO NCCL_PROTO set by environment to ^LL128\n\
         n3:9:9 [0] NCCL INFO NCCL_MAX_NCHANNELS set by environment to 8.\n\
         n3:9:9 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 11, speed 22.000000/22.000000, type NVL/PIX, sameChannels 1\n\
         n3:9:9 [0] NCCL INFO Pattern 1, crossNic 0, nChannels 11, bw 22.000000/22.000000, type NVL/PIX, sameChannels 1\n\
         n3:9:9 [0] NCCL INFO comm 0x2 rank 0 nRanks 6 nNodes 1 localRanks 6 localRank 0 MNNVL 0\n",
    );
    assert_eq!(log.version, Some(LibraryVersion::new(2, 27, 3)));
    assert_eq!(log.env["NCCL_PROTO"], "^LL128");
    assert_eq!(log.env["NCCL_MAX_NCHANNELS"], "8");
    let release = release("2.27.3");
    let env = log.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let settings = Settings::from_env(env, release).unwrap();
    let found = log.communicators[0]
        .identify(&Machine::default(), release, &settings)
        .unwrap();
    assert_eq!(found.basis, TableBasis::Model);
    assert_eq!(found.table.communicator().comp_cap_min, 80);
    assert_eq!(found.table.communicator().n_channels, 8);
    assert!(found.assumptions[0].contains("compute capability 8.0 is guessed"));
}

#[test]
fn a_thread_with_two_communicators_says_both() {
    let patterns = |channels: i32| {
        format!(
            "a:1:1 [0] NCCL INFO Pattern 4, crossNic 0, nChannels {channels}, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1\n\
             a:1:1 [0] NCCL INFO Pattern 1, crossNic 0, nChannels {channels}, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1\n\
             a:1:1 [0] NCCL INFO comm 0x2 rank 0 nRanks {channels} nNodes 1 localRanks {channels} localRank 0 MNNVL 0\n"
        )
    };
    let cpu = "a:1:1 [0] NCCL INFO CPU/0 (1/2/-1)\n";
    let log = read_log(&format!("{cpu}{}{}", patterns(4), patterns(2)));
    assert_eq!(log.warnings, [] as [String; 0]);
    let ranks: Vec<Option<i32>> = log.communicators.iter().map(|c| c.n_ranks).collect();
    assert_eq!(ranks, [Some(4), Some(2)]);
    assert_eq!(log.communicators[1].cpu, log.communicators[0].cpu);
}

#[test]
fn a_log_that_lacks_a_graph_says_which() {
    let log = read_log(
        "a:1:1 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 12.000000/12.000000, type SYS/PHB, sameChannels 1\n\
         a:1:1 [0] NCCL INFO comm 0x2 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n",
    );
    let release = Release::newest();
    let error = log.communicators[0]
        .identify(&Machine::default(), release, &Settings::unset(release))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: failed to put the communicator of `a:1:1` together"
    );
    assert_eq!(error.reason.to_string(), "the tree graph is missing");
}

#[test]
fn logs_of_nccl_itself_choose_as_its_communicators() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/nccl");
    if !shared.is_dir() {
        eprintln!("no logs of NCCL itself at hand; only written ones were read");
        return;
    }
    let mut logs = 0;
    for version in ["2.22.3", "2.27.7", "2.28.9", "2.30.7"] {
        let release = release(version);
        let systems = fs::read_to_string(shared.join(format!("systems/{version}.jsonl"))).unwrap();
        let systems: BTreeMap<String, CommunicatorSource> = systems
            .lines()
            .map(|line| read_communicator(line, release).unwrap())
            .map(|source| (source.id.clone().unwrap(), source))
            .collect();
        for entry in fs::read_dir(shared.join(format!("logs/v{version}-1"))).unwrap() {
            let path = entry.unwrap().path();
            let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let log = read_log(&fs::read_to_string(&path).unwrap());
            assert_eq!(log.communicators.len(), 1, "{version} {id}");
            let env = log.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
            let settings = Settings::from_env(env, release).unwrap();
            let found = log.communicators[0]
                .identify(&Machine::default(), release, &settings)
                .unwrap();
            assert_eq!(found.basis, TableBasis::ModelEqualToLog, "{version} {id}");
            let plain = id.strip_suffix("-env").unwrap_or(&id);
            let theirs = CostTable::new(release, systems[plain].communicator.clone(), settings);
            choices_are_equal(&found.table, &theirs, &format!("{version} {id}"));
            logs += 1;
        }
    }
    eprintln!("{logs} logs of NCCL itself");
    assert!(logs > 20);
}
