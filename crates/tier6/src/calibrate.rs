//! From measurements to a system whose constants were fitted on them.

use crate::analyze::Inputs;
use crate::predict::unknown;
use crate::systems::{LoadedSystem, no_charts};
use crate::tuner::split_hint;
use crate::validate::right_analyses_of;
use crate::{Error, Form, Progress};
use std::collections::BTreeMap;
use tier6_collective::{Algorithm, Collective, Protocol};
use tier6_fit::{
    Anchored, CalibrateError, CalibrateOptions, Calibration, Call, Confounded, Method, Observed,
    SeriesAnalysis, SetFit, calibrate_simulated, forecast, plan_sizes as choose_sizes,
};
use tier6_measure::ReadOptions;
use tier6_report::{
    CalibrationReport, PlanReport, SetAside, calibration_csv, calibration_json,
    calibration_markdown, calibration_table, plan_json, plan_table,
};
use tier6_study::{Engine, MeasuredSet};
use tier6_system::SystemSpec;
use tier6_units::{Bytes, Micros, SizeRange};

/// What to calibrate, on what, and how.
#[derive(Debug, Clone)]
pub struct CalibrateRequest<'a> {
    /// Files, folders, patterns; `-` for standard input.
    pub files: &'a [String],
    /// A preset's name, or a file.
    pub system: &'a str,
    /// Whose constants: [`Engine::Math`] or [`Engine::G5`].
    pub engine: Engine,
    /// How constants are found.
    pub method: Method,
    /// The algorithm that was forced in all inputs.
    pub algorithm: Option<Algorithm>,
    /// The protocol that was forced in all inputs.
    pub protocol: Option<Protocol>,
    /// Whether a constant that cannot be told is an error.
    pub strict: bool,
    /// Calibrate on this many sizes of each sweep.
    pub plan: Option<u32>,
    /// What the inputs do not say themselves.
    pub reading: ReadOptions,
}

/// Which sizes to measure.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    /// A preset's name, or a file.
    pub system: &'a str,
    /// The collective.
    pub collective: Collective,
    /// N; `None` for every chip.
    pub ranks: Option<u32>,
    /// Nodes; `None` for what the ranks need.
    pub nodes: Option<u32>,
    /// What to choose from.
    pub sizes: &'a SizeRange,
    /// How many.
    pub count: u32,
}

/// Calibrates a system on everything that was measured.
///
/// # Errors
///
/// When no input can be read, none holds a measured size, the system cannot be loaded, or the
/// measurements cannot tell what was asked for.
pub fn calibrate(
    request: &CalibrateRequest<'_>,
    progress: &mut dyn Progress,
) -> Result<(CalibrationReport, Vec<Error>), Error> {
    let options = CalibrateOptions {
        method: request.method,
        confounded: if request.strict {
            Confounded::Refuse
        } else {
            Confounded::HoldAtPrior
        },
        ..CalibrateOptions::STANDARD
    };
    is_offered(request)?;
    let system = LoadedSystem::of(request.system)?.spec;
    let mut inputs = Inputs::read(request.files, &request.reading, progress)?;
    let mut observed = Vec::new();
    for (input, parsed) in &inputs.read {
        let (analyses, wrong) = right_analyses_of(&input.id(), &parsed.value);
        for set in observed_of(&input.id(), &analyses)? {
            let set = set.on(&system);
            observed.push(set.forced(request.algorithm, request.protocol));
        }
        inputs.failures.extend(wrong);
    }
    if observed.is_empty() {
        let nothing = || Error::NothingMeasured {
            inputs: request.files.join(", "),
            instead: None,
        };
        return Err(inputs.failures.pop().unwrap_or_else(nothing));
    }
    let (observed, aside) = match request.plan {
        None => (observed, Vec::new()),
        Some(count) => split(&system, &observed, count)?,
    };
    let calibration = match request.engine {
        Engine::G5 => calibrate_simulated(&system, &observed, &options),
        _ => tier6_fit::calibrate(&system, &observed, &options),
    };
    let calibration = calibration.map_err(|error| refused(&error))?;
    let set_aside = observed
        .iter()
        .zip(&aside)
        .filter(|(_, rest)| !rest.points.is_empty())
        .map(|(planned, rest)| meet(&system, &calibration, planned, rest, &options))
        .collect::<Result<_, _>>()?;
    let report = CalibrationReport {
        engine: request.engine,
        calibration,
        set_aside,
    };
    Ok((report, inputs.failures))
}

/// Refuses what no engine calibrates: the fit has no constants, and G5 is fitted by simulating,
/// on all sizes.
fn is_offered(request: &CalibrateRequest<'_>) -> Result<(), Error> {
    let refused = |message: &str, hint: &str| {
        Err(Error::Usage {
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
        })
    };
    match request.engine {
        Engine::G5 if request.method != Method::Fit => refused(
            "engine `g5` is calibrated by least squares alone",
            "leave `--method` out",
        ),
        Engine::G5 if request.plan.is_some() => refused(
            "engine `g5` is calibrated on all sizes of its data sets",
            "leave `--plan` out, or give it without data sets",
        ),
        Engine::Math | Engine::G5 => Ok(()),
        Engine::Fit
        | Engine::OneLine
        | Engine::SegmentLines
        | Engine::LogLog
        | Engine::LogLogRanks => refused(
            "only the engines `math` and `g5` have constants of a system",
            "`tier6 analyze` fits one sweep by itself",
        ),
    }
}

