//! The checker finds what is broken: a transfer dropped, a dependency dropped, a destination
//! swapped, an operation changed.

use serde_json::{Value, json};
use tier6_collective::{
    Algorithm, BuildOptions, Collective, Route, Schedule, Transfer, Violation, build, read_json,
};
use tier6_units::Bytes;

use crate::cases::{Case, cases};

fn document(schedule: &Schedule) -> Value {
    serde_json::from_str(&schedule.to_json()).unwrap()
}

fn read(document: &Value) -> Schedule {
    read_json(&document.to_string()).unwrap()
}

fn transfers(document: &mut Value) -> &mut Vec<Value> {
    document["transfers"].as_array_mut().unwrap()
}

/// Takes a transfer out; what waited for it waits for what it waited for, so that only the
/// missing data can be noticed.
fn without_transfer(document: &Value, dropped: usize) -> Schedule {
    let mut document = document.clone();
    let list = transfers(&mut document);
    let gone = list.remove(dropped);
    let ids = |entry: &Value| -> Vec<u64> {
        let after = entry["after"].as_array();
        after.map_or_else(Vec::new, |ids| {
            ids.iter().map(|id| id.as_u64().unwrap()).collect()
        })
    };
    for entry in list.iter_mut() {
        let mut after = ids(entry);
        if after.contains(&(dropped as u64)) {
            after.retain(|id| *id != dropped as u64);
            after.extend(ids(&gone));
        }
        after.sort_unstable();
        after.dedup();
        let after = after
            .into_iter()
            .map(|id| id - u64::from(id > dropped as u64));
        entry["after"] = after.collect();
    }
    read(&document)
}

/// Every algorithm at a size that shows its form, the message divisible by every chunk count.
fn samples() -> Vec<Case> {
    let mut list = Vec::new();
    for algorithm in Algorithm::ALL {
        if algorithm == Algorithm::ScatterAllGather {
            // Its ring brings blocks to ranks that have them from the scatter: not all is needed.
            continue;
        }
        list.extend(cases(algorithm, 8, 480 << 10));
        list.extend(cases(algorithm, 6, 480 << 10));
    }
    list
}

#[test]
fn every_dropped_transfer_is_found() {
    let mut n_dropped = 0;
    for Case { name, schedule } in samples() {
        let document = document(&schedule);
        let n_transfers = schedule.transfers().len();
        for dropped in (0..n_transfers).step_by(1 + n_transfers / 20) {
            let broken = without_transfer(&document, dropped);
            assert!(broken.check().is_err(), "{name}: {dropped} is not missed");
            n_dropped += 1;
        }
    }
    assert!(n_dropped > 1000, "{n_dropped}");
}

#[test]
fn every_dropped_dependency_on_data_is_found() {
    let mut n_dropped = 0;
    for Case { name, schedule } in samples() {
        // These order steps beyond what the data needs.
        let is_paced = matches!(
            schedule.algorithm(),
            Some(Algorithm::SendRecvRing | Algorithm::Pairwise)
        ) || schedule.collective() == Collective::Gather;
        if is_paced {
            continue;
        }
        let document = document(&schedule);
        // NVLS loads wait for room, which no data needs.
        let waits_for_room = |transfer: &Transfer| {
            schedule.algorithm() == Some(Algorithm::Nvls)
                && matches!(transfer.route, Route::LoadReduce { .. })
        };
        let edges: Vec<(usize, usize)> = schedule
            .iter()
            .filter(|(_, transfer)| !waits_for_room(transfer))
            .flat_map(|(id, _)| {
                (0..schedule.dependencies(id).len()).map(move |nth| (id.index(), nth))
            })
            .collect();
        for &(id, nth) in edges.iter().step_by(1 + edges.len() / 20) {
            let mut broken = document.clone();
            transfers(&mut broken)[id]["after"]
                .as_array_mut()
                .unwrap()
                .remove(nth);
            let found = read(&broken).check();
            assert!(
                found.is_err(),
                "{name}: dependency {nth} of {id} is not missed"
            );
            n_dropped += 1;
        }
    }
    assert!(n_dropped > 1000, "{n_dropped}");
}

