//! What the chips reach while they handle something: time, agenda, network, timeline.

use tier6_des::Agenda;
use tier6_units::SimTime;

use crate::chip::ChipEvent;
use crate::network::{Context, Message, Network, Notice};
use crate::{Fabric, Timeline};

/// An event of a run: the network's or the chips'.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RunEvent<E> {
    Network(E),
    Chip(ChipEvent),
}

impl<E> From<E> for RunEvent<E> {
    fn from(event: E) -> Self {
        Self::Network(event)
    }
}

pub(crate) struct World<'w, 't, N: Network> {
    pub(crate) fabric: &'w mut Fabric<'t>,
    pub(crate) agenda: &'w mut Agenda<RunEvent<N::Event>>,
    pub(crate) notices: &'w mut Vec<Notice>,
    pub(crate) network: &'w mut N,
    pub(crate) timeline: Option<&'w mut Timeline>,
}

impl<N: Network> World<'_, '_, N> {
    pub(crate) fn now(&self) -> SimTime {
        self.agenda.now()
    }

    pub(crate) fn at(&mut self, time: SimTime, event: ChipEvent) {
        self.agenda.at(time, RunEvent::Chip(event));
    }

    /// Makes room for so many messages that may be handed over together.
    pub(crate) fn make_room(&mut self, messages: usize) {
        self.fabric.make_room(messages);
        self.network.make_room(messages);
    }

    pub(crate) fn inject(&mut self, message: Message) {
        let now = self.agenda.now();
        let mut context = Context {
            fabric: self.fabric,
            agenda: self.agenda,
            notices: self.notices,
            timeline: self.timeline.as_deref_mut(),
        };
        self.network.inject(message, now, &mut context);
    }
}
