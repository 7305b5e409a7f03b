//! Ids: numbers that index one table each and cannot be mixed up.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Wraps an index.
            pub const fn new(index: u32) -> Self {
                Self(index)
            }

            /// Returns the index.
            pub const fn get(self) -> u32 {
                self.0
            }

            /// Returns the index for a table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!(concat!($word, "{}"), self.0))
            }
        }
    };
}

id!(
    /// A chip; ranks are placed on chips, and are not chips.
    ChipId, "chip"
);
id!(
    /// A node.
    NodeId, "node"
);
id!(
    /// A switch.
    SwitchId, "switch"
);
id!(
    /// A NIC.
    NicId, "nic"
);
id!(
    /// A chip, a switch or half a NIC; chips come first, so a chip's vertex has its number.
    VertexId, "vertex"
);
id!(
    /// One direction of a cable.
    LinkId, "link"
);
id!(
    /// One end of a cable.
    PortId, "port"
);
id!(
    /// A class of links.
    LinkClassId, "link class "
);
id!(
    /// A class of switches.
    SwitchClassId, "switch class "
);

/// A length as an id counts; tables are bounded far below 2^32 when a system is resolved.
pub(crate) fn count(length: usize) -> u32 {
    u32::try_from(length).expect("Invariant: tables of a topology are bounded")
}
