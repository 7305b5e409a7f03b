//! What a column means, from the words of its header.
//!
//! Headers name a quantity, a placement and a unit in any order and spelling: `oop_time_us`,
//! `Avg Latency(us)`, `busBw`, `algbw GB/s`. The unit words are taken out first, then the
//! placement, and what remains is looked up.

use crate::Placement;

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Column {
    /// Message size; the unit that its cells leave out.
    Size(Option<&'static str>),
    Count,
    Datatype,
    RedOp,
    Root,
    Collective,
    Ranks,
    GpusPerRank,
    Nodes,
    /// 1 or `true` for an in-place row.
    InPlace,
    /// Times, with the factor to us; `None` when the header names no unit.
    Time(Option<Placement>, Option<f64>),
    Algbw(Option<Placement>, Rate),
    Busbw(Option<Placement>, Rate),
    /// A bandwidth that does not say which one.
    Bandwidth(Rate),
    Wrong(Option<Placement>),
    Median(Option<f64>),
    P95(Option<f64>),
    /// Coefficient of variation.
    Cv(CvUnit),
    Algorithm,
    Protocol,
    /// Algorithm and protocol in one cell: `Ring+LL`.
    Selection,
    Tuner(Option<f64>),
    /// A setting that makes rows of one size incomparable: channels, pipelined operations.
    Setting,
    Command,
    /// Known, and no measurement: a simulator's or a model's result.
    Prediction,
    /// Known, and not used.
    LeftOut,
}

/// The unit of a bandwidth column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rate {
    /// A factor to GB/s.
    Known(f64),
    /// `gbps` in small letters: gigabytes to some, gigabits to others.
    Ambiguous,
}

/// How a coefficient of variation is written where its cells have no percent sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CvUnit {
    Percent,
    Fraction,
}

impl Column {
    /// Says whether a row can be a measurement by this column.
    pub(crate) fn is_value(self) -> bool {
        matches!(
            self,
            Self::Time(..)
                | Self::Algbw(..)
                | Self::Busbw(..)
                | Self::Bandwidth(_)
                | Self::Median(_)
        )
    }
}

/// Finds the meaning of a header; `None` when its words are not known.
pub(crate) fn recognise(header: &str) -> Option<Column> {
    let rate = rate_unit(header);
    let lower = header.to_lowercase().replace('μ', "µ");
    let percent = lower.contains('%') || lower.contains("pct") || lower.contains("percent");
    let mut words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let time_scale = take_time_unit(&mut words);
    let placement = take_placement(&mut words);
    words.retain(|word| !RATE_WORDS.contains(word));
    let size_unit = take_size_unit(&mut words);
    let name = words.concat();
    if name.is_empty() {
        // `in_place` alone is a column of yes and no; `us` alone is a time.
        return match (placement, time_scale) {
            (Some(Placement::InPlace), None) => Some(Column::InPlace),
            (placement, Some(_)) => Some(Column::Time(placement, time_scale)),
            _ => None,
        };
    }
    measured(&name, placement, time_scale, rate)
        .or_else(|| statistic(&name, time_scale, percent))
        .or_else(|| described(&name, size_unit))
}

fn measured(
    name: &str,
    placement: Option<Placement>,
    scale: Option<f64>,
    rate: Rate,
) -> Option<Column> {
    match name {
        "time" | "t" | "elapsed" | "duration" | "runtime" | "cputime" | "avgtime" | "timeavg"
        | "meantime" | "timemean" | "averagetime" | "latency" | "lat" | "avglatency" | "latavg"
        | "avglat" | "latencyavg" | "meanlatency" | "averagelatency" | "avg" | "mean"
        | "measured" | "measuredtime" | "实测" => Some(Column::Time(placement, scale)),
        "algbw" | "algobw" | "algbandwidth" | "algorithmbw" | "algorithmbandwidth"
        | "algobandwidth" => Some(Column::Algbw(placement, rate)),
        "busbw" | "busbandwidth" => Some(Column::Busbw(placement, rate)),
        "bandwidth" | "bw" | "throughput" | "avgbw" | "avgbandwidth" => {
            Some(Column::Bandwidth(rate))
        }
        "wrong" | "nwrong" | "error" | "errors" => Some(Column::Wrong(placement)),
        _ => None,
    }
}

