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
//! - `cuts.rs` ends an answer after each of its bytes.
//!
//! What has to hold whatever the result is checked after every run: a change was made exactly once after it, or after
//! it was repeated with the key that the error names, and all its attempts were the same request; a decision was
//! resolved once; no event was lost or repeated; no call took 50 ms longer than its deadline, in virtual time; nothing
//! panicked; no more bytes were read than the limits allow; no layer of an error shows a secret.
//!
//! To add a call: a row in `calls.rs`, and its class in the table. To add a fault: a column in `faults.rs`, and a line
//! in the table; a wrong line fails with what was seen instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

mod calls;
mod cell;
mod cuts;
mod faults;
mod scan;
mod streams;
mod table;
mod world;

use cell::{Cell, MODES, Mode, Wires};
use faults::COLUMNS;

use table::{Class, Table};
use world::World;

/// So many worlds are there at a time.
const AT_ONCE: usize = 32;

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
        for column in COLUMNS.iter().filter(|column| column.trouble.is_of_one_run()) {
            let expected = &runs.table.expected(row.name, column.name);
            for mode in [Mode::Once, Mode::Always] {
                let expected = expected.of(mode).to_owned();
                runs.spawn(format!("{} | {} | {mode:?}", column.name, row.name), move |wires| async move {
                    let outcome = streams::run(row, column, mode, &wires).await?;
                    cell::check(outcome == expected, || format!("{outcome}, not {expected}"))?;
                    Ok(1)
                });
            }
        }
    }
    runs.finish("streams").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_gets_over_an_answer_that_ends_at_any_byte() {
    let mut runs = Runs::new();
    for (number, row) in calls::rows().into_iter().enumerate() {
        let class = runs.table.class(row.name);
        runs.spawn(format!("cut at every byte | {}", row.name), move |wires| async move {
            match class {
                Class::Wait | Class::Watch => cuts::of_wait(&row, &wires).await,
                _ => cuts::of_call(&row, number, &wires).await,
            }
        });
    }
    runs.finish("cuts of answers").await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_loses_nothing_when_its_connection_ends_at_any_byte() {
    let mut runs = Runs::new();
    for row in &streams::ROWS {
        runs.spawn(format!("cut at every byte | {}", row.name), move |wires| async move {
            streams::cut_at_every_byte(row, &wires).await
        });
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
        let row = Arc::new(row);
        let mut cells = Vec::new();
        for column in COLUMNS.iter().filter(|column| column.trouble.is_of_one_run()) {
            let expected = runs.table.expected(row.name, column.name);
            // Where nothing is waited for there is no deadline to meet.
            let takes_time = expected.always.contains('×') && !class.waits();
            for mode in MODES.into_iter().filter(|mode| *mode != Mode::ShortOfTime || takes_time) {
                cells.push((column, mode, expected.clone()));
            }
        }
        // What only reads leaves the world as it was.
        let together = if class == Class::Read { cells.len() } else { 1 };
        for cells in cells.chunks(together).map(<[_]>::to_vec) {
            let row = Arc::clone(&row);
            runs.spawn(format!("{} | {:?}", row.name, cells[0].1), move |wires| async move {
                let world = World::with(row.need).await;
                for (column, mode, expected) in &cells {
                    let cell = Cell { row: &row, class, column, mode: *mode };
                    let failed = |why: String| format!("{} | {mode:?}: {why}", column.name);
                    let outcome = cell.run(&world, &wires).await.map_err(failed)?;
                    let expected = expected.of(*mode);
                    let fits = *mode == Mode::ShortOfTime || cell::is_as(&outcome, expected);
                    cell::check(fits, || failed(format!("{outcome}, not {expected}")))?;
                }
                Ok(cells.len())
            });
        }
    }
    runs.finish("calls").await;
}

/// Runs beside each other, and what came of them.
struct Runs {
    table: Table,
    wires: Wires,
    slots: Arc<Semaphore>,
    tasks: JoinSet<(String, Result<usize, String>)>,
}

impl Runs {
    fn new() -> Self {
        let slots = Arc::new(Semaphore::new(AT_ONCE));
        Self { table: Table::read(), wires: Wires::new(), slots, tasks: JoinSet::new() }
    }

    fn spawn<Fut>(&mut self, name: String, run: impl FnOnce(Wires) -> Fut)
    where
        Fut: Future<Output = Result<usize, String>> + Send + 'static,
    {
        let (slots, run) = (Arc::clone(&self.slots), run(self.wires.clone()));
        self.tasks.spawn(async move {
            let _slot = slots.acquire().await.expect("never closed");
            (name, run.await)
        });
    }

    #[expect(clippy::print_stdout, reason = "how much was run is worth knowing")]
    async fn finish(mut self, what: &str) {
        let (mut count, mut wrong) = (0, BTreeMap::new());
        while let Some(run) = self.tasks.join_next().await {
            match run.expect("what may panic has a task of its own") {
                (_, Ok(cells)) => count += cells,
                (name, Err(why)) => drop(wrong.insert(name, why)),
            }
        }
        println!("{count} cells of {what}");
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
