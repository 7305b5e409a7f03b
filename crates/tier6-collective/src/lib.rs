//! The names of collective communication (collectives, algorithms, protocols, data types,
//! reduction operators, versions, and the bus factors that turn algorithm into bus bandwidth), and
//! schedules: what each algorithm really sends.
//!
//! Names in text follow the command-line contract (`all_reduce`, `halving_doubling`, `ll128`);
//! the readers of other tools' spellings live with the formats, in `tier6-measure` and
//! `tier6-nccl`. [`build`] makes the [`Schedule`] of a collective and an algorithm,
//! [`Schedule::check`] proves that a schedule computes its collective, and custom schedules come
//! from JSON ([`read_json`]) or MSCCL's XML ([`read_msccl`]), also such as cannot end ([`Script`]).

mod algorithm;
mod collective;
mod datatype;
mod nccl;
mod schedule;
mod version;

pub use algorithm::{Algorithm, Path, Protocol};
pub use collective::Collective;
pub use datatype::{DataType, RedOp};
pub use nccl::InNccl;
pub use schedule::{
    BidirForm, Buffer, BuildError, BuildOptions, Dependent, Dependents, Distance, Endpoint, Flaw,
    Flow, Fold, Follow, GatherForm, Grain, GroupId, Handshake, Layout, Memory, Op, PairBytes,
    Partner, Piece, Place, Placement, PortId, Queue, RANKS_MAX, RankId, ReadError, ReadMscclError,
    Route, SCHEMA, Schedule, Script, SecondShot, Slot, Steps, TorusPorts, Transfer, TransferId,
    Trees, Violation, build, offered, offers, read_json, read_json_script, read_msccl,
    read_msccl_script,
};
pub use version::{LibraryVersion, ParseVersionError};
