//! Where two versions, systems or files choose differently.

use super::choose::no_charts;
use super::load::{CommunicatorInput, Tuner, TunerRequest, load_tuner};
use super::source::{Reference, load, load_log, reference};
use crate::{Error, Form};
use tier6_collective::{DataType, RedOp};
use tier6_nccl::{Dialect, NcclCollective, TunerConfig};
use tier6_report::{DiffReport, DiffSide, diff_csv, diff_json, diff_markdown, diff_table};
use tier6_study::{Chooser, diff_choosers};
use tier6_units::SizeRange;

/// The word for NCCL's own choices on the communicator that the options name.
const OWN: &str = "default";

/// What to compare.
#[derive(Debug, Clone)]
pub struct DiffRequest<'a> {
    /// A version, a system, a communicator, a tuner configuration file, or `default`.
    pub a: &'a str,
    /// The same.
    pub b: &'a str,
    /// The communicator for versions and configuration files, when one is named.
    pub base: Option<CommunicatorInput>,
    /// Version, environment and machine; its own input is not used.
    pub tuner: TunerRequest,
    /// The collectives.
    pub collectives: Vec<NcclCollective>,
    /// The type of the elements.
    pub datatype: DataType,
    /// The operator.
    pub op: RedOp,
    /// The sizes.
    pub sizes: &'a SizeRange,
    /// The dialect of configuration files; without one it is told by name and fields.
    pub dialect: Option<Dialect>,
}

struct Side {
    tuner: Tuner,
    config: Option<TunerConfig>,
    name: String,
}

/// Compares two choosers on a grid of sizes.
///
/// # Errors
///
/// When a side cannot be loaded, or needs a communicator that is not named.
pub fn diff_tuners(request: &DiffRequest<'_>) -> Result<DiffReport, Error> {
    let (a, b) = (side(request, request.a)?, side(request, request.b)?);
    let collectives = request.collectives.iter().map(|&collective| {
        let left = Chooser {
            table: &a.tuner.table,
            config: a.config.as_ref(),
        };
        let right = Chooser {
            table: &b.tuner.table,
            config: b.config.as_ref(),
        };
        let call = (request.datatype, request.op);
        let diff = diff_choosers(left, right, collective, call, request.sizes.sizes());
        (collective, diff)
    });
    Ok(DiffReport {
        collectives: collectives.collect(),
        a: described(&a),
        b: described(&b),
    })
}

fn described(side: &Side) -> DiffSide {
    DiffSide {
        name: side.name.clone(),
        subject: side.tuner.subject.clone(),
    }
}

fn side(request: &DiffRequest<'_>, argument: &str) -> Result<Side, Error> {
    let name = argument.to_owned();
    if argument == OWN {
        let tuner = base(request, argument, &request.tuner)?;
        return Ok(Side {
            tuner,
            config: None,
            name,
        });
    }
    let (tuner, config) = match reference(argument, request.dialect)? {
        Reference::Version(version) => {
            let asked = TunerRequest {
                nccl: Some(version),
                ..request.tuner.clone()
            };
            (base(request, argument, &asked)?, None)
        }
        Reference::Communicator(input) => (load(input, &request.tuner)?, None),
        Reference::Log(text) => (load_log(argument, &text, &request.tuner)?, None),
        Reference::Config(config) => (base(request, argument, &request.tuner)?, Some(config)),
        Reference::Choices(_) => {
            return Err(Error::Usage {
                message: format!("`{argument}` holds choices, not what makes them"),
                hint: Some("give versions, systems, communicators or tuner files".to_owned()),
            });
        }
    };
    Ok(Side {
        tuner,
        config,
        name,
    })
}

fn base(request: &DiffRequest<'_>, argument: &str, asked: &TunerRequest) -> Result<Tuner, Error> {
    let Some(input) = &request.base else {
        return Err(Error::Usage {
            message: format!("`{argument}` needs a communicator to choose on"),
            hint: Some("name one with `--system`, `--graph`, `--comm` or `--log`".to_owned()),
        });
    };
    load_tuner(&TunerRequest {
        input: input.clone(),
        ..asked.clone()
    })
}

/// Renders a difference.
///
/// # Errors
///
/// When the form is SVG or HTML.
pub fn render_diff(report: &DiffReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(diff_table(report, style, detail)),
        Form::Json => Ok(diff_json(report)),
        Form::Csv => Ok(diff_csv(report)),
        Form::Markdown => Ok(diff_markdown(report)),
        Form::Svg | Form::Html => Err(no_charts()),
    }
}
