//! Messages on a network of fluids, without chips: a script says when each is injected.

mod whole;

use tier6_des::Agenda;
use tier6_system::{ChipId, FabricSpec, LinkId, SystemSpec, Topology};
use tier6_units::{ByteTime, GbPerSec, Micros, SimTime};

use super::{FlowEvent, FlowNetwork};
use crate::network::{Context, Message, MessageId, Network, Notice, PathId};
use crate::{Fabric, Fault, G5Parameters, PathRequest};

/// 20 ps per byte.
const RATE: GbPerSec = GbPerSec::new(50.0);
const LATENCY: u64 = 500_000;

#[derive(Debug, Clone, Copy)]
struct Send {
    at: u64,
    from: u32,
    to: u32,
    bytes: u64,
    /// Picoseconds per byte.
    pace: Option<f64>,
}

fn send(at: u64, from: u32, to: u32, bytes: u64) -> Send {
    Send {
        at,
        from,
        to,
        bytes,
        pace: None,
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Inject(u32),
    Flow(FlowEvent),
}

impl From<FlowEvent> for Event {
    fn from(event: FlowEvent) -> Self {
        Self::Flow(event)
    }
}

fn topology(n_chips: u32, fabric: FabricSpec) -> Topology {
    let spec = SystemSpec::uniform(n_chips, fabric, RATE, Micros::new(0.5));
    spec.resolve().unwrap()
}

fn ring(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::ring())
}

fn star(n_chips: u32) -> Topology {
    topology(n_chips, FabricSpec::star())
}

/// What a script ends with.
struct Outcome {
    /// When each message had left, and arrived, in picoseconds; `None` for never.
    sent: Vec<Option<u64>>,
    arrived: Vec<Option<u64>>,
    order: Vec<Notice>,
    network: FlowNetwork,
}

fn run(topology: &Topology, faults: &[Fault], script: &[Send]) -> Outcome {
    let mut fabric = Fabric::new(topology, &G5Parameters::ideal(), faults, 0).unwrap();
    let paths = lay(&mut fabric, script);
    run_on(&fabric, &paths, script)
}

fn lay(fabric: &mut Fabric<'_>, script: &[Send]) -> Vec<PathId> {
    let path = |send: &Send| {
        let (from, to) = (ChipId::new(send.from), ChipId::new(send.to));
        fabric.lay(PathRequest::Send { from, to, flow: 0 }).unwrap()
    };
    script.iter().map(path).collect()
}

fn run_on(fabric: &Fabric<'_>, paths: &[PathId], script: &[Send]) -> Outcome {
    let mut agenda: Agenda<Event> = Agenda::new();
    for (number, send) in (0..).zip(script) {
        agenda.at(SimTime::from_ps(send.at), Event::Inject(number));
    }
    let mut outcome = Outcome {
        sent: vec![None; script.len()],
        arrived: vec![None; script.len()],
        order: Vec::new(),
        network: FlowNetwork::new(),
    };
    let mut notices = Vec::new();
    outcome.network.start(&mut Context {
        fabric,
        agenda: &mut agenda,
        notices: &mut notices,
        timeline: None,
    });
    while let Some((now, event)) = agenda.pop() {
        let mut context = Context {
            fabric,
            agenda: &mut agenda,
            notices: &mut notices,
            timeline: None,
        };
        match event {
            Event::Inject(number) => {
                let send = script[number as usize];
                let pace = send
                    .pace
                    .map_or(ByteTime::ZERO, |ps| ByteTime::at(GbPerSec::new(1e3 / ps)));
                let message = Message {
                    id: MessageId(number),
                    path: paths[number as usize],
                    bytes: send.bytes,
                    pace,
                };
                outcome.network.inject(message, now, &mut context);
            }
            Event::Flow(event) => outcome.network.handle(event, now, &mut context),
        }
        for notice in notices.drain(..) {
            outcome.order.push(notice);
            let (list, id) = match notice {
                Notice::Sent(id) => (&mut outcome.sent, id),
                Notice::Arrived(id) => (&mut outcome.arrived, id),
                other => panic!("{other:?}"),
            };
            assert_eq!(list[id.0 as usize].replace(now.ps()), None);
        }
    }
    outcome
}

fn sent(topology: &Topology, script: &[Send]) -> Vec<u64> {
    let outcome = run(topology, &[], script);
    outcome.network.audit().unwrap();
    let hops = |send: &Send| {
        let route = topology.route(ChipId::new(send.from), ChipId::new(send.to));
        route.len() as u64
    };
    for (at, send) in script.iter().enumerate() {
        let latency = outcome.arrived[at].unwrap() - outcome.sent[at].unwrap();
        assert_eq!(latency, LATENCY * hops(send));
    }
    outcome.sent.into_iter().map(Option::unwrap).collect()
}

#[test]
fn a_message_alone_takes_its_bytes() {
    assert_eq!(sent(&ring(4), &[send(7, 0, 1, 1 << 30)]), [7 + (20 << 30)]);
    assert_eq!(sent(&ring(4), &[send(7, 0, 1, 0)]), [7]);
    let mut slow = send(0, 0, 1, 1000);
    slow.pace = Some(50.0);
    assert_eq!(sent(&star(4), &[slow]), [50_000]);
}

