//! Experiments: algorithms over sizes or ranks by both engines, those of source document 004 or
//! any that a file describes.

use crate::predict::predict;
use crate::simulate::{SimulatedWork, simulate};
use crate::text::read_text;
use crate::{
    Error, Exit, Form, PredictRequest, Progress, SimulateRequest, Variant, make_folder, write_file,
};
use std::path::{Path, PathBuf};
use tier6_collective::Grain;
use tier6_g5::Recording;
use tier6_report::{
    AlgorithmChoice, ProtocolChoice, experiment_svg, experiments_csv, experiments_html,
    experiments_json, experiments_markdown, experiments_table,
};
use tier6_study::{
    Cell, Engine, Experiment, ExperimentLine, Outcome, Refused, document_experiments,
};
use tier6_system::nearest;

/// Loads experiments: each a name or number of source document 004's, or a TOML file; `-` is
/// standard input. None means the document's four.
///
/// # Errors
///
/// When there is no such experiment or file, or a file describes none.
pub fn load_experiments(arguments: &[String]) -> Result<Vec<Experiment>, Error> {
    let known = document_experiments();
    if arguments.is_empty() {
        return known
            .iter()
            .map(|(name, text)| read(name, name, text))
            .collect();
    }
    let mut loaded: Vec<Experiment> = Vec::new();
    for argument in arguments {
        let experiment = load(argument)?;
        if loaded.iter().any(|other| other.name == experiment.name) {
            return Err(Error::Usage {
                message: format!("two experiments are named `{}`", experiment.name),
                hint: Some("give one of them another `name`".to_owned()),
            });
        }
        loaded.push(experiment);
    }
    Ok(loaded)
}

fn load(argument: &str) -> Result<Experiment, Error> {
    let known = document_experiments();
    let by_number = || {
        let number: usize = argument.parse().ok()?;
        known.get(number.checked_sub(1)?)
    };
    let by_name = known.iter().find(|(name, _)| *name == argument);
    if let Some((name, text)) = by_name.or_else(by_number) {
        return read(name, name, text);
    }
    let looks_like_a_path = argument.contains(['/', '.']) || argument == "-";
    if !looks_like_a_path && !Path::new(argument).exists() {
        let names = known.map(|(name, _)| name);
        return Err(Error::Usage {
            message: format!("unknown experiment `{argument}`"),
            hint: Some(match nearest(argument, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("1 to {}, {}, or a TOML file", known.len(), names.join(", ")),
            }),
        });
    }
    let stem = match argument {
        "-" => "experiment",
        path => {
            let stem = Path::new(path).file_stem();
            stem.and_then(|stem| stem.to_str()).unwrap_or("experiment")
        }
    };
    read(argument, stem, &read_text(argument)?)
}

fn read(path: &str, stem: &str, text: &str) -> Result<Experiment, Error> {
    Experiment::from_toml(text, stem).map_err(|error| Error::Malformed {
        path: path.to_owned(),
        message: error.to_string(),
        hint: error.hint,
    })
}

