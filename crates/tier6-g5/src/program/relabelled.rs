//! A program whose ranks have other names: a channel that visits the ranks in an order of its own.

use tier6_collective::{Grain, GroupId, Handshake, RankId, Route, Transfer, TransferId};

use super::{Dependency, Needs, Program, Purpose};

/// A program of sends whose rank p is called `order[p]`.
///
/// Channels of one call differ in the order in which they visit the ranks; under this they share
/// names, so that a rank is one chip in all of them. Programs with groups that switches serve are
/// not relabelled: the order of a group's members means nothing.
#[derive(Debug, Clone)]
pub struct Relabelled<P> {
    program: P,
    /// Rank of each position.
    order: Vec<RankId>,
    /// Position of each rank.
    position: Vec<RankId>,
}

impl<P: Program> Relabelled<P> {
    /// Gives position p of a program the name `order[p]`; `None` when `order` does not name each
    /// rank once, or some transfer is not a send.
    pub fn new(program: P, order: &[u32]) -> Option<Self> {
        let mut routes = (0..program.transfers()).map(|id| program.transfer(TransferId(id)).route);
        if !routes.all(|route| matches!(route, Route::Send { .. })) {
            return None;
        }
        let ranks = program.ranks();
        let mut position = vec![None; ranks as usize];
        for (at, rank) in (0..ranks).zip(order) {
            let place = position.get_mut(*rank as usize)?;
            *place = Some(RankId(at));
        }
        let position: Option<Vec<RankId>> = position.into_iter().collect();
        (order.len() == ranks as usize).then_some(())?;
        Some(Self {
            program,
            order: order.iter().copied().map(RankId).collect(),
            position: position?,
        })
    }
}

impl<P: Program> Program for Relabelled<P> {
    fn purpose(&self) -> Option<Purpose> {
        self.program.purpose()
    }

    fn name(&self, id: TransferId) -> Option<&str> {
        self.program.name(id)
    }

    fn unsent(&self, id: TransferId) -> Option<RankId> {
        let from = self.program.unsent(id)?;
        Some(self.order[from.index()])
    }

    fn ranks(&self) -> u32 {
        self.program.ranks()
    }

    fn transfers(&self) -> u32 {
        self.program.transfers()
    }

    fn grain(&self) -> Grain {
        self.program.grain()
    }

    fn handshake(&self) -> Handshake {
        self.program.handshake()
    }

    fn ports(&self) -> u32 {
        self.program.ports()
    }

    fn transfer(&self, id: TransferId) -> Transfer {
        let transfer = self.program.transfer(id);
        let named = |rank: RankId| self.order[rank.index()];
        let route = match transfer.route {
            Route::Send { src, dst } => Route::Send {
                src: named(src),
                dst: named(dst),
            },
            other @ (Route::Multicast { .. }
            | Route::LoadReduce { .. }
            | Route::Aggregate { .. }) => other,
        };
        Transfer { route, ..transfer }
    }

    fn group(&self, group: GroupId) -> &[RankId] {
        self.program.group(group)
    }

    fn needs(&self, id: TransferId) -> Needs {
        self.program.needs(id)
    }

    fn dependencies(&self, id: TransferId, into: &mut Vec<Dependency>) {
        self.program.dependencies(id, into);
    }

    fn dependents(&self, id: TransferId, into: &mut Vec<Dependency>) {
        self.program.dependents(id, into);
    }

    fn first(&self, rank: RankId, port: u32) -> Option<TransferId> {
        self.program.first(self.position[rank.index()], port)
    }

    fn next(&self, id: TransferId) -> Option<TransferId> {
        self.program.next(id)
    }

    fn loose_starts(&self, into: &mut Vec<TransferId>) {
        self.program.loose_starts(into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lowered;
    use tier6_collective::{Algorithm, BuildOptions, Collective, build};
    use tier6_units::Bytes;

    fn ring() -> Lowered {
        let options = BuildOptions::new(4, Bytes::new(4096));
        Lowered::new(&build(Collective::AllGather, Algorithm::Ring, &options).unwrap())
    }

    #[test]
    fn a_ring_goes_in_the_order_that_is_given() {
        let program = Relabelled::new(ring(), &[2, 0, 3, 1]).unwrap();
        let next_of = [3, 2, 0, 1];
        for rank in 0..4 {
            let mut id = program.first(RankId(rank), 0);
            let mut sends = 0;
            while let Some(transfer) = id {
                let Route::Send { src, dst } = program.transfer(transfer).route else {
                    panic!("a ring sends");
                };
                assert_eq!((src.0, dst.0), (rank, next_of[rank as usize]));
                sends += 1;
                id = program.next(transfer);
            }
            assert_eq!(sends, 3);
        }
    }

    #[test]
    fn what_switches_serve_is_not_relabelled() {
        let options = BuildOptions::new(4, Bytes::new(4096));
        let served = build(Collective::AllReduce, Algorithm::Nvls, &options).unwrap();
        assert!(Relabelled::new(Lowered::new(&served), &[2, 0, 3, 1]).is_none());
    }

    #[test]
    fn an_order_names_each_rank_once() {
        for order in [
            &[0, 1, 2][..],
            &[0, 1, 2, 2],
            &[0, 1, 2, 4],
            &[0, 1, 2, 3, 4],
        ] {
            assert!(Relabelled::new(ring(), order).is_none(), "{order:?}");
        }
    }
}
