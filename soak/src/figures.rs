//! What came of a run, as a table, and what of it is not as it has to be.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ledger::{Counts, Ledger};
use crate::tally::{CALLS, RECONNECTS, RETRIES, Tally};

/// How much more memory may be in use in the last quarter of the time than in the second: what is remembered up to a limit
/// is not yet full in a short run. In the first all begins at once.
const GROWTH: f64 = 1.2;
const SLACK: usize = 3 * MIB;
const MIB: usize = 1024 * 1024;

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

    /// What was in use in the second and in the last quarter of the time, at half of the moments: a burst, which makes the
    /// most that ever was, says nothing of what stays.
    fn heaps(&self) -> (usize, usize) {
        let within = |from: u32, to: u32| {
            let (from, to) = (self.time * from / 4, self.time * to / 4);
            let samples = self.samples.iter().filter(move |sample| from < sample.at && sample.at <= to);
            median(samples.map(|sample| sample.heap))
        };
        (within(1, 2), within(3, 4))
    }

    /// What is wrong with them, if anything is.
    fn grown(&self) -> Option<String> {
        let (early, late) = self.heaps();
        // Or all that was checked proves nothing.
        if early == 0 || late == 0 {
            return Some("the heap was not measured".to_owned());
        }
        (late as f64 > early as f64 * GROWTH + SLACK as f64)
            .then(|| format!("the heap grew from {} to {}", megabytes(early as u64), megabytes(late as u64)))
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
        breaches.extend(self.grown());
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
        row("heap in the second and the last quarter of the time (median)", {
            format!("{}, {}", megabytes(early as u64), megabytes(late as u64))
        })?;
        let heap = self.samples.iter().map(|sample| sample.heap).max().unwrap_or_default();
        row("heap, at most", megabytes(heap as u64))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of a minute in which so many bytes were in use after so many seconds.
    fn run(heap: fn(usize) -> usize) -> Figures {
        let mut figures = Figures::new(Duration::from_secs(60));
        for second in 1..=60 {
            let at = Duration::from_secs(second as u64);
            figures.sample(Sample { at, heap: heap(second), sockets: 0, mandates: 0 });
        }
        figures
    }

    #[test]
    fn a_heap_that_stays_where_it_was_is_well_whatever_bursts_there_were() {
        // As measured: a burst at the start, and what is remembered grows a little.
        assert_eq!(
            run(|second| if second < 10 { 40 * MIB } else { 22 * MIB + second * MIB / 24 }).grown(),
            None
        );
        assert_eq!(run(|second| if second % 5 == 0 { 200 * MIB } else { 22 * MIB }).grown(), None);
        assert_eq!(run(|second| if second < 50 { 22 * MIB } else { 16 * MIB }).grown(), None);
    }

    #[test]
    fn a_kibibyte_of_each_event_that_is_not_given_back_is_seen_after_a_minute() {
        // 500 events a second, on top of what is there anyway.
        let leak = run(|second| 22 * MIB + second * 500 * 1024);
        assert_eq!(leak.grown().as_deref(), Some("the heap grew from 33.2 MiB to 47.9 MiB"));
        // Even behind a burst that is larger than all that is lost.
        let hidden = run(|second| if second < 15 { 200 * MIB } else { 22 * MIB + second * 400 * 1024 });
        assert!(hidden.grown().is_some());
    }

    #[test]
    fn a_heap_that_was_not_measured_is_a_breach() {
        assert!(run(|_| 0).grown().is_some());
        assert!(Figures::new(Duration::from_secs(60)).grown().is_some());
    }
}
