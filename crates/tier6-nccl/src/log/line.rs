//! One line of an NCCL log: who speaks, and the fact it states.
//!
//! Source: `TUNER_SPEC.md` section 12.

use super::printed::TableRow;
use crate::communicator::{Cpu, Graph, Pattern, cpu_from_numbers};
use crate::path_type::PathType;
use tier6_collective::LibraryVersion;

/// What a line says that the tuner wants to know.
pub(super) enum Fact {
    Version(LibraryVersion),
    Env {
        name: String,
        value: String,
    },
    Communicator {
        rank: i32,
        n_ranks: i32,
        n_nodes: i32,
        local_ranks: i32,
        is_mnnvl: bool,
    },
    Cpu(Cpu),
    NvSwitch,
    Channels {
        coll: i32,
        nvls: Option<i32>,
    },
    RingChannels(i32),
    NvlsChannels(i32),
    NvlsTuning {
        channels: i32,
        chunk_bytes: u64,
        tree_chunk_bytes: u64,
    },
    Graph(Graph),
    Table(TableRow),
}

/// Splits `host:pid:tid [dev] NCCL INFO message`; the device is no part of the speaker, since
/// a thread speaks before it has one.
pub(super) fn split(line: &str) -> Option<(&str, &str)> {
    const MARK: &str = "NCCL INFO ";
    let at = line.find(MARK)?;
    let prefix = line[..at].trim_end();
    let source = prefix
        .rsplit_once(" [")
        .map_or(prefix, |(source, _)| source);
    Some((source.trim(), line[at + MARK.len()..].trim_end()))
}

/// Returns the fact of a message, if it states one.
pub(super) fn read(message: &str) -> Option<Fact> {
    env(message)
        .or_else(|| version(message))
        .or_else(|| graph(message))
        .or_else(|| communicator(message))
        .or_else(|| topology(message))
        .or_else(|| channels(message))
        .or_else(|| nvls(message))
        .or_else(|| TableRow::read(message).map(Fact::Table))
}

fn env(message: &str) -> Option<Fact> {
    let (name, value) = message.split_once(" set by environment to ")?;
    let is_variable = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    // Integers are printed with a full stop after them, texts without.
    let value = match value.strip_suffix('.') {
        Some(integer) if integer.parse::<i64>().is_ok() => integer,
        _ => value,
    };
    is_variable.then(|| Fact::Env {
        name: name.to_owned(),
        value: value.to_owned(),
    })
}

fn version(message: &str) -> Option<Fact> {
    let text = message.strip_prefix("NCCL version ")?;
    let text = text.split_whitespace().next()?;
    text.parse().ok().map(Fact::Version)
}

/// `Pattern %d, crossNic %d, nChannels %d, bw %f/%f, type %s/%s, sameChannels %d`; `speed`
/// instead of `bw` up to 2.12.
fn graph(message: &str) -> Option<Fact> {
    let rest = message.strip_prefix("Pattern ")?;
    let mut pattern = None;
    let mut n_channels = None;
    let mut gbs = None;
    let mut paths = None;
    let mut same_channels = false;
    let (number, rest) = rest.split_once(',')?;
    let number: i32 = number.trim().parse().ok()?;
    pattern = pattern.or(Pattern::from_number(number));
    for part in rest.split(',') {
        let (name, value) = part.trim().split_once(' ')?;
        match name {
            "nChannels" => n_channels = value.parse::<i32>().ok(),
            "bw" | "speed" => {
                let (intra, inter) = value.split_once('/')?;
                gbs = Some((intra.parse::<f32>().ok()?, inter.parse::<f32>().ok()?));
            }
            "type" => {
                let (intra, inter) = value.split_once('/')?;
                paths = Some((
                    intra.parse::<PathType>().ok()?,
                    inter.parse::<PathType>().ok()?,
                ));
            }
            "sameChannels" => same_channels = value.trim() != "0",
            _ => {}
        }
    }
    let ((intra_gbs, inter_gbs), (intra_path, inter_path)) = (gbs?, paths?);
    let n_channels = n_channels?;
    Some(Fact::Graph(Graph {
        pattern: pattern.filter(|_| n_channels > 0),
        n_channels,
        intra_gbs,
        inter_gbs,
        inter_latency_us: 0.0,
        intra_path,
        inter_path,
        same_channels,
    }))
}

/// `comm %p rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL %d`.
fn communicator(message: &str) -> Option<Fact> {
    let rest = message.strip_prefix("comm ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let value = |name: &str| -> Option<i32> {
        let at = words.iter().position(|&word| word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    Some(Fact::Communicator {
        rank: value("rank")?,
        n_ranks: value("nRanks")?,
        n_nodes: value("nNodes")?,
        local_ranks: value("localRanks")?,
        is_mnnvl: value("MNNVL").is_some_and(|mnnvl| mnnvl != 0),
    })
}

/// `CPU/0-0 (1/1/3)` with architecture, vendor and model; `+ NVL[370.8] - NVS/0`.
fn topology(message: &str) -> Option<Fact> {
    if message.contains(" - NVS/") {
        return Some(Fact::NvSwitch);
    }
    let (_, kind) = message.strip_prefix("CPU/")?.split_once(" (")?;
    let mut numbers = kind.strip_suffix(')')?.split('/').map(str::parse::<i32>);
    let arch = numbers.next()?.ok()?;
    let vendor = numbers.next()?.ok()?;
    Some(Fact::Cpu(cpu_from_numbers(arch, vendor)))
}

/// `%d coll channels, %d collnet channels, %d nvls channels, …` or `Channel 00/16 : …`.
fn channels(message: &str) -> Option<Fact> {
    if let Some(rest) = message.strip_prefix("Channel ") {
        let (place, _) = rest.split_once(" :")?;
        let (_, count) = place.split_once('/')?;
        return count.trim().parse().ok().map(Fact::RingChannels);
    }
    let (coll, rest) = message.split_once(" coll channels, ")?;
    let nvls = rest
        .split(", ")
        .find_map(|part| part.strip_suffix(" nvls channels"));
    Some(Fact::Channels {
        coll: coll.trim().parse().ok()?,
        nvls: nvls.and_then(|nvls| nvls.parse().ok()),
    })
}

/// `NVLS tuning: nChannels %d chunkSize %d treeMaxChunkSize %d` (2.30), or `NVLS multicast
/// support is available on dev %d (NVLS_NCHANNELS %d)`.
fn nvls(message: &str) -> Option<Fact> {
    if let Some(rest) = message.strip_prefix("NVLS tuning: ") {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [
            "nChannels",
            channels,
            "chunkSize",
            chunk,
            "treeMaxChunkSize",
            tree,
        ] = words[..]
        else {
            return None;
        };
        return Some(Fact::NvlsTuning {
            channels: channels.parse().ok()?,
            chunk_bytes: chunk.parse().ok()?,
            tree_chunk_bytes: tree.parse().ok()?,
        });
    }
    let rest = message.strip_prefix("NVLS multicast support is available")?;
    let (_, channels) = rest.split_once("(NVLS_NCHANNELS ")?;
    channels
        .strip_suffix(')')?
        .parse()
        .ok()
        .map(Fact::NvlsChannels)
}
