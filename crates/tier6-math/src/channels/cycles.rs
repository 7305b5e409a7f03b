//! Orders of the ranks of a node that use its links evenly: cycles, and paths.

use tier6_system::{ChipId, Topology, Vertex};

/// The largest node whose links are searched for cycles.
const SEARCH_MAX: usize = 16;
/// Steps after which a search takes what it has.
const STEPS_MAX: u32 = 200_000;

/// Returns cycles over the ranks of a node that use its links in proportion to their rates.
pub(super) fn cycles(links: &Links) -> Vec<Vec<u32>> {
    if links.ranks <= SEARCH_MAX {
        return searched(links);
    }
    if !links.are_alike() {
        return vec![natural(links.ranks)];
    }
    both_ways(zigzags(links.ranks))
}

/// Returns paths over the ranks of a node that use each of its links once, of which each rank begins
/// one and ends one; `None` unless all pairs of an even number of ranks are alike. They are the
/// zigzag 0, 1, -1, 2, .. modulo n, turned by less than n/2, both ways (Williams 1949).
pub(super) fn paths(links: &Links) -> Option<Vec<Vec<u32>>> {
    let ranks = links.ranks;
    let turned = (0..ranks / 2).map(|turn| zigzag(ranks, turn).map(number).collect());
    (ranks.is_multiple_of(2) && links.are_alike()).then(|| both_ways(turned.collect()))
}

fn both_ways(orders: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let both = orders.into_iter().flat_map(|order| {
        let reverse: Vec<u32> = order.iter().rev().copied().collect();
        [order, reverse]
    });
    both.collect()
}

/// The numbers 0, 1, -1, 2, -2, .. modulo n, turned.
fn zigzag(n: usize, turn: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |step| {
        let offset = if step % 2 == 1 {
            step.div_ceil(2)
        } else {
            n - step / 2
        };
        (turn + offset) % n
    })
}

/// Cycles of which every pair is neighbours equally often: the hub n-1 and the zigzag 0, 1, -1, 2,
/// -2, .. modulo n-1, turned. For odd n each pair once, for even n twice.
pub(super) fn zigzags(ranks: usize) -> Vec<Vec<u32>> {
    let rim = ranks - 1;
    let turns = if rim.is_multiple_of(2) { rim / 2 } else { rim };
    let turned = (0..turns).map(|turn| {
        let cycle = std::iter::once(rim).chain(zigzag(rim, turn));
        cycle.map(number).collect()
    });
    turned.collect()
}

/// How many cycles may go from one rank of a node to another.
pub(super) struct Links {
    ranks: usize,
    /// By pair of ranks.
    left: Vec<u32>,
}

impl Links {
    /// Counts direct links by their rate in units of the slowest; without any, all pairs are alike.
    pub(super) fn of(topology: &Topology, chips: &[ChipId]) -> Self {
        let ranks = chips.len();
        let mut rates = vec![0.0_f64; ranks * ranks];
        for (from, chip) in chips.iter().enumerate() {
            for link in topology.links_from(topology.chip_vertex(*chip)) {
                let link = topology.link(*link);
                let Vertex::Chip(there) = topology.vertices()[link.to.index()] else {
                    continue;
                };
                if let Some(to) = chips.iter().position(|chip| *chip == there) {
                    rates[from * ranks + to] += link.payload_rate.get();
                }
            }
        }
        let slowest = rates.iter().copied().filter(|rate| *rate > 0.0);
        let slowest = slowest.fold(f64::INFINITY, f64::min);
        let left = rates.iter().enumerate().map(|(at, rate)| {
            if slowest.is_infinite() {
                return u32::from(at / ranks != at % ranks);
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates; links of one machine differ by small factors"
            )]
            let count = (rate / slowest).round() as u32;
            count
        });
        Self {
            ranks,
            left: left.collect(),
        }
    }

    /// Whether all pairs have the same.
    fn are_alike(&self) -> bool {
        let mut pairs = (0..self.left.len()).filter(|at| at / self.ranks != at % self.ranks);
        let first = pairs.next().map(|at| self.left[at]);
        pairs.all(|at| Some(self.left[at]) == first)
    }

    fn times(&self, times: u32) -> Self {
        Self {
            ranks: self.ranks,
            left: self.left.iter().map(|count| count * times).collect(),
        }
    }

    pub(super) fn between(&self, from: usize, to: usize) -> u32 {
        self.left[from * self.ranks + to]
    }

    fn add(&mut self, cycle: &[usize], sign: i32) {
        for (at, from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()];
            let left = &mut self.left[from * self.ranks + to];
            *left = left.saturating_add_signed(sign);
        }
    }
}

/// Returns cycles that together use every link as often as it can carry one: those of the links as
/// they are, else of all of them doubled (a full mesh of 4 or 6 needs that, Tillson 1980). The most
/// that a search finds where there are none, one in natural order where it finds nothing.
fn searched(links: &Links) -> Vec<Vec<u32>> {
    let mut best: Vec<Vec<usize>> = Vec::new();
    for times in 1..=2 {
        let links = links.times(times);
        let wanted = (0..links.ranks).map(|to| links.between(0, to)).sum::<u32>() as usize;
        let mut search = Search {
            links,
            wanted,
            steps: 0,
            path: vec![0],
            found: Vec::new(),
            best: Vec::new(),
        };
        search.go_on();
        if search.best.len() == wanted {
            best = search.best;
            break;
        }
        if search.best.len() > best.len() {
            best = search.best;
        }
    }
    if best.is_empty() {
        return vec![natural(links.ranks)];
    }
    best.into_iter()
        .map(|cycle| cycle.into_iter().map(number).collect())
        .collect()
}

fn natural(ranks: usize) -> Vec<u32> {
    (0..ranks).map(number).collect()
}

fn number(rank: usize) -> u32 {
    u32::try_from(rank).expect("Invariant: ranks fit u32")
}

struct Search {
    links: Links,
    wanted: usize,
    steps: u32,
    /// The cycle under construction, from rank 0.
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    best: Vec<Vec<usize>>,
}

impl Search {
    /// Extends the path, or starts the next cycle; says whether the search is over.
    fn go_on(&mut self) -> bool {
        self.steps += 1;
        if self.best.len() == self.wanted || self.steps > STEPS_MAX {
            return true;
        }
        let last = *self
            .path
            .last()
            .expect("Invariant: a path starts at rank 0");
        if self.path.len() == self.links.ranks {
            return self.links.between(last, 0) > 0 && self.close();
        }
        let next = (0..self.links.ranks)
            .filter(|to| self.links.between(last, *to) > 0 && !self.path.contains(to));
        // Some cycle takes the first link of rank 0: let it be this one.
        let tried = if self.path.len() == 1 { 1 } else { usize::MAX };
        let next: Vec<usize> = next.take(tried).collect();
        for to in next {
            self.path.push(to);
            let is_over = self.go_on();
            self.path.pop();
            if is_over {
                return true;
            }
        }
        false
    }

    fn close(&mut self) -> bool {
        let cycle = std::mem::replace(&mut self.path, vec![0]);
        self.links.add(&cycle, -1);
        self.found.push(cycle);
        if self.found.len() > self.best.len() {
            self.best.clone_from(&self.found);
        }
        let is_over = self.go_on();
        let cycle = self.found.pop().expect("Invariant: pushed above");
        self.links.add(&cycle, 1);
        self.path = cycle;
        is_over
    }
}
