//! The buffer that the ports of a switch share.
//!
//! With pause frames, room is counted where packets come in, as in HPCC's switch: first an input
//! port's reserve, then the shared room up to a threshold, then the port's headroom, which holds
//! what the neighbour had in flight when it was paused. Without, room is counted where packets
//! leave, and what finds none is dropped. Either threshold is `α_dt` times the shared room that is
//! free (Choudhury and Hahne), so some room is always left for a queue that was empty.

use tier6_units::{ByteTime, SimTime};

use crate::{Pfc, SwitchQueue};

/// The buffer of a switch.
#[derive(Debug, Clone)]
pub struct SwitchBuffer {
    /// Shared room in bytes; `None` for no bound.
    capacity: Option<u64>,
    used: u64,
    /// `α_dt`.
    share: f64,
    pfc: Option<Pfc>,
    inputs: Vec<Input>,
}

/// What an input port holds of the buffer.
#[derive(Debug, Clone, Copy, Default)]
struct Input {
    /// Bytes in the reserve and the shared room.
    held: u64,
    /// Bytes in the headroom.
    headroom: u64,
    neighbour: Neighbour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Neighbour {
    #[default]
    Sending,
    Paused,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It has room.
    Taken(Option<PauseSignal>),
    /// It has none.
    Dropped,
}

/// What the neighbour of an input port is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseSignal {
    /// To stop after the packet that it is sending.
    Pause,
    /// To go on.
    Resume,
}

impl SwitchBuffer {
    /// Returns the empty buffer of a switch with so many input ports. Reserves and headrooms are
    /// set apart from the shared room.
    pub fn new(queue: &SwitchQueue, inputs: usize) -> Self {
        let apart = queue.pfc.map_or(0, |pfc| pfc.reserve + pfc.headroom);
        Self {
            capacity: queue
                .buffer
                .map(|buffer| buffer.saturating_sub(apart * inputs as u64)),
            used: 0,
            share: queue.dynamic_threshold,
            pfc: queue.pfc,
            inputs: vec![Input::default(); inputs],
        }
    }

    /// Returns the bytes of shared room that one queue may hold now.
    pub fn threshold(&self) -> u64 {
        let Some(capacity) = self.capacity else {
            return u64::MAX;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and rounds down to whole bytes"
        )]
        let threshold = (self.share * capacity.saturating_sub(self.used) as f64) as u64;
        threshold
    }

    /// Takes a packet from an input port to an output queue that holds `queue` bytes, if there is
    /// room.
    pub fn arrive(&mut self, input: usize, queue: u64, bytes: u64) -> Arrival {
        let threshold = self.threshold();
        let fits = self.capacity.is_none_or(|all| self.used + bytes <= all);
        let Some(pfc) = self.pfc else {
            if !fits || queue.saturating_add(bytes) > threshold {
                return Arrival::Dropped;
            }
            self.used += bytes;
            return Arrival::Taken(None);
        };
        let port = &mut self.inputs[input];
        let shared = (port.held + bytes).saturating_sub(pfc.reserve);
        if fits && shared <= threshold && port.headroom == 0 {
            let before = port.held.saturating_sub(pfc.reserve);
            self.used += shared - before;
            port.held += bytes;
        } else if port.headroom + bytes <= pfc.headroom {
            port.headroom += bytes;
        } else {
            return Arrival::Dropped;
        }
        let over = port.headroom > 0 || (shared > 0 && shared >= self.threshold());
        let port = &mut self.inputs[input];
        if over && port.neighbour == Neighbour::Sending {
            port.neighbour = Neighbour::Paused;
            return Arrival::Taken(Some(PauseSignal::Pause));
        }
        Arrival::Taken(None)
    }

    /// Gives the room of a packet back that came from an input port.
    ///
    /// # Panics
    ///
    /// When more leaves than came.
    pub fn leave(&mut self, input: usize, bytes: u64) -> Option<PauseSignal> {
        let Some(pfc) = self.pfc else {
            self.used = self
                .used
                .checked_sub(bytes)
                .expect("Invariant: bytes out of a buffer = bytes in");
            return None;
        };
        let port = &mut self.inputs[input];
        let of_headroom = bytes.min(port.headroom);
        port.headroom -= of_headroom;
        let before = port.held.saturating_sub(pfc.reserve);
        port.held = port
            .held
            .checked_sub(bytes - of_headroom)
            .expect("Invariant: bytes out of a buffer = bytes in");
        let shared = port.held.saturating_sub(pfc.reserve);
        self.used -= before - shared;
        let threshold = self.threshold();
        let port = &mut self.inputs[input];
        let is_below = shared == 0 || shared.saturating_add(pfc.resume) <= threshold;
        if port.neighbour == Neighbour::Paused && port.headroom == 0 && is_below {
            port.neighbour = Neighbour::Sending;
            return Some(PauseSignal::Resume);
        }
        None
    }

    /// Returns whether the neighbour of an input port is paused.
    pub fn is_paused(&self, input: usize) -> bool {
        self.inputs[input].neighbour == Neighbour::Paused
    }

    /// Returns the bytes that an input port holds; without pause frames they are not told apart.
    pub fn held_by(&self, input: usize) -> u64 {
        self.inputs[input].held + self.inputs[input].headroom
    }

    /// Returns whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.used == 0 && (0..self.inputs.len()).all(|input| self.held_by(input) == 0)
    }
}

