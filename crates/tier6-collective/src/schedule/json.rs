//! Schedules as JSON, schema `tier6.schedule/1`: the writer and the reader of custom schedules.
//!
//! ```json
//! {
//!   "schema": "tier6.schedule/1",
//!   "collective": "all_reduce",
//!   "algorithm": null,
//!   "ranks": 2,
//!   "bytes": 1048576,
//!   "root": 0,
//!   "placement": "in_place",
//!   "chunks": 2,
//!   "scratch_bytes": [],
//!   "slice_bytes": null,
//!   "handshake": "eager",
//!   "groups": [],
//!   "transfers": [
//!     {"route":"send","src":0,"dst":1,"op":"reduce","port":0,"pieces":[{"from":"recv:1","to":"recv:1"}]},
//!     {"route":"send","src":1,"dst":0,"op":"reduce","port":0,"pieces":[{"from":"recv:0","to":"recv:0"}]},
//!     {"route":"send","src":0,"dst":1,"op":"copy","port":0,"pieces":[{"from":"recv:0","to":"recv:0"}],"after":[1]},
//!     {"route":"send","src":1,"dst":0,"op":"copy","port":0,"pieces":[{"from":"recv:1","to":"recv:1"}],"after":[0]}
//!   ]
//! }
//! ```
//!
//! * `collective` and `algorithm` have the contract's names; `algorithm` may be null.
//! * `bytes` is M, cut into `chunks` chunks at floor(i M / chunks); collectives with a block per
//!   rank (AllGather, ReduceScatter, AllToAll, Gather, Scatter) need a multiple of the ranks, and
//!   block b is the b-th equal share of the chunks. See [`Memory`](crate::Memory).
//! * `placement` is `in_place` (the `recv` slots start with the contribution) or `out_of_place`
//!   (the `send` slots hold it, read only); AllToAll is out of place.
//! * `scratch_bytes` is the capacity of each scratch slot, the same on every rank.
//! * `slice_bytes` is the grain of forwarding, null for whole messages; `handshake` is `eager` or
//!   `rendezvous`; `groups` lists the ranks that a switch serves.
//! * A transfer's `route` is `send` (`src`, `dst`; the same rank twice for a local step),
//!   `multicast` (`src`, `group`), `load_reduce` (`group`, `dst`) or `aggregate` (`group`); `op`
//!   is `copy` or `reduce`; `port` may be left out; `after` lists earlier transfers by their
//!   index. A piece moves `count` slots (1 when left out) from `from` on to `to` on.
//!
//! `root`, `scratch_bytes`, `slice_bytes`, `handshake` and `groups` may be left out. The reader
//! checks that every name, rank, slot, size and dependency is possible; whether the schedule
//! computes its collective is for [`Schedule::check`].

mod document;
mod locate;

use thiserror::Error;
use tier6_units::Bytes;

use crate::Collective;

use super::build::RANKS_MAX;
use super::draft::{Draft, Title};
use super::ids::{GroupId, RankId, TransferId};
use super::memory::{Memory, Placement};
use super::script::Script;
use super::transfer::{Grain, Leg, Piece, Route};
use super::validity::Flaw;
use super::{PortId, Schedule};

use document::{Document, RouteKind, TransferEntry};

/// The schema's name.
pub const SCHEMA: &str = "tier6.schedule/1";

/// The most chunks, scratch slots or groups of a file.
const PARTS_MAX: usize = 1 << 20;

/// Why a JSON schedule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("line {line}, column {column}: {message}")]
    Shape {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A value that cannot be.
    #[error("line {line}: `{key}`: {message}")]
    Value {
        /// Line of the value, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// What is wrong.
        message: String,
    },
    /// A transfer that cannot be.
    #[error("line {line}: transfer {index}: {flaw}")]
    Transfer {
        /// Line on which the transfer starts, from 1.
        line: usize,
        /// The transfer, from 0.
        index: usize,
        /// What is wrong.
        #[source]
        flaw: Flaw,
    },
    /// A transfer that lacks a field of its route, or has one of another.
    #[error("line {line}: transfer {index}: {message}")]
    Fields {
        /// Line on which the transfer starts, from 1.
        line: usize,
        /// The transfer, from 0.
        index: usize,
        /// What is wrong.
        message: String,
    },
}

