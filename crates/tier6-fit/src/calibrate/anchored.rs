//! A curve through a few measured sizes: the shape of a calibrated system between them.
//!
//! A system calibrated on five sizes says how the time bends between them; the five times say how
//! much it is off there. So a size between two of them gets the system's time, times the ratio
//! measured / predicted of its neighbours, interpolated over the logarithm of the size. At the
//! measured sizes the curve is the measurement; outside, the ratio of the nearest one holds.

use super::forecast::forecast;
use super::{CalibrateError, CalibrateOptions, Calibration, Observed, calibrate};
use tier6_system::SystemSpec;
use tier6_units::{Bytes, Micros};

/// A calibrated system held to the measured times of one sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchored {
    calibration: Calibration,
    call: super::Call,
    /// ln bytes, and ln(measured / predicted), ascending.
    ratios: Vec<(f64, f64)>,
}

impl Anchored {
    /// Calibrates a system on a sweep of a few sizes and holds it to them.
    ///
    /// # Errors
    ///
    /// As [`calibrate`].
    pub fn fit(
        system: &SystemSpec,
        observed: &Observed,
        options: &CalibrateOptions,
    ) -> Result<Self, CalibrateError> {
        let calibration = calibrate(system, std::slice::from_ref(observed), options)?;
        let sizes: Vec<Bytes> = observed.points.iter().map(|point| point.bytes).collect();
        let shape = forecast(&calibration.system, &observed.call, &sizes)?;
        let points = observed.points.iter().zip(&shape);
        let ratios = points
            .map(|(point, shape)| {
                let ratio = (point.time.get() / shape.time.get()).ln();
                (point.bytes.as_f64().ln(), ratio)
            })
            .collect();
        Ok(Self {
            calibration,
            call: observed.call,
            ratios,
        })
    }

    /// Returns the calibration behind the curve.
    pub const fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Returns the times of the sweep's call at other sizes.
    ///
    /// # Errors
    ///
    /// As [`forecast`].
    pub fn times(&self, sizes: &[Bytes]) -> Result<Vec<Micros>, CalibrateError> {
        let shape = forecast(&self.calibration.system, &self.call, sizes)?;
        let held = shape.iter().map(|shape| {
            let ratio = self.ratio(shape.bytes.as_f64().ln());
            Micros::new(shape.time.get() * ratio.exp())
        });
        Ok(held.collect())
    }

    fn ratio(&self, x: f64) -> f64 {
        let after = self.ratios.partition_point(|(at, _)| *at < x);
        let (Some(before), Some(next)) = (
            after.checked_sub(1).map(|at| self.ratios[at]),
            self.ratios.get(after).copied(),
        ) else {
            let nearest = if after == 0 {
                self.ratios.first()
            } else {
                self.ratios.last()
            };
            return nearest.map_or(0.0, |(_, ratio)| *ratio);
        };
        let part = (x - before.0) / (next.0 - before.0);
        before.1 + part * (next.1 - before.1)
    }
}
