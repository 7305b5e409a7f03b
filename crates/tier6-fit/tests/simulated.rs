//! Calibration by simulating: the constants of a machine that was simulated come back, and the
//! split of messages over engines is the plateau that source document 003 shows.

use std::num::NonZeroU32;
use tier6_collective::{Algorithm, Collective, Grain, Path, Protocol};
use tier6_fit::{
    CalibrateError, CalibrateOptions, Calibration, Call, CallSetup, Confounded, Launch, Observed,
    calibrate_simulated, forecast_simulated,
};
use tier6_g5::{Fabric, FlowNetwork, G5Parameters, RunOptions, run};
use tier6_math::{Parameters, Placement};
use tier6_system::{CdmaSpec, Constant, G5Spec, SplitSpec, SystemSpec, preset};
use tier6_units::{Bytes, GbPerSec, Micros};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn call(collective: Collective, ranks: u32) -> Call {
    Call {
        collective,
        algorithm: None,
        protocol: None,
        ranks,
        nodes: 1,
    }
}

/// What a machine measures of itself.
fn measured(machine: &SystemSpec, label: &str, call: &Call, sizes: &[u64]) -> Observed {
    let sizes: Vec<Bytes> = sizes.iter().map(|bytes| Bytes::new(*bytes)).collect();
    let forecasts = forecast_simulated(machine, call, &sizes).unwrap();
    let points: Vec<(Bytes, Micros)> = forecasts.iter().map(|f| (f.bytes, f.time)).collect();
    Observed::new(label, *call, &points)
}

fn machine(split: SplitSpec) -> SystemSpec {
    let mut machine = preset("a100-x8").unwrap();
    let us = |us: f64| Some(Constant::assumed(Micros::new(us), "a toy"));
    machine.software.call = us(12.0);
    machine.g5 = Some(G5Spec {
        cdma: Some(CdmaSpec {
            split: Some(split),
            start: us(0.0),
            sync: us(1.5),
            rate: Some(Constant::assumed(GbPerSec::new(210.0), "a toy")),
            ..CdmaSpec::default()
        }),
        ..G5Spec::default()
    });
    machine
}

fn value(made: &Calibration, name: &str) -> f64 {
    let found = made.parameters.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name}")).value
}

fn split_of(made: &Calibration) -> Option<SplitSpec> {
    made.system.g5.as_ref()?.cdma.as_ref()?.split
}

const SIZES: [u64; 9] = [
    8,
    32 * KIB,
    128 * KIB,
    512 * KIB,
    2 * MIB,
    8 * MIB,
    32 * MIB,
    128 * MIB,
    512 * MIB,
];

/// Two numbers of ranks part the call from its messages. What is left is rounding to picoseconds
/// and the weak pull to what the system said.
#[test]
fn constants_of_a_simulated_machine_come_back() {
    let truth = SplitSpec::Per(Bytes::new(64 * KIB));
    let machine = machine(truth);
    let of = |ranks| {
        let call = call(Collective::AllReduce, ranks);
        measured(&machine, &format!("{ranks} ranks"), &call, &SIZES)
    };
    let sets = [of(8), of(4)];
    let system = preset("a100-x8").unwrap();
    let made = calibrate_simulated(&system, &sets, &CalibrateOptions::STANDARD).unwrap();
    eprintln!(
        "in sample {:.3} %, held out {:?} %",
        made.rmspe_pct, made.held_out_rmspe_pct
    );
    assert!(made.rmspe_pct < 1.0, "{:.3} %", made.rmspe_pct);
    assert!(made.held_out_rmspe_pct.unwrap() < 1.0);
    assert_eq!(split_of(&made), Some(truth));
    let rate = value(&made, "g5.cdma.rate");
    assert!((rate / 210.0 - 1.0).abs() < 0.02, "{rate}");
    let software = value(&made, "software.call");
    assert!((software / 12.0 - 1.0).abs() < 0.1, "{software}");
    // The order of the measurements changes nothing.
    let again = [sets[1].clone(), sets[0].clone()];
    let again = calibrate_simulated(&system, &again, &CalibrateOptions::STANDARD).unwrap();
    assert_eq!(again, made);
    // The written system says what the calibration does.
    let read = SystemSpec::from_toml(&made.system.to_toml()).unwrap();
    assert_eq!(read, made.system);
}

