//! The formats of a validation of two made-up sweeps and one that is known to be bad.

use tier6_collective::Collective;
use tier6_fit::{Call, KnownPoint};
use tier6_report::{
    Charset, Color, Detail, Style, validation_csv, validation_json, validation_markdown,
    validation_table,
};
use tier6_study::{Engine, HeldOutRanks, Holdout, MeasuredSet, Tier, ValidationReport, validate};
use tier6_units::{Bytes, Micros};

/// A sweep that doubles from 1 KiB: 20 us + n / 50 GB/s, and from 512 KiB on 60 us + n / 100 GB/s.
fn sweep(id: &str, sizes: u32, tier: Option<Tier>) -> MeasuredSet {
    let point = |power: u32| {
        let bytes = Bytes::new(1024 << power);
        let us = if power < 9 {
            20.0 + bytes.as_f64() / 50e3
        } else {
            60.0 + bytes.as_f64() / 100e3
        };
        KnownPoint {
            other_placement: Some(Micros::new(us * 1.05)),
            ..KnownPoint::new(bytes, Micros::new(us))
        }
    };
    MeasuredSet {
        id: id.to_owned(),
        tier,
        points: (0..sizes).map(point).collect(),
        left_out: vec!["sizes with wrong data: 1".to_owned()],
        call: None,
        system: None,
        family: None,
    }
}

fn report() -> ValidationReport {
    let sets = vec![
        sweep("one, of many", 19, Some(Tier::Single)),
        sweep("short|run", 6, None),
        sweep("across", 16, Some(Tier::Two)),
        sweep("xla_b200_ar_8of8", 19, Some(Tier::Single)),
        sweep("tiny", 3, Some(Tier::Two)),
    ];
    validate(&sets, Holdout::Alternate, &[Engine::Fit])
}

