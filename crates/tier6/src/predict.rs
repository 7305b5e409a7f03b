//! What a collective costs on a described system, by the Math engine: no measurement needed, and
//! marked by what it rests on.

use crate::systems::{LoadedSystem, no_page};
use crate::tuner::split_hint;
use crate::{Error, Form, Variant};
use std::num::NonZeroU32;
use tier6_collective::{Algorithm, Collective, Grain, InNccl, Protocol, offers};
use tier6_math::{Parameters, Placement, Plan, PlanError, Planner};
use tier6_report::{
    AlgorithmChoice, PredictedCall, PredictionReport, ProtocolChoice, Refusal, prediction_csv,
    prediction_json, prediction_markdown, prediction_svg, prediction_table,
};
use tier6_system::{FabricSpec, Topology, nearest};
use tier6_units::SizeRange;

/// What to predict.
#[derive(Debug, Clone, Copy)]
pub struct PredictRequest<'a> {
    /// A preset's name, or a file; `-` is standard input.
    pub system: &'a str,
    /// The collective.
    pub collective: Collective,
    /// Which algorithms.
    pub choice: AlgorithmChoice,
    /// Which of NCCL's protocols.
    pub protocols: ProtocolChoice,
    /// Which forms of the algorithms.
    pub variant: &'a Variant,
    /// The grain in which ranks forward.
    pub grain: Grain,
    /// N; `None` for every chip.
    pub ranks: Option<u32>,
    /// Nodes, over which the ranks are spread evenly; `None` fills one node after another.
    pub nodes: Option<u32>,
    /// The sizes.
    pub sizes: &'a SizeRange,
}

/// Predicts calls of a collective.
///
/// # Errors
///
/// When the system cannot be loaded, or does not do what is asked for.
pub fn predict(request: &PredictRequest<'_>) -> Result<PredictionReport, Error> {
    let site = Site::of(request.system, request.ranks, request.nodes)?;
    let (plans, refused) = plans(request, &site)?;
    let unsliced = unsliced(request, &site, &plans)?;
    let mut rows = Vec::new();
    for &bytes in request.sizes.sizes() {
        let time = |plan: &Plan| plan.time(bytes).get();
        let fastest = plans.iter().filter_map(|(algorithm, plans)| {
            let fastest = plans.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
            Some((*algorithm, fastest?))
        });
        let mut by_time: Vec<(Algorithm, &Plan)> = fastest.collect();
        // Stable: equal times stay in the order of the contract.
        by_time.sort_by(|(_, a), (_, b)| time(a).total_cmp(&time(b)));
        let shown = match request.choice {
            AlgorithmChoice::All => by_time.len(),
            AlgorithmChoice::One(_) | AlgorithmChoice::Auto => 1,
        };
        let predictions = by_time.into_iter().take(shown).map(|(algorithm, plan)| {
            let prediction = plan.predict(&site.topology, bytes);
            PredictedCall::new(
                algorithm,
                site.in_nccl(algorithm, request.collective),
                prediction,
            )
        });
        rows.extend(predictions);
    }
    Ok(PredictionReport {
        system: site.topology.name().to_owned(),
        collective: request.collective,
        ranks: site.ranks,
        nodes: site.nodes,
        choice: request.choice,
        protocols: request.protocols,
        variant: owned(request.variant.settings()),
        rows,
        refused,
        unsliced,
    })
}

/// Returns the algorithms whose times a grain does not change.
fn unsliced(
    request: &PredictRequest<'_>,
    site: &Site,
    sliced: &[(Algorithm, Vec<Plan>)],
) -> Result<Vec<Algorithm>, Error> {
    if request.grain == Grain::Message {
        return Ok(Vec::new());
    }
    let whole = PredictRequest {
        grain: Grain::Message,
        ..*request
    };
    let (whole, _) = plans(&whole, site)?;
    let same = |plans: &[Plan], others: &[Plan]| {
        let mut sizes = request.sizes.sizes().iter();
        sizes.all(|&bytes| {
            let pairs = plans.iter().zip(others);
            let mut pairs = pairs.map(|(a, b)| (a.time(bytes), b.time(bytes)));
            pairs.all(|(a, b)| a.get().total_cmp(&b.get()).is_eq())
        })
    };
    let found = sliced.iter().filter(|(algorithm, plans)| {
        let mut whole = whole.iter();
        let others = whole.find(|(other, _)| other == algorithm);
        others.is_some_and(|(_, others)| same(plans, others))
    });
    Ok(found.map(|(algorithm, _)| *algorithm).collect())
}

