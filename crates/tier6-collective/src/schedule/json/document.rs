//! The document of schema `tier6.schedule/1` as it is written.

use std::fmt::{Display, Write as _};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::schedule::Schedule;
use crate::schedule::ids::{RankId, TransferId};
use crate::schedule::memory::{Place, Placement};
use crate::schedule::transfer::{Grain, Handshake, Op, Route};
use crate::{Algorithm, Collective};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema: String,
    #[serde(serialize_with = "show", deserialize_with = "collective")]
    pub(super) collective: Collective,
    #[serde(serialize_with = "show_some", deserialize_with = "algorithm", default)]
    pub(super) algorithm: Option<Algorithm>,
    pub(super) ranks: u32,
    pub(super) bytes: u64,
    #[serde(default)]
    pub(super) root: u32,
    #[serde(with = "PlacementName")]
    pub(super) placement: Placement,
    pub(super) chunks: u32,
    #[serde(default)]
    pub(super) scratch_bytes: Vec<u64>,
    #[serde(default)]
    pub(super) slice_bytes: Option<u64>,
    #[serde(with = "HandshakeName", default = "eager")]
    pub(super) handshake: Handshake,
    #[serde(default)]
    pub(super) groups: Vec<Vec<u32>>,
    #[serde(skip_serializing)]
    pub(super) transfers: Vec<TransferEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransferEntry {
    pub(super) route: RouteKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) src: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) dst: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<u32>,
    #[serde(with = "OpName")]
    pub(super) op: Op,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) port: Option<u8>,
    pub(super) pieces: Vec<PieceEntry>,
    #[serde(with = "ids", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) after: Vec<TransferId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PieceEntry {
    #[serde(serialize_with = "show", deserialize_with = "place")]
    pub(super) from: Place,
    #[serde(serialize_with = "show", deserialize_with = "place")]
    pub(super) to: Place,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) count: u32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RouteKind {
    Send,
    Multicast,
    LoadReduce,
    Aggregate,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Placement", rename_all = "snake_case")]
enum PlacementName {
    InPlace,
    OutOfPlace,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Handshake", rename_all = "snake_case")]
enum HandshakeName {
    Eager,
    Rendezvous,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Op", rename_all = "snake_case")]
enum OpName {
    Copy,
    Reduce,
}

impl RouteKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Multicast => "multicast",
            Self::LoadReduce => "load_reduce",
            Self::Aggregate => "aggregate",
        }
    }

    pub(super) const fn fields(self) -> &'static str {
        match self {
            Self::Send => "`src` and `dst`",
            Self::Multicast => "`src` and `group`",
            Self::LoadReduce => "`group` and `dst`",
            Self::Aggregate => "`group`",
        }
    }
}

/// Writes a schedule: a key per line, then a transfer per line.
pub(super) fn write(schedule: &Schedule) -> String {
    const NUMBERS: &str = "Invariant: names, numbers and lists are JSON";
    let memory = schedule.memory();
    let head = Document {
        schema: super::SCHEMA.to_owned(),
        collective: schedule.collective(),
        algorithm: schedule.algorithm(),
        ranks: schedule.ranks(),
        bytes: memory.bytes(),
        root: schedule.root().0,
        placement: memory.placement(),
        chunks: memory.chunks(),
        scratch_bytes: memory.scratch_bytes().to_vec(),
        slice_bytes: match schedule.grain() {
            Grain::Message => None,
            Grain::Slices { bytes } => Some(bytes),
        },
        handshake: schedule.handshake(),
        groups: schedule
            .groups()
            .iter()
            .map(|group| numbers(group))
            .collect(),
        transfers: Vec::new(),
    };
    let mut text = String::from("{\n");
    let head = serde_json::to_value(head).expect(NUMBERS);
    for (key, value) in head.as_object().expect("Invariant: a struct is an object") {
        writeln!(text, "  \"{key}\": {value},").expect("Invariant: strings take text");
    }
    text.push_str("  \"transfers\": [");
    for (id, _) in schedule.iter() {
        text.push_str(if id.0 == 0 { "\n    " } else { ",\n    " });
        text.push_str(&serde_json::to_string(&entry(schedule, id)).expect(NUMBERS));
    }
    text.push_str("\n  ]\n}\n");
    text
}

fn entry(schedule: &Schedule, id: TransferId) -> TransferEntry {
    let transfer = &schedule.transfers()[id.index()];
    let (route, src, dst, group) = match transfer.route {
        Route::Send { src, dst } => (RouteKind::Send, Some(src), Some(dst), None),
        Route::Multicast { src, group } => (RouteKind::Multicast, Some(src), None, Some(group)),
        Route::LoadReduce { group, dst } => (RouteKind::LoadReduce, None, Some(dst), Some(group)),
        Route::Aggregate { group } => (RouteKind::Aggregate, None, None, Some(group)),
    };
    let memory = schedule.memory();
    TransferEntry {
        route,
        src: src.map(|rank| rank.0),
        dst: dst.map(|rank| rank.0),
        group: group.map(|group| group.0),
        op: transfer.op,
        port: transfer.port.map(|port| port.0),
        pieces: schedule
            .pieces(id)
            .iter()
            .map(|piece| PieceEntry {
                from: memory.place(piece.from),
                to: memory.place(piece.to),
                count: piece.count,
            })
            .collect(),
        after: schedule.dependencies(id).to_vec(),
    }
}

fn numbers(ranks: &[RankId]) -> Vec<u32> {
    ranks.iter().map(|rank| rank.0).collect()
}

const fn eager() -> Handshake {
    Handshake::Eager
}

const fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

fn show<S: Serializer>(value: &impl Display, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn show_some<S: Serializer>(value: &Option<Algorithm>, out: S) -> Result<S::Ok, S::Error> {
    value.map(Algorithm::name).serialize(out)
}

fn named<'de, T: FromStr, D: Deserializer<'de>>(input: D, what: &str) -> Result<T, D::Error> {
    let text = String::deserialize(input)?;
    text.parse()
        .map_err(|_| D::Error::custom(format!("`{text}` is no {what}")))
}

fn collective<'de, D: Deserializer<'de>>(input: D) -> Result<Collective, D::Error> {
    named(input, "collective; hint: for example `all_reduce`")
}

fn place<'de, D: Deserializer<'de>>(input: D) -> Result<Place, D::Error> {
    named(input, "slot; hint: `recv:0`, `send:0` or `scratch:0`")
}

fn algorithm<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Algorithm>, D::Error> {
    let Some(text) = Option::<String>::deserialize(input)? else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|()| {
        let message = format!("`{text}` is no algorithm; hint: null for one of your own");
        D::Error::custom(message)
    })
}

/// Transfer ids as plain numbers.
mod ids {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::schedule::ids::TransferId;

    pub(super) fn serialize<S: Serializer>(ids: &[TransferId], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(ids.iter().map(|id| id.0))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<Vec<TransferId>, D::Error> {
        let ids = Vec::<u32>::deserialize(input)?;
        Ok(ids.into_iter().map(TransferId).collect())
    }
}
