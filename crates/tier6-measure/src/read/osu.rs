//! OSU micro-benchmarks: latency of MPI collectives, and of one message.
//!
//! The header may name two columns where `-f` prints five: size, average, minimum, maximum,
//! iterations. Minimum and maximum are over ranks, so they are no samples of a repetition. The
//! size is per rank and peer; nccl-tests' size of gather-like collectives is that of all ranks,
//! so it needs the number of ranks. There is no bandwidth column and no correctness check.

use super::consistency::Printed;
use super::rows::{Row, Signature, in_input_order, series};
use super::{ReadError, ReadOptions};
use crate::{
    Dataset, Dialect, Parsed, Placement, Run, RunEnd, RunSetup, Trace, Warning, WarningCode, Wrong,
};
use tier6_collective::{Collective, DataType};

/// Position of the iterations among the columns of `-f`.
const ITERATIONS_AT: usize = 4;

/// Says whether a text holds the header of an OSU test.
pub(crate) fn looks_like(head: &str) -> bool {
    head.lines().any(|line| title(line).is_some())
}

/// `# OSU MPI-CUDA Reduce Latency Test v7.3`, in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Title<'a> {
    /// `MPI-CUDA`
    library: &'a str,
    /// `Reduce Latency`
    test: &'a str,
    /// `7.3`
    version: Option<&'a str>,
}

fn title(line: &str) -> Option<Title<'_>> {
    let rest = line.trim().strip_prefix('#')?.trim().strip_prefix("OSU ")?;
    let (library, rest) = rest.split_once(' ')?;
    let (test, tail) = rest.split_once(" Test")?;
    Some(Title {
        library,
        test: test.trim(),
        version: tail
            .trim()
            .strip_prefix('v')
            .filter(|version| !version.is_empty()),
    })
}

/// What a test measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Collective(Collective),
    /// Half of a ping-pong between two ranks.
    Message,
    Refused(&'static str),
}

fn subject(test: &str) -> Subject {
    let letters: String = test
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if letters.starts_with("nonblocking") {
        return Subject::Refused("a non-blocking test measures overlap with computation");
    }
    let Some(name) = letters.strip_suffix("latency") else {
        return Subject::Refused(
            "only latency tests give a time per message; run the `latency` test of the same kind",
        );
    };
    let name = name.strip_suffix("personalizedexchange").unwrap_or(name);
    // Counts that differ by rank are equal in these tests.
    let name = match name {
        "allgatherv" | "gatherv" | "scatterv" => name.trim_end_matches('v'),
        _ => name,
    };
    match name.parse() {
        Ok(collective) => Subject::Collective(collective),
        Err(()) if name.is_empty() => Subject::Message,
        Err(()) => Subject::Refused("tier6 has no such collective"),
    }
}

/// Reads an OSU test, or several in one text.
///
/// # Errors
///
/// When the test is none that gives a time per size.
pub(crate) fn read(text: &str, options: &ReadOptions) -> Result<Parsed<Dataset>, ReadError> {
    let mut warnings = Vec::new();
    let mut runs = Vec::new();
    let mut refusal = None;
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| title(lines[*at]).is_some())
        .collect();
    for (nth, start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(lines.len());
        let Some(found) = title(lines[*start]) else {
            continue;
        };
        let line = *start as u64 + 1;
        let collective = match subject(found.test) {
            Subject::Collective(collective) => collective,
            Subject::Message => {
                warnings.push(note(
                    line,
                    "half of a ping-pong between two ranks, not an exchange in both directions",
                ));
                Collective::SendRecv
            }
            Subject::Refused(why) => {
                let message = format!("OSU `{}` is not read: {why}", found.test);
                warnings.push(Warning {
                    code: WarningCode::Unknown,
                    line: Some(line),
                    message: message.clone(),
                });
                refusal.get_or_insert(ReadError::Malformed { line, message });
                continue;
            }
        };
        let is_last = end == lines.len();
        let block = Block {
            lines: &lines[*start..end],
            first_line: line,
            is_terminated: !is_last || text.ends_with('\n'),
        };
        runs.push(block.read(&found, collective, options, &mut warnings));
    }
    if runs.is_empty() {
        return Err(refusal.unwrap_or(ReadError::NotRecognised {
            line: Some(lines.len() as u64),
        }));
    }
    Ok(Parsed {
        value: Dataset {
            dialect: Dialect::Osu,
            runs,
            trace: Trace::default(),
        },
        warnings: in_input_order(warnings),
    })
}

fn note(line: u64, message: &str) -> Warning {
    Warning {
        code: WarningCode::Note,
        line: Some(line),
        message: message.to_owned(),
    }
}

/// The lines of one test.
struct Block<'a> {
    lines: &'a [&'a str],
    first_line: u64,
    is_terminated: bool,
}

