//! Lists the bundled measurements, so that they travel inside the binary.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Invariant: cargo sets it"));
    let folder = manifest.join("../../data/measurements").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name)
            .extension()
            .is_some_and(|suffix| suffix == "csv")
        {
            names.push(name);
        }
    }
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        let id = name.trim_end_matches(".csv");
        let path = folder.join(&name);
        writeln!(
            code,
            "    ({id:?}, include_str!({:?})),",
            path.display().to_string()
        )
        .expect("Invariant: a string takes any text");
    }
    code.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Invariant: cargo sets it"));
    fs::write(out.join("bundled.rs"), code)
}
