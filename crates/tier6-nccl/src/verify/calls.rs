//! Rows of calls: the cost table with the choice, and the schedule.

use super::{Row, Sheet, same_bits};
use crate::call::Call;
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use crate::choice::{Choice, Entry, NoCandidateError};
use crate::cost_table::CostTable;
use crate::schedule::{Scheduled, Shares, UserCall};
use csv::{ReaderBuilder, StringRecord};
use std::collections::BTreeMap;
use tier6_collective::{DataType, Protocol, RedOp};

type Tables = BTreeMap<String, CostTable>;

/// Columns of a cost file, in the order of a file without a header.
const COST_COLUMNS: &str = "id coll type nBytes numPipeOps collNetSupport nvlsSupport algo proto \
    time_us nMaxChannels nWarps table";
/// Columns of a schedule file, likewise.
const SCHEDULE_COLUMNS: &str = "id coll dtype op count nBytes algo proto time_us nMaxChannels \
    nWarps channelLo channelHi countLo countMid countHi chunkLo chunkMid chunkHi";

/// Compares the rows of a cost file.
pub(super) fn compare_costs(text: &str, tables: &Tables, sheet: &mut Sheet) {
    for_each_row(text, COST_COLUMNS, sheet, |fields, row| {
        let Some(table) = tables.get(fields.get(0)) else {
            return row.differs("id", &"no such communicator", &fields.get(0));
        };
        let call = match read_cost_call(fields) {
            Ok(call) => call,
            Err(field) => return unreadable(row, field),
        };
        let is_chosen = check_choice(row, table.choose(&call).as_ref(), fields, &COST_FIELDS);
        if is_chosen {
            check_entries(row, table, &call, fields.get(12));
        }
    });
}

/// Compares the rows of a schedule file.
pub(super) fn compare_schedules(text: &str, tables: &Tables, sheet: &mut Sheet) {
    for_each_row(text, SCHEDULE_COLUMNS, sheet, |fields, row| {
        let Some(table) = tables.get(fields.get(0)) else {
            return row.differs("id", &"no such communicator", &fields.get(0));
        };
        let user = match read_user_call(fields) {
            Ok(user) => user,
            Err(field) => return unreadable(row, field),
        };
        let call = table.call(&user);
        row.check_whole("nBytes", call.bytes.cast_signed(), fields.get(5));
        let scheduled = table.schedule(&user);
        let choice = scheduled.as_ref().map(|scheduled| &scheduled.choice);
        if check_choice(row, choice, fields, &SCHEDULE_FIELDS)
            && let Ok(scheduled) = &scheduled
        {
            check_shares(row, scheduled, fields);
        }
    });
}

/// Calls `compare` for every row with its fields in the order of `columns`.
///
/// The header says where a field stands; a file whose first row has no `id` among its words has
/// no header, and its first row is a row.
fn for_each_row(
    text: &str,
    columns: &str,
    sheet: &mut Sheet,
    mut compare: impl FnMut(&Fields<'_>, &mut Row<'_>),
) {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let names = || columns.split_ascii_whitespace();
    let mut places: Vec<Option<usize>> = (0..names().count()).map(Some).collect();
    let mut width = places.len();
    let mut record = StringRecord::new();
    let mut is_first = true;
    let mut lines = Lines::new(text);
    loop {
        let is_row = reader.read_record(&mut record);
        let position = record.position();
        if is_first && record.iter().any(|name| name.trim() == "id") {
            let place = |name| record.iter().position(|theirs| theirs.trim() == name);
            places = names().map(place).collect();
            width = record.len();
            is_first = false;
            continue;
        }
        is_first = false;
        match is_row {
            Ok(false) => return,
            Ok(true) => {
                let fields = Fields {
                    record: &record,
                    places: &places,
                };
                let line = lines.number(position.map_or(0, csv::Position::byte));
                let mut row = Row::new(fields.get(0), Some(fields.get(1)), line);
                if record.len() > width {
                    row.differs("fields", &width, &record.len());
                }
                compare(&fields, &mut row);
                sheet.count(row);
            }
            Err(error) => {
                let line = lines.number(error.position().map_or(0, csv::Position::byte));
                let mut row = Row::new("", None, line);
                row.differs("row", &error, &"a row of CSV");
                sheet.count(row);
            }
        }
    }
}

