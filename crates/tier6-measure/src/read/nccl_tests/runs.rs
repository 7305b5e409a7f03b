//! Where one run ends and the next begins.
//!
//! A new run starts with a parameter line, or with a header or row after a footer or a failure,
//! or where the sizes start again without a header's permission. Sizes that repeat under one
//! header are cycles (`-N`). A second, equal header before the first row means that every process
//! printed the whole table (a build without MPI): then there are as many runs, row by row.

use super::columns::{Layout, LayoutSource};
use super::findings;
use super::header::{HeaderLine, apply_options, without_secrets};
use super::run_builder::{RunBuilder, TableRow};
use crate::warning::WarningList;
use crate::{Footer, LibraryVersion, ReadOptions, Run, RunSetup, Trace, WarningCode};
use std::rc::Rc;
use tier6_collective::Collective;

/// The runs of an input.
#[derive(Debug, Default)]
pub(super) struct Runs {
    closed: Vec<RunBuilder>,
    /// The run that is being read; several when each process printed its own.
    group: Vec<RunBuilder>,
    /// Groups of more than one: first line and size.
    side_by_side: Vec<(u64, usize)>,
    parameter_lines: usize,
    header_lines: usize,
    boundary: Boundary,
    announced: Announced,
}

/// What was seen since the last row that may start a new run.
#[derive(Debug, Default)]
enum Boundary {
    #[default]
    None,
    /// A header was repeated; the sizes tell whether this is a new run.
    Header(Rc<Layout>),
    /// The program was started again.
    Start,
}

/// What was said of the next run before it began.
#[derive(Debug, Default)]
struct Announced {
    collective: Option<Collective>,
    command: Option<String>,
    cycles: Option<u32>,
    version: Option<LibraryVersion>,
}

impl Runs {
    /// Returns the order of columns in force.
    pub(super) fn layout(&self) -> Option<&Rc<Layout>> {
        match &self.boundary {
            Boundary::Header(layout) => Some(layout),
            Boundary::None | Boundary::Start => self.group.first()?.layout.as_ref(),
        }
    }

    /// Returns how many operations make up a group (`-m`).
    pub(super) fn aggregated(&self) -> u64 {
        let setup = self.group.first().map(|run| &run.setup);
        setup
            .and_then(|setup| setup.aggregated_iterations)
            .map_or(1, |count| u64::from(count.max(1)))
    }

    /// Says whether rows may follow: there is a table without a footer.
    pub(super) fn is_in_table(&self) -> bool {
        let is_open = |run: &RunBuilder| run.layout.is_some() && !run.has_ended();
        self.group.iter().any(is_open)
    }

    /// Counts a row that was not used.
    pub(super) fn lose_row(&mut self) {
        for run in &mut self.group {
            run.lost_rows += 1;
        }
    }

    /// Takes in the library's version.
    pub(super) fn version(&mut self, version: LibraryVersion) {
        if self.is_fresh() {
            for run in &mut self.group {
                run.setup.library_version.get_or_insert(version);
            }
        } else {
            self.announced.version = Some(version);
        }
    }

    /// Says whether there is a run that has no rows and has not ended.
    fn is_fresh(&self) -> bool {
        let has_begun = |run: &RunBuilder| run.has_rows() || run.has_ended();
        !self.group.is_empty() && !self.group.iter().any(has_begun)
    }

    fn start(&mut self, line: u64) {
        self.close();
        let announced = std::mem::take(&mut self.announced);
        let mut run = RunBuilder::new(line);
        run.named = announced.collective;
        run.setup.command = announced.command;
        run.setup.cycles = announced.cycles;
        run.setup.library_version = announced.version;
        self.group.push(run);
    }

    fn close(&mut self) {
        if let [first, _, ..] = self.group.as_slice() {
            self.side_by_side.push((first.first_line, self.group.len()));
        }
        self.closed.append(&mut self.group);
        self.parameter_lines = 0;
        self.header_lines = 0;
        self.boundary = Boundary::None;
    }

    /// Makes sure that there is a run that has not begun.
    fn need_fresh(&mut self, line: u64) {
        if !self.is_fresh() {
            self.start(line);
        }
    }

    /// Takes in a header's words.
    pub(super) fn header(&mut self, layout: Layout, hashed: bool, line: u64) {
        let layout = Rc::new(layout);
        if self.group.iter().any(RunBuilder::has_rows) && !self.group[0].has_ended() {
            self.boundary = Boundary::Header(layout);
            return;
        }
        self.need_fresh(line);
        self.header_lines += 1;
        if self.parameter_lines == 0 && self.header_lines > self.group.len() {
            self.group.push(RunBuilder::new(line));
        }
        for run in &mut self.group {
            run.lost_hashes |= !hashed;
            run.layout = Some(Rc::clone(&layout));
        }
    }

