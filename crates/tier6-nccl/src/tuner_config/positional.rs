//! The dialects of NVIDIA's example and of RCCL, which have the same fields in the same
//! places:
//! `collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]`.
//!
//! They differ in what they do with what they do not understand: the example guesses, RCCL
//! skips the line.

use super::lines::{Piece, fields, pieces};
use super::{Channels, Dialect, Finding, Interval, RuleCode, Severity, TunerConfig, TunerRule};
use crate::c_number::{int, is_decimal, unsigned};
use crate::candidate::{Candidate, NcclAlgorithm, NcclCollective};
use tier6_collective::{Algorithm, Protocol};

/// Fields that a rule needs.
const FIELDS_MIN: usize = 8;

pub(super) fn read(text: &str, dialect: Dialect) -> TunerConfig {
    let mut config = TunerConfig {
        dialect,
        rules: Vec::new(),
        findings: Vec::new(),
    };
    for piece in pieces(text) {
        if piece.is_cut && piece.index == 0 {
            config.findings.push(Finding::new(
                RuleCode::LongLine,
                Severity::Error,
                piece.line,
                "line is longer than 254 bytes; the plug-in reads it in two pieces",
            ));
        }
        let mut reader = Reader {
            dialect,
            line: piece.line,
            findings: &mut config.findings,
        };
        config.rules.extend(reader.rule(&piece));
    }
    config
}

struct Reader<'a> {
    dialect: Dialect,
    line: u64,
    findings: &'a mut Vec<Finding>,
}

