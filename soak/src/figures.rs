//! What came of a run, as a table, and what of it is not as it has to be.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ledger::{Counts, Ledger};
use crate::tally::{CALLS, RECONNECTS, RETRIES, Tally};

/// How much more memory may be in use at the end than after a third of the time: what is remembered up to a limit is not
/// yet full in a short run.
const GROWTH: f64 = 1.25;
const SLACK: usize = 6 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Figures {
    time: Duration,
    samples: Vec<Sample>,
    tally: Tally,
    followed: Vec<(&'static str, Counts)>,
    events: u64,
    pub(crate) tasks: usize,
    pub(crate) sockets: usize,
    pub(crate) server_sockets: usize,
    pub(crate) peak: u64,
    pub(crate) server_peak: u64,
    pub(crate) breaches: Vec<String>,
}

/// What was so at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    pub(crate) heap: usize,
    pub(crate) sockets: usize,
    /// Mandates under way.
    pub(crate) mandates: usize,
}

impl Figures {
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            time,
            samples: Vec::new(),
            tally: Tally::default(),
            followed: Vec::new(),
            events: 0,
            tasks: 0,
            sockets: 0,
            server_sockets: 0,
            peak: 0,
            server_peak: 0,
            breaches: Vec::new(),
        }
    }

    pub(crate) fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    pub(crate) fn take(&mut self, tally: Tally, ledger: Ledger) {
        self.tally = tally;
        self.events = ledger.events();
        self.followed = ledger.result();
    }

    /// The most that was in use in each half of the time. How much it is at any moment depends on how many are under way.
    fn heaps(&self) -> (usize, usize) {
        let half = self.time / 2;
        let most = |second: bool| {
            let within = self.samples.iter().filter(|sample| (sample.at > half) == second);
            within.map(|sample| sample.heap).max().unwrap_or_default()
        };
        (most(false), most(true))
    }

    /// Says of each figure that has a limit whether it is beyond it.
    pub(crate) fn judge(&mut self) {
        let (count, told) = self.tally.breaches();
        let mut breaches = told;
        if count > breaches.len() {
            breaches.push(format!("and {} more", count - breaches.len()));
        }
        for (name, counts) in &self.followed {
            let Counts { lost, repeated, unknown, .. } = *counts;
            if (lost, repeated, unknown) != (0, 0, 0) {
                breaches
                    .push(format!("{name}: {lost} lost, {repeated} repeated, {unknown} that never happened"));
            }
        }
        let (early, late) = self.heaps();
        if late as f64 > early as f64 * GROWTH + SLACK as f64 {
            breaches.push(format!(
                "the heap grew from {} to {}",
                megabytes(early as u64),
                megabytes(late as u64)
            ));
        }
        for (count, what) in [
            (self.tasks, "tasks are left"),
            (self.sockets, "sockets are still open"),
            (self.server_sockets, "sockets of the server are still open"),
        ] {
            if count > 0 {
                breaches.push(format!("{count} {what}"));
            }
        }
        let created = self.tally.created.load(Ordering::Relaxed);
        // Or all that was checked proves nothing.
        if early == 0 || late == 0 {
            breaches.push("the heap was not measured".to_owned());
        }
        if created == 0 || self.events == 0 || RETRIES.load(Ordering::Relaxed) == 0 {
            breaches.push("nothing happened".to_owned());
        }
        self.breaches = breaches;
    }
}

fn median(figures: impl Iterator<Item = usize>) -> usize {
    let mut figures: Vec<usize> = figures.collect();
    figures.sort_unstable();
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.tally;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (early, late) = self.heaps();
        let most = self.samples.iter().map(|sample| sample.sockets).max().unwrap_or_default();
        let sum = |of: fn(&Counts) -> u64| self.followed.iter().map(|(_, counts)| of(counts)).sum::<u64>();
        writeln!(f, "\n| | |\n|---|---|")?;
        let mut row = |name: &str, value: String| writeln!(f, "| {name} | {value} |");
        row("mandates created, ended", format!("{}, {}", get(&tally.created), get(&tally.ended)))?;
        let under_way = median(self.samples.iter().map(|sample| sample.mandates));
        row("mandates under way (median)", under_way.to_string())?;
        row("events", self.events.to_string())?;
        let given = sum(|counts| counts.events) + get(&tally.mandate_events);
        row("events given out, by all streams and receivers", given.to_string())?;
        row("lost", (sum(|counts| counts.lost) + get(&tally.lost)).to_string())?;
        row("repeated", (sum(|counts| counts.repeated) + get(&tally.repeated)).to_string())?;
        row("again after a restart (documented)", sum(|counts| counts.after_restart).to_string())?;
        row("calls and openings of streams", get(&CALLS).to_string())?;
        row("retries", get(&RETRIES).to_string())?;
        row("reconnects", get(&RECONNECTS).to_string())?;
        row("waits, all with the true end", get(&tally.waits).to_string())?;
        let streams = (get(&tally.mandate_streams), get(&tally.watched_streams), get(&tally.begun_anew));
        row(
            "streams of mandates, by watchers, begun anew",
            format!("{}, {}, {}", streams.0, streams.1, streams.2),
        )?;
        row("decisions, commands", format!("{}, {}", get(&tally.decisions), get(&tally.commands)))?;
        row("deliveries that came", get(&tally.deliveries).to_string())?;
        row("refused, failed on purpose, known already", {
            format!("{}, {}, {}", get(&tally.refused), get(&tally.dropped), get(&tally.known))
        })?;
        row("deliveries handled", get(&tally.handled).to_string())?;
        row("heap, at most in each half of the time", {
            format!("{}, {}", megabytes(early as u64), megabytes(late as u64))
        })?;
        row(
            "peak memory; of the server",
            format!("{}; {}", megabytes(self.peak), megabytes(self.server_peak)),
        )?;
        row("open sockets, at most", most.to_string())?;
        row("open sockets at the end, here and at the server", {
            format!("{}, {}", self.sockets, self.server_sockets)
        })?;
        row("tasks at the end", self.tasks.to_string())?;
        writeln!(f, "\n| call | ended with |\n|---|---|")?;
        for (name, words) in tally.outcomes() {
            writeln!(f, "| {name} | {words} |")?;
        }
        Ok(())
    }
}
