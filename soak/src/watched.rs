//! Streams of single mandates by way of a watcher.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use serde_json::Value;
use shadway::events::Event;
use shadway::mandates::{MandateHandle, Watcher};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::follow::{Followed, LOOK_UP, is_real, listed};
use crate::run::{Failure, Run, is_expected};
use crate::tally::add;

/// How often to look whether a watched mandate has ended, and how much later all of it must have been told: a watcher
/// whose stream is silent takes 45 s to open another, which may be silent too.
const LOOK: Duration = Duration::from_secs(10);
const TOO_LATE: Duration = Duration::from_secs(200);

/// What a watcher's stream gave out, and what it need not have.
#[derive(Default)]
pub(crate) struct Watched {
    pub(crate) followed: Followed,
    /// Once it was asked for, how many of the mandate's events may have happened before: all others are to be given out.
    pub(crate) before: Option<usize>,
}

/// The events of a mandate by way of a watcher, to its end.
pub(crate) async fn follow(run: &Run, watcher: &Watcher, work: &MandateHandle) -> Result<Watched, Failure> {
    let mut watched = Watched::default();
    while !watched.goes_on(run, watcher, work).await? {
        // A list that fills in was garbled, which ends the stream (documented).
        add(&run.tally.watched_anew);
        sleep(Duration::from_millis(100)).await;
    }
    Ok(watched)
}

impl Watched {
    /// Takes another stream, and what happened since the last one; whether it came to the end.
    async fn goes_on(&mut self, run: &Run, watcher: &Watcher, work: &MandateHandle) -> Result<bool, Failure> {
        let mut events = watcher.events(work.id());
        // It begins when it is first asked (documented): what a list that is made after that doesn't show is to come.
        let mut next = timeout(Duration::ZERO, events.try_next()).await;
        let listed = listed(run, work).await?;
        let known = match self.before {
            None => {
                self.before = Some(listed.len());
                0
            }
            // As a user does it: on from the last one, with the list, and after that with the stream.
            Some(before) => {
                let had = self.followed.last().map(|(_, sequence)| *sequence);
                let missed = listed.iter().enumerate().filter(|(at, event)| match had {
                    Some(had) => event.sequence > had,
                    None => *at >= before,
                });
                self.followed.extend(missed.map(|(_, event)| (event.id.clone(), event.sequence)));
                listed.last().map_or(0, |event| event.sequence)
            }
        };
        if listed.last().is_some_and(is_last) {
            return Ok(true);
        }
        let mut late = Duration::ZERO;
        while late < TOO_LATE {
            match next {
                Ok(Ok(Some(event))) if !is_real(&event) || event.sequence <= known => {}
                Ok(Ok(Some(event))) => {
                    let last = is_last(&event);
                    self.followed.push((event.id, event.sequence));
                    if last {
                        run.tally.outcome("watcher.events", None);
                        return Ok(true);
                    }
                }
                Ok(Ok(None)) => return Err("watcher.events ended".into()),
                Ok(Err(error)) if is_expected(&error) => {
                    run.tally.outcome("watcher.events", Some(&error));
                    return Ok(false);
                }
                Ok(Err(error)) => return Err(error.into()),
                // After its end a mandate tells nothing more.
                Err(_) => {
                    let mandate = run.insist("get", || work.get().send()).await?;
                    if mandate.status.is_terminal() {
                        late += LOOK;
                    }
                }
            }
            next = timeout(LOOK, events.try_next()).await;
        }
        // What it has not given out by now is lost.
        Ok(true)
    }
}

fn is_last(event: &Event) -> bool {
    event.mandate_status().is_some_and(|status| status.is_terminal())
}

/// Opens the streams of the watchers, while nothing happens and nothing fails: what happens before one is open is not in it.
pub(crate) async fn open(run: &Arc<Run>, followers: &mut JoinSet<()>) -> Result<(), Failure> {
    for watcher in run.watchers.clone() {
        let run = Arc::clone(run);
        followers.spawn(async move {
            while !run.is_over() {
                let mut events = watcher.events("mnd_of_nobody");
                // Until it is refused a list of what it missed.
                while !run.is_over() && !matches!(timeout(LOOK_UP, events.try_next()).await, Ok(Err(_))) {}
            }
        });
    }
    loop {
        let requests = run.control(Method::GET, "/_local/requests", None).await?;
        let requests = requests["data"].as_array().into_iter().flatten();
        let open = |request: &&Value| request["route"] == "/v1/events/stream" && request["status"] == 200;
        if requests.filter(open).count() >= run.watchers.len() {
            return Ok(());
        }
        sleep(LOOK_UP).await;
    }
}
