//! The lines around the table: parameters, devices, versions, footer, failures, commands.

use crate::read::command::apply;
use crate::read::environment::kept;
use crate::{Device, LibraryVersion, RunSetup, SizeStep};
use tier6_collective::Collective;
use tier6_units::{Bytes, GbPerSec};

/// A line that is not a row and not a log line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HeaderLine {
    /// `nThread 1 nGpus 8 minBytes …`.
    Parameters(Box<Parameters>),
    /// `Using devices`.
    DevicesFollow,
    /// `Rank 0 Group 0 Pid 1000 on node1 device 0 [0x07] NVIDIA …`.
    Device(Device),
    /// `Reducing maxBytes to N due to memory limitation`.
    ReducedMaxBytes(Bytes),
    /// The line that names the placements.
    Title,
    /// `(B) (elements) (us) …`.
    Units,
    /// `Collective test starting: all_reduce_perf`.
    Starting(Option<Collective>),
    /// `Collective test concluded: all_reduce_perf`.
    Concluded(Option<Collective>),
    /// A command with the benchmark's program in it.
    Command(Collective),
    /// `Testing 2 cycle.`.
    Cycle(u32),
    /// `nccl-tests version …`, `NCCL version …`.
    Version(Option<LibraryVersion>),
    /// `Blocking Enabled: …`.
    Blocking(String),
    /// `Out of bounds values : 0 OK`.
    OutOfBounds {
        /// The count.
        count: Option<u64>,
        /// `OK` or `FAILED`.
        passed: Option<bool>,
    },
    /// `Avg bus bandwidth : 92.3`.
    Average {
        /// The mean.
        busbw: Option<GbPerSec>,
        /// The run's own threshold (`NCCL_TESTS_MIN_BW`) was missed.
        below_threshold: bool,
    },
    /// A failure that ends the run.
    Failure {
        /// Host that reports it.
        host: Option<String>,
        /// What it says.
        message: String,
    },
    /// `...`: the author left lines out.
    Omission,
    /// A line of the header that holds nothing for us.
    Known,
    /// A complaint of another layer.
    Complaint,
    /// Anything else.
    Other,
}

/// The parameter line as read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Parameters {
    /// The values of known keys.
    pub setup: RunSetup,
}

/// Recognises a cleaned line without its `#`.
pub(super) fn recognise(text: &str) -> HeaderLine {
    if let Some(line) = failure(text) {
        return line;
    }
    if text.starts_with("nThread ") || text.contains(" minBytes ") {
        return HeaderLine::Parameters(Box::new(parameters(text)));
    }
    if text.starts_with("Rank") {
        return device(text).map_or(HeaderLine::Other, HeaderLine::Device);
    }
    if let Some(line) = footer(text).or_else(|| title_or_units(text)) {
        return line;
    }
    if let Some(rest) = text.strip_prefix("Reducing maxBytes to ") {
        let digits = rest.split_ascii_whitespace().next().unwrap_or("");
        return digits.parse().map_or(HeaderLine::Other, |bytes| {
            HeaderLine::ReducedMaxBytes(Bytes::new(bytes))
        });
    }
    if let Some(rest) = text.strip_prefix("Collective test starting:") {
        return HeaderLine::Starting(rest.trim().parse().ok());
    }
    if let Some(rest) = text.strip_prefix("Collective test concluded:") {
        return HeaderLine::Concluded(rest.trim().parse().ok());
    }
    if text.contains("version")
        && let Some(line) = version(text)
    {
        return line;
    }
    if let Some(rest) = text.strip_prefix("Testing ") {
        let cycle = rest
            .split_ascii_whitespace()
            .next()
            .and_then(|n| n.parse().ok());
        return cycle.map_or(HeaderLine::Other, HeaderLine::Cycle);
    }
    if text.starts_with("Blocking Enabled") {
        return HeaderLine::Blocking(text.trim_end().to_owned());
    }
    if let Some(collective) = command(text) {
        return HeaderLine::Command(collective);
    }
    other(text)
}

