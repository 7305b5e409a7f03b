//! NCCL's own choices as rules.
//!
//! NVIDIA's example plug-in runs every call without a rule on one channel, so a file for it
//! must say something about every call, even where NCCL's own choice is wanted.

use super::{Channels, Interval, TunerRule};
use crate::call::Call;
use crate::candidate::{Candidate, NcclCollective};
use crate::choice::NoCandidateError;
use crate::cost_table::CostTable;
use tier6_collective::{DataType, RedOp};

/// Sizes up to here are looked at one by one power of two; NCCL's choice is the same above.
const BYTES_MAX: u64 = 1 << 44;

impl CostTable {
    /// Returns NCCL's own choices for single float sums of a collective as rules for this
    /// communicator's ranks and nodes, from zero bytes to the largest size, channels as NCCL
    /// counts them.
    ///
    /// Switch points are found to the byte between two powers of two with different choices.
    /// A candidate that is best only strictly inside of one octave is not seen.
    ///
    /// # Errors
    ///
    /// Fails where NCCL fails: when the environment leaves no candidate.
    pub fn own_rules(
        &self,
        collective: NcclCollective,
    ) -> Result<Vec<TunerRule>, NoCandidateError> {
        let choose = |bytes: u64| -> Result<Candidate, NoCandidateError> {
            let (datatype, op) = (DataType::Float, RedOp::Sum);
            let call = Call::new(&self.communicator, collective, bytes, datatype, op);
            self.choose(&call).map(|choice| choice.candidate)
        };
        let mut starts = vec![(0, choose(0)?)];
        let mut low = 0_u64;
        let mut high = 1_u64;
        while high <= BYTES_MAX {
            let (_, current) = starts[starts.len() - 1];
            if choose(high)? != current {
                let start = first_other(low, high, current, &choose)?;
                starts.push((start, choose(start)?));
                low = start;
                // The same octave may hold another switch.
                if choose(high)? != starts[starts.len() - 1].1 {
                    continue;
                }
            }
            low = high;
            high *= 2;
        }
        let ends = starts.iter().skip(1).map(|&(start, _)| start - 1);
        let ends = ends.chain([u64::MAX]);
        let communicator = &self.communicator;
        let nodes = Interval::exactly(u64::from(communicator.n_nodes.unsigned_abs()));
        let ranks = Interval::exactly(u64::from(communicator.n_ranks.unsigned_abs()));
        Ok(starts
            .iter()
            .zip(ends)
            .map(|(&(least, candidate), most)| TunerRule {
                line: 0,
                collective,
                bytes: Interval::new(least, most),
                candidate,
                channels: Channels::Own,
                nodes,
                ranks,
                pipe_ops: Interval::ANY,
                registered: Interval::ANY,
                chunk_bytes: None,
            })
            .collect())
    }
}

/// Returns the first size above `low` whose choice is not `current`, by halving.
fn first_other<E>(
    low: u64,
    high: u64,
    current: Candidate,
    choose: &impl Fn(u64) -> Result<Candidate, E>,
) -> Result<u64, E> {
    let (mut low, mut high) = (low, high);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if choose(middle)? == current {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}
