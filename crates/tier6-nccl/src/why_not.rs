//! Why a candidate is not available.

use tier6_collective::Protocol;

/// The reason why NCCL does not weigh a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// There is nobody to talk to.
    #[error("a communicator of one rank needs no algorithm")]
    OneRank,
    /// The algorithm came later.
    #[error("this release does not have the algorithm")]
    NotInRelease,
    /// The algorithm has no such collective.
    #[error("the algorithm does not do this collective")]
    Collective,
    /// The algorithm is written for other protocols.
    #[error("the algorithm does not use this protocol")]
    Protocol,
    /// PAT wants one GPU per node.
    #[error("PAT needs one GPU per node and a network driven by the host")]
    PatOneRankPerNode,
    /// PAT wants newer GPUs.
    #[error("PAT needs compute capability 6.0")]
    PatCompCap,
    /// `NCCL_PAT_ENABLE=0`.
    #[error("NCCL_PAT_ENABLE switches PAT off")]
    PatOff,
    /// The NVLS search found less than two channels.
    #[error("the NVLS graph has fewer than two channels")]
    NvlsChannels,
    /// `NCCL_ALGO` leaves it out.
    #[error("NCCL_ALGO leaves the algorithm out")]
    AlgorithmFiltered,
    /// `NCCL_PROTO` leaves it out.
    #[error("NCCL_PROTO leaves the protocol out")]
    ProtocolFiltered,
    /// NVLSTree joins nodes.
    #[error("NVLSTree needs several nodes")]
    OneNode,
    /// The network cannot reduce.
    #[error("the network offers no CollNet")]
    NoCollNet,
    /// Without CollNet, NVLS stays inside the node.
    #[error("NVLS over several nodes needs CollNet")]
    NvlsNodes,
    /// NVLS reduces among the GPUs of a node.
    #[error("NVLS needs several GPUs in a node")]
    NvlsOneRankPerNode,
    /// CollNetDirect goes through NVSwitch.
    #[error("CollNetDirect needs NVSwitch")]
    NoNvSwitch,
    /// CollNetChain is not supported.
    #[error("the communicator does not support CollNetChain")]
    NoCollNetChain,
    /// LL128 over this path to the NIC may corrupt data.
    #[error("LL128 is not safe over the path to the NIC")]
    Ll128Network,
    /// LL128 over this path between GPUs may corrupt data.
    #[error("LL128 is not safe over the path between GPUs")]
    Ll128Intra,
    /// GPUs of different compute capability.
    #[error("LL128 needs GPUs of one compute capability")]
    Ll128Mixed,
    /// Not a compute capability on NCCL's list.
    #[error("LL128 is not on for this compute capability")]
    Ll128CompCap,
    /// A formula gives no bandwidth.
    #[error("the model gives no bandwidth")]
    NoBandwidth,
    /// CollNet cannot gather for this communicator.
    #[error("the CollNet plug-in cannot do this collective here")]
    CollNetGather,
    /// The call's type or operator is not for the network.
    #[error("CollNet does not do this type and operator")]
    CallCollNet,
    /// The call's type or operator is not for the switch.
    #[error("NVLS does not do this type and operator")]
    CallNvls,
    /// Too many ranks on a node.
    #[error("the algorithm takes at most {0} ranks per node")]
    LocalRanks(i32),
    /// Too many ranks.
    #[error("NVLS takes at most {0} ranks for this collective")]
    Ranks(i32),
    /// NVLS gathers inside one node only.
    #[error("NVLS does this collective on one node only")]
    NvlsGatherNodes,
    /// PAT multiplies on the way.
    #[error("PAT does not scale values on the way (Avg, PreMulSum)")]
    PatOperator,
    /// Ring runs only when nothing else is left.
    #[error("{0} of Ring is kept as a backup only")]
    Backup(Protocol),
}
