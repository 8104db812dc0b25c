//! The fault matrix: every call and every stream under every fault, each with the result that is expected of it.
//!
//! The table is `fixtures/matrix.md`. Its rows are the faults, its columns the classes of calls that end alike; each
//! call of the sources has its class there, and each is really run against each fault. The tests below hold the
//! table against the sources both ways: a new method that sends a request, or a new fault of the local server, fails
//! them until it has its line; and so does a line that nothing runs.
//!
//! - `calls.rs` has the calls, `streams.rs` the streams, `faults.rs` the faults: those of
//!   [`LocalServer::fault`](shadway::local::LocalServer::fault), met in memory, and those of raw bytes, met over a
//!   socket through the real adapter (`support/raw.rs`).
//! - `cell.rs` runs one cell, up to three times: the fault once, always, and always with little time for the whole call.
//!   All of it is in virtual time, sockets too: see `support/raw` for why that is sound.
//! - `cuts.rs` ends an answer after each of its bytes. `heap.rs` counts what answers without end make calls, waits and
//!   streams hold.
//!
//! What has to hold whatever the result is checked after every run: a change was made exactly once after it, or after
//! it was repeated with the key that the error names, and all its attempts were the same request; a decision was
//! resolved once; no event was lost or repeated; no call took 50 ms longer than its deadline, in virtual time; nothing
//! panicked; no more bytes were read than the limits allow; no layer of an error shows a secret.
//!
//! To add a call: a row in `calls.rs`, and its class in the table. To add a fault: a column in `faults.rs`, and a line
//! in the table; a wrong line fails with what was seen instead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;

mod calls;
mod cell;
mod cuts;
mod faults;
mod heap;
mod scan;
mod streams;
mod table;
mod world;

use cell::{Cell, MODES, Mode, Wires, check};
use cuts::Cuts;
use faults::COLUMNS;
use streams::Scene;

use table::{Class, Table};
use world::World;

#[tokio::test(start_paused = true)]
async fn every_read_ends_as_expected_under_every_fault() {
    every_call(&[Class::Read]).await;
}

#[tokio::test(start_paused = true)]
async fn every_change_ends_as_expected_under_every_fault_and_is_made_once() {
    every_call(&[Class::Change, Class::Delete]).await;
}

#[tokio::test(start_paused = true)]
async fn every_wait_ends_as_expected_under_every_fault() {
    every_call(&[Class::Wait, Class::Watch]).await;
}

#[tokio::test(start_paused = true)]
async fn every_stream_goes_on_as_expected_under_every_fault_and_loses_nothing() {
    let mut runs = Runs::new();
    for row in &streams::ROWS {
        let table = Table::read();
        runs.spawn(row.name, move |wires, tally| async move {
            let mut scene = Scene::set(row).await;
            for column in COLUMNS.iter().filter(|column| column.trouble.is_of_one_run()) {
                let expected = table.expected(row.name, column.name);
                for mode in [Mode::Once, Mode::Always] {
                    let outcome = scene.run(column, mode, &wires).await;
                    let expected = expected.of(mode);
                    let checked = outcome.and_then(|outcome| {
                        check(outcome == expected, || format!("{outcome}, not {expected}"))
                    });
                    tally.add(&format!("{} | {} | {mode:?}", column.name, row.name), checked);
                    scene.renew().await;
                }
            }
        });
    }
    runs.finish("streams").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_gets_over_an_answer_that_ends_at_any_byte() {
    let mut runs = Runs::new();
    for row in calls::rows() {
        let class = runs.table.class(row.name);
        runs.spawn(row.name, move |wires, tally| async move {
            let cuts = Cuts { row: &row, wires: &wires, tally: &tally };
            if class.waits() { cuts.of_wait().await } else { cuts.of_call().await }
        });
    }
    runs.finish("cuts of answers").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_loses_nothing_when_its_connection_ends_at_any_byte() {
    let mut runs = Runs::new();
    for row in &streams::ROWS {
        runs.spawn(row.name, move |wires, tally| async move { streams::cut(row, &wires, &tally).await });
    }
    runs.finish("cuts of streams").await;
}

/// All calls of these classes under all faults.
async fn every_call(classes: &[Class]) {
    let mut runs = Runs::new();
    for row in calls::rows() {
        let class = runs.table.class(row.name);
        if !classes.contains(&class) {
            continue;
        }
        let mut cells = Vec::new();
        for column in COLUMNS.iter().filter(|column| column.trouble.is_of_one_run()) {
            let expected = runs.table.expected(row.name, column.name);
            // Where nothing is waited for there is no deadline to meet.
            let takes_time = (expected.always.contains('×') || expected.short.is_some())
                && column.trouble.leaves_the_clock_alone()
                && !class.waits();
            // Where the first attempt decides, of one call, it can't happen twice.
            let recurs = expected.once != expected.always || row.requests > 1 || class.waits();
            let takes = |mode: &Mode| match mode {
                Mode::Once => true,
                Mode::Always => recurs,
                Mode::ShortOfTime => takes_time,
            };
            cells.extend(MODES.into_iter().filter(takes).map(|mode| (column, mode, expected.clone())));
        }
        runs.spawn(row.name, move |wires, tally| async move {
            let mut world = World::with(row.need).await;
            for (column, mode, expected) in cells {
                let cell = Cell { row: &row, class, column, mode };
                let outcome = cell.run(&world, &wires).await;
                let expected = expected.of(mode);
                let checked = outcome.and_then(|outcome| {
                    check(cell::is_as(&outcome, expected), || format!("{outcome}, not {expected}"))
                });
                tally.add(&format!("{} | {} | {mode:?}", column.name, row.name), checked);
                // What only reads leaves the world as it was.
                if class != Class::Read {
                    world.renew(row.need).await;
                }
            }
        });
    }
    runs.finish("calls").await;
}

/// Cells, one after the other on each row and the rows beside each other, and what came of them.
struct Runs {
    table: Table,
    wires: Wires,
    tally: Tally,
    tasks: JoinSet<()>,
}

impl Runs {
    fn new() -> Self {
        Self { table: Table::read(), wires: Wires::new(), tally: Tally::default(), tasks: JoinSet::new() }
    }

    fn spawn<Fut>(&mut self, row: &'static str, run: impl FnOnce(Wires, Tally) -> Fut)
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        let run = run(self.wires.clone(), self.tally.clone());
        self.tasks.spawn(async move {
            let outcome = tokio::spawn(run).await;
            // What is run panics in a task of its own; this is the matrix itself.
            assert!(outcome.is_ok(), "{row}: {outcome:?}");
        });
    }

    #[expect(clippy::print_stdout, reason = "how much was run is worth knowing")]
    async fn finish(mut self, what: &str) {
        while let Some(run) = self.tasks.join_next().await {
            run.expect("no panic of the matrix itself");
        }
        let tally = self.tally.0.lock().unwrap();
        println!("{} cells of {what}", tally.cells);
        assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    }
}

/// How many cells were run, and those that did not end as they should: by fault, call and mode.
#[derive(Clone, Default)]
struct Tally(Arc<Mutex<Count>>);

#[derive(Default)]
struct Count {
    cells: usize,
    wrong: BTreeMap<String, String>,
}

impl Tally {
    fn add(&self, cell: &str, outcome: Result<(), String>) {
        self.add_all(1, cell, outcome);
    }

    /// What was run as one.
    fn add_all(&self, cells: usize, which: &str, outcome: Result<(), String>) {
        let mut count = self.0.lock().unwrap();
        count.cells += cells;
        if let Err(why) = outcome {
            count.wrong.insert(which.to_owned(), why);
        }
    }
}
