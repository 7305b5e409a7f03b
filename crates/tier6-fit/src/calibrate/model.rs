//! The model that is fitted: every measured call with the plans of all paths that may have run,
//! priced by one set of constants.
//!
//! A library that chooses per size takes about the fastest path, so the time of a call is the least
//! over algorithms and protocols; where the path is forced or known, it is that one's. Routes and
//! loads are computed once; each evaluation prices the plans again ([`Plan::at`]). Derivatives are
//! those of the path that is fastest ([`tier6_math::Terms`]).

use super::CalibrateError;
use super::constant::{Key, pick};
use super::forecast::Forecast;
use super::grain::Grain;
use super::observed::{Call, Observed};
use super::ramp::Ramps;
use super::site::Sites;
use tier6_collective::{Algorithm, InNccl, Path, Protocol, offers};
use tier6_math::{Parameters, Plan, PlanError, Prices, StepPrices};
use tier6_system::{Ramp, Topology};
use tier6_units::{Bytes, GbPerSec, Micros};

/// Times of many calls as a function of constants.
#[derive(Debug, Clone)]
pub(super) struct Model {
    keys: Vec<Key>,
    priors: Vec<f64>,
    calls: Vec<CallModel>,
    /// Link class of the first tier.
    inside: Option<String>,
}

/// One call: its candidate paths.
#[derive(Debug, Clone)]
pub(super) struct CallModel {
    paths: Vec<PathModel>,
}

/// A candidate path and where its prices stand among the constants.
#[derive(Debug, Clone)]
struct PathModel {
    algorithm: Algorithm,
    plan: Plan,
    slots: Slots,
    /// Bytes that a ring of it forwards at a time.
    grain: Option<Bytes>,
    /// Channels that a message of it takes.
    ramp: Option<Ramp>,
}

/// What is known of the path that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Known {
    /// The fastest one.
    Nothing,
    /// This one.
    Path(Path),
    /// The fastest under this protocol.
    Protocol(Protocol),
}

/// Indices of constants, `None` for those that the system does not have.
#[derive(Debug, Clone)]
struct Slots {
    software: usize,
    /// By tier.
    steps: Vec<Option<usize>>,
    /// By link class: the efficiency, and the share of the path's protocol.
    payload: Vec<(usize, Option<usize>)>,
    nvls: Option<(usize, Option<usize>)>,
    sharp: Option<(usize, usize)>,
}

/// A time with its derivatives by the logarithms of the constants.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slope {
    pub(super) time: f64,
    /// (constant, dT / d ln constant), us.
    pub(super) by_log: Vec<(usize, f64)>,
    /// The path that is fastest.
    pub(super) path: (Algorithm, Option<Protocol>),
}

impl Model {
    /// Prepares the calls of measurements on their sites.
    pub(super) fn new(observed: &[&Observed], sites: &Sites) -> Result<Self, CalibrateError> {
        let mut model = Self {
            keys: Vec::new(),
            priors: Vec::new(),
            calls: Vec::new(),
            inside: None,
        };
        for set in observed {
            let call = model.call(&set.label, &set.call, sites)?;
            model.calls.push(call);
        }
        Ok(model)
    }

