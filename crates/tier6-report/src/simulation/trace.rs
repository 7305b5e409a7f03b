//! A timeline in the Trace Event format, which Perfetto and Chrome open.
//!
//! Ranks are processes, with a thread per engine and one for memory; links are the threads of one
//! more process, their queues its counters. Spans that overlap on one track would be drawn wrongly
//! by every viewer, so a track has as many threads as it has spans at a time. Times are in
//! microseconds with all digits of the picosecond.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use tier6_g5::{Span, Timeline, Track};
use tier6_system::LinkId;
use tier6_units::SimTime;

/// A timeline with what its tracks are called.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What was run: `ring all_reduce of 1 MiB`.
    pub title: String,
    /// What happened.
    pub timeline: Timeline,
    /// Names of links, by [`LinkId`].
    pub link_names: Vec<String>,
    /// Names of ranks, by the number that the timeline gives them.
    pub rank_names: Vec<String>,
}

/// Process of the links; rank r is process r + 1.
const LINKS: u32 = 0;

/// Returns the trace as one JSON object, a line per event, with a final newline.
pub fn trace_json(trace: &Trace) -> String {
    let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":");
    push_text(&mut out, &trace.title);
    out += "},\"traceEvents\":[\n";
    let mut lines = Lines {
        out,
        is_first: true,
        threads: BTreeMap::new(),
    };
    let spans = trace.timeline.spans.iter();
    let mut order: Vec<_> = spans.collect();
    // Within a track by start; of equal starts the longer one first.
    order.sort_by_key(|span| (span.track, span.start, std::cmp::Reverse(span.end)));
    let mut at = 0;
    while at < order.len() {
        let track = order[at].track;
        let length = order[at..].iter().take_while(|span| span.track == track);
        let length = length.count();
        lines.track(track, &order[at..at + length], &trace.link_names);
        at += length;
    }
    lines.queues(&trace.timeline.queues, &trace.link_names);
    lines.processes(trace);
    lines.out + "\n]}\n"
}

struct Lines {
    out: String,
    is_first: bool,
    /// Threads of each process so far.
    threads: BTreeMap<u32, usize>,
}

impl Lines {
    fn next(&mut self) -> &mut String {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out += ",\n";
        }
        &mut self.out
    }

    /// Spans of one track by start, each on the first thread that is free.
    fn track(&mut self, track: Track, spans: &[&Span], link_names: &[String]) {
        let process = process_of(track);
        let before = self.threads.get(&process).copied().unwrap_or(0);
        let mut ends: Vec<SimTime> = Vec::new();
        for span in spans {
            let free = ends.iter().position(|end| *end <= span.start);
            let lane = free.unwrap_or(ends.len());
            match free {
                Some(lane) => ends[lane] = span.end,
                None => ends.push(span.end),
            }
            let thread = before + lane + 1;
            let out = self.next();
            out.push_str("{\"ph\":\"X\",\"name\":");
            push_text(out, &span.name);
            let _ = write!(
                out,
                ",\"pid\":{process},\"tid\":{thread},\"ts\":{},\"dur\":{}}}",
                Us(span.start),
                Us(span.end.saturating_sub(span.start))
            );
        }
        self.threads.insert(process, before + ends.len());
        let name = track_name(track, link_names);
        for lane in 1..=ends.len() {
            let name = match lane {
                1 => name.clone(),
                lane => format!("{name} ({lane})"),
            };
            self.describe("thread", (process, before + lane), (&name, before + lane));
        }
    }

    /// Names a thread or a process, and says where it stands.
    fn describe(
        &mut self,
        kind: &str,
        (process, thread): (u32, usize),
        (name, place): (&str, usize),
    ) {
        let of = format!("\"pid\":{process},\"tid\":{thread}");
        let out = self.next();
        let _ = write!(
            out,
            "{{\"ph\":\"M\",\"name\":\"{kind}_name\",{of},\"args\":{{\"name\":"
        );
        push_text(out, name);
        out.push_str("}}");
        let out = self.next();
        let _ = write!(
            out,
            "{{\"ph\":\"M\",\"name\":\"{kind}_sort_index\",{of},\"args\":{{\"sort_index\":{place}}}}}"
        );
    }

    /// Queue lengths as counters, each by time.
    fn queues(&mut self, queues: &[(LinkId, SimTime, u64)], link_names: &[String]) {
        let mut by_link: BTreeMap<LinkId, Vec<(SimTime, u64)>> = BTreeMap::new();
        for (link, at, bytes) in queues {
            by_link.entry(*link).or_default().push((*at, *bytes));
        }
        for (link, mut changes) in by_link {
            // Stable: of changes at one time the last one counts.
            changes.sort_by_key(|(at, _)| *at);
            let name = format!("queue {}", link_name(link, link_names));
            for (at, bytes) in changes {
                let out = self.next();
                out.push_str("{\"ph\":\"C\",\"name\":");
                push_text(out, &name);
                let _ = write!(
                    out,
                    ",\"pid\":{LINKS},\"tid\":0,\"ts\":{},\"args\":{{\"bytes\":{bytes}}}}}",
                    Us(at)
                );
            }
        }
    }

    fn processes(&mut self, trace: &Trace) {
        let spans = trace.timeline.spans.iter();
        let mut processes: Vec<u32> = spans.map(|span| process_of(span.track)).collect();
        if !trace.timeline.queues.is_empty() {
            processes.push(LINKS);
        }
        processes.sort_unstable();
        processes.dedup();
        for (place, process) in processes.into_iter().enumerate() {
            let name = match process {
                LINKS => "links".to_owned(),
                rank => {
                    let known = trace.rank_names.get(rank as usize - 1);
                    known
                        .cloned()
                        .unwrap_or_else(|| format!("rank {}", rank - 1))
                }
            };
            self.describe("process", (process, 0), (&name, place));
        }
    }
}

