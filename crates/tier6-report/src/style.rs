//! How text for people looks. The caller decides; this crate asks no environment.

/// The look of text output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are written.
    pub color: Color,
    /// Which characters may be used.
    pub charset: Charset,
    /// Columns of the terminal; plots and sentences keep to it, tables are never cut.
    pub width: usize,
}

/// Whether ANSI colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Write them.
    On,
    /// Plain text.
    Off,
}

/// Which characters may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// Greek letters, braille dots, box lines.
    Unicode,
    /// Only ASCII.
    Ascii,
}

impl Charset {
    /// Returns `unicode` or its ASCII stand-in.
    pub const fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self {
            Self::Unicode => unicode,
            Self::Ascii => ascii,
        }
    }
}

/// How much a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What fits a screen: one loss, an overview when there are many series.
    Short,
    /// Everything: both losses, every point of every series.
    Wide,
}

/// What a piece of text means, for colour. Never the only carrier of that meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Dim,
    Good,
    Caution,
    Bad,
}

impl Tone {
    /// Returns the class in HTML.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Plain | Self::Strong => "",
            Self::Dim => "dim",
            Self::Good => "good",
            Self::Caution => "caution",
            Self::Bad => "bad",
        }
    }
}

impl Style {
    /// Returns `text` in the colour of `tone`, or unchanged when colours are off.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Caution => "33",
            Tone::Bad => "1;31",
        };
        match self.color {
            Color::On if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Color::On | Color::Off => text.to_owned(),
        }
    }
}