    /// Prepares one more call, whose constants join those known.
    pub(super) fn call(
        &mut self,
        label: &str,
        call: &Call,
        sites: &Sites,
    ) -> Result<CallModel, CalibrateError> {
        let topology = sites.topology(call);
        let inside = topology.tiers()[0].link;
        self.inside = Some(topology.link_classes()[inside.index()].name.clone());
        let parameters = sites.parameters(call);
        let mut paths = Vec::new();
        let mut refused = None;
        for algorithm in candidates(call) {
            let plans = plans(topology, call, algorithm, &parameters);
            match plans {
                Ok(plans) => {
                    for plan in plans {
                        let slots = self.slots(topology, &plan);
                        paths.push(PathModel {
                            algorithm,
                            grain: plan.prices().grain,
                            ramp: plan.prices().ramp,
                            plan,
                            slots,
                        });
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if paths.is_empty() => Err(CalibrateError::NoPath {
                label: label.to_owned(),
                error: Box::new(error),
            }),
            None if paths.is_empty() => Err(CalibrateError::Misfit {
                label: label.to_owned(),
                why: format!("no algorithm for `{}` is known", call.collective),
            }),
            Some(_) | None => Ok(CallModel { paths }),
        }
    }

    fn slots(&mut self, topology: &Topology, plan: &Plan) -> Slots {
        let classes = topology.link_classes();
        let protocol = plan.protocol();
        let mut slot = |key: Key, topology: &Topology| self.slot(key, topology);
        let software = slot(Key::Software, topology).unwrap_or(0);
        let steps = topology
            .tiers()
            .iter()
            .map(|tier| {
                let name = &classes[tier.link.index()].name;
                slot(Key::Step(name.clone(), protocol?), topology)
            })
            .collect();
        let payload = classes
            .iter()
            .map(|class| {
                let name = || class.name.clone();
                let efficiency = slot(Key::Efficiency(name()), topology);
                let share = protocol
                    // Simple's share is what the efficiency is measured with.
                    .filter(|protocol| *protocol != Protocol::Simple)
                    .and_then(|protocol| slot(Key::Share(name(), protocol), topology));
                (efficiency.unwrap_or(0), share)
            })
            .collect();
        let nvls = slot(Key::NvlsRate, topology).map(|rate| (rate, slot(Key::NvlsAlpha, topology)));
        let sharp = slot(Key::SharpAlpha, topology).zip(slot(Key::SharpEfficiency, topology));
        Slots {
            software,
            steps,
            payload,
            nvls,
            sharp,
        }
    }

    /// Returns the index of a constant, adding it with what the system says.
    fn slot(&mut self, key: Key, topology: &Topology) -> Option<usize> {
        if let Some(at) = self.keys.iter().position(|known| *known == key) {
            return Some(at);
        }
        let prior = key.of(topology)?;
        self.keys.push(key);
        self.priors.push(prior);
        Some(self.keys.len() - 1)
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(super) fn priors(&self) -> &[f64] {
        &self.priors
    }

    pub(super) fn calls(&self) -> &[CallModel] {
        &self.calls
    }

    /// Says whether each call has one path.
    pub(super) fn is_forced(&self) -> bool {
        self.calls.iter().all(|call| call.paths.len() == 1)
    }

    /// Says whether a ring may have run somewhere.
    pub(super) fn has_ring(&self) -> bool {
        let paths = self.calls.iter().flat_map(|call| &call.paths);
        paths
            .into_iter()
            .any(|path| path.algorithm == Algorithm::Ring)
    }

    /// Says whether a class of links is that of the first tier.
    pub(super) fn is_inside(&self, link: &str) -> bool {
        self.inside.as_deref() == Some(link)
    }

    /// Returns the same model whose rings forward in a grain, and whose messages take channels by
    /// a ramp.
    pub(super) fn with_form(&self, grain: &Grain, ramps: &Ramps) -> Self {
        let mut model = self.clone();
        for call in &mut model.calls {
            for path in &mut call.paths {
                let protocol = path.plan.protocol();
                path.grain = protocol.and_then(|protocol| *pick(grain, protocol));
                path.ramp = protocol.and_then(|protocol| *pick(ramps, protocol));
            }
        }
        model
    }

    /// Returns the protocols of calls that can have run under one alone.
    pub(super) fn protocols_known(&self) -> Vec<Protocol> {
        let known = self.calls.iter().filter_map(|call| {
            let first = call.paths.first()?.plan.protocol()?;
            let is_same = |path: &PathModel| path.plan.protocol() == Some(first);
            call.paths.iter().all(is_same).then_some(first)
        });
        let mut known: Vec<Protocol> = known.collect();
        known.sort_unstable();
        known.dedup();
        known
    }

    /// Returns the same constants with some of the calls.
    pub(super) fn of_calls(&self, calls: &[usize]) -> Self {
        Self {
            keys: self.keys.clone(),
            priors: self.priors.clone(),
            calls: calls.iter().map(|at| self.calls[*at].clone()).collect(),
            inside: self.inside.clone(),
        }
    }

    /// Returns the calls at some constants.
    pub(super) fn at(&self, constants: &[f64]) -> Result<Vec<PricedCall>, CalibrateError> {
        self.calls.iter().map(|call| call.at(constants)).collect()
    }
}

/// A call at some constants.
#[derive(Debug, Clone)]
pub(super) struct PricedCall {
    paths: Vec<(Algorithm, Plan)>,
}

impl CallModel {
    /// Prices the call; paths that some constant puts out of domain are left out.
    pub(super) fn at(&self, constants: &[f64]) -> Result<PricedCall, CalibrateError> {
        let mut paths = Vec::with_capacity(self.paths.len());
        let mut refused = None;
        for path in &self.paths {
            match path.at(constants) {
                Ok(plan) => paths.push((path.algorithm, plan)),
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if paths.is_empty() => Err(CalibrateError::NoPath {
                label: String::from("a fitted constant"),
                error: Box::new(error),
            }),
            Some(_) | None => Ok(PricedCall { paths }),
        }
    }

    /// Returns the constants that some path of the call depends on at some of the sizes.
    pub(super) fn sensitive(&self, sizes: &[Bytes], constants: &[f64]) -> Vec<bool> {
        let mut found = vec![false; constants.len()];
        for path in &self.paths {
            let Ok(plan) = path.at(constants) else {
                continue;
            };
            for bytes in sizes {
                for (at, _) in path.slots.slopes(&plan, *bytes, constants) {
                    found[at] = true;
                }
            }
        }
        found
    }

    /// Returns the time and its derivatives on the fastest path of those that may have run.
    pub(super) fn slope(
        &self,
        priced: &PricedCall,
        bytes: Bytes,
        known: Known,
        constants: &[f64],
    ) -> Slope {
        let (time, at) = priced.fastest(bytes, known);
        let (algorithm, plan) = &priced.paths[at];
        let slots = self
            .paths
            .iter()
            .find(|path| path.algorithm == *algorithm && path.plan.protocol() == plan.protocol())
            .map(|path| &path.slots);
        Slope {
            time,
            by_log: slots.map_or_else(Vec::new, |slots| slots.slopes(plan, bytes, constants)),
            path: (*algorithm, plan.protocol()),
        }
    }
}

impl PathModel {
    fn at(&self, constants: &[f64]) -> Result<Plan, PlanError> {
        let mut prices = self.slots.prices(self.plan.prices(), constants);
        prices.grain = self.grain;
        prices.ramp = self.ramp;
        self.plan.at(prices)
    }
}

impl PricedCall {
    /// Returns the time and the index of the fastest path of those that may have run; of all where
    /// the model has none of them.
    fn fastest(&self, bytes: Bytes, known: Known) -> (f64, usize) {
        let may_run = |(algorithm, plan): &(Algorithm, Plan)| match known {
            Known::Nothing => true,
            Known::Path(path) => {
                path.algorithm == *algorithm && plan.protocol() == Some(path.protocol)
            }
            Known::Protocol(protocol) => plan.protocol() == Some(protocol),
        };
        let is_any = self.paths.iter().any(may_run);
        let mut best = (f64::INFINITY, 0);
        for (at, path) in self.paths.iter().enumerate() {
            let time = path.1.time(bytes).get();
            if (!is_any || may_run(path)) && time < best.0 {
                best = (time, at);
            }
        }
        best
    }

    /// Returns the least time over the paths, and whose it is.
    pub(super) fn forecast(&self, bytes: Bytes) -> Forecast {
        let (_, at) = self.fastest(bytes, Known::Nothing);
        let (algorithm, plan) = &self.paths[at];
        Forecast {
            bytes,
            time: plan.time(bytes),
            path: (*algorithm, plan.protocol()),
            band: None,
        }
    }

    /// Returns the least time over the paths.
    pub(super) fn time(&self, bytes: Bytes) -> f64 {
        let times = self.paths.iter().map(|(_, plan)| plan.time(bytes).get());
        times.fold(f64::INFINITY, f64::min)
    }
}

impl Slots {
    /// Returns prices with constants in their places.
    fn prices(&self, base: &Prices, constants: &[f64]) -> Prices {
        let mut prices = base.clone();
        prices.software = Micros::new(constants[self.software]);
        if let StepPrices::Neighbours(steps) = &mut prices.steps {
            for (step, slot) in steps.iter_mut().zip(&self.steps) {
                if let Some(slot) = slot {
                    *step = Some(Micros::new(constants[*slot]));
                }
            }
        }
        for (payload, (efficiency, share)) in prices.payload.iter_mut().zip(&self.payload) {
            *payload = constants[*efficiency] * share.map_or(1.0, |share| constants[share]);
        }
        if let (Some(nvls), Some((rate, alpha))) = (&mut prices.nvls, self.nvls) {
            nvls.rate = GbPerSec::new(constants[rate]);
            if let Some(alpha) = alpha {
                nvls.alpha = Micros::new(constants[alpha]);
            }
        }
        if let (Some(sharp), Some((alpha, efficiency))) = (&mut prices.sharp, self.sharp) {
            sharp.alpha = Micros::new(constants[alpha]);
            sharp.efficiency = constants[efficiency];
        }
        prices
    }

    /// Returns dT / d ln constant of a priced plan, each constant once.
    fn slopes(&self, plan: &Plan, bytes: Bytes, constants: &[f64]) -> Vec<(usize, f64)> {
        let terms = plan.terms(bytes);
        let prices = plan.prices();
        let mut slopes: Vec<(usize, f64)> = Vec::new();
        let mut add = |at: usize, slope: f64| {
            if slope == 0.0 {
                return;
            }
            match slopes.iter_mut().find(|(known, _)| *known == at) {
                Some((_, known)) => *known += slope,
                None => slopes.push((at, slope)),
            }
        };
        add(self.software, terms.software * constants[self.software]);
        for (count, slot) in terms.steps.iter().zip(&self.steps) {
            if let Some(slot) = slot {
                add(*slot, count * constants[*slot]);
            }
        }
        let wires = terms.wire_us.iter().zip(&prices.payload).zip(&self.payload);
        for ((us, payload), (efficiency, share)) in wires {
            let slope = -us / payload;
            add(*efficiency, slope);
            if let Some(share) = share {
                add(*share, slope);
            }
        }
        if let (Some(nvls), Some((rate, alpha))) = (prices.nvls, self.nvls) {
            add(rate, -terms.nvls_bytes / (nvls.rate.get() * 1e3));
            if let Some(alpha) = alpha {
                add(alpha, terms.nvls_alpha * constants[alpha]);
            }
        }
        if let (Some(sharp), Some((alpha, efficiency))) = (prices.sharp, self.sharp) {
            add(alpha, terms.sharp_alpha * constants[alpha]);
            if let Some((class, us)) = terms.sharp_wire_us {
                let slope = -us / (prices.payload[class.index()] * sharp.efficiency);
                add(efficiency, slope);
                add(self.payload[class.index()].0, slope);
            }
        }
        slopes
    }
}

/// Returns the algorithms that may have run: the forced one, or those that NCCL chooses from
/// without being told to.
pub(super) fn candidates(call: &Call) -> Vec<Algorithm> {
    if let Some(algorithm) = call.algorithm {
        return vec![algorithm];
    }
    let offered = |algorithm: &Algorithm| offers(*algorithm, call.collective);
    let unforced = |algorithm: &Algorithm| {
        let in_nccl = InNccl::of(*algorithm, call.collective, call.ranks, call.nodes);
        in_nccl == InNccl::Yes
    };
    let offering = Algorithm::ALL.into_iter().filter(offered);
    offering.filter(unforced).collect()
}

/// Returns the plans of an algorithm: of the forced protocol, or of each that it runs.
fn plans(
    topology: &Topology,
    call: &Call,
    algorithm: Algorithm,
    parameters: &Parameters,
) -> Result<Vec<Plan>, PlanError> {
    let collective = call.collective;
    let Some(protocol) = call.protocol else {
        return Plan::by_protocol(topology, collective, algorithm, call.ranks, parameters);
    };
    let parameters = Parameters {
        protocol: Some(protocol),
        ..parameters.clone()
    };
    let plan = Plan::new(topology, collective, algorithm, call.ranks, &parameters)?;
    Ok(vec![plan])
}
