//! Variables that change the communicator, against the communicators that NCCL built with and
//! without them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tier6_nccl::{
    CommunicatorSource, LibraryVersion, NcclAlgorithm, Release, Settings, read_communicator,
};

/// Variables whose effect needs the search that tier6 does not have.
const OF_THE_SEARCH: [&str; 4] = [
    "NCCL_CROSS_NIC",
    "NCCL_P2P_DISABLE",
    "NCCL_P2P_LEVEL",
    "NCCL_PXN_DISABLE",
];

fn read_lines(folder: &Path, file: &str, release: &'static Release) -> Vec<CommunicatorSource> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    text.lines()
        .filter(|line| line.contains("\"inputs\""))
        .map(|line| read_communicator(line, release).unwrap())
        .collect()
}

/// Applies the environment of every recorded communicator to the one recorded without it.
fn check(version: LibraryVersion) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let full = root.join("../../../shared/nccl");
    let (folder, which) = if full.is_dir() {
        (full, "full")
    } else {
        (root.join("tests/data/oracle"), "thinned")
    };
    let release = Release::for_version(version).unwrap().release;
    let plain: BTreeMap<String, CommunicatorSource> =
        read_lines(&folder, &format!("systems/{version}.jsonl"), release)
            .into_iter()
            .map(|source| (source.id.clone().unwrap(), source))
            .collect();
    let mut checked = 0;
    for with_env in read_lines(&folder, &format!("env/{version}.jsonl"), release) {
        let id = with_env.id.clone().unwrap();
        let Some(source) = plain.get(id.split('@').next().unwrap()) else {
            continue;
        };
        let env = || with_env.env.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        if env().any(|(name, _)| OF_THE_SEARCH.contains(&name)) {
            continue;
        }
        let settings = Settings::from_env(env(), release).unwrap();
        let mut expect = with_env.communicator.clone();
        let mut ours = settings.applied_to(source.communicator.clone(), release);
        assert_eq!(
            settings.applied_to(expect.clone(), release),
            expect,
            "{id} twice"
        );
        // Whether a search ran that nobody uses does not matter.
        for unused in [NcclAlgorithm::CollNetDirect, NcclAlgorithm::CollNetChain] {
            ours.graphs[unused as usize] = expect.graphs[unused as usize];
        }
        if !expect.has_nvls {
            for unused in [NcclAlgorithm::Nvls, NcclAlgorithm::NvlsTree] {
                expect.graphs[unused as usize] = ours.graphs[unused as usize];
            }
        }
        assert_eq!(ours, expect, "{id} {:?}", with_env.env);
        checked += 1;
    }
    eprintln!("{which} {version}: {checked} communicators under an environment");
    assert!(checked > 5);
}

#[test]
fn variables_change_the_communicator_of_2_22() {
    check(LibraryVersion::new(2, 22, 3));
}

#[test]
fn variables_change_the_communicator_of_2_30() {
    check(LibraryVersion::new(2, 30, 7));
}

#[test]
fn what_a_variable_does_not_do_is_said() {
    let doubts = |version: &str, name: &str, value: &str| {
        let version = Release::read_version(version).unwrap();
        let release = Release::for_version(version).unwrap().release;
        Settings::doubts([(name, value)], release)
    };
    assert_eq!(
        doubts("2.22.3", "NCCL_ALGO", "rnig,Tree"),
        ["NCCL_ALGO: NCCL 2.22.3 knows no `rnig` and passes over it"]
    );
    // Lists per function are read from 2.24 on.
    let list = "allreduce:ring,tree;broadcast:ring";
    assert_eq!(doubts("2.23", "NCCL_ALGO", list).len(), 2);
    assert!(doubts("2.24", "NCCL_ALGO", list).is_empty());
    assert!(doubts("2.22.3", "NCCL_PROTO", "^LL128").is_empty());
    assert!(doubts("2.30", "NCCL_MAX_NCHANNELS", "4").is_empty());
    assert!(doubts("2.30", "NCCL_BUFFSIZE", "0x400000").is_empty());
    assert!(doubts("2.30", "NCCL_THREAD_THRESHOLDS", "8 8 64").is_empty());
    assert!(doubts("2.30", "NCCL_NTHREADS", "").is_empty());
    assert_eq!(
        doubts("2.30", "NCCL_NVLS_ENABLE", "true"),
        ["NCCL_NVLS_ENABLE: NCCL reads `true` as 0"]
    );
    assert_eq!(
        doubts("2.30", "NCCL_BUFFSIZE", "4M"),
        ["NCCL_BUFFSIZE: NCCL reads `4M` as 4"]
    );
    assert_eq!(
        doubts("2.30", "NCCL_NTHREADS", "100"),
        ["NCCL_NTHREADS: 100 is no multiple of 32; NCCL takes the most threads instead"]
    );
    assert_eq!(
        doubts("2.30", "nccl_algo", "ring"),
        ["nccl_algo: NCCL does not read it; its name is NCCL_ALGO"]
    );
    assert_eq!(
        doubts("2.30", "NCCL_ALGOO", "ring"),
        ["NCCL_ALGOO: the tuner does not read it; what it does to NCCL's search is not known"]
    );
}