impl Pfc {
    /// Returns the headroom that loses nothing (FACTS D.2): 2 · delay · rate for what is in flight
    /// while the pause travels, two frames, one begun at each end, and the 3,840 bytes of the
    /// neighbour's reaction at the standard's limit.
    pub fn headroom_for(delay: SimTime, rate: ByteTime, frame: u64) -> u64 {
        const REACTION: u64 = 3_840;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates"
        )]
        let in_flight = (2.0 * delay.to_micros().get() * 1e3 * rate.rate().get()).ceil() as u64;
        in_flight + 2 * frame + REACTION
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier6_units::GbPerSec;

    const FRAME: u64 = 1_000;

    fn lossy(buffer: u64, share: f64) -> SwitchQueue {
        SwitchQueue {
            buffer: Some(buffer),
            dynamic_threshold: share,
            pfc: None,
            ecn: None,
        }
    }

    /// K queues that always want more: αB/(1+Kα) each, and (1 − Kα/(1+Kα))·B stays free.
    #[test]
    fn equal_queues_share_by_the_dynamic_threshold() {
        let buffer = 10_000_000;
        for share in [0.5, 1.0, 2.0, 8.0] {
            for k in [1_u32, 2, 7, 32] {
                let mut room = SwitchBuffer::new(&lossy(buffer, share), 1);
                let mut queues = vec![0; k as usize];
                loop {
                    let before: u64 = queues.iter().sum();
                    for queue in &mut queues {
                        if room.arrive(0, *queue, FRAME) == Arrival::Taken(None) {
                            *queue += FRAME;
                        }
                    }
                    if queues.iter().sum::<u64>() == before {
                        break;
                    }
                }
                let law = share * buffer as f64 / (1.0 + f64::from(k) * share);
                for queue in queues {
                    let error = (queue as f64 - law).abs();
                    assert!(
                        error <= 2.0 * FRAME as f64 * (1.0 + share),
                        "{k} {share}: {queue} for {law}"
                    );
                }
            }
        }
    }

    /// The same law where room is counted at the inputs: that is where they are paused.
    #[test]
    fn equal_inputs_are_paused_at_the_dynamic_threshold() {
        let pfc = Pfc::hpcc();
        for k in [1_u32, 4, 16] {
            let shared = 8_000_000;
            let apart = u64::from(k) * (pfc.reserve + pfc.headroom);
            let queue = SwitchQueue {
                pfc: Some(pfc),
                ..lossy(shared + apart, 1.0)
            };
            let mut room = SwitchBuffer::new(&queue, k as usize);
            while !(0..k as usize).all(|input| room.is_paused(input)) {
                for input in 0..k as usize {
                    if !room.is_paused(input) {
                        assert_ne!(room.arrive(input, 0, FRAME), Arrival::Dropped);
                    }
                }
            }
            let law = shared as f64 / (1.0 + f64::from(k));
            for input in 0..k as usize {
                let held = (room.held_by(input) - pfc.reserve) as f64;
                assert!(
                    (held - law).abs() <= 3.0 * FRAME as f64,
                    "{k}: {held} for {law}"
                );
            }
        }
    }

    /// A neighbour at full rate, whose packets and whose pause take `delay`, into a queue that
    /// does not move. Returns (dropped bytes, largest headroom used).
    fn overrun(headroom: u64, delay: SimTime, rate: ByteTime) -> (u64, u64) {
        let pfc = Pfc {
            headroom,
            ..Pfc::hpcc()
        };
        let queue = SwitchQueue {
            pfc: Some(pfc),
            ..lossy(1_000_000 + headroom, 1.0)
        };
        let mut room = SwitchBuffer::new(&queue, 1);
        let mut paused_at = None;
        let (mut dropped, mut most) = (0, 0);
        for number in 0..100_000 {
            // Packets leave back to back; the one begun before the pause arrives is finished.
            let begun = rate.of_bytes(number * FRAME);
            if paused_at.is_some_and(|at| begun >= at) {
                break;
            }
            let now = begun + rate.of_bytes(FRAME) + delay;
            match room.arrive(0, 0, FRAME) {
                Arrival::Taken(Some(_)) => paused_at = Some(now + delay),
                Arrival::Taken(None) => {}
                Arrival::Dropped => dropped += FRAME,
            }
            most = room.inputs[0].headroom.max(most);
        }
        (dropped, most)
    }

    #[test]
    fn headroom_holds_what_is_in_flight() {
        let rate = ByteTime::at(GbPerSec::new(50.0));
        for ps in [0, 100_000, 500_000, 1_500_000, 5_000_000] {
            let delay = SimTime::from_ps(ps);
            let enough = Pfc::headroom_for(delay, rate, FRAME);
            let (dropped, most) = overrun(enough, delay, rate);
            assert_eq!(dropped, 0);
            // The reaction time is not used here; all but that is.
            assert!(most + 3_840 + 2 * FRAME >= enough, "{most} of {enough}");
            if most > 0 {
                assert!(overrun(most - 1, delay, rate).0 > 0);
            }
        }
        let published = Pfc::headroom_for(SimTime::from_ps(1_500_000), rate, 1_400);
        assert_eq!(published, Pfc::hpcc().headroom);
    }

    #[test]
    fn a_paused_input_resumes_below_the_threshold() {
        let pfc = Pfc::hpcc();
        let queue = SwitchQueue {
            pfc: Some(pfc),
            ..lossy(40_000 + pfc.reserve + pfc.headroom, 1.0)
        };
        let mut room = SwitchBuffer::new(&queue, 1);
        let mut packets = 0;
        while !room.is_paused(0) {
            assert_ne!(room.arrive(0, 0, FRAME), Arrival::Dropped);
            packets += 1;
        }
        // Half of the shared room (α = 1), after the reserve.
        assert_eq!(packets, 24 + 1);
        let mut left = 0;
        while room.leave(0, FRAME).is_none() {
            left += 1;
        }
        // 3 KB below, and the threshold itself has risen meanwhile.
        assert!((1..4).contains(&left), "{left}");
        for _ in left + 1..packets {
            assert_eq!(room.leave(0, FRAME), None);
        }
        assert!(room.is_empty());
    }

    #[test]
    fn without_a_bound_nothing_is_dropped_or_paused() {
        for pfc in [None, Some(Pfc::hpcc())] {
            let queue = SwitchQueue {
                buffer: None,
                pfc,
                ..lossy(1, 1.0)
            };
            let mut room = SwitchBuffer::new(&queue, 1);
            for number in 0..10_000 {
                assert_eq!(room.arrive(0, number * FRAME, FRAME), Arrival::Taken(None));
            }
        }
    }
}
