#![expect(clippy::float_cmp, reason = "halves and quarters are exact")]

use tier6_system::{ChipId, Constant, FabricSpec, LinkId, SystemSpec, Topology, preset};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

use super::{Fabric, FabricError, FabricLinkId, LinkOf, PathRequest};
use crate::network::PathId;
use crate::{Cdma, Fault, G5Parameters, PathChoice, Paxi, RcLink};

const CHIP_0: ChipId = ChipId::new(0);
const CHIP_1: ChipId = ChipId::new(1);
const CHIP_2: ChipId = ChipId::new(2);

fn ring(n_chips: u32) -> Topology {
    let fabric = FabricSpec::ring();
    let spec = SystemSpec::uniform(n_chips, fabric, GbPerSec::new(50.0), Micros::new(0.5));
    spec.resolve().unwrap()
}

fn crossbar(n_chips: u32) -> Topology {
    let fabric = FabricSpec::star();
    let spec = SystemSpec::uniform(n_chips, fabric, GbPerSec::new(50.0), Micros::new(0.5));
    spec.resolve().unwrap()
}

/// Two leaves of two chips each, under two spines.
fn fat_tree() -> Topology {
    let fabric = FabricSpec::fat_tree(2, 2);
    let mut spec = SystemSpec::uniform(4, fabric, GbPerSec::new(50.0), Micros::new(0.5));
    spec.switches[0].latency = Constant::stated(Micros::new(0.1));
    spec.resolve().unwrap()
}

fn framed() -> G5Parameters {
    let mut parameters = G5Parameters::ideal();
    parameters.paxi = Some(Paxi {
        latency: SimTime::from_ps(150_000),
        segment: 1344,
        ..Paxi::defaults(1)
    });
    parameters.rc_link = Some(RcLink {
        overhead: 58,
        ..RcLink::defaults()
    });
    parameters
}

fn lay(fabric: &mut Fabric<'_>, from: ChipId, to: ChipId, flow: u32) -> PathId {
    fabric.lay(PathRequest::Send { from, to, flow }).unwrap()
}

#[test]
fn a_path_has_the_latency_and_the_rate_of_its_links() {
    let topology = fat_tree();
    let mut fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    let near = lay(&mut fabric, CHIP_0, CHIP_1, 0);
    assert_eq!(
        fabric.latency(near),
        SimTime::from_ps(2 * 500_000 + 100_000)
    );
    let far = lay(&mut fabric, CHIP_0, CHIP_2, 0);
    assert_eq!(
        fabric.latency(far),
        SimTime::from_ps(4 * 500_000 + 3 * 100_000)
    );
    assert_eq!(
        fabric.byte_time(far).of_bytes(1 << 30),
        SimTime::from_ps(20 << 30)
    );
    assert_eq!(fabric.path(far).route(0), topology.route(CHIP_0, CHIP_2));
    assert_eq!(lay(&mut fabric, CHIP_0, CHIP_1, 0), near);
    assert_eq!(fabric.n_paths(), 2);
}

#[test]
fn flows_of_a_pair_take_the_routes_in_turn() {
    let topology = fat_tree();
    let mut fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    let paths = [0, 1, 2].map(|flow| lay(&mut fabric, CHIP_0, CHIP_2, flow));
    let routes = paths.map(|path| fabric.path(path).route(0).to_vec());
    assert_ne!(routes[0], routes[1]);
    assert_eq!(routes[0], routes[2]);
}

#[test]
fn the_seed_chooses_among_equal_routes() {
    let topology = fat_tree();
    let mut parameters = G5Parameters::ideal();
    parameters.paths = PathChoice::PerFlow;
    let route = |seed| {
        let mut fabric = Fabric::new(&topology, &parameters, &[], seed).unwrap();
        let path = lay(&mut fabric, CHIP_0, CHIP_2, 0);
        fabric.path(path).route(0).to_vec()
    };
    assert_eq!(route(1), route(1));
    let first_spine = (0..1000).filter(|seed| route(*seed) == route(0)).count();
    assert!((450..550).contains(&first_spine), "{first_spine} of 1000");
}

