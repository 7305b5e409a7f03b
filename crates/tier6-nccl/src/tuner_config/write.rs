//! Writes rules in a dialect, within the limits of its parser.

use super::lines::BUFFER;
use super::{Channels, Dialect, Interval, TunerRule};
use tier6_collective::Algorithm;

/// Why a rule cannot be written in a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteConfigError {
    /// The dialect knows one value or any, not a range.
    #[error("rule {rule}: {dialect} cannot say `{field}` {value}")]
    Inexpressible {
        /// The rule, from 1.
        rule: usize,
        /// The dialect.
        dialect: Dialect,
        /// The field.
        field: &'static str,
        /// The range.
        value: String,
    },
    /// The line does not fit the parser's buffer.
    #[error("rule {rule}: the line has {bytes} bytes; {dialect} reads at most 254")]
    TooLong {
        /// The rule, from 1.
        rule: usize,
        /// The dialect.
        dialect: Dialect,
        /// The length.
        bytes: usize,
    },
}

/// Writes rules with a comment line of the fields' names.
///
/// # Errors
///
/// Fails when a rule says what the dialect cannot.
pub fn write_config(rules: &[TunerRule], dialect: Dialect) -> Result<String, WriteConfigError> {
    let mut text = String::from(match dialect {
        Dialect::NvidiaExample | Dialect::Rccl => {
            "# collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n"
        }
        Dialect::NcclxCsv => {
            "# collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks,chunkSize\n"
        }
    });
    for (index, rule) in rules.iter().enumerate() {
        let writer = Writer {
            rule: index + 1,
            dialect,
        };
        let line = writer.line(rule)?;
        // One byte more for the newline.
        if line.len() >= BUFFER && dialect != Dialect::NcclxCsv {
            return Err(WriteConfigError::TooLong {
                rule: index + 1,
                dialect,
                bytes: line.len(),
            });
        }
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

struct Writer {
    rule: usize,
    dialect: Dialect,
}

impl Writer {
    fn line(&self, rule: &TunerRule) -> Result<String, WriteConfigError> {
        let collective = rule.collective.plain_name();
        let algorithm = Algorithm::from(rule.candidate.algorithm).name();
        let protocol = rule.candidate.protocol.name();
        let channels = self.channels(rule.channels);
        if self.dialect == Dialect::NcclxCsv {
            self.only_any(rule.pipe_ops, "numPipeOps")?;
            self.only_any(rule.registered, "regBuff")?;
            return Ok(format!(
                "{collective},{},{algorithm},{protocol},{channels},{},{},{}",
                brackets(rule.bytes),
                brackets(rule.nodes),
                brackets(rule.ranks),
                rule.chunk_bytes.unwrap_or(0)
            ));
        }
        if let Some(bytes) = rule.chunk_bytes {
            return Err(self.inexpressible("chunkSize", &bytes));
        }
        Ok(format!(
            "{collective},{},{},{algorithm},{protocol},{channels},{},{},{},{}",
            rule.bytes.least,
            rule.bytes.most,
            self.int(rule.nodes, "nNodes")?,
            self.int(rule.ranks, "nRanks")?,
            self.int(rule.pipe_ops, "numPipeOps")?,
            self.int(rule.registered, "regBuff")?,
        ))
    }

    /// NCCL's own count is 0 for NVIDIA's example, -1 for the others.
    const fn channels(&self, channels: Channels) -> i32 {
        match (channels, self.dialect) {
            (Channels::Own, Dialect::NvidiaExample) => 0,
            (Channels::Own, Dialect::Rccl | Dialect::NcclxCsv) => -1,
            (Channels::OneByMistake, _) => 1,
            (Channels::Exactly(channels), _) => channels,
        }
    }

    fn int(&self, interval: Interval, field: &'static str) -> Result<String, WriteConfigError> {
        if interval == Interval::ANY {
            return Ok("-1".to_owned());
        }
        if interval.least == interval.most {
            return Ok(interval.least.to_string());
        }
        Err(self.inexpressible(field, &interval))
    }

    fn only_any(&self, interval: Interval, field: &'static str) -> Result<(), WriteConfigError> {
        if interval == Interval::ANY {
            Ok(())
        } else {
            Err(self.inexpressible(field, &interval))
        }
    }

    fn inexpressible(&self, field: &'static str, value: &dyn ToString) -> WriteConfigError {
        WriteConfigError::Inexpressible {
            rule: self.rule,
            dialect: self.dialect,
            field,
            value: value.to_string(),
        }
    }
}

fn brackets(interval: Interval) -> String {
    let Interval { least, most } = interval;
    match (interval == Interval::ANY, most) {
        (true, _) => "*".to_owned(),
        (_, u64::MAX) => format!("[{least},)"),
        (_, most) if most == least => most.to_string(),
        (_, most) => format!("[{least},{most}]"),
    }
}
