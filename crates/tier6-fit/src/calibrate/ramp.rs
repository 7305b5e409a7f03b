//! How many channels small messages take, by protocol: what a calibration chooses from.
//!
//! What a channel carries at least is documented, so it is no free number. NCCL takes channels away
//! while a message has fewer bytes than channels x threads x 64 of Simple: 32 KiB for each with
//! 512 threads, 16 KiB with the 256 of a slow bus (FACTS B.2). For LL128 a least traffic per channel
//! matters more, 16 KiB of an AllReduce since 2.29; sweeps on PCIe show twice that, so both sizes
//! are open for both. How many channels reach the rate is the machine's. Measurements choose. Of LL
//! the threshold grows with the ranks, which one number for a system cannot say, and a sweep under
//! LL alone shows none: it is not asked for.

use super::Fitted;
use super::constant::{pick, pick_mut};
use std::num::NonZeroU32;
use tier6_collective::Protocol;
use tier6_system::{ByProtocol, Constant, Provenance, Ramp, SystemSpec, Topology};
use tier6_units::Bytes;

/// A ramp, or none, by protocol.
pub(super) type Ramps = ByProtocol<Option<Ramp>>;

/// Channels to choose from.
const CHANNELS: [u32; 3] = [2, 4, 8];
/// Bytes of each to choose from.
const BYTES: [Bytes; 2] = [Bytes::new(32 << 10), Bytes::new(16 << 10)];

/// Returns what the system says.
pub(super) fn stated(topology: &Topology) -> Ramps {
    let value = |ramp: &Option<Constant<Ramp>>| ramp.as_ref().map(|ramp| ramp.value);
    let ramp = &topology.constants().ramp;
    Ramps {
        ll: value(&ramp.ll),
        ll128: value(&ramp.ll128),
        simple: value(&ramp.simple),
    }
}

/// Returns the ramps to choose from, the fewest channels first.
pub(super) fn candidates(protocol: Protocol) -> Vec<Ramp> {
    if protocol == Protocol::Ll {
        return Vec::new();
    }
    let channels = CHANNELS.into_iter().filter_map(NonZeroU32::new);
    let sized = |channels| BYTES.map(|bytes| Ramp { channels, bytes });
    channels.flat_map(sized).collect()
}

/// Writes what was chosen into a system that said nothing, with its origin.
pub(super) fn write(system: &mut SystemSpec, chosen: &Ramps, origin: &Provenance) {
    for protocol in Protocol::ALL {
        let place = pick_mut(&mut system.software.ramp, protocol);
        if let (None, Some(ramp)) = (&place, pick(chosen, protocol)) {
            *place = Some(Constant {
                value: *ramp,
                interval: None,
                provenance: Some(origin.clone()),
            });
        }
    }
}

/// Returns what a report says of the ramps that the system did not say before: channels, and in
/// the unit what each carries.
pub(super) fn fitted(chosen: &Ramps, before: &Ramps) -> Vec<Fitted> {
    let new = |protocol: &Protocol| pick(before, *protocol).is_none();
    let row = |protocol: Protocol| {
        let ramp = pick(chosen, protocol).as_ref()?;
        Some(Fitted {
            name: format!("software.ramp.{protocol}"),
            unit: format!("x {}", ramp.bytes),
            value: ramp.channels.get().into(),
            interval: None,
            prior: None,
        })
    };
    let protocols = Protocol::ALL.into_iter().filter(new);
    protocols.filter_map(row).collect()
}