/// Reads a schedule of schema [`SCHEMA`].
///
/// # Errors
///
/// The first thing that is wrong, with its line.
pub fn read_json(text: &str) -> Result<Schedule, ReadError> {
    match read(text, None)? {
        (script, None) => Ok(script.schedule),
        (_, Some(error)) => Err(error),
    }
}

/// Reads a schedule of schema [`SCHEMA`], also one whose transfers wait for each other in a circle;
/// for a message of `bytes` instead of its own, if given: chunks and scratch slots then grow in
/// proportion, and slices stay as they are.
///
/// # Errors
///
/// The first thing that is wrong, with its line; a transfer that waits for a later one is, unless
/// no order of the transfers helps.
pub fn read_json_script(text: &str, bytes: Option<Bytes>) -> Result<Script, ReadError> {
    match read(text, bytes)? {
        (script, Some(error)) if script.has_order() => Err(error),
        (script, _) => Ok(script),
    }
}

/// Reads a schedule, with what is wrong with its first wait for a later transfer, if it has one.
fn read(text: &str, bytes: Option<Bytes>) -> Result<(Script, Option<ReadError>), ReadError> {
    let mut document: Document = serde_json::from_str(text).map_err(|error| ReadError::Shape {
        line: error.line(),
        column: error.column(),
        message: without_position(&error.to_string()),
    })?;
    let value = |key: &'static str, message: String| ReadError::Value {
        line: locate::line_of_key(text, key),
        key,
        message,
    };
    check_head(&document).map_err(|(key, message)| value(key, message))?;
    if let Some(bytes) = bytes {
        scale(&mut document, bytes.get()).map_err(|message| value("bytes", message))?;
    }
    let title = Title {
        collective: document.collective,
        algorithm: document.algorithm,
        root: RankId(document.root),
        grain: match document.slice_bytes {
            Some(bytes) => Grain::Slices { bytes },
            None => Grain::Message,
        },
        handshake: document.handshake,
    };
    let memory = Memory::new(
        document.collective,
        document.ranks,
        document.bytes,
        document.chunks,
        document.placement,
    );
    let memory = memory.with_scratch(document.scratch_bytes);
    let mut draft = Draft::plain(title, memory, document.transfers.len());
    for members in document.groups {
        draft.add_group(members.into_iter().map(RankId).collect());
    }
    let (mut late_waits, mut first_late) = (Vec::new(), None);
    for (index, entry) in document.transfers.iter().enumerate() {
        let line = || locate::line_of_transfer(text, index);
        let (leg, pieces) = entry_parts(entry, draft.memory()).map_err(|message| {
            let line = line();
            ReadError::Fields {
                line,
                index,
                message,
            }
        })?;
        let wrong = |flaw| ReadError::Transfer {
            line: line(),
            index,
            flaw,
        };
        let (earlier, later): (Vec<TransferId>, Vec<TransferId>) =
            entry.after.iter().partition(|on| on.index() < index);
        let flaw = draft.schedule().flaw(&leg, &pieces, &earlier);
        flaw.map_err(wrong)?;
        let transfers = document.transfers.len();
        if let Some(&on) = later.iter().find(|on| on.index() >= transfers) {
            return Err(wrong(Flaw::Absent { on, transfers }));
        }
        if let Some(&on) = later.first() {
            first_late.get_or_insert_with(|| wrong(Flaw::Order { on }));
        }
        let id = draft.push_after(leg, &pieces, &earlier);
        late_waits.extend(later.into_iter().map(|on| (id, on)));
    }
    let script = Script {
        late_waits,
        ..Script::sound(draft.finish())
    };
    Ok((script, first_late))
}

impl Schedule {
    /// Returns the schedule as JSON of schema [`SCHEMA`], one line per transfer;
    /// [`read_json`] reads it back to an equal schedule.
    pub fn to_json(&self) -> String {
        document::write(self)
    }
}

/// Says whether the collective has a block per rank.
pub(super) const fn has_blocks(collective: Collective) -> bool {
    match collective {
        Collective::AllReduce
        | Collective::Broadcast
        | Collective::Reduce
        | Collective::SendRecv => false,
        Collective::AllGather
        | Collective::ReduceScatter
        | Collective::AllToAll
        | Collective::AllToAllV
        | Collective::Gather
        | Collective::Scatter
        | Collective::HyperCube => true,
    }
}

