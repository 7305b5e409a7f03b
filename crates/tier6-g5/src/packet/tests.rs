//! Trains against single packets, and both against closed forms.

mod collectives;
mod trains;

use tier6_units::{ByteTime, SimTime};

use super::flight::Framing;
use super::lines::{Lines, Trains};
use super::route::HopPlan;
use crate::network::{Message, MessageId, Notice, PathId};

/// Links by time per byte and latency, routes over them, and messages with their time.
#[derive(Debug, Clone)]
struct Case {
    framing: Framing,
    links: Vec<(ByteTime, SimTime)>,
    routes: Vec<Vec<u32>>,
    messages: Vec<Sending>,
}

#[derive(Debug, Clone, Copy)]
struct Sending {
    at: SimTime,
    route: usize,
    bytes: u64,
    pace: ByteTime,
}

/// Everything the chips hear, with its time, sorted; and the bytes of each link.
type Heard = (Vec<(SimTime, MessageId, Notice)>, Vec<u64>);

impl Case {
    fn run(&self, trains: Trains) -> (Heard, u64) {
        let mut lines = Lines::new(self.framing, SimTime::ZERO, trains);
        for (byte, latency) in &self.links {
            lines.add_server(*byte, *latency);
        }
        let routes: Vec<_> = self
            .routes
            .iter()
            .map(|route| {
                let hop = |(at, server): (usize, &u32)| HopPlan {
                    server: *server,
                    byte: self.links[*server as usize].0,
                    fed_by: at.checked_sub(1).into_iter().collect(),
                };
                let plan: Vec<_> = route.iter().enumerate().map(hop).collect();
                lines.lay(crate::Class::Request, &plan)
            })
            .collect();
        let mut messages: Vec<_> = self.messages.iter().zip(0..).collect();
        messages.sort_by_key(|(sending, _)| sending.at);
        let mut messages = messages.into_iter().peekable();
        let mut heard = Vec::new();
        let mut steps = 0;
        loop {
            let next = lines.next_time();
            let arrival = messages.peek().map(|(sending, _)| sending.at);
            match (next, arrival) {
                (None, None) => break,
                (next, Some(at)) if next.is_none_or(|next| at <= next) => {
                    let (sending, id) = messages.next().unwrap();
                    let message = Message {
                        id: MessageId(id),
                        path: PathId(0),
                        bytes: sending.bytes,
                        pace: sending.pace,
                    };
                    lines.inject(message, &[(&routes[sending.route], sending.bytes)], at);
                }
                (next, _) => {
                    steps += 1;
                    if let Some(notice) = lines.step() {
                        let id = match notice {
                            Notice::Sent(id)
                            | Notice::Arrived(id)
                            | Notice::Answered(id)
                            | Notice::Fatal { id, .. } => id,
                        };
                        heard.push((next.unwrap(), id, notice));
                    }
                }
            }
        }
        heard.sort_by_key(|(time, id, notice)| (*time, *id, matches!(notice, Notice::Arrived(_))));
        let bytes = lines.servers().iter().map(|server| server.tally.wire_bytes);
        let bytes = bytes.collect();
        ((heard, bytes), steps)
    }

    fn arrival(&self, message: u32) -> SimTime {
        let ((heard, _), _) = self.run(Trains::On);
        let arrived = Notice::Arrived(MessageId(message));
        heard
            .iter()
            .find(|(_, _, notice)| *notice == arrived)
            .unwrap()
            .0
    }
}
