//! From a graph file, a communicator, a log or a name to the tables of one NCCL release.

use super::unknown_key::notes_on_keys;
use super::{chain, split_hint};
use crate::Error;
use crate::text::read_text;
use std::collections::BTreeMap;
use tier6_nccl::{
    Communicator, CommunicatorSource, CostTable, Identified, LibraryVersion, Machine, NcclLog,
    RELEASES, Release, Settings, TableBasis, named_system, read_communicator, read_graph_xml,
    read_log,
};
use tier6_report::TunerSubject;

/// Where the communicator comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommunicatorInput {
    /// The graphs that NCCL writes with `NCCL_GRAPH_DUMP_FILE`.
    Graph(String),
    /// One communicator as JSON or TOML: the `inputs` object, or a whole line around it.
    Communicator(String),
    /// NCCL's log with the subsystems INIT, ENV, GRAPH and TUNING.
    Log(String),
    /// A system with a name.
    System(String),
}

/// Which tables are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct TunerRequest {
    /// The communicator.
    pub input: CommunicatorInput,
    /// The NCCL version; without one the input's, else the newest known.
    pub nccl: Option<LibraryVersion>,
    /// Variables of the environment; they win over the input's.
    pub env: Vec<(String, String)>,
    /// What is known of the machine where the input does not say it.
    pub machine: Machine,
    /// Which communicator of a log, from 1; without a number the first.
    pub communicator: Option<usize>,
}

/// The tables of one communicator under one release.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuner {
    /// What the tables are about.
    pub subject: TunerSubject,
    /// The tables.
    pub table: CostTable,
    /// Where their numbers come from.
    pub basis: TableBasis,
}

/// Reads `NCCL_ALGO=ring`.
///
/// # Errors
///
/// When there is no `=`, or no name before it.
pub fn parse_variable(text: &str) -> Result<(String, String), Error> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err(Error::Usage {
            message: format!("a variable is NAME=VALUE, found `{text}`"),
            hint: Some("for example `--env NCCL_ALGO=ring`".to_owned()),
        }),
    }
}

/// Loads a communicator and fills its tables.
///
/// # Errors
///
/// When the input cannot be read, does not make a communicator, or contradicts the request;
/// when the version is older than every release known; when NCCL refuses the environment.
pub fn load_tuner(request: &TunerRequest) -> Result<Tuner, Error> {
    match &request.input {
        CommunicatorInput::Graph(path) => from_graph(request, path),
        CommunicatorInput::Communicator(path) => from_communicator(request, path),
        CommunicatorInput::Log(path) => from_log(request, path),
        CommunicatorInput::System(name) => from_system(request, name),
    }
}

/// The release for a request, with what was said about it.
struct Chosen {
    asked: LibraryVersion,
    release: &'static Release,
    notes: Vec<String>,
}

/// Takes the version of the request, else the input's, else the newest known.
fn release(request: &TunerRequest, of_input: Option<LibraryVersion>) -> Result<Chosen, Error> {
    let Some(asked) = request.nccl.or(of_input) else {
        let release = Release::newest();
        let asked = release.version();
        let mut notes = vec![format!(
            "no version is given; NCCL {asked}, the newest known, is used"
        )];
        notes.extend(doubts(request, release));
        return Ok(Chosen {
            asked,
            release,
            notes,
        });
    };
    let found = Release::for_version(asked).map_err(|error| Error::Domain {
        message: error.to_string(),
        hint: Some("`--nccl` takes 2.19.3 and later versions".to_owned()),
    })?;
    let mut notes: Vec<String> = found.substitute_note().into_iter().collect();
    notes.extend(doubts(request, found.release));
    Ok(Chosen {
        asked,
        release: found.release,
        notes,
    })
}

/// Reads the environment: the input's variables, then those of the request.
fn settings(
    request: &TunerRequest,
    of_input: &BTreeMap<String, String>,
    release: &Release,
) -> Result<Settings, Error> {
    let mut env = of_input.clone();
    env.extend(request.env.iter().cloned());
    let pairs = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Settings::from_env(pairs, release).map_err(|error| {
        let (message, hint) = split_hint(&chain(&error));
        Error::Usage { message, hint }
    })
}

/// Returns what is to be said of the variables of the request.
fn doubts(request: &TunerRequest, release: &Release) -> Vec<String> {
    let pairs = request
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Settings::doubts(pairs, release)
}

