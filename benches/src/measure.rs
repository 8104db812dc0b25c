//! Times of repeated runs, and how they are put in words.

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
