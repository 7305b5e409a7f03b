//! What a network of fluids has carried, who is stuck in it, and whether it is empty.

use tier6_system::LinkId;

use super::FlowNetwork;
use crate::network::PathId;
use crate::{Fabric, FabricLinkId, LinkAccount, LinkOf, Wait};

impl FlowNetwork {
    /// Returns what messages whose last byte has left have put on each link.
    pub(super) fn link_accounts(&self, fabric: &Fabric<'_>) -> Vec<(LinkId, LinkAccount)> {
        // Payload, and what occupied the link.
        let mut loads = vec![(0.0, 0.0); fabric.links().len()];
        for (path, bytes) in (0..).map(PathId).zip(&self.sent_bytes) {
            let bytes = *bytes as f64;
            for one in fabric.uses(path) {
                let (payload, occupied) = &mut loads[one.link.index()];
                // A weight above 1 is slowness, not bytes.
                *payload += bytes * one.weight.min(1.0);
                *occupied += bytes * one.weight;
            }
        }
        let loads = loads.into_iter().zip(fabric.links());
        loads
            .filter_map(|((payload, occupied), link)| match link.of {
                LinkOf::Wire(id) => {
                    let framing = link.frame.rate().get() / link.payload.rate().get();
                    let account = LinkAccount {
                        wire_bytes: whole(payload * framing),
                        payload_bytes: whole(payload),
                        busy: link.payload.of_bytes(whole(occupied)),
                        ..LinkAccount::default()
                    };
                    Some((id, account))
                }
                LinkOf::Engines(_) => None,
            })
            .collect()
    }

    /// Returns the messages on links that have failed.
    pub(super) fn on_failed_links(&self, fabric: &Fabric<'_>) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (number, link) in (0..).zip(&self.links) {
            let link_name = || fabric.link_name(FabricLinkId(number));
            let members = link.members.iter().filter(|_| link.capacity == 0.0);
            for member in members {
                let flow = &self.flows[member.slot as usize];
                if self.tenants[member.slot as usize].number == member.number {
                    waits.push(Wait {
                        who: format!("message {}", flow.message.0),
                        for_whom: link_name(),
                        why: "the link has failed".to_owned(),
                    });
                }
            }
        }
        waits
    }

    /// Checks that all that came in has come out.
    pub(super) fn check_empty(&self) -> Result<(), String> {
        let on_the_way = self.flows.len() - self.free.len();
        if on_the_way > 0 {
            return Err(format!("{on_the_way} messages have not left their sender"));
        }
        if self.injected != self.arrived {
            let (injected, arrived) = (self.injected, self.arrived);
            return Err(format!("{injected} messages injected, {arrived} arrived"));
        }
        let sent: u128 = self.sent_bytes.iter().map(|bytes| u128::from(*bytes)).sum();
        if self.injected_bytes != sent {
            let injected = self.injected_bytes;
            return Err(format!("{injected} bytes injected, {sent} sent"));
        }
        let busy = self.links.iter().filter(|link| !link.members.is_empty());
        match busy.count() {
            0 => Ok(()),
            links => Err(format!("{links} links still hold messages")),
        }
    }
}

/// A count of bytes that has been scaled, to the nearest byte.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and `as` saturates"
)]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}
