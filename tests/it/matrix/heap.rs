//! How much memory an answer without end makes a call hold: its peak, as an allocator of its own counts it.

#![expect(clippy::print_stdout, reason = "a figure, for `-- --nocapture`")]

use allocation_counter::measure;

use super::calls;
use super::cell::{Cell, Mode, Wires};
use super::faults::COLUMNS;
use super::table::Table;
use super::world::World;

/// For one call: what it keeps of an answer and what hyper buffers of a head (408 KiB), each once more while it grows; and
/// what the test and its server hold for it.
const MOST: u64 = 1024 * 1024;

#[test]
fn no_answer_without_end_makes_a_call_hold_more_than_its_limits() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let table = Table::read();
    let wires = Wires::new();
    let mut peaks = Vec::new();
    for row in calls::rows() {
        let class = table.class(row.name);
        // A stream, as waits open it, takes events of 16 MiB: see src/stream/tests/sizes.rs.
        if class.waits() {
            continue;
        }
        let mut world = runtime.block_on(World::with(row.need));
        for column in COLUMNS.iter().filter(|column| column.trouble.is_endless()) {
            let cell = Cell { row: &row, class, column, mode: Mode::Once };
            let peak = measure(|| drop(runtime.block_on(cell.run(&world, &wires)).unwrap())).bytes_max;
            peaks.push((peak, format!("{} | {}", column.name, row.name)));
            runtime.block_on(world.renew(row.need));
        }
    }
    assert!(peaks.len() > 5 * 40, "all were run");
    let (peak, cell) = peaks.iter().max().unwrap();
    println!("{peak} bytes at most: {cell}");
    assert!(*peak < MOST, "{peak} bytes: {cell}");
}