    fn parameters(&mut self, setup: RunSetup, line: u64) {
        let known = self.group.first().map(|run| &run.setup);
        let repeats = self.is_fresh()
            && self.parameter_lines > 0
            && known.is_some_and(|known| same_parameters(known, &setup));
        if repeats {
            self.parameter_lines += 1;
            if self.parameter_lines > self.group.len() {
                let mut run = RunBuilder::new(line);
                run.named = self.group[0].named;
                run.layout.clone_from(&self.group[0].layout);
                run.setup = setup;
                self.group.push(run);
            }
            return;
        }
        let devices_first = self.is_fresh() && self.parameter_lines == 0 && self.header_lines == 0;
        if !devices_first {
            self.start(line);
        }
        self.parameter_lines = 1;
        let run = &mut self.group[0];
        let before = std::mem::replace(&mut run.setup, setup);
        run.setup.command = before.command;
        run.setup.cycles = before.cycles;
        run.setup.library_version = before.library_version;
        run.setup.devices = before.devices;
    }

    /// Takes in a row.
    pub(super) fn row(&mut self, row: TableRow, layout: &Rc<Layout>, warnings: &mut WarningList) {
        let at = self.place(&row, layout);
        let run = &mut self.group[at];
        run.layout = Some(Rc::clone(layout));
        run.push(row, warnings);
    }

    /// Finds the run of a row, and starts one where the row cannot belong to the present one.
    fn place(&mut self, row: &TableRow, layout: &Layout) -> usize {
        let (key, bytes) = (row.key(), row.preamble.bytes);
        let boundary = std::mem::take(&mut self.boundary);
        let ended = self.group.iter().all(RunBuilder::has_ended);
        if self.group.is_empty() || ended || matches!(boundary, Boundary::Start) {
            self.start(row.line);
            return 0;
        }
        if self.group.len() > 1 {
            let fewest =
                (0..self.group.len()).min_by_key(|at| self.group[*at].samples_at(key, bytes));
            return fewest.unwrap_or(0);
        }
        let run = &self.group[0];
        let restarts = run
            .last
            .is_some_and(|(last_key, last)| last_key == key && bytes < last);
        let is_new = match boundary {
            Boundary::Header(_) => restarts || run.last.is_some_and(|(_, last)| bytes <= last),
            Boundary::None | Boundary::Start => restarts && !self.is_cycle(bytes, layout),
        };
        if is_new {
            self.start(row.line);
        }
        0
    }

    /// Says whether sizes that start again are the next cycle.
    fn is_cycle(&self, bytes: u64, layout: &Layout) -> bool {
        let run = &self.group[0];
        run.setup.cycles.is_some_and(|cycles| cycles != 1)
            || (layout.source == LayoutSource::Header && run.first_bytes == Some(bytes))
    }

    /// Takes in any other line of the benchmark.
    pub(super) fn header_line(&mut self, ours: HeaderLine, text: &str, hashed: bool, line: u64) {
        match ours {
            HeaderLine::Parameters(parameters) => {
                self.parameters(parameters.setup, line);
                for run in &mut self.group {
                    run.lost_hashes |= !hashed;
                }
            }
            HeaderLine::DevicesFollow => self.need_fresh(line),
            HeaderLine::Device(device) => {
                self.need_fresh(line);
                let lacks = |run: &RunBuilder| {
                    let devices = &run.setup.devices;
                    devices.iter().all(|known| known.rank != device.rank)
                };
                if let Some(run) = self.group.iter_mut().find(|run| lacks(run)) {
                    run.setup.devices.push(device);
                }
            }
            HeaderLine::ReducedMaxBytes(bytes) => {
                self.need_fresh(line);
                for run in &mut self.group {
                    run.setup.reduced_max_bytes = Some(bytes);
                }
            }
            HeaderLine::Starting(collective) => self.announce(collective, None),
            HeaderLine::Command(collective) => self.announce(Some(collective), Some(text)),
            HeaderLine::Concluded(collective) => {
                for run in &mut self.group {
                    run.named = run.named.or(collective);
                }
            }
            HeaderLine::Cycle(cycle) => self.cycle(cycle),
            HeaderLine::Blocking(text) => {
                for run in &mut self.group {
                    run.setup.blocking = Some(text.clone());
                }
            }
            HeaderLine::OutOfBounds { count, passed } => self.footer(line, |footer| {
                footer.out_of_bounds = count;
                footer.passed = passed;
            }),
            HeaderLine::Average {
                busbw,
                below_threshold,
            } => {
                self.average(line, busbw);
                if let Some(run) = self.group.first_mut() {
                    run.below_threshold |= below_threshold;
                }
            }
            HeaderLine::Failure { host, message } => self.failure(host.as_deref(), &message, line),
            HeaderLine::Omission => {
                for run in &mut self.group {
                    run.omits_lines = true;
                }
            }
            // The reader keeps these to itself.
            HeaderLine::Title
            | HeaderLine::Units
            | HeaderLine::Known
            | HeaderLine::Complaint
            | HeaderLine::Other
            | HeaderLine::Version(_) => {}
        }
    }

