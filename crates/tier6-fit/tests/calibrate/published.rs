//! Published measurements: what a calibrated system meets in sample. The numbers stand in
//! `data/measurements`; what is held out stands in `tier6-study`.

use tier6_collective::{Algorithm, Protocol};
use tier6_fit::{
    AnalysisOptions, CalibrateOptions, Calibration, Fitted, Observed, analyze_run, calibrate,
};
use tier6_measure::{Placement, read, read_index};
use tier6_system::{ByProtocol, Constant, Ramp, preset};
use tier6_units::Bytes;

fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/measurements");
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

/// A published sweep, out of place where that was measured, and without disturbed times.
fn load(id: &str) -> Observed {
    let index = read_index(&text("INDEX.tsv")).value;
    let facts = index.iter().find(|facts| facts.id == id).unwrap();
    let mut options = facts.read_options();
    if id.starts_with("s3_") {
        options.columns = vec![("time".to_owned(), "measured_us".to_owned())];
    }
    let dataset = read(text(&format!("{id}.csv")).as_bytes(), &options)
        .unwrap()
        .value;
    let series = analyze_run(&dataset.runs[0], 0, &[], &AnalysisOptions::STANDARD);
    let scored = series
        .iter()
        .find(|one| one.placement == Placement::OutOfPlace);
    let scored = scored.unwrap_or(&series[0]);
    let other = series
        .iter()
        .find(|other| scored.is_other_placement_of(other));
    let found = Observed::of_series(id, scored, other).unwrap();
    let algorithm = id.contains("_ring_").then_some(Algorithm::Ring);
    let protocol = Protocol::ALL
        .into_iter()
        .find(|protocol| id.contains(&format!("_{protocol}_")));
    found.forced(algorithm, protocol)
}

/// A set, its system, and the most that its RMSPE in sample may be, in percent.
fn check(id: &str, name: &str, in_sample_pct: f64) -> Calibration {
    let (system, mut set) = (preset(name).unwrap(), load(id));
    set.call = set.call.on(&system);
    let made = calibrate(&system, &[set], &CalibrateOptions::STANDARD).unwrap();
    eprintln!(
        "{id}: in sample {:.2} %, held out {:?} %, {} sizes disturbed",
        made.rmspe_pct,
        made.held_out_rmspe_pct,
        made.sets[0].disturbed.len()
    );
    assert!(
        made.rmspe_pct <= in_sample_pct,
        "{id}: {:.2} %",
        made.rmspe_pct
    );
    made
}

#[test]
fn sets_of_the_source_documents_are_met() {
    check("s3_h200_ar_8gpu", "h200-x8", 4.0);
    check("s3_a100_ar_8gpu", "a100-x8", 6.0);
    check("gb200_ar_72gpu_nvl72_coreweave", "gb200-nvl72", 1.5);
}

#[test]
fn two_nodes_of_h100_are_met() {
    check("h100_ar_16gpu_2node_roce_oci", "h100-x8-roce", 7.0);
    check("h100_ar_16gpu_2node_ib_nccltests309", "h100-x8-ib-ndr", 7.0);
    check(
        "h100_ar_16gpu_2node_ib_nccltests309b",
        "h100-x8-ib-ndr",
        7.0,
    );
}

#[test]
fn pcie_is_met() {
    check("l40s_ar_2gpu_default1_yumibyte", "l40s", 5.0);
    check("l40s_ar_2gpu_ll_yumibyte", "l40s", 5.0);
    check("l40s_ar_4gpu_default1_yumibyte", "l40s", 5.0);
    check("l40s_ar_4gpu_ring_yumibyte", "l40s", 5.0);
    check("v100pcie_ar_4gpu_sheffield_nccl242", "pcie-gen4-x4", 5.0);
    check("rtx4090_ar_4gpu_docker", "pcie-gen4-x4", 5.0);
}

#[test]
fn small_messages_of_a_forced_protocol_take_fewer_channels() {
    for (id, channels, in_sample, held_out) in [
        ("l40s_ar_4gpu_simple_yumibyte", Some("4 x 32 KiB"), 4.6, 4.8),
        ("l40s_ar_4gpu_ll128_yumibyte", Some("2 x 32 KiB"), 3.4, 3.6),
        ("l40s_ar_2gpu_ll128_yumibyte", Some("2 x 32 KiB"), 3.1, 3.4),
        ("l40s_ar_2gpu_simple_yumibyte", Some("2 x 32 KiB"), 3.3, 3.4),
        ("l40s_ar_2gpu_ll_yumibyte", None, 3.3, 3.5),
    ] {
        let made = check(id, "l40s", in_sample);
        let found = made.held_out_rmspe_pct.unwrap();
        assert!(found <= held_out, "{id}: {found:.2} % held out");
        let ramp = &made.system.software.ramp;
        let mut ramps = [&ramp.ll, &ramp.ll128, &ramp.simple].into_iter().flatten();
        let one = ramps.next();
        let text = one.map(|ramp| ramp.value.to_string());
        assert_eq!((text.as_deref(), ramps.count()), (channels, 0), "{id}");
        if let Some(one) = one {
            let origin = one.provenance.as_ref().unwrap();
            assert_eq!(origin.datasets, [id]);
            let is_it = |row: &&Fitted| row.name.starts_with("software.ramp.");
            let row = made.parameters.iter().find(is_it).unwrap();
            let unit = format!("x {}", one.value.bytes);
            assert_eq!((row.unit.as_str(), row.prior), (unit.as_str(), None));
            assert!((row.value - f64::from(one.value.channels.get())).abs() < 1e-12);
        }
    }
}

#[test]
fn a_stated_ramp_is_kept_and_none_is_chosen_where_protocols_compete() {
    let id = "l40s_ar_4gpu_simple_yumibyte";
    let ramp = Ramp {
        channels: 2.try_into().unwrap(),
        bytes: Bytes::new(64 << 10),
    };
    let mut stated = preset("l40s").unwrap();
    stated.software.ramp.simple = Some(Constant::stated(ramp));
    let options = CalibrateOptions::STANDARD;
    let made = calibrate(&stated, &[load(id)], &options).unwrap();
    assert_eq!(made.system.software.ramp, stated.software.ramp);
    let is_ramp = |row: &Fitted| row.name.starts_with("software.ramp.");
    assert!(!made.parameters.iter().any(is_ramp));
    let made = check("l40s_ar_4gpu_default1_yumibyte", "l40s", 5.0);
    assert_eq!(made.system.software.ramp, ByProtocol::default());
}