fn malformed(path: &str, error: &dyn std::error::Error) -> Error {
    let (message, hint) = split_hint(&chain(error));
    let is_about_ranks = message.contains("number of ranks");
    Error::Malformed {
        path: path.to_owned(),
        message,
        hint: if is_about_ranks {
            Some("`--ranks N --nodes N`".to_owned())
        } else {
            hint
        },
    }
}

fn finished(source: &str, chosen: Chosen, table: CostTable, basis: TableBasis) -> Tuner {
    let notes = chosen.notes.into_iter();
    let notes = notes.map(|note| note.replace("; hint: pass it", "; `--comp-cap X.Y` states it"));
    let communicator = table.communicator();
    Tuner {
        subject: TunerSubject {
            source: source.to_owned(),
            nccl: chosen.asked,
            version_used: chosen.release.version(),
            ranks: communicator.n_ranks,
            nodes: communicator.n_nodes,
            notes: notes.collect(),
        },
        table,
        basis,
    }
}

fn from_graph(request: &TunerRequest, path: &str) -> Result<Tuner, Error> {
    let mut chosen = release(request, None)?;
    let text = read_text(path)?;
    let file = read_graph_xml(&text, chosen.release).map_err(|error| malformed(path, &error))?;
    let mut machine = request.machine.clone();
    machine.local_ranks = machine.local_ranks.or(file.local_ranks);
    if machine.n_nodes.is_none() && file.uses_network {
        machine.n_nodes = nodes_by_ranks(&machine);
        if machine.n_nodes.is_none() {
            return Err(Error::Malformed {
                path: path.to_owned(),
                message: "the graphs pass network devices, so there are several nodes; how many \
                          is not in the file"
                    .to_owned(),
                hint: Some("`--nodes N`, with `--ranks N` where nodes differ".to_owned()),
            });
        }
    }
    let assembled =
        (machine.assemble(file.graphs, chosen.release)).map_err(|error| malformed(path, &error))?;
    chosen.notes.extend(assembled.assumptions);
    let settings = settings(request, &BTreeMap::new(), chosen.release)?;
    let communicator = settings.applied_to(assembled.communicator, chosen.release);
    let table = CostTable::new(chosen.release, communicator, settings);
    Ok(finished(path, chosen, table, TableBasis::Model))
}

/// Returns the nodes where every one is as full as the one of the graphs.
fn nodes_by_ranks(machine: &Machine) -> Option<i32> {
    let (ranks, local) = (machine.n_ranks?, machine.local_ranks?);
    (local > 0 && ranks > local && ranks % local == 0).then_some(ranks / local)
}

fn from_communicator(request: &TunerRequest, path: &str) -> Result<Tuner, Error> {
    let text = read_text(path)?;
    let json = json_of(path, &text)?;
    // Numbers of path types are the line's own; a bare object is read as the request's version.
    let named = json
        .get("version")
        .and_then(serde_json::Value::as_str)
        .and_then(|text| text.parse().ok());
    let mut chosen = release(request, named)?;
    if let Some(named) = named.filter(|named| *named != chosen.asked) {
        chosen.notes.push(format!(
            "the communicator is the one that NCCL {named} found"
        ));
    }
    let on_keys = notes_on_keys(&json);
    let source = read_communicator(&json.to_string(), chosen.release).map_err(|error| {
        match malformed(path, &error) {
            Error::Malformed {
                path,
                message,
                hint,
            } => Error::Malformed {
                path,
                message: if is_json(&text) {
                    message
                } else {
                    message.replace(" as JSON", " as TOML")
                },
                // What is missing may be there under another name.
                hint: hint.or_else(|| on_keys.first().cloned()),
            },
            other => other,
        }
    })?;
    chosen.notes.extend(on_keys);
    let name = source.id.clone().unwrap_or_else(|| path.to_owned());
    from_source(request, &name, source, chosen)
}