fn other(text: &str) -> HeaderLine {
    const KNOWN: [&str; 6] = [
        "Using devices",
        "Per-Iteration Report",
        "Parallel Init Enabled",
        "Writing JSON output",
        "GPU memory usage",
        "```",
    ];
    const COMPLAINTS: [&str; 10] = [
        "warning",
        "error",
        "fail",
        "segmentation fault",
        "abort",
        "killed",
        "timed out",
        "exited on signal",
        "no space left",
        "cancelled",
    ];
    if text.starts_with("Using devices") {
        return HeaderLine::DevicesFollow;
    }
    if text == "..." || text == "…" || text == "[...]" {
        return HeaderLine::Omission;
    }
    if KNOWN.iter().any(|known| text.starts_with(known)) {
        return HeaderLine::Known;
    }
    let lower = text.to_ascii_lowercase();
    if COMPLAINTS.iter().any(|word| lower.contains(word)) {
        return HeaderLine::Complaint;
    }
    HeaderLine::Other
}

/// `node2: Test NCCL failure common.cu:1204 '…'`, ` .. node2 pid 1001: Test failure common.cu:915`
/// (source: nccl-tests `src/common.h`, `NCCLCHECK`, `CUDACHECK`, `TESTCHECK`).
fn failure(text: &str) -> Option<HeaderLine> {
    const KINDS: [&str; 5] = [
        "Test NCCL failure",
        "Test CUDA failure",
        "Test HIP failure",
        "Test failure",
        "Test timeout",
    ];
    if !text.contains("Test ") {
        return None;
    }
    let at = KINDS.iter().find_map(|kind| text.find(kind))?;
    let before = text[..at].trim_start_matches("..").trim();
    let host = before.trim_end_matches(':').split_ascii_whitespace().next();
    Some(HeaderLine::Failure {
        host: host.filter(|host| !host.is_empty()).map(str::to_owned),
        message: text[at..].trim_end().to_owned(),
    })
}

/// `Out of bounds values : 0 OK`, `Avg bus bandwidth : 92.3 `.
fn footer(text: &str) -> Option<HeaderLine> {
    let value = |name: &str| {
        Some(
            text.strip_prefix(name)?
                .trim_start()
                .strip_prefix(':')?
                .trim(),
        )
    };
    if let Some(value) = value("Out of bounds values") {
        let mut words = value.split_ascii_whitespace();
        let count = words.next().and_then(|word| word.parse().ok());
        let passed = match words.next() {
            Some("OK") => Some(true),
            Some("FAILED") => Some(false),
            _ => None,
        };
        return Some(HeaderLine::OutOfBounds { count, passed });
    }
    let value = value("Avg bus bandwidth")?;
    let mut words = value.split_ascii_whitespace();
    let number = words.next().and_then(|word| word.parse::<f64>().ok());
    Some(HeaderLine::Average {
        busbw: number
            .filter(|n| n.is_finite() && *n >= 0.0)
            .map(GbPerSec::new),
        below_threshold: words.next() == Some("FAILED"),
    })
}

fn title_or_units(text: &str) -> Option<HeaderLine> {
    if text.starts_with("out-of-place") || text.starts_with("in-place") {
        return Some(HeaderLine::Title);
    }
    text.starts_with("(B)").then_some(HeaderLine::Units)
}

fn version(text: &str) -> Option<HeaderLine> {
    if text.starts_with("nccl-tests version") {
        let code = text.split("nccl-library=").nth(1);
        let code = code.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok());
        return Some(HeaderLine::Version(
            code.and_then(LibraryVersion::from_code),
        ));
    }
    let named = text.starts_with("NCCL version") || text.starts_with("RCCL version");
    named.then(|| HeaderLine::Version(crate::read::nccl_log::version_in(text)))
}

/// The collective of `./build/all_reduce_perf -b 8 -e 1G`, whatever launcher stands before it.
fn command(text: &str) -> Option<Collective> {
    let end = text.find("_perf")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text[..end].rfind(|c| !is_name(c)).map_or(0, |at| {
        at + text[at..].chars().next().map_or(1, char::len_utf8)
    });
    let rest = &text[end + "_perf".len()..];
    let has_options = rest
        .trim_start_matches(is_name)
        .trim_start()
        .starts_with('-');
    has_options.then(|| text[start..end].parse().ok()).flatten()
}

