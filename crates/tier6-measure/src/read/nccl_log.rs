//! NCCL's own log lines: version, choices, channels, ranks.
//!
//! A log is mostly lines that say nothing of these, so the order of the checks is by cost: one
//! search for the marker, one for the arrow of a choice, one look at the first byte.
//!
//! The choice line changed with the versions (source: NCCL `src/enqueue.cc`):
//! `N Bytes -> Algo 1 proto 2 time 3.5` (2.20 to 2.22, TRACE with a function's name before),
//! `AllReduce: N Bytes -> Algo 1 proto 2 time 3.5` (2.23),
//! `AllReduce: N Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}` (2.24 and later).

use super::ReadError;
use crate::{LibraryVersion, Selection, Trace};
use memchr::memmem::Finder;
use std::collections::HashMap;
use tier6_collective::{Algorithm, Collective, Path, Protocol};
use tier6_units::{Bytes, Micros};

/// More distinct choices are no log of one job.
const SELECTIONS_MAX: usize = 1 << 18;

/// A log line, cut at its marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogLine<'a> {
    /// What stands before `host:pid:tid [device] `: nothing, tags, or a piece of a table row.
    pub before: &'a [u8],
    /// What follows the marker.
    pub message: &'a [u8],
    /// `NCCL WARN`.
    pub level: Level,
}

/// How serious NCCL says a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// INFO, TRACE and VERSION.
    Info,
    /// WARN.
    Warn,
}

/// What a log line told.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Told {
    /// Nothing of interest.
    Nothing,
    /// A choice for this many bytes.
    Choice {
        /// Size as the tuner sees it.
        bytes: u64,
    },
    /// A choice that cannot be decoded.
    UnknownChoice,
    /// The version.
    Version(LibraryVersion),
}

/// Collects facts from log lines.
pub(super) struct LogReader {
    marker: Finder<'static>,
    arrow: Finder<'static>,
    trace: Trace,
    index: HashMap<(Option<Collective>, u64), usize>,
    last: Option<LastChoice>,
    /// Symmetric kernels and copy engines (2.27 and later), which have no algorithm.
    pub other_choices: u64,
    /// Distinct choices beyond [`SELECTIONS_MAX`].
    pub dropped_choices: u64,
    /// Ranks of the communicators, when all agree.
    communicators: Communicators,
}

/// The choice that was repeated last: a benchmark logs the same line for every iteration.
struct LastChoice {
    message: Vec<u8>,
    at: usize,
    bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Communicators {
    None,
    Agree { ranks: u32, nodes: Option<u32> },
    Differ,
}

impl LogReader {
    pub(super) fn new() -> Self {
        Self {
            marker: Finder::new(b"NCCL "),
            arrow: Finder::new(b" Bytes -> "),
            trace: Trace::default(),
            index: HashMap::new(),
            last: None,
            other_choices: 0,
            dropped_choices: 0,
            communicators: Communicators::None,
        }
    }

