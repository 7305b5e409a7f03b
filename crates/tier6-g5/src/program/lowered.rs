//! A schedule as a program: everything in tables.

use std::collections::BTreeMap;

use tier6_collective::{
    Follow, Grain, GroupId, Handshake, RankId, Schedule, Script, Transfer, TransferId,
};

use super::{Dependency, Needs, Program, Purpose, Switches, queue_of};

/// A [`Schedule`] with its dependencies turned around and its ports as queues.
#[derive(Debug, Clone)]
pub struct Lowered {
    purpose: Option<Purpose>,
    ranks: u32,
    grain: Grain,
    handshake: Handshake,
    transfers: Vec<Transfer>,
    groups: Vec<Vec<RankId>>,
    dependencies: Rows,
    dependents: Rows,
    needs: Vec<Needs>,
    ports: u32,
    /// First transfer of each queue, by rank and port.
    first: Vec<Option<TransferId>>,
    next: Vec<Option<TransferId>>,
    /// Ranks for whose message a transfer waits in vain.
    unsent: BTreeMap<TransferId, RankId>,
    /// What a file calls the transfers; empty where it numbers them.
    names: Vec<String>,
}

/// Rows of dependencies, one after another.
#[derive(Debug, Clone)]
struct Rows {
    /// Where each row starts, and where the last one ends.
    starts: Vec<u32>,
    items: Vec<Dependency>,
}

impl Lowered {
    /// Lowers a schedule.
    pub fn new(schedule: &Schedule) -> Self {
        Self::with_waits(schedule, &[])
    }

    /// Lowers the schedule of a file, which may be one that cannot end.
    pub fn of_script(script: &Script) -> Self {
        let mut lowered = Self::with_waits(&script.schedule, &script.late_waits);
        for &(id, from) in &script.unsent {
            lowered.needs[id.index()].whole += 1;
            lowered.unsent.insert(id, from);
        }
        lowered.names.clone_from(&script.names);
        lowered
    }

    /// Lowers a schedule some of whose transfers also wait for later ones.
    fn with_waits(schedule: &Schedule, late: &[(TransferId, TransferId)]) -> Self {
        let transfers = schedule.transfers().to_vec();
        let dependencies = dependencies(schedule, late);
        let needs = (0..transfers.len()).map(|index| {
            let row = dependencies.row(index);
            let count = |follows| {
                let of = row
                    .iter()
                    .filter(|dependency| dependency.follows == follows);
                count(of.count())
            };
            Needs {
                whole: count(Follow::Complete),
                by_slice: count(Follow::Slices),
            }
        });
        let needs = needs.collect();
        let ports = transfers.iter().filter_map(|transfer| transfer.port);
        let ports = ports.map(|port| u32::from(port.0) + 1).max().unwrap_or(0);
        let (first, next) = queues(schedule, ports);
        let switches = if schedule.groups().is_empty() {
            Switches::Forward
        } else {
            Switches::Compute
        };
        Self {
            // What somebody else wrote may compute less than it says.
            purpose: schedule.algorithm().map(|_| Purpose {
                collective: schedule.collective(),
                bytes: schedule.bytes(),
                switches,
            }),
            ranks: schedule.ranks(),
            grain: schedule.grain(),
            handshake: schedule.handshake(),
            groups: schedule.groups().to_vec(),
            dependents: dependencies.reversed(),
            dependencies,
            needs,
            ports,
            first,
            next,
            unsent: BTreeMap::new(),
            names: Vec::new(),
            transfers,
        }
    }

    /// Returns the same with another way in which sender and receiver agree.
    pub fn with_handshake(self, handshake: Handshake) -> Self {
        Self { handshake, ..self }
    }
}