/// Numbers of lines for growing places in a text; the reader's own are behind where lines end
/// with a carriage return or are blank.
struct Lines<'a> {
    bytes: &'a [u8],
    place: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            place: 0,
            line: 1,
        }
    }

    /// Returns the line, from 1, of the first character at or after `byte` that ends no line.
    fn number(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(c) = self.bytes.get(self.place)
            && (self.place < byte || matches!(c, b'\r' | b'\n'))
        {
            self.line += u64::from(*c == b'\n');
            self.place += 1;
        }
        self.line
    }
}

fn unreadable(row: &mut Row<'_>, field: &str) {
    row.differs(field, &"not understood", &"as written");
}

/// A row and where its fields stand; an absent field reads as empty.
struct Fields<'a> {
    record: &'a StringRecord,
    places: &'a [Option<usize>],
}

impl<'a> Fields<'a> {
    /// Returns the field of a column, by its place among the columns of the file's kind.
    fn get(&self, column: usize) -> &'a str {
        self.places
            .get(column)
            .copied()
            .flatten()
            .and_then(|place| self.record.get(place))
            .unwrap_or_default()
    }

    fn parse<T: std::str::FromStr>(
        &self,
        index: usize,
        name: &'static str,
    ) -> Result<T, &'static str> {
        self.get(index).parse().map_err(|_| name)
    }
}

