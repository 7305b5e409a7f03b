//! The names of collective communication: collectives, algorithms, protocols, data types,
//! reduction operators, and the bus factors that turn algorithm into bus bandwidth.
//!
//! Names in text follow the command-line contract (`all_reduce`, `halving_doubling`, `ll128`);
//! the readers of other tools' spellings live with the formats, in `tier6-measure` and
//! `tier6-nccl`.

mod algorithm;
mod collective;
mod datatype;

pub use algorithm::{Algorithm, Path, Protocol};
pub use collective::Collective;
pub use datatype::{DataType, RedOp};
