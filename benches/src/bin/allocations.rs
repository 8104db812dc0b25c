//! Allocations of each way to decode, by event: `cargo run -p benches --release --bin allocations`.
//! With `waits`, what ten thousand waits hold instead; with `webhooks`, what verifying allocates; with `overhead`, what a
//! call does; with `local`, what the local server keeps of ten thousand mandates.
//!
//! A program of its own: counting takes time, most of it where most is allocated.

use std::alloc::System;
use std::process::ExitCode;

use benches::corpus::Corpus;
use benches::decode::{CHUNKS, floor, with_json};
use benches::rivals::Sink;
use benches::{local, overhead, waits, webhooks};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let live = || {
        let stats = ALLOCATOR.stats();
        stats.bytes_allocated - stats.bytes_deallocated
    };
    let allocated = || {
        let stats = ALLOCATOR.stats();
        (stats.allocations + stats.reallocations, stats.bytes_allocated)
    };
    match std::env::args().nth(1).as_deref() {
        Some("waits") => return exit(waits::memory(&live)),
        Some("local") => return exit(local::memory(&live)),
        Some("overhead") => return exit(overhead::allocations(&allocated)),
        Some("webhooks") => {
            return exit(webhooks::allocations(&|work| {
                let region = Region::new(ALLOCATOR);
                work();
                let change = region.change();
                (change.allocations + change.reallocations, change.bytes_allocated)
            }));
        }
        _ => {}
    }
    let corpus = Corpus::new();
    let count = |work: &mut dyn FnMut(&mut Sink)| {
        let region = Region::new(ALLOCATOR);
        let mut sink = Sink::json();
        work(&mut sink);
        let change = region.change();
        let each = |count: usize| count as f64 / sink.events as f64;
        let (calls, bytes) = (change.allocations + change.reallocations, change.bytes_allocated);
        format!("{:.1} ({:.0} B)", each(calls), each(bytes))
    };
    println!("Allocations and reallocations of one event, and the bytes of them\n");
    println!("| | 1 KiB | 16 KiB | 64 KiB | 256 KiB |\n|---|---|---|---|---|");
    let alone = count(&mut |sink| floor(&corpus, sink));
    println!("| serde_json alone | {alone} | {alone} | {alone} | {alone} |");
    for (name, run) in with_json() {
        let cells: Vec<String> = CHUNKS
            .into_iter()
            .map(|chunk| {
                let chunks = corpus.chunks(chunk);
                count(&mut |sink| run(&chunks, sink))
            })
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    ExitCode::SUCCESS
}

fn exit(fine: bool) -> ExitCode {
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
