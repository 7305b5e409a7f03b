//! The parameters of NCCL's protocols: LL and LL128 send flags with the data, Simple does not.

use tier6_collective::Protocol;
use tier6_system::{Efficiency, Topology};
use tier6_units::Bytes;

use super::time_or;
use crate::{Cdma, CdmaSplit, G5Parameters};

impl G5Parameters {
    /// Returns the parameters for messages of a protocol, and the share of the bytes moved that is
    /// data; `None` for LL and LL128 when the system does not describe them. Simple is what
    /// [`G5Parameters::of`] gives.
    ///
    /// The protocols differ in how a message is known to be complete (a flag with the data against
    /// a fence), which is the `sync` of the engines, and in the bytes that flags take.
    pub fn of_protocol(topology: &Topology, protocol: Protocol) -> Option<(Self, Efficiency)> {
        let base = Self::of(topology);
        let given = topology.constants().g5.as_ref();
        let message = match protocol {
            Protocol::Ll => given?.ll.as_ref()?,
            Protocol::Ll128 => given?.ll128.as_ref()?,
            Protocol::Simple => return Some((base, Efficiency::FULL)),
        };
        let share = match &message.share {
            Some(share) => share.value,
            None => share_prior(topology, protocol),
        };
        // An engine takes so much data; flags come on top.
        let split = match base.cdma.split {
            CdmaSplit::All => CdmaSplit::All,
            CdmaSplit::Per(size) => CdmaSplit::Per(moved(Bytes::new(size), share).get()),
        };
        let cdma = Cdma {
            sync: time_or(message.sync.clone(), base.cdma.sync),
            split,
            ..base.cdma
        };
        Some((Self { cdma, ..base }, share))
    }
}

/// Returns the bytes that move for so much data, of which it is a share; up to the next whole one.
pub fn moved(data: Bytes, share: Efficiency) -> Bytes {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size, some times as large; saturates"
    )]
    let bytes = (data.as_f64() / share.get()).ceil() as u64;
    Bytes::new(bytes)
}

/// What the links of the first tier leave for data.
fn share_prior(topology: &Topology, protocol: Protocol) -> Efficiency {
    let first = topology.tiers().first();
    let class = first.map(|tier| &topology.link_classes()[tier.link.index()]);
    class.map_or(Efficiency::FULL, |class| {
        let share = match protocol {
            Protocol::Ll => &class.share.ll,
            Protocol::Ll128 => &class.share.ll128,
            Protocol::Simple => &class.share.simple,
        };
        share.value
    })
}
