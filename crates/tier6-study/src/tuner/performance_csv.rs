//! The measurements that NVIDIA's `optimize_config.py` reads: a row per size and path.
//!
//! Header: `collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,
//! bandwidth_gbps,latency_us` in any order, with other columns beside it. It is read here and not
//! with the other measurements since each row names channels, which make paths of their own.
//! -1 channels mean NCCL's own count, as in the script.

use super::sweep::is_time;
use super::{Forced, Sweep, SweepPoint};
use std::collections::BTreeMap;
use tier6_collective::{DataType, Protocol, RedOp};
use tier6_nccl::{Candidate, NcclAlgorithm, NcclCollective};
use tier6_units::{Bytes, Micros};

/// What such a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct PerformanceSweeps {
    /// One sweep per collective, scale, path, channels and repetition.
    pub sweeps: Vec<Sweep>,
    /// Lines that were left out, from 1, with the reason.
    pub skipped: Vec<(u64, String)>,
}

/// Reads such a file; `None` when the header is another.
///
/// ```
/// use tier6_study::read_performance_csv;
/// let text = "collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,\
///             bandwidth_gbps,latency_us\nallreduce,1024,ring,ll,-1,1,8,-1,-1,0.1,9.0\n";
/// let read = read_performance_csv(text).unwrap();
/// assert_eq!(read.sweeps[0].forced.to_string(), "ring+ll");
/// assert_eq!(read_performance_csv("size_bytes,time_us\n1024,9.0\n"), None);
/// ```
pub fn read_performance_csv(text: &str) -> Option<PerformanceSweeps> {
    let mut lines = (1..).zip(text.lines());
    let header: Vec<&str> = lines.next()?.1.split(',').map(str::trim).collect();
    let columns = Columns::find(&header)?;
    let mut sweeps: BTreeMap<Key, Vec<Sweep>> = BTreeMap::new();
    let mut skipped = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        match columns.read(&cells) {
            Ok((key, point)) => add(sweeps.entry(key).or_default(), &key, point),
            Err(reason) => skipped.push((number, reason)),
        }
    }
    Some(PerformanceSweeps {
        sweeps: sweeps.into_values().flatten().collect(),
        skipped,
    })
}

/// Collective, ranks, nodes, path, channels.
type Key = (
    NcclCollective,
    Option<u32>,
    Option<u32>,
    Candidate,
    Option<i32>,
);

/// A size that comes again belongs to the next repetition.
fn add(repetitions: &mut Vec<Sweep>, key: &Key, point: SweepPoint) {
    let is_free = |sweep: &&mut Sweep| sweep.points.iter().all(|other| other.bytes != point.bytes);
    if let Some(sweep) = repetitions.iter_mut().find(is_free) {
        sweep.points.push(point);
        return;
    }
    let &(collective, ranks, nodes, candidate, channels) = key;
    repetitions.push(Sweep {
        label: match channels {
            Some(channels) => format!("{candidate} x{channels} #{}", repetitions.len() + 1),
            None => format!("{candidate} #{}", repetitions.len() + 1),
        },
        collective,
        ranks,
        nodes,
        datatype: DataType::Float,
        redop: RedOp::Sum,
        forced: Forced::path(candidate),
        channels,
        points: vec![point],
    });
}

/// Where each column stands.
struct Columns {
    collective: usize,
    bytes: usize,
    algorithm: usize,
    protocol: usize,
    channels: usize,
    nodes: usize,
    ranks: usize,
    pipe_ops: Option<usize>,
    registered: Option<usize>,
    time: usize,
}

impl Columns {
    fn find(header: &[&str]) -> Option<Self> {
        let at = |name: &str| header.iter().position(|column| *column == name);
        Some(Self {
            collective: at("collective")?,
            bytes: at("size_bytes")?,
            algorithm: at("algorithm")?,
            protocol: at("protocol")?,
            channels: at("channels")?,
            nodes: at("nodes")?,
            ranks: at("ranks")?,
            pipe_ops: at("pipeOps"),
            registered: at("regBuff"),
            time: at("latency_us")?,
        })
    }

