//! Streams: data on standard output, the rest on standard error, colour only where wanted,
//! quiet when the reader goes away.

use crate::harness::{Run, fixtures};
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

const ESCAPE: char = '\u{1b}';

#[test]
fn no_terminal_means_no_colour_and_no_progress() {
    let said = Run::new(&["analyze", "base.txt"]).said();
    assert!(!said.stdout.contains(ESCAPE));
    assert_eq!(said.stderr, "");
}

#[test]
fn colour_is_forced_or_forbidden() {
    let forced = Run::new(&["analyze", "base.txt", "--color", "always"]).said();
    assert!(forced.stdout.contains(ESCAPE));
    let variable = Run::new(&["analyze", "base.txt"])
        .env("CLICOLOR_FORCE", "1")
        .said();
    assert!(variable.stdout.contains(ESCAPE));
    let forbidden = Run::new(&["analyze", "base.txt"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .said();
    assert!(!forbidden.stdout.contains(ESCAPE));
}

#[test]
fn ascii_is_ascii() {
    let said = Run::new(&["analyze", "base.txt", "--ascii"]).said();
    assert!(said.stdout.is_ascii(), "{}", said.stdout);
}

#[test]
fn the_environment_speaks_where_options_do_not() {
    let ascii = |value: &str| {
        let said = Run::new(&["analyze", "base.txt"])
            .env("TIER6_ASCII", value)
            .said();
        assert_eq!(said.code, 0, "TIER6_ASCII={value}: {}", said.stderr);
        said.stdout.is_ascii()
    };
    assert!(ascii("1") && ascii("true"));
    assert!(!ascii("0") && !ascii(""));
    let dumb = Run::new(&["analyze", "base.txt"])
        .env("TERM", "dumb")
        .said();
    assert!(dumb.stdout.is_ascii());
    let widest = |columns: &str| {
        let said = Run::new(&["analyze", "base.txt"])
            .env("COLUMNS", columns)
            .said();
        assert_eq!(said.code, 0, "COLUMNS={columns}: {}", said.stderr);
        let is_plot = |line: &&str| line.contains('┤');
        let widths = said.stdout.lines().filter(is_plot);
        widths.map(|line| line.chars().count()).max().unwrap()
    };
    assert!(widest("60") <= 60);
    assert!(widest("60") < widest("100"));
    assert_eq!(widest("0"), widest("wide"), "neither is a width");
}

#[test]
fn a_dash_is_standard_output() {
    let said = Run::new(&["analyze", "base.txt", "-o", "-"]).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(
        said.stdout,
        Run::new(&["analyze", "base.txt"]).said().stdout
    );
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tier6"))
        .args(["analyze", "base.txt", "--format", "json"])
        .current_dir(fixtures())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert_eq!(stderr, "");
}

#[test]
fn standard_input_compressed_or_not_gives_the_same_result() {
    let plain = fs::read(fixtures().join("base.txt")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &plain).unwrap();
    let packed = encoder.finish().unwrap();
    let from_plain = Run::new(&["analyze", "-"]).stdin(&plain).said();
    let from_packed = Run::new(&["analyze", "-"]).stdin(&packed).said();
    assert_eq!(from_plain.code, 0, "{}", from_plain.stderr);
    assert_eq!(from_plain.stdout, from_packed.stdout);
}

#[test]
fn files_are_written_by_suffix() {
    let folder = std::env::temp_dir().join(format!("tier6-forms-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (name, start) in [
        ("r.json", "{"),
        ("r.csv", ""),
        ("r.md", "#"),
        ("r.svg", "<svg"),
        ("r.html", "<!doctype html"),
        ("r.txt", ""),
    ] {
        let file = folder.join(name);
        let said = Run::new(&["analyze", "base.txt", "-o", file.to_str().unwrap()]).said();
        assert_eq!(said.code, 0, "{}", said.stderr);
        assert_eq!(said.stdout, "");
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.to_lowercase().starts_with(start),
            "{name}: {}",
            &text[..40.min(text.len())]
        );
        assert!(!text.contains(ESCAPE), "{name}");
    }
    fs::remove_dir_all(&folder).unwrap();
}