    fn announce(&mut self, collective: Option<Collective>, command: Option<&str>) {
        let mut said = RunSetup::default();
        if let Some(command) = command {
            apply_options(command, &mut said);
        }
        let cycles = said.cycles;
        let command = command.map(without_secrets);
        if self.is_fresh() {
            for run in &mut self.group {
                run.named = collective.or(run.named);
                run.setup.cycles = cycles.or(run.setup.cycles);
                if command.is_some() {
                    run.setup.command.clone_from(&command);
                }
            }
            return;
        }
        if !self.group.is_empty() {
            self.boundary = Boundary::Start;
        }
        let announced = &mut self.announced;
        announced.collective = collective.or(announced.collective);
        announced.cycles = cycles.or(announced.cycles);
        announced.command = command.or(announced.command.take());
    }

    /// `# Testing 2 cycle.` is printed only when there are several.
    fn cycle(&mut self, cycle: u32) {
        for run in &mut self.group {
            let known = run.setup.cycles.unwrap_or(0);
            run.setup.cycles = Some(known.max(cycle).max(2));
        }
    }

    fn footer(&mut self, line: u64, set: impl FnOnce(&mut Footer)) {
        if self.group.is_empty() {
            self.start(line);
        }
        let open = self.group.iter_mut().find(|run| run.footer.is_none());
        if let Some(run) = open {
            set(run.footer.insert(Footer {
                out_of_bounds: None,
                passed: None,
                average_busbw: None,
            }));
        }
    }

    fn average(&mut self, line: u64, busbw: Option<tier6_units::GbPerSec>) {
        let waits = |run: &&mut RunBuilder| {
            let footer = run.footer.as_ref();
            footer.is_some_and(|footer| footer.average_busbw.is_none())
        };
        match self.group.iter_mut().find(waits) {
            Some(RunBuilder {
                footer: Some(footer),
                ..
            }) => footer.average_busbw = busbw,
            _ => self.footer(line, |footer| footer.average_busbw = busbw),
        }
    }

    fn failure(&mut self, host: Option<&str>, message: &str, line: u64) {
        if self.group.is_empty() {
            self.start(line);
        }
        for run in &mut self.group {
            run.failed_hosts.extend(host.map(str::to_owned));
            if run.failure.is_none() {
                run.failure = Some((message.to_owned(), line));
            }
        }
    }

    /// Closes all runs.
    pub(super) fn finish(
        mut self,
        options: &ReadOptions,
        trace: &Trace,
        warnings: &mut WarningList,
    ) -> Vec<Run> {
        self.close();
        for (line, count) in &self.side_by_side {
            let text = format!(
                "{count} equal headers before the first row: each process ran the benchmark on \
                 its own (built without MPI?); the tables are told apart row by row"
            );
            warnings.push(WarningCode::SeveralRuns, *line, text);
        }
        if self.closed.len() > 1 {
            let lines: Vec<String> = self
                .closed
                .iter()
                .map(|r| r.first_line.to_string())
                .collect();
            let text = format!(
                "{} runs in one input, at lines {}; they are kept apart",
                lines.len(),
                lines.join(", ")
            );
            warnings.push(WarningCode::SeveralRuns, None, text);
        }
        self.closed
            .into_iter()
            .map(|run| findings::finish(run, options, trace, warnings))
            .collect()
    }
}

/// Says whether two parameter lines are the same.
fn same_parameters(a: &RunSetup, b: &RunSetup) -> bool {
    let parameters = |setup: &RunSetup| RunSetup {
        command: None,
        cycles: None,
        library_version: None,
        reduced_max_bytes: None,
        blocking: None,
        devices: Vec::new(),
        ..setup.clone()
    };
    parameters(a) == parameters(b)
}