/// Sets what the options of the benchmark say; those of the launcher in front of it, such as
/// `mpirun -n 8`, mean other things, but the environment may be set there.
pub(super) fn apply_options(text: &str, setup: &mut RunSetup) {
    if let Some(at) = text.find("_perf") {
        let before = text[..at].split_ascii_whitespace();
        setup.environment.extend(before.filter_map(kept));
        apply(&text[at..], setup);
    }
}

/// Drops variables that are not on the allow-list: a pasted command may set a token.
pub(super) fn without_secrets(command: &str) -> String {
    let is_variable = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        })
    };
    let words = command.split_ascii_whitespace();
    let shown: Vec<&str> = words
        .filter(|word| !is_variable(word) || kept(word).is_some())
        .collect();
    shown.join(" ")
}

/// Reads `Rank 0 [Group 0] Pid 1000 on node1 device 0 [0x07] NVIDIA …`.
fn device(text: &str) -> Option<Device> {
    let mut words = text.split_ascii_whitespace();
    let mut after = |name: &str| {
        words.find(|word| *word == name)?;
        words.next()
    };
    let rank = after("Rank")?.parse().ok()?;
    let host = after("on")?.to_owned();
    let device = after("device").and_then(|word| word.parse().ok());
    let (bus_id, name) = match text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
    {
        Some((bus_id, name)) => (Some(bus_id.to_owned()), name.trim().to_owned()),
        None => (None, String::new()),
    };
    Some(Device {
        rank,
        host,
        device,
        bus_id,
        name,
    })
}

/// Reads the parameter line. Keys of forks are kept, in order.
fn parameters(text: &str) -> Parameters {
    let mut setup = RunSetup {
        header_seen: true,
        ..RunSetup::default()
    };
    let mut key: Vec<&str> = Vec::new();
    let mut words = text.split_ascii_whitespace();
    while let Some(word) = words.next() {
        if matches!(word, "nThread" | "nGpus" | "minBytes" | "maxBytes") {
            if let Some(value) = words.next() {
                set(&mut setup, word, value);
            }
            keep_extra(&mut setup, &mut key);
        } else if let Some(last) = word.strip_suffix(':') {
            key.push(last);
            let value = words.next().unwrap_or("");
            let known = ["warmup iters", "agg iters"]
                .into_iter()
                .find(|name| key.join(" ").ends_with(name))
                .unwrap_or(last);
            key.truncate(key.len() - known.split(' ').count());
            keep_extra(&mut setup, &mut key);
            set(&mut setup, known, value);
        } else {
            key.push(word);
        }
    }
    keep_extra(&mut setup, &mut key);
    Parameters { setup }
}

/// Keeps words without a colon, such as a fork's `offset <0>/<0>`.
fn keep_extra(setup: &mut RunSetup, words: &mut Vec<&str>) {
    if let Some((name, value)) = words.split_first() {
        setup.extra.push(((*name).to_owned(), value.join(" ")));
    }
    words.clear();
}

fn set(setup: &mut RunSetup, key: &str, value: &str) {
    let number = || value.parse::<u32>().ok();
    let bytes = || value.parse::<u64>().ok().map(Bytes::new);
    match key {
        "nThread" => setup.threads = number(),
        "nGpus" => setup.gpus = number(),
        "minBytes" => setup.min_bytes = bytes(),
        "maxBytes" => setup.max_bytes = bytes(),
        "step" => setup.step = step(value),
        "warmup iters" => setup.warmup_iterations = number(),
        "iters" => setup.iterations = number(),
        "agg iters" => setup.aggregated_iterations = number(),
        "validation" => setup.validation = number().map(|checks| checks > 0),
        "graph" => setup.graph_launches = number(),
        _ => setup.extra.push((key.to_owned(), value.to_owned())),
    }
}

