//! From TOML text to [`Experiment`].

use super::{Experiment, ExperimentLine, Reference};
use crate::Engine;
use serde::Deserialize;
use tier6_collective::{Algorithm, Collective, offers};
use tier6_g5::Fidelity;
use tier6_system::nearest;
use tier6_units::{Micros, SizeRange};
use toml::Spanned;

/// The most calls of one experiment; more is a typing error, not a plan.
const CALLS_MAX: usize = 100_000;

/// What is wrong with the text of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(*.line))]
pub struct ExperimentError {
    /// The line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

fn place(line: Option<usize>) -> String {
    line.map_or(String::new(), |line| format!("line {line}: "))
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<Spanned<String>>,
    title: Option<String>,
    note: Option<String>,
    system: String,
    ranks: Spanned<Vec<u32>>,
    sizes: Spanned<WrittenSizes>,
    #[serde(default = "both_engines")]
    engines: Vec<Spanned<String>>,
    fidelity: Option<Spanned<String>>,
    baseline: Option<Spanned<String>>,
    line: Vec<WrittenLine>,
    #[serde(default)]
    reference: Vec<WrittenReference>,
}

/// Sizes and ranges, joined by commas in one text or listed.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`sizes` is a text such as \"1K..1G:x4\", or a list such as [\"1M\", \"4M..1G\"]"
)]
enum WrittenSizes {
    Joined(String),
    Listed(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLine {
    collective: Spanned<String>,
    algorithms: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenReference {
    collective: Spanned<String>,
    algorithm: Spanned<String>,
    ranks: u32,
    bytes: Spanned<String>,
    time_us: Spanned<f64>,
    source: String,
}

fn both_engines() -> Vec<Spanned<String>> {
    ["math", "g5"]
        .map(|name| Spanned::new(0..0, name.to_owned()))
        .into()
}

impl Experiment {
    /// Reads an experiment; `stem` is its name when the text has none.
    ///
    /// ```
    /// use tier6_study::Experiment;
    /// let text = r#"
    /// system = "h100-x8"
    /// ranks = [8]
    /// sizes = "1K..64M:x4"
    /// baseline = "ring"
    /// [[line]]
    /// collective = "all_reduce"
    /// algorithms = ["ring", "tree"]
    /// "#;
    /// let experiment = Experiment::from_toml(text, "mine").unwrap();
    /// assert_eq!((experiment.lines.len(), experiment.sizes.sizes().len()), (2, 9));
    /// let error = Experiment::from_toml(&text.replace("tree", "treee"), "mine").unwrap_err();
    /// assert_eq!(error.to_string(), "line 8: unknown algorithm `treee`");
    /// assert_eq!(error.hint.as_deref(), Some("did you mean `tree`?"));
    /// ```
    ///
    /// # Errors
    ///
    /// Fails on the first thing wrong, with its line.
    pub fn from_toml(text: &str, stem: &str) -> Result<Self, ExperimentError> {
        let written: Written = toml::from_str(text).map_err(|error| ExperimentError {
            line: error.span().map(|span| line_of(text, span.start)),
            message: error.message().replace('\n', ", "),
            hint: None,
        })?;
        Reader { text }.experiment(written, stem)
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.bytes().take(at);
    1 + before.filter(|byte| *byte == b'\n').count()
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn experiment(&self, written: Written, stem: &str) -> Result<Experiment, ExperimentError> {
        let name = match &written.name {
            Some(name) => self.file_name(name)?,
            None => stem.to_owned(),
        };
        let lines = self.lines(&written.line)?;
        let (ranks, sizes) = (self.ranks(&written.ranks)?, self.sizes(&written.sizes)?);
        if lines.len() * ranks.len() * sizes.sizes().len() > CALLS_MAX {
            return Err(self.wrong(
                &written.sizes,
                format!("the experiment has more than {CALLS_MAX} calls"),
                "take fewer sizes, for example `1K..1G:x4`",
            ));
        }
        let engines = self.engines(&written.engines)?;
        let fidelity = self.fidelity(written.fidelity.as_ref())?;
        let baseline = self.baseline(written.baseline.as_ref(), &lines)?;
        let references = self.references(written.reference, &lines)?;
        Ok(Experiment {
            title: written.title.unwrap_or_else(|| name.clone()),
            name,
            note: written.note,
            system: written.system,
            lines,
            ranks,
            sizes,
            engines,
            fidelity,
            baseline,
            references,
        })
    }

    fn wrong<T>(
        &self,
        at: &Spanned<T>,
        message: String,
        hint: impl Into<String>,
    ) -> ExperimentError {
        ExperimentError {
            line: Some(line_of(self.text, at.span().start)),
            message,
            hint: Some(hint.into()),
        }
    }

    /// Names become names of files.
    fn file_name(&self, name: &Spanned<String>) -> Result<String, ExperimentError> {
        let text = name.get_ref();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if text.is_empty() || text.len() > 64 || !text.chars().all(is_plain) {
            return Err(self.wrong(
                name,
                format!("`{text}` cannot name files"),
                "use up to 64 letters, digits, `-` and `_`",
            ));
        }
        Ok(text.clone())
    }

    fn lines(&self, written: &[WrittenLine]) -> Result<Vec<ExperimentLine>, ExperimentError> {
        let mut lines = Vec::new();
        for entry in written {
            let collective = self.collective(&entry.collective)?;
            for name in &entry.algorithms {
                let algorithm = self.algorithm(name)?;
                let line = ExperimentLine {
                    collective,
                    algorithm,
                };
                if !offers(algorithm, collective) {
                    return Err(self.wrong(
                        name,
                        format!("`{algorithm}` does not compute `{collective}`"),
                        offering(collective),
                    ));
                }
                if lines.contains(&line) {
                    let message = format!("`{line}` stands twice");
                    return Err(self.wrong(name, message, "name each line once"));
                }
                lines.push(line);
            }
        }
        if lines.is_empty() {
            return Err(ExperimentError {
                line: None,
                message: "the experiment has no line".to_owned(),
                hint: Some("add `[[line]]` with `collective` and `algorithms`".to_owned()),
            });
        }
        Ok(lines)
    }

    fn ranks(&self, written: &Spanned<Vec<u32>>) -> Result<Vec<u32>, ExperimentError> {
        let mut ranks = written.get_ref().clone();
        ranks.sort_unstable();
        ranks.dedup();
        match ranks.first() {
            Some(2..) => Ok(ranks),
            _ => Err(self.wrong(
                written,
                "`ranks` lists numbers of at least 2".to_owned(),
                "for example `ranks = [2, 4, 8]`",
            )),
        }
    }

    fn sizes(&self, written: &Spanned<WrittenSizes>) -> Result<SizeRange, ExperimentError> {
        let joined = match written.get_ref() {
            WrittenSizes::Joined(text) => text.clone(),
            WrittenSizes::Listed(parts) => parts.join(","),
        };
        joined.parse().map_err(|error| {
            let message = format!("`sizes`: {error}");
            self.wrong(written, message, "for example `1K..1G:x4` or `64M`")
        })
    }

    fn engines(&self, written: &[Spanned<String>]) -> Result<Vec<Engine>, ExperimentError> {
        let mut engines = Vec::new();
        for name in written {
            let engine = match name.get_ref().as_str() {
                "math" => Engine::Math,
                "g5" => Engine::G5,
                other => return Err(self.unknown(name, "engine", other, &["math", "g5"])),
            };
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        if engines.is_empty() {
            return Err(ExperimentError {
                line: None,
                message: "`engines` is empty".to_owned(),
                hint: Some("leave it out for both".to_owned()),
            });
        }
        Ok(engines)
    }

    fn fidelity(&self, written: Option<&Spanned<String>>) -> Result<Fidelity, ExperimentError> {
        let Some(name) = written else {
            return Ok(Fidelity::Flow);
        };
        let text = name.get_ref();
        let found = Fidelity::ALL.into_iter().find(|one| one.name() == text);
        found
            .ok_or_else(|| self.unknown(name, "fidelity", text, &Fidelity::ALL.map(Fidelity::name)))
    }

    fn baseline(
        &self,
        written: Option<&Spanned<String>>,
        lines: &[ExperimentLine],
    ) -> Result<Option<Algorithm>, ExperimentError> {
        let Some(name) = written else {
            return Ok(None);
        };
        let algorithm = self.algorithm(name)?;
        if lines.iter().all(|line| line.algorithm != algorithm) {
            let message = format!("no line has the baseline `{algorithm}`");
            return Err(self.wrong(name, message, "add it to the `algorithms` of a line"));
        }
        Ok(Some(algorithm))
    }

    fn references(
        &self,
        written: Vec<WrittenReference>,
        lines: &[ExperimentLine],
    ) -> Result<Vec<Reference>, ExperimentError> {
        let mut references = Vec::new();
        for entry in written {
            let line = ExperimentLine {
                collective: self.collective(&entry.collective)?,
                algorithm: self.algorithm(&entry.algorithm)?,
            };
            if !lines.contains(&line) {
                let message = format!("`{line}` is no line of the experiment");
                return Err(self.wrong(&entry.algorithm, message, "add a `[[line]]` for it"));
            }
            let bytes = entry.bytes.get_ref().parse().map_err(|error| {
                let message = format!("`bytes`: {error}");
                self.wrong(&entry.bytes, message, "for example `64M`")
            })?;
            let time = *entry.time_us.get_ref();
            if !(time.is_finite() && time > 0.0) {
                let message = "`time_us` is not a time".to_owned();
                return Err(self.wrong(&entry.time_us, message, "give microseconds above zero"));
            }
            references.push(Reference {
                line,
                ranks: entry.ranks,
                bytes,
                time: Micros::new(time),
                source: entry.source,
            });
        }
        Ok(references)
    }

    fn collective(&self, name: &Spanned<String>) -> Result<Collective, ExperimentError> {
        let text = name.get_ref();
        let known = Collective::ALL.map(Collective::name);
        let found = text.parse();
        found.map_err(|()| self.unknown(name, "collective", text, &known))
    }

    fn algorithm(&self, name: &Spanned<String>) -> Result<Algorithm, ExperimentError> {
        let text = name.get_ref();
        let known = Algorithm::ALL.map(Algorithm::name);
        let found = text.parse();
        found.map_err(|()| self.unknown(name, "algorithm", text, &known))
    }

    fn unknown(
        &self,
        at: &Spanned<String>,
        kind: &str,
        name: &str,
        known: &[&str],
    ) -> ExperimentError {
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of {}", known.join(", ")),
        };
        self.wrong(at, format!("unknown {kind} `{name}`"), hint)
    }
}

fn offering(collective: Collective) -> String {
    let algorithms = Algorithm::ALL.into_iter();
    let offering = algorithms.filter(|algorithm| offers(*algorithm, collective));
    let names: Vec<&str> = offering.map(Algorithm::name).collect();
    format!("one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name = 'mine'
system = 'h100-x8'
ranks = [8, 4]
sizes = '1K..64K'
baseline = 'ring'
[[line]]
collective = 'all_reduce'
algorithms = ['ring', 'tree']
[[reference]]
collective = 'all_reduce'
algorithm = 'ring'
ranks = 8
bytes = '1K'
time_us = 20.5
source = 'a paper'
";

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_a_way_out() {
        assert_eq!(Experiment::from_toml(TEXT, "x").unwrap().ranks, [4, 8]);
        for (from, to, line, says, hint) in [
            ("sizes", "size", Some(4), "unknown field `size`", ""),
            (
                "'mine'",
                "'a/b'",
                Some(1),
                "`a/b` cannot name files",
                "letters",
            ),
            (
                "[8, 4]",
                "[1]",
                Some(3),
                "numbers of at least 2",
                "[2, 4, 8]",
            ),
            ("[8, 4]", "[-8]", Some(3), "-8", ""),
            ("1K..64K", "1K..64Q", Some(4), "`sizes`", "1K..1G:x4"),
            (
                "'1K..64K'",
                "['1K', '1Q']",
                Some(4),
                "unknown unit `Q` in `1Q`",
                "1K..1G:x4",
            ),
            ("'1K..64K'", "[]", Some(4), "`sizes`", "1K..1G:x4"),
            ("'1K..64K'", "[1024]", Some(4), "or a list", ""),
            (
                "'ring'\n[",
                "'rng'\n[",
                Some(5),
                "unknown algorithm `rng`",
                "`ring`",
            ),
            (
                "'ring'\n[",
                "'nvls'\n[",
                Some(5),
                "no line has the baseline",
                "add",
            ),
            (
                "'ring', 'tree'",
                "'pairwise'",
                Some(8),
                "does not compute",
                "ring",
            ),
            (
                "'ring', 'tree'",
                "'tree', 'tree'",
                Some(8),
                "stands twice",
                "once",
            ),
            ("'ring', 'tree'", "", None, "has no line", "[[line]]"),
            ("20.5", "-1.0", Some(14), "not a time", "above zero"),
            ("'1K'", "'one'", Some(13), "`bytes`", "64M"),
            (
                "name = 'mine'",
                "engines = ['fit']",
                Some(1),
                "unknown engine",
                "math",
            ),
            (
                "name = 'mine'",
                "fidelity = 'x'",
                Some(1),
                "unknown fidelity",
                "flow",
            ),
            (
                "name = 'mine'",
                "engines = []",
                None,
                "empty",
                "leave it out",
            ),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = Experiment::from_toml(&text, "x").unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.message.contains(says), "{error}");
            assert!(error.hint.unwrap_or_default().contains(hint), "{hint}");
        }
    }
}
