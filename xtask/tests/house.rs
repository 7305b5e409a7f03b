//! The rules of the house, held against the tree: floors, leftovers, lengths, links.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Floor of every crate; a crate imports lower floors only. Doors are the top floor.
const FLOORS: [(&str, u32); 15] = [
    ("tier6-units", 0),
    ("tier6-stats", 0),
    ("tier6-collective", 1),
    ("tier6-system", 1),
    ("tier6-des", 1),
    ("tier6-measure", 2),
    ("tier6-nccl", 2),
    ("tier6-math", 2),
    ("tier6-g5", 2),
    ("tier6-fit", 3),
    ("tier6-study", 4),
    ("tier6-report", 5),
    ("tier6", 6),
    ("tier6-cli", 7),
    ("xtask", 7),
];

/// The longest source file; past 600 lines there is a second idea inside.
const LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("Invariant: xtask lies in the workspace")
        .to_owned()
}

fn files(folder: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" && name != "book" {
                files(&path, suffix, found);
            }
        } else if name.ends_with(suffix) {
            found.push(path);
        }
    }
}

fn tree(suffix: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root(), suffix, &mut found);
    assert!(!found.is_empty(), "no {suffix} file found");
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.strip_prefix(root()).unwrap().to_owned(), text)
        })
        .collect()
}

#[test]
fn crates_import_lower_floors_only() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let floors: BTreeMap<&str, u32> = FLOORS.into_iter().collect();
    let floor = |name: &str| {
        *floors
            .get(name)
            .unwrap_or_else(|| panic!("crate `{name}` has no floor in house.rs"))
    };
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let own = floor(name);
        for dependency in package["dependencies"].as_array().unwrap() {
            let imported = dependency["name"].as_str().unwrap();
            if dependency["path"].is_string() {
                // Floor 0 and 1 crates may see each other downwards only, like all others.
                assert!(
                    floor(imported) < own,
                    "`{name}` (floor {own}) imports `{imported}` (floor {})",
                    floor(imported)
                );
            }
        }
    }
}

#[test]
fn no_test_is_ignored_and_nothing_is_left_over() {
    // Spelled in two halves, so that this file does not find itself.
    let words = [
        concat!("#[ign", "ore"),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("db", "g!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
    ];
    for (path, text) in tree(".rs") {
        for (number, line) in text.lines().enumerate() {
            for word in words {
                assert!(
                    !line.contains(word),
                    "{}:{}: `{word}`",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn domain_crates_print_nothing_and_open_no_files() {
    let doors = ["crates/tier6/", "crates/tier6-cli/", "xtask/"];
    let words = [
        "println!(",
        "print!(",
        "std::fs",
        "std::env",
        "SystemTime",
        "Instant::now",
        "std::thread",
    ];
    for (path, text) in tree(".rs") {
        let place = path.to_string_lossy().into_owned();
        let domain = place.contains("/src/") && !doors.iter().any(|door| place.starts_with(door));
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate().filter(|_| domain) {
            let line = line.split("//").next().unwrap();
            for word in words {
                assert!(
                    !line.contains(word),
                    "{place}:{}: `{word}` below the facade",
                    number + 1
                );
            }
        }
    }
}

#[test]
fn files_hold_one_idea() {
    for (path, text) in tree(".rs") {
        let lines = text.lines().count();
        assert!(
            lines <= LINES_MAX,
            "{}: {lines} lines, is there a second idea inside?",
            path.display()
        );
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let vague = ["utils.rs", "helpers.rs", "common.rs", "types.rs", "mod.rs"];
        assert!(
            !vague.contains(&name.as_str()),
            "{}: name the idea",
            path.display()
        );
    }
}

#[test]
fn links_of_the_documentation_lead_somewhere() {
    for (path, text) in tree(".md") {
        let folder = root().join(path.parent().unwrap());
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") || target.contains(' ') {
                continue;
            }
            assert!(
                folder.join(target).exists(),
                "{}: link to `{link}`",
                path.display()
            );
        }
    }
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let book = root().join("docs/src");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).unwrap();
    let mut pages = Vec::new();
    files(&book, ".md", &mut pages);
    for page in pages {
        let name = page
            .strip_prefix(&book)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "docs/src/{name} is not in SUMMARY.md"
        );
    }
}
