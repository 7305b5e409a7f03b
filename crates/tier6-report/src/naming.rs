//! Names as people write them: `AllReduce`, `Ring+LL128`. JSON and CSV keep the contract's names.

use crate::report::RunReport;
use tier6_collective::{Algorithm, Collective, Path, Protocol};
use tier6_fit::{FitLabel, Verdict};
use tier6_measure::{Correctness, Placement, Ranks};
use tier6_units::Bytes;

pub(crate) const fn collective(collective: Option<Collective>) -> &'static str {
    match collective {
        Some(Collective::AllReduce) => "AllReduce",
        Some(Collective::AllGather) => "AllGather",
        Some(Collective::ReduceScatter) => "ReduceScatter",
        Some(Collective::AllToAll) => "AllToAll",
        Some(Collective::AllToAllV) => "AllToAllV",
        Some(Collective::Broadcast) => "Broadcast",
        Some(Collective::Reduce) => "Reduce",
        Some(Collective::SendRecv) => "SendRecv",
        Some(Collective::Gather) => "Gather",
        Some(Collective::Scatter) => "Scatter",
        Some(Collective::HyperCube) => "HyperCube",
        None => "unknown collective",
    }
}

const fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Ring => "Ring",
        Algorithm::BidirRing => "BidirRing",
        Algorithm::Tree => "Tree",
        Algorithm::HalvingDoubling => "HalvingDoubling",
        Algorithm::RecursiveDoubling => "RecursiveDoubling",
        Algorithm::SendRecvRing => "SendRecvRing",
        Algorithm::Pairwise => "Pairwise",
        Algorithm::Bruck => "Bruck",
        Algorithm::Direct => "Direct",
        Algorithm::OneShot => "OneShot",
        Algorithm::TwoShot => "TwoShot",
        Algorithm::Hierarchical => "Hierarchical",
        Algorithm::Nvls => "NVLS",
        Algorithm::NvlsTree => "NVLSTree",
        Algorithm::CollNetDirect => "CollNetDirect",
        Algorithm::CollNetChain => "CollNetChain",
        Algorithm::Pat => "PAT",
        Algorithm::Binomial => "Binomial",
        Algorithm::ScatterAllGather => "ScatterAllGather",
        Algorithm::TorusBucket => "TorusBucket",
        Algorithm::Swing => "Swing",
    }
}

const fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Ll => "LL",
        Protocol::Ll128 => "LL128",
        Protocol::Simple => "Simple",
    }
}

pub(crate) fn path(path: Path) -> String {
    format!("{}+{}", algorithm(path.algorithm), protocol(path.protocol))
}

pub(crate) fn label(label: &FitLabel) -> String {
    match label {
        FitLabel::Global => "one line".to_owned(),
        FitLabel::Path(ran, 1) => path(*ran),
        FitLabel::Path(ran, nth) => format!("{}#{nth}", path(*ran)),
        FitLabel::Detected(nth) => format!("segment {nth}"),
        FitLabel::Range(first, last) => format!("{first}..{last}"),
    }
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Validated => "validated",
        Verdict::DescribesOnly => "describes only",
        Verdict::Refused => "refused",
    }
}

pub(crate) const fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::OutOfPlace => "out of place",
        Placement::InPlace => "in place",
    }
}

pub(crate) fn ranks(ranks: Ranks) -> String {
    match ranks {
        Ranks::Stated(n) => crate::number::count(n as usize, "rank"),
        Ranks::Estimated { low, high } if low == high => format!("{low} ranks (inferred)"),
        Ranks::Estimated { low, high } => format!("{low} to {high} ranks (inferred)"),
        Ranks::Unknown => "unknown number of ranks".to_owned(),
    }
}

pub(crate) const fn correctness(run: &RunReport) -> &'static str {
    match run.correctness {
        Correctness::Passed => "all values correct",
        Correctness::Failed => "WRONG DATA",
        Correctness::NotChecked => "correctness not checked",
        Correctness::NotStated => "correctness not stated",
    }
}

/// Returns `1 B to 2 KiB`, or one size when both ends are the same.
pub(crate) fn size_span(first: Bytes, last: Bytes) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first} to {last}")
    }
}
