//! A topology under construction: vertices, cables, ports.

use super::Classes;
use crate::place::Spelled;
use crate::spec::Direction;
use crate::topology::{
    ChipId, Link, LinkClassId, LinkId, Nic, NicId, Port, PortId, Switch, SwitchId, Vertex,
    VertexId, count,
};
use crate::{SystemError, SystemProblem};

/// The most links of a system.
const LINKS_MAX: u64 = 1 << 20;
/// The most switches and NICs of a system, each.
const VERTICES_MAX: u64 = 1 << 18;

/// Where a cable can be plugged in. The halves of a NIC are two vertices; elsewhere both are
/// one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// Vertex that feeds the cable.
    pub send: VertexId,
    /// Vertex that the cable feeds.
    pub receive: VertexId,
    /// Vertex that owns the port.
    pub owner: VertexId,
}

impl End {
    pub fn at(vertex: VertexId) -> Self {
        Self {
            send: vertex,
            receive: vertex,
            owner: vertex,
        }
    }
}

/// A cable to be laid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cable {
    pub a: End,
    pub b: End,
    pub class: LinkClassId,
    pub lanes: u32,
    pub direction: Direction,
}

/// The tables so far.
pub(crate) struct Draft {
    n_chips: u32,
    pub vertices: Vec<Vertex>,
    pub switches: Vec<Switch>,
    pub nics: Vec<Nic>,
    pub links: Vec<Link>,
    pub ports: Vec<Port>,
}

impl Draft {
    pub fn with_chips(n_chips: u32) -> Self {
        Self {
            n_chips,
            vertices: (0..n_chips)
                .map(|chip| Vertex::Chip(ChipId::new(chip)))
                .collect(),
            switches: Vec::new(),
            nics: Vec::new(),
            links: Vec::new(),
            ports: Vec::new(),
        }
    }

    pub fn n_chips(&self) -> u32 {
        self.n_chips
    }

    /// Returns the first switch that each chip hangs on.
    pub fn hosts(&self) -> Vec<Option<VertexId>> {
        let mut hosts = vec![None; self.n_chips as usize];
        for link in &self.links {
            let is_switch = matches!(self.vertices[link.to.index()], Vertex::Switch(_));
            if let Some(host) = hosts.get_mut(link.from.index())
                && is_switch
            {
                host.get_or_insert(link.to);
            }
        }
        hosts
    }

    /// Refuses a fabric that would not fit, before it is built.
    pub fn expect_cables(&self, cables: u64) -> Result<(), SystemError> {
        within("links", self.links.len() as u64 + 2 * cables, LINKS_MAX)
    }

    pub fn add_switch(
        &mut self,
        classes: &mut Classes<'_>,
        class: &Spelled<String>,
        name: String,
        planes: u32,
        tier: u32,
    ) -> Result<End, SystemError> {
        within("switches", self.switches.len() as u64 + 1, VERTICES_MAX)?;
        let id = SwitchId::new(count(self.switches.len()));
        let vertex = self.add_vertex(Vertex::Switch(id));
        self.switches.push(Switch {
            class: classes.switch(class)?,
            name,
            planes,
            tier,
            vertex,
        });
        Ok(End::at(vertex))
    }

    /// Adds a NIC and returns its ends towards chips and network.
    pub fn add_nic(
        &mut self,
        rail: u32,
        chips: Vec<ChipId>,
        tier: u32,
    ) -> Result<(End, End), SystemError> {
        within("NICs", self.nics.len() as u64 + 1, VERTICES_MAX)?;
        let id = NicId::new(count(self.nics.len()));
        let send = self.add_vertex(Vertex::NicSend(id));
        let receive = self.add_vertex(Vertex::NicReceive(id));
        self.nics.push(Nic {
            rail,
            chips,
            send,
            receive,
            tier,
        });
        let end = |feeds: VertexId, fed: VertexId| End {
            send: feeds,
            receive: fed,
            owner: send,
        };
        Ok((end(receive, send), end(send, receive)))
    }

    fn add_vertex(&mut self, vertex: Vertex) -> VertexId {
        let id = VertexId::new(count(self.vertices.len()));
        self.vertices.push(vertex);
        id
    }

    /// Lays cables: first one direction of all, then the other of all, so that every vertex of
    /// a ring prefers the same direction.
    pub fn lay(
        &mut self,
        classes: &Classes<'_>,
        tier: u32,
        cables: &[Cable],
    ) -> Result<(), SystemError> {
        self.expect_cables(cables.len() as u64)?;
        let first_port = count(self.ports.len());
        let first_link = count(self.links.len());
        let port_of = |cable: u32, end: u32| PortId::new(first_port + 2 * cable + end);
        let mut next_back = first_link + count(cables.len());
        for (index, cable) in (0_u32..).zip(cables) {
            let there = LinkId::new(first_link + index);
            let back = match cable.direction {
                Direction::OneWay => None,
                Direction::BothWays => {
                    next_back += 1;
                    Some(LinkId::new(next_back - 1))
                }
            };
            self.ports.push(Port {
                owner: cable.a.owner,
                out: Some(there),
                into: back,
            });
            self.ports.push(Port {
                owner: cable.b.owner,
                out: back,
                into: Some(there),
            });
            let (from, to) = (cable.a.send, cable.b.receive);
            let ports = (port_of(index, 0), port_of(index, 1));
            self.add_link(classes, tier, cable, (from, to), ports, back);
        }
        for (index, cable) in (0_u32..).zip(cables) {
            if cable.direction == Direction::BothWays {
                let (from, to) = (cable.b.send, cable.a.receive);
                let ports = (port_of(index, 1), port_of(index, 0));
                let there = Some(LinkId::new(first_link + index));
                self.add_link(classes, tier, cable, (from, to), ports, there);
            }
        }
        Ok(())
    }

    fn add_link(
        &mut self,
        classes: &Classes<'_>,
        tier: u32,
        cable: &Cable,
        (from, to): (VertexId, VertexId),
        (from_port, to_port): (PortId, PortId),
        reverse: Option<LinkId>,
    ) {
        let class = classes.link_class(cable.class);
        let rate = class.rate.value.scaled(f64::from(cable.lanes));
        self.links.push(Link {
            from,
            to,
            from_port,
            to_port,
            class: cable.class,
            lanes: cable.lanes,
            tier,
            reverse,
            rate,
            payload_rate: rate.scaled(class.efficiency.value.get()),
            latency: class.latency.value,
        });
    }

    /// Links that leave and that arrive at each vertex, in the order in which they were laid.
    pub fn adjacency(&self) -> (Vec<Vec<LinkId>>, Vec<Vec<LinkId>>) {
        let mut out = vec![Vec::new(); self.vertices.len()];
        let mut into = vec![Vec::new(); self.vertices.len()];
        for (index, link) in (0_u32..).zip(&self.links) {
            out[link.from.index()].push(LinkId::new(index));
            into[link.to.index()].push(LinkId::new(index));
        }
        (out, into)
    }
}

fn within(what: &'static str, found: u64, limit: u64) -> Result<(), SystemError> {
    if found <= limit {
        return Ok(());
    }
    let problem = SystemProblem::TooLarge { what, found, limit };
    Err(SystemError::new(None, problem))
}
