//! Where tests find material that is too large, or not ours, to be part of the crate.

use std::fs;
use std::path::PathBuf;

/// Returns the folder of published measurements: the full one beside the workspace when it is
/// there, else the workspace's own copy.
pub(crate) fn measurements() -> PathBuf {
    let workspace = workspace();
    let full = workspace.join("../shared/data");
    let used = if full.is_dir() {
        full
    } else {
        workspace.join("data/measurements")
    };
    eprintln!("measurements from {}", used.display());
    used
}

/// Returns a file of `../shared`, when that folder is there.
pub(crate) fn shared(path: &str) -> Option<String> {
    let path = workspace().join("../shared").join(path);
    let text = fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!(
            "{} is not here; only the own fixture was used",
            path.display()
        );
    }
    text
}

/// Returns the first file of `../shared/FOLDER` whose name starts with `start`.
pub(crate) fn shared_starting(folder: &str, start: &str) -> Option<String> {
    let entries = fs::read_dir(workspace().join("../shared").join(folder)).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = names.filter(|name| name.starts_with(start)).min()?;
    shared(&format!("{folder}/{name}"))
}

fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