fn statistic(name: &str, scale: Option<f64>, percent: bool) -> Option<Column> {
    match name {
        "median" | "mediantime" | "timemedian" | "medianlatency" | "p50" | "p50latency"
        | "timep50" | "latencyp50" => Some(Column::Median(scale)),
        "p95" | "p95time" | "timep95" | "p95latency" | "latencyp95" => Some(Column::P95(scale)),
        "cv" | "icv" | "cvpct" | "cvpercent" if percent => Some(Column::Cv(CvUnit::Percent)),
        "cv" => Some(Column::Cv(CvUnit::Fraction)),
        "tuner" | "tunertime" | "tunerpredicted" => Some(Column::Tuner(scale)),
        "min" | "max" | "mintime" | "maxtime" | "timemin" | "timemax" | "minlatency"
        | "maxlatency" | "p99" | "p99latency" | "std" | "stdev" | "stddev" | "imin" | "imax"
        | "ip99" | "tunererror" | "tunererrorpct" | "wire" | "library" | "libraryversion"
        | "samples" | "stable" | "segment" | "excluded" | "busbwfactor" | "numcycle" | "cycle"
        | "iteration" | "iterations" | "iters" | "rep" | "repetition" | "run" | "rankspernode"
        | "gpuspernode" | "costmetric" | "timestamp" | "points" => Some(Column::LeftOut),
        _ if ["g5", "math", "sim", "predict", "model"]
            .iter()
            .any(|start| name.starts_with(start)) =>
        {
            Some(Column::Prediction)
        }
        _ => None,
    }
}

fn described(name: &str, size_unit: Option<&'static str>) -> Option<Column> {
    match name {
        "size" | "bytes" | "nbytes" | "numbytes" | "sizebytes" | "sizeinbytes" | "messagesize"
        | "messagesizebytes" | "msgsize" | "msgsizebytes" | "messagebytes" | "msgbytes"
        | "message" | "datasize" | "datasizebytes" | "payload" | "payloadbytes" => {
            Some(Column::Size(size_unit))
        }
        "count" | "elements" | "nelem" | "countelements" => Some(Column::Count),
        "type" | "dtype" | "datatype" => Some(Column::Datatype),
        "redop" | "op" | "reduceop" | "reduction" => Some(Column::RedOp),
        "root" => Some(Column::Root),
        "collective" | "coll" | "collectivetype" | "operation" | "test" | "name" => {
            Some(Column::Collective)
        }
        "ranks" | "nranks" | "numranks" | "gpus" | "ngpus" | "numgpus" | "worldsize" | "np" => {
            Some(Column::Ranks)
        }
        "placement" => Some(Column::InPlace),
        "gpusperrank" => Some(Column::GpusPerRank),
        "nodes" | "nnodes" | "numnodes" => Some(Column::Nodes),
        "algorithm" | "algo" => Some(Column::Algorithm),
        "protocol" | "proto" => Some(Column::Protocol),
        "selection" | "path" | "algoproto" => Some(Column::Selection),
        "channels" | "nchannels" | "numchannels" | "nch" | "pipeops" | "numpipeops" | "regbuff"
        | "threads" | "nthreads" | "nvls" | "input" => Some(Column::Setting),
        "command" | "cmd" | "commandline" => Some(Column::Command),
        _ => None,
    }
}

const RATE_WORDS: [&str; 8] = [
    "gbps", "gbs", "mbps", "mbs", "gbits", "gbit", "gib", "gibps",
];

/// Takes the words of a time unit out, and returns the factor to us.
fn take_time_unit(words: &mut Vec<&str>) -> Option<f64> {
    // The `s` of `GB/s` is no unit of time.
    if let Some(at) = words
        .windows(2)
        .position(|pair| pair[1] == "s" && matches!(pair[0], "gb" | "mb" | "gib" | "gbit" | "b"))
    {
        words.drain(at..at + 2);
        return None;
    }
    let (at, scale) = words.iter().enumerate().find_map(|(at, word)| {
        let scale = match *word {
            "us" | "µs" | "usec" | "usecs" | "micros" | "microseconds" => 1.0,
            "ms" | "msec" | "milliseconds" => 1e3,
            "ns" | "nsec" | "nanoseconds" => 1e-3,
            "s" | "sec" | "secs" | "seconds" => 1e6,
            _ => return None,
        };
        Some((at, scale))
    })?;
    words.remove(at);
    Some(scale)
}

