//! Datasets as text that other tools, and tier6 again, can read.
//!
//! Numbers are written with all their digits, so what is read back is what was written. What a
//! format cannot hold is said with its function.

mod json_lines;
mod nccl_tests_text;
mod tier6_csv;

pub(crate) use json_lines::SCHEMA;
pub use json_lines::to_json_lines;
pub use nccl_tests_text::to_nccl_tests_text;
pub use tier6_csv::{CsvSheet, to_tier6_csv};

use crate::{Placement, Run, Series};

/// The two placements of one call signature.
#[derive(Debug, Clone, Copy)]
struct Pair<'a> {
    out_of_place: Option<&'a Series>,
    in_place: Option<&'a Series>,
}

impl<'a> Pair<'a> {
    /// Returns whichever placement is there; both say the same of the call.
    fn either(self) -> Option<&'a Series> {
        self.out_of_place.or(self.in_place)
    }
}

/// Joins the series of a run that differ in placement only, in the order of the run.
fn pairs(run: &Run) -> Vec<Pair<'_>> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for series in &run.series {
        let partner = pairs.iter_mut().find(|pair| match series.placement {
            Placement::OutOfPlace => {
                pair.out_of_place.is_none()
                    && pair.in_place.is_some_and(|ip| is_same_call(ip, series))
            }
            Placement::InPlace => {
                pair.in_place.is_none()
                    && pair
                        .out_of_place
                        .is_some_and(|oop| is_same_call(oop, series))
            }
        });
        match (series.placement, partner) {
            (Placement::OutOfPlace, Some(pair)) => pair.out_of_place = Some(series),
            (Placement::InPlace, Some(pair)) => pair.in_place = Some(series),
            (Placement::OutOfPlace, None) => pairs.push(Pair {
                out_of_place: Some(series),
                in_place: None,
            }),
            (Placement::InPlace, None) => pairs.push(Pair {
                out_of_place: None,
                in_place: Some(series),
            }),
        }
    }
    pairs
}

fn is_same_call(one: &Series, other: &Series) -> bool {
    let call = |series: &Series| {
        (
            series.collective,
            series.ranks,
            series.nodes,
            series.datatype,
            series.redop,
            series.root,
        )
    };
    let path = |series: &Series| series.points.first().and_then(|point| point.path);
    call(one) == call(other) && path(one) == path(other)
}
