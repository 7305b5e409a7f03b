//! A packet between two links: room in the buffer, pauses, credits, marks.

use tier6_units::SimTime;

use tier6_g5::network::Context;
use tier6_g5::switch::{Arrival, PauseSignal};

use super::packet::{Entered, Mark};
use super::{LayeredEvent, LayeredNetwork};

impl LayeredNetwork {
    /// A packet is ready for its next link: it takes room and queues, or is dropped.
    pub(super) fn on_ready<E: From<LayeredEvent>>(
        &mut self,
        packet: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let arrived = self.packets.get(packet);
        let link = (self.link_at(&arrived, arrived.hop as usize, context.fabric))
            .expect("Invariant: the way goes on");
        if let Some(entered) = arrived.entered
            && !self.take_room(entered, link, arrived.wire, now, context)
        {
            self.ports[link as usize].account.lost += 1;
            self.lose(packet, now, context);
            self.free_credits(entered.link, entered.credits, now, context);
            return;
        }
        let queued = self.ports[link as usize].queued;
        if let Some(ecn) = self.ports[link as usize].ecn
            && queued > ecn.curve.k_min
        {
            let draw = self.draw();
            if ecn.curve.marks(queued, draw) {
                self.packets.get_mut(packet).mark = Mark::Congestion;
                self.ports[link as usize].account.marked += 1;
            }
        }
        let port = &mut self.ports[link as usize];
        port.push(packet, arrived.wire);
        if let Some(timeline) = context.timeline.as_deref_mut() {
            let id = tier6_system::LinkId::new(link);
            timeline.queues.push((id, now, port.queued));
        }
        self.serve(link, now, context);
    }

    /// Takes room for a packet in the buffer of the switch where it is; returns whether there is.
    fn take_room<E: From<LayeredEvent>>(
        &mut self,
        entered: Entered,
        link: u32,
        wire: u64,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) -> bool {
        let inlet = &self.ports[entered.link as usize];
        let (node, input, latency) = (inlet.to, inlet.input, inlet.latency);
        let Some(buffer) = &mut self.buffers[node as usize] else {
            return true;
        };
        match buffer.arrive(input, self.ports[link as usize].queued, wire) {
            Arrival::Dropped => false,
            Arrival::Taken(None | Some(PauseSignal::Resume)) => true,
            Arrival::Taken(Some(PauseSignal::Pause)) => {
                let event = LayeredEvent::Pause(entered.link);
                context.agenda.at(now + latency, event.into());
                true
            }
        }
    }

    /// A packet has left the place to which a link led.
    pub(super) fn leave_buffer<E: From<LayeredEvent>>(
        &mut self,
        entered: Entered,
        wire: u64,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let inlet = &self.ports[entered.link as usize];
        let (node, input, latency) = (inlet.to, inlet.input, inlet.latency);
        if let Some(buffer) = &mut self.buffers[node as usize]
            && let Some(PauseSignal::Resume) = buffer.leave(input, wire)
        {
            let event = LayeredEvent::Resume(entered.link);
            context.agenda.at(now + latency, event.into());
        }
        self.free_credits(entered.link, entered.credits, now, context);
    }

    /// Credits of a link are free again: they go back at the next multiple of the period.
    pub(super) fn free_credits<E: From<LayeredEvent>>(
        &mut self,
        link: u32,
        credits: u32,
        now: SimTime,
        context: &mut Context<'_, E>,
    ) {
        let port = &self.ports[link as usize];
        let Some(period) = port.period.filter(|_| credits > 0) else {
            return;
        };
        let back = match period.ps() {
            0 => now,
            ps => period.times(now.ps().div_ceil(ps)),
        };
        let event = LayeredEvent::Credit(link, credits);
        context.agenda.at(back + port.latency, event.into());
    }
}
