//! The bundled link and switch classes, which every system may use by name.

use crate::spec::{LinkSpec, SwitchSpec};
use std::sync::LazyLock;

/// The classes; each fact has its source beside it.
const TEXT: &str = include_str!("../presets/catalog.toml");

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    Catalog::from_toml(TEXT).expect("Invariant: the bundled catalog reads; a test does it")
});

/// Link and switch classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    /// Link classes, in the order of the file.
    pub links: Vec<LinkSpec>,
    /// Switch classes, in the order of the file.
    pub switches: Vec<SwitchSpec>,
}

/// Returns the bundled classes.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}
