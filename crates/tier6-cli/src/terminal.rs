//! Where text goes: data to standard output, everything else to standard error, colour only
//! where it helps.

use crate::args::{Format, Global, Progress, When};
use crate::bar::{Bar, Unit};
use crate::failure::Failure;
use anstream::ColorChoice;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Width of tables and plots where no terminal tells one.
const WIDTH_DEFAULT: usize = 100;

/// What is known of the two output streams.
#[derive(Debug)]
pub struct Terminal {
    color_out: ColorChoice,
    color_err: ColorChoice,
    ascii: bool,
    quiet: bool,
    progress: Progress,
}

impl Terminal {
    pub fn new(global: &Global) -> Self {
        let explicit = match global.color {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        };
        // anstream's own rule: NO_COLOR, CLICOLOR_FORCE, TERM=dumb, and whether it is a terminal.
        let resolve = |auto| {
            if explicit == ColorChoice::Auto {
                auto
            } else {
                explicit
            }
        };
        Self {
            color_out: resolve(anstream::AutoStream::choice(&io::stdout())),
            color_err: resolve(anstream::AutoStream::choice(&io::stderr())),
            ascii: global.ascii || env::var("TERM").is_ok_and(|term| term == "dumb"),
            quiet: global.quiet,
            progress: global.progress,
        }
    }

    /// How text for standard output, or for a file, may look.
    pub fn style(&self, to_file: bool) -> tier6::Style {
        let colored = !to_file && self.color_out != ColorChoice::Never;
        tier6::Style {
            color: if colored {
                tier6::Color::On
            } else {
                tier6::Color::Off
            },
            charset: if self.ascii {
                tier6::Charset::Ascii
            } else {
                tier6::Charset::Unicode
            },
            width: width(),
        }
    }

    /// Makes the form of a result that goes to standard output, or to a file.
    pub fn form(&self, format: Format, detail: tier6::Detail, file: Option<&Path>) -> tier6::Form {
        match format {
            Format::Table => tier6::Form::Table(self.style(file.is_some()), detail),
            Format::Json => tier6::Form::Json,
            Format::Csv => tier6::Form::Csv,
            Format::Md => tier6::Form::Markdown,
            Format::Svg => tier6::Form::Svg,
            Format::Html => tier6::Form::Html,
        }
    }

    /// Prints a result, or writes it to a file and says so.
    pub fn deliver(&self, text: &str, file: Option<&Path>) -> Result<(), Failure> {
        match file {
            None => print(text),
            Some(path) if path.as_os_str() == "-" => print(text),
            Some(path) => {
                tier6::write_file(path, text)?;
                self.note(&format!("wrote {}", path.display()));
                Ok(())
            }
        }
    }

    pub fn error(&self, message: &str) {
        self.tell("error", "\x1b[1;31m", message);
    }

    pub fn hint(&self, message: &str) {
        self.tell("hint", "\x1b[1;36m", message);
    }

    /// Prints an error of an input that does not end the command.
    pub fn failure(&self, failure: &tier6::Error) {
        self.error(&failure.to_string());
        if let Some(hint) = failure.hint() {
            self.hint(&hint);
        }
    }

    pub fn warning(&self, message: &str) {
        if !self.quiet {
            self.tell("warning", "\x1b[1;33m", message);
        }
    }

    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.tell("note", "\x1b[1m", message);
        }
    }

    fn tell(&self, kind: &str, color: &str, message: &str) {
        let line = if self.color_err == ColorChoice::Never {
            format!("{kind}: {message}\n")
        } else {
            format!("{color}{kind}\x1b[0m: {message}\n")
        };
        // Nobody is left to tell when standard error is gone.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    /// Makes the display of reading that the user asked for.
    pub fn progress(&self) -> Box<dyn tier6::Progress> {
        self.progress_of(Unit::Bytes)
    }

    /// Makes the display of simulating that the user asked for.
    pub fn headway(&self) -> Box<dyn tier6::Progress> {
        self.progress_of(Unit::Transfers)
    }

    fn progress_of(&self, unit: Unit) -> Box<dyn tier6::Progress> {
        match self.progress {
            Progress::Auto if io::stderr().is_terminal() && !self.quiet => {
                Box::new(Bar::drawn(unit))
            }
            Progress::Plain => Box::new(Bar::plain(unit)),
            Progress::Auto | Progress::None => Box::new(tier6::NoProgress),
        }
    }
}

/// Width to fill: what the user says, else the terminal's, else a width that fits most pages.
fn width() -> usize {
    let stated = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    stated
        .filter(|columns| *columns > 0)
        .or_else(|| terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into()))
        .unwrap_or(WIDTH_DEFAULT)
}

/// Prints data to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}