fn check_head(document: &Document) -> Result<(), (&'static str, String)> {
    let fail = |key, message: String| Err((key, message));
    let ranks = document.ranks;
    if document.schema != SCHEMA {
        let found = &document.schema;
        return fail("schema", format!("expected `{SCHEMA}`, found `{found}`"));
    }
    if !(1..=RANKS_MAX).contains(&ranks) {
        return fail("ranks", format!("{ranks} is not between 1 and {RANKS_MAX}"));
    }
    if document.root >= ranks {
        return fail("root", format!("rank {} does not exist", document.root));
    }
    let chunks = document.chunks;
    if chunks == 0 || chunks as usize > PARTS_MAX {
        return fail(
            "chunks",
            format!("{chunks} is not between 1 and {PARTS_MAX}"),
        );
    }
    if has_blocks(document.collective) && !chunks.is_multiple_of(ranks) {
        let name = document.collective;
        let message = format!(
            "`{name}` has a block per rank; {chunks} chunks are not a multiple of {ranks} ranks"
        );
        return fail("chunks", message);
    }
    let exchanges = matches!(
        document.collective,
        Collective::AllToAll | Collective::AllToAllV
    );
    if exchanges && document.placement == Placement::InPlace {
        let message = "a block would change its size under way; hint: `out_of_place`";
        return fail("placement", message.to_owned());
    }
    if document.scratch_bytes.len() > PARTS_MAX {
        return fail("scratch_bytes", format!("more than {PARTS_MAX} slots"));
    }
    if document.slice_bytes == Some(0) {
        return fail(
            "slice_bytes",
            "a slice of 0 bytes; hint: null for whole messages".to_owned(),
        );
    }
    for (index, group) in document.groups.iter().enumerate() {
        let mut members = group.clone();
        members.sort_unstable();
        members.dedup();
        if members.len() != group.len() || members.last().is_none_or(|last| *last >= ranks) {
            let message = format!(
                "group {index} is not a set of ranks between 0 and {}",
                ranks - 1
            );
            return fail("groups", message);
        }
    }
    Ok(())
}

/// Makes the schedule one of another size.
fn scale(document: &mut Document, bytes: u64) -> Result<(), String> {
    let own = document.bytes;
    if own == 0 && bytes > 0 {
        return Err(format!("a schedule of 0 bytes does not grow to {bytes}"));
    }
    for scratch in &mut document.scratch_bytes {
        // Rounded up: what fitted still fits.
        let scaled = (u128::from(*scratch) * u128::from(bytes)).div_ceil(u128::from(own.max(1)));
        *scratch = u64::try_from(scaled).map_err(|_| format!("{bytes} is too large"))?;
    }
    document.bytes = bytes;
    Ok(())
}

/// Returns the transfer's parts, with slots for places.
fn entry_parts(entry: &TransferEntry, memory: &Memory) -> Result<(Leg, Vec<Piece>), String> {
    let route = match (entry.route, entry.src, entry.dst, entry.group) {
        (RouteKind::Send, Some(src), Some(dst), None) => Route::Send {
            src: RankId(src),
            dst: RankId(dst),
        },
        (RouteKind::Multicast, Some(src), None, Some(group)) => Route::Multicast {
            src: RankId(src),
            group: GroupId(group),
        },
        (RouteKind::LoadReduce, None, Some(dst), Some(group)) => Route::LoadReduce {
            group: GroupId(group),
            dst: RankId(dst),
        },
        (RouteKind::Aggregate, None, None, Some(group)) => Route::Aggregate {
            group: GroupId(group),
        },
        (kind, ..) => {
            return Err(format!("`{}` takes {}", kind.name(), kind.fields()));
        }
    };
    let mut leg = Leg::new(route, entry.op);
    leg.port = entry.port.map(PortId);
    let slot = |place| {
        memory
            .slot(place)
            .ok_or_else(|| format!("`{place}` does not exist"))
    };
    let pieces: Result<Vec<Piece>, String> = entry
        .pieces
        .iter()
        .map(|piece| {
            Ok(Piece {
                from: slot(piece.from)?,
                to: slot(piece.to)?,
                count: piece.count,
            })
        })
        .collect();
    Ok((leg, pieces?))
}

/// Returns a message of `serde_json` without the position at its end, which has fields of its own.
fn without_position(message: &str) -> String {
    match message.rsplit_once(" at line ") {
        Some((text, _)) => text.to_owned(),
        None => message.to_owned(),
    }
}