    fn read(&self, cells: &[&str]) -> Result<(Key, SweepPoint), String> {
        let cell = |at: usize| cells.get(at).copied().unwrap_or("");
        let int = |at: usize| -> Result<Option<u32>, String> {
            let text = cell(at);
            match text.parse::<i64>() {
                Ok(-1) => Ok(None),
                Ok(number) => u32::try_from(number).map(Some).map_err(|_| wrong(text)),
                Err(_) => Err(wrong(text)),
            }
        };
        let plain = |at: usize| cell(at).replace('_', "");
        let collective = NcclCollective::from_plain_name(&plain(self.collective))
            .ok_or_else(|| format!("`{}` is no collective of the tuner", cell(self.collective)))?;
        let algorithm = NcclAlgorithm::from_plain_name(&plain(self.algorithm))
            .ok_or_else(|| format!("`{}` is no algorithm", cell(self.algorithm)))?;
        let protocol = Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.name() == cell(self.protocol))
            .ok_or_else(|| format!("`{}` is no protocol", cell(self.protocol)))?;
        let candidate = Candidate {
            algorithm,
            protocol,
        };
        let channels = int(self.channels)?.filter(|channels| *channels > 0);
        let channels = channels.map(i32::try_from).transpose();
        let channels = channels.map_err(|_| wrong(cell(self.channels)))?;
        for (at, plain) in [(self.pipe_ops, 1), (self.registered, 0)] {
            if let Some(at) = at
                && int(at)?.is_some_and(|number| number != plain)
            {
                return Err(
                    "a grouped call or registered buffers; plans are for plain calls".into(),
                );
            }
        }
        let bytes = cell(self.bytes);
        let bytes: u64 = bytes.parse().map_err(|_| wrong(bytes))?;
        let time = cell(self.time);
        let time = time.parse().map(Micros::new).map_err(|_| wrong(time))?;
        if bytes == 0 || !is_time(time) {
            return Err("no size or no time".to_owned());
        }
        let point = SweepPoint {
            bytes: Bytes::new(bytes),
            time,
            other_placement: None,
            spread: None,
            path: None,
            predicted: None,
        };
        let (ranks, nodes) = (int(self.ranks)?, int(self.nodes)?);
        Ok(((collective, ranks, nodes, candidate, channels), point))
    }
}

fn wrong(text: &str) -> String {
    format!("`{text}` is no number that fits")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "collective,size_bytes,algorithm,protocol,channels,nodes,ranks,pipeOps,regBuff,bandwidth_gbps,latency_us";

    #[test]
    fn channels_and_repetitions_are_sweeps_of_their_own() {
        let text = format!(
            "{HEADER}\nallreduce,1024,ring,simple,16,1,8,-1,-1,0.1,6.5\n\
             allreduce,1024,ring,simple,8,1,8,-1,-1,0.1,6.0\n\
             allreduce,1024,ring,simple,16,1,8,-1,-1,0.1,6.4\n\
             allreduce,4096,ring,simple,16,1,8,1,0,0.1,7.4\n"
        );
        let read = read_performance_csv(&text).unwrap();
        assert!(read.skipped.is_empty());
        let found: Vec<(&str, usize)> = read
            .sweeps
            .iter()
            .map(|sweep| (sweep.label.as_str(), sweep.points.len()))
            .collect();
        assert_eq!(
            found,
            [
                ("ring+simple x8 #1", 1),
                ("ring+simple x16 #1", 2),
                ("ring+simple x16 #2", 1)
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_by_line() {
        let text = format!(
            "{HEADER}\nallreduce,1024,rnig,ll,-1,1,8,-1,-1,0.1,9\n\
             alltoall,1024,ring,ll,-1,1,8,-1,-1,0.1,9\n\
             allreduce,1k,ring,ll,-1,1,8,-1,-1,0.1,9\n\
             allreduce,1024,ring,ll,-1,1,8,-1,-1,0.1,nan\n\
             allreduce,1024,ring,ll,-1,1,8,4,-1,0.1,9\n\
             allreduce,1024\n"
        );
        let read = read_performance_csv(&text).unwrap();
        assert!(read.sweeps.is_empty());
        let lines: Vec<u64> = read.skipped.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 6, 7]);
        assert_eq!(read.skipped[0].1, "`rnig` is no algorithm");
    }
}