    /// Cuts a log line at its marker; `None` for any other line.
    pub(super) fn split<'a>(&self, line: &'a [u8]) -> Option<LogLine<'a>> {
        if let Some(message) = after_usual_prefix(line) {
            return Some(LogLine {
                before: &[],
                message: message.trim_ascii_start(),
                level: Level::Info,
            });
        }
        let at = self.marker.find(line)?;
        let (level, message) = match &line[at + 5..] {
            [b'W', b'A', b'R', b'N', rest @ ..] => (Level::Warn, rest),
            [b'I', b'N', b'F', b'O', rest @ ..] | [b'T', b'R', b'A', b'C', b'E', rest @ ..] => {
                (Level::Info, rest)
            }
            _ => return None,
        };
        Some(LogLine {
            before: before_host(&line[..at]),
            message: message.trim_ascii_start(),
            level,
        })
    }

    /// Takes in a message.
    pub(super) fn read(&mut self, message: &[u8], line: u64) -> Result<Told, ReadError> {
        self.trace.info_lines += 1;
        if let Some(last) = &self.last
            && last.message == message
        {
            self.trace.selections[last.at].repeats += 1;
            return Ok(Told::Choice { bytes: last.bytes });
        }
        if let Some(at) = self.arrow.find(message) {
            return self.read_choice(&message[..at], &message[at + 10..], line);
        }
        match message.first() {
            Some(b'N') => Ok(self.read_version(message)),
            Some(b'c' | b'n') => {
                self.read_communicator(message);
                Ok(Told::Nothing)
            }
            Some(b'C') => {
                if let Some(total) = channels_of_ring(message) {
                    self.trace.channels.get_or_insert(total);
                }
                Ok(Told::Nothing)
            }
            Some(b'0'..=b'9') => {
                let text = String::from_utf8_lossy(message);
                if let Some((count, _)) = text.split_once(" coll channels") {
                    self.trace.channels = count.parse().ok().or(self.trace.channels);
                }
                Ok(Told::Nothing)
            }
            _ => Ok(Told::Nothing),
        }
    }

    fn read_version(&mut self, message: &[u8]) -> Told {
        let text = String::from_utf8_lossy(&message[..message.len().min(200)]);
        match version_in(&text) {
            Some(version) => {
                self.set_version(version);
                Told::Version(version)
            }
            None => Told::Nothing,
        }
    }

    /// Takes in a version that was printed outside of the log.
    pub(super) fn set_version(&mut self, version: LibraryVersion) {
        self.trace.version.get_or_insert(version);
    }

    /// `comm 0x… rank 0 nRanks 16 nNodes 2 …`, `ncclCommInitRank comm 0x… rank 0 nranks 16 …`.
    fn read_communicator(&mut self, message: &[u8]) {
        if !message.starts_with(b"comm ") && !message.starts_with(b"ncclCommInit") {
            return;
        }
        let text = String::from_utf8_lossy(message);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let after = |name: &str| {
            let at = words
                .iter()
                .position(|word| word.eq_ignore_ascii_case(name))?;
            words.get(at + 1)?.parse::<u32>().ok()
        };
        let (Some(ranks), nodes) = (after("nranks"), after("nnodes")) else {
            return;
        };
        self.communicators = match self.communicators {
            Communicators::None => Communicators::Agree { ranks, nodes },
            Communicators::Agree {
                ranks: known,
                nodes: known_nodes,
            } if known == ranks => Communicators::Agree {
                ranks,
                nodes: known_nodes.or(nodes),
            },
            Communicators::Agree { .. } | Communicators::Differ => Communicators::Differ,
        };
    }

    fn read_choice(&mut self, before: &[u8], after: &[u8], line: u64) -> Result<Told, ReadError> {
        let Some(choice) = parse_choice(before, after, self.trace.version) else {
            if !after.starts_with(b"Algo ") {
                self.other_choices += 1;
                return Ok(Told::Nothing);
            }
            return Ok(Told::UnknownChoice);
        };
        let told = Told::Choice {
            bytes: choice.bytes.get(),
        };
        let key = (choice.collective, choice.bytes.get());
        let Some(&at) = self.index.get(&key) else {
            if self.trace.selections.len() == SELECTIONS_MAX {
                self.dropped_choices += 1;
                return Ok(told);
            }
            self.index.insert(key, self.trace.selections.len());
            self.trace.selections.push(Selection { line, ..choice });
            return Ok(told);
        };
        let known = &mut self.trace.selections[at];
        let times_agree = match (known.time, choice.time) {
            (Some(known), Some(new)) => known.get().to_bits() == new.get().to_bits(),
            _ => true,
        };
        if known.path != choice.path || !times_agree {
            return Err(ReadError::Contradiction {
                bytes: choice.bytes.get(),
                first_line: known.line,
                second_line: line,
                first: describe(known),
                second: describe(&choice),
            });
        }
        known.repeats += 1;
        known.time = known.time.or(choice.time);
        self.last = Some(LastChoice {
            message: [before, b" Bytes -> ", after].concat(),
            at,
            bytes: choice.bytes.get(),
        });
        Ok(told)
    }

    /// Returns what was collected.
    pub(super) fn finish(mut self) -> Trace {
        if let Communicators::Agree { ranks, nodes } = self.communicators {
            self.trace.ranks = Some(ranks);
            self.trace.nodes = nodes;
        }
        self.trace
    }

    /// Returns how many log lines were seen.
    pub(super) fn lines(&self) -> u64 {
        self.trace.info_lines
    }
}

