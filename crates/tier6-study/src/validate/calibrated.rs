//! A described system whose constants were calibrated on some sweeps, asked for a call.

use super::engine::{Engine, Predicted};
use std::collections::BTreeMap;
use tier6_fit::{
    CalibrateOptions, Calibration, Call, HeldOut, Observed, SetFit, calibrate, calibrate_simulated,
    forecast_simulated,
};
use tier6_system::SystemSpec;
use tier6_units::Bytes;

/// Most ranks of a call that is simulated: a calibration runs it thousands of times.
const SIMULATED_RANKS_MAX: u32 = 40;

/// A calibrated system.
#[derive(Debug, Clone)]
pub(super) enum Calibrated {
    /// Priced by closed forms.
    Math(Box<Calibration>),
    /// Simulated. Of one sweep, the sizes that it was calibrated on have been run already.
    G5(Box<Calibration>, Option<Call>),
}

impl Calibrated {
    /// Calibrates a system for an engine that prices one.
    ///
    /// # Errors
    ///
    /// Says why it cannot be.
    pub(super) fn fit(
        engine: Engine,
        system: &SystemSpec,
        observed: &[Observed],
    ) -> Result<Self, String> {
        let found = match engine {
            Engine::Math => calibrate(system, observed, &CalibrateOptions::STANDARD)
                .map(Box::new)
                .map(Self::Math),
            Engine::G5 => {
                observed
                    .iter()
                    .try_for_each(|set| is_small_enough(&set.call))?;
                let options = CalibrateOptions {
                    held_out: HeldOut::Untested,
                    ..CalibrateOptions::STANDARD
                };
                let alone = match observed {
                    [alone] => Some(alone.call),
                    _ => None,
                };
                calibrate_simulated(system, observed, &options)
                    .map(|calibration| Self::G5(Box::new(calibration), alone))
            }
            Engine::Fit
            | Engine::OneLine
            | Engine::SegmentLines
            | Engine::LogLog
            | Engine::LogLogRanks => return Err("prices no system".to_owned()),
        };
        found.map_err(|error| error.to_string())
    }

    /// Predicts a call, in the order of the sizes.
    ///
    /// # Errors
    ///
    /// Says why the call cannot be priced.
    pub(super) fn predict(&self, call: &Call, sizes: &[Bytes]) -> Result<Vec<Predicted>, String> {
        let forecasts = match self {
            Self::Math(calibration) => calibration.forecast(call, sizes),
            Self::G5(calibration, alone) => {
                is_small_enough(call)?;
                let known = (*alone == Some(*call)).then(|| calibration.sets.first());
                return simulated(calibration, known.flatten(), call, sizes);
            }
        };
        let forecasts = forecasts.map_err(|error| error.to_string())?;
        let predicted = forecasts.iter().map(|one| Predicted {
            us: one.time.get(),
            band_us: one.band.map(|band| (band.low.get(), band.high.get())),
        });
        Ok(predicted.collect())
    }
}

/// Runs the sizes that the calibration has not run.
fn simulated(
    calibration: &Calibration,
    known: Option<&SetFit>,
    call: &Call,
    sizes: &[Bytes],
) -> Result<Vec<Predicted>, String> {
    let residuals = known.map_or(&[][..], |set| &set.residuals);
    let mut times: BTreeMap<Bytes, f64> = residuals
        .iter()
        .map(|(bytes, _, predicted)| (*bytes, predicted.get()))
        .collect();
    let mut others = sizes.to_vec();
    others.retain(|bytes| !times.contains_key(bytes));
    if !others.is_empty() {
        let forecasts = forecast_simulated(&calibration.system, call, &others);
        let forecasts = forecasts.map_err(|error| error.to_string())?;
        times.extend(forecasts.iter().map(|one| (one.bytes, one.time.get())));
    }
    let predicted = sizes.iter().filter_map(|bytes| times.get(bytes));
    let predicted = predicted.map(|us| Predicted {
        us: *us,
        band_us: None,
    });
    Ok(predicted.collect())
}

fn is_small_enough(call: &Call) -> Result<(), String> {
    if call.ranks <= SIMULATED_RANKS_MAX {
        return Ok(());
    }
    let ranks = call.ranks;
    Err(format!(
        "{ranks} ranks, at most {SIMULATED_RANKS_MAX} are simulated here"
    ))
}
