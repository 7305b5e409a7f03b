//! The page of the book about system files: its example is a system, its catalog is the catalog.

use std::fs;
use std::path::Path;
use tier6_system::{SystemSpec, catalog};

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/system-files.md");
    fs::read_to_string(page).unwrap()
}

#[test]
fn the_example_is_a_system() {
    let page = page();
    let (_, from_example) = page.split_once("```toml\n").unwrap();
    let (example, _) = from_example.split_once("```").unwrap();
    let topology = SystemSpec::from_toml(example).unwrap().resolve().unwrap();
    assert_eq!(topology.n_chips(), 8);
    let classes = topology.link_classes().iter();
    let myport = classes
        .clone()
        .find(|class| class.name == "myport")
        .unwrap();
    assert!((myport.rate.value.get() - 50.0).abs() < 1e-12);
    assert!((myport.efficiency.value.get() - 0.95).abs() < 1e-12);
}

#[test]
fn every_class_of_the_catalog_is_named() {
    let page = page();
    let links = catalog().links.iter().map(|link| &link.name.value);
    let switches = catalog().switches.iter().map(|switch| &switch.name.value);
    for name in links.chain(switches) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
