//! The latency and bandwidth tables as the log prints them: blocks of rows, a few algorithms
//! wide, one decimal.

use crate::candidate::{NcclAlgorithm, NcclCollective};
use crate::release::PerCandidate;

/// The tables of one communicator as printed. One decimal cannot reproduce the model, but it
/// can tell communicators apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrintedTable {
    /// Latency in us and bandwidth in GB/s by collective and candidate.
    pub cells: [PerCandidate<Option<PrintedCell>>; 5],
    /// Most threads by candidate.
    pub threads_max: PerCandidate<Option<i32>>,
    /// Algorithms of the block that is being read.
    columns: Vec<Option<NcclAlgorithm>>,
}

/// `latency/bandwidth`, rounded to one decimal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedCell {
    /// The latency, us.
    pub latency_us: f32,
    /// The bandwidth, GB/s; zero where it is off.
    pub bandwidth_gbs: f32,
}

/// One row of the print-out.
pub(super) enum TableRow {
    /// The algorithms of the block; an unknown name keeps its columns.
    Algorithms(Vec<Option<NcclAlgorithm>>),
    Threads(Vec<Option<i32>>),
    Cells(NcclCollective, Vec<Option<PrintedCell>>),
}

impl TableRow {
    pub(super) fn read(message: &str) -> Option<Self> {
        let (head, rest) = message.split_once('|')?;
        let cells = rest.split('|').map(str::trim);
        let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        match head.trim() {
            "Algorithm" => Some(Self::Algorithms(
                cells
                    .into_iter()
                    .map(NcclAlgorithm::from_plain_name)
                    .collect(),
            )),
            "Max NThreads" => Some(Self::Threads(
                cells.into_iter().map(|cell| cell.parse().ok()).collect(),
            )),
            name => {
                let collective = NcclCollective::from_plain_name(name)?;
                let cells = cells.into_iter().map(PrintedCell::read).collect();
                Some(Self::Cells(collective, cells))
            }
        }
    }
}

impl PrintedCell {
    fn read(text: &str) -> Option<Self> {
        let (latency, bandwidth) = text.split_once('/')?;
        Some(Self {
            latency_us: latency.trim().parse().ok()?,
            bandwidth_gbs: bandwidth.trim().parse().ok()?,
        })
    }
}

impl PrintedTable {
    /// Takes a row; returns a warning when it does not fit the block's header.
    pub(super) fn learn(&mut self, row: &TableRow) -> Option<String> {
        match row {
            TableRow::Algorithms(columns) => {
                self.columns.clone_from(columns);
                None
            }
            TableRow::Threads(cells) => self.place(cells, |table, algorithm, protocol, threads| {
                table.threads_max[algorithm][protocol] = Some(threads);
            }),
            TableRow::Cells(collective, cells) => {
                self.place(cells, |table, algorithm, protocol, cell| {
                    table.cells[*collective as usize][algorithm][protocol] = Some(cell);
                })
            }
        }
    }

    /// Three cells per algorithm of the header.
    fn place<T: Copy>(
        &mut self,
        cells: &[Option<T>],
        mut put: impl FnMut(&mut Self, usize, usize, T),
    ) -> Option<String> {
        let columns = std::mem::take(&mut self.columns);
        let is_fit = !columns.is_empty() && cells.len() == 3 * columns.len();
        for (index, cell) in cells.iter().enumerate() {
            let algorithm = columns.get(index / 3).copied().flatten();
            if let (Some(algorithm), Some(cell)) = (algorithm, *cell) {
                put(self, algorithm as usize, index % 3, cell);
            }
        }
        let wanted = 3 * columns.len();
        self.columns = columns;
        (!is_fit).then(|| {
            format!(
                "a row of the table has {} cells, its header {wanted}",
                cells.len()
            )
        })
    }
}
