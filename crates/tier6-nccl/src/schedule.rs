//! What runs after the choice: the channels really used, the elements of each, the chunks.
//!
//! One call in a group of its own. Deliberately absent: groups of several calls, which share
//! channels, and registered buffers. Source: `TUNER_SPEC.md` section 10.

mod chunk;

use crate::call::Call;
use crate::candidate::{NcclAlgorithm, NcclCollective};
use crate::choice::{Choice, NoCandidateError};
use crate::cost_table::CostTable;
use crate::release::{CellRule, ScheduleRules};
use tier6_collective::{DataType, Protocol, RedOp};

/// One call as a user makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCall {
    /// The collective.
    pub collective: NcclCollective,
    /// The count that the user passes.
    pub count: u64,
    /// The type of the elements.
    pub datatype: DataType,
    /// The operator.
    pub op: RedOp,
}

/// How a call was spread over channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduled {
    /// The choice that was scheduled.
    pub choice: Choice,
    /// The first channel.
    pub channel_low: u32,
    /// The last channel.
    pub channel_high: u32,
    /// How the elements are shared.
    pub shares: Shares,
}

/// How the elements of a call are shared. Broadcast and AllGather count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// Every channel works on the whole.
    Common {
        /// Elements.
        count: u64,
        /// Elements in a chunk.
        chunk_elements: u64,
    },
    /// Every channel has its own share: the first, the ones between, the last. An absent
    /// share is zero.
    Split {
        /// Elements of the first, each middle and the last channel.
        counts: [u64; 3],
        /// Bytes in a chunk of each.
        chunk_bytes: [u64; 3],
    },
}

impl CostTable {
    /// Returns the call as the chooser sees it.
    pub fn call(&self, user: &UserCall) -> Call {
        let ranks = u64::from(self.communicator.n_ranks.cast_unsigned());
        let bytes = user.count * user.datatype.bytes();
        let bytes = if user.collective.is_gather() {
            bytes * ranks
        } else {
            bytes
        };
        Call::new(
            &self.communicator,
            user.collective,
            bytes,
            user.datatype,
            user.op,
        )
    }

    /// Chooses for one call and spreads it over channels.
    ///
    /// # Errors
    ///
    /// Fails where NCCL fails: when the environment leaves no candidate.
    pub fn schedule(&self, user: &UserCall) -> Result<Scheduled, NoCandidateError> {
        let choice = self.choose(&self.call(user))?;
        let moves_bytes = matches!(
            user.collective,
            NcclCollective::Broadcast | NcclCollective::AllGather
        );
        let (count, element) = if moves_bytes {
            (user.count * user.datatype.bytes(), 1)
        } else {
            (user.count, user.datatype.bytes())
        };
        let work = Work {
            collective: user.collective,
            choice,
            count,
            element,
        };
        Ok(if self.is_common(choice.candidate.algorithm) {
            self.schedule_common(&work)
        } else {
            self.schedule_split(&work)
        })
    }

    fn is_common(&self, algorithm: NcclAlgorithm) -> bool {
        match algorithm {
            NcclAlgorithm::CollNetDirect | NcclAlgorithm::CollNetChain => true,
            NcclAlgorithm::Nvls => self.communicator.n_nodes > 1,
            NcclAlgorithm::Tree
            | NcclAlgorithm::Ring
            | NcclAlgorithm::NvlsTree
            | NcclAlgorithm::Pat => false,
        }
    }

    fn schedule_common(&self, work: &Work) -> Scheduled {
        let channels = work.channels_max();
        Scheduled {
            choice: work.choice,
            channel_low: 0,
            channel_high: channels.saturating_sub(1),
            shares: Shares::Common {
                count: work.count,
                chunk_elements: self.chunk_bytes(work, work.count, channels) / work.element,
            },
        }
    }

    fn schedule_split(&self, work: &Work) -> Scheduled {
        let rules = &self.release.schedule;
        let cap = match work.choice.candidate.algorithm {
            NcclAlgorithm::Nvls | NcclAlgorithm::NvlsTree => self.communicator.nvls_channels,
            NcclAlgorithm::Tree
            | NcclAlgorithm::Ring
            | NcclAlgorithm::CollNetDirect
            | NcclAlgorithm::CollNetChain
            | NcclAlgorithm::Pat => self.communicator.n_channels,
        };
        let cap = u64::from(cap.max(1).cast_unsigned());
        let ranks = u64::from(self.communicator.n_ranks.cast_unsigned());
        let split = split(rules, work, cap, ranks);
        let counts = split.counts(work.count, work.element);
        let last = split.first_channel + split.channels().saturating_sub(1);
        Scheduled {
            choice: work.choice,
            channel_low: narrow(split.first_channel),
            channel_high: narrow(last),
            shares: Shares::Split {
                counts,
                chunk_bytes: counts.map(|count| match count {
                    0 => 0,
                    _ => self.chunk_bytes(work, count, 1),
                }),
            },
        }
    }
}

