//! What one NCCL release believes: its constants and its rules.
//!
//! A [`Release`] is plain data. `release/table.rs` writes the releases one below the other,
//! each as the difference from the one before, so that every change of the tuning
//! stands in one place. Source: `TUNER_SPEC.md` sections 3 and 14.

mod table;

use crate::communicator::{Communicator, Cpu};
use crate::path_type::{PathNumbers, PathType};
pub use table::RELEASES;
use tier6_collective::{LibraryVersion, ParseVersionError};

/// A value per algorithm and protocol, in NCCL's order.
pub(crate) type PerCandidate<T> = [[T; 3]; 7];

/// A value per compute capability (Volta, Ampere, Hopper, Blackwell) and number of nodes
/// (one, two, more).
pub(crate) type PerScale = [[f64; 3]; 4];

/// How a release was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Equal to tables that NCCL's own code printed, row by row.
    Oracle,
    /// Written from the description of what changed; no table of this release was at hand.
    Description,
}

/// Constants and rules of one NCCL release.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one documented difference between releases"
)]
pub struct Release {
    pub(crate) version: LibraryVersion,
    pub(crate) evidence: Evidence,

    // Constants.
    /// Base latency, us.
    pub(crate) base_latency_us: PerCandidate<f64>,
    /// Latency of one step over NVLink, PCI and the network, us.
    pub(crate) hw_latency_us: [PerCandidate<f64>; 3],
    /// Cap of LL bandwidth by compute capability or CPU vendor, GB/s.
    pub(crate) ll_max_gbs: PerScale,
    /// Caps per channel, GB/s.
    pub(crate) ring_ll128_cap_gbs: PerScale,
    pub(crate) tree_ll128_cap_gbs: PerScale,
    pub(crate) tree_cap_gbs: PerScale,
    /// Elements of work in one batch: pipelined operations beyond it cost latency again.
    pub(crate) work_elements: u32,
    /// Channels that a communicator can have at most.
    pub(crate) channels_max: i32,
    /// Where the search for the least time starts, us.
    pub(crate) start_time_us: f32,

    // Communicator.
    pub(crate) path_numbers: PathNumbers,
    /// The CPU that decides about caps and steps: the first one, or that of all ranks together.
    pub(crate) cpu: CpuSource,
    /// The CPU that decides about the network's overhead. The oracle shows it to be that of all
    /// ranks from 2.22 on, earlier than the specification says.
    pub(crate) net_overhead_cpu: CpuSource,
    /// A multi-node NVLink domain counts as one node.
    pub(crate) mnnvl_is_one_node: bool,

    // Bandwidth.
    pub(crate) ring_ll: RingLl,
    /// Efficiency of Ring/LL128 with less than two ranks per node.
    pub(crate) ring_ll128_sparse: f64,
    pub(crate) tree_pattern: PatternSource,
    pub(crate) collnet_gather: CollNetGather,
    pub(crate) nvls: NvlsModel,
    pub(crate) gather_ratio: GatherRatio,
    pub(crate) pat: Option<PatRules>,

    // Latency.
    /// Rings over n nodes take 2(n-1) instead of 2n network steps, and communicators with one
    /// rank per node use the tree's network latency for every algorithm.
    pub(crate) counts_network_hops: bool,

    // Availability.
    pub(crate) filter: FilterSyntax,
    pub(crate) ring_backup: Option<RingBackup>,
    pub(crate) ll128: Ll128Rules,
    pub(crate) collnet_chain_needs_support: bool,
    pub(crate) collnet_direct_local_ranks_max: Option<i32>,
    pub(crate) collnet_chain_local_ranks_max: Option<i32>,
    pub(crate) nvls_gather: NvlsGather,

    // Cost.
    /// Messages below 64 B get the tree correction of 64 B.
    pub(crate) corrects_smallest: bool,
    /// NVLSTree is corrected like Tree on Blackwell with x86.
    pub(crate) corrects_nvls_tree: bool,
    /// Reductions of 8-bit floats on rings of more than eight ranks are made expensive.
    pub(crate) penalizes_fp8: bool,

    // Launch.
    pub(crate) tree_threads_640: bool,
    pub(crate) nvls_channels_limited: bool,
    pub(crate) schedule: ScheduleRules,
}

/// Whose CPU the model asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CpuSource {
    FirstOfTopology,
    Communicator,
}

impl CpuSource {
    pub(crate) fn of(self, communicator: &Communicator) -> Cpu {
        match self {
            Self::FirstOfTopology => communicator.local_cpu,
            Self::Communicator => communicator.cpu,
        }
    }
}

