//! How fast events are decoded, beside others and in stages.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;

use crate::corpus::{Corpus, EVENTS};
use crate::growth::one_event;
use crate::measure::{Spread, seconds, time};
use crate::node;
use crate::rivals::{self, Run, Sink};
use crate::stages;

/// Bytes of a chunk.
pub const CHUNKS: [usize; 4] = [1 << 10, 16 << 10, 64 << 10, 256 << 10];
const FLOOR: &str = "serde_json alone";
const STREAM: &str = "shadway's EventStream";
const DECODER: &str = "shadway's decoder + serde_json";
const FRAMES: &str = "shadway's decoder";
const LINES: &str = "shadway's lines";

/// What ends in typed events.
#[must_use]
pub fn with_json() -> Vec<(&'static str, Run)> {
    vec![
        (STREAM, rivals::shadway),
        (DECODER, stages::decoder),
        ("scanner + serde_json", rivals::scanner),
        ("eventsource-stream + serde_json", rivals::eventsource_stream),
        ("eventsource-client + serde_json", rivals::eventsource_client),
        ("sse-stream + serde_json", rivals::sse_stream),
    ]
}

/// What ends in texts.
fn frames_only() -> Vec<(&'static str, Run)> {
    vec![
        (LINES, stages::lines),
        (FRAMES, stages::decoder),
        ("scanner", rivals::scanner),
        ("eventsource-stream", rivals::eventsource_stream),
        ("eventsource-client", rivals::eventsource_client),
        ("sse-stream", rivals::sse_stream),
    ]
}

/// The JSON, and nothing else.
pub fn floor(corpus: &Corpus, sink: &mut Sink) {
    for payload in &corpus.payloads {
        sink.take(payload);
    }
}

/// One run of one of them, over the corpus or over one event of some MiB; `None` if there is none of the name.
#[must_use]
pub fn once(name: &str, chunk: usize, mib: Option<usize>) -> Option<bool> {
    let mut corpus = Corpus::new();
    if let Some(mib) = mib {
        corpus.stream = one_event(mib);
    }
    let chunks = corpus.chunks(chunk);
    let frames = frames_only();
    let mut sink = if frames.iter().any(|(known, _)| *known == name) { Sink::count() } else { Sink::json() };
    match with_json().into_iter().chain(frames).find(|(known, _)| *known == name) {
        Some((_, run)) => run(&chunks, &mut sink),
        None if name == FLOOR => floor(&corpus, &mut sink),
        None if name == "nothing" => {}
        None => return None,
    }
    println!("{} events", sink.events);
    Some(true)
}

type Rounds = BTreeMap<(&'static str, usize), Vec<Duration>>;

/// Prints all tables.
#[must_use]
pub fn run(rounds: usize) -> bool {
    let corpus = Corpus::new();
    let sizes: Vec<usize> = corpus.payloads.iter().map(String::len).collect();
    println!(
        "{EVENTS} events, JSON of {} to {} bytes, {} in the middle, {} bytes in all; {rounds} rounds\n",
        sizes.iter().min().expect("events"),
        sizes.iter().max().expect("events"),
        Spread::of(sizes.iter().map(|size| *size as f64)).median,
        corpus.stream.len(),
    );
    let mut times = Rounds::new();
    // In turn, so that other load on the machine meets all alike; and once before, unmeasured.
    for round in 0..=rounds {
        let mut note = |name: &'static str, chunk: usize, took: Duration| {
            if round > 0 {
                times.entry((name, chunk)).or_default().push(took);
            }
        };
        for chunk in CHUNKS {
            let chunks = corpus.chunks(chunk);
            // Beside each size anew: what is near in time is compared.
            note(FLOOR, chunk, measured(Sink::json(), |sink| floor(&corpus, sink)));
            for (name, run) in with_json() {
                note(name, chunk, measured(Sink::json(), |sink| run(&chunks, sink)));
            }
            for (name, run) in frames_only() {
                note(name, chunk, measured(Sink::count(), |sink| run(&chunks, sink)));
            }
        }
    }
    print_typed(&times);
    print_frames(&times);
    print_stages(&times);
    print_node_beside(&corpus.stream, rounds);
    true
}

fn measured(mut sink: Sink, work: impl FnOnce(&mut Sink)) -> Duration {
    let took = time(|| work(&mut sink));
    assert_eq!(sink.events, EVENTS, "each event once");
    took
}

