//! One call of a collective, as the chooser sees it.

use crate::candidate::NcclCollective;
use crate::communicator::Communicator;
use tier6_collective::{DataType, RedOp};

/// A call that NCCL must choose a candidate for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The collective.
    pub collective: NcclCollective,
    /// Element size times the larger of send and receive count of one rank: for AllGather and
    /// ReduceScatter the message of all ranks together.
    pub bytes: u64,
    /// Operations in one group, per channel.
    pub pipe_ops: u32,
    /// The type of the elements.
    pub datatype: DataType,
    /// The operator.
    pub op: RedOp,
    /// The network can reduce this type with this operator.
    pub collnet: bool,
    /// The switch can reduce this type with this operator, or nothing is reduced.
    pub nvls: bool,
}

impl Call {
    /// Returns a single call on `communicator`; the two support flags follow from the type
    /// and the operator. A CollNet plug-in is taken to reduce every type with every operator.
    pub fn new(
        communicator: &Communicator,
        collective: NcclCollective,
        bytes: u64,
        datatype: DataType,
        op: RedOp,
    ) -> Self {
        let gathers_only = collective == NcclCollective::AllGather;
        Self {
            collective,
            bytes,
            pipe_ops: 1,
            datatype,
            op,
            collnet: communicator.has_collnet,
            nvls: communicator.has_nvls && (gathers_only || is_nvls_capable(datatype, op)),
        }
    }

    /// Returns the same call with `pipe_ops` pipelined operations.
    pub fn with_pipe_ops(mut self, pipe_ops: u32) -> Self {
        self.pipe_ops = pipe_ops;
        self
    }
}

/// Says whether NVLink multicast can reduce values of this type with this operator.
pub(crate) fn is_nvls_capable(datatype: DataType, op: RedOp) -> bool {
    match datatype {
        DataType::Int32
        | DataType::Uint32
        | DataType::Int64
        | DataType::Uint64
        | DataType::Half
        | DataType::Bfloat16 => matches!(op, RedOp::Sum | RedOp::Min | RedOp::Max),
        DataType::Float | DataType::Double => op == RedOp::Sum,
        DataType::Int8 | DataType::Uint8 | DataType::Fp8E4m3 | DataType::Fp8E5m2 => false,
    }
}

/// Says whether the elements are 8-bit floats.
pub(crate) const fn is_fp8(datatype: DataType) -> bool {
    matches!(datatype, DataType::Fp8E4m3 | DataType::Fp8E5m2)
}