const fn process_of(track: Track) -> u32 {
    match track {
        Track::Engine { rank, .. } | Track::Memory { rank } => rank + 1,
        Track::Link(_) => LINKS,
    }
}

fn track_name(track: Track, link_names: &[String]) -> String {
    match track {
        Track::Engine { engine, .. } => format!("engine {engine}"),
        Track::Memory { .. } => "memory".to_owned(),
        Track::Link(link) => link_name(link, link_names),
    }
}

fn link_name(link: LinkId, names: &[String]) -> String {
    let known = names.get(link.index());
    known
        .cloned()
        .unwrap_or_else(|| format!("link {}", link.get()))
}

/// Microseconds with all digits, trailing zeros left out.
struct Us(SimTime);

impl std::fmt::Display for Us {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0.ps() / 1_000_000, self.0.ps() % 1_000_000);
        if part == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{part:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

fn push_text(out: &mut String, text: &str) {
    let quoted = serde_json::to_string(text).expect("Invariant: any text is a JSON string");
    out.push_str(&quoted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn span(track: Track, start: u64, end: u64) -> Span {
        Span {
            track,
            name: format!("\"send\" {start}"),
            start: SimTime::from_ps(start),
            end: SimTime::from_ps(end),
        }
    }

    fn events(timeline: Timeline) -> Vec<Value> {
        let json = trace_json(&Trace {
            title: "a ring".to_owned(),
            timeline,
            link_names: vec!["chip0 to hub".to_owned()],
            rank_names: [0, 1, 2].map(|rank| format!("rank {rank}")).to_vec(),
        });
        let parsed: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(parsed["otherData"]["title"], "a ring");
        parsed["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn spans_at_a_time_have_threads_of_their_own() {
        let link = Track::Link(LinkId::new(0));
        let events = events(Timeline {
            spans: vec![
                span(link, 5, 9),
                span(link, 0, 6),
                span(link, 6, 7),
                span(link, 9, 9),
            ],
            queues: Vec::new(),
        });
        let of = |ph: &str| {
            events
                .iter()
                .filter(|event| event["ph"] == ph)
                .collect::<Vec<_>>()
        };
        let threads: Vec<u64> = of("X")
            .iter()
            .map(|event| event["tid"].as_u64().unwrap())
            .collect();
        assert_eq!(threads, [1, 2, 1, 1], "by start: 0, 5, 6, 9");
        let names: Vec<&str> = of("M")
            .iter()
            .filter(|event| event["name"] == "thread_name")
            .map(|event| event["args"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["chip0 to hub", "chip0 to hub (2)"]);
    }

    #[test]
    fn ranks_and_links_are_processes() {
        let events = events(Timeline {
            spans: vec![
                span(Track::Memory { rank: 3 }, 1_000_000, 2_500_000),
                span(Track::Engine { rank: 3, engine: 2 }, 1, 10),
            ],
            queues: vec![
                (LinkId::new(0), SimTime::from_ps(20), 7),
                (LinkId::new(0), SimTime::from_ps(10), 3),
            ],
        });
        let named = |what: &str| -> Vec<(&str, u64)> {
            let named = events.iter().filter(|event| event["name"] == what);
            let name = |event: &'_ Value| event["pid"].as_u64().unwrap();
            named
                .map(|event| (event["args"]["name"].as_str().unwrap(), name(event)))
                .collect()
        };
        assert_eq!(named("process_name"), [("links", 0), ("rank 3", 4)]);
        assert_eq!(named("thread_name"), [("engine 2", 4), ("memory", 4)]);
        let memory = events.iter().find(|event| event["ts"] == 1).unwrap();
        assert_eq!(memory["dur"], 1.5);
        let counters = events.iter().filter(|event| event["ph"] == "C");
        let bytes: Vec<u64> = counters
            .map(|event| event["args"]["bytes"].as_u64().unwrap())
            .collect();
        assert_eq!(bytes, [3, 7]);
    }

    #[test]
    fn times_keep_their_picoseconds() {
        let text = |ps: u64| Us(SimTime::from_ps(ps)).to_string();
        assert_eq!(text(0), "0");
        assert_eq!(text(1), "0.000001");
        assert_eq!(text(12_500_000), "12.5");
    }

    #[test]
    fn nothing_is_a_trace_too() {
        assert!(events(Timeline::default()).is_empty());
    }
}