#[test]
fn a_sprayed_path_uses_its_routes_evenly() {
    let topology = fat_tree();
    let mut parameters = G5Parameters::ideal();
    parameters.paths = PathChoice::Spray;
    let mut fabric = Fabric::new(&topology, &parameters, &[], 0).unwrap();
    let path = lay(&mut fabric, CHIP_0, CHIP_2, 0);
    let path = fabric.path(path);
    assert_eq!(path.n_routes(), 2);
    let weight = |link: LinkId| {
        let one = path.uses.iter().find(|one| one.link == link.into());
        one.unwrap().weight
    };
    let route = path.route(1);
    assert_eq!(
        [0, 1, 2, 3].map(|hop| weight(route[hop])),
        [1.0, 0.5, 0.5, 1.0]
    );
    assert_eq!(path.uses.len(), 6);
}

#[test]
fn frames_cost_what_the_stated_share_does_not_cover() {
    let topology = ring(4);
    let plain = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    assert_eq!(
        plain.link(FabricLinkId(0)).payload,
        ByteTime::at(GbPerSec::new(50.0))
    );
    let framed = Fabric::new(&topology, &framed(), &[], 0).unwrap();
    let link = framed.link(FabricLinkId(0));
    assert!((link.frame.rate().get() - 50.0).abs() < 1e-8);
    assert!((link.payload.rate().get() - 50.0 * 1344.0 / 1402.0).abs() < 1e-8);

    // NVLink 4 states 0.82, which has room for the frames.
    let h100 = preset("h100-x8").unwrap().resolve().unwrap();
    let link = *Fabric::new(&h100, &self::framed(), &[], 0)
        .unwrap()
        .link(FabricLinkId(0));
    let stated = h100.link(LinkId::new(0)).payload_rate;
    assert!((link.payload.rate().get() - stated.get()).abs() < 1e-6);
    assert!(link.frame.rate() > stated);
}

#[test]
fn the_transaction_layer_adds_its_latency_to_a_path() {
    let topology = ring(4);
    let mut fabric = Fabric::new(&topology, &framed(), &[], 0).unwrap();
    let path = lay(&mut fabric, CHIP_0, CHIP_1, 0);
    assert_eq!(fabric.latency(path), SimTime::from_ps(650_000));
}

#[test]
fn engines_are_the_first_link_of_every_path() {
    let topology = ring(4);
    let mut parameters = G5Parameters::ideal();
    parameters.cdma = Cdma {
        rate: Some(ByteTime::at(GbPerSec::new(20.0))),
        ..parameters.cdma
    };
    let mut fabric = Fabric::new(&topology, &parameters, &[], 0).unwrap();
    let path = lay(&mut fabric, CHIP_1, CHIP_2, 0);
    let engines = fabric.path(path).uses[0].link;
    assert_eq!(fabric.link(engines).of, LinkOf::Engines(CHIP_1));
    assert_eq!(fabric.link_name(engines), "engines of chip 1");
    assert_eq!(
        fabric.byte_time(path).of_bytes(1000),
        SimTime::from_ps(50_000)
    );
    assert_eq!(fabric.path(path).route(0).len(), 1);
}

#[test]
fn faults_change_their_link_only() {
    let topology = ring(4);
    let link = LinkId::new(2);
    let at = SimTime::from_ps(5);
    let faults = [
        Fault::SlowLink { link, share: 0.5 },
        Fault::FailedLink { link, at },
        Fault::Loss {
            link: None,
            probability: 0.5,
        },
        Fault::Loss {
            link: Some(link),
            probability: 0.5,
        },
    ];
    let fabric = Fabric::new(&topology, &G5Parameters::ideal(), &faults, 0).unwrap();
    let (hurt, sound) = (fabric.link(link.into()), fabric.link(FabricLinkId(0)));
    assert_eq!(hurt.payload, ByteTime::at(GbPerSec::new(25.0)));
    assert_eq!((hurt.fails, sound.fails), (Some(at), None));
    assert_eq!([hurt.loss, sound.loss], [0.75, 0.5]);
}