/// A call after the conversion of Broadcast and AllGather to bytes.
pub(crate) struct Work {
    pub(crate) collective: NcclCollective,
    pub(crate) choice: Choice,
    pub(crate) count: u64,
    /// Bytes of an element.
    pub(crate) element: u64,
}

impl Work {
    fn channels_max(&self) -> u32 {
        u32::from(self.choice.channels_max.cast_unsigned())
    }

    /// Returns the bytes that cross the wire per byte of the count.
    fn traffic_per_byte(&self, rules: &ScheduleRules, ranks: u64) -> u64 {
        let factor = match self.collective {
            NcclCollective::AllReduce => 2,
            NcclCollective::AllGather | NcclCollective::ReduceScatter => ranks,
            NcclCollective::Broadcast | NcclCollective::Reduce => 1,
        };
        match self.choice.candidate.protocol {
            Protocol::Ll => factor * rules.ll_traffic,
            Protocol::Ll128 | Protocol::Simple => factor,
        }
    }
}

/// Shares in cells: the first channel, `middles` channels of `middle` each, the last.
struct Split {
    cell_bytes: u64,
    cells: u64,
    first_channel: u64,
    low: u64,
    middles: u64,
    middle: u64,
    high: u64,
}

/// Cuts a call into cells and deals them out to channels.
fn split(rules: &ScheduleRules, work: &Work, cap: u64, ranks: u64) -> Split {
    let per_byte = work.traffic_per_byte(rules, ranks);
    let bytes = work.count * work.element;
    let traffic = bytes * per_byte;
    let cell_bytes = match rules.cells {
        CellRule::SixteenBytes => 16,
        CellRule::TrafficMin => rules.traffic_min.div_ceil(per_byte).next_multiple_of(16),
    };
    let cells = bytes.div_ceil(cell_bytes);
    let cell_traffic = cell_bytes * per_byte;
    let traffic_least = match rules.cells {
        CellRule::SixteenBytes => traffic,
        CellRule::TrafficMin => traffic.max(rules.traffic_min),
    };
    let channels = u64::from(work.channels_max()).min(cap).max(1);
    // Rounds down, as NCCL does.
    let budget = traffic_least / channels;
    let budget = if rules.exact_budget {
        budget.next_multiple_of(16)
    } else {
        budget.max(rules.traffic_min)
    };
    let mut middle = cells.min(budget.div_ceil(cell_traffic));
    let low = if cap == 1 {
        cells
    } else {
        let fits = match rules.cells {
            CellRule::SixteenBytes => budget / cell_traffic,
            CellRule::TrafficMin => budget.div_ceil(cell_traffic),
        };
        cells.min(fits)
    };
    let mut split = Split {
        cell_bytes,
        cells,
        first_channel: 0,
        low,
        middles: (cells - low).checked_div(middle).unwrap_or(0),
        middle,
        high: (cells - low).checked_rem(middle).unwrap_or(0),
    };
    let used = u64::from(low != 0) + split.middles + u64::from(split.high != 0);
    if used > cap {
        split.middles = cap.saturating_sub(2);
        middle = (cells - low) / (split.middles + 1);
        split.middle = middle;
        split.high = middle + (cells - low) % (split.middles + 1);
    }
    if split.high == 0 && split.middles != 0 {
        split.high = split.middle;
        split.middles -= 1;
    }
    if split.low == 0 {
        split.first_channel += 1;
        if split.middles == 0 {
            split.low = split.high;
            split.high = 0;
        } else {
            split.low = split.middle;
            split.middles -= 1;
        }
    }
    split
}

impl Split {
    fn channels(&self) -> u64 {
        u64::from(self.low != 0) + self.middles + u64::from(self.high != 0)
    }

    /// Returns the elements of the first, each middle and the last channel. What the last
    /// cell has too much is taken from the last share.
    fn counts(&self, count: u64, element: u64) -> [u64; 3] {
        let per_cell = self.cell_bytes / element;
        let surplus = self.cells * per_cell - count;
        let middle = if self.middles == 0 { 0 } else { self.middle };
        let mut counts = [self.low, middle, self.high].map(|cells| cells * per_cell);
        let last = if self.high == 0 { 0 } else { 2 };
        counts[last] -= surplus;
        counts
    }
}

fn narrow(channel: u64) -> u32 {
    u32::try_from(channel).expect("Invariant: a channel index is below the number of channels")
}
