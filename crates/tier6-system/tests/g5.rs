//! `[g5]`: every key is read, written back to the last bit and shown; what means nothing is refused
//! with its place and the way out.

use proptest::prelude::*;
use tier6_system::{
    ByteCounterSpec, CdmaSpec, Constant, CreditsSpec, DcqcnPreset, DcqcnSpec, Evidence, FabricSpec,
    G5Spec, LayerState, PathRule, PaxiSpec, SplitSpec, SystemSpec, preset,
};
use tier6_units::{Bytes, GbPerSec, Micros};

/// A system that gives every key of `[g5]`.
const ALL: &str = r#"name = "four"
[chip]
name = "toy"
[g5.cdma]
units = 4
threads = 2
split = "32 KiB"
credits = 16
start = { value = "0.2 us", evidence = "fitted", datasets = ["a"], method = "fit" }
sync = "100ns"
rate = "441GB/s"
[g5.memory]
reduce = "1500 GB/s"
copy = "2000 GB/s"
[g5.paxi]
latency = "0.15us"
segment = "1344 B"
outstanding = 512
[g5.ll]
sync = "0.1 us"
share = 0.5
[g5.ll128]
share = 0.92
[g5.rc_link]
overhead = "58 B"
headers = "ip"
sequence_bits = 12
window = 2000
recovery = "selective"
reorder = 64
ack_merge = "0.25us"
ack = "64 B"
timeout = "1 ms"
retries = 7
loss = 1e-6
credits = { unit = "2 KiB", count = 4096, period = "0 us", scope = "end_to_end" }
[g5.switch]
buffer = "32 MiB"
threshold = 0.5
pfc = { reserve = "4 KiB", resume = "3 KiB", headroom = "100 KiB" }
ecn = { enabled = false, k_min = "400 KB", k_max = "1600 KB", p_max = 0.2 }
[g5.paths]
choice = "sub_flows"
flows = 4
[g5.dcqcn]
preset = "simai"
g = 0.00390625
alpha_period = "1 us"
initial_alpha = 1
cut_interval = "4 us"
cnp_interval = "0 us"
timer = "900 us"
byte_counter = "none"
fast_recovery = 1
additive = "50 Mb/s"
hyper = "100 Mb/s"
min_rate = "100 Mb/s"
budget = "4 us"
[links.wire]
rate = "50 GB/s"
latency = "1 us"
efficiency = 0.9
[[tier]]
name = "node"
count = 4
fabric = "ring"
link = "wire"
"#;

#[test]
fn every_key_is_read_and_reads_back() {
    let spec = SystemSpec::from_toml(ALL).unwrap();
    let g5 = spec.g5.clone().unwrap();
    let cdma = g5.cdma.unwrap();
    assert_eq!(cdma.split, Some(SplitSpec::Per(Bytes::new(32 << 10))));
    assert_eq!(cdma.rate.unwrap().value, GbPerSec::new(441.0));
    assert_eq!(cdma.start.unwrap().evidence(), Evidence::Fitted);
    assert_eq!(g5.paths, Some(PathRule::SubFlows(4)));
    assert_eq!(
        g5.switch.unwrap().ecn.unwrap().state,
        LayerState::Off,
        "a layer that is off keeps its numbers"
    );
    let dcqcn = g5.dcqcn.unwrap();
    assert_eq!(dcqcn.byte_counter, Some(ByteCounterSpec::None));
    assert_eq!(dcqcn.additive.unwrap().value, GbPerSec::new(0.05 / 8.0));
    let written = spec.to_toml();
    let again =
        SystemSpec::from_toml(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again, spec, "{written}");
    assert_eq!(again.to_toml(), written);
}

#[test]
fn what_is_given_is_shown_and_handed_out() {
    let topology = SystemSpec::from_toml(ALL).unwrap().resolve().unwrap();
    assert!(topology.constants().g5.is_some());
    let constants = topology.describe().constants;
    let of = |name: &str| {
        let found = constants.iter().find(|constant| constant.name == name);
        found.map(|constant| (constant.value.as_str(), constant.evidence))
    };
    assert_eq!(of("g5.cdma.start"), Some(("0.2 us", Evidence::Fitted)));
    assert_eq!(of("g5.cdma.units"), Some(("4", Evidence::Stated)));
    assert_eq!(
        of("g5.rc_link.credits.count"),
        Some(("4096", Evidence::Stated))
    );
    assert_eq!(
        of("g5.switch.ecn.enabled"),
        Some(("false", Evidence::Stated))
    );
    assert_eq!(of("g5.switch.ecn.k_min"), None);
    assert_eq!(of("g5.dcqcn.preset"), Some(("simai", Evidence::Stated)));
    let plain = preset("h100-x8").unwrap().resolve().unwrap();
    assert!(plain.constants().g5.is_none());
    let names = plain.describe().constants.into_iter();
    assert!(
        names
            .map(|constant| constant.name)
            .all(|name| !name.starts_with("g5"))
    );
}