/// Reads JSON, or TOML with the same fields.
fn json_of(path: &str, text: &str) -> Result<serde_json::Value, Error> {
    let parsed = if is_json(text) {
        serde_json::from_str(text).map_err(|error| lines_hint(error.to_string(), text))
    } else {
        toml::from_str(text).map_err(|error| (error.to_string(), None))
    };
    parsed.map_err(|(message, hint)| Error::Malformed {
        path: path.to_owned(),
        message: message.trim_end().to_owned(),
        hint,
    })
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Says what to do with a file of several communicators, one per line.
fn lines_hint(message: String, text: &str) -> (String, Option<String>) {
    let is_list = text.lines().filter(|line| line.starts_with('{')).count() > 1;
    let hint = "one communicator per file: take its line, as in `grep '\"id\":\"NAME\"' FILE | \
                tier6 tuner choose --comm -`";
    (message, is_list.then(|| hint.to_owned()))
}

fn from_system(request: &TunerRequest, name: &str) -> Result<Tuner, Error> {
    let chosen = release(request, None)?;
    let source = named_system(name, chosen.release).map_err(|error| Error::Usage {
        message: format!("unknown system `{}`", error.name),
        hint: Some(if error.nearest.is_empty() {
            "`tier6 tuner systems` lists them".to_owned()
        } else {
            format!(
                "{}; `tier6 tuner systems` lists all",
                error.nearest.join(", ")
            )
        }),
    })?;
    from_source(request, name, source, chosen)
}

fn from_source(
    request: &TunerRequest,
    name: &str,
    source: CommunicatorSource,
    chosen: Chosen,
) -> Result<Tuner, Error> {
    agrees(
        "ranks",
        request.machine.n_ranks,
        source.communicator.n_ranks,
    )?;
    agrees(
        "nodes",
        request.machine.n_nodes,
        source.communicator.n_nodes,
    )?;
    let settings = settings(request, &source.env, chosen.release)?;
    let communicator: Communicator = settings.applied_to(source.communicator, chosen.release);
    let table = CostTable::new(chosen.release, communicator, settings);
    Ok(finished(name, chosen, table, TableBasis::Model))
}

fn agrees(what: &str, asked: Option<i32>, found: i32) -> Result<(), Error> {
    match asked {
        Some(asked) if asked != found => Err(Error::Usage {
            message: format!("`--{what} {asked}` contradicts the communicator, which has {found}"),
            hint: Some(format!("leave `--{what}` out")),
        }),
        _ => Ok(()),
    }
}

fn from_log(request: &TunerRequest, path: &str) -> Result<Tuner, Error> {
    let log = read_log(&read_text(path)?);
    from_read_log(request, path, log)
}

/// Fills the tables of a log that is already read.
pub(super) fn from_read_log(
    request: &TunerRequest,
    path: &str,
    log: NcclLog,
) -> Result<Tuner, Error> {
    let index = index_of(request, path, &log)?;
    let (mut chosen, identified) = identify(request, path, &log, index)?;
    let found = log.communicators.len();
    if found > 1 && request.communicator.is_none() {
        chosen.notes.push(format!(
            "the log holds {found} communicators; the first is used, `--communicator N` takes another"
        ));
    }
    chosen.notes.extend(log.warnings);
    chosen.notes.extend(identified.assumptions);
    if identified.basis == TableBasis::ModelEqualToLog {
        chosen
            .notes
            .push("the tables that the log prints are the model's, number by number".to_owned());
    }
    Ok(finished(path, chosen, identified.table, identified.basis))
}

/// Puts a communicator of a log together. A log that names no version but prints its tables is
/// of the newest release that gives them.
fn identify(
    request: &TunerRequest,
    path: &str,
    log: &NcclLog,
    index: usize,
) -> Result<(Chosen, Identified), Error> {
    let logged = &log.communicators[index];
    let under = |release: &'static Release| -> Result<Identified, Error> {
        let settings = settings(request, &log.env, release)?;
        let identified = logged.identify(&request.machine, release, &settings);
        identified.map_err(|error| malformed(path, &error))
    };
    if request.nccl.is_none() && log.version.is_none() && logged.table.is_some() {
        for release in RELEASES.iter().rev() {
            // A release that refuses the environment did not write the log.
            let Ok(identified) = under(release) else {
                continue;
            };
            if identified.basis == TableBasis::ModelEqualToLog {
                let asked = release.version();
                let mut notes = doubts(request, release);
                notes.push(format!(
                    "the log names no version; the newest release with its tables is NCCL {asked}"
                ));
                let chosen = Chosen {
                    asked,
                    release,
                    notes,
                };
                return Ok((chosen, identified));
            }
        }
    }
    let chosen = release(request, log.version)?;
    let identified = under(chosen.release)?;
    Ok((chosen, identified))
}

fn index_of(request: &TunerRequest, path: &str, log: &NcclLog) -> Result<usize, Error> {
    let found = log.communicators.len();
    if found == 0 {
        return Err(Error::Nothing {
            message: format!("no communicator with graphs in `{path}`"),
            hint: Some(
                "NCCL prints them with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING"
                    .to_owned(),
            ),
        });
    }
    match request.communicator {
        None => Ok(0),
        Some(number) if (1..=found).contains(&number) => Ok(number - 1),
        Some(number) => Err(Error::Usage {
            message: format!("`--communicator {number}`: the log holds {found}"),
            hint: None,
        }),
    }
}
