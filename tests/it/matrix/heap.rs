//! How much memory an answer without end makes anyone hold: its peak, as an allocator of its own counts it.

#![expect(clippy::print_stdout, reason = "figures, for `-- --nocapture`")]

use allocation_counter::measure;
use tokio::runtime::Runtime;

use super::calls;
use super::cell::{Cell, MAX_EVENT_BYTES, Mode, Wires};
use super::faults::{COLUMNS, Column};
use super::streams::{ROWS, Scene};
use super::table::Table;
use super::world::World;

/// What a call keeps of an answer, or a stream of an event of the size it takes here, and what hyper buffers of a head
/// (408 KiB), each once more while it grows; and what the test and its server hold for it.
const MOST: u64 = 1024 * 1024;
/// With a stream that takes events as large as any does: one of those, once more while it grows.
const MOST_WITH_LARGE_EVENTS: u64 = 2 * MAX_EVENT_BYTES as u64 + MOST;

#[test]
fn no_answer_without_end_makes_a_call_hold_more_than_its_limits() {
    let mut peaks = Peaks::new();
    let table = Table::read();
    for row in calls::rows() {
        let class = table.class(row.name);
        let most = if class.waits() { MOST_WITH_LARGE_EVENTS } else { MOST };
        let mut world = peaks.runtime.block_on(World::with(row.need));
        for column in endless() {
            let cell = Cell { row: &row, class, column, mode: Mode::Once };
            let wires = peaks.wires.clone();
            peaks.of(format!("{} | {}", column.name, row.name), most, cell.run(&world, &wires));
            peaks.runtime.block_on(world.renew(row.need));
        }
    }
    peaks.finish(calls::rows().len() * endless().count());
}

#[test]
fn no_answer_without_end_makes_a_stream_hold_more_than_its_limits() {
    let mut peaks = Peaks::new();
    for row in &ROWS {
        let mut scene = peaks.runtime.block_on(Scene::set(row));
        for column in endless() {
            for mode in [Mode::Once, Mode::Always] {
                let most = if row.takes_large_events() { MOST_WITH_LARGE_EVENTS } else { MOST };
                let wires = peaks.wires.clone();
                let what = format!("{} | {} | {mode:?}", column.name, row.name);
                peaks.of(what, most, scene.run(column, mode, &wires));
                peaks.runtime.block_on(scene.renew());
            }
        }
    }
    peaks.finish(ROWS.len() * endless().count() * 2);
}

fn endless() -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().filter(|column| column.trouble.is_endless())
}

/// The most that was in use at any moment of each run.
struct Peaks {
    runtime: Runtime,
    wires: Wires,
    /// As parts of what was allowed.
    parts: Vec<(f64, u64, String)>,
}

impl Peaks {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        Self { runtime, wires: Wires::new(), parts: Vec::new() }
    }

    fn of(&mut self, what: String, most: u64, run: impl Future<Output = Result<String, String>>) {
        let peak = measure(|| drop(self.runtime.block_on(run).unwrap())).bytes_max;
        self.parts.push((peak as f64 / most as f64, peak, what));
    }

    fn finish(mut self, runs: usize) {
        assert_eq!(self.parts.len(), runs, "all were run");
        self.parts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (part, peak, what) = self.parts.last().unwrap();
        println!("{peak} bytes, {:.0} % of what is allowed: {what}", part * 100.0);
        assert!(*part <= 1.0, "{peak} bytes: {what}");
    }
}
