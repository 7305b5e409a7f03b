//! What is wrong or doubtful in a configuration file: code, line, sentence.

use std::fmt;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file does something else than it says.
    Error,
    /// The file probably does something else than is wanted.
    Warning,
    /// A rule has no effect.
    Info,
}

impl Severity {
    /// Returns the word that starts a line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// The rules of the linter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleCode {
    /// -1 channels are one channel in NVIDIA's example.
    OneChannel,
    /// Calls without a rule run on one channel in NVIDIA's example.
    NoCatchAll,
    /// A name is unknown to the plug-in.
    UnknownName,
    /// A name is not in lower case.
    UpperCase,
    /// An earlier rule takes every call of this one.
    Shadowed,
    /// Sizes between two rules have none.
    Gap,
    /// Two rules are for the same sizes.
    Overlap,
    /// A rule for smaller sizes follows one for larger sizes.
    Unsorted,
    /// The largest range ends below sizes in use.
    EndsEarly,
    /// NCCL never runs this combination.
    Impossible,
    /// NCCL switches LL128 off here, since it may corrupt data.
    UnsafeLl128,
    /// Two candidates take turns over the sizes.
    Alternating,
    /// A condition that no call fulfils.
    NeverMatches,
    /// The plug-in reads the line in two pieces.
    LongLine,
    /// Carriage returns, quotes or blanks that the plug-in does not expect.
    Spelling,
    /// The environment makes the file idle, or the calls fail.
    Environment,
    /// The plug-in skips the line.
    Skipped,
    /// A field is no number.
    NotANumber,
}

impl RuleCode {
    /// Returns the code that people quote and search for.
    pub const fn code(self) -> &'static str {
        match self {
            Self::OneChannel => "T6201",
            Self::NoCatchAll => "T6202",
            Self::UnknownName => "T6203",
            Self::UpperCase => "T6204",
            Self::Shadowed => "T6205",
            Self::Gap => "T6206",
            Self::Overlap => "T6207",
            Self::Unsorted => "T6208",
            Self::EndsEarly => "T6209",
            Self::Impossible => "T6210",
            Self::UnsafeLl128 => "T6211",
            Self::Alternating => "T6212",
            Self::NeverMatches => "T6213",
            Self::LongLine => "T6214",
            Self::Spelling => "T6215",
            Self::Environment => "T6216",
            Self::Skipped => "T6217",
            Self::NotANumber => "T6218",
        }
    }
}

impl fmt::Display for RuleCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// One thing that the linter found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule of the linter.
    pub code: RuleCode,
    /// How bad it is.
    pub severity: Severity,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u64,
    /// A sentence, with a way out where there is one.
    pub message: String,
}

impl Finding {
    pub(super) fn new(
        code: RuleCode,
        severity: Severity,
        line: u64,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.name();
        write!(f, "{severity}[{}]: {}", self.code, self.message)
    }
}