/// Returns what each transfer waits for. Slices of two transfers can follow each other only when
/// there are as many of the one as of the other.
fn dependencies(schedule: &Schedule, late: &[(TransferId, TransferId)]) -> Rows {
    let mut late_waits: BTreeMap<TransferId, Vec<TransferId>> = BTreeMap::new();
    for &(id, on) in late {
        late_waits.entry(id).or_default().push(on);
    }
    let has_slices = matches!(schedule.grain(), Grain::Slices { .. });
    let rows = schedule.iter().map(|(id, transfer)| {
        let late = late_waits.get(&id).into_iter().flatten();
        let late = late.map(|&transfer| Dependency {
            transfer,
            follows: Follow::Complete,
        });
        let earlier = schedule.dependencies(id).iter().map(move |&before| {
            let same_bytes = || schedule.transfers()[before.index()].bytes == transfer.bytes;
            let by_slice = has_slices && same_bytes() && schedule.forwards(id, before);
            Dependency {
                transfer: before,
                follows: if by_slice {
                    Follow::Slices
                } else {
                    Follow::Complete
                },
            }
        });
        earlier.chain(late)
    });
    let mut all = Rows {
        starts: vec![0],
        items: Vec::new(),
    };
    for row in rows {
        all.items.extend(row);
        all.starts.push(count(all.items.len()));
    }
    all
}

/// Returns the first transfer of every queue and the one behind each transfer.
fn queues(schedule: &Schedule, ports: u32) -> (Vec<Option<TransferId>>, Vec<Option<TransferId>>) {
    let mut first = vec![None; (schedule.ranks() * ports) as usize];
    let mut next = vec![None; schedule.transfers().len()];
    let mut last: Vec<Option<TransferId>> = first.clone();
    for (id, transfer) in schedule.iter() {
        let members = |group: GroupId| schedule.groups()[group.index()].as_slice();
        let Some((rank, port)) = queue_of(transfer, members) else {
            continue;
        };
        let queue = (rank.0 * ports + port) as usize;
        match last[queue].replace(id) {
            Some(before) => next[before.index()] = Some(id),
            None => first[queue] = Some(id),
        }
    }
    (first, next)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: the parts of a schedule fit u32")
}

impl Rows {
    fn row(&self, index: usize) -> &[Dependency] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Returns the same pairs by their other end.
    fn reversed(&self) -> Self {
        let rows = self.starts.len() - 1;
        let mut starts = vec![0_u32; rows + 1];
        for item in &self.items {
            starts[item.transfer.index() + 1] += 1;
        }
        for index in 0..rows {
            starts[index + 1] += starts[index];
        }
        let mut free = starts.clone();
        let mut items = self.items.clone();
        for index in 0..rows {
            for item in self.row(index) {
                let place = &mut free[item.transfer.index()];
                items[*place as usize] = Dependency {
                    transfer: TransferId(count(index)),
                    follows: item.follows,
                };
                *place += 1;
            }
        }
        Self { starts, items }
    }
}

impl Program for Lowered {
    fn purpose(&self) -> Option<Purpose> {
        self.purpose
    }

    fn name(&self, id: TransferId) -> Option<&str> {
        self.names.get(id.index()).map(String::as_str)
    }

    fn unsent(&self, id: TransferId) -> Option<RankId> {
        self.unsent.get(&id).copied()
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn transfers(&self) -> u32 {
        count(self.transfers.len())
    }

    fn grain(&self) -> Grain {
        self.grain
    }

    fn handshake(&self) -> Handshake {
        self.handshake
    }

    fn ports(&self) -> u32 {
        self.ports
    }

    fn transfer(&self, id: TransferId) -> Transfer {
        self.transfers[id.index()]
    }

    fn group(&self, group: GroupId) -> &[RankId] {
        &self.groups[group.index()]
    }

    fn needs(&self, id: TransferId) -> Needs {
        self.needs[id.index()]
    }

    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>) {
        into.extend_from_slice(self.dependencies.row(id.index()));
    }

    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>) {
        into.extend_from_slice(self.dependents.row(id.index()));
    }

    fn first(&self, rank: RankId, port: u32) -> Option<TransferId> {
        self.first[(rank.0 * self.ports + port) as usize]
    }

    fn next(&self, id: TransferId) -> Option<TransferId> {
        self.next[id.index()]
    }

    fn loose_starts(&self, into: &mut Vec<TransferId>) {
        let ids = (0..).map(TransferId).zip(&self.transfers).zip(&self.needs);
        into.extend(ids.filter_map(|((id, transfer), needs)| {
            let is_loose = queue_of(transfer, |group| self.group(group)).is_none();
            (is_loose && *needs == Needs::default()).then_some(id)
        }));
    }
}
