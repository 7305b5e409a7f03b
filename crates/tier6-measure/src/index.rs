//! The index beside data sets: what a CSV of numbers does not say of its machine.

use crate::{LibraryVersion, Parsed, ReadOptions, Warning, WarningCode};
use std::collections::BTreeSet;
use tier6_collective::Collective;

/// What an index states of one data set. A text is empty when its cell is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetFacts {
    /// Name of the set: its file is `<id>.csv`.
    pub id: String,
    /// The collective.
    pub collective: Option<Collective>,
    /// The kind of GPU.
    pub gpu: String,
    /// Number of ranks, one per GPU.
    pub ranks: Option<u32>,
    /// Number of nodes.
    pub nodes: Option<u32>,
    /// Link inside a node.
    pub intra_link: String,
    /// Link between nodes.
    pub inter_link: String,
    /// The library as written: `2.22.3`, `RCCL 2.20.5`, `n/a`.
    pub library: String,
    /// The library's version, when all three parts are stated.
    pub library_version: Option<LibraryVersion>,
    /// Environment and flags that differ from the defaults.
    pub env_flags: String,
    /// Number of sizes.
    pub points: Option<u32>,
    /// Where the numbers were published.
    pub source: String,
    /// How complete and how trustworthy the set is.
    pub trust: String,
    /// Anything else.
    pub notes: String,
}

impl SetFacts {
    /// Returns what a reader of the set's CSV needs to be told.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            collective: self.collective,
            ranks: self.ranks,
            nodes: self.nodes,
            ..ReadOptions::default()
        }
    }
}

/// Reads an index: tab-separated lines under a header that names at least `id`.
///
/// ```
/// let index = tier6_measure::read_index("id\tcollective\tn_gpus\nmy_scan\tall_reduce\t8\n");
/// assert_eq!(index.value[0].ranks, Some(8));
/// ```
pub fn read_index(text: &str) -> Parsed<Vec<SetFacts>> {
    let mut facts = Vec::new();
    let mut warnings = Vec::new();
    let mut ids = BTreeSet::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
    let header: Vec<&str> = lines
        .next()
        .map_or(Vec::new(), |(line, _)| line.split('\t').collect());
    let mut warn = |line: u64, message: String| {
        warnings.push(Warning {
            code: WarningCode::BadRow,
            line: Some(line),
            message,
        });
    };
    if !header.contains(&"id") {
        warn(1, "the header of the index names no column `id`".to_owned());
        return Parsed {
            value: facts,
            warnings,
        };
    }
    for (line, number) in lines.filter(|(line, _)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').collect();
        if cells.len() != header.len() {
            warn(
                number,
                format!("expected {} cells, found {}", header.len(), cells.len()),
            );
            continue;
        }
        let cell = |name: &str| {
            let at = header.iter().position(|column| *column == name);
            at.map_or("", |at| cells[at].trim())
        };
        let set = set_facts(&cell);
        if set.id.is_empty() || !ids.insert(set.id.clone()) {
            warn(number, format!("`{}` is no new id", set.id));
            continue;
        }
        facts.push(set);
    }
    Parsed {
        value: facts,
        warnings,
    }
}

fn set_facts<'a>(cell: &impl Fn(&str) -> &'a str) -> SetFacts {
    let whole = |name| cell(name).parse::<u32>().ok().filter(|number| *number > 0);
    let library = cell("nccl_version");
    let version = library.strip_prefix("RCCL ").unwrap_or(library);
    SetFacts {
        id: cell("id").to_owned(),
        collective: cell("collective").parse().ok(),
        gpu: cell("gpu").to_owned(),
        ranks: whole("n_gpus"),
        nodes: whole("n_nodes"),
        intra_link: cell("intra_link").to_owned(),
        inter_link: cell("inter_link").to_owned(),
        library: library.to_owned(),
        library_version: version.parse().ok(),
        env_flags: cell("env_flags").to_owned(),
        points: whole("n_points"),
        source: cell("source").to_owned(),
        trust: cell("completeness_trust").to_owned(),
        notes: cell("notes").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_the_name_of_their_column() {
        let index = read_index(
            "id\tn_gpus\tcollective\tnccl_version\tnotes\n\
             a\t16\talltoall\tRCCL 2.20.5\tgood\n\
             b\tn/a\tsendrecv\t2.18\t\n",
        );
        assert_eq!(index.warnings, []);
        let [a, b] = index.value.as_slice() else {
            panic!("two sets")
        };
        assert_eq!((a.ranks, a.nodes), (Some(16), None));
        assert_eq!(a.collective, Some(Collective::AllToAll));
        assert_eq!(a.library_version, Some(LibraryVersion::new(2, 20, 5)));
        assert_eq!(a.read_options().ranks, Some(16));
        assert_eq!((b.ranks, b.library_version), (None, None));
        assert_eq!(b.collective, Some(Collective::SendRecv));
    }

    #[test]
    fn bad_lines_are_told() {
        let index = read_index("id\tgpu\na\tH100\nb\na\tA100\n");
        assert_eq!(index.value.len(), 1);
        let said: Vec<String> = index.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "line 3: expected 2 cells, found 1 [bad-row]",
                "line 4: `a` is no new id [bad-row]"
            ]
        );
        assert_eq!(read_index("name\nx\n").warnings.len(), 1);
        assert!(read_index("").value.is_empty());
    }
}
