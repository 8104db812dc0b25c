//! Figures: `cargo run -p benches --release -- decode|growth|cuts|waits|webhooks|local|overhead|pagination`.

use std::process::ExitCode;

use benches::{cuts, decode, growth, local, overhead, pagination, waits, webhooks};

const USAGE: &str = "\
usage: benches decode [ROUNDS]          decoding, beside others and in stages
       benches once NAME CHUNK [MIB]    one run of one of them (or of \"nothing\"), to count its instructions
       benches growth [ROUNDS]          large events, and large chunks
       benches cuts [EVENTS [SEED]]     a stream that is cut at random
       benches waits                    ten thousand waits on one watcher
       benches webhooks [ROUNDS]        verifying and refusing deliveries, beside others
       benches local [ROUNDS]           the local server
       benches overhead [ROUNDS]        a call, beside reqwest and serde_json alone
       benches requests CASE WAY COUNT  some of those calls one way, to count their instructions
       benches pagination [ROUNDS]      a list of ten thousand, with and without reading ahead";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: usize| match arguments.get(place) {
        Some(text) => text.parse().ok(),
        None => Some(default),
    };
    let done = match arguments.first().map(String::as_str) {
        Some("decode") => number(1, 25).map(|rounds| decode::run(rounds.max(1))),
        Some("growth") => number(1, 9).map(|rounds| growth::run(rounds.max(1))),
        Some("cuts") => match (number(1, 1_000_000), number(2, 4)) {
            (Some(events), Some(seed)) => Some(cuts::run(events as u64, seed as u64)),
            _ => None,
        },
        Some("waits") => Some(waits::run()),
        Some("webhooks") => number(1, 101).map(|rounds| webhooks::run(rounds.max(1))),
        Some("local") => number(1, 9).map(|rounds| local::run(rounds.max(1))),
        Some("requests") => match (arguments.get(1), arguments.get(2), number(3, 0)) {
            (Some(case), Some(way), Some(requests)) => Some(overhead::send(case, way, requests)),
            _ => None,
        },
        Some("overhead") => number(1, 151).map(|rounds| overhead::run(rounds.max(1))),
        Some("pagination") => number(1, 3).map(|rounds| pagination::run(rounds.max(1))),
        Some("once") => {
            match (arguments.get(1), number(2, 0), arguments.get(3).map(|mib| mib.parse().ok())) {
                (Some(name), Some(chunk), mib) if chunk > 0 && mib != Some(None) => {
                    decode::once(name, chunk, mib.flatten())
                }
                _ => None,
            }
        }
        _ => None,
    };
    match done {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
