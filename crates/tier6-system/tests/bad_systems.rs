//! Bad systems: each gives one clear error with its place and, where there is one, the way out;
//! no text at all makes the reader or the resolver panic.

use proptest::prelude::*;
use tier6_system::{SystemSpec, Topology, presets};

/// A small good system; each case below breaks it in one place.
const GOOD: &str = r#"name = "two nodes of four"

[chip]
name = "toy"
lanes = 4

[software]
call = "20 us"

[links.wire]
rate = "400 Gb/s"
latency = "0.6 us"
efficiency = { value = 0.9, evidence = "assumed", source = "a guess" }

[switches.hub]
ports = 16
latency = "300 ns"

[[tier]]
name = "node"
count = 4
fabric = "crossbar"
link = "wire"
lanes = 4
switch = "hub"

[[tier]]
name = "network"
count = 2
nics = 4
host_link = "pcie5-x16"
link = "ib-ndr"
fabric = "fat_tree"
switch = "ib-ndr-switch"
wiring = "by_rail"
"#;

fn error_of(text: &str) -> String {
    match Topology::from_toml(text) {
        Ok(_) => panic!("resolved:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_good_system_is_good() {
    let topology = Topology::from_toml(GOOD).unwrap();
    assert_eq!((topology.n_chips(), topology.n_nodes()), (8, 2));
}

#[test]
fn each_error_names_its_place_and_the_way_out() {
    let graph = |edges: &str| {
        let fabric = format!("fabric = \"graph\"\nedges = [{edges}]");
        GOOD.replace("fabric = \"crossbar\"", &fabric)
            .replace("switch = \"hub\"\n", "")
    };
    let cases = [
        ("a key that no one reads", GOOD.replace("latency = \"0.6", "latnecy = \"0.6")),
        ("a key like no other", GOOD.replace("lanes = 4\n\n[soft", "colour = 4\n\n[soft")),
        ("a key of another fabric", GOOD.replace("switch = \"hub\"", "switch = \"hub\"\ndims = [2, 2]")),
        ("a missing key", GOOD.replace("count = 4\n", "")),
        ("a rate without unit", GOOD.replace("\"400 Gb/s\"", "50.0")),
        ("bits or bytes", GOOD.replace("400 Gb/s", "400G")),
        ("a rate of zero", GOOD.replace("400 Gb/s", "0 GB/s")),
        ("a time without unit", GOOD.replace("0.6 us", "0.6")),
        ("a share above one", GOOD.replace("value = 0.9", "value = 9.0")),
        ("a word for a number", GOOD.replace("count = 4", "count = \"four\"")),
        ("a count of zero", GOOD.replace("count = 4", "count = 0")),
        ("a negative count", GOOD.replace("count = 4", "count = -4")),
        ("an unknown fabric", GOOD.replace("\"crossbar\"", "\"crosbar\"")),
        ("an unknown evidence", GOOD.replace("\"assumed\"", "\"hoped\"")),
        ("an unknown link", GOOD.replace("link = \"ib-ndr\"", "link = \"ib-nrd\"")),
        ("an unknown switch", GOOD.replace("switch = \"hub\"", "switch = \"abacus\"")),
        ("links in a circle", GOOD.replace(
            "[links.wire]\nrate = \"400 Gb/s\"",
            "[links.cord]\nlike = \"wire\"\n[links.wire]\nlike = \"cord\"",
        )),
        ("a gap that nothing fills", GOOD.replace("rate = \"400 Gb/s\"\n", "")),
        ("more cables than lanes", GOOD.replace("lanes = 4\nswitch", "lanes = 5\nswitch")),
        ("more cables than ports", GOOD.replace("ports = 16", "ports = 15")),
        ("nics that do not divide", GOOD.replace("nics = 4", "nics = 3")),
        ("no nics", GOOD.replace("nics = 4\nhost_link = \"pcie5-x16\"\n", "")),
        ("a ring of nodes", GOOD.replace(
            "fabric = \"fat_tree\"\nswitch = \"ib-ndr-switch\"\nwiring = \"by_rail\"",
            "fabric = \"ring\"",
        )),
        ("one name for two tiers", GOOD.replace("\"network\"", "\"node\"")),
        ("an unreachable chip", graph(r#"{ between = ["chip0", "chip1"] }, { between = ["chip2", "chip3"] }"#)
            .split("[[tier]]\nname = \"network\"").next().unwrap().to_owned()),
        ("a chip that cannot answer", graph(
            r#"{ between = ["chip0", "chip1"] }, { between = ["chip0", "chip2"] }, { from = "chip0", to = "chip3" }"#,
        ).replace("lanes = 4\nnics", "nics").replace("lanes = 4\n\n[[", "\n[[")
            .split("[[tier]]\nname = \"network\"").next().unwrap().to_owned()),
        ("an edge to nowhere", graph(r#"{ between = ["chip0", "chip9"] }"#)),
        ("an edge without ends", graph("{ lanes = 2 }")),
        ("reduction without a switch for it", GOOD.replace("[software]", "[nvls]\nrate = \"300 GB/s\"\n\n[software]")),
        ("too many chips", GOOD.replace("count = 2", "count = 100000")),
        ("half an interval", GOOD.replace("value = 0.9", "value = 0.9, low = 0.8")),
        ("not TOML", GOOD.replace("count = 4", "count = = 4")),
        ("a key twice", GOOD.replace("count = 4", "count = 4\ncount = 5")),
        ("nothing", String::new()),
    ];
    let report = cases.map(|(what, text)| {
        assert_ne!(text, GOOD, "{what}: the case changes nothing");
        format!("{what}\n    {}\n", error_of(&text))
    });
    insta::assert_snapshot!(report.concat());
}

#[test]
fn what_only_a_program_can_say_wrong_is_refused_too() {
    use tier6_system::{DragonflySpec, FabricSpec};
    use tier6_units::{GbPerSec, Micros};
    let error = |fabric: FabricSpec, rate: f64, us: f64| {
        let spec = SystemSpec::uniform(4, fabric, GbPerSec::new(rate), Micros::new(us));
        spec.resolve().unwrap_err().to_string()
    };
    let mesh = || FabricSpec::FullMesh;
    let dragonfly = FabricSpec::Dragonfly(DragonflySpec {
        switch: "switch".into(),
        routers: 0,
        endpoints: 1,
        global: 1,
        local_link: None,
        global_link: None,
    });
    assert_eq!(
        error(mesh(), 0.0, 1.0),
        "`links.link.rate`: a rate of 0 GB/s moves nothing"
    );
    assert_eq!(
        error(mesh(), 1.0, f64::NAN),
        "`links.link.latency`: NaN us is no latency"
    );
    assert_eq!(error(dragonfly, 1.0, 1.0), "`routers`: a count of zero");
    let none = SystemSpec::uniform(0, mesh(), GbPerSec::new(1.0), Micros::new(1.0));
    assert_eq!(
        none.resolve().unwrap_err().to_string(),
        "`count`: a count of zero"
    );
}

#[test]
fn overrides_of_a_bundled_class_keep_the_rest_of_it() {
    let text = GOOD.replace(
        "[switches.hub]",
        "[links.ib-ndr]\nlike = \"ib-ndr\"\nefficiency = 0.5\n\n[switches.hub]",
    );
    let topology = Topology::from_toml(&text).unwrap();
    let class = topology
        .link_classes()
        .iter()
        .find(|class| class.name == "ib-ndr")
        .unwrap();
    assert!((class.rate.value.get() - 50.0).abs() < 1e-12);
    assert!((class.efficiency.value.get() - 0.5).abs() < 1e-12);
    assert!(class.step.is_some());
}

#[test]
fn a_calibrated_constant_survives_writing_and_reading() {
    use tier6_system::{Constant, Efficiency, Evidence, Provenance, preset};
    use tier6_units::Bytes;
    let mut spec = preset("h200-x8").unwrap();
    let fitted = Constant {
        value: Efficiency::new(0.1 + 0.7).unwrap(),
        interval: Some((
            Efficiency::new(0.75).unwrap(),
            Efficiency::new(0.85).unwrap(),
        )),
        provenance: Some(Provenance {
            evidence: Evidence::Fitted,
            source: Some("busbw of a \"ring\" \\ run\n".to_owned()),
            datasets: vec!["set_a".to_owned(), "set_b".to_owned()],
            bytes: Some((Bytes::new(1 << 20), Bytes::new(1 << 32))),
            method: Some("fit".to_owned()),
            error_pct: Some(1.5),
        }),
    };
    spec.link_mut("nvlink4").unwrap().efficiency = Some(fitted.clone());
    assert!(spec.link_mut("nvlink99").is_none());
    let again = SystemSpec::from_toml(&spec.to_toml()).unwrap();
    assert_eq!(again, spec);
    let topology = again.resolve().unwrap();
    assert_eq!(topology.link_classes()[0].efficiency, fitted);
}

#[test]
fn constants_of_protocols_survive_and_fill_each_other_s_gaps() {
    use tier6_system::{ByProtocol, Constant, Efficiency, Evidence, preset};
    use tier6_units::Micros;
    let mut spec = preset("h200-x8").unwrap();
    let link = spec.link_mut("nvlink4").unwrap();
    link.step = Some(ByProtocol {
        simple: Some(Constant::stated(Micros::new(0.1 + 0.2))),
        ..ByProtocol::default()
    });
    link.share = Some(ByProtocol {
        ll: Some(Constant::assumed(Efficiency::new(0.1 + 0.2).unwrap(), "x")),
        ..ByProtocol::default()
    });
    let again = SystemSpec::from_toml(&spec.to_toml()).unwrap();
    assert_eq!(again, spec);
    let topology = again.resolve().unwrap();
    let class = &topology.link_classes()[0];
    let step = class.step.as_ref().unwrap();
    let us = |time: &Option<Constant<Micros>>| time.as_ref().unwrap().value;
    assert_eq!(us(&step.ll), Micros::new(0.6));
    assert_eq!(us(&step.simple), Micros::new(0.1 + 0.2));
    let share = &class.share;
    let shares = [&share.ll, &share.ll128, &share.simple].map(|share| Some(share.value));
    assert_eq!(shares, [0.1 + 0.2, 0.92, 1.0].map(Efficiency::new));
    assert_eq!(share.ll128.evidence(), Evidence::Assumed);

    spec.link_mut("nvlink4").unwrap().step = Some(ByProtocol {
        ll: Some(Constant::stated(Micros::new(-1.0))),
        ..ByProtocol::default()
    });
    assert_eq!(
        spec.resolve().unwrap_err().to_string(),
        "line 20, column 8: `links.nvlink4.step.ll`: -1 us is no latency"
    );
}

#[test]
fn a_grain_survives_and_is_at_least_a_byte() {
    use tier6_system::preset;
    use tier6_units::Bytes;
    let mut spec = preset("h200-x8").unwrap();
    spec.software.grain.ll = Some(Bytes::new(1 << 10));
    spec.software.grain.simple = Some(Bytes::new(3));
    let text = spec.to_toml();
    let again = SystemSpec::from_toml(&text).unwrap();
    assert_eq!(again, spec);
    let grain = &again.resolve().unwrap().constants().grain.clone();
    assert_eq!((grain.ll, grain.ll128), (Some(Bytes::new(1 << 10)), None));
    let none = text.replace("\"1 KiB\"", "\"0\"");
    let error = SystemSpec::from_toml(&none).unwrap_err().to_string();
    assert!(
        error.contains("a grain of zero forwards nothing"),
        "{error}"
    );
}

#[test]
fn a_ramp_survives_with_its_origin_and_is_shown() {
    use tier6_system::{Constant, Ramp, preset};
    use tier6_units::Bytes;
    let ramp = |channels: u32, bytes| Ramp {
        channels: channels.try_into().unwrap(),
        bytes: Bytes::new(bytes),
    };
    let mut spec = preset("h200-x8").unwrap();
    spec.software.ramp.ll128 = Some(Constant::stated(ramp(2, 5000)));
    spec.software.ramp.simple = Some(Constant::assumed(ramp(4, 32 << 10), "512 threads"));
    let text = spec.to_toml();
    assert_eq!(SystemSpec::from_toml(&text).unwrap(), spec);
    let topology = spec.resolve().unwrap();
    assert_eq!(topology.constants().ramp, spec.software.ramp);
    let shown = topology.describe().constants;
    let shown: Vec<(&str, &str)> = shown
        .iter()
        .filter(|constant| constant.name.starts_with("software.ramp"))
        .map(|constant| (constant.name.as_str(), constant.value.as_str()))
        .collect();
    let expected = [
        ("software.ramp.ll128", "2 x 5000 B"),
        ("software.ramp.simple", "4 x 32 KiB"),
    ];
    assert_eq!(shown, expected);
    let wrong = text.replace("4 x 32 KiB", "4 of 32 KiB");
    let error = SystemSpec::from_toml(&wrong).unwrap_err().to_string();
    assert!(error.contains("expected `4 x 32 KiB`"), "{error}");
}

/// Deletes, doubles or replaces lines and bytes of a system file.
fn mutate(text: &str, edits: &[(u8, u16, u16)]) -> String {
    const WORDS: [&str; 12] = [
        "0", "-1", "1", "2", "65536", "1048576", "\"\"", "[]", "{}", "nan", "\"x\"", "true",
    ];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for &(kind, at, with) in edits {
        let n_lines = lines.len();
        if n_lines == 0 {
            break;
        }
        let (at, with) = (usize::from(at) % n_lines, usize::from(with));
        match kind % 5 {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[at].clone();
                lines.insert(with % n_lines, line);
            }
            2 => {
                let key = lines[at].split('=').next().unwrap_or("").to_owned();
                lines[at] = format!("{key}= {}", WORDS[with % WORDS.len()]);
            }
            3 => lines.swap(at, with % n_lines),
            _ => {
                let mut chars: Vec<char> = lines[at].chars().collect();
                if !chars.is_empty() {
                    let index = with % chars.len();
                    chars[index] = char::from(32 + u8::try_from(with % 95).unwrap());
                }
                lines[at] = chars.into_iter().collect();
            }
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_mutated_system_panics(
        preset in 0..32_usize,
        edits in prop::collection::vec(any::<(u8, u16, u16)>(), 0..6),
    ) {
        let text = presets().get(preset).map_or(GOOD, |preset| preset.text);
        let text = mutate(text, &edits);
        if let Ok(spec) = SystemSpec::from_toml(&text) {
            // What reads also writes and reads again, resolved or not.
            let again = SystemSpec::from_toml(&spec.to_toml());
            prop_assert_eq!(again.as_ref(), Ok(&spec));
            if let Ok(topology) = spec.resolve() {
                prop_assert!(topology.n_chips() > 0);
            }
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = Topology::from_toml(&text);
    }
}
