//! Runs that do not end by themselves say why, and who waits for whom.

use tier6_collective::{
    Algorithm, BuildOptions, Collective, Follow, Grain, GroupId, Handshake, Op, PortId, RankId,
    Route, Transfer, TransferId,
};
use tier6_system::{LinkId, Vertex};
use tier6_units::{Bytes, SimTime};

use super::{fat_tree, ring, schedule, simulate};
use crate::{
    Dependency, Fault, G5Parameters, Lowered, Needs, Program, RunError, RunOptions, RunStop,
    SetupError, StopReason,
};

/// Each rank sends to the next; transfer r waits for transfer r - 1, or for nothing when `open`.
struct Circle {
    ranks: u32,
    open: bool,
}

impl Program for Circle {
    fn ranks(&self) -> u32 {
        self.ranks
    }
    fn transfers(&self) -> u32 {
        self.ranks
    }
    fn grain(&self) -> Grain {
        Grain::Message
    }
    fn handshake(&self) -> Handshake {
        Handshake::Eager
    }
    fn ports(&self) -> u32 {
        1
    }
    fn transfer(&self, id: TransferId) -> Transfer {
        Transfer {
            bytes: 100,
            route: Route::Send {
                src: RankId(id.0),
                dst: RankId((id.0 + 1) % self.ranks),
            },
            op: Op::Copy,
            port: Some(PortId(0)),
        }
    }
    fn group(&self, _: GroupId) -> &[RankId] {
        &[]
    }
    fn needs(&self, id: TransferId) -> Needs {
        Needs {
            whole: u32::from(!self.open || id.0 > 0),
            by_slice: 0,
        }
    }
    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>) {
        if self.needs(id).whole > 0 {
            into.push(Dependency {
                transfer: TransferId((id.0 + self.ranks - 1) % self.ranks),
                follows: Follow::Complete,
            });
        }
    }
    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>) {
        let transfer = TransferId((id.0 + 1) % self.ranks);
        if self.needs(transfer).whole > 0 {
            into.push(Dependency {
                transfer,
                follows: Follow::Complete,
            });
        }
    }
    fn first(&self, rank: RankId, _: u32) -> Option<TransferId> {
        Some(TransferId(rank.0))
    }
    fn next(&self, _: TransferId) -> Option<TransferId> {
        None
    }
    fn loose_starts(&self, _: &mut Vec<TransferId>) {}
}

fn stop(program: &dyn Program, options: &RunOptions) -> RunStop {
    match simulate(program, &ring(4), &G5Parameters::ideal(), options) {
        Err(RunError::Stop(stop)) => *stop,
        other => panic!("it should stop: {other:?}"),
    }
}

#[test]
fn a_deadlock_is_told_as_a_circle() {
    let circle = Circle {
        ranks: 4,
        open: false,
    };
    let stop = stop(&circle, &RunOptions::new());
    assert_eq!(stop.reason, StopReason::Deadlock);
    assert_eq!((stop.done, stop.transfers), (0, 4));
    assert_eq!(stop.waits.len(), 4);
    for (wait, next) in stop.waits.iter().zip(stop.waits.iter().cycle().skip(1)) {
        assert_eq!(wait.for_whom, next.who);
    }
    assert_eq!(
        stop.to_string(),
        "deadlock at 0.000000 us, 0 of 4 transfers done"
    );
    let open = Circle {
        ranks: 4,
        open: true,
    };
    let options = RunOptions::new();
    assert!(simulate(&open, &ring(4), &G5Parameters::ideal(), &options).is_ok());
}