fn describe(choice: &Selection) -> String {
    match choice.time {
        Some(time) => format!("{} in {} us", choice.path, time.get()),
        None => choice.path.to_string(),
    }
}

/// Parses a choice; its line is set by the caller.
fn parse_choice(before: &[u8], after: &[u8], version: Option<LibraryVersion>) -> Option<Selection> {
    let digits = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let (head, bytes) = before.split_at(before.len() - digits);
    let bytes = number(bytes)?;
    let mut words = after
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let (mut algorithm, mut protocol, mut time, mut channels) = (None, None, None, None);
    while let Some(word) = words.next() {
        match word {
            b"Algo" => algorithm = Some(decode_algorithm(words.next()?, version)?),
            b"proto" => protocol = Some(decode_protocol(words.next()?)?),
            b"time" => time = words.next().and_then(time_us),
            _ => channels = channels.or_else(|| channel_range(word)),
        }
    }
    Some(Selection {
        collective: collective_before(head),
        bytes: Bytes::new(bytes),
        path: Path {
            algorithm: algorithm?,
            protocol: protocol?,
        },
        time,
        channels,
        line: 0,
        repeats: 1,
    })
}

/// The collective in `AllReduce: `; `None` for nothing or the name of a function.
fn collective_before(head: &[u8]) -> Option<Collective> {
    let head = head.trim_ascii_end().strip_suffix(b":")?;
    let name = head.rsplit(|byte| *byte == b' ').next()?;
    match name {
        b"AllReduce" => Some(Collective::AllReduce),
        b"AllGather" => Some(Collective::AllGather),
        b"ReduceScatter" => Some(Collective::ReduceScatter),
        _ => std::str::from_utf8(name).ok()?.parse().ok(),
    }
}