/// What a network measures of itself under each algorithm of an `AllReduce` over nodes.
#[test]
fn trees_and_rings_over_nodes_come_back() {
    let machine = preset("h100-x8-ib-ndr").unwrap();
    let of = |algorithm, nodes| {
        let call = Call {
            algorithm: Some(algorithm),
            nodes,
            ..call(Collective::AllReduce, 2 * nodes)
        };
        let sizes = [8, 128 * KIB, 2 * MIB, 32 * MIB];
        measured(&machine, &format!("{algorithm} {nodes}"), &call, &sizes)
    };
    let sets = [
        of(Algorithm::Ring, 2),
        of(Algorithm::Tree, 2),
        of(Algorithm::NvlsTree, 2),
    ];
    let mut system = machine.clone();
    system.software.call = Some(Constant::assumed(Micros::new(40.0), "elsewhere"));
    let made = calibrate_simulated(&system, &sets, &CalibrateOptions::STANDARD).unwrap();
    eprintln!("{:.3} % in sample", made.rmspe_pct);
    assert!(made.rmspe_pct < 2.0, "{:.3} %", made.rmspe_pct);
    let software = value(&made, "software.call");
    let truth = machine.software.call.as_ref().unwrap().value.get();
    assert!((software / truth - 1.0).abs() < 0.2, "{software}");
}

/// 128 pieces of a tree take what a run of a few pieces says of them, and `simulate` runs all.
#[test]
fn a_pipeline_is_continued_as_it_runs() {
    let machine = preset("h100-x8-ib-ndr").unwrap();
    let topology = machine.clone().with_outer_count(2).resolve().unwrap();
    let tree = Call {
        algorithm: Some(Algorithm::Tree),
        protocol: Some(Protocol::Simple),
        nodes: 2,
        ..call(Collective::AllReduce, 8)
    };
    let bytes = Bytes::new(64 * MIB);
    let continued = forecast_simulated(&machine, &tree, &[bytes]).unwrap()[0].time;
    let parameters = Parameters {
        placement: Placement::PerNode(NonZeroU32::new(4).unwrap()),
        ..Parameters::of(&topology)
    };
    let setup = CallSetup {
        topology: &topology,
        parameters: &parameters,
        collective: tree.collective,
        ranks: tree.ranks,
        grain: Grain::Message,
        handshake: None,
    };
    let path = Path {
        algorithm: Algorithm::Tree,
        protocol: Protocol::Simple,
    };
    let launch = Launch::new(&setup, path, bytes).unwrap();
    let of_engine = G5Parameters::of(&topology);
    let mut fabric = Fabric::new(&topology, &of_engine, &[], 0).unwrap();
    let mut network = FlowNetwork::new();
    let options = RunOptions::new();
    let ran = run(
        &launch.jobs(),
        &mut fabric,
        &mut network,
        &of_engine,
        &options,
    )
    .unwrap();
    let ran = ran.total.to_micros();
    let error = continued.get() / ran.get() - 1.0;
    assert!(error.abs() < 0.01, "{continued} continued, {ran} run");
}

#[test]
fn one_number_of_ranks_tells_call_and_messages_only_together() {
    let machine = machine(SplitSpec::All);
    let set = measured(&machine, "8", &call(Collective::AllReduce, 8), &SIZES);
    let system = preset("a100-x8").unwrap();
    let sets = [set];
    let made = calibrate_simulated(&system, &sets, &CalibrateOptions::STANDARD).unwrap();
    let together = made
        .refused
        .iter()
        .find(|group| group.names.len() > 1)
        .unwrap();
    assert!(
        together.names.contains(&"software.call".to_owned()),
        "{together}"
    );
    assert!(
        together.names.contains(&"g5.cdma.sync".to_owned()),
        "{together}"
    );
    let strict = CalibrateOptions {
        confounded: Confounded::Refuse,
        ..CalibrateOptions::STANDARD
    };
    let refused = calibrate_simulated(&system, &sets, &strict).unwrap_err();
    assert!(
        matches!(refused, CalibrateError::NotIdentifiable { .. }),
        "{refused}"
    );
}

