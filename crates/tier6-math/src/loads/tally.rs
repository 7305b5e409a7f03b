//! Adding up what flows put on links, and finding the link that takes longest.

use super::{ClassLoad, LinkLoad, TierFlight};
use tier6_system::{LinkClassId, LinkId, Topology};
use tier6_units::Micros;

/// Loads by link, of a step and of the rank whose flows are being added; cleared at the cost of
/// the links in use.
pub(super) struct Tally {
    cells: Vec<Cell>,
    used: Vec<LinkId>,
    used_by_rank: Vec<LinkId>,
}

/// The two loads of a link, side by side for the inner loop.
#[derive(Clone, Copy)]
struct Cell {
    step: f64,
    rank: f64,
}

impl Tally {
    pub(super) fn new(n_links: usize) -> Self {
        let empty = Cell {
            step: 0.0,
            rank: 0.0,
        };
        Self {
            cells: vec![empty; n_links],
            used: Vec::new(),
            used_by_rank: Vec::new(),
        }
    }

    /// Adds to both loads of a link.
    #[inline]
    pub(super) fn add(&mut self, link: LinkId, share: f64) {
        let cell = &mut self.cells[link.index()];
        if cell.rank == 0.0 {
            self.used_by_rank.push(link);
            if cell.step == 0.0 {
                self.used.push(link);
            }
        }
        cell.rank += share;
        cell.step += share;
    }

    /// Adds to the load of a step alone.
    pub(super) fn add_to_step(&mut self, link: LinkId, share: f64) {
        let cell = &mut self.cells[link.index()];
        if cell.step == 0.0 {
            self.used.push(link);
        }
        cell.step += share;
    }

    /// Returns the loads of the step by link and starts again.
    pub(super) fn take(&mut self) -> Vec<LinkLoad> {
        self.used.sort_unstable();
        let cells = &mut self.cells;
        let loads = self.used.drain(..).map(|link| LinkLoad {
            link,
            share: std::mem::take(&mut cells[link.index()].step),
        });
        loads.collect()
    }

    /// Raises each class's time to that of the rank's busiest link, and starts with the next rank.
    pub(super) fn raise(&mut self, clock: &LinkClock, by_class: &mut [f64]) {
        for link in self.used_by_rank.drain(..) {
            let share = std::mem::take(&mut self.cells[link.index()].rank);
            let time = &mut by_class[clock.class[link.index()].index()];
            *time = time.max(share * clock.us_per_byte[link.index()]);
        }
    }
}

/// Class, latency and time of a byte of each link, side by side for the inner loops.
pub(super) struct LinkClock {
    class: Vec<LinkClassId>,
    us_per_byte: Vec<f64>,
    /// Latency of the link, and of the vertex behind it.
    latency: Vec<(f64, f64)>,
    tier: Vec<u32>,
    n_classes: usize,
}

impl LinkClock {
    pub(super) fn of(topology: &Topology) -> Self {
        let links = topology.links();
        Self {
            class: links.iter().map(|link| link.class).collect(),
            us_per_byte: links
                .iter()
                .map(|link| 1.0 / (link.payload_rate.get() * 1e3))
                .collect(),
            latency: links
                .iter()
                .map(|link| {
                    let crossing = topology.vertex_latency(link.to);
                    (link.latency.get(), crossing.get())
                })
                .collect(),
            tier: links.iter().map(|link| link.tier).collect(),
            n_classes: topology.link_classes().len(),
        }
    }

    /// Returns the latency of a link, and of the vertex behind it, in microseconds.
    pub(super) fn latency(&self, link: LinkId) -> (f64, f64) {
        self.latency[link.index()]
    }

    pub(super) fn tier(&self, link: LinkId) -> u32 {
        self.tier[link.index()]
    }

    pub(super) fn no_time(&self) -> Vec<f64> {
        vec![0.0; self.n_classes]
    }

    /// Returns the busiest link of each class in use; `own` is by class.
    pub(super) fn busiest(&self, loads: &[LinkLoad], own: &[f64]) -> Vec<ClassLoad> {
        let mut busiest: Vec<Option<ClassLoad>> = vec![None; self.n_classes];
        for load in loads {
            let class = self.class[load.link.index()];
            let time = load.share * self.us_per_byte[load.link.index()];
            let known = &mut busiest[class.index()];
            if known.is_none_or(|known| time > known.us_per_byte) {
                *known = Some(ClassLoad {
                    class,
                    us_per_byte: time,
                    own_us_per_byte: own[class.index()].min(time),
                    busiest: load.link,
                });
            }
        }
        busiest.into_iter().flatten().collect()
    }
}

/// Returns the class that takes longest; of equals the one with the first link.
pub(crate) fn slowest(
    classes: &[ClassLoad],
    time: impl Fn(&ClassLoad) -> f64,
) -> Option<&ClassLoad> {
    let mut slowest: Option<&ClassLoad> = None;
    for class in classes {
        let is_slower = slowest.is_none_or(|known| {
            let (a, b) = (time(class), time(known));
            a > b || (a >= b && class.busiest < known.busiest)
        });
        if is_slower && time(class) > 0.0 {
            slowest = Some(class);
        }
    }
    slowest
}

/// Latencies of a step's routes, by the outermost tier that they cross.
#[derive(Clone)]
pub(super) struct Latencies {
    tiers: Vec<Latency>,
    weighted: f64,
    weight: f64,
}

#[derive(Clone, Copy)]
struct Latency {
    longest: f64,
    least: f64,
    weighted: f64,
    weight: f64,
}

impl Latencies {
    pub(super) fn new(n_tiers: usize) -> Self {
        let none = Latency {
            longest: 0.0,
            least: f64::INFINITY,
            weighted: 0.0,
            weight: 0.0,
        };
        Self {
            tiers: vec![none; n_tiers],
            weighted: 0.0,
            weight: 0.0,
        }
    }

    pub(super) fn add(&mut self, tier: u32, latency: f64, share: f64) {
        self.weighted += latency * share;
        self.weight += share;
        let of_tier = &mut self.tiers[tier as usize];
        of_tier.longest = of_tier.longest.max(latency);
        of_tier.least = of_tier.least.min(latency);
        of_tier.weighted += latency * share;
        of_tier.weight += share;
    }

    pub(super) fn longest(&self) -> Micros {
        let longest = self.tiers.iter().map(|tier| tier.longest);
        Micros::new(longest.fold(0.0, f64::max))
    }

    pub(super) fn mean(&self) -> Micros {
        Micros::new(self.weighted / self.weight.max(f64::MIN_POSITIVE))
    }

    /// Returns the tiers in use.
    pub(super) fn by_tier(&self) -> Vec<TierFlight> {
        let total = self.weight.max(f64::MIN_POSITIVE);
        let tiers = (0..).zip(&self.tiers);
        let flights = tiers.filter(|(_, of)| of.least.is_finite());
        flights
            .map(|(tier, of)| TierFlight {
                tier,
                part: of.weight / total,
                longest: Micros::new(of.longest),
                least: Micros::new(of.least),
                mean: Micros::new(of.weighted / of.weight.max(f64::MIN_POSITIVE)),
            })
            .collect()
    }
}
