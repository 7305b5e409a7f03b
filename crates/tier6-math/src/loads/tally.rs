//! Adding up what flows put on links, and finding the link that takes longest.

use super::{ClassLoad, LinkLoad, TierFlight};
use tier6_system::{LinkClassId, LinkId, Topology};
use tier6_units::Micros;

/// Loads by link, cleared at the cost of the links in use.
pub(super) struct Tally {
    load: Vec<f64>,
    used: Vec<LinkId>,
}

impl Tally {
    pub(super) fn new(n_links: usize) -> Self {
        Self {
            load: vec![0.0; n_links],
            used: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, link: LinkId, share: f64) {
        let load = &mut self.load[link.index()];
        if *load == 0.0 {
            self.used.push(link);
        }
        *load += share;
    }

    /// Returns the loads by link and starts again.
    pub(super) fn take(&mut self) -> Vec<LinkLoad> {
        self.used.sort_unstable();
        let load = &mut self.load;
        let loads = self.used.drain(..).map(|link| LinkLoad {
            link,
            share: std::mem::take(&mut load[link.index()]),
        });
        loads.collect()
    }

    /// Raises each class's time to that of its busiest link, and starts again.
    pub(super) fn raise(&mut self, clock: &LinkClock, by_class: &mut [f64]) {
        for link in self.used.drain(..) {
            let share = std::mem::take(&mut self.load[link.index()]);
            let time = &mut by_class[clock.class[link.index()].index()];
            *time = time.max(share * clock.us_per_byte[link.index()]);
        }
    }
}

/// Class and time of a byte of each link, side by side for the inner loops.
pub(super) struct LinkClock {
    class: Vec<LinkClassId>,
    us_per_byte: Vec<f64>,
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
            n_classes: topology.link_classes().len(),
        }
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
