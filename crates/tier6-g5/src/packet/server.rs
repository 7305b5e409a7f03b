//! A directed link as a server: what it serves now, and the heads of its inputs in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tier6_units::ByteTime;

use super::fine::Fine;
use super::flight::Flight;
use super::pump::Pump;
use super::train::Slot;
use crate::LinkAccount;
use crate::network::MessageId;
use crate::paxi::{CLASSES, Turns};

/// A directed link: first come, first served in each of its channels.
#[derive(Debug)]
pub(crate) struct Server {
    /// What a byte takes on the wire.
    pub(crate) byte: ByteTime,
    /// From the wire to the next server.
    pub(crate) latency: Fine,
    /// When the wire is free of what has been chosen.
    pub(crate) free: Fine,
    pub(crate) serving: Option<Serving>,
    /// When it chooses next, if there is something to choose.
    pub(crate) due: Option<Fine>,
    /// Inputs that hold packets, but for the one that is served, by channel.
    heads: [BinaryHeap<Reverse<Head>>; CLASSES],
    /// Inputs by their tie and channel, sorted.
    pub(crate) inputs: Vec<((u32, u8), u32)>,
    /// What its chip sends, by channel.
    pub(crate) pumps: [Pump; CLASSES],
    /// Whose turn it is among its channels.
    pub(crate) turns: Turns,
    /// Channels that the switch at its end has paused.
    pub(crate) paused: [bool; CLASSES],
    /// From when on nothing goes.
    pub(crate) halt: Halt,
    pub(crate) tally: Tally,
}

/// Whether a link serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Halt {
    /// It does.
    None,
    /// It has failed.
    Failed,
}

/// Packets that are served one after the other; those that have not begun may be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Serving {
    pub(crate) slot: u32,
    /// What it is of, where that is drawn.
    pub(crate) message: Option<MessageId>,
    pub(crate) flight: u32,
    pub(crate) hop: u32,
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) start: Fine,
    /// Between the starts of two packets.
    pub(crate) gap: Fine,
    /// What a byte takes.
    pub(crate) byte: ByteTime,
    /// How much earlier the head of each goes through.
    pub(crate) lead: Fine,
}

/// The first packet of an input: when it is ready, then which input it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Head {
    pub(crate) ready: Fine,
    pub(crate) tie: u32,
    pub(crate) slot: u32,
}

/// What a server has carried.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) packets: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) busy: Fine,
    /// Longest time that a packet waited.
    pub(crate) longest_wait: Fine,
}

impl Server {
    pub(crate) fn new(byte: ByteTime, latency: Fine) -> Self {
        Self {
            byte,
            latency,
            free: Fine::ZERO,
            serving: None,
            due: None,
            heads: Default::default(),
            inputs: Vec::new(),
            pumps: Default::default(),
            turns: Turns::default(),
            paused: [false; CLASSES],
            halt: Halt::None,
            tally: Tally::default(),
        }
    }

    /// Returns what the chips' account says of it.
    pub(crate) fn account(&self, now: Fine) -> LinkAccount {
        // What it has chosen and not sent yet.
        let ahead = self.free.saturating_sub(now);
        LinkAccount {
            wire_bytes: self.tally.wire_bytes,
            payload_bytes: self.tally.payload_bytes,
            busy: self.tally.busy.saturating_sub(ahead).to_sim(),
            peak_queue: self.tally.longest_wait.bytes(self.byte),
            ..LinkAccount::default()
        }
    }

    /// Begins to serve a row of packets.
    pub(crate) fn serve(&mut self, row: Serving, flight: &Flight) {
        let (payload, wire) = flight.bytes(row.first, row.count);
        let busy = Fine::of(row.byte, wire);
        self.tally.busy += busy;
        self.tally.packets += u64::from(row.count);
        self.tally.payload_bytes += payload;
        self.tally.wire_bytes += wire;
        self.free = if row.count == 1 {
            row.start + busy
        } else {
            let last = flight.wire(row.first + row.count - 1);
            row.start + row.gap.times(row.count - 1) + Fine::of(row.byte, last)
        };
        self.serving = Some(row);
    }

    /// Adds the first packet of an input of this number. (What is needed comes one by one: a head
    /// made by the caller would go through memory.)
    pub(crate) fn add_head(&mut self, ready: Fine, slot: u32, of: &Slot) {
        let tie = of.tie;
        self.heads[usize::from(of.channel)].push(Reverse(Head { ready, tie, slot }));
    }

    /// Returns the first head of a channel that still is one, and forgets those that are not.
    pub(crate) fn first_head(
        &mut self,
        channel: usize,
        is_head: impl Fn(&Head) -> bool,
    ) -> Option<Head> {
        let heads = &mut self.heads[channel];
        while let Some(Reverse(head)) = heads.peek() {
            if is_head(head) {
                return Some(*head);
            }
            heads.pop();
        }
        None
    }

    pub(crate) fn drop_head(&mut self, channel: usize) {
        self.heads[channel].pop();
    }

    pub(crate) fn has_heads(&self) -> bool {
        self.heads.iter().any(|heads| !heads.is_empty())
    }

    /// Returns whether inputs of other channels hold packets.
    pub(crate) fn has_heads_beside(&self, channel: u8) -> bool {
        let mut others = (0..)
            .zip(&self.heads)
            .filter(|(other, _)| *other != channel);
        others.any(|(_, heads)| !heads.is_empty())
    }

    /// Returns whether a slot is the one that is served.
    pub(crate) fn serves(&self, slot: u32) -> bool {
        self.serving.is_some_and(|serving| serving.slot == slot)
    }
}