#[test]
fn two_messages_share_and_the_longer_one_speeds_up() {
    // Both at half rate for 40 us, then one alone for the other 1000 bytes.
    let script = [send(0, 0, 1, 1000), send(0, 0, 2, 2000)];
    assert_eq!(sent(&star(4), &script), [40_000, 60_000]);
    // The first has a head start of 500 bytes.
    let script = [send(0, 0, 1, 1000), send(10_000, 0, 2, 2000)];
    assert_eq!(sent(&star(4), &script), [30_000, 60_000]);
}

#[test]
fn directions_and_other_links_do_not_matter() {
    let script = [
        send(0, 0, 1, 1000),
        send(0, 1, 0, 1000),
        send(0, 2, 3, 1000),
    ];
    assert_eq!(sent(&star(4), &script), [20_000; 3]);
}

#[test]
fn an_incast_shares_the_last_link() {
    let script: Vec<Send> = (1..8).map(|from| send(0, from, 0, 1000)).collect();
    assert_eq!(sent(&star(8), &script), [140_000; 7]);
}

#[test]
fn what_ends_together_ends_in_the_order_of_injection() {
    let script: Vec<Send> = (1..8).rev().map(|from| send(0, from, 0, 1000)).collect();
    let order = run(&star(8), &[], &script).order;
    let expect = (0..7).map(|id| Notice::Sent(MessageId(id)));
    let expect = expect.chain((0..7).map(|id| Notice::Arrived(MessageId(id))));
    assert_eq!(order, expect.collect::<Vec<_>>());
}

#[test]
fn a_message_that_comes_as_another_ends_has_the_link_for_itself() {
    let script = [send(0, 0, 1, 1000), send(20_000, 0, 1, 1000)];
    assert_eq!(sent(&ring(4), &script), [20_000, 40_000]);
}

#[test]
fn paced_messages_leave_room() {
    let mut slow = send(0, 0, 1, 1000);
    slow.pace = Some(80.0);
    // A quarter of the rate for the slow one, three quarters for the other.
    assert_eq!(sent(&star(4), &[slow, send(0, 0, 2, 3000)]), [80_000; 2]);
}

#[test]
fn a_ring_carries_what_goes_further() {
    // 0 to 2 crosses both links that the others use.
    let script = [
        send(0, 0, 2, 1000),
        send(0, 0, 1, 1000),
        send(0, 1, 2, 1000),
    ];
    assert_eq!(sent(&ring(5), &script), [40_000; 3]);
}

#[test]
fn a_slow_link_is_slow() {
    let topology = ring(4);
    let link = topology.route(ChipId::new(0), ChipId::new(1))[0];
    let fault = Fault::SlowLink { link, share: 0.25 };
    let outcome = run(&topology, &[fault], &[send(0, 0, 1, 1000)]);
    assert_eq!(outcome.sent, [Some(80_000)]);
}

#[test]
fn a_failed_link_stops_what_is_on_it_and_says_so() {
    let topology = star(4);
    let link = topology.route(ChipId::new(0), ChipId::new(1))[1];
    let at = SimTime::from_ps(10_000);
    let script = [
        send(0, 0, 1, 1000),
        send(0, 2, 3, 1000),
        send(20_000, 0, 1, 0),
        send(20_000, 0, 3, 1000),
    ];
    let outcome = run(&topology, &[Fault::FailedLink { link, at }], &script);
    assert_eq!(outcome.sent[0], None);
    assert_eq!(outcome.sent[1], Some(20_000));
    assert_eq!(outcome.sent[2], None);
    assert_eq!(outcome.sent[3], Some(40_000));
    let fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
    let waits = outcome.network.waits(&fabric);
    assert_eq!(waits.len(), 2);
    assert!(waits[0].for_whom.ends_with("to chip 1"), "{waits:?}");
    assert!(outcome.network.audit().is_err());
}

#[test]
fn links_account_for_what_they_carried() {
    let topology = star(4);
    let script = [send(0, 0, 1, 1000), send(0, 0, 2, 500)];
    let outcome = run(&topology, &[], &script);
    let fabric = {
        let mut fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
        for to in [1, 2] {
            let (from, to) = (ChipId::new(0), ChipId::new(to));
            fabric.lay(PathRequest::Send { from, to, flow: 0 }).unwrap();
        }
        fabric
    };
    let accounts = outcome.network.accounts(&fabric);
    let of = |link: LinkId| accounts.iter().find(|(id, _)| *id == link).unwrap().1;
    let up = of(topology.route(ChipId::new(0), ChipId::new(1))[0]);
    assert_eq!((up.payload_bytes, up.wire_bytes), (1500, 1500));
    assert_eq!(up.busy, SimTime::from_ps(30_000));
    let down = of(topology.route(ChipId::new(0), ChipId::new(2))[1]);
    assert_eq!(down.payload_bytes, 500);
}
