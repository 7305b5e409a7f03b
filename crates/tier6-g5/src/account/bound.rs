//! What no run can undercut: the lower bounds of known collectives (FACTS B.0).
//!
//! The bytes that all chips together must send, or receive, over the rate of all their links, and
//! the shortest latency before the first can be there. Where one rank has it all to do (a root), the
//! chip with the fastest links stands for it.

use std::collections::BTreeSet;

use tier6_collective::Collective;
use tier6_system::{ChipId, LinkId};
use tier6_units::{ByteTime, SimTime};

use super::conclude::rounding;
use crate::chip::{Chips, JobState};
use crate::{Fabric, Purpose, Switches};

/// Returns what a job undercuts, if it does.
pub(super) fn undercut(chips: &Chips<'_>, fabric: &Fabric<'_>) -> Option<String> {
    let rounding = rounding(chips);
    chips.jobs.iter().find_map(|job| {
        let purpose = job.program.purpose()?;
        let least = least(purpose, &chips_of(chips, job)?, fabric)?;
        let took = job.end.saturating_sub(job.start);
        (took + rounding < least).then(|| {
            let Purpose {
                collective, bytes, ..
            } = purpose;
            format!("`{collective}` of {bytes} took {took}, and no network can do it in less than {least}")
        })
    })
}

/// Returns the chips of a job, if each of its ranks has its own.
fn chips_of(chips: &Chips<'_>, job: &JobState<'_>) -> Option<Vec<ChipId>> {
    let first = job.first_seat as usize;
    let seats = &chips.seats[first..first + job.program.ranks() as usize];
    let all: Vec<_> = seats.iter().map(|seat| seat.chip).collect();
    let apart: BTreeSet<_> = all.iter().map(|chip| chip.get()).collect();
    (apart.len() == all.len() && all.len() > 1).then_some(all)
}

/// What must leave the chips and come into them, in bytes per rank; of one rank for a root.
struct Load {
    out: f64,
    into: f64,
    on: Ranks,
}

#[derive(Clone, Copy)]
enum Ranks {
    All,
    One,
}

fn load(purpose: Purpose, ranks: u32) -> Option<Load> {
    let Purpose {
        collective,
        bytes,
        switches,
    } = purpose;
    let all = collective.bus_factor(ranks) * bytes.as_f64();
    let (out, into, on) = match (collective, switches) {
        (Collective::AllReduce, Switches::Compute) => (all / 2.0, all / 2.0, Ranks::All),
        (Collective::AllGather, Switches::Compute) => (0.0, all, Ranks::All),
        (Collective::ReduceScatter, Switches::Compute) => (all, 0.0, Ranks::All),
        (
            Collective::AllReduce
            | Collective::AllGather
            | Collective::ReduceScatter
            | Collective::AllToAll,
            _,
        ) => (all, all, Ranks::All),
        (Collective::Broadcast | Collective::Gather, _) => (0.0, all, Ranks::One),
        (Collective::Reduce | Collective::Scatter, _) => (all, 0.0, Ranks::One),
        // Who sends what is not known.
        (Collective::SendRecv | Collective::AllToAllV | Collective::HyperCube, _) => return None,
    };
    Some(Load { out, into, on })
}

/// Returns the least time of a collective on these chips.
fn least(purpose: Purpose, chips: &[ChipId], fabric: &Fabric<'_>) -> Option<SimTime> {
    let ranks = u32::try_from(chips.len()).ok()?;
    let Load { out, into, on } = load(purpose, ranks)?;
    let topology = fabric.topology();
    let vertices = || chips.iter().map(|chip| topology.chip_vertex(*chip));
    let time = |per_rank: f64, rates: Vec<f64>| {
        // Shares are whole bytes.
        let per_rank = (per_rank - 2.0).max(0.0);
        match on {
            Ranks::All => per_rank * f64::from(ranks) / rates.iter().sum::<f64>(),
            Ranks::One => per_rank / rates.iter().copied().fold(0.0, f64::max),
        }
    };
    let rates_out = vertices().map(|vertex| rate(fabric, topology.links_from(vertex)));
    let rates_into = vertices().map(|vertex| rate(fabric, topology.links_into(vertex)));
    let busy_us = time(out, rates_out.collect()).max(time(into, rates_into.collect()));
    let links = vertices().flat_map(|vertex| topology.links_from(vertex));
    let latency = links
        .map(|link| fabric.links()[link.index()].latency)
        .min()?;
    // Links without a rate take no time.
    let busy_ps = if busy_us.is_finite() {
        busy_us * 1e6
    } else {
        0.0
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "zero or more; `as` saturates and rounds down"
    )]
    Some(latency + SimTime::from_ps(busy_ps as u64))
}

/// Returns the bytes per microsecond of some links together.
fn rate(fabric: &Fabric<'_>, links: &[LinkId]) -> f64 {
    let byte = |link: &LinkId| fabric.links()[link.index()].frame;
    let rates = links.iter().map(|link| match byte(link) {
        ByteTime::ZERO => f64::INFINITY,
        byte => byte.rate().get() * 1e3,
    });
    rates.sum()
}

#[cfg(test)]
mod tests {
    use tier6_system::{FabricSpec, SystemSpec};
    use tier6_units::{Bytes, GbPerSec, Micros};

    use super::*;
    use crate::G5Parameters;

    /// Eight chips with a port of 50 GB/s on a switch, 0.5 us to it.
    #[test]
    fn bounds_are_those_of_the_formulas() {
        let star = FabricSpec::star();
        let spec = SystemSpec::uniform(8, star, GbPerSec::new(50.0), Micros::new(0.5));
        let topology = spec.resolve().unwrap();
        let fabric = Fabric::new(&topology, &G5Parameters::ideal(), &[], 0).unwrap();
        let chips: Vec<_> = (0..8).map(ChipId::new).collect();
        let us = |collective, switches| {
            let purpose = Purpose {
                collective,
                bytes: Bytes::new(8_000_000),
                switches,
            };
            least(purpose, &chips, &fabric).map(|time| time.to_micros().get())
        };
        let whole = 160.0;
        for (collective, switches, share) in [
            (Collective::AllReduce, Switches::Forward, 1.75),
            (Collective::AllReduce, Switches::Compute, 0.875),
            (Collective::AllGather, Switches::Forward, 0.875),
            (Collective::ReduceScatter, Switches::Compute, 0.875),
            (Collective::AllToAll, Switches::Forward, 0.875),
            (Collective::Broadcast, Switches::Forward, 1.0),
            (Collective::Gather, Switches::Forward, 0.875),
        ] {
            let got = us(collective, switches).unwrap();
            let law = 0.5 + share * whole;
            assert!((got - law).abs() < 1e-3, "{collective}: {got} for {law}");
        }
        assert_eq!(us(Collective::AllToAllV, Switches::Forward), None);
    }
}
