//! One message from one rank to another.

use super::{LawError, Wire, time};
use crate::Parts;
use tier6_collective::Handshake;
use tier6_units::{Bytes, Micros};

/// Returns the time of one message: `T_sw` + α + M/B, and with a rendezvous one round trip of
/// `flight` each way more. Source: FACTS B.1; source document 004 asks for `T_sw` in the law,
/// since without it a call of 26.5 us is predicted at 2.
///
/// # Errors
///
/// When a time is negative.
pub fn point_to_point(
    bytes: Bytes,
    wire: &Wire,
    handshake: Handshake,
    flight: Micros,
    software: Micros,
) -> Result<Parts, LawError> {
    let round_trip = match handshake {
        Handshake::Eager => 0.0,
        Handshake::Rendezvous => 2.0 * time(flight)?,
    };
    let slower = Wire {
        alpha_us: wire.alpha_us + round_trip,
        ..*wire
    };
    let software = Micros::new(time(software)?);
    Ok(slower.sum(1.0, bytes.as_f64(), 0.0).after(software))
}
