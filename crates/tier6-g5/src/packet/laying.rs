//! Paths of the fabric as hops, and how a message goes over several of them.

use tier6_des::Random;
use tier6_system::{LinkId, VertexId};
use tier6_units::{ByteTime, GbPerSec, SimTime};

use super::lines::Lines;
use super::route::{HopPlan, Route};
use crate::network::{Message, PathId};
use crate::paxi::Segments;
use crate::{Class, Fabric, LinkOf, Path, PathChoice, TreePath};

/// What takes a path.
#[derive(Debug)]
pub(super) struct Ways {
    routes: Vec<Route>,
    /// Which of several routes is next to get what does not divide evenly.
    turn: usize,
    /// Draws a route for every packet, where packets are sprayed.
    spray: Option<Random>,
}

impl Ways {
    pub(super) fn lay(
        fabric: &Fabric<'_>,
        path: PathId,
        choice: PathChoice,
        lines: &mut Lines,
    ) -> Self {
        let number = path.0;
        let path = fabric.path(path);
        let routes = if let Some(tree) = path.tree() {
            vec![lines.lay(Class::Multicast, &tree_plan(fabric, &path, tree))]
        } else {
            let numbers = 0..path.n_routes();
            let plans = numbers.map(|number| route_plan(fabric, &path, path.route(number)));
            plans.map(|plan| lines.lay(Class::Request, &plan)).collect()
        };
        let mut routes: Vec<Route> = routes;
        if lines.answers_take_bytes() && path.tree().is_none() {
            for (number, route) in routes.iter_mut().enumerate() {
                let plan = back_plan(fabric, path.route(number));
                let lay = |plan: Vec<HopPlan>| lines.lay(Class::Response, &plan).sources[0];
                route.way_back = plan.map(lay);
            }
        }
        let spray = Random::stream(fabric.seed(), number.into());
        Self {
            routes,
            turn: 0,
            spray: (choice == PathChoice::Spray).then_some(spray),
        }
    }

    /// Sends a message over the routes: each has its share of the packets, and the chip hands them
    /// out in turn.
    pub(super) fn send(&mut self, message: Message, now: SimTime, lines: &mut Lines) {
        if let [route] = &self.routes[..] {
            return lines.inject(message, &[(route, message.bytes)], now);
        }
        let segment = lines.segment();
        let shares = self.shares(Segments::of(message.bytes, segment).count());
        let mut left = message.bytes;
        let mut parts = Vec::new();
        for (route, share) in self.routes.iter().zip(shares) {
            if share > 0 {
                let bytes = left.min(share * segment);
                left -= bytes;
                parts.push((route, bytes));
            }
        }
        lines.inject(message, &parts, now);
    }

    /// Returns how many of so many packets each route gets: as chance has it when they are
    /// sprayed, else as evenly as they divide.
    fn shares(&mut self, packets: u64) -> Vec<u64> {
        let n = self.routes.len();
        let index = |at: u64| usize::try_from(at).expect("Invariant: below a length");
        if let Some(luck) = &mut self.spray {
            let mut shares = vec![0; n];
            for _ in 0..packets {
                shares[index(luck.below(n as u64))] += 1;
            }
            return shares;
        }
        let mut shares = vec![packets / n as u64; n];
        let rest = index(packets % n as u64);
        for at in 0..rest {
            shares[(self.turn + at) % n] += 1;
        }
        self.turn = (self.turn + rest) % n;
        shares
    }
}

/// The engines of the sender, if they have a rate, then the links.
fn route_plan(fabric: &Fabric<'_>, path: &Path<'_>, route: &[LinkId]) -> Vec<HopPlan> {
    let engines = path.uses.iter().map(|one| one.link.0);
    let engines =
        engines.filter(|link| matches!(fabric.links()[*link as usize].of, LinkOf::Engines(_)));
    let servers = engines.take(1).chain(route.iter().map(|link| link.get()));
    let plan = |(at, server): (usize, u32)| HopPlan {
        server,
        byte: fabric.links()[server as usize].frame,
        fed_by: at.checked_sub(1).into_iter().collect(),
    };
    servers.enumerate().map(plan).collect()
}

/// The cables of a route the other way round; nothing when one of them has no other way.
fn back_plan(fabric: &Fabric<'_>, route: &[LinkId]) -> Option<Vec<HopPlan>> {
    let links = route.iter().rev().enumerate();
    links
        .map(|(at, link)| {
            let server = fabric.topology().link(*link).reverse?.get();
            Some(HopPlan {
                server,
                byte: fabric.links()[server as usize].frame,
                fed_by: at.checked_sub(1).into_iter().collect(),
            })
        })
        .collect()
}

/// A tree: up to the root, added where ways meet; down from it, copied where they part.
fn tree_plan(fabric: &Fabric<'_>, path: &Path<'_>, tree: &TreePath) -> Vec<HopPlan> {
    let topology = fabric.topology();
    let engines_of = |vertex: VertexId| {
        path.uses.iter().find(|one| match fabric.link(one.link).of {
            LinkOf::Engines(chip) => topology.chip_vertex(chip) == vertex,
            LinkOf::Wire(_) => false,
        })
    };
    let mut plan: Vec<HopPlan> = Vec::new();
    // The vertex to which each hop leads.
    let mut ends: Vec<VertexId> = Vec::new();
    for link in tree.up.iter().chain(&tree.down) {
        let wire = topology.link(*link);
        let fed_by = |ends: &[VertexId]| {
            let feeds = (0..ends.len()).filter(|at| ends[*at] == wire.from);
            feeds.collect::<Vec<_>>()
        };
        let mut feeders = fed_by(&ends);
        if feeders.is_empty()
            && let Some(engines) = engines_of(wire.from)
        {
            plan.push(hop(fabric, path, engines.link.0, Vec::new()));
            ends.push(wire.from);
            feeders = fed_by(&ends);
        }
        plan.push(hop(fabric, path, link.get(), feeders));
        ends.push(wire.to);
    }
    // Who only receives does so with its engines.
    for (at, end) in ends.into_iter().enumerate() {
        let is_used = |engines: u32| plan.iter().any(|hop| hop.server == engines);
        let is_end = !plan.iter().any(|hop| hop.fed_by.contains(&at));
        if let Some(engines) = engines_of(end).filter(|one| is_end && !is_used(one.link.0)) {
            plan.push(hop(fabric, path, engines.link.0, vec![at]));
        }
    }
    plan
}

fn hop(fabric: &Fabric<'_>, path: &Path<'_>, server: u32, fed_by: Vec<usize>) -> HopPlan {
    let weight = path.uses.iter().find(|one| one.link.0 == server);
    let frame = fabric.links()[server as usize].frame;
    HopPlan {
        server,
        byte: slower(frame, weight.map_or(1.0, |one| one.weight)),
        fed_by,
    }
}

/// What a byte takes on a link that is occupied `weight` times as long by it.
fn slower(byte: ByteTime, weight: f64) -> ByteTime {
    if weight > 1.0 && byte != ByteTime::ZERO {
        ByteTime::at(GbPerSec::new(byte.rate().get() / weight))
    } else {
        byte
    }
}