#[test]
fn json_follows_the_contract() {
    let json: serde_json::Value = serde_json::from_str(&validation_json(&report())).unwrap();
    assert_eq!(json["schema"], "tier6.validation/1");
    let set = &json["sets"][0];
    assert_eq!(
        (&set["id"], &set["points"], &set["tier"]),
        (&"one, of many".into(), &19.into(), &"single".into())
    );
    for side in ["in_sample", "held_out"] {
        let errors = set["engines"]["fit"][side].as_object().unwrap();
        assert_eq!(
            errors.keys().collect::<Vec<_>>(),
            ["small", "medium", "large", "overall"]
        );
    }
    assert_eq!(
        set["engines"].as_object().unwrap().len(),
        1,
        "yardsticks are no engines"
    );
    assert!(json["sets"][1]["tier"].is_null());
    assert!(json["sets"][1]["engines"]["fit"]["held_out"]["large"].is_null());
    let excluded: Vec<_> = json["excluded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| &set["id"])
        .collect();
    assert_eq!(excluded, ["xla_b200_ar_8of8", "tiny"]);
    assert_eq!(json["excluded"][0]["cause"], "known_bad");
    assert_eq!(json["excluded"][1]["cause"], "scheme");
    assert_eq!(json["tiers"]["single"]["sets"], 1);
    assert_eq!(json["tiers"]["two"]["sets"], 1);
    assert!(set["from_ranks"].is_null());
    let interval = &set["engines"]["fit"]["interval"];
    assert_eq!(interval["inside_pct"], set["band_coverage_pct"]);
    assert!(interval["factor"].as_f64().unwrap() >= 1.0);
    assert!(set["yardsticks"]["log_log"]["interval"].is_null());
    assert_eq!(json["summary"]["sets"], 2);
    let median = json["tiers"]["single"]["engines"]["fit"]["held_out"]["median_pct"]
        .as_f64()
        .unwrap();
    assert_eq!(
        Some(median),
        set["engines"]["fit"]["held_out"]["overall"].as_f64()
    );
}

#[test]
fn text_for_terminals() {
    let style = Style {
        color: Color::Off,
        charset: Charset::Ascii,
        width: 100,
    };
    insta::assert_snapshot!(validation_table(&report(), style, Detail::Wide));
    let many: Vec<MeasuredSet> = (0..20)
        .map(|n| sweep(&format!("set {n}"), 15 + n % 3, None))
        .collect();
    let short = validation_table(
        &validate(&many, Holdout::Alternate, &[Engine::Fit]),
        style,
        Detail::Short,
    );
    assert!(
        short.contains("hint: `--wide` shows all 20 sets"),
        "{short}"
    );
    assert!(
        !validation_table(
            &validate(&many, Holdout::Alternate, &[Engine::Fit]),
            style,
            Detail::Wide
        )
        .contains("hint")
    );
}

#[test]
fn markdown_for_the_docs() {
    insta::assert_snapshot!(validation_markdown(&report()));
}

/// Sweeps of one family at some numbers of ranks: n^0.5 times as long at n ranks.
fn across_ranks() -> ValidationReport {
    let sweep = |ranks: u32| {
        let mut set = sweep(&format!("run of {ranks}"), 12, Some(Tier::Two));
        for point in &mut set.points {
            point.time = Micros::new(point.time.get() * f64::from(ranks).sqrt());
            point.other_placement = None;
        }
        set.call = Some(Call {
            collective: Collective::AllGather,
            algorithm: None,
            protocol: None,
            ranks,
            nodes: 2,
        });
        set.family = Some("NCCL 2.22.3 | default".to_owned());
        set.left_out.clear();
        set
    };
    let mut alone = sweep(8);
    "alone".clone_into(&mut alone.id);
    alone.family = Some("other".to_owned());
    let mut sets = [4, 8, 16, 32, 64, 128].map(sweep).to_vec();
    sets.push(alone);
    validate(
        &sets,
        Holdout::Ranks(HeldOutRanks::Above(32)),
        &[Engine::Fit, Engine::Math],
    )
}

#[test]
fn whole_sweeps_have_every_format() {
    let report = across_ranks();
    insta::assert_snapshot!(validation_markdown(&report));
    let json: serde_json::Value = serde_json::from_str(&validation_json(&report)).unwrap();
    assert_eq!(json["holdout"], "ranks:32");
    let set = &json["sets"][1];
    assert_eq!(
        set["from_ranks"],
        serde_json::json!({
            "family": "NCCL 2.22.3 | default",
            "collective": "all_gather",
            "trained_on": ["run of 4", "run of 8", "run of 16", "run of 32"],
            "trained_ranks": [4, 8, 16, 32],
            "ranks": 128,
            "scale": 4.0,
        })
    );
    assert!(set["engines"]["fit"]["held_out"]["overall"].is_null());
    assert!(set["yardsticks"]["log_log"]["held_out"]["overall"].is_null());
    assert!(
        set["yardsticks"]["log_log_ranks"]["held_out"]["overall"]
            .as_f64()
            .unwrap()
            < 1e-9
    );
    assert_eq!(json["from_ranks"]["several_numbers"]["sets"], 2);
    let csv = validation_csv(&report);
    assert!(
        csv.contains("ranks:32,run of 128,12,two,log_log_ranks,"),
        "{csv}"
    );
    assert!(csv.lines().nth(1).unwrap().ends_with(",64,2"), "{csv}");
    let style = Style {
        color: Color::Off,
        charset: Charset::Ascii,
        width: 100,
    };
    insta::assert_snapshot!(
        "ranks_for_terminals",
        validation_table(&report, style, Detail::Short)
    );
}

#[test]
fn csv_has_a_row_per_set_and_engine() {
    let csv = validation_csv(&report());
    assert_eq!(csv.lines().count(), 1 + 3 * 4);
    assert!(
        csv.lines()
            .all(|line| line.replace("\"one, of many\"", "one").split(',').count() == 17),
        "{csv}"
    );
    assert!(
        csv.contains("alternate,\"one, of many\",19,single,fit,"),
        "{csv}"
    );
}

#[test]
fn a_report_of_nothing_has_every_format() {
    let nothing = validate(&[], Holdout::Large, &[Engine::Fit]);
    let style = Style {
        color: Color::On,
        charset: Charset::Unicode,
        width: 80,
    };
    assert!(validation_json(&nothing).contains("\"sets\": []"));
    assert!(validation_markdown(&nothing).starts_with("# Validation"));
    assert_eq!(validation_csv(&nothing).lines().count(), 1);
    assert!(validation_table(&nothing, style, Detail::Short).contains("no set"));
}
