//! What links have carried, who waits for whom, and what must hold at the end.

use tier6_system::LinkId;

use tier6_g5::{Fabric, FabricLinkId, LinkAccount, Wait};

use super::LayeredNetwork;
use super::port::State;
use super::transmit::near;

impl LayeredNetwork {
    pub(super) fn link_accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)> {
        let mut accounts: Vec<_> = (0..)
            .map(LinkId::new)
            .zip(&self.ports)
            .map(|(link, port)| {
                // The packet on the wire is counted whole.
                let ahead = near(port.free).saturating_sub(self.now);
                let busy = port.byte.of_bytes(port.account.wire_bytes);
                let busy = busy.saturating_sub(ahead);
                (
                    link,
                    LinkAccount {
                        busy,
                        ..port.account
                    },
                )
            })
            .collect();
        for line in &self.trees {
            for one in fabric.path(line.path).uses {
                let Some((_, account)) = accounts.get_mut(one.link.index()) else {
                    continue;
                };
                let link = fabric.link(one.link);
                account.payload_bytes += line.bytes;
                account.wire_bytes += line.bytes;
                account.busy += link.payload.of_bytes(line.bytes);
            }
        }
        accounts
    }

    pub(super) fn who_waits(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (number, port) in (0..).zip(&self.ports) {
            let who = fabric.link_name(FabricLinkId(number));
            match port.state {
                _ if port.serving.is_some() || !port.has_work() => {}
                State::Failed => waits.push(Wait {
                    for_whom: format!("repair of {who}"),
                    why: "the link has failed".to_owned(),
                    who,
                }),
                State::Paused => {
                    waits.extend(self.behind(number, &who, "it is paused", fabric));
                }
                State::Up => {
                    waits.extend(self.behind(number, &who, "it has no credits", fabric));
                }
            }
        }
        for pair in &self.pairs {
            if let Some(&oldest) = pair.flights.front()
                && pair.listed.is_none()
            {
                waits.push(Wait {
                    who: format!("message {}", self.flights.get(oldest).message.0),
                    for_whom: format!("chip {}", pair.to),
                    why: "frames are not acknowledged".to_owned(),
                });
            }
        }
        waits
    }

    /// Returns for which links a link waits: those for which packets wait that came by it.
    fn behind(&self, link: u32, who: &str, why: &str, fabric: &Fabric<'_>) -> Vec<Wait> {
        let node = self.ports[link as usize].to;
        let mut waits = Vec::new();
        for (number, port) in (0..).zip(&self.ports) {
            let mut queue = port.queue.iter().map(|packet| self.packets.get(*packet));
            let holds = |packet: super::packet::Packet| {
                packet.entered.is_some_and(|entered| entered.link == link)
            };
            if port.from == node && queue.any(holds) {
                waits.push(Wait {
                    who: who.to_owned(),
                    for_whom: fabric.link_name(FabricLinkId(number)),
                    why: format!("{why}: what came by it waits there"),
                });
            }
        }
        waits
    }

    /// Where a link has failed things stay where they are.
    pub(super) fn what_is_left(&self) -> Result<(), String> {
        if self.ports.iter().any(|port| port.state == State::Failed) {
            return Ok(());
        }
        let broken = |what: &str, count: usize| match count {
            0 => Ok(()),
            count => Err(format!("{count} {what}")),
        };
        broken("packets are still under way", self.packets.len())?;
        broken("messages are not complete", self.flights.len())?;
        let queued = self.ports.iter().filter(|port| port.queued > 0);
        broken("links still have a queue", queued.count())?;
        let owing = self.ports.iter().filter(|port| {
            let taken = port.credits.map_or(0, |pool| pool.taken());
            taken > 0
        });
        broken("links miss credits", owing.count())?;
        let held = self.buffers.iter().flatten();
        let held = held.filter(|buffer| !buffer.is_empty());
        broken("switch buffers are not empty", held.count())?;
        let open = self.chips.iter().filter(|chip| {
            let open = chip.outstanding.map_or(0, |bound| bound.open());
            open > 0
        });
        broken("chips miss responses", open.count())?;
        Ok(())
    }
}
