//! Communicators and variables that cannot be right: one clear error each.

use serde_json::{Value, json};
use tier6_nccl::{Release, read_communicator};

const COMMUNICATOR: &str = include_str!("data/communicator/v100x4-nv2.json");

/// Reads the communicator after `change`, and returns the error with its causes.
fn error(change: impl FnOnce(&mut Value)) -> String {
    let mut json: Value = serde_json::from_str(COMMUNICATOR).unwrap();
    change(&mut json);
    read_communicator(&json.to_string(), Release::newest())
        .unwrap_err()
        .to_string()
}

#[test]
fn each_wrong_value_is_named() {
    let cases: [(&str, Value, &str); 7] = [
        (
            "/nChannels",
            json!(0),
            "`nChannels` is 0; at least 1 is needed",
        ),
        ("/nRanks", json!(-4), "`nRanks` is -4; at least 1 is needed"),
        (
            "/graphs/1/nChannels",
            json!(0),
            "the ring graph has no channels",
        ),
        (
            "/graphs/1/bwIntra",
            json!("nan"),
            "`bwIntra` of the ring graph is NaN; a finite number of 0 or more is needed",
        ),
        (
            "/graphs/0/bwInter",
            json!(-20.0),
            "`bwInter` of the tree graph is -20; a finite number of 0 or more is needed",
        ),
        (
            "/graphs/1/typeIntra",
            json!("NVX"),
            "unknown path type `NVX` in the ring graph for NCCL 2.30.7",
        ),
        (
            "/graphs/0/algo",
            json!("rnig"),
            "unknown algorithm `rnig` in `graphs`",
        ),
    ];
    for (place, value, message) in cases {
        let found = error(|json| *json.pointer_mut(place).unwrap() = value.clone());
        assert_eq!(found, message);
    }
}

#[test]
fn contradictions_are_named() {
    let found = error(|json| json["graphs"][0]["algo"] = json!("ring"));
    assert_eq!(found, "`graphs` holds two graphs for `ring`");
    let found = error(|json| json["nodeLocalRanks"] = json!([4, 4]));
    assert_eq!(
        found,
        "`nodeLocalRanks` holds 8 ranks on 2 nodes, `nRanks` is 4 on 1"
    );
    let found = error(|json| json["minCompCap"] = json!(90));
    assert_eq!(found, "`minCompCap` 90 is above `maxCompCap` 70");
}

#[test]
fn what_is_no_communicator_is_refused() {
    let read = |text: &str| {
        read_communicator(text, Release::newest())
            .unwrap_err()
            .to_string()
    };
    assert!(read("graph").contains("expected a communicator as JSON"));
    assert!(read("{}").contains("missing field `nNodes`"));
    assert!(read(r#"{"inputs":null}"#).contains("expected a communicator"));
}

#[test]
fn a_whole_oracle_line_reads_with_the_path_numbers_of_its_own_version() {
    let mut inputs: Value = serde_json::from_str(COMMUNICATOR).unwrap();
    inputs["graphs"][1]["typeInter"] = json!(4);
    let path = |version: &str| {
        let line =
            json!({"id": "a", "version": version, "env": {"NCCL_ALGO": "Ring"}, "inputs": inputs});
        let source = read_communicator(&line.to_string(), Release::newest()).unwrap();
        assert_eq!(source.id.as_deref(), Some("a"));
        assert_eq!(source.env["NCCL_ALGO"], "Ring");
        let graph = source.communicator.graph(tier6_nccl::NcclAlgorithm::Ring);
        graph.inter_path.name()
    };
    assert_eq!(path("2.22.3"), "PXB");
    assert_eq!(path("2.30.7"), "PIX");
}
