//! The only loop that sends a request again, and the one pure function that decides whether to.

use std::pin::pin;
use std::time::{Duration, Instant, SystemTime};

use backon::BackoffBuilder as _;
use futures_util::future::{Either, select};
use http::HeaderMap;
use http::header::RETRY_AFTER;

use super::budget::Share;
use super::outcome::Outcome;
use super::{Transport, Wire, trace};

/// The delays before the jitter: from half a second, doubled, to 8 s (assumed).
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(8);
/// A longer wish of the service is not waited for but reported (assumed).
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// How the last attempt of a call ended.
pub(crate) struct Finished {
    pub(crate) outcome: Outcome,
    pub(crate) attempts: u32,
    pub(crate) ambiguous: bool,
    /// The call's timeout, if it is why there was no other attempt.
    pub(crate) out_of_time: Option<Duration>,
    /// The client's budget is why there was no other attempt.
    pub(crate) out_of_budget: bool,
}

/// Sends a request until an outcome stands.
pub(crate) async fn run(transport: &Transport, wire: &Wire<'_>) -> Finished {
    let request = wire.request;
    let limit = request.timeout.or(transport.limits.timeout);
    // A timeout beyond what a clock can hold is none.
    let deadline = limit.and_then(|limit| transport.timer.now().checked_add(limit));
    let retries = request.max_retries.unwrap_or(transport.limits.max_retries);
    let mut delays = delays(retries);
    let mut share = Share::of(transport.budget.as_ref().filter(|_| request.budgeted));
    let is_over = || deadline.is_some_and(|deadline| left(deadline, transport.timer.now()).is_zero());
    let (mut attempts, mut ambiguous) = (0, false);
    if is_over() {
        let outcome = Outcome::CallTimeout;
        return Finished { outcome, attempts, ambiguous, out_of_time: limit, out_of_budget: false };
    }
    // What an attempt came to is not kept while another one is under way: that would make each call larger.
    let (outcome, why) = loop {
        attempts += 1;
        let outcome = attempt(transport, wire, deadline).await;
        let unclear = request.is_change() && outcome.is_ambiguous();
        ambiguous = !outcome.is_final_word() && (ambiguous || unclear);
        match outcome {
            Outcome::Answer(_) => break (outcome, Why::Stands),
            Outcome::CallTimeout => break (outcome, Why::OutOfTime),
            _ => {}
        }
        let backoff = delays.next().map(|delay| delay.mul_f64(fastrand::f64()));
        let wall_clock = transport.timer.wall_clock();
        let conditions = Conditions { backoff, replayable: request.is_replayable(), wall_clock };
        let Some(delay) = decide(&outcome, &conditions) else { break (outcome, Why::Stands) };
        if deadline.is_some_and(|deadline| delay >= left(deadline, transport.timer.now())) {
            break (outcome, Why::OutOfTime);
        }
        if !share.pay(outcome.is_attempt_timeout()) {
            break (outcome, Why::OutOfBudget);
        }
        trace::retry(request, &outcome, attempts, delay);
        transport.timer.sleep(delay).await;
        if is_over() {
            break (outcome, Why::OutOfTime);
        }
    };
    if outcome.shows_health() {
        share.refund();
    }
    let out_of_time = limit.filter(|_| why == Why::OutOfTime);
    Finished { outcome, attempts, ambiguous, out_of_time, out_of_budget: why == Why::OutOfBudget }
}

/// Why there is no other attempt.
#[derive(PartialEq, Eq)]
enum Why {
    /// Another one would change nothing, or is not allowed.
    Stands,
    OutOfTime,
    OutOfBudget,
}

fn left(deadline: Instant, now: Instant) -> Duration {
    deadline.saturating_duration_since(now)
}

/// One request and its whole answer, within what time there is.
async fn attempt(transport: &Transport, wire: &Wire<'_>, deadline: Option<Instant>) -> Outcome {
    let attempt_timeout = transport.limits.attempt_timeout;
    let remaining = deadline.map(|deadline| left(deadline, transport.timer.now()));
    let exchange = pin!(async {
        let response = transport.service.call(wire.attempt(transport)).await;
        Outcome::read(response, transport.limits.max_response_bytes, &transport.api_key).await
    });
    let time = remaining.map_or(attempt_timeout, |remaining| remaining.min(attempt_timeout));
    match select(exchange, transport.timer.sleep(time)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) if time < attempt_timeout => Outcome::CallTimeout,
        Either::Right(_) => Outcome::AttemptTimeout(attempt_timeout),
    }
}

/// The delays of an exponential backoff, one for each retry. They have no jitter yet: backon's only adds,
/// and would go beyond the longest.
fn delays(retries: u32) -> backon::ExponentialBackoff {
    backon::ExponentialBuilder::new()
        .with_min_delay(FIRST_DELAY)
        .with_max_delay(LONGEST_DELAY)
        .with_max_times(retries as usize)
        .build()
}

/// What the decision depends on beside the outcome.
pub(crate) struct Conditions {
    /// The delay to keep if the service names none; `None` when no retry is left.
    pub(crate) backoff: Option<Duration>,
    /// Whether sending it again can't do more than sending it once.
    pub(crate) replayable: bool,
    pub(crate) wall_clock: SystemTime,
}

/// Whether to send a request again after this outcome, and after which delay.
pub(crate) fn decide(outcome: &Outcome, conditions: &Conditions) -> Option<Duration> {
    let backoff = conditions.backoff?;
    match outcome {
        Outcome::NotSent(_) => Some(backoff),
        _ if !conditions.replayable => None,
        Outcome::Broken(_) | Outcome::AttemptTimeout(_) | Outcome::TransportTimeout(_) => Some(backoff),
        Outcome::Refused(answer, _) if outcome.calls_for_retry() => {
            match retry_after(&answer.headers, conditions.wall_clock) {
                Some(wish) => Some(wish).filter(|wish| *wish <= LONGEST_RETRY_AFTER),
                None => Some(backoff),
            }
        }
        _ => None,
    }
}

/// The delay that `Retry-After` asks for: seconds, or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds ask for longer than anyone waits.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}