pub(crate) fn owned<'v>(
    settings: impl Iterator<Item = (&'v str, &'v str)>,
) -> Vec<(String, String)> {
    let owned = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    owned.collect()
}

/// A system with ranks placed on it.
pub(crate) struct Site {
    pub(crate) system: LoadedSystem,
    pub(crate) topology: Topology,
    pub(crate) ranks: u32,
    pub(crate) nodes: u32,
    pub(crate) placement: Placement,
}

impl Site {
    /// Places ranks on a system. A lone ring has as many chips as ranks.
    pub(crate) fn of(system: &str, ranks: Option<u32>, nodes: Option<u32>) -> Result<Self, Error> {
        let mut system = LoadedSystem::of(system)?;
        if let Some(ranks) = ranks.filter(|_| system.is_lone_ring()) {
            system.spec = system.spec.with_outer_count(ranks);
        }
        let mut topology = system.resolve(nodes)?;
        let per_node = topology.chips_per_node();
        let (Some(ranks), Some(nodes)) = (ranks, nodes) else {
            let ranks = ranks.unwrap_or(topology.n_chips());
            let nodes = ranks.div_ceil(per_node);
            if nodes > topology.n_nodes() && system.spec.is_multi_node() {
                topology = system.resolve(Some(nodes))?;
            }
            return Ok(Self {
                system,
                topology,
                ranks,
                nodes,
                placement: Placement::Packed,
            });
        };
        let each = (ranks % nodes == 0).then(|| NonZeroU32::new(ranks / nodes));
        match each.flatten() {
            Some(each) if each.get() <= per_node => Ok(Self {
                system,
                topology,
                ranks,
                nodes,
                placement: Placement::PerNode(each),
            }),
            _ => Err(Error::Domain {
                message: format!(
                    "{ranks} ranks do not spread evenly over {nodes} nodes of {per_node} chips"
                ),
                hint: Some(format!(
                    "for example `--ranks {}`, or no `--nodes` to fill one node after another",
                    nodes * per_node
                )),
            }),
        }
    }

    /// Says whether the library runs an algorithm here. Tori have other libraries than NCCL, of
    /// which nothing is known.
    pub(crate) fn in_nccl(&self, algorithm: Algorithm, collective: Collective) -> Option<InNccl> {
        let fabric = self.topology.tiers().first().map(|tier| &tier.fabric);
        match fabric {
            Some(FabricSpec::Torus { .. }) => None,
            _ => Some(InNccl::of(algorithm, collective, self.ranks, self.nodes)),
        }
    }

    /// Returns the algorithms to weigh: those asked for that offer the collective, of `auto` those
    /// that the library runs.
    fn algorithms(&self, choice: AlgorithmChoice, collective: Collective) -> Vec<Algorithm> {
        let offering = |algorithm: &Algorithm| offers(*algorithm, collective);
        let all = Algorithm::ALL.into_iter().filter(offering);
        match choice {
            AlgorithmChoice::One(algorithm) => vec![algorithm],
            AlgorithmChoice::All => all.collect(),
            AlgorithmChoice::Auto => all
                .filter(|algorithm| self.in_nccl(*algorithm, collective) != Some(InNccl::No))
                .collect(),
        }
    }
}

/// Algorithms with a plan per protocol.
pub(crate) type Plans = (Vec<(Algorithm, Vec<Plan>)>, Vec<Refusal>);