#[test]
fn what_means_nothing_is_refused_with_the_way_out() {
    let cases = [
        (
            "[g5.cdma]\nunits = 4",
            "[g5.cmda]\nunits = 4",
            "did you mean `cdma`?",
        ),
        (
            "threads = 2",
            "theads = 2",
            "unknown key `theads` in `g5.cdma`; hint: did you mean `threads`?",
        ),
        ("units = 4", "units = 0", "from 1 to"),
        ("\"441GB/s\"", "\"441\"", "g5.cdma.rate"),
        ("\"0.15us\"", "\"0.15\"", "expected a unit"),
        (
            "split = \"32 KiB\"",
            "split = \"0 B\"",
            "expected 1 B to more",
        ),
        (
            "\"1344 B\"",
            "\"2 MiB\"",
            "expected 1 B to 1 MiB, found 2 MiB",
        ),
        ("\"selective\"", "\"slective\"", "did you mean `selective`?"),
        ("loss = 1e-6", "loss = 2", "expected 0 to 1, found 2"),
        ("timeout = \"1 ms\"", "timeout = \"0 ms\"", "above zero"),
        ("\"1600 KB\"", "\"160 KB\"", "below `k_min`"),
        (
            "enabled = false",
            "enabled = \"no\"",
            "must be true or false",
        ),
        (
            "\"sub_flows\"",
            "\"spray\"",
            "only `sub_flows` has a number of flows",
        ),
        ("flows = 4\n", "", "has no `flows`"),
        ("\"simai\"", "\"sima\"", "did you mean `simai`?"),
    ];
    for (right, wrong, says) in cases {
        assert_eq!(ALL.matches(right).count(), 1, "{right}");
        let error = SystemSpec::from_toml(&ALL.replace(right, wrong)).unwrap_err();
        assert!(error.to_string().contains(says), "{wrong}: {error}");
        assert!(error.place.is_some(), "{wrong}");
    }
}

#[test]
fn a_layer_is_absent_off_or_on() {
    let read = |g5: &str| {
        let text = ALL.split("[g5.cdma]").next().unwrap().to_owned();
        let rest = &ALL[ALL.find("[links.wire]").unwrap()..];
        SystemSpec::from_toml(&(text + g5 + rest)).unwrap().g5
    };
    assert_eq!(read(""), None);
    assert_eq!(read("[g5]\n"), Some(G5Spec::default()));
    assert_eq!(
        read("[g5]\nenabled = false\n").unwrap().state,
        LayerState::Off
    );
    let g5 = read("[g5.paxi]\nenabled = false\n").unwrap();
    assert_eq!((g5.state, g5.cdma), (LayerState::On, None));
    assert_eq!(g5.paxi.unwrap().state, LayerState::Off);
    assert_eq!(
        read("[g5.cdma]\nenabled = true\nsplit = \"all\"\n")
            .unwrap()
            .cdma
            .unwrap()
            .split,
        Some(SplitSpec::All)
    );
}

fn micros() -> impl Strategy<Value = Option<Constant<Micros>>> {
    let time = (1e-9..1e9_f64).prop_map(|us| Constant::assumed(Micros::new(us), "a guess"));
    prop::option::of(time)
}

prop_compose! {
    fn spec()(
        units in prop::option::of(1..1_000_u32),
        split in prop::option::of(1..u64::MAX),
        rate in prop::option::of(1e-6..1e6_f64),
        times in [micros(), micros(), micros(), micros()],
        threshold in prop::option::of(1e-6..1e6_f64),
        preset in prop::option::of(prop::sample::select(&DcqcnPreset::ALL[..])),
        counter in prop::option::of(1..u64::MAX),
        count in prop::option::of(1..1_000_000_u32),
    ) -> G5Spec {
        let [start, latency, period, timer] = times;
        G5Spec {
            cdma: Some(CdmaSpec {
                units,
                split: split.map(|size| SplitSpec::Per(Bytes::new(size))),
                start,
                rate: rate.map(|rate| Constant::stated(GbPerSec::new(rate))),
                ..CdmaSpec::default()
            }),
            paxi: Some(PaxiSpec { state: LayerState::Off, latency, ..PaxiSpec::default() }),
            rc_link: Some(tier6_system::RcLinkSpec {
                credits: Some(CreditsSpec { count, period, ..CreditsSpec::default() }),
                ..Default::default()
            }),
            switch: Some(tier6_system::QueueSpec { threshold, ..Default::default() }),
            dcqcn: Some(DcqcnSpec {
                preset,
                timer,
                byte_counter: counter.map(|size| ByteCounterSpec::Every(Bytes::new(size))),
                ..DcqcnSpec::default()
            }),
            ..G5Spec::default()
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_same_bits(g5 in spec()) {
        let ring = FabricSpec::ring();
        let uniform = SystemSpec::uniform(4, ring, GbPerSec::new(50.0), Micros::new(0.5));
        let spec = SystemSpec { g5: Some(g5), ..uniform };
        let written = spec.to_toml();
        let again = SystemSpec::from_toml(&written);
        prop_assert!(again.is_ok(), "{:?}\n{written}", again);
        prop_assert_eq!(again.unwrap().g5, spec.g5);
    }
}