#[test]
fn faults_that_fit_nothing_are_refused() {
    let topology = ring(4);
    let check = |fault, expect: &str| {
        let error = Fabric::new(&topology, &G5Parameters::ideal(), &[fault], 0).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    };
    let link = LinkId::new(99);
    check(Fault::SlowLink { link, share: 0.5 }, "no link 99");
    let link = LinkId::new(0);
    check(Fault::SlowLink { link, share: 0.0 }, "cannot carry 0");
    let probability = f64::NAN;
    let link = None;
    check(Fault::Loss { link, probability }, "no probability");
}

#[test]
fn a_multicast_goes_up_once_and_down_to_all() {
    let topology = fat_tree();
    let mut fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    let members: Vec<ChipId> = (0..4).map(ChipId::new).collect();
    let members = members.as_slice();
    let from = CHIP_2;
    let flow = 0;
    let store = fabric.lay(PathRequest::Multicast {
        from,
        members,
        flow,
    });
    let store = store.unwrap();
    let tree = fabric.path(store).tree().unwrap();
    // The root is the leaf of the first member.
    assert_eq!((tree.up.len(), tree.down.len()), (3, 6));
    for (at, link) in tree.down.iter().enumerate() {
        let start = topology.link(*link).from;
        let fed = |before: &LinkId| topology.link(*before).to == start;
        assert!(start == tree.root || tree.down[..at].iter().any(fed));
    }
    assert_eq!(fabric.path(store).uses.len(), 9);
    let to = CHIP_2;
    let read = fabric.lay(PathRequest::LoadReduce { members, to, flow });
    let tree = fabric.path(read.unwrap()).tree().unwrap();
    assert_eq!((tree.up.len(), tree.down.len()), (6, 3));
    for (at, link) in tree.up.iter().enumerate() {
        let end = topology.link(*link).to;
        let feeds = |next: &LinkId| topology.link(*next).from == end;
        assert!(end == tree.root || tree.up[at + 1..].iter().any(feeds));
    }
    let sum = fabric
        .lay(PathRequest::Aggregate { members, flow })
        .unwrap();
    assert_eq!(fabric.path(sum).uses.len(), 12);
    assert_eq!(
        fabric.latency(sum),
        SimTime::from_ps(2 * 3 * 500_000 + 5 * 100_000)
    );
}

#[test]
fn a_switch_serves_nvls_at_its_rate() {
    let topology = preset("h100-x8").unwrap().resolve().unwrap();
    let rate = topology.constants().nvls.as_ref().unwrap().rate.value;
    let mut fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    let members: Vec<ChipId> = (0..8).map(ChipId::new).collect();
    let members = members.as_slice();
    let (from, flow) = (CHIP_0, 0);
    let store = fabric.lay(PathRequest::Multicast {
        from,
        members,
        flow,
    });
    let reached = fabric.byte_time(store.unwrap()).rate().get();
    assert!((reached - rate.get()).abs() < 1e-6 * reached);
}

#[test]
fn paths_that_cannot_be_are_refused() {
    let ring = ring(4);
    let mut fabric = Fabric::new(&ring, &G5Parameters::ideal(), &[], 0).unwrap();
    let mut check = |request, expect: &FabricError| {
        assert_eq!(fabric.lay(request).unwrap_err(), *expect);
    };
    let nowhere = |from, to| FabricError::NoPath { from, to, chips: 4 };
    let flow = 0;
    let (from, to) = (CHIP_1, CHIP_1);
    check(PathRequest::Send { from, to, flow }, &nowhere(1, 1));
    let to = ChipId::new(9);
    check(PathRequest::Send { from, to, flow }, &nowhere(1, 9));
    let members = [CHIP_0, CHIP_1].as_slice();
    let no_switch = FabricError::NoSwitch {
        members: 2,
        first: 0,
    };
    check(PathRequest::Aggregate { members, flow }, &no_switch);

    let star = crossbar(4);
    let mut fabric = Fabric::new(&star, &G5Parameters::ideal(), &[], 0).unwrap();
    let stranger = fabric.lay(PathRequest::LoadReduce {
        members,
        to: CHIP_2,
        flow,
    });
    assert_eq!(stranger.unwrap_err(), FabricError::NotOfGroup(2));
}
