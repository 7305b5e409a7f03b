//! Any graph: named switches, and edges between them and the ends `chip0..` (first tier) or
//! `nic0..` (others, counted group by group).

use super::Site;
use crate::place::Spelled;
use crate::resolve::{Cable, End};
use crate::spec::{EdgeSpec, VertexSpec};
use crate::suggest::nearest;
use crate::topology::LinkClassId;
use crate::{SystemError, SystemProblem};
use std::collections::BTreeMap;

pub(super) fn build(
    site: &mut Site<'_, '_>,
    class: LinkClassId,
    vertices: &[VertexSpec],
    edges: &[EdgeSpec],
) -> Result<(), SystemError> {
    let word = if site.tier_index == 0 { "chip" } else { "nic" };
    let mut ends: BTreeMap<String, End> = BTreeMap::new();
    for (index, &end) in site.ends.iter().enumerate() {
        ends.insert(format!("{word}{index}"), end);
    }
    for vertex in vertices {
        let end = site.add_switch(&vertex.switch, vertex.name.value.clone())?;
        if ends.insert(vertex.name.value.clone(), end).is_some() {
            let name = vertex.name.value.clone();
            let kind = "vertex";
            let problem = SystemProblem::DefinedTwice { kind, name };
            return Err(SystemError::new(vertex.name.place, problem));
        }
    }
    let mut cables = Vec::new();
    for edge in edges {
        if edge.from == edge.to {
            let problem = SystemProblem::BadValue {
                key: "edges".to_owned(),
                reason: format!("an edge leads from `{}` to itself", edge.from.value),
            };
            return Err(SystemError::new(edge.from.place, problem));
        }
        cables.push(Cable {
            a: find(&ends, &edge.from, word)?,
            b: find(&ends, &edge.to, word)?,
            class: match &edge.link {
                Some(name) => site.classes.link(name)?,
                None => class,
            },
            lanes: edge.lanes.unwrap_or(site.tier.lanes),
            direction: edge.direction,
        });
    }
    site.lay(&cables)
}

fn find(
    ends: &BTreeMap<String, End>,
    name: &Spelled<String>,
    word: &str,
) -> Result<End, SystemError> {
    ends.get(&name.value).copied().ok_or_else(|| {
        let near = nearest(&name.value, ends.keys().map(String::as_str));
        let problem = SystemProblem::UnknownName {
            kind: "vertex",
            name: name.value.clone(),
        };
        let error = SystemError::new(name.place, problem);
        match near {
            Some(_) => error.did_you_mean(near),
            None => error.hint(format!("ends are `{word}0`, `{word}1`, .. and `vertices`")),
        }
    })
}
