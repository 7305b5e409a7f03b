//! The releases, oldest first, each as the difference from the one before.
//!
//! Times in microseconds, bandwidths in decimal GB/s. Source: `TUNER_SPEC.md` section 3 for
//! the numbers, section 14 for the changes.

use super::{
    CellRule, CollNetGather, CompCaps, CpuSource, Evidence, FilterSyntax, GatherRatio,
    Ll128Network, Ll128Rules, NvlsEscape, NvlsGather, NvlsModel, PatRules, PatternSource,
    PerCandidate, PerScale, Release, RingBackup, RingLl, ScheduleRules,
};
use crate::path_type::PathNumbers;
use tier6_collective::LibraryVersion;

/// Every release known, oldest first.
pub static RELEASES: [Release; 16] = [
    V2_19_3, V2_20_5, V2_21_5, V2_22_3, V2_23_4, V2_24_3, V2_25_1, V2_26_6, V2_27_3, V2_27_7,
    V2_28_3, V2_28_7, V2_28_9, V2_29_2, V2_29_7, V2_30_7,
];

const NONE: [f64; 3] = [0.0; 3];

// Rows: Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT.
const BASE: PerCandidate<f64> = [
    [6.8, 14.0, 0.0],
    [6.6, 14.0, 8.4],
    NONE,
    NONE,
    NONE,
    NONE,
    NONE,
];

const NVLINK: PerCandidate<f64> = [
    [0.6, 1.25, 28.0],
    [0.6, 1.9, 3.4],
    [0.0, 0.0, 3.7],
    [0.0, 0.0, 2.8],
    [0.0, 0.0, 23.0],
    [0.0, 0.0, 23.0],
    NONE,
];

const PCI: PerCandidate<f64> = [
    [1.0, 1.9, 28.0],
    [1.0, 2.5, 5.7],
    [0.0, 0.0, 3.7],
    [0.0, 0.0, 2.8],
    NONE,
    NONE,
    NONE,
];

const NETWORK: PerCandidate<f64> = [
    [5.0, 8.5, 28.0],
    [2.7, 4.0, 14.0],
    [0.0, 0.0, 31.0],
    [0.0, 0.0, 30.0],
    [0.0, 0.0, 18.0],
    [0.0, 0.0, 14.0],
    NONE,
];

// Rows: Volta (or Intel), Ampere (or AMD), Hopper, Blackwell. Columns: one node, two, more.
// Releases that do not know Blackwell treat it as Hopper.
const LL_MAX: PerScale = [
    [39.0, 39.0, 20.4],
    [87.7, 22.5, 19.0],
    [87.7, 22.5, 19.0],
    [87.7, 22.5, 19.0],
];

const RING_LL128_CAP: PerScale = [
    [20.0, 20.0, 20.0],
    [20.0, 20.0, 20.0],
    [36.7, 36.7, 36.7],
    [36.7, 36.7, 36.7],
];

const TREE_LL128_CAP: PerScale = [
    [20.0, 20.0, 20.0],
    [20.0, 20.0, 20.0],
    [36.7, 36.7, 29.0],
    [36.7, 36.7, 29.0],
];

const TREE_CAP: PerScale = [
    [26.5, 18.5, 10.0],
    [24.0, 23.6, 17.8],
    [38.7, 41.4, 36.0],
    [38.7, 41.4, 36.0],
];

const NVLS_TREE_CAP: PerScale = [
    [26.5, 18.5, 10.0],
    [24.0, 23.6, 17.8],
    [0.0, 57.7, 45.5],
    [0.0, 96.0, 43.1],
];

const fn with_row(mut table: PerScale, row: usize, values: [f64; 3]) -> PerScale {
    table[row] = values;
    table
}

const fn with_cell(
    mut table: PerCandidate<f64>,
    algorithm: usize,
    protocol: usize,
    value: f64,
) -> PerCandidate<f64> {
    table[algorithm][protocol] = value;
    table
}

const TREE: usize = 0;
const NVLS: usize = 4;
const NVLS_TREE: usize = 5;
const PAT: usize = 6;
const SIMPLE: usize = 2;
const HOPPER: usize = 2;
const BLACKWELL: usize = 3;