/// `2(factor)`, `1048576(bytes)`.
fn step(value: &str) -> Option<SizeStep> {
    let (number, kind) = value.split_once('(')?;
    match kind.trim_end_matches(')') {
        "factor" => {
            let factor = number
                .parse()
                .ok()
                .filter(|factor: &f64| factor.is_finite());
            factor.map(SizeStep::Factor)
        }
        "bytes" => number
            .parse()
            .ok()
            .map(|bytes| SizeStep::Bytes(Bytes::new(bytes))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_forks_are_kept() {
        let text = "nThread 1 nGpus 4 minBytes 64 maxBytes 4096 offset <0>/<0> step: 2(factor) \
                    warmup iters: 3 iters: 7 redop: sum agg iters: 2 validation: 0 graph: 5 kind: x";
        let HeaderLine::Parameters(parameters) = recognise(text) else {
            panic!()
        };
        let setup = parameters.setup;
        assert_eq!((setup.threads, setup.gpus), (Some(1), Some(4)));
        assert_eq!(
            (setup.warmup_iterations, setup.iterations),
            (Some(3), Some(7))
        );
        assert_eq!(
            (setup.aggregated_iterations, setup.graph_launches),
            (Some(2), Some(5))
        );
        assert_eq!(setup.validation, Some(false));
        assert_eq!(setup.step, Some(SizeStep::Factor(2.0)));
        let extra: Vec<String> = setup
            .extra
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        assert_eq!(extra, ["offset=<0>/<0>", "redop=sum", "kind=x"]);
    }

    #[test]
    fn devices_of_every_age_are_read() {
        let read = |text| match recognise(text) {
            HeaderLine::Device(device) => device,
            other => panic!("{other:?}"),
        };
        let new = read("Rank 11 Group  0 Pid   77 on  host-a device  3 [0000:0a:00] NVIDIA X 80GB");
        assert_eq!((new.rank, &*new.host, new.device), (11, "host-a", Some(3)));
        assert_eq!(
            (new.bus_id.as_deref(), &*new.name),
            (Some("0000:0a:00"), "NVIDIA X 80GB")
        );
        let old = read("Rank  0 Pid   77 on host-a device  0 [0x10] A100");
        assert_eq!((old.rank, &*old.name), (0, "A100"));
        assert_eq!(recognise("Rank of nothing"), HeaderLine::Other);
    }

    #[test]
    fn commands_name_the_collective() {
        let names = |text: &str| match recognise(text) {
            HeaderLine::Command(collective) | HeaderLine::Starting(Some(collective)) => {
                Some(collective.name())
            }
            _ => None,
        };
        assert_eq!(
            names("$ mpirun -np 8 ./build/all_gather_perf -b 8"),
            Some("all_gather")
        );
        assert_eq!(
            names("reduce_scatter_perf --minbytes 8"),
            Some("reduce_scatter")
        );
        assert_eq!(
            names("Collective test starting: sendrecv_perf"),
            Some("send_recv")
        );
        assert_eq!(names("all_reduce_perf crashed"), None);
        let mut setup = RunSetup::default();
        let command = "NCCL_ALGO=Ring MY_TOKEN=x srun -N 2 -n 16 ./all_reduce_perf -b 8 -N 5 -n 30";
        apply_options(command, &mut setup);
        let ring = ("NCCL_ALGO".to_owned(), "Ring".to_owned());
        assert_eq!(setup.environment, [ring]);
        let shown = without_secrets(command);
        assert!(shown.starts_with("NCCL_ALGO=Ring srun -N 2"), "{shown}");
        assert_eq!((setup.cycles, setup.iterations), (Some(5), Some(30)));
    }

    #[test]
    fn failures_name_their_host() {
        let HeaderLine::Failure { host, message } =
            recognise("box7: Test CUDA failure common.cu:99 'out of memory'")
        else {
            panic!()
        };
        assert_eq!(host.as_deref(), Some("box7"));
        assert_eq!(message, "Test CUDA failure common.cu:99 'out of memory'");
        let HeaderLine::Failure { host, .. } =
            recognise(".. box7 pid 12: Test failure common.cu:1")
        else {
            panic!()
        };
        assert_eq!(host.as_deref(), Some("box7"));
    }
}
