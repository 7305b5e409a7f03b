//! The bundled systems: each reads, resolves, reads back what it writes, and has the rates of
//! its data sheet.

#![expect(clippy::float_cmp, reason = "sums of whole rates are exact")]

use tier6_system::{
    ChipId, Evidence, SwitchAbility, SystemSpec, Topology, catalog, preset, presets,
};

fn topology(name: &str) -> Topology {
    preset(name).unwrap().resolve().unwrap()
}

#[test]
fn every_preset_reads_resolves_and_reads_back_what_it_writes() {
    for bundled in presets() {
        let spec = SystemSpec::from_toml(bundled.text)
            .unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
        assert_eq!(spec.name, bundled.name);
        let topology = spec
            .resolve()
            .unwrap_or_else(|error| panic!("{}: {error}", bundled.name));
        assert!(topology.n_chips() >= 4);
        let written = spec.to_toml();
        let again = SystemSpec::from_toml(&written)
            .unwrap_or_else(|error| panic!("{}: {error}\n{written}", bundled.name));
        assert_eq!(again, spec, "{}", bundled.name);
    }
}

#[test]
fn chips_inject_what_their_data_sheet_says() {
    // Scale-up rate per chip and direction (FACTS C.1), NIC rate per chip (sets in data/).
    for (name, chips, scale_up, network) in [
        ("v100-nv2-x4", 4, 150.0, None),
        ("dgx1", 8, 150.0, None),
        ("dgx1-ib-edr", 16, 150.0, Some(6.25)),
        ("a100-x4", 4, 300.0, None),
        ("a100-x4-slingshot", 8, 300.0, Some(12.5)),
        ("a100-x8", 8, 300.0, None),
        ("a100-x8-ib-hdr", 16, 300.0, Some(25.0)),
        ("a100-x8-roce", 16, 300.0, Some(25.0)),
        ("a100-x8-efa", 16, 300.0, Some(6.25)),
        ("h100-x8", 8, 450.0, None),
        ("h100-x8-ib-ndr", 16, 450.0, Some(50.0)),
        ("h100-x8-roce", 16, 450.0, Some(50.0)),
        ("h100-x8-efa", 16, 450.0, Some(50.0)),
        ("h100-x8-tcpxo", 16, 450.0, Some(25.0)),
        ("h200-x8", 8, 450.0, None),
        ("h200-x8-ib-ndr", 16, 450.0, Some(50.0)),
        ("h200-x8-roce", 16, 450.0, Some(50.0)),
        ("h200-x8-efa", 16, 450.0, Some(50.0)),
        ("b200-x8", 8, 900.0, None),
        ("b200-x8-ib-ndr", 16, 900.0, Some(50.0)),
        ("b200-x8-roce", 16, 900.0, Some(50.0)),
        ("b200-x8-efa", 16, 900.0, Some(50.0)),
        ("gb200-nvl72", 72, 900.0, None),
        ("gb200-nvl72-ib-ndr", 144, 900.0, Some(50.0)),
        ("b300-x8", 8, 900.0, None),
        ("b300-x8-efa", 16, 900.0, Some(100.0)),
        ("gb300-nvl72", 72, 900.0, None),
        ("h20-x8", 8, 450.0, None),
        ("h20-x8-roce", 16, 450.0, Some(50.0)),
        ("gh200-x4", 4, 450.0, None),
        ("gh200-x4-slingshot", 8, 450.0, Some(25.0)),
        ("mi300x-x8", 8, 448.0, None),
        ("mi300x-x8-roce", 16, 448.0, Some(50.0)),
        ("pcie-gen4-x4", 4, 31.5, None),
        ("l40s", 4, 31.5, None),
        ("doc003-h200-x8", 8, 450.0, None),
        ("doc003-a100-x8", 8, 300.0, None),
        ("doc004-ring", 8, 900.0, None),
    ] {
        let topology = topology(name);
        assert_eq!(topology.n_chips(), chips, "{name}");
        for chip in (0..chips).map(ChipId::new) {
            assert_eq!(topology.injection_rate(chip).get(), scale_up, "{name}");
            let rate = topology.network_rate(chip).map(tier6_units::GbPerSec::get);
            assert_eq!(rate, network, "{name}");
        }
    }
    assert_eq!(presets().len(), 38);
}