const V2_19_3: Release = Release {
    version: LibraryVersion::new(2, 19, 3),
    evidence: Evidence::Oracle,
    base_latency_us: BASE,
    hw_latency_us: [NVLINK, PCI, NETWORK],
    ll_max_gbs: LL_MAX,
    ring_ll128_cap_gbs: RING_LL128_CAP,
    tree_ll128_cap_gbs: TREE_LL128_CAP,
    tree_cap_gbs: TREE_CAP,
    work_elements: 9,
    channels_max: 32,
    start_time_us: 3.6e9,
    path_numbers: PathNumbers::UP_TO_2_25,
    cpu: CpuSource::FirstOfTopology,
    net_overhead_cpu: CpuSource::FirstOfTopology,
    mnnvl_is_one_node: false,
    ring_ll: RingLl::QuarterOrThird,
    ring_ll128_sparse: 0.7,
    tree_pattern: PatternSource::Graph,
    collnet_gather: CollNetGather::None,
    nvls: NvlsModel::SlowerLink,
    gather_ratio: GatherRatio::All,
    pat: None,
    counts_network_hops: false,
    filter: FilterSyntax::List,
    ring_backup: Some(RingBackup::AllProtocols),
    ll128: Ll128Rules {
        network: Ll128Network::Pxn,
        comp_caps: CompCaps::Listed(&[70, 80, 90]),
        mixed_from: None,
    },
    collnet_chain_needs_support: false,
    collnet_direct_local_ranks_max: None,
    collnet_chain_local_ranks_max: None,
    nvls_gather: NvlsGather {
        all_gather_escapes: NvlsEscape::Nvls,
        ranks_max: None,
        local_ranks_max: None,
    },
    corrects_smallest: true,
    corrects_nvls_tree: false,
    penalizes_fp8: false,
    tree_threads_640: false,
    nvls_channels_limited: false,
    schedule: ScheduleRules {
        traffic_min: 512,
        cells: CellRule::SixteenBytes,
        exact_budget: false,
        ll_traffic: 1,
    },
};

const V2_20_5: Release = Release {
    version: LibraryVersion::new(2, 20, 5),
    mnnvl_is_one_node: true,
    collnet_gather: CollNetGather::ByHeads,
    gather_ratio: GatherRatio::AllButCollNetDirect,
    nvls_gather: NvlsGather {
        all_gather_escapes: NvlsEscape::None,
        ..V2_19_3.nvls_gather
    },
    ..V2_19_3
};

const V2_21_5: Release = Release {
    version: LibraryVersion::new(2, 21, 5),
    hw_latency_us: [
        with_cell(
            with_cell(NVLINK, NVLS, SIMPLE, 25.0),
            NVLS_TREE,
            SIMPLE,
            25.0,
        ),
        PCI,
        NETWORK,
    ],
    ll_max_gbs: with_row(
        with_row(LL_MAX, HOPPER, [141.0, 45.0, 35.0]),
        BLACKWELL,
        [141.0, 45.0, 35.0],
    ),
    mnnvl_is_one_node: false,
    ring_ll: RingLl::Half,
    ..V2_20_5
};

const V2_22_3: Release = Release {
    version: LibraryVersion::new(2, 22, 3),
    work_elements: 16,
    net_overhead_cpu: CpuSource::Communicator,
    ring_backup: Some(RingBackup::EnabledProtocols),
    nvls_gather: NvlsGather {
        all_gather_escapes: NvlsEscape::NvlsAndTree,
        ..V2_21_5.nvls_gather
    },
    corrects_smallest: false,
    tree_threads_640: true,
    ..V2_21_5
};

const V2_23_4: Release = Release {
    version: LibraryVersion::new(2, 23, 4),
    base_latency_us: with_cell(BASE, TREE, SIMPLE, 8.4),
    hw_latency_us: [
        with_cell(V2_22_3.hw_latency_us[0], TREE, SIMPLE, 4.0),
        with_cell(PCI, TREE, SIMPLE, 4.0),
        with_cell(NETWORK, TREE, SIMPLE, 14.0),
    ],
    work_elements: 10,
    ring_ll128_sparse: 0.92,
    gather_ratio: GatherRatio::RingOnly,
    pat: Some(PatRules {
        bandwidth_factor: 0.85,
        comp_cap_min: 0,
        base_in_table: false,
    }),
    counts_network_hops: true,
    collnet_direct_local_ranks_max: Some(8),
    schedule: ScheduleRules {
        traffic_min: 16 << 10,
        cells: CellRule::TrafficMin,
        ..V2_22_3.schedule
    },
    ..V2_22_3
};

const V2_24_3: Release = Release {
    version: LibraryVersion::new(2, 24, 3),
    cpu: CpuSource::Communicator,
    pat: Some(PatRules {
        bandwidth_factor: 0.75,
        comp_cap_min: 0,
        base_in_table: false,
    }),
    filter: FilterSyntax::PerCollective,
    ring_backup: None,
    penalizes_fp8: true,
    ..V2_23_4
};

const V2_25_1: Release = Release {
    version: LibraryVersion::new(2, 25, 1),
    ll_max_gbs: with_row(V2_24_3.ll_max_gbs, BLACKWELL, [282.0, 90.0, 70.0]),
    ring_ll128_cap_gbs: with_row(RING_LL128_CAP, BLACKWELL, [73.4; 3]),
    tree_ll128_cap_gbs: with_row(TREE_LL128_CAP, BLACKWELL, [73.4, 73.4, 58.0]),
    tree_cap_gbs: with_row(TREE_CAP, BLACKWELL, [77.4, 82.8, 72.0]),
    channels_max: 64,
    ll128: Ll128Rules {
        comp_caps: CompCaps::Listed(&[70, 80, 90, 100, 120]),
        ..V2_24_3.ll128
    },
    nvls_gather: NvlsGather {
        ranks_max: Some(32),
        ..V2_24_3.nvls_gather
    },
    ..V2_24_3
};

