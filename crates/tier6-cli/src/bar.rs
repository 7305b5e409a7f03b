//! Progress of long reads and simulations: a bar on a terminal, or a line every few seconds.

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// What is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// Distance between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// How often the clock is looked at, in bytes read.
const CHECK_BYTES: u64 = 4 << 20;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes read.
    Bytes,
    /// Transfers of a simulation.
    Transfers,
}

pub struct Bar {
    kind: Kind,
    unit: Unit,
    path: String,
    total: Option<u64>,
    done: u64,
    next_check: u64,
    started: Instant,
    last_line: Instant,
}

enum Kind {
    Drawn(Option<ProgressBar>),
    Plain,
}

impl Bar {
    pub fn drawn(unit: Unit) -> Self {
        Self::new(Kind::Drawn(None), unit)
    }

    pub fn plain(unit: Unit) -> Self {
        Self::new(Kind::Plain, unit)
    }

    fn new(kind: Kind, unit: Unit) -> Self {
        let now = Instant::now();
        Self {
            kind,
            unit,
            path: String::new(),
            total: None,
            done: 0,
            next_check: 0,
            started: now,
            last_line: now,
        }
    }

    /// After how much more the clock is looked at again.
    const fn check(&self) -> u64 {
        match self.unit {
            Unit::Bytes => CHECK_BYTES,
            // Simulations tell their headway rarely.
            Unit::Transfers => 0,
        }
    }

    fn show(&mut self) {
        match &mut self.kind {
            Kind::Drawn(bar) => {
                if self.started.elapsed() < PATIENCE {
                    return;
                }
                let bar = bar.get_or_insert_with(|| draw(&self.path, self.total, self.unit));
                bar.set_position(self.done);
            }
            Kind::Plain => {
                if self.last_line.elapsed() < PLAIN_EVERY {
                    return;
                }
                self.last_line = Instant::now();
                let count = |count: u64| match self.unit {
                    Unit::Bytes => HumanBytes(count).to_string(),
                    Unit::Transfers => HumanCount(count).to_string(),
                };
                let of = self.total.map(|total| format!(" of {}", count(total)));
                let (of, done) = (of.unwrap_or_default(), count(self.done));
                match self.unit {
                    Unit::Bytes => eprintln!("reading {}: {done}{of}", self.path),
                    Unit::Transfers => eprintln!("{}: {done}{of} transfers", self.path),
                }
            }
        }
    }
}

fn draw(path: &str, total: Option<u64>, unit: Unit) -> ProgressBar {
    let template = match (unit, total) {
        (Unit::Bytes, Some(_)) => "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}",
        (Unit::Bytes, None) => "{msg} {spinner} {bytes} {bytes_per_sec}",
        (Unit::Transfers, Some(_)) => "{msg} [{bar:30}] {human_pos}/{human_len} transfers, {eta}",
        (Unit::Transfers, None) => "{msg} {spinner} {human_pos} transfers",
    };
    let style = ProgressStyle::with_template(template).expect("Invariant: the templates are valid");
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(path.to_owned());
    bar
}

impl tier6::Progress for Bar {
    fn start(&mut self, path: &str, bytes: Option<u64>) {
        let now = Instant::now();
        path.clone_into(&mut self.path);
        self.total = bytes;
        self.done = 0;
        self.next_check = self.check();
        self.started = now;
        self.last_line = now;
    }

    fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if self.done >= self.next_check {
            self.next_check = self.done + self.check();
            self.show();
        }
    }

    fn finish(&mut self) {
        if let Kind::Drawn(bar) = &mut self.kind
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}
