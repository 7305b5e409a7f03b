//! What the documents show is what the program prints.
//!
//! A block of text under a line `<!-- $ tier6 ARGUMENTS -->` in README.md or in the book is the
//! standard output of that command, run in the root of the repository. `UPDATE_DOCS=1 cargo test
//! -p tier6-cli documents` writes the blocks anew.

use crate::harness::Run;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "<!-- $ tier6";
const FENCE: &str = "```";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let book = fs::read_dir(root().join("docs/src")).unwrap();
    pages.extend(book.map(|entry| entry.unwrap().path()));
    pages.retain(|page| page.extension().is_some_and(|suffix| suffix == "md"));
    pages.sort();
    pages
}

/// Runs a command; `| head -20` behind it keeps the first lines, as in a shell.
fn output(command: &str) -> String {
    let (command, lines) = match command.split_once("| head -") {
        Some((command, lines)) => (command, lines.trim().parse().unwrap()),
        None => (command, usize::MAX),
    };
    let arguments: Vec<&str> = command.split_whitespace().collect();
    let said = Run::new(&arguments).current_dir(&root()).said();
    assert!(matches!(said.code, 0 | 10), "{command}: {}", said.stderr);
    let kept: Vec<&str> = said.stdout.lines().take(lines).collect();
    kept.join("\n") + "\n"
}

/// Returns the page with every block as the program prints it now.
fn refreshed(text: &str) -> String {
    let mut fresh = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(fresh, "{line}").unwrap();
        let Some(command) = line
            .strip_prefix(MARK)
            .and_then(|rest| rest.strip_suffix("-->"))
        else {
            continue;
        };
        let printed = output(command);
        if command.contains("--format md") {
            // A whole page: everything below the mark.
            return fresh + "\n" + &printed;
        }
        let fence = lines.next().unwrap_or_default();
        assert!(fence.starts_with(FENCE), "no block under `{line}`");
        lines.by_ref().find(|line| line.starts_with(FENCE));
        writeln!(fresh, "{fence}\n{}\n{FENCE}", printed.trim_end()).unwrap();
    }
    fresh
}

#[test]
fn documents_show_what_the_program_prints() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut blocks = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        blocks += text.matches(MARK).count();
        let fresh = refreshed(&text);
        if update {
            fs::write(&page, fresh).unwrap();
        } else {
            let shown = text
                .lines()
                .zip(fresh.lines())
                .find(|(old, new)| old != new);
            assert!(
                text == fresh,
                "{}: run with UPDATE_DOCS=1; first difference: {shown:?}",
                page.display()
            );
        }
    }
    assert!(blocks > 0, "no block is checked");
}