const V2_26_6: Release = Release {
    version: LibraryVersion::new(2, 26, 6),
    path_numbers: PathNumbers::OF_2_26,
    tree_pattern: PatternSource::Communicator,
    pat: Some(PatRules {
        bandwidth_factor: 0.75,
        comp_cap_min: 60,
        base_in_table: false,
    }),
    schedule: ScheduleRules {
        ll_traffic: 4,
        ..V2_25_1.schedule
    },
    ..V2_25_1
};

const V2_27_3: Release = Release {
    version: LibraryVersion::new(2, 27, 3),
    path_numbers: PathNumbers::OF_2_27_3,
    collnet_gather: CollNetGather::ByNetwork,
    nvls: NvlsModel::SlowerLinkAndGather,
    ll128: Ll128Rules {
        network: Ll128Network::P2cOrPxn,
        comp_caps: CompCaps::From(70),
        mixed_from: None,
    },
    nvls_gather: NvlsGather {
        all_gather_escapes: NvlsEscape::None,
        ranks_max: None,
        local_ranks_max: Some(32),
    },
    ..V2_26_6
};

const V2_27_7: Release = Release {
    version: LibraryVersion::new(2, 27, 7),
    path_numbers: PathNumbers::FROM_2_27_7,
    ll128: Ll128Rules {
        network: Ll128Network::PxnIfC2c,
        ..V2_27_3.ll128
    },
    ..V2_27_3
};

const V2_28_3: Release = Release {
    version: LibraryVersion::new(2, 28, 3),
    evidence: Evidence::Description,
    base_latency_us: {
        let mut base = V2_27_7.base_latency_us;
        base[PAT] = [8.0; 3];
        base
    },
    hw_latency_us: [
        with_cell(V2_27_7.hw_latency_us[0], PAT, SIMPLE, 4.0),
        with_cell(V2_27_7.hw_latency_us[1], PAT, SIMPLE, 4.0),
        with_cell(V2_27_7.hw_latency_us[2], PAT, SIMPLE, 14.0),
    ],
    tree_ll128_cap_gbs: with_row(TREE_LL128_CAP, BLACKWELL, [55.6, 31.67, 20.0]),
    tree_cap_gbs: with_row(TREE_CAP, BLACKWELL, [70.0, 42.8, 24.0]),
    nvls: NvlsModel::Efficiency {
        efficiency: [0.0, 0.0, 0.85, 0.74],
        nvls_tree_cap_gbs: NVLS_TREE_CAP,
    },
    pat: Some(PatRules {
        bandwidth_factor: 0.75,
        comp_cap_min: 60,
        base_in_table: true,
    }),
    collnet_chain_local_ranks_max: Some(8),
    nvls_channels_limited: true,
    ..V2_27_7
};

const V2_28_7: Release = Release {
    version: LibraryVersion::new(2, 28, 7),
    ring_ll128_cap_gbs: with_row(RING_LL128_CAP, BLACKWELL, [73.4, 34.6, 73.4]),
    ..V2_28_3
};

const V2_28_9: Release = Release {
    version: LibraryVersion::new(2, 28, 9),
    evidence: Evidence::Oracle,
    hw_latency_us: [
        V2_28_7.hw_latency_us[0],
        V2_28_7.hw_latency_us[1],
        with_cell(V2_28_7.hw_latency_us[2], NVLS_TREE, SIMPLE, 20.9),
    ],
    nvls: NvlsModel::Efficiency {
        efficiency: [0.0, 0.0, 0.85, 0.74],
        nvls_tree_cap_gbs: with_row(NVLS_TREE_CAP, BLACKWELL, [0.0, 96.0, 43.8]),
    },
    ..V2_28_7
};

const V2_29_2: Release = Release {
    version: LibraryVersion::new(2, 29, 2),
    evidence: Evidence::Description,
    ring_ll128_cap_gbs: with_row(RING_LL128_CAP, BLACKWELL, [34.5, 34.6, 34.5]),
    start_time_us: f32::MAX,
    corrects_nvls_tree: true,
    schedule: ScheduleRules {
        traffic_min: 32 << 10,
        exact_budget: true,
        ..V2_28_9.schedule
    },
    ..V2_28_9
};

const V2_29_7: Release = Release {
    version: LibraryVersion::new(2, 29, 7),
    evidence: Evidence::Oracle,
    ring_ll128_cap_gbs: with_row(RING_LL128_CAP, BLACKWELL, [40.0; 3]),
    ..V2_29_2
};

const V2_30_7: Release = Release {
    version: LibraryVersion::new(2, 30, 7),
    work_elements: 8,
    nvls: NvlsModel::Efficiency {
        efficiency: [0.0, 0.0, 0.85, 0.74],
        nvls_tree_cap_gbs: with_row(NVLS_TREE_CAP, BLACKWELL, [0.0, 96.0, 80.0]),
    },
    ll128: Ll128Rules {
        mixed_from: Some(90),
        ..V2_29_7.ll128
    },
    collnet_chain_needs_support: true,
    ..V2_29_7
};