/// Runs an experiment.
///
/// # Errors
///
/// When its system cannot be loaded. A call that an engine cannot do is part of the outcome.
pub fn run_experiment(
    experiment: Experiment,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome {
        experiment,
        cells: Vec::new(),
        refused: Vec::new(),
    };
    for line in outcome.experiment.lines.clone() {
        for ranks in outcome.experiment.ranks.clone() {
            for engine in outcome.experiment.engines.clone() {
                let answers = match engine {
                    Engine::G5 => simulated(&outcome.experiment, line, ranks, progress),
                    _ => predicted(&outcome.experiment, line, ranks),
                };
                match answers {
                    Ok((cells, refused)) => {
                        outcome.cells.extend(cells);
                        outcome.refused.extend(refused);
                    }
                    Err(Error::Domain { message, .. }) => outcome.refused.push(Refused {
                        line,
                        ranks,
                        bytes: None,
                        engine,
                        why: message,
                    }),
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(outcome)
}

type Answers = (Vec<Cell>, Vec<Refused>);

fn predicted(experiment: &Experiment, line: ExperimentLine, ranks: u32) -> Result<Answers, Error> {
    let report = predict(&PredictRequest {
        system: &experiment.system,
        collective: line.collective,
        choice: AlgorithmChoice::One(line.algorithm),
        protocols: ProtocolChoice::Auto,
        variant: &Variant::default(),
        grain: Grain::Message,
        ranks: Some(ranks),
        nodes: None,
        sizes: &experiment.sizes,
    })?;
    let cells = report.rows.into_iter().map(|row| Cell {
        line,
        ranks,
        bytes: row.bytes,
        engine: Engine::Math,
        time: row.parts.total(),
        busbw: row.busbw,
        bottleneck: row.sentence,
    });
    Ok((cells.collect(), Vec::new()))
}

fn simulated(
    experiment: &Experiment,
    line: ExperimentLine,
    ranks: u32,
    progress: &mut dyn Progress,
) -> Result<Answers, Error> {
    let request = SimulateRequest {
        system: &experiment.system,
        work: SimulatedWork::Collective {
            collective: line.collective,
            choice: AlgorithmChoice::One(line.algorithm),
            protocols: ProtocolChoice::Auto,
        },
        ranks: Some(ranks),
        nodes: None,
        chips: None,
        beside: &[],
        sizes: &experiment.sizes,
        variant: &Variant::default(),
        fidelity: experiment.fidelity,
        seed: 0,
        grain: Grain::Message,
        handshake: None,
        faults: &[],
        sensitivity: Recording::Off,
        trace: Recording::Off,
        statistics: Recording::Off,
        limit_events: None,
    };
    let report = simulate(&request, progress)?.report;
    let cells = report.rows.into_iter().map(|row| Cell {
        line,
        ranks,
        bytes: row.bytes,
        engine: Engine::G5,
        time: row.total.to_micros(),
        busbw: row.busbw,
        bottleneck: row.bottleneck,
    });
    let refused = report.stops.iter().map(|stopped| Refused {
        line,
        ranks,
        bytes: Some(stopped.bytes),
        engine: Engine::G5,
        why: stopped.headline(),
    });
    Ok((cells.collect(), refused.collect()))
}

/// Renders the outcomes of experiments.
///
/// # Errors
///
/// When the form is a chart of several experiments: a chart is of one.
pub fn render_experiments(outcomes: &[Outcome], form: Form) -> Result<String, Error> {
    match (form, outcomes) {
        (Form::Table(style, detail), _) => Ok(experiments_table(outcomes, style, detail)),
        (Form::Json, _) => Ok(experiments_json(outcomes)),
        (Form::Csv, _) => Ok(experiments_csv(outcomes)),
        (Form::Markdown, _) => Ok(experiments_markdown(outcomes)),
        (Form::Html, _) => Ok(experiments_html(outcomes)),
        (Form::Svg, [only]) => Ok(experiment_svg(only)),
        (Form::Svg, _) => Err(Error::Usage {
            message: format!("one SVG cannot hold {} experiments", outcomes.len()),
            hint: Some("name one experiment, or `-o DIR` for a file each".to_owned()),
        }),
    }
}

/// Writes the outcomes into a folder: a table, the numbers and a chart of each, and one page and
/// one JSON file of all. Returns the paths.
///
/// # Errors
///
/// When the folder cannot be made or written.
pub fn write_experiments(outcomes: &[Outcome], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    make_folder(folder)?;
    let mut files = vec![
        ("index.html".to_owned(), experiments_html(outcomes)),
        ("experiments.json".to_owned(), experiments_json(outcomes)),
    ];
    for outcome in outcomes {
        let (name, one) = (&outcome.experiment.name, std::slice::from_ref(outcome));
        files.push((format!("{name}.md"), experiments_markdown(one)));
        files.push((format!("{name}.csv"), experiments_csv(one)));
        files.push((format!("{name}.svg"), experiment_svg(outcome)));
    }
    let written = files.into_iter().map(|(name, text)| {
        let path = folder.join(name);
        write_file(&path, &text).map(|()| path)
    });
    written.collect()
}

/// Returns the exit code of experiments: nothing when no call could run.
pub fn experiments_exit(outcomes: &[Outcome]) -> Exit {
    if outcomes.iter().all(|outcome| outcome.cells.is_empty()) {
        Exit::Nothing
    } else {
        Exit::Done
    }
}
