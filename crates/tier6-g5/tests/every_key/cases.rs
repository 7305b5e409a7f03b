//! The cases: for each key a call in which it matters.

use tier6_collective::Protocol;

use super::Case;
use super::Scene::{self, Beside, Exchange, Granted, Incast, Long, Ring, Spines};

const fn case(
    key: &'static str,
    scene: Scene,
    common: &'static str,
    without: &'static str,
    with: &'static str,
) -> Case {
    Case {
        key,
        scene,
        protocol: Protocol::Simple,
        common,
        without,
        with,
    }
}

const fn of(
    protocol: Protocol,
    key: &'static str,
    without: &'static str,
    with: &'static str,
) -> Case {
    Case {
        protocol,
        ..case(key, Ring, "", without, with)
    }
}

const LOSSY: &str = "[g5.rc_link]\nloss = 0.01";
const TIGHT: &str = "[g5.rc_link.credits]\nunit = \"512 B\"\ncount = 12";
/// Acknowledgements that are in the way.
const ANSWERS: &str = "[g5.rc_link]\nack = \"600 B\"\nack_merge = \"never\"\n[g5.rc_link.channels]";
/// A switch that drops.
const DROPS: &str = "[g5.switch]\nbuffer = \"200 KB\"\npfc = { enabled = false }";
/// A switch that pauses.
const PAUSES: &str = "[g5.switch]\nbuffer = \"2 MB\"\nthreshold = 0.2\n[g5.switch.pfc]";
const MARKS: &str = "[g5.switch.ecn]";
const CONTROL: &str =
    "[g5.switch]\necn = { k_min = \"20 KB\", k_max = \"200 KB\", p_max = 0.2 }\n[g5.dcqcn]";
/// Rates that rise more than once between two cuts.
const QUICK: &str = "[g5.switch]\necn = { k_min = \"20 KB\", k_max = \"200 KB\", p_max = 0.2 }\n\
                     [g5.dcqcn]\ntimer = \"0.6 us\"\nbyte_counter = \"none\"\ncut_interval = \"2 us\"\n\
                     cnp_interval = \"0 us\"";

