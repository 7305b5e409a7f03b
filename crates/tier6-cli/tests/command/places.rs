//! Where inputs come from and results go: odd names, links, patterns, devices.

use crate::harness::{Run, fixtures};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tier6-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Puts a measurement into the folder.
    fn with(self, names: &[&str]) -> Self {
        for name in names {
            fs::copy(fixtures().join("base.txt"), self.0.join(name)).unwrap();
        }
        self
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left over is in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the number of series that a command in a folder finds.
fn series(folder: &Folder, files: &[&str]) -> usize {
    let arguments = [&["analyze", "--format", "json", "--"], files].concat();
    let said = Run::new(&arguments).current_dir(folder.path()).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    json["series"].as_array().unwrap().len()
}

#[test]
fn odd_names_are_names() {
    let names = [
        "a b.txt",
        "日本.txt",
        "new\nline.txt",
        "-dash",
        "br[1].txt",
        "q\"u,o.txt",
    ];
    let folder = Folder::new("names").with(&names);
    let one = series(&folder, &["a b.txt"]);
    for name in names {
        assert_eq!(series(&folder, &[name]), one, "{name}");
    }
    assert_eq!(series(&folder, &["."]), one * names.len());
    assert_eq!(series(&folder, &["br[[]1].*"]), one);
    assert_eq!(
        series(&folder, &["a b.txt", "a b.txt"]),
        2 * one,
        "named twice, read twice"
    );
}

#[cfg(unix)]
#[test]
fn links_and_loops_bring_a_file_along_once() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("links").with(&["run.txt"]);
    fs::create_dir_all(folder.path().join("sub")).unwrap();
    symlink("..", folder.path().join("sub/loop")).unwrap();
    symlink("run.txt", folder.path().join("again.txt")).unwrap();
    symlink("nowhere", folder.path().join("dangling.txt")).unwrap();
    let one = series(&folder, &["run.txt"]);
    assert_eq!(series(&folder, &["."]), one);
    assert_eq!(series(&folder, &["**/*.txt"]), one);
    assert_eq!(series(&folder, &["*.txt", "again*"]), one);
}

#[test]
fn what_else_a_folder_holds_is_told_in_short() {
    let folder = Folder::new("others").with(&["run.txt"]);
    for index in 0..9 {
        fs::write(folder.path().join(format!("note{index}.md")), "hello\n").unwrap();
    }
    let said = Run::new(&["analyze", "."])
        .current_dir(folder.path())
        .said();
    assert_eq!(said.code, 0);
    assert!(
        said.stderr.contains("9 files are no measurements: "),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("note4.md and 4 more"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_result_never_takes_the_place_of_its_input() {
    let folder = Folder::new("inputs").with(&["run.csv", "new.csv"]);
    let before = fs::read(folder.path().join("run.csv")).unwrap();
    for arguments in [
        vec!["analyze", "run.csv", "-o", "run.csv"],
        vec!["analyze", "new.csv", "--log", "run.csv", "-o", "./run.csv"],
        vec!["compare", "run.csv", "new.csv", "-o", "run.csv"],
        vec!["convert", "run.csv", "-o", "run.csv"],
        vec!["validate", "run.csv", "-o", "run.csv"],
    ] {
        let said = Run::new(&arguments).current_dir(folder.path()).said();
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.stderr);
        assert!(
            said.stderr.contains("is the input `run.csv`"),
            "{}",
            said.stderr
        );
    }
    assert_eq!(fs::read(folder.path().join("run.csv")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_to_the_new_result() {
    let folder = Folder::new("target").with(&["run.txt"]);
    fs::write(folder.path().join("old.json"), "old").unwrap();
    std::os::unix::fs::symlink("old.json", folder.path().join("latest.json")).unwrap();
    let arguments = ["analyze", "run.txt", "-o", "latest.json"];
    let said = Run::new(&arguments).current_dir(folder.path()).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(folder.path().join("latest.json").is_symlink());
    let text = fs::read_to_string(folder.path().join("old.json")).unwrap();
    assert!(text.starts_with('{'), "{text}");
}

#[test]
fn a_folder_is_no_output() {
    let folder = Folder::new("folder").with(&["run.txt"]);
    fs::create_dir_all(folder.path().join("out")).unwrap();
    for arguments in [
        &["analyze", "run.txt", "-o", "out"][..],
        &["analyze", "run.txt", "-o", "out", "--format", "json"],
    ] {
        let said = Run::new(arguments).current_dir(folder.path()).said();
        assert_eq!(said.code, 2, "{}", said.stderr);
        assert!(
            said.stderr.contains("hint: name a file in it"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn pages_of_all_commands_are_written() {
    let folder = Folder::new("man");
    let said = Run::new(&["man", "-o", "share/man1"])
        .current_dir(folder.path())
        .said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    for name in ["tier6", "tier6-analyze", "tier6-compare", "tier6-man"] {
        let page = fs::read_to_string(folder.path().join(format!("share/man1/{name}.1"))).unwrap();
        assert!(page.contains(".SH \"EXAMPLE"), "{name}: {page}");
        assert!(
            page.contains("quiet"),
            "{name} names the options of every command"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    use std::process::{Command, Stdio};
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tier6"))
        .args(["analyze", "base.txt"])
        .current_dir(fixtures())
        .stdout(Stdio::from(full))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("failed to write standard output"),
        "{stderr}"
    );
}

#[test]
fn a_text_in_a_folder_that_only_looks_like_a_benchmark_is_passed_over() {
    let folder = Folder::new("bare").with(&["run.txt"]);
    let header = "# size count type redop time algbw busbw error\nprint('no rows')\n";
    fs::write(folder.0.join("notes.py"), header).unwrap();
    let said = Run::new(&["analyze", folder.0.to_str().unwrap(), "--format", "json"]).said();
    assert_eq!(said.code, 0, "{}", said.stderr);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["inputs"].as_array().unwrap().len(), 1);
    assert!(said.stderr.contains("notes.py"), "{}", said.stderr);
}