/// Makes the plans of the algorithms that were asked for and can run; at least one.
pub(crate) fn plans(request: &PredictRequest<'_>, site: &Site) -> Result<Plans, Error> {
    let collective = request.collective;
    let algorithms = site.algorithms(request.choice, collective);
    request.variant.check(&algorithms)?;
    let mut parameters = Parameters {
        placement: site.placement,
        grain: request.grain,
        protocol: match request.protocols {
            ProtocolChoice::One(protocol) => Some(protocol),
            ProtocolChoice::Auto | ProtocolChoice::Without => None,
        },
        ..Parameters::of(&site.topology)
    };
    request.variant.apply(&mut parameters);
    let mut planner = Planner::new(&site.topology);
    let mut plan = |algorithm| match request.protocols {
        ProtocolChoice::Auto => planner.by_protocol(collective, algorithm, site.ranks, &parameters),
        ProtocolChoice::One(_) | ProtocolChoice::Without => {
            let plan = planner.plan(collective, algorithm, site.ranks, &parameters)?;
            Ok(vec![plan])
        }
    };
    if let AlgorithmChoice::One(algorithm) = request.choice {
        let plans = plan(algorithm).map_err(|error| domain(&error))?;
        return Ok((vec![(algorithm, plans)], Vec::new()));
    }
    let (mut plans, mut refused) = (Vec::new(), Vec::new());
    let mut first = None;
    for algorithm in algorithms {
        match plan(algorithm) {
            Ok(by_protocol) => plans.push((algorithm, by_protocol)),
            Err(error) => {
                let why = error.to_string();
                refused.push(Refusal { algorithm, why });
                first.get_or_insert(error);
            }
        }
    }
    match (plans.is_empty(), first) {
        (false, _) => Ok((plans, refused)),
        (true, Some(error)) => Err(domain(&error)),
        (true, None) => Err(Error::Domain {
            message: format!("no algorithm of the Math engine computes `{collective}`"),
            hint: Some(format!("one of {}", offered_collectives().join(", "))),
        }),
    }
}

/// Names the collectives that some algorithm computes.
fn offered_collectives() -> Vec<&'static str> {
    let is_offered = |collective: &Collective| {
        let mut algorithms = Algorithm::ALL.into_iter();
        algorithms.any(|algorithm| offers(algorithm, *collective))
    };
    let offered = Collective::ALL.into_iter().filter(is_offered);
    offered.map(Collective::name).collect()
}

fn domain(error: &PlanError) -> Error {
    let (message, hint) = split_hint(&error.to_string());
    Error::Domain { message, hint }
}

/// Reads the name of an algorithm, `all` or `auto`.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_algorithms(text: &str) -> Result<AlgorithmChoice, Error> {
    match text {
        "all" => return Ok(AlgorithmChoice::All),
        "auto" => return Ok(AlgorithmChoice::Auto),
        _ => {}
    }
    let names = Algorithm::ALL.map(Algorithm::name);
    let found = text.parse().map(AlgorithmChoice::One);
    found.map_err(|()| {
        unknown(
            "algorithm",
            text,
            ["all", "auto"].iter().chain(&names).copied(),
        )
    })
}

/// Reads the name of a protocol, `auto` or `none`.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_protocols(text: &str) -> Result<ProtocolChoice, Error> {
    let names = Protocol::ALL.map(Protocol::name);
    match (text, Protocol::ALL.iter().find(|one| one.name() == text)) {
        ("auto", _) => Ok(ProtocolChoice::Auto),
        ("none", _) => Ok(ProtocolChoice::Without),
        (_, Some(protocol)) => Ok(ProtocolChoice::One(*protocol)),
        (_, None) => {
            let names = ["auto", "none"].iter().chain(&names);
            Err(unknown("protocol", text, names.copied()))
        }
    }
}

/// Reads the name of a collective.
///
/// # Errors
///
/// When it is none, with the nearest name.
pub fn parse_collective(text: &str) -> Result<Collective, Error> {
    let names = Collective::ALL.map(Collective::name);
    text.parse()
        .map_err(|()| unknown("collective", text, names.into_iter()))
}

pub(crate) fn unknown<'n>(
    kind: &str,
    text: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Error {
    let hint = match nearest(text, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("one of {}", names.collect::<Vec<_>>().join(", ")),
    };
    Error::Usage {
        message: format!("unknown {kind} `{text}`"),
        hint: Some(hint),
    }
}

/// Renders a prediction.
///
/// # Errors
///
/// When the form is HTML: there is no page.
pub fn render_prediction(report: &PredictionReport, form: Form) -> Result<String, Error> {
    match form {
        Form::Table(style, detail) => Ok(prediction_table(report, style, detail)),
        Form::Json => Ok(prediction_json(report)),
        Form::Csv => Ok(prediction_csv(report)),
        Form::Markdown => Ok(prediction_markdown(report)),
        Form::Svg => Ok(prediction_svg(report)),
        Form::Html => Err(no_page("a prediction")),
    }
}
