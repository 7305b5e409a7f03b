//! The tables of a comparison, once for all formats.

use super::ComparedSeries;
use super::summary::{cause, size_verdict, verdict_tone};
use crate::grid::{Align, Cell, Columns, Grid};
use crate::naming;
use crate::number::{ABSENT, fixed, signed};
use crate::style::Charset;
use tier6_fit::Interval;

/// Returns the table of segments.
pub(super) fn segments(series: &ComparedSeries, charset: Charset) -> Grid {
    let alpha = charset.pick("Δα us [95 %]", "d-alpha us [95 %]");
    Columns::of(&series.comparison.segments)
        .left("path", |segment| naming::label(&segment.label))
        .left("sizes", |segment| {
            naming::size_span(segment.first, segment.last)
        })
        .right("n", |segment| segment.sizes.to_string())
        .right(alpha, |segment| {
            change(
                segment.delta_alpha.map(tier6_units::Micros::get),
                segment.delta_alpha_ci,
            )
        })
        .signed(charset.pick("Δβ %", "d-beta %"), 2, |segment| {
            segment.delta_beta_pct
        })
        .right("mean time % [95 %]", |segment| {
            change(Some(segment.mean_change_pct), segment.mean_change_ci_pct)
        })
        .cells("verdict", Align::Left, |segment| {
            Cell::toned(segment.verdict.name(), verdict_tone(segment.verdict))
        })
        .left("cause", |segment| cause(segment.cause).to_owned())
        .grid()
}

fn change(value: Option<f64>, interval: Option<Interval>) -> String {
    let Some(value) = value else {
        return ABSENT.to_owned();
    };
    let value = signed(value, 2);
    match interval {
        Some(Interval { low, high }) => {
            format!("{value} [{}, {}]", signed(low, 2), signed(high, 2))
        }
        None => value,
    }
}

/// Returns a probability; none is zero.
fn chance(p: f64) -> String {
    if p < 1e-4 {
        "<0.0001".to_owned()
    } else {
        fixed(p, 4)
    }
}

/// Returns the table of sizes.
pub(super) fn sizes(series: &ComparedSeries) -> Grid {
    Columns::of(&series.comparison.sizes)
        .right("size", |size| size.bytes.to_string())
        .right("baseline us", |size| fixed(size.base.get(), 3))
        .right("new us", |size| fixed(size.new.get(), 3))
        .signed("change %", 2, |size| Some(size.change_pct))
        .right("p", |size| {
            size.p_value.map_or_else(|| ABSENT.to_owned(), chance)
        })
        .cells("outcome", Align::Left, |size| {
            let (text, tone) = size_verdict(size.verdict);
            Cell::toned(text, tone)
        })
        .grid()
}