#[test]
fn every_swapped_destination_is_found() {
    let mut n_swapped = 0;
    for Case { name, schedule } in samples() {
        let document = document(&schedule);
        let n_transfers = schedule.transfers().len();
        for id in (0..n_transfers).step_by(1 + n_transfers / 20) {
            let mut broken = document.clone();
            let entry = &mut transfers(&mut broken)[id];
            let (Some(src), Some(dst)) = (entry["src"].as_u64(), entry["dst"].as_u64()) else {
                continue;
            };
            if src == dst {
                continue;
            }
            // Back to the sender: a sum counts it twice, a copy never arrives.
            entry["dst"] = json!(src);
            assert!(
                read(&broken).check().is_err(),
                "{name}: destination of {id}"
            );
            // To a bystander. A sum on its way may take a detour, a copy may not.
            let entry = &mut transfers(&mut broken)[id];
            if entry["op"] == "copy" {
                entry["dst"] = json!((dst + 1) % u64::from(schedule.ranks()));
                assert!(
                    read(&broken).check().is_err(),
                    "{name}: destination of {id}"
                );
            }
            n_swapped += 1;
        }
    }
    assert!(n_swapped > 1000, "{n_swapped}");
}

fn ring() -> (Schedule, Value) {
    let options = BuildOptions::new(4, Bytes::new(4096));
    let ring = build(Collective::AllReduce, Algorithm::Ring, &options).unwrap();
    let document = document(&ring);
    (ring, document)
}

#[test]
fn violations_are_named() {
    let (ring, plain) = ring();
    assert_eq!(ring.check(), Ok(()));
    let check = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut broken = plain.clone();
        change(transfers(&mut broken));
        read(&broken).check().unwrap_err()
    };

    // Rank 0's chunk arrives at rank 1 as a copy: its own part is lost.
    let lost = check(&|list| list[0]["op"] = json!("copy"));
    assert_eq!(
        lost.to_string(),
        "at the end `recv:3` of rank 0 holds chunk 3 of ranks 0, 2-3 instead of chunk 3 of ranks 0-3"
    );
    // The first AllGather step adds a finished sum to a part of it.
    let twice = check(&|list| list[12]["op"] = json!("reduce"));
    assert!(matches!(twice, Violation::CountedTwice { .. }), "{twice}");
    assert_eq!(
        twice.to_string(),
        "transfer 12 counts rank 1 twice in chunk 0 in `recv:0` of rank 1"
    );
    // A chunk is added to another.
    let mixed = check(&|list| list[0]["pieces"][0]["to"] = json!("recv:2"));
    assert!(matches!(mixed, Violation::MixedChunks { .. }), "{mixed}");
    // A step does not wait for the one before.
    let race = check(&|list| list[4]["after"] = json!([]));
    assert_eq!(
        race.to_string(),
        "transfers 3 and 4 race for `recv:2` of rank 0: one reads, one writes, and no dependency \
         orders them"
    );
}

#[test]
fn reading_what_nobody_wrote_is_found() {
    let options = BuildOptions::new(4, Bytes::new(4096));
    let gather = build(Collective::AllGather, Algorithm::Ring, &options).unwrap();
    let mut broken = document(&gather);
    transfers(&mut broken)[0]["pieces"][0] = json!({"from": "recv:1", "to": "recv:1"});
    let empty = read(&broken).check().unwrap_err();
    assert_eq!(
        empty.to_string(),
        "transfer 0 uses `recv:1` of rank 0, which holds nothing yet"
    );
}

#[test]
fn two_unordered_writes_are_found() {
    let text = r#"{"schema":"tier6.schedule/1","collective":"reduce","ranks":3,"bytes":8,
        "placement":"in_place","chunks":1,"transfers":[
        {"route":"send","src":1,"dst":0,"op":"reduce","pieces":[{"from":"recv:0","to":"recv:0"}]},
        {"route":"send","src":2,"dst":0,"op":"reduce","pieces":[{"from":"recv:0","to":"recv:0"}]}]}"#;
    let race = read_json(text).unwrap().check().unwrap_err();
    assert!(race.to_string().contains("both write"), "{race}");
    let ordered = text.replacen("\"src\":2,", "\"src\":2,\"after\":[0],", 1);
    assert_eq!(read_json(&ordered).unwrap().check(), Ok(()));
}