fn read_cost_call(fields: &Fields<'_>) -> Result<Call, &'static str> {
    let (datatype, op) = read_type(fields.get(2)).ok_or("type")?;
    Ok(Call {
        collective: NcclCollective::from_plain_name(fields.get(1)).ok_or("coll")?,
        bytes: fields.parse(3, "nBytes")?,
        pipe_ops: fields.parse(4, "numPipeOps")?,
        datatype,
        op,
        collnet: fields.parse::<u8>(5, "collNetSupport")? != 0,
        nvls: fields.parse::<u8>(6, "nvlsSupport")? != 0,
    })
}

fn read_user_call(fields: &Fields<'_>) -> Result<UserCall, &'static str> {
    Ok(UserCall {
        collective: NcclCollective::from_plain_name(fields.get(1)).ok_or("coll")?,
        datatype: read_datatype(fields.get(2)).ok_or("dtype")?,
        op: fields.parse(3, "op").map_err(|_| "op")?,
        count: fields.parse(4, "count")?,
    })
}

/// Reads a type with an operator: `f32sum`, `bf16avg`, `f8sum`.
fn read_type(text: &str) -> Option<(DataType, RedOp)> {
    ["sum", "prod", "max", "min", "avg", "mulsum"]
        .into_iter()
        .filter_map(|op| Some((text.strip_suffix(op)?, op)))
        .find_map(|(datatype, op)| Some((read_datatype(datatype)?, op.parse().ok()?)))
}

fn read_datatype(text: &str) -> Option<DataType> {
    match text {
        "i8" => Some(DataType::Int8),
        "u8" => Some(DataType::Uint8),
        "i32" => Some(DataType::Int32),
        "u32" => Some(DataType::Uint32),
        "i64" => Some(DataType::Int64),
        "u64" => Some(DataType::Uint64),
        "f8" | "f8e4m3" => Some(DataType::Fp8E4m3),
        "f8e5m2" => Some(DataType::Fp8E5m2),
        _ => text.parse().ok(),
    }
}

/// Where a file keeps algorithm, protocol, time, channels and warps.
struct ChoiceFields([usize; 5]);

const COST_FIELDS: ChoiceFields = ChoiceFields([7, 8, 9, 10, 11]);
const SCHEDULE_FIELDS: ChoiceFields = ChoiceFields([6, 7, 8, 9, 10]);

/// Compares the choice; returns whether there is one on both sides.
fn check_choice(
    row: &mut Row<'_>,
    ours: Result<&Choice, &NoCandidateError>,
    fields: &Fields<'_>,
    places: &ChoiceFields,
) -> bool {
    let [algo, proto, time, channels, warps] = places.0.map(|index| fields.get(index));
    match ours {
        Ok(choice) => {
            let Candidate {
                algorithm,
                protocol,
            } = choice.candidate;
            row.check_text("algo", algorithm.plain_name(), algo);
            if !protocol.name().eq_ignore_ascii_case(proto) {
                row.differs("proto", &protocol, &proto);
            }
            row.check_single("time_us", choice.time_us, time);
            row.check_whole("nMaxChannels", i64::from(choice.channels_max), channels);
            row.check_whole("nWarps", i64::from(choice.warps), warps);
            !algo.starts_with("ERR")
        }
        Err(error) => {
            row.check_text("algo", &format!("ERR{}", error.error.code()), algo);
            // Nothing is chosen, so nothing else is written.
            row.check_text("proto", "", proto);
            row.check_text("time_us", "", time);
            row.check_text("nMaxChannels", "", channels);
            row.check_text("nWarps", "", warps);
            false
        }
    }
}

/// Compares the cost table: entries that the file lists, and no others.
fn check_entries(row: &mut Row<'_>, table: &CostTable, call: &Call, text: &str) {
    if text.is_empty() {
        return row.differs("table", &"times of the candidates", &text);
    }
    let mut theirs = [[None; 3]; 7];
    let mut their_backup = None;
    for word in text.split_ascii_whitespace() {
        let read = match word.strip_prefix("backup=") {
            Some(entry) => read_entry(entry, ':').map(|entry| their_backup = Some(entry)),
            None => read_entry(word, '=').map(|(algorithm, protocol, us)| {
                theirs[algorithm][protocol] = Some(us);
            }),
        };
        if read.is_none() {
            row.differs("table", &"not understood", &word);
        }
    }
    let mut our_backup: Option<(usize, usize, f32)> = None;
    for candidate in Candidate::all() {
        let (algorithm, protocol) = (candidate.algorithm as usize, candidate.protocol as usize);
        let ours = match table.entry(call, candidate) {
            Entry::Time(us) => us,
            Entry::Backup(us) => {
                if our_backup.is_none_or(|(_, _, best)| us < best) {
                    our_backup = Some((algorithm, protocol, us));
                }
                -1.0
            }
            Entry::Unavailable { marker, .. } => marker,
        };
        let theirs = theirs[algorithm][protocol].unwrap_or(-1.0);
        if !same_bits(ours, theirs) {
            row.differs(&format!("table.{candidate}"), &ours, &theirs);
        }
    }
    let is_equal = match (our_backup, their_backup) {
        (Some((a, p, ours)), Some((algorithm, protocol, theirs))) => {
            (a, p) == (algorithm, protocol) && same_bits(ours, theirs)
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if !is_equal {
        row.differs(
            "backup",
            &format!("{our_backup:?}"),
            &format!("{their_backup:?}"),
        );
    }
}

/// Reads `AP=time`: the digits of algorithm and protocol, and a time.
fn read_entry(text: &str, separator: char) -> Option<(usize, usize, f32)> {
    let (place, us) = text.split_once(separator)?;
    let mut digits = place.chars().map(|c| c.to_digit(10));
    let algorithm = digits.next()?? as usize;
    let protocol = digits.next()?? as usize;
    let is_place = digits.next().is_none()
        && algorithm < NcclAlgorithm::ALL.len()
        && protocol < Protocol::ALL.len();
    is_place.then_some((algorithm, protocol, us.parse().ok()?))
}

fn check_shares(row: &mut Row<'_>, scheduled: &Scheduled, fields: &Fields<'_>) {
    let (counts, chunks) = match scheduled.shares {
        Shares::Common {
            count,
            chunk_elements,
        } => ([count, 0, 0], [chunk_elements, 0, 0]),
        Shares::Split {
            counts,
            chunk_bytes,
        } => (counts, chunk_bytes),
    };
    let [low, middle, high] = counts;
    let [chunk_low, chunk_middle, chunk_high] = chunks;
    for (index, field, ours) in [
        (11, "channelLo", u64::from(scheduled.channel_low)),
        (12, "channelHi", u64::from(scheduled.channel_high)),
        (13, "countLo", low),
        (14, "countMid", middle),
        (15, "countHi", high),
        (16, "chunkLo", chunk_low),
        (17, "chunkMid", chunk_middle),
        (18, "chunkHi", chunk_high),
    ] {
        row.check_whole(field, ours.cast_signed(), fields.get(index));
    }
}