impl Reader<'_> {
    fn find(&mut self, code: RuleCode, severity: Severity, message: impl Into<String>) {
        let finding = Finding::new(code, severity, self.line, message);
        self.findings.push(finding);
    }

    fn rule(&mut self, piece: &Piece<'_>) -> Option<TunerRule> {
        let text = piece.text.as_ref();
        let bare = text.trim_start_matches([' ', '\t']);
        let is_comment = match self.dialect {
            Dialect::Rccl => bare.starts_with('#'),
            Dialect::NvidiaExample | Dialect::NcclxCsv => text.starts_with('#'),
        };
        if is_comment || text.is_empty() {
            return None;
        }
        if bare.starts_with('#') {
            let message = "the plug-in knows comments only in the first column";
            self.find(RuleCode::Spelling, Severity::Warning, message);
        }
        let text = self.without_return(text);
        let fields = fields(text);
        if fields.iter().all(|field| field.trim().is_empty()) {
            return None;
        }
        self.check_spelling(text);
        if fields.len() < FIELDS_MIN {
            let message = format!(
                "the line has {} of {FIELDS_MIN} fields; the plug-in skips it",
                fields.len()
            );
            self.find(RuleCode::Skipped, Severity::Error, message);
            return None;
        }
        if self.dialect == Dialect::Rccl && fields.iter().any(|field| field.is_empty()) {
            let message = "a field is blank; the plug-in skips the line";
            self.find(RuleCode::Skipped, Severity::Error, message);
            return None;
        }
        let most = self.fields_max();
        if fields.len() > most {
            let message = format!("fields after the first {most} are ignored");
            self.find(RuleCode::Spelling, Severity::Warning, message);
        }
        self.understand(&fields[..fields.len().min(most)])
    }

    /// RCCL takes the carriage return away; the example leaves it in the last field.
    fn without_return<'a>(&mut self, text: &'a str) -> &'a str {
        match text.strip_suffix('\r') {
            Some(rest) => {
                if self.dialect == Dialect::NvidiaExample {
                    let message = "line ends in a carriage return";
                    self.find(RuleCode::Spelling, Severity::Warning, message);
                    text
                } else {
                    rest
                }
            }
            None => text,
        }
    }

    fn check_spelling(&mut self, text: &str) {
        if text.contains(['"', '\'']) {
            let message = "quotes are part of the field for this plug-in";
            self.find(RuleCode::Spelling, Severity::Error, message);
        }
        if text.contains(",,") || text.starts_with(',') {
            let message = "an empty field vanishes, and the fields after it move up";
            self.find(RuleCode::Spelling, Severity::Error, message);
        }
    }

    const fn fields_max(&self) -> usize {
        match self.dialect {
            // RCCL adds the partition mode and the group of a chip's parts.
            Dialect::Rccl => 12,
            Dialect::NvidiaExample | Dialect::NcclxCsv => 10,
        }
    }

    fn understand(&mut self, fields: &[&str]) -> Option<TunerRule> {
        let all_reduce = NcclCollective::AllReduce;
        let collective = self.name(fields[0], "collective", &collectives(), all_reduce);
        let algorithm = self.name(fields[3], "algorithm", &algorithms(), NcclAlgorithm::Ring);
        let protocol = self.name(fields[4], "protocol", &protocols(), Protocol::Simple);
        let numbers = [
            (1, "minBytes"),
            (2, "maxBytes"),
            (5, "channels"),
            (6, "nNodes"),
            (7, "nRanks"),
            (8, "numPipeOps"),
            (9, "regBuff"),
        ];
        for (index, name) in numbers {
            if let Some(field) = fields.get(index) {
                self.check_number(name, field);
            }
        }
        if !self.knows_partition(fields.get(10).copied()) {
            return None;
        }
        let optional = |index: usize| {
            let field = fields.get(index);
            field.map_or(Interval::ANY, |field| Interval::from_int(int(field)))
        };
        Some(TunerRule {
            line: self.line,
            collective: collective?,
            bytes: Interval::new(unsigned(fields[1]), unsigned(fields[2])),
            candidate: Candidate {
                algorithm: algorithm?,
                protocol: protocol?,
            },
            channels: self.channels(int(fields[5])),
            nodes: optional(6),
            ranks: optional(7),
            pipe_ops: optional(8),
            registered: optional(9),
            chunk_bytes: None,
        })
    }

    /// Returns the meaning of a name; for an unknown one what the plug-in takes it for.
    fn name<T: Copy>(
        &mut self,
        field: &str,
        what: &str,
        names: &[(&'static str, T)],
        fallback: T,
    ) -> Option<T> {
        if let Some(value) = meaning(names, field) {
            return Some(value);
        }
        let lower = field.to_ascii_lowercase();
        let code = if meaning(names, &lower).is_some() {
            RuleCode::UpperCase
        } else {
            RuleCode::UnknownName
        };
        let meant = names
            .iter()
            .find(|(name, _)| letters(name) == letters(&lower));
        let hint = if let Some((name, _)) = meant {
            format!("write `{name}`")
        } else {
            let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            format!("one of {}", names.join(", "))
        };
        let (effect, value) = match self.dialect {
            Dialect::NvidiaExample => {
                let taken = match what {
                    "collective" => "allreduce",
                    "algorithm" => "ring",
                    _ => "simple",
                };
                (
                    format!("the plug-in takes it for `{taken}`"),
                    Some(fallback),
                )
            }
            Dialect::Rccl | Dialect::NcclxCsv => ("the plug-in skips the line".to_owned(), None),
        };
        let message = format!(
            "unknown {what} `{}`; {effect}; hint: {hint}",
            field.escape_debug()
        );
        self.find(code, Severity::Error, message);
        value
    }

    fn check_number(&mut self, name: &str, field: &str) {
        let bare = field.trim_end_matches('\r');
        if !is_decimal(bare) {
            let message = format!(
                "{name} is `{}`; the plug-in reads {}",
                field.escape_debug(),
                int(field)
            );
            self.find(RuleCode::NotANumber, Severity::Error, message);
        }
    }

    fn channels(&mut self, channels: i32) -> Channels {
        match (self.dialect, channels) {
            (Dialect::NvidiaExample, -1) => Channels::OneByMistake,
            (_, -1 | 0) => Channels::Own,
            (Dialect::Rccl, ..=-1) => {
                let message = format!("{channels} channels are ignored");
                self.find(RuleCode::NotANumber, Severity::Warning, message);
                Channels::Own
            }
            (_, channels) => Channels::Exactly(channels),
        }
    }

    /// The partition mode counts only where RCCL's tuner for chiplets is switched on; an
    /// unknown one makes it skip the line in any case.
    fn knows_partition(&mut self, field: Option<&str>) -> bool {
        let Some(field) = field else {
            return true;
        };
        let is_known = ["-1", "any", "spx", "cpx"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(field));
        if !is_known {
            let message = format!("unknown partition mode `{field}`; the plug-in skips the line");
            self.find(RuleCode::UnknownName, Severity::Error, message);
        }
        is_known
    }
}

/// The names are exact, in lower case.
fn collectives() -> [(&'static str, NcclCollective); 5] {
    NcclCollective::ALL.map(|collective| (collective.plain_name(), collective))
}

/// The names are exact, in lower case, with separators.
fn algorithms() -> [(&'static str, NcclAlgorithm); 7] {
    NcclAlgorithm::ALL.map(|algorithm| (Algorithm::from(algorithm).name(), algorithm))
}

/// The names are exact, in lower case.
fn protocols() -> [(&'static str, Protocol); 3] {
    Protocol::ALL.map(|protocol| (protocol.name(), protocol))
}

pub(super) fn collective(name: &str) -> Option<NcclCollective> {
    meaning(&collectives(), name)
}

pub(super) fn algorithm(name: &str) -> Option<NcclAlgorithm> {
    meaning(&algorithms(), name)
}

pub(super) fn protocol(name: &str) -> Option<Protocol> {
    meaning(&protocols(), name)
}

fn meaning<T: Copy>(names: &[(&'static str, T)], name: &str) -> Option<T> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}

/// Returns a name without its separators: `nvlstree` and `nvls-tree` are meant for `nvls_tree`.
fn letters(name: &str) -> String {
    name.replace(['_', '-', ' '], "")
}