/// Takes the sweeps of one data set.
fn observed_of(id: &str, analyses: &[SeriesAnalysis]) -> Result<Vec<Observed>, Error> {
    let sweeps = MeasuredSet::pairs(id, analyses);
    let observe = |(name, scored, other)| Observed::of_series(name, scored, other);
    let observed: Result<Vec<Observed>, _> = sweeps.into_iter().map(observe).collect();
    observed.map_err(|error| {
        let (message, hint) = split_hint(&error.to_string());
        Error::Usage { message, hint }
    })
}

/// Parts sweeps into the planned sizes of each and the rest.
fn split(
    system: &SystemSpec,
    observed: &[Observed],
    count: u32,
) -> Result<(Vec<Observed>, Vec<Observed>), Error> {
    let (mut planned, mut rest) = (Vec::new(), Vec::new());
    for set in observed {
        let sizes: Vec<Bytes> = set.points.iter().map(|point| point.bytes).collect();
        let chosen = choose_sizes(system, &set.call, &sizes, count as usize)
            .map_err(|error| refused(&error))?;
        planned.push(set.only(|_, point| chosen.contains(&point.bytes)));
        rest.push(set.only(|_, point| !chosen.contains(&point.bytes)));
    }
    Ok((planned, rest))
}

/// Holds a calibration against the sizes of a sweep that it was not made on: the system as it
/// is, and its curve held to the sizes of that sweep that were planned.
fn meet(
    system: &SystemSpec,
    calibration: &Calibration,
    planned: &Observed,
    rest: &Observed,
    options: &CalibrateOptions,
) -> Result<SetAside, Error> {
    let sizes: Vec<Bytes> = rest.points.iter().map(|point| point.bytes).collect();
    let forecasts = forecast(&calibration.system, &rest.call, &sizes);
    let alone = forecasts.map_err(|error| refused(&error))?;
    let held = Anchored::fit(system, planned, options).and_then(|curve| curve.times(&sizes));
    let held = held.map_err(|error| refused(&error))?;
    let fit = |times: Vec<Micros>| {
        let times: BTreeMap<Bytes, f64> = sizes
            .iter()
            .zip(times)
            .map(|(bytes, time)| (*bytes, time.get()))
            .collect();
        SetFit::new(rest, |bytes| times[&bytes])
    };
    Ok(SetAside {
        system: fit(alone.iter().map(|one| one.time).collect()),
        curve: fit(held),
    })
}

/// Chooses sizes to measure on a system.
///
/// # Errors
///
/// When the system cannot be loaded, or does not do what is asked for.
pub fn plan_sizes(request: &PlanRequest<'_>) -> Result<PlanReport, Error> {
    let system = LoadedSystem::of(request.system)?;
    let topology = system.resolve(request.nodes)?;
    let ranks = request.ranks.unwrap_or(topology.n_chips());
    let call = Call {
        collective: request.collective,
        algorithm: None,
        protocol: None,
        ranks,
        nodes: request
            .nodes
            .unwrap_or_else(|| ranks.div_ceil(topology.chips_per_node())),
    };
    let candidates = request.sizes.sizes();
    let sizes = choose_sizes(&system.spec, &call, candidates, request.count as usize)
        .map_err(|error| refused(&error))?;
    Ok(PlanReport {
        system: system.spec.name,
        sizes,
        candidates: candidates.len(),
    })
}

fn refused(error: &CalibrateError) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    match error {
        CalibrateError::NoPoints => Error::Nothing { message, hint },
        CalibrateError::System { .. }
        | CalibrateError::Misfit { .. }
        | CalibrateError::NoPath { .. }
        | CalibrateError::Method { .. }
        | CalibrateError::NotIdentifiable { .. } => Error::Domain { message, hint },
    }
}

/// Reads the name of one algorithm.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_algorithm(text: &str) -> Result<Algorithm, Error> {
    let names = Algorithm::ALL.map(Algorithm::name);
    text.parse()
        .map_err(|()| unknown("algorithm", text, names.into_iter()))
}

/// Reads the name of one protocol.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_protocol(text: &str) -> Result<Protocol, Error> {
    let names = Protocol::ALL.map(Protocol::name);
    let mut known = Protocol::ALL.into_iter();
    known
        .find(|protocol| protocol.name() == text)
        .ok_or_else(|| unknown("protocol", text, names.into_iter()))
}

/// Reads the name of a method.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_method(text: &str) -> Result<Method, Error> {
    let names = Method::ALL.map(Method::name);
    text.parse()
        .map_err(|_| unknown("method", text, names.into_iter()))
}

/// Renders a calibration.
///
/// # Errors
///
/// When the form is SVG or HTML: there are no charts.
pub fn render_calibration(report: &CalibrationReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(calibration_table(report, style, detail)),
        Form::Json => Ok(calibration_json(report)),
        Form::Csv => Ok(calibration_csv(report)),
        Form::Markdown => Ok(calibration_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts("a calibration")),
    }
}

/// Renders the sizes of a plan.
///
/// # Errors
///
/// When the form is none of table and JSON.
pub fn render_plan(report: &PlanReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(..) => Ok(plan_table(report)),
        Form::Json => Ok(plan_json(report)),
        Form::Csv | Form::Markdown | Form::Svg | Form::Html => Err(Error::Usage {
            message: "a plan is a list of sizes".to_owned(),
            hint: Some("use table or json".to_owned()),
        }),
    }
}
