//! In which grain rings forward, by protocol: what a calibration chooses from.
//!
//! A ring that forwards whole messages costs a sum, one that forwards slices a max (FACTS B.2).
//! LL forwards lines of flagged words, LL128 lines of 128 bytes, Simple slices of a buffer's step;
//! which of them is seen depends on the machine, so the measurements choose.

use tier6_system::{ByProtocol, Topology};
use tier6_units::Bytes;

/// Bytes that a ring forwards at a time, by protocol.
pub(super) type Grain = ByProtocol<Option<Bytes>>;

/// Slices of LL and LL128: far below a chunk, so that only the max law is left.
const LINES: Bytes = Bytes::new(1 << 10);
/// A step of the Simple buffer (FACTS B.2).
const BUFFER_STEP: Bytes = Bytes::new(512 << 10);

/// The grains to choose from, the plainest first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grains(Vec<Grain>);

impl Grains {
    /// Returns what the system says, or, when it says nothing, the usual ones.
    pub(super) fn of(topology: &Topology) -> Self {
        let stated = &topology.constants().grain;
        if *stated != Grain::default() {
            return Self(vec![stated.clone()]);
        }
        let by_protocol = |ll, ll128, simple| Grain { ll, ll128, simple };
        Self(vec![
            Grain::default(),
            by_protocol(Some(LINES), None, None),
            by_protocol(Some(LINES), Some(LINES), None),
            by_protocol(Some(LINES), Some(LINES), Some(BUFFER_STEP)),
        ])
    }

    /// Returns what the system says, where no ring runs.
    pub(super) fn stated(topology: &Topology) -> Self {
        Self(vec![topology.constants().grain.clone()])
    }

    pub(super) fn all(&self) -> &[Grain] {
        &self.0
    }

    pub(super) fn plainest(&self) -> Grain {
        self.0[0].clone()
    }
}