/// Share of the ring's bandwidth that LL reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RingLl {
    /// 1/4 on several nodes and for reductions to all, else 1/3.
    QuarterOrThird,
    Half,
}

/// Whose pattern decides whether a tree is a plain tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternSource {
    Graph,
    Communicator,
}

/// AllGather and ReduceScatter through CollNetDirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CollNetGather {
    None,
    /// Bandwidth by ranks per node, if the heads suffice.
    ByHeads,
    /// Bandwidth of the slower of NVLink and 0.9 of the network.
    ByNetwork,
}

/// The bandwidth of NVLS and NVLSTree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NvlsModel {
    /// The slower of the two kinds of links; 5/6 of it.
    SlowerLink,
    /// The same, with a formula of its own for AllGather and ReduceScatter.
    SlowerLinkAndGather,
    /// An efficiency per compute capability, at least two channels, and a cap for NVLSTree.
    Efficiency {
        efficiency: [f64; 4],
        nvls_tree_cap_gbs: PerScale,
    },
}

impl NvlsModel {
    /// Says whether AllGather and ReduceScatter may go over several nodes, through CollNet.
    pub(crate) const fn gathers_over_nodes(self) -> bool {
        matches!(self, Self::SlowerLinkAndGather | Self::Efficiency { .. })
    }
}

/// Which algorithms turn bus into algorithm bandwidth for AllGather and ReduceScatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GatherRatio {
    All,
    AllButCollNetDirect,
    RingOnly,
}

/// PAT, from 2.23 on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PatRules {
    pub(crate) bandwidth_factor: f64,
    pub(crate) comp_cap_min: i32,
    /// The base latency is part of the table rather than of the formula.
    pub(crate) base_in_table: bool,
}

/// The syntax of `NCCL_ALGO` and `NCCL_PROTO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterSyntax {
    /// One list for all collectives; unknown names are ignored.
    List,
    /// A list per collective; unknown names are refused.
    PerCollective,
}

/// Ring runs where the filters left nothing, up to 2.23.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RingBackup {
    AllProtocols,
    /// A disabled protocol is no backup either.
    EnabledProtocols,
}

/// When LL128 is safe enough to be on by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ll128Rules {
    pub(crate) network: Ll128Network,
    pub(crate) comp_caps: CompCaps,
    /// Mixed GPUs are fine from this compute capability on.
    pub(crate) mixed_from: Option<i32>,
}

/// The farthest network path that LL128 may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ll128Network {
    /// PXB; PXN from Hopper on.
    Pxn,
    /// PXB; from Hopper on P2C with `NCCL_LL128_C2C`, else PXN.
    P2cOrPxn,
    /// PXB; PXN from Hopper on with `NCCL_LL128_C2C`.
    PxnIfC2c,
}

/// A set of compute capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompCaps {
    Listed(&'static [i32]),
    From(i32),
}

impl CompCaps {
    pub(crate) fn contains(self, comp_cap: i32) -> bool {
        match self {
            Self::Listed(list) => list.contains(&comp_cap),
            Self::From(least) => comp_cap >= least,
        }
    }
}

/// Where NVLS can run AllGather and ReduceScatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NvlsGather {
    /// AllGather needs no NVLS-capable data type.
    pub(crate) all_gather_escapes: NvlsEscape,
    /// Ranks of the whole communicator.
    pub(crate) ranks_max: Option<i32>,
    /// Ranks of this node; with it several nodes are allowed.
    pub(crate) local_ranks_max: Option<i32>,
}

/// Which algorithms skip the test for an NVLS-capable type in AllGather.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NvlsEscape {
    None,
    Nvls,
    NvlsAndTree,
}

/// How traffic is cut into channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScheduleRules {
    /// Least traffic of a channel, bytes.
    pub(crate) traffic_min: u64,
    pub(crate) cells: CellRule,
    /// The budget of a channel is rounded to 16 bytes and has no lower limit.
    pub(crate) exact_budget: bool,
    /// LL counts four times in the traffic.
    pub(crate) ll_traffic: u64,
}

/// The grain of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellRule {
    /// 16 bytes; the first share is rounded down.
    SixteenBytes,
    /// As many bytes as the least traffic of a channel; rounded up.
    TrafficMin,
}

impl Release {
    /// Returns the version whose constants these are.
    pub fn version(&self) -> LibraryVersion {
        self.version
    }