#[test]
fn machines_are_built_as_documented() {
    let mi300x = topology("mi300x-x8");
    let links = mi300x.links_from(mi300x.chip_vertex(ChipId::new(3)));
    assert_eq!(links.len(), 7);
    assert!(
        links
            .iter()
            .all(|&link| mi300x.link(link).rate.get() == 64.0)
    );

    let nvl72 = topology("gb200-nvl72").describe();
    assert_eq!(nvl72.ports_per_chip, 18);
    assert_eq!(nvl72.n_links, 2 * 72);
    assert_eq!((nvl72.switches[0].count, nvl72.switches[0].chips), (1, 18));
    // 130 TB/s both ways (FACTS C.2): 72 chips x 900 GB/s x 2.
    assert_eq!(nvl72.injection.0.get() * 72.0 * 2.0, 129_600.0);

    let h100 = topology("h100-x8").describe();
    let payload = topology("h100-x8").injection_payload_rate(ChipId::new(0));
    assert!((payload.get() - 0.82 * 450.0).abs() < 1e-9);
    let two = topology("h100-x8-ib-ndr");
    let network = two.network_payload_rate(ChipId::new(15)).unwrap();
    assert!((network.get() - 48.5).abs() < 1e-9);
    assert_eq!(two.bisection().unwrap().get(), 8.0 * 50.0);
    assert_eq!(h100.bisection.unwrap().get(), 4.0 * 450.0);
    assert_eq!(h100.diameter_links, 2);
    assert_eq!(h100.longest_route, ["chip1", "nvswitch3", "chip0"]);

    let v100 = topology("v100-nv2-x4");
    assert_eq!(v100.links().len(), 12);
    assert!(v100.links().iter().all(|link| link.rate.get() == 50.0));
    // The payload rate of a V100 ring: 6 channels of 20 GB/s.
    let payload: f64 = v100
        .links_from(v100.chip_vertex(ChipId::new(0)))
        .iter()
        .map(|&link| v100.link(link).payload_rate.get())
        .sum();
    assert!((payload - 120.0).abs() < 1e-9);
}

#[test]
fn only_nvswitches_from_the_third_generation_on_multicast_and_reduce() {
    for (name, able) in [
        ("a100-x8", false),
        ("v100-nv2-x4", false),
        ("h100-x8", true),
        ("h200-x8", true),
        ("b200-x8", true),
        ("gb200-nvl72", true),
    ] {
        let topology = topology(name);
        assert_eq!(topology.can(SwitchAbility::Multicast), able, "{name}");
        assert_eq!(topology.can(SwitchAbility::Reduction), able, "{name}");
        assert_eq!(topology.constants().nvls.is_some(), able, "{name}");
    }
    let nvls = topology("h200-x8").constants().nvls.clone().unwrap();
    assert_eq!(nvls.rate.value.get(), 307.0);
}

#[test]
fn every_bundled_constant_has_a_source() {
    for bundled in presets() {
        let description = topology(bundled.name).describe();
        // Counts and sizes of `[g5]` are no constants with an origin; a comment stands beside them.
        let is_count = |name: &str| {
            let counts = ["units", "split", "segment", "overhead", "credits.count"];
            name.starts_with("g5.") && counts.iter().any(|count| name.ends_with(count))
        };
        let constants = description.constants.into_iter();
        for constant in constants.filter(|constant| !is_count(&constant.name)) {
            assert_ne!(constant.evidence, Evidence::Stated, "{constant:?}");
            assert!(constant.source.is_some(), "{}: {constant:?}", bundled.name);
        }
    }
    let unused = catalog().links.len();
    assert!(unused >= 30, "{unused} link classes");
}

#[test]
fn nodes_can_be_counted_up_to_the_sizes_of_the_data() {
    // (preset, nodes, chips) of the largest sets.
    for (name, nodes, chips) in [
        ("gh200-x4-slingshot", 512, 2048),
        ("a100-x4-slingshot", 540, 2160),
        ("gb200-nvl72-ib-ndr", 20, 1440),
        ("h100-x8-ib-ndr", 10, 80),
        ("h200-x8-ib-ndr", 248, 1984),
        ("a100-x8-ib-hdr", 16, 128),
    ] {
        let spec = preset(name).unwrap().with_outer_count(nodes);
        assert!(spec.is_multi_node());
        let topology = spec
            .resolve()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((topology.n_nodes(), topology.n_chips()), (nodes, chips));
        let route = topology.route(ChipId::new(0), ChipId::new(chips - 1));
        assert!(
            (4..=9).contains(&route.len()),
            "{name}: {} links",
            route.len()
        );
    }
}

#[test]
fn a_mistyped_preset_is_corrected() {
    let error = preset("h100x8").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown system `h100x8`; hint: did you mean `h100-x8`?"
    );
    let error = preset("gb200").unwrap_err();
    assert_eq!(error.nearest, Some("gb200-nvl72"));
    let error = preset("abacus").unwrap_err();
    assert_eq!(error.to_string(), "unknown system `abacus`");
}

#[test]
fn host_links_carry_what_the_nics_carry() {
    for bundled in presets() {
        let topology = topology(bundled.name);
        for nic in topology.nics() {
            let payload = |links: &[tier6_system::LinkId]| -> f64 {
                let rates = links
                    .iter()
                    .map(|&link| topology.link(link).payload_rate.get());
                rates.sum()
            };
            let from_chips = payload(topology.links_into(nic.send));
            let to_network = payload(topology.links_from(nic.send));
            // PCIe 3 and EDR are equal to a rounding of the published shares: 11.97 and 12.
            assert!(
                from_chips >= 0.99 * to_network,
                "{}: {from_chips} before {to_network}",
                bundled.name
            );
        }
    }
}
