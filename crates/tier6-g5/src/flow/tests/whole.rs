//! Scripts drawn at random: pieces solved one by one against the whole solved at every change.

use proptest::prelude::*;
use tier6_system::{ChipId, FabricSpec, LinkId, Topology};
use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::super::max_min::MaxMin;
use super::{Send, lay, ring, run, run_on, star, topology};
use crate::network::{Network, PathId};
use crate::{Fabric, Fault, G5Parameters, PathChoice};

/// The whole network solved at every arrival and end, in plain floating point.
fn reference(fabric: &Fabric<'_>, paths: &[PathId], script: &[Send]) -> Vec<f64> {
    struct Live {
        left: f64,
        number: usize,
    }
    let mut arrivals: Vec<usize> = (0..script.len()).collect();
    arrivals.sort_by_key(|at| std::cmp::Reverse(script[*at].at));
    let (mut live, mut now): (Vec<Live>, f64) = (Vec::new(), 0.0);
    let mut ends = vec![0.0; script.len()];
    let mut solver = MaxMin::default();
    loop {
        solver.clear();
        for link in fabric.links() {
            solver.add_link(link.payload.rate().get() * 1e-3);
        }
        for flow in &live {
            for one in fabric.path(paths[flow.number]).uses {
                solver.add_use(one.link.0, one.weight);
            }
            let pace = script[flow.number].pace;
            solver.add_flow(pace.map_or(f64::INFINITY, |pace| 1.0 / pace));
        }
        let rates = solver.solve().to_vec();
        let times = live.iter().zip(&rates).map(|(flow, rate)| flow.left / rate);
        let next_end = now + times.fold(f64::INFINITY, f64::min);
        let next_start = arrivals.last();
        let next_start = next_start.map_or(f64::INFINITY, |at| script[*at].at as f64);
        let next = next_end.min(next_start);
        if next.is_infinite() {
            return ends;
        }
        for (flow, rate) in live.iter_mut().zip(&rates) {
            flow.left -= rate * (next - now);
        }
        now = next;
        live.retain(|flow| {
            let ended = flow.left < 1e-6;
            if ended {
                ends[flow.number] = now;
            }
            !ended
        });
        while let Some(at) = arrivals.pop_if(|at| script[*at].at as f64 <= now) {
            live.push(Live {
                left: script[at].bytes as f64,
                number: at,
            });
        }
    }
}

fn scripts() -> impl Strategy<Value = Vec<Send>> {
    let bytes = prop_oneof![1..5000_u64, Just(1000), Just(2000)];
    let at = prop_oneof![0..100_000_u64, Just(0), Just(20_000)];
    let pace = prop_oneof![3 => Just(None), 1 => (10.0..200.0).prop_map(Some)];
    let one = (at, 0..6_u32, 1..6_u32, bytes, pace);
    let one = one.prop_map(|(at, from, shift, bytes, pace)| Send {
        at,
        from,
        to: (from + shift) % 6,
        bytes,
        pace,
    });
    prop::collection::vec(one, 1..80)
}

/// Three leaves of two chips under two spines, and every path over both.
fn sprayed_tree() -> (Topology, G5Parameters) {
    let tree = FabricSpec::fat_tree(2, 2);
    let mut parameters = G5Parameters::ideal();
    parameters.paths = PathChoice::Spray;
    (topology(6, tree), parameters)
}

/// A star whose chips have engines that are slower than their links.
fn star_of_slow_engines() -> (Topology, G5Parameters) {
    let mut parameters = G5Parameters::ideal();
    parameters.cdma.rate = Some(ByteTime::at(GbPerSec::new(37.0)));
    (star(6), parameters)
}

proptest! {
    #[test]
    fn pieces_solved_one_by_one_equal_the_whole(script in scripts()) {
        let systems: [fn() -> (Topology, G5Parameters); 4] = [
            || (ring(6), G5Parameters::ideal()),
            || (star(6), G5Parameters::ideal()),
            sprayed_tree,
            star_of_slow_engines,
        ];
        for system in systems {
            let (topology, parameters) = system();
            let mut fabric = Fabric::new(&topology, &parameters, &[], 0).unwrap();
            let paths = lay(&mut fabric, &script);
            let outcome = run_on(&fabric, &paths, &script);
            prop_assert_eq!(outcome.network.audit(), Ok(()));
            let whole = reference(&fabric, &paths, &script);
            for (sent, whole) in outcome.sent.iter().zip(&whole) {
                let sent = sent.expect("everything ends") as f64;
                // Each change rounds an end to a picosecond.
                prop_assert!((sent - whole).abs() < 80.0, "{sent} {whole}");
            }
        }
    }

    #[test]
    fn messages_end_unless_a_link_of_theirs_fails(
        script in scripts(),
        link in 0..12_u32,
        at in 0..100_000_u64,
    ) {
        let topology = star(6);
        let (link, at) = (LinkId::new(link), SimTime::from_ps(at));
        let faults = [Fault::FailedLink { link, at }];
        let outcome = run(&topology, &faults, &script);
        for (send, sent) in script.iter().zip(&outcome.sent) {
            let route = topology.route(ChipId::new(send.from), ChipId::new(send.to));
            prop_assert!(sent.is_some() || route.contains(&link));
            if send.at > at.ps() && route.contains(&link) {
                prop_assert_eq!(*sent, None);
            }
        }
        let ended = outcome.sent.iter().flatten().count();
        prop_assert_eq!(outcome.network.audit().is_ok(), ended == script.len());
    }
}