pub(super) const CASES: &[Case] = &[
    case("enabled", Ring, "", "", "[g5]\nenabled = false"),
    case("cdma.enabled", Ring, "[g5.cdma]", "", "enabled = false"),
    case("cdma.units", Ring, "[g5.cdma]", "", "units = 16"),
    case(
        "cdma.threads",
        Exchange,
        "[g5.cdma]\nunits = 1",
        "",
        "threads = 1",
    ),
    case("cdma.split", Ring, "[g5.cdma]", "", "split = \"all\""),
    case(
        "cdma.credits",
        Granted,
        "[g5.cdma]\nunits = 1",
        "",
        "credits = 1",
    ),
    case("cdma.start", Ring, "[g5.cdma]", "", "start = \"1 us\""),
    case("cdma.sync", Ring, "[g5.cdma]", "", "sync = \"1 us\""),
    case("cdma.rate", Ring, "[g5.cdma]", "", "rate = \"20 GB/s\""),
    case(
        "memory.enabled",
        Ring,
        "[g5.memory]\nreduce = \"100 GB/s\"",
        "",
        "enabled = false",
    ),
    case(
        "memory.reduce",
        Ring,
        "[g5.memory]",
        "",
        "reduce = \"100 GB/s\"",
    ),
    case(
        "memory.copy",
        Exchange,
        "[g5.memory]",
        "",
        "copy = \"1 GB/s\"",
    ),
    case("paxi.enabled", Ring, "[g5.paxi]", "", "enabled = false"),
    case("paxi.latency", Ring, "[g5.paxi]", "", "latency = \"1 us\""),
    case(
        "paxi.segment",
        Ring,
        "[g5.cdma]\nsplit = \"all\"\n[g5.paxi]",
        "",
        "segment = \"4 KiB\"",
    ),
    case("paxi.outstanding", Ring, "[g5.paxi]", "", "outstanding = 4"),
    of(
        Protocol::Ll,
        "ll.sync",
        "[g5.ll]",
        "[g5.ll]\nsync = \"1 us\"",
    ),
    of(Protocol::Ll, "ll.share", "[g5.ll]", "[g5.ll]\nshare = 0.4"),
    of(
        Protocol::Ll128,
        "ll128.sync",
        "[g5.ll128]",
        "[g5.ll128]\nsync = \"1 us\"",
    ),
    of(
        Protocol::Ll128,
        "ll128.share",
        "[g5.ll128]",
        "[g5.ll128]\nshare = 0.8",
    ),
    case(
        "rc_link.enabled",
        Ring,
        "[g5.cdma]\nsplit = \"all\"\n[g5.rc_link]",
        "",
        "enabled = false",
    ),
    case(
        "rc_link.overhead",
        Ring,
        "[g5.cdma]\nsplit = \"all\"\n[g5.rc_link]",
        "",
        "overhead = \"90 B\"",
    ),
    case(
        "rc_link.headers",
        Incast,
        "[g5.switch.ecn]\nk_min = \"10 KB\"\n[g5.rc_link]",
        "",
        "headers = \"compressed\"",
    ),
    case(
        "rc_link.sequence_bits",
        Ring,
        "[g5.rc_link]",
        "",
        "sequence_bits = 2",
    ),
    case("rc_link.window", Ring, "[g5.rc_link]", "", "window = 4"),
    case("rc_link.channels.count", Exchange, ANSWERS, "", "count = 2"),
    case(
        "rc_link.channels.arbiter",
        Exchange,
        ANSWERS,
        "count = 2",
        "count = 2\narbiter = \"strict\"",
    ),
    case(
        "rc_link.channels.requests",
        Exchange,
        ANSWERS,
        "count = 2",
        "count = 2\nrequests = 64",
    ),
    case(
        "rc_link.channels.responses",
        Exchange,
        ANSWERS,
        "count = 2",
        "count = 2\nresponses = 1",
    ),
    case(
        "rc_link.channels.multicasts",
        Beside,
        ANSWERS,
        "count = 3",
        "count = 3\nmulticasts = 1",
    ),
    case(
        "rc_link.recovery",
        Ring,
        LOSSY,
        "",
        "window = 2000\nrecovery = \"selective\"",
    ),
    case(
        "rc_link.reorder",
        Ring,
        "[g5.rc_link]\nloss = 0.01\nrecovery = \"selective\"",
        "",
        "reorder = 50",
    ),
    case(
        "rc_link.credits.enabled",
        Ring,
        TIGHT,
        "",
        "enabled = false",
    ),
    case(
        "rc_link.credits.unit",
        Ring,
        "[g5.rc_link.credits]\ncount = 12",
        "",
        "unit = \"256 B\"",
    ),
    case(
        "rc_link.credits.count",
        Ring,
        "[g5.rc_link.credits]",
        "",
        "count = 12",
    ),
    case(
        "rc_link.credits.period",
        Ring,
        TIGHT,
        "",
        "period = \"5 us\"",
    ),
    case(
        "rc_link.credits.scope",
        Ring,
        TIGHT,
        "",
        "scope = \"end_to_end\"",
    ),
    case(
        "rc_link.ack_merge",
        Ring,
        "[g5.rc_link]\nwindow = 16",
        "",
        "ack_merge = \"never\"",
    ),
    case(
        "rc_link.ack",
        Exchange,
        "[g5.rc_link]\nwindow = 16",
        "",
        "ack = \"400 B\"",
    ),
    case("rc_link.timeout", Ring, LOSSY, "", "timeout = \"300 us\""),
    case(
        "rc_link.retries",
        Ring,
        "[g5.rc_link]\nloss = 0.1",
        "",
        "retries = 0",
    ),
    case("rc_link.loss", Ring, "[g5.rc_link]", "", "loss = 0.01"),
    case("switch.enabled", Incast, DROPS, "", "enabled = false"),
    case(
        "switch.buffer",
        Incast,
        "[g5.switch]",
        "",
        "buffer = \"3 MB\"",
    ),
    case("switch.threshold", Incast, DROPS, "", "threshold = 0.3"),
    case("switch.pfc.enabled", Incast, PAUSES, "", "enabled = false"),
    case(
        "switch.pfc.reserve",
        Incast,
        PAUSES,
        "",
        "reserve = \"30 KB\"",
    ),
    case(
        "switch.pfc.resume",
        Incast,
        PAUSES,
        "",
        "resume = \"20 KB\"",
    ),
    case(
        "switch.pfc.headroom",
        Incast,
        PAUSES,
        "",
        "headroom = \"20 KB\"",
    ),
    case("switch.ecn.enabled", Incast, MARKS, "", "enabled = false"),
    case("switch.ecn.k_min", Incast, MARKS, "", "k_min = \"10 KB\""),
    case("switch.ecn.k_max", Incast, MARKS, "", "k_max = \"250 KB\""),
    case("switch.ecn.p_max", Incast, MARKS, "", "p_max = 0.9"),
    case(
        "paths.choice",
        Spines,
        "[g5.paths]",
        "choice = \"preferred\"",
        "choice = \"spray\"",
    ),
    case(
        "paths.flows",
        Spines,
        "[g5.paths]\nchoice = \"sub_flows\"",
        "flows = 1",
        "flows = 4",
    ),
    case("dcqcn.enabled", Incast, CONTROL, "", "enabled = false"),
    case("dcqcn.preset", Incast, CONTROL, "", "preset = \"simai\""),
    case("dcqcn.g", Incast, CONTROL, "", "g = 0.5"),
    case(
        "dcqcn.alpha_period",
        Incast,
        CONTROL,
        "",
        "alpha_period = \"7 us\"",
    ),
    case(
        "dcqcn.initial_alpha",
        Incast,
        CONTROL,
        "",
        "initial_alpha = 0.1",
    ),
    case(
        "dcqcn.cut_interval",
        Incast,
        CONTROL,
        "",
        "cut_interval = \"30 us\"",
    ),
    case(
        "dcqcn.cnp_interval",
        Incast,
        CONTROL,
        "",
        "cnp_interval = \"20 us\"",
    ),
    case("dcqcn.timer", Incast, CONTROL, "", "timer = \"3 us\""),
    case(
        "dcqcn.byte_counter",
        Incast,
        CONTROL,
        "",
        "byte_counter = \"10 KB\"",
    ),
    case(
        "dcqcn.fast_recovery",
        Long,
        QUICK,
        "additive = \"1 GB/s\"",
        "additive = \"1 GB/s\"\nfast_recovery = 9",
    ),
    case("dcqcn.additive", Long, QUICK, "", "additive = \"1 GB/s\""),
    case(
        "dcqcn.hyper",
        Long,
        QUICK,
        "fast_recovery = 0",
        "fast_recovery = 0\nhyper = \"3 GB/s\"",
    ),
    case(
        "dcqcn.min_rate",
        Incast,
        CONTROL,
        "",
        "min_rate = \"30 GB/s\"",
    ),
    case("dcqcn.budget", Incast, CONTROL, "", "budget = \"4 us\""),
];
