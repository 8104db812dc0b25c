//! What came of a run, as a table, and what of it is not as it has to be.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ledger::{Counts, Ledger};
use crate::tally::{CALLS, RECONNECTS, RETRIES, Tally};

/// How much more memory may be in use in the last quarter of the time than in the second: what is remembered up to a limit
/// is not yet full in a short run. In the first all begins at once.
const GROWTH: f64 = 1.1;
const SLACK: usize = 3 * MIB;
const MIB: usize = 1024 * 1024;
/// The heap is only judged if, but for a tenth of the time, at least so many of the mandates that are to be under way were:
/// with fewer less is in use, whatever is kept.
const ENOUGH: f64 = 0.9;

#[derive(Debug)]
pub(crate) struct Figures {
    time: Duration,
    /// How many mandates were to be under way.
    wanted: u64,
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
    pub(crate) fn new(time: Duration, wanted: u64) -> Self {
        Self {
            time,
            wanted,
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

    fn within(&self, from: u32, to: u32, figure: fn(&Sample) -> usize) -> Vec<usize> {
        let (from, to) = (self.time * from / 4, self.time * to / 4);
        let samples = self.samples.iter().filter(|sample| from < sample.at && sample.at <= to);
        sorted(samples.map(figure))
    }

    /// What was in use in the second and in the last quarter of the time, at half of the moments: a burst, which makes the
    /// most that ever was, says nothing of what stays.
    fn heaps(&self) -> (usize, usize) {
        let within = |from, to| share(&self.within(from, to, |sample| sample.heap), 2);
        (within(1, 2), within(3, 4))
    }

    /// How many mandates were under way, after the first quarter: at half of the moments, and but for a tenth of them.
    fn under_way(&self) -> (usize, usize) {
        let figures = self.within(1, 4, |sample| sample.mandates);
        (share(&figures, 2), share(&figures, 10))
    }

    /// Why the heap can't be judged, if it can't.
    pub(crate) fn not_held(&self) -> Option<String> {
        let ((_, lowest), wanted) = (self.under_way(), self.wanted);
        let too_few = (lowest as f64) < wanted as f64 * ENOUGH;
        too_few.then(|| {
            format!(
                "the heap: for a tenth of the time {lowest} mandates or fewer were under way, not {wanted}"
            )
        })
    }

    /// What is wrong with them, if anything is.
    fn grown(&self) -> Option<String> {
        let (early, late) = self.heaps();
        // Or all that was checked proves nothing.
        if early == 0 || late == 0 {
            return Some("the heap was not measured".to_owned());
        }
        if self.not_held().is_some() {
            return None;
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

fn sorted(figures: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut figures: Vec<usize> = figures.collect();
    figures.sort_unstable();
    figures
}

/// What one in so many of them is at most.
fn share(sorted: &[usize], of: usize) -> usize {
    sorted.get(sorted.len() / of).copied().unwrap_or_default()
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
        let (median, lowest) = self.under_way();
        row("mandates under way (median, lowest decile)", format!("{median}, {lowest}"))?;
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
        row("streams of mandates, begun anew", {
            format!("{}, {}", get(&tally.mandate_streams), get(&tally.begun_anew))
        })?;
        row("streams by watchers, begun anew, begun after the end", {
            let (anew, late) = (get(&tally.watched_anew), get(&tally.too_late_to_watch));
            format!("{}, {anew}, {late}", get(&tally.watched_streams))
        })?;
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
        with_mandates(heap, |_| 200)
    }

    fn with_mandates(heap: fn(usize) -> usize, mandates: fn(usize) -> usize) -> Figures {
        let mut figures = Figures::new(Duration::from_secs(60), 200);
        for second in 1..=60 {
            let at = Duration::from_secs(second as u64);
            figures.sample(Sample { at, heap: heap(second), sockets: 0, mandates: mandates(second) });
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
        assert!(Figures::new(Duration::from_secs(60), 200).grown().is_some());
    }

    #[test]
    fn a_heap_of_too_few_mandates_is_not_judged_and_that_is_said() {
        let leak: fn(usize) -> usize = |second| 22 * MIB + second * 500 * 1024;
        let few = with_mandates(leak, |second| if second % 6 == 0 { 120 } else { 200 });
        assert_eq!(few.grown(), None);
        let told = "the heap: for a tenth of the time 120 mandates or fewer were under way, not 200";
        assert_eq!(few.not_held().as_deref(), Some(told));
        // At first they begin one after the other, and for a moment there may be fewer.
        let enough = with_mandates(leak, |second| if second < 15 || second % 15 == 0 { 50 } else { 190 });
        assert!(enough.not_held().is_none() && enough.grown().is_some());
    }
}
