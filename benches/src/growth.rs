//! Whether the time grows with what comes, and no faster.

use std::time::Duration;

use bytes::Bytes;

use crate::corpus::{Corpus, cut};
use crate::measure::{Spread, seconds, time};
use crate::rivals::{Run, Sink, eventsource_stream, shadway};
use crate::stages;

const SMALL_CHUNK: usize = 1 << 10;
const LARGE_CHUNK: usize = 256 << 10;

struct Case {
    name: String,
    chunks: Vec<Bytes>,
    bytes: usize,
    events: usize,
}

/// Prints nanoseconds per byte, which stay the same if the time is linear.
#[must_use]
pub fn run(rounds: usize) -> bool {
    println!("Nanoseconds a byte, medians of {rounds} rounds (the middle half of them)\n");
    println!("| | bytes | events | EventStream | decoder | lines |\n|---|---|---|---|---|---|");
    let mut cases: Vec<Case> = [1, 2, 4, 8].into_iter().map(large_event).collect();
    cases.extend([1, 2, 4].map(|parts| many_events("corpus", parts)));
    cases.extend([1, 2, 4].map(|parts| many_events("small", parts)));
    for case in &cases {
        let ways: [Run; 3] = [shadway, stages::decoder, stages::lines];
        let cells = ways.map(|way| {
            let times: Vec<Duration> = (0..rounds)
                .map(|_| {
                    let mut sink = Sink::count();
                    let took = time(|| way(&case.chunks, &mut sink));
                    assert_eq!(sink.events, case.events, "each event once");
                    took
                })
                .collect();
            let Spread { median, low, high } =
                Spread::of(seconds(&times).map(|took| took * 1e9 / case.bytes as f64));
            format!("{median:.2} ({low:.2}–{high:.2})")
        });
        println!("| {} | {} | {} | {} |", case.name, case.bytes, case.events, cells.join(" | "));
    }
    println!("\nFor comparison, eventsource-stream without the lines in front of it, one run each:\n");
    for mib in [1, 2] {
        let case = large_event(mib);
        let took = time(|| eventsource_stream(&case.chunks, &mut Sink::count()));
        println!("- {}: {:.0} ns a byte", case.name, took.as_secs_f64() * 1e9 / case.bytes as f64);
    }
    true
}

fn large_event(mib: usize) -> Case {
    let stream = one_event(mib);
    let name = format!("one event of {mib} MiB in 1 KiB chunks");
    Case { name, bytes: stream.len(), chunks: cut(&stream, SMALL_CHUNK), events: 1 }
}

/// A stream of one event.
pub(crate) fn one_event(mib: usize) -> Bytes {
    let frame = r#"{"id":"evt_1","type":"agent.noted","sequence":1,"mandate":"mnd_1","data":{"note":""}}"#;
    let head = "id: evt_1\nevent: agent.noted\ndata: ";
    let (start, end) = frame.split_at(frame.len() - 3);
    let note = "x".repeat((mib << 20) - head.len() - frame.len() - 2);
    Bytes::from(format!("{head}{start}{note}{end}\n\n"))
}

/// As many events as one chunk holds; parts of a chunk show what many at once cost.
fn many_events(kind: &str, parts: usize) -> Case {
    let size = LARGE_CHUNK / parts;
    let stream = if kind == "corpus" { Corpus::new().stream } else { small_events(LARGE_CHUNK) };
    let end = memchr::memmem::rfind(&stream[..size], b"\n\n").expect("an event") + 2;
    let stream = stream.slice(..end);
    let events = memchr::memmem::find_iter(&stream, b"\n\n").count();
    let name = format!("one chunk of {} KiB of {kind} events", size >> 10);
    Case { name, bytes: stream.len(), chunks: vec![stream], events }
}

fn small_events(bytes: usize) -> Bytes {
    let mut stream = String::new();
    for number in 1.. {
        if stream.len() > bytes {
            break;
        }
        let frame = format!(r#"{{"id":"e{number}","type":"x","sequence":{number},"mandate":"m"}}"#);
        stream.push_str(&format!("id: e{number}\nevent: x\ndata: {frame}\n\n"));
    }
    stream.into()
}
