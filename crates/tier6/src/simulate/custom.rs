//! Schedules from files: ours as JSON, MSCCL's as XML.

use super::running::Race;
use super::scene::{Call, Outcome, Scene, domain};
use super::stage::Stage;
use super::{SimulateRequest, Simulated};
use crate::Error;
use crate::predict::Site;
use crate::progress::Progress;
use crate::text::read_text;
use crate::tuner::split_hint;
use tier6_collective::{Schedule, Script, read_json_script, read_msccl_script};
use tier6_fit::Launch;
use tier6_g5::{Lowered, Recording};
use tier6_math::{Basis, Parameters, Plan};
use tier6_report::{AlgorithmChoice, ProtocolChoice};
use tier6_units::SizeRange;

/// Simulates the schedule of a file.
pub(super) fn simulate(
    request: &SimulateRequest<'_>,
    (file, sizes): (&str, Option<&SizeRange>),
    progress: &mut dyn Progress,
) -> Result<Simulated, Error> {
    let scripts = read(file, request, sizes)?;
    let script = scripts.first().expect("Invariant: a list of sizes has one");
    let first = &script.schedule;
    let ranks = first.ranks();
    if let Some(asked) = request.ranks.filter(|asked| *asked != ranks) {
        return Err(Error::Usage {
            message: format!("`{file}` is a schedule of {ranks} ranks, not {asked}"),
            hint: Some("leave `--ranks` out".to_owned()),
        });
    }
    let stage = Stage::new(request, Some(ranks))?;
    let site = &stage.placed.site;
    if site.ranks != ranks {
        return Err(Error::Usage {
            message: format!(
                "`{file}` is a schedule of {ranks} ranks, not {}",
                site.ranks
            ),
            hint: Some(format!("give `--chips` {ranks} chips")),
        });
    }
    let collective = first.collective();
    // A schedule says itself what it sends: no protocol.
    let work = (collective, ProtocolChoice::Without);
    let mut scene = Scene::new(request, &stage, work, progress)?;
    let mut simulated = Simulated::nothing(&scene, AlgorithmChoice::Auto);
    simulated.report.choice = match first.algorithm() {
        Some(algorithm) => AlgorithmChoice::One(algorithm),
        None => AlgorithmChoice::All,
    };
    // What cannot end computes nothing; the stop says why.
    if script.can_end() {
        simulated.report.flaw = first.check().err().map(|violation| violation.to_string());
    }
    for (at, script) in scripts.iter().enumerate() {
        let timeline = match request.trace {
            Recording::On if at + 1 == scripts.len() => Recording::On,
            Recording::On | Recording::Off => Recording::Off,
        };
        let call = scene.custom(script)?;
        let outcome = match scene.outcome(call, Race::kept(timeline))? {
            Outcome::Refused(error) => return Err(error),
            outcome => outcome,
        };
        let basis = basis(site, &script.schedule);
        simulated.add(&mut scene, vec![(outcome, basis)])?;
    }
    Ok(simulated)
}

/// Reads a schedule for each size that was asked for; without any JSON has its own size, and XML
/// those of every request.
fn read(
    file: &str,
    request: &SimulateRequest<'_>,
    sizes: Option<&SizeRange>,
) -> Result<Vec<Script>, Error> {
    let text = read_text(file)?;
    let malformed = |error: &dyn std::error::Error| {
        let (message, hint) = split_hint(&error.to_string());
        Error::Malformed {
            path: file.to_owned(),
            message,
            hint,
        }
    };
    if text.trim_start().starts_with('<') {
        let sizes = sizes.unwrap_or(request.sizes).sizes().iter();
        let read = |bytes| read_msccl_script(&text, bytes).map_err(|error| malformed(&error));
        return sizes.copied().map(read).collect();
    }
    let read = |bytes| read_json_script(&text, bytes).map_err(|error| malformed(&error));
    match sizes {
        None => Ok(vec![read(None)?]),
        Some(sizes) => sizes.sizes().iter().copied().map(Some).map(read).collect(),
    }
}

impl Scene<'_> {
    fn custom(&self, script: &Script) -> Result<Call, Error> {
        let (schedule, lowered) = (&script.schedule, Lowered::of_script(script));
        let launch = Launch::of_schedule(&self.setup(), lowered, self.chips.to_vec());
        let launch = launch.map_err(|error| domain(&error))?;
        let beside = self.calls_beside(schedule.bytes(), None, launch.channels())?;
        Ok(Call::of_schedule(schedule, launch, beside))
    }
}

fn basis(site: &Site, schedule: &Schedule) -> Basis {
    let parameters = Parameters {
        placement: site.placement,
        ..Parameters::of(&site.topology)
    };
    let plan = Plan::of_schedule(&site.topology, schedule, &parameters);
    plan.map_or(Basis::Assumed, |plan| {
        plan.predict(&site.topology, schedule.bytes()).basis
    })
}