#[test]
fn what_hangs_on_a_failed_link_is_told_with_its_name() {
    let program = Lowered::new(&schedule(
        Collective::AllReduce,
        Algorithm::Ring,
        &BuildOptions::new(4, Bytes::new(1 << 20)),
    ));
    let options = RunOptions {
        faults: vec![Fault::FailedLink {
            link: LinkId::new(0),
            at: SimTime::from_ps(6_000_000),
        }],
        ..RunOptions::new()
    };
    let stop = stop(&program, &options);
    assert_eq!(stop.reason, StopReason::Stalled);
    assert!(stop.done > 0 && stop.done < stop.transfers);
    let on_link = &stop.waits[0];
    assert!(on_link.why.contains("failed"), "{on_link:?}");
    assert!(on_link.who.starts_with("rank 0 (transfer"), "{on_link:?}");
    assert_eq!(on_link.for_whom, "link chip 0 to chip 1");
    // Who waits for that transfer is told under the same name.
    assert!(stop.waits.iter().any(|wait| wait.for_whom == on_link.who));
    // It is not told again that it is under way.
    let mut under_way = stop.waits.iter().filter(|wait| wait.why == "is under way");
    assert!(under_way.all(|wait| wait.who != on_link.who));
}

#[test]
fn limits_end_a_run() {
    let program = Lowered::new(&schedule(
        Collective::AllReduce,
        Algorithm::Ring,
        &BuildOptions::new(4, Bytes::new(1 << 20)),
    ));
    let mut options = RunOptions::new();
    options.limits.events = 7;
    assert_eq!(stop(&program, &options).reason, StopReason::Events(7));
    let mut options = RunOptions::new();
    options.limits.time = SimTime::from_ps(10_000_000);
    let stop = stop(&program, &options);
    assert_eq!(stop.reason, StopReason::Time(options.limits.time));
    assert!(stop.at <= options.limits.time);
    assert!(!stop.waits.is_empty());
}

#[test]
fn what_cannot_begin_is_refused() {
    let circle = Circle {
        ranks: 4,
        open: true,
    };
    let options = RunOptions {
        faults: vec![Fault::LateRank {
            rank: 4,
            by: SimTime::ZERO,
        }],
        ..RunOptions::new()
    };
    let refused = simulate(&circle, &ring(4), &G5Parameters::ideal(), &options);
    let expected = RunError::Setup(SetupError::LateRank { rank: 4, ranks: 4 });
    assert_eq!(refused, Err(expected));
    let refused = simulate(
        &circle,
        &ring(3),
        &G5Parameters::ideal(),
        &RunOptions::new(),
    );
    assert!(matches!(refused, Err(RunError::Setup(SetupError::Path(_)))));
}

/// What is down from the start is routed around where there is an equal route; what fails later is
/// not, and neither is the only link.
#[test]
fn a_link_that_is_down_from_the_start_is_routed_around() {
    let topology = fat_tree(8, 2);
    let options = BuildOptions::new(8, Bytes::new(8 << 20));
    let exchange = schedule(Collective::AllToAll, Algorithm::Pairwise, &options);
    let program = Lowered::new(&exchange);
    let time = |link: LinkId, at: SimTime| {
        let options = RunOptions {
            faults: vec![Fault::FailedLink { link, at }],
            ..RunOptions::new()
        };
        let result = simulate(&program, &topology, &G5Parameters::ideal(), &options);
        result.map(|result| result.hardware)
    };
    let sound = simulate(
        &program,
        &topology,
        &G5Parameters::ideal(),
        &RunOptions::new(),
    );
    let sound = sound.unwrap().hardware;
    let is_chip = |vertex| matches!(topology.vertices()[vertex], Vertex::Chip(_));
    let links = || (0..).map(LinkId::new).zip(topology.links());
    let up = links().find(|(_, link)| !is_chip(link.from.index()) && !is_chip(link.to.index()));
    let (up, _) = up.unwrap();
    let around = time(up, SimTime::ZERO).unwrap();
    assert!(around > sound, "{around} against {sound}");
    let stop = |result: Result<SimTime, RunError>| match result {
        Err(RunError::Stop(stop)) => stop.reason,
        other => panic!("{other:?}"),
    };
    let later = time(up, SimTime::from_ps(1));
    assert_eq!(stop(later), StopReason::Stalled);
    let (only, _) = links()
        .find(|(_, link)| is_chip(link.from.index()))
        .unwrap();
    assert_eq!(stop(time(only, SimTime::ZERO)), StopReason::Stalled);
}
