//! The shell of a one-file HTML page: styles and script inside, nothing fetched, everything that
//! comes from an input escaped.

use std::fmt::Write as _;

/// Styles of the charts, also inside stand-alone SVG files.
pub(crate) const CHART_CSS: &str = include_str!("page/chart.css");

const PAGE_CSS: &str = include_str!("page/page.css");

/// Crosshair and legend of the charts. The page is complete without it.
const PAGE_JS: &str = include_str!("page/page.js");

/// Returns a whole page around `body`, which must be HTML already.
///
/// The policy allows no request at all: the page works from a file, a mail or an artefact store.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{CHART_CSS}{PAGE_CSS}</style>\n</head>\n<body class=\"t6\">\n\
         {body}<footer>written by tier6 {version}</footer>\n<script>\n{PAGE_JS}</script>\n</body>\n</html>\n"
    )
}

/// Returns text for HTML and XML content and quoted attributes. Characters that XML forbids
/// become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Returns a list of sentences; nothing when there are none.
pub(crate) fn list(class: &str, entries: &[String]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut out = format!("<ul class=\"{class}\">");
    for entry in entries {
        let _ = write!(out, "<li>{}</li>", escape(entry));
    }
    out + "</ul>\n"
}

/// Returns a card: a title, a value, and what to know beside it.
pub(crate) fn card(title: &str, value: &str, note: &str, tone: &str) -> String {
    format!(
        "<div class=\"card {tone}\"><div class=\"k\">{}</div><div class=\"v\">{}</div><div class=\"n\">{}</div></div>",
        escape(title),
        escape(value),
        escape(note)
    )
}