fn print_typed(times: &Rounds) {
    println!(
        "Typed events a second, in thousands (times the floor: median, and the middle half of the rounds)\n"
    );
    header();
    let floors = CHUNKS.map(|chunk| thousands(&times[&(FLOOR, chunk)]));
    println!("| {FLOOR} (the floor) | {} |", floors.join(" | "));
    for (name, _) in with_json() {
        let cells = CHUNKS.map(|chunk| {
            let rounds = &times[&(name, chunk)];
            let Spread { median, low, high } = ratio(rounds, &times[&(FLOOR, chunk)]);
            format!("{} ({median:.2}; {low:.2}–{high:.2})", thousands(rounds))
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn print_frames(times: &Rounds) {
    println!("\nThe text alone, without its JSON: nanoseconds an event\n");
    header();
    for (name, _) in frames_only() {
        let cells = CHUNKS.map(|chunk| format!("{:.0}", nanoseconds(&times[&(name, chunk)])));
        println!("| {name} | {} |", cells.join(" | "));
    }
}

fn print_stages(times: &Rounds) {
    println!("\nThe stages of `shadway`'s stream: nanoseconds an event (share of the whole)\n");
    header();
    let of = |name, chunk| nanoseconds(&times[&(name, chunk)]);
    let row = |name: &str, part: &dyn Fn(usize) -> f64| {
        let cells = CHUNKS.map(|chunk| {
            let part = part(chunk);
            format!("{part:.0} ({:.0} %)", 100.0 * part / of(STREAM, chunk))
        });
        println!("| {name} | {} |", cells.join(" | "));
    };
    row("lines", &|chunk| of(LINES, chunk));
    row("fields and frames", &|chunk| of(FRAMES, chunk) - of(LINES, chunk));
    row("JSON", &|chunk| of(DECODER, chunk) - of(FRAMES, chunk));
    row("cursor, repeats, body", &|chunk| of(STREAM, chunk) - of(DECODER, chunk));
}

fn header() {
    println!("| | 1 KiB | 16 KiB | 64 KiB | 256 KiB |\n|---|---|---|---|---|");
}

fn thousands(rounds: &[Duration]) -> String {
    format!("{:.0}", Spread::of(seconds(rounds).map(|took| EVENTS as f64 / took / 1_000.0)).median)
}

fn nanoseconds(rounds: &[Duration]) -> f64 {
    Spread::of(seconds(rounds).map(|took| took * 1e9 / EVENTS as f64)).median
}

/// Of the times of the same round.
fn ratio(rounds: &[Duration], floors: &[Duration]) -> Spread {
    Spread::of(seconds(rounds).zip(seconds(floors)).map(|(took, floor)| took / floor))
}

/// The same stream in Node, if that is there.
fn print_node_beside(stream: &Bytes, rounds: usize) {
    println!(
        "\nNode: eventsource-parser and JSON.parse, thousands of events a second (times JSON.parse alone)\n"
    );
    match run_node(stream, rounds) {
        Ok(answer) => print_node(&answer),
        Err(why) => println!("left out: {why}"),
    }
}

fn run_node(stream: &Bytes, rounds: usize) -> Result<String, String> {
    let file = std::env::temp_dir().join(format!("shadway-benches-{}.sse", std::process::id()));
    std::fs::write(&file, stream).map_err(|error| format!("{}: {error}", file.display()))?;
    let numbers = [rounds].into_iter().chain(CHUNKS).map(|number| number.to_string().into());
    let arguments = [file.clone().into_os_string()].into_iter().chain(numbers);
    let output = node::run("eventsource-parser", &["decode.mjs"], arguments);
    // Another one is made next time.
    drop(std::fs::remove_file(&file));
    output
}

fn print_node(answer: &str) {
    let mut medians = BTreeMap::new();
    for line in answer.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let mut numbers = words.filter_map(|word| word.parse::<u64>().ok());
        let (chunk, events) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        assert_eq!(events, EVENTS as u64, "each event once");
        medians.insert((name, chunk as usize), Spread::of(numbers.map(|took| took as f64)));
    }
    header();
    let floor = medians[&("floor", 0)].median;
    let rate = |took: f64| EVENTS as f64 * 1e6 / took;
    let alone = format!("{:.0}", rate(floor));
    println!("| JSON.parse alone | {alone} | {alone} | {alone} | {alone} |");
    for (key, name) in
        [("parser+json", "eventsource-parser + JSON.parse"), ("parser", "eventsource-parser alone")]
    {
        let cells = CHUNKS.map(|chunk| {
            let Spread { median, low, high } = medians[&(key, chunk)];
            let [middle, low, high] = [median, low, high].map(|took| took / floor);
            format!("{:.0} ({middle:.2}; {low:.2}–{high:.2})", rate(median))
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
}