fn take_placement(words: &mut Vec<&str>) -> Option<Placement> {
    const WORDS: [(&[&str], Placement); 6] = [
        (&["out", "of", "place"], Placement::OutOfPlace),
        (&["outofplace"], Placement::OutOfPlace),
        (&["oop"], Placement::OutOfPlace),
        (&["in", "place"], Placement::InPlace),
        (&["inplace"], Placement::InPlace),
        (&["ip"], Placement::InPlace),
    ];
    for (spelling, placement) in WORDS {
        let found = words.windows(spelling.len()).position(|at| at == spelling);
        if let Some(at) = found {
            words.drain(at..at + spelling.len());
            return Some(placement);
        }
    }
    None
}

/// Takes a unit of sizes out, unless it is the only word of its kind (`bytes`).
fn take_size_unit(words: &mut Vec<&str>) -> Option<&'static str> {
    const UNITS: [&str; 7] = ["b", "kb", "mb", "gb", "kib", "mib", "gib"];
    let unit = *words.last()?;
    let unit = UNITS.into_iter().find(|known| *known == unit)?;
    words.pop();
    Some(unit)
}

/// Reads the unit of a bandwidth, which small and capital letters decide.
fn rate_unit(header: &str) -> Rate {
    let has = |text: &str| header.contains(text);
    if has("Gb/s") || has("Gbps") || has("Gbit") || has("gbit") || has("Gb_s") {
        Rate::Known(0.125)
    } else if has("MB/s") || has("MBps") || has("MB_s") {
        Rate::Known(1e-3)
    } else if has("GiB/s") || has("GiBps") {
        Rate::Known(1.073_741_824)
    } else if has("gbps") {
        Rate::Ambiguous
    } else {
        Rate::Known(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, expect: Column) {
        assert_eq!(recognise(header), Some(expect), "{header}");
    }

    #[test]
    fn sizes_in_the_spellings_of_the_field() {
        for header in [
            "size_bytes",
            "size",
            "bytes",
            "nbytes",
            "Message Size",
            "msg_size",
        ] {
            check(header, Column::Size(None));
        }
        check("size(B)", Column::Size(Some("b")));
        check("Size (MiB)", Column::Size(Some("mib")));
        check("size_mb", Column::Size(Some("mb")));
    }

    #[test]
    fn times_carry_unit_and_placement() {
        let us = Some(1.0);
        check("oop_time_us", Column::Time(Some(Placement::OutOfPlace), us));
        check(
            "time in-place (us)",
            Column::Time(Some(Placement::InPlace), us),
        );
        check("Avg Latency(us)", Column::Time(None, us));
        check("latency_ms", Column::Time(None, Some(1e3)));
        check("time", Column::Time(None, None));
        check("实测 (us)", Column::Time(None, us));
        check("median us", Column::Median(us));
        check("P95 us", Column::P95(us));
        check("tuner us", Column::Tuner(us));
    }

    #[test]
    fn bandwidths_tell_bits_from_bytes() {
        check("algbw GB/s", Column::Algbw(None, Rate::Known(1.0)));
        check("busbw_GBps", Column::Busbw(None, Rate::Known(1.0)));
        check("busBw", Column::Busbw(None, Rate::Known(1.0)));
        check("Bandwidth (Gbps)", Column::Bandwidth(Rate::Known(0.125)));
        check("bandwidth_gbps", Column::Bandwidth(Rate::Ambiguous));
        check(
            "ip_busbw",
            Column::Busbw(Some(Placement::InPlace), Rate::Known(1.0)),
        );
    }

    #[test]
    fn the_rest_by_name() {
        check("inPlace", Column::InPlace);
        check("#wrong", Column::Wrong(None));
        check("cv_pct", Column::Cv(CvUnit::Percent));
        check("CV", Column::Cv(CvUnit::Fraction));
        check("i_cv%", Column::Cv(CvUnit::Percent));
        check("pipeOps", Column::Setting);
        check("NVLS", Column::Setting);
        check("gpusPerRank", Column::GpusPerRank);
        check("g5_total_us", Column::Prediction);
        check("Math (us)", Column::Prediction);
        check("tuner error", Column::LeftOut);
        for unknown in ["node_x", "busbw_default_GBps", "value_bytes", "", "µ"] {
            assert_eq!(recognise(unknown), None, "{unknown}");
        }
    }
}
