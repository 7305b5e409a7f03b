//! Measured and modelled curves, as charts and plots need them.

use tier6_fit::{Line, PointSummary};
use tier6_units::Bytes;

/// Returns the time in us that a line gives for a size between the whole ones.
pub(crate) fn time_us(line: Line, bytes: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded to the nearest byte, which no picture shows; outside u64 it saturates"
    )]
    let nearest = Bytes::new(bytes.round() as u64);
    line.predict(nearest).get()
}

/// Returns the algbw in GB/s that a line gives for a size.
pub(crate) fn algbw_gbs(line: Line, bytes: f64) -> f64 {
    bytes / time_us(line, bytes) / 1e3
}

/// Says whether a point has a place on logarithmic axes.
pub(crate) fn is_drawable(point: &PointSummary) -> bool {
    point.bytes.get() > 0 && point.median.get().is_finite() && point.median.get() > 0.0
}

/// Returns the classes of a marker: the colour, and hollow when unstable or faint when unused.
pub(crate) fn marker_class(color: &str, point: &PointSummary) -> String {
    let state = match (point.excluded, point.stable) {
        (Some(_), _) => " cut",
        (None, Some(false)) => " open",
        (None, Some(true) | None) => "",
    };
    format!("m {color}{state}")
}
