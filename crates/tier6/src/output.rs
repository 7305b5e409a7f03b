//! Writing a result to a file: whole, or not at all.

use crate::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes `text` to `path`. The file appears under its name only when it is complete.
///
/// # Errors
///
/// When the folder does not exist or cannot be written; an existing file is then unchanged.
pub fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    write_whole(path, text).map_err(|source| Error::Write {
        path: path.display().to_string(),
        source,
    })
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A device or a pipe (`/dev/stdout`) cannot be replaced; it is written as it is.
    if path.exists() && !path.is_file() {
        return fs::OpenOptions::new()
            .write(true)
            .open(path)?
            .write_all(text.as_bytes());
    }
    // A link stays a link, to the new text.
    let real = fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("it names no file"))?;
    let mut partial_name = name.to_owned();
    partial_name.push(format!(".partial-{}", std::process::id()));
    let partial = path.with_file_name(partial_name);
    let result = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    if result.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    result
}

/// Makes a folder and those above it, where they do not exist.
///
/// # Errors
///
/// When the system refuses.
pub fn make_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Write {
        path: path.display().to_string(),
        source,
    })
}
