//! Routes towards chips, with what has been found out about them.

use tier6_system::{ChipId, LinkId, RouteTree, Topology, Vertex};

/// Vertices that all kept trees may have together: about 128 MiB of them.
const KEPT_MAX: usize = 8 << 20;

/// Vertices that trees may have together which are kept from the first question on: about 8 MiB.
const KEPT_AT_ONCE_MAX: usize = 512 << 10;

/// Routes by the chip that they lead to, kept from the second question on: in a ring there is
/// only one. In a small system the first is enough, if it has led everywhere.
#[derive(Debug)]
pub(super) struct RoutesTo<'t> {
    by_receiver: Vec<Towards<'t>>,
    kept: usize,
}

#[derive(Debug, Clone)]
enum Towards<'t> {
    Unasked,
    Asked,
    Known {
        tree: Box<RouteTree<'t>>,
        /// By vertex, the link that flow 0 takes on from a switch, where it is known: it does not
        /// depend on the sender.
        next: Vec<Option<LinkId>>,
    },
}

impl<'t> Towards<'t> {
    fn known(topology: &Topology, tree: RouteTree<'t>) -> Self {
        Self::Known {
            tree: Box::new(tree),
            next: vec![None; topology.vertices().len()],
        }
    }
}

impl<'t> RoutesTo<'t> {
    pub(super) fn new(n_chips: usize) -> Self {
        Self {
            by_receiver: vec![Towards::Unasked; n_chips],
            kept: 0,
        }
    }

    /// Appends the preferred route of a flow.
    pub(super) fn route(
        &mut self,
        topology: &'t Topology,
        from: ChipId,
        (to, flow): (ChipId, u32),
        route: &mut Vec<LinkId>,
    ) {
        if flow == 0 && matches!(self.by_receiver[to.index()], Towards::Unasked) {
            return self.first_route(topology, from, to, route);
        }
        let (tree, next) = self.known(topology, to);
        if flow != 0 {
            return tree.route_into(from, flow, route);
        }
        let start = route.len();
        if known_route(topology, tree, next, from, route).is_none() {
            route.truncate(start);
            tree.route_into(from, 0, route);
            for link in &route[start..] {
                next[topology.link(*link).from.index()] = Some(*link);
            }
        }
    }

    /// Appends the first route that anybody asks for, which takes a search as far as the sender.
    fn first_route(
        &mut self,
        topology: &'t Topology,
        from: ChipId,
        to: ChipId,
        route: &mut Vec<LinkId>,
    ) {
        let tree = topology.routes_from(&[from], to);
        tree.route_into(from, 0, route);
        let kept = self.kept + topology.vertices().len();
        self.by_receiver[to.index()] = if kept <= KEPT_AT_ONCE_MAX && tree.is_whole() {
            self.kept = kept;
            Towards::known(topology, tree)
        } else {
            Towards::Asked
        };
    }

    /// Returns all shortest routes to a chip.
    pub(super) fn tree(&mut self, topology: &'t Topology, to: ChipId) -> &RouteTree<'t> {
        self.known(topology, to).0
    }

    fn known(
        &mut self,
        topology: &'t Topology,
        to: ChipId,
    ) -> (&RouteTree<'t>, &mut [Option<LinkId>]) {
        if !matches!(self.by_receiver[to.index()], Towards::Known { .. }) {
            self.kept += topology.vertices().len();
            if self.kept > KEPT_MAX {
                self.by_receiver.fill(Towards::Asked);
                self.kept = topology.vertices().len();
            }
            self.by_receiver[to.index()] = Towards::known(topology, topology.routes_to(to));
        }
        match &mut self.by_receiver[to.index()] {
            Towards::Known { tree, next } => (tree, next),
            Towards::Unasked | Towards::Asked => unreachable!("Invariant: made just above"),
        }
    }
}

/// Appends the route of flow 0, if every switch on it is known. A chip or a NIC takes the first
/// link that leads on; only switches spread.
fn known_route(
    topology: &Topology,
    tree: &RouteTree<'_>,
    next: &[Option<LinkId>],
    from: ChipId,
    route: &mut Vec<LinkId>,
) -> Option<()> {
    let (mut vertex, target) = (topology.chip_vertex(from), topology.chip_vertex(tree.to()));
    while vertex != target {
        let link = match topology.vertices()[vertex.index()] {
            Vertex::Switch(_) => next[vertex.index()]?,
            Vertex::Chip(_) | Vertex::NicSend(_) | Vertex::NicReceive(_) => {
                tree.next_links(vertex).next()?
            }
        };
        route.push(link);
        vertex = topology.link(link).to;
    }
    Some(())
}
