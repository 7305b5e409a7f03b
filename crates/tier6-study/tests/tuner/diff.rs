//! Differences between versions, systems and tuner files.

use tier6_collective::{DataType, RedOp};
use tier6_nccl::{
    CostTable, Dialect, LibraryVersion, NcclCollective, Release, Settings, named_system,
    read_config,
};
use tier6_study::{Chooser, Difference, diff_choosers};
use tier6_units::Bytes;

fn table(system: &str, version: LibraryVersion) -> CostTable {
    let release = Release::for_version(version).unwrap().release;
    let communicator = named_system(system, release).unwrap().communicator;
    CostTable::new(release, communicator, Settings::unset(release))
}

fn sizes() -> Vec<Bytes> {
    (0..34).map(|exponent| Bytes::new(1 << exponent)).collect()
}

#[test]
fn a_chooser_does_not_differ_from_itself() {
    let table = table("h100x8-dgx", LibraryVersion::new(2, 27, 7));
    let chooser = Chooser {
        table: &table,
        config: None,
    };
    for collective in NcclCollective::ALL {
        let call = (DataType::Float, RedOp::Sum);
        let diff = diff_choosers(chooser, chooser, collective, call, &sizes());
        assert!(diff.ranges.is_empty());
        assert_eq!(diff.sizes.len(), 34);
        assert!(diff.sizes.iter().all(|size| size.b_in_a_pct == Some(0.0)));
    }
}

#[test]
fn two_versions_differ_in_ranges_with_their_cost() {
    let old = table("h100x8-dgx-4n", LibraryVersion::new(2, 22, 3));
    let new = table("h100x8-dgx-4n", LibraryVersion::new(2, 30, 7));
    let (a, b) = (
        Chooser {
            table: &old,
            config: None,
        },
        Chooser {
            table: &new,
            config: None,
        },
    );
    let call = (DataType::Float, RedOp::Sum);
    let diff = diff_choosers(a, b, NcclCollective::AllReduce, call, &sizes());
    let paths = diff
        .ranges
        .iter()
        .filter(|r| r.difference == Difference::Path);
    let paths: Vec<_> = paths.collect();
    assert!(!paths.is_empty());
    for range in paths {
        eprintln!("{range:?}");
        assert_ne!(range.a, range.b);
        // Each chooser takes the least time of its own model.
        if let Some((pct, _)) = range.worst {
            assert!(pct >= 0.0, "{range:?}");
        }
    }
    let covered: usize = diff.ranges.iter().map(|range| range.sizes).sum();
    let differing = diff.sizes.iter();
    let differing = differing.filter(|size| size.difference() != Difference::Nothing);
    assert_eq!(covered, differing.count());
}

#[test]
fn a_tuner_file_differs_where_its_rules_differ() {
    let table = table("v100x4-nv2", LibraryVersion::new(2, 22, 3));
    let text = "allreduce,0,1023,ring,simple,-1,-1,-1\n";
    let config = read_config(text, Dialect::Rccl);
    let own = Chooser {
        table: &table,
        config: None,
    };
    let tuned = Chooser {
        config: Some(&config),
        ..own
    };
    let call = (DataType::Int8, RedOp::Sum);
    let diff = diff_choosers(own, tuned, NcclCollective::AllReduce, call, &sizes());
    let [range] = &diff.ranges[..] else {
        panic!("{:?}", diff.ranges);
    };
    assert_eq!((range.first.get(), range.last.get()), (1, 512));
    assert_eq!(range.difference, Difference::Path);
    // 28.8 us of Simple instead of 10.2 us of LL.
    let (pct, bytes) = range.worst.unwrap();
    assert!((pct - (28.8 / 10.2 - 1.0) * 100.0).abs() < 0.1, "{pct}");
    assert!(bytes.get() <= 512);
    // One channel by mistake: NVIDIA's example takes every other call, too.
    let config = read_config(text, Dialect::NvidiaExample);
    let tuned = Chooser {
        config: Some(&config),
        ..own
    };
    let diff = diff_choosers(own, tuned, NcclCollective::AllReduce, call, &sizes());
    let last = diff.ranges.last().unwrap();
    assert_eq!(last.difference, Difference::Channels);
    assert_eq!(last.last.get(), 1 << 33);
}