/// Source document 003 sees a plateau between 256 KB and 4 MB: more bytes go over more engines.
#[test]
fn the_plateau_is_the_split() {
    let ratio = |split: SplitSpec| {
        let mut machine = preset("doc003-h200-x8").unwrap();
        let cdma = machine.g5.as_mut().and_then(|g5| g5.cdma.as_mut()).unwrap();
        cdma.split = Some(split);
        let sizes = [MIB, 4 * MIB].map(Bytes::new);
        let times = forecast_simulated(&machine, &call(Collective::AllReduce, 8), &sizes).unwrap();
        let software = machine.software.call.as_ref().unwrap().value.get();
        (times[1].time.get() - software) / (times[0].time.get() - software)
    };
    // 128 KiB and 512 KiB a message: 2 and 8 engines of 64 KiB each.
    let on = ratio(SplitSpec::Per(Bytes::new(64 * KIB)));
    let off = ratio(SplitSpec::All);
    eprintln!("4 MiB / 1 MiB of hardware: split {on:.2}, without {off:.2}");
    assert!((0.95..1.1).contains(&on), "{on}");
    assert!(off > 3.0, "{off}");
}

#[test]
fn a_call_of_no_bytes_takes_the_alpha_of_nvls() {
    let machine = preset("h200-x8").unwrap();
    let forced = Call {
        algorithm: Some(Algorithm::Nvls),
        ..call(Collective::AllReduce, 8)
    };
    let sizes = [1, 4 << 30].map(Bytes::new);
    let times = forecast_simulated(&machine, &forced, &sizes).unwrap();
    let nvls = machine.nvls.as_ref().unwrap();
    let alpha = nvls.alpha.as_ref().unwrap().value.get();
    let small = times[0].time.get();
    assert!(
        (small / alpha - 1.0).abs() < 0.02,
        "{small} us, alpha {alpha} us"
    );
    // T = alpha + M(1 + 1/N)/B (FACTS B.6), and the last slice.
    let large = alpha + sizes[1].as_f64() * 1.125 / nvls.rate.value.get() / 1e3;
    let error = times[1].time.get() / large - 1.0;
    assert!((-0.005..0.02).contains(&error), "{error}");
}

#[test]
fn what_is_not_simulated_is_refused() {
    let system = preset("a100-x8").unwrap();
    let points = [
        (Bytes::new(8), Micros::new(10.0)),
        (Bytes::new(MIB), Micros::new(50.0)),
    ];
    let forced = Call {
        algorithm: Some(Algorithm::Nvls),
        ..call(Collective::AllReduce, 8)
    };
    let set = Observed::new("nvls", forced, &points);
    let error = calibrate_simulated(&system, &[set], &CalibrateOptions::STANDARD).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`nvls`: no path of all_reduce by nvls is calibrated by simulating: `nvls` needs `[nvls]` in \
         the system; hint: use `--engine math`"
    );
    let none = calibrate_simulated(&system, &[], &CalibrateOptions::STANDARD);
    assert_eq!(none, Err(CalibrateError::NoPoints));
}

/// Chains, groups of sends and receives, and calls with a root.
#[test]
fn other_collectives_come_back() {
    let truth = machine(SplitSpec::All);
    let of = |collective| {
        let call = call(collective, 8);
        measured(&truth, collective.name(), &call, &SIZES)
    };
    let sets = [
        of(Collective::Broadcast),
        of(Collective::Reduce),
        of(Collective::SendRecv),
        of(Collective::Scatter),
    ];
    let mut system = truth.clone();
    system.software.call = Some(Constant::assumed(Micros::new(30.0), "elsewhere"));
    let made = calibrate_simulated(&system, &sets, &CalibrateOptions::STANDARD).unwrap();
    assert!(made.rmspe_pct < 1.0, "{:.3} %", made.rmspe_pct);
    let software = value(&made, "software.call");
    assert!((software / 12.0 - 1.0).abs() < 0.05, "{software}");
}
