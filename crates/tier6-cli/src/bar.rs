//! Progress of long reads: a bar on a terminal, or a line every few seconds.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Reads that are over sooner show nothing.
const PATIENCE: Duration = Duration::from_millis(300);
/// Distance between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// How often the clock is looked at, in bytes read.
const CHECK_BYTES: u64 = 4 << 20;

pub struct Bar {
    kind: Kind,
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
    pub fn drawn() -> Self {
        Self::new(Kind::Drawn(None))
    }

    pub fn plain() -> Self {
        Self::new(Kind::Plain)
    }

    fn new(kind: Kind) -> Self {
        let now = Instant::now();
        Self {
            kind,
            path: String::new(),
            total: None,
            done: 0,
            next_check: 0,
            started: now,
            last_line: now,
        }
    }

    fn show(&mut self) {
        match &mut self.kind {
            Kind::Drawn(bar) => {
                if self.started.elapsed() < PATIENCE {
                    return;
                }
                let bar = bar.get_or_insert_with(|| draw(&self.path, self.total));
                bar.set_position(self.done);
            }
            Kind::Plain => {
                if self.last_line.elapsed() < PLAIN_EVERY {
                    return;
                }
                self.last_line = Instant::now();
                let of = self
                    .total
                    .map_or(String::new(), |total| format!(" of {}", HumanBytes(total)));
                eprintln!("reading {}: {}{of}", self.path, HumanBytes(self.done));
            }
        }
    }
}

fn draw(path: &str, total: Option<u64>) -> ProgressBar {
    let template = if total.is_some() {
        "{msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec}"
    } else {
        "{msg} {spinner} {bytes} {bytes_per_sec}"
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
        self.next_check = CHECK_BYTES;
        self.started = now;
        self.last_line = now;
    }

    fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if self.done >= self.next_check {
            self.next_check = self.done + CHECK_BYTES;
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