    /// Returns how this release was checked.
    pub fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// Returns the release to use for `version`: itself, or the nearest older one.
    ///
    /// # Errors
    ///
    /// Fails for a version older than the oldest release known.
    ///
    /// ```
    /// use tier6_nccl::{LibraryVersion, Release};
    /// let found = Release::for_version(LibraryVersion::new(2, 22, 4)).unwrap();
    /// assert_eq!(found.release.version(), LibraryVersion::new(2, 22, 3));
    /// assert!(found.substitute_note().unwrap().contains("2.22.4"));
    /// ```
    pub fn for_version(version: LibraryVersion) -> Result<FoundRelease, UnknownVersionError> {
        RELEASES
            .iter()
            .rev()
            .find(|release| release.version <= version)
            .map(|release| FoundRelease {
                release,
                asked: version,
            })
            .ok_or(UnknownVersionError {
                version,
                oldest: RELEASES[0].version,
            })
    }

    /// Reads a version as a user types it: one of two parts, `2.22`, is the newest release known
    /// of that series, and its first one where none is known.
    ///
    /// # Errors
    ///
    /// Fails on text that is neither.
    ///
    /// ```
    /// use tier6_nccl::{LibraryVersion, Release};
    /// assert_eq!(Release::read_version("2.22"), Ok(LibraryVersion::new(2, 22, 3)));
    /// assert_eq!(Release::read_version("2.31"), Ok(LibraryVersion::new(2, 31, 0)));
    /// assert_eq!(Release::read_version("2.22.4"), Ok(LibraryVersion::new(2, 22, 4)));
    /// assert!(Release::read_version("2").is_err());
    /// ```
    pub fn read_version(text: &str) -> Result<LibraryVersion, ParseVersionError> {
        let whole: Result<LibraryVersion, _> = text.parse();
        whole.or_else(|error| {
            let is_series = text.trim().ends_with(|c: char| c.is_ascii_digit());
            let first = format!("{}.0", text.trim()).parse::<LibraryVersion>();
            let first = first.ok().filter(|_| is_series).ok_or(error)?;
            let of_series = |version: &LibraryVersion| {
                (version.major, version.minor) == (first.major, first.minor)
            };
            let mut known = RELEASES.iter().rev().map(|release| release.version);
            Ok(known.find(of_series).unwrap_or(first))
        })
    }

    /// Returns the newest release known.
    pub fn newest() -> &'static Self {
        &RELEASES[RELEASES.len() - 1]
    }

    /// Says whether the release has this algorithm at all.
    pub(crate) fn has_pat(&self) -> bool {
        self.pat.is_some()
    }

    /// Says whether `path` is at most as far as `limit` in this release.
    pub(crate) fn is_within(&self, path: PathType, limit: PathType) -> bool {
        self.path_numbers.is_within(path, limit)
    }
}

/// The release that stands for a version.
#[derive(Debug, Clone, Copy)]
pub struct FoundRelease {
    /// The release.
    pub release: &'static Release,
    /// The version that was asked for.
    pub asked: LibraryVersion,
}

impl FoundRelease {
    /// Returns a sentence when the release is not the version that was asked for.
    pub fn substitute_note(&self) -> Option<String> {
        let used = self.release.version;
        (used != self.asked).then(|| {
            format!(
                "NCCL {} is not known; the nearest older release {used} is used",
                self.asked
            )
        })
    }
}

/// The version is older than every release known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("NCCL {version} is older than {oldest}, the oldest release known")]
pub struct UnknownVersionError {
    /// The version that was asked for.
    pub version: LibraryVersion,
    /// The oldest release known.
    pub oldest: LibraryVersion,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_takes_the_nearest_older_release() {
        let found = |text: &str| {
            let version: LibraryVersion = text.parse().unwrap();
            Release::for_version(version).map(|found| found.release.version.to_string())
        };
        assert_eq!(found("2.22.3").unwrap(), "2.22.3");
        assert_eq!(found("2.27.5").unwrap(), "2.27.3");
        assert_eq!(found("3.0.0").unwrap(), "2.30.7");
        let error = found("2.18.1").unwrap_err();
        assert_eq!(
            error.to_string(),
            "NCCL 2.18.1 is older than 2.19.3, the oldest release known"
        );
    }

    #[test]
    fn releases_are_in_order_and_thirteen_have_an_oracle() {
        assert!(RELEASES.is_sorted_by(|a, b| a.version < b.version));
        let checked = RELEASES
            .iter()
            .filter(|release| release.evidence == Evidence::Oracle);
        assert_eq!(checked.count(), 13);
    }
}
