//! What a file says, and what it leaves to the priors.

use tier6_collective::Protocol;
use tier6_system::{Efficiency, SystemSpec, Topology, preset, presets};
use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::reliable::REORDER;
use crate::{
    AckMerge, Cdma, CdmaSplit, Dcqcn, G5Parameters, PathChoice, RateControl, RcLink, Recovery,
};

fn with(g5: &str) -> G5Parameters {
    let text = preset("h100-x8").unwrap().to_toml() + "\n" + g5;
    let spec = SystemSpec::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{g5}"));
    G5Parameters::of(&spec.resolve().unwrap())
}

#[test]
fn every_bundled_system_has_parameters_that_can_run() {
    for bundled in presets() {
        let topology = bundled.spec().resolve().unwrap();
        let parameters = G5Parameters::of(&topology);
        assert_eq!(parameters.check(), Ok(()), "{}", bundled.name);
        let call = SimTime::from(topology.constants().call.value);
        assert_eq!(parameters.software, call, "{}", bundled.name);
    }
}

#[test]
fn without_a_table_a_chip_has_the_published_values() {
    let parameters = with("");
    let published = G5Parameters::defaults();
    assert_eq!(parameters.cdma, published.cdma);
    assert_eq!(parameters.paxi, published.paxi);
    // 8 chips with 4,608 segments each on one of 18 x 25 GB/s x 0.82 of payload.
    let timeout = parameters.rc_link.unwrap().timeout;
    assert!(timeout > SimTime::from_ps(100_000_000), "{timeout}");
    let published_link = published.rc_link.map(|link| RcLink { timeout, ..link });
    assert_eq!(parameters.rc_link, published_link);
    assert_eq!(parameters.queue, published.queue);
    assert_eq!(parameters.rate_control, RateControl::Off);
    assert_eq!(parameters.paths, PathChoice::Preferred);
    // 3350 GB/s of memory, read and written.
    let copy = parameters.memory.copy.rate().get();
    assert!((copy - 1675.0).abs() < 1e-3, "{copy}");
    assert_eq!(parameters.memory.reduce, ByteTime::ZERO);
}

#[test]
fn protocols_differ_in_completion_and_share() {
    let of = |g5: &str, protocol| {
        let text = preset("h100-x8").unwrap().to_toml() + "\n" + g5;
        let topology = SystemSpec::from_toml(&text).unwrap().resolve().unwrap();
        G5Parameters::of_protocol(&topology, protocol)
    };
    let given = "[g5.ll]\nsync = \"0.1 us\"\n[g5.ll128]\nshare = 0.9\n";
    assert_eq!(of("", Protocol::Ll), None);
    let (simple, whole) = of(given, Protocol::Simple).unwrap();
    assert_eq!((simple.clone(), whole), (with(given), Efficiency::FULL));
    let (ll, share) = of(given, Protocol::Ll).unwrap();
    assert_eq!(ll.cdma.sync, SimTime::from_ps(100_000));
    assert!((share.get() - 0.5).abs() < 1e-12, "{share:?}");
    let (ll128, share) = of(given, Protocol::Ll128).unwrap();
    assert_eq!(ll128.cdma.sync, simple.cdma.sync);
    assert!((share.get() - 0.9).abs() < 1e-12);
}

#[test]
fn a_layer_is_turned_off() {
    let ideal = G5Parameters::ideal();
    let off = with("[g5]\nenabled = false\n[g5.cdma]\nunits = 3\n");
    assert_eq!(
        off,
        G5Parameters {
            software: off.software,
            ..ideal.clone()
        }
    );
    assert!(off.software > SimTime::ZERO);
    assert_eq!(
        with("[g5.cdma]\nenabled = false\nunits = 3\n").cdma,
        ideal.cdma
    );
    assert_eq!(with("[g5.memory]\nenabled = false\n").memory, ideal.memory);
    assert_eq!(with("[g5.paxi]\nenabled = false\n").paxi, None);
    assert_eq!(with("[g5.rc_link]\nenabled = false\n").rc_link, None);
    let boundless = with("[g5.rc_link]\ncredits = { enabled = false }\n");
    assert_eq!(boundless.rc_link.unwrap().credits, None);
    assert_eq!(with("[g5.switch]\nenabled = false\n").queue, ideal.queue);
    assert_eq!(
        with("[g5.switch]\npfc = { enabled = false }\n").queue.pfc,
        None
    );
    let no_control = with("[g5.dcqcn]\nenabled = false\npreset = \"simai\"\n");
    assert_eq!(no_control.rate_control, RateControl::Off);
}

#[test]
fn what_is_given_replaces_the_prior() {
    let given = with(
        "[g5.cdma]\nunits = 4\nsplit = \"all\"\nsync = \"0.1us\"\nrate = \"400GB/s\"\n\
         [g5.paxi]\nsegment = \"4 KiB\"\noutstanding = 64\n\
         [g5.rc_link]\nack_merge = \"never\"\noverhead = \"62 B\"\nloss = 0.001\n\
         credits = { count = 1024 }\n\
         [g5.switch]\nbuffer = \"16 MiB\"\n[g5.paths]\nchoice = \"spray\"\n\
         [g5.dcqcn]\npreset = \"sigcomm15\"\nadditive = \"80 Mb/s\"\nbyte_counter = \"none\"\n",
    );
    assert_eq!(given.check(), Ok(()));
    assert_eq!((given.cdma.units, given.cdma.split), (4, CdmaSplit::All));
    assert_eq!(given.cdma.sync, SimTime::from_ps(100_000));
    assert_eq!(given.cdma.start, Cdma::defaults(GbPerSec::new(1.0)).start);
    let paxi = given.paxi.unwrap();
    assert_eq!((paxi.segment, paxi.outstanding), (4096, 64));
    let link = given.rc_link.unwrap();
    assert_eq!((link.ack, link.overhead), (AckMerge::Never, 62));
    assert_eq!(link.credits.unwrap().count, 1024);
    assert_eq!(
        link.recovery,
        Recovery::Selective { reorder: REORDER },
        "sprayed packets overtake each other"
    );
    assert_eq!(given.queue.buffer, Some(16 << 20));
    assert!(given.queue.ecn.is_some(), "DCQCN lives on marks");
    let RateControl::Dcqcn(dcqcn) = given.rate_control else {
        panic!("no rate control");
    };
    assert!((dcqcn.additive - 1e7).abs() < 1e-3);
    assert_eq!(dcqcn.byte_counter, None);
    assert_eq!(dcqcn.timer, Dcqcn::sigcomm15().timer);
}

#[test]
fn a_chip_with_several_nics_uses_them_all() {
    let two_each = preset("h100-x8-efa").unwrap().to_toml();
    let two_each = two_each.replace("nics = 8", "nics = 16");
    let topology = Topology::from_toml(&two_each).unwrap();
    assert_eq!(topology.nics().len(), 32);
    assert_eq!(G5Parameters::of(&topology).paths, PathChoice::RoundRobin);
}