/// NCCL's `ncclAlgo` numbers and names, by version (source: NCCL `src/include/nccl_common.h`).
///
/// 0 Tree, 1 Ring at all times; 2 CollNet until 2.13, split into direct (2) and chain (3) in
/// 2.14; 4 NVLS since 2.17, 5 NVLSTree since 2.18, 6 PAT since 2.23. Numbers were only ever
/// appended, so an unknown version is read like the newest.
fn decode_algorithm(word: &[u8], version: Option<LibraryVersion>) -> Option<Algorithm> {
    let has_chain = version.is_none_or(|version| version >= LibraryVersion::new(2, 14, 0));
    match word {
        b"0" | b"TREE" => Some(Algorithm::Tree),
        b"1" | b"RING" => Some(Algorithm::Ring),
        b"2" => Some(Algorithm::CollNetDirect),
        b"3" if has_chain => Some(Algorithm::CollNetChain),
        b"4" if has_chain => Some(Algorithm::Nvls),
        b"5" if has_chain => Some(Algorithm::NvlsTree),
        b"6" if has_chain => Some(Algorithm::Pat),
        _ if word.first()?.is_ascii_digit() => None,
        _ => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// NCCL's `ncclProto` numbers and names; the same in all versions.
fn decode_protocol(word: &[u8]) -> Option<Protocol> {
    match word {
        b"0" | b"LL" => Some(Protocol::Ll),
        b"1" | b"LL128" => Some(Protocol::Ll128),
        b"2" | b"SIMPLE" => Some(Protocol::Simple),
        _ if word.first()?.is_ascii_digit() => None,
        _ => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// A predicted time. 3.6e9 us is what 2.20 and 2.21 print when the model gave no answer and ring
/// was taken as a fallback; it is no prediction.
fn time_us(word: &[u8]) -> Option<Micros> {
    const NO_PREDICTION_US: f64 = 3.6e9;
    let time: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    (time.is_finite() && time > 0.0 && time < NO_PREDICTION_US).then(|| Micros::new(time))
}

/// `channel{Lo..Hi}={0..15}`.
fn channel_range(word: &[u8]) -> Option<(u32, u32)> {
    let range = word
        .strip_prefix(b"channel{Lo..Hi}={")?
        .strip_suffix(b"}")?;
    let (low, high) = std::str::from_utf8(range).ok()?.split_once("..")?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The total in `Channel 00/08 :    0   1   2`, and not in `Channel 00/0 : 0[0] -> 1[1] via …`.
fn channels_of_ring(message: &[u8]) -> Option<u32> {
    let rest = message.strip_prefix(b"Channel ")?;
    let slash = memchr::memchr(b'/', &rest[..rest.len().min(8)])?;
    let (index, rest) = (&rest[..slash], &rest[slash + 1..]);
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (total, rest) = rest.split_at(digits);
    let is_ring = rest.starts_with(b" :")
        && index.iter().all(u8::is_ascii_digit)
        && memchr::memchr(b'[', rest).is_none();
    is_ring.then(|| number(total)?.try_into().ok()).flatten()
}

/// The version in `NCCL version 2.22.3+cuda12.6`, `RCCL version 2.18.6-HEAD:…`.
pub(super) fn version_in(text: &str) -> Option<LibraryVersion> {
    let at = text.find("CCL version ")? + "CCL version ".len();
    text[at..].trim_start_matches(':').trim_start().parse().ok()
}

/// The message of the usual line, `host:pid:tid [device] NCCL INFO message`, without a search.
fn after_usual_prefix(line: &[u8]) -> Option<&[u8]> {
    const DEVICE_BYTES_MAX: usize = 6;
    let space = memchr::memchr(b' ', &line[..line.len().min(80)])?;
    let (host, rest) = line.split_at(space);
    let rest = rest.strip_prefix(b" [")?;
    let close = rest
        .iter()
        .take(DEVICE_BYTES_MAX)
        .position(|b| *b == b']')?;
    let message = rest[close..].strip_prefix(b"] NCCL INFO ")?;
    (is_host(host) && !host[0].is_ascii_digit()).then_some(message)
}

/// Cuts `host:pid:tid [device] ` and, on a WARN line, `file:line ` off the end.
///
/// A row piece may be glued to the host (`0node1:77:78`) or to a launcher's tag (`-1[0] node1:…`).
fn before_host(prefix: &[u8]) -> &[u8] {
    const WORDS_MAX: usize = 8;
    // The common line: the host starts it.
    let first = memchr::memchr(b' ', prefix).unwrap_or(prefix.len());
    if is_host(&prefix[..first]) && !prefix[0].is_ascii_digit() {
        return &prefix[..0];
    }
    let mut end = prefix.len();
    for _ in 0..WORDS_MAX {
        let text = prefix[..end].trim_ascii_end();
        let start = text
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map_or(0, |at| at + 1);
        let word = &text[start..];
        if is_host(word) {
            return &prefix[..start + glued_number(word)];
        }
        end = start;
        if start == 0 {
            break;
        }
    }
    prefix
}

/// Says whether a word is `host:pid:tid`.
fn is_host(word: &[u8]) -> bool {
    let mut parts = word.rsplitn(3, |byte| *byte == b':');
    let mut digits = || {
        let part = parts.next().unwrap_or(b"");
        !part.is_empty() && part.iter().all(u8::is_ascii_digit)
    };
    digits() && digits() && parts.next().is_some_and(|host| !host.is_empty())
}

/// Length of the number of a row that is glued to the front of a host: `0node1`, `-1node1`,
/// `N/Anode1`, `5e-07node1`. A host that itself starts with a digit cannot be told apart.
fn glued_number(word: &[u8]) -> usize {
    if word.starts_with(b"N/A") {
        return 3;
    }
    let sign = usize::from(word.first() == Some(&b'-'));
    let digits = |from: usize| {
        word[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = digits(sign);
    let end = sign + whole;
    match &word[end..] {
        [b'e', b'+' | b'-', ..] if digits(end + 2) > 0 => end + 2 + digits(end + 2),
        [b'.' | b':' | b'-', ..] => 0,
        _ if whole > 0 => end,
        _ => 0,
    }
}
