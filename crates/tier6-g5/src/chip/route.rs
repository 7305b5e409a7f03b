//! Where messages go: the paths of routes, which ranks remember, and how people read them.

use tier6_collective::{GroupId, RankId, Route};
use tier6_units::{ByteTime, SimTime};

use super::{Chips, Flight, Node, SeatId};
use crate::network::{Network, PathId};
use crate::run::World;
use crate::{FabricError, PathRequest, Span, Track};

/// What is known of a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathFacts {
    pub(super) path: PathId,
    pub(super) latency: SimTime,
    pub(super) byte_time: ByteTime,
}

/// What a path of a rank depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKey {
    Rank(RankId),
    Multicast(GroupId),
    LoadReduce(GroupId),
    Aggregate(GroupId),
}

impl Chips<'_> {
    /// Returns the path of a route, which its issuer remembers.
    pub(super) fn path<N: Network>(
        &mut self,
        job: u32,
        seat: u32,
        route: Route,
        world: &mut World<'_, '_, N>,
    ) -> Result<PathFacts, FabricError> {
        let key = match route {
            Route::Send { dst, .. } => PathKey::Rank(dst),
            Route::Multicast { group, .. } => PathKey::Multicast(group),
            Route::LoadReduce { group, .. } => PathKey::LoadReduce(group),
            Route::Aggregate { group } => PathKey::Aggregate(group),
        };
        if let Some((known, facts)) = self.seats[seat as usize].route
            && known == key
        {
            return Ok(facts);
        }
        let state = &self.jobs[job as usize];
        let chip = |rank: RankId| self.seats[(state.first_seat + rank.0) as usize].chip;
        let members = |group| -> Vec<_> {
            let ranks = state.program.group(group).iter();
            ranks.map(|&rank| chip(rank)).collect()
        };
        let flow = state.flow;
        let group = match route {
            Route::Send { .. } => Vec::new(),
            Route::Multicast { group, .. }
            | Route::LoadReduce { group, .. }
            | Route::Aggregate { group } => members(group),
        };
        let members = group.as_slice();
        let path = world.fabric.lay(match route {
            Route::Send { src, dst } => PathRequest::Send {
                from: chip(src),
                to: chip(dst),
                flow,
            },
            Route::Multicast { src, .. } => PathRequest::Multicast {
                from: chip(src),
                members,
                flow,
            },
            Route::LoadReduce { dst, .. } => PathRequest::LoadReduce {
                members,
                to: chip(dst),
                flow,
            },
            Route::Aggregate { .. } => PathRequest::Aggregate { members, flow },
        })?;
        let facts = PathFacts {
            path,
            latency: world.fabric.latency(path),
            byte_time: world.fabric.byte_time(path),
        };
        self.seats[seat as usize].route = Some((key, facts));
        Ok(facts)
    }

    /// Returns what a timeline shows of messages that were under way when a run stopped.
    pub(crate) fn unfinished(&self, now: SimTime) -> Vec<Span> {
        let flights = self.flights.used().into_iter();
        let spans = flights.map(|id| {
            let span = self.span(&self.flights[id], now);
            Span {
                name: format!("unfinished: {}", span.name),
                ..span
            }
        });
        spans.collect()
    }

    /// Returns the number of a rank in a timeline: ranks of the call, then of those beside it.
    pub(super) fn track(&self, job: u32, seat: SeatId) -> u32 {
        let state = &self.jobs[job as usize];
        seat - state.first_seat + state.first_track
    }

    /// Returns what a timeline shows of a message that has left.
    pub(super) fn span(&self, flight: &Flight, end: SimTime) -> Span {
        let Node {
            transfer, slice, ..
        } = flight.node;
        let what = if flight.slices > 1 {
            format!("send {transfer}.{slice}")
        } else {
            format!("send {transfer}")
        };
        let whom = match flight.route {
            Route::Send { dst, .. } => format!("to rank {dst}"),
            Route::Multicast { .. } => "to all members".to_owned(),
            Route::LoadReduce { .. } => "sum of all members".to_owned(),
            Route::Aggregate { .. } => "sum for all members".to_owned(),
        };
        Span {
            track: Track::Engine {
                rank: self.track(flight.node.job, flight.seat),
                engine: 0,
            },
            name: format!("{what} {whom}, {} B", flight.bytes),
            start: flight.left,
            end,
        }
    }
}
