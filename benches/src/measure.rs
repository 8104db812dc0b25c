//! Times of repeated runs, and how they are put in words.

use std::process::Command;
use std::time::Duration;

use cpu_time::ThreadTime;

/// How long this thread computes at a piece of work: what others do on the machine meanwhile doesn't count.
pub fn time(work: impl FnOnce()) -> Duration {
    let began = ThreadTime::now();
    work();
    began.elapsed()
}

/// The middle of several figures, and where the middle half of them lies.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// A quarter lies below.
    pub low: f64,
    /// A quarter lies above.
    pub high: f64,
}

impl Spread {
    /// Of at least one figure.
    #[must_use]
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        let at = |share: usize| figures[(figures.len() - 1) * share / 4];
        Self { median: at(2), low: at(1), high: at(3) }
    }

    /// As multiples of a figure.
    #[must_use]
    pub fn over(self, other: f64) -> Self {
        Self { median: self.median / other, low: self.low / other, high: self.high / other }
    }
}

/// Seconds of each round.
pub fn seconds(rounds: &[Duration]) -> impl Iterator<Item = f64> + '_ {
    rounds.iter().map(Duration::as_secs_f64)
}

/// A time, to some three digits.
#[must_use]
pub fn in_words(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

/// Lets the program that counts allocations print this memory, and says whether it was content. It is one of its own,
/// since counting takes time.
#[must_use]
pub fn memory_apart(of: &str) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["run", "-q", "-p", "benches", "--release", "--bin", "allocations", "--", of];
    let memory = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).status();
    memory.is_ok_and(|status| status.success())
}