impl Block<'_> {
    fn read(
        &self,
        title: &Title<'_>,
        collective: Collective,
        options: &ReadOptions,
        warnings: &mut Vec<Warning>,
    ) -> Run {
        let ranks = match collective {
            Collective::SendRecv => Some(2),
            _ => options.ranks,
        };
        let signature = Signature {
            collective: Some(collective),
            ranks,
            nodes: options.nodes,
            datatype: self.datatype(),
            redop: None,
            root: None,
        };
        let table = self.rows(warnings);
        if table.iter().any(|(_, cells)| cells.len() > 2) {
            warnings.push(note(
                self.first_line,
                "minimum and maximum are over ranks, not over repetitions; they are no samples",
            ));
        }
        let parts = parts(collective, ranks, self.first_line, warnings);
        let rows: Vec<Row> = table
            .iter()
            .filter_map(|(line, cells)| row(*line, cells, signature, parts))
            .collect();
        let mut extra = vec![("library".to_owned(), title.library.to_owned())];
        if let Some(version) = title.version {
            extra.push(("osu version".to_owned(), version.to_owned()));
        }
        Run {
            setup: RunSetup {
                iterations: iterations(&table),
                extra,
                header_seen: true,
                ..RunSetup::default()
            },
            rows: rows.len() as u64,
            series: series(rows, options, warnings),
            footer: None,
            end: RunEnd::NotStated,
            first_line: self.first_line,
        }
    }

    /// `# Datatype: MPI_CHAR.`
    fn datatype(&self) -> Option<DataType> {
        let name = self
            .lines
            .iter()
            .find_map(|line| line.split_once("Datatype:"))?
            .1;
        match name.trim().trim_end_matches('.') {
            "MPI_CHAR" => Some(DataType::Int8),
            "MPI_INT" => Some(DataType::Int32),
            "MPI_FLOAT" => Some(DataType::Float),
            "MPI_DOUBLE" => Some(DataType::Double),
            _ => None,
        }
    }

    /// Splits the rows, and drops those that are shorter than the first.
    fn rows(&self, warnings: &mut Vec<Warning>) -> Vec<(u64, Vec<&str>)> {
        let mut rows: Vec<(u64, Vec<&str>)> = Vec::new();
        let mut foreign = 0;
        for (index, line) in self.lines.iter().enumerate() {
            let cells: Vec<&str> = line.split_whitespace().collect();
            let is_row = cells.len() >= 2
                && cells.iter().all(|cell| Printed::parse(cell).is_some())
                || cells.len() == 1 && cells[0].bytes().all(|byte| byte.is_ascii_digit());
            if is_row {
                rows.push((self.first_line + index as u64, cells));
            } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                foreign += 1;
            }
        }
        if foreign > 0 {
            warnings.push(Warning {
                code: WarningCode::Foreign,
                line: None,
                message: format!("{foreign} lines of other programs are left out"),
            });
        }
        let width = rows.first().map_or(0, |(_, cells)| cells.len());
        let last_line = rows.last().map(|(line, _)| *line);
        let ends_block = last_line == Some(self.first_line + self.lines.len() as u64 - 1);
        rows.retain(|(line, cells)| {
            let is_last = Some(*line) == last_line;
            let is_short = cells.len() < width;
            let is_open = is_last && ends_block && !self.is_terminated;
            if is_short || is_open {
                warnings.push(Warning {
                    code: if is_last {
                        WarningCode::CutRow
                    } else {
                        WarningCode::BadRow
                    },
                    line: Some(*line),
                    message: format!(
                        "size {} is incomplete ({} of {width} fields) and not used",
                        cells[0],
                        cells.len()
                    ),
                });
            }
            !is_short && !is_open
        });
        rows
    }
}

/// How many of a row's parts make a message in nccl-tests' meaning; one when that is not known.
fn parts(
    collective: Collective,
    ranks: Option<u32>,
    line: u64,
    warnings: &mut Vec<Warning>,
) -> u64 {
    // OSU divides the size of a reduce-scatter among the ranks, as nccl-tests does.
    if !collective.counts_per_peer() || collective == Collective::ReduceScatter {
        return 1;
    }
    if let Some(ranks) = ranks {
        let message =
            format!("sizes are per rank in the file; here times {ranks}, as nccl-tests counts");
        warnings.push(note(line, &message));
        return u64::from(ranks);
    }
    warnings.push(note(
        line,
        "sizes are per rank; nccl-tests' size is that times the ranks, which are not stated",
    ));
    1
}

fn row(line: u64, cells: &[&str], signature: Signature, parts: u64) -> Option<Row> {
    let size: u64 = cells.first()?.parse().ok()?;
    let time = Printed::parse(cells.get(1)?).filter(|time| time.value > 0.0)?;
    Some(Row {
        line,
        signature,
        placement: Placement::OutOfPlace,
        bytes: size.checked_mul(parts)?,
        count: signature.datatype.map(|datatype| size / datatype.bytes()),
        time: Some(time),
        algbw: None,
        busbw: None,
        wrong: Wrong::NotChecked,
        iterations: Vec::new(),
        published: None,
        path: None,
        tuner: None,
    })
}

/// The iterations when all rows agree; OSU takes fewer for large messages.
fn iterations(table: &[(u64, Vec<&str>)]) -> Option<u32> {
    let of = |cells: &Vec<&str>| cells.get(ITERATIONS_AT)?.parse::<u32>().ok();
    let first = of(&table.first()?.1)?;
    table
        .iter()
        .all(|(_, cells)| of(cells) == Some(first))
        .then_some(first)
}
