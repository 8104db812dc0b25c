//! What the requests and the course of events share: the workspace behind its lock, the clock, and whatever runs
//! outside of both.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt as _;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::clock::{Clock, LocalClock, Moment};
use super::faults::{Dispatch, Fault, Faults};
use super::requests::Journal;
use super::sending;
use super::traffic::{Kind, Traffic};
use super::workspace::{Attempt, Job, Outcome, Workspace, secrets};
use crate::error::{Error, ErrorKind};
use crate::transport::HttpService;

/// What the requests and the course of events share.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) workspace: Mutex<Workspace>,
    pub(crate) traffic: Arc<Traffic>,
    /// The position of the newest event, for whoever follows them.
    pub(crate) position: watch::Sender<u64>,
    /// What deliveries to webhook endpoints are sent with.
    sender: Arc<dyn HttpService>,
    /// Where jobs run, and those that do.
    runtime: Handle,
    running: Mutex<JoinSet<()>>,
    faults: Mutex<Faults>,
    journal: Mutex<Journal>,
    /// Whether the key is accepted no more.
    pub(crate) revoked: AtomicBool,
    pub(crate) stopped: AtomicBool,
    this: Weak<Self>,
}

impl Shared {
    /// In the given runtime, for a server that listens at the given origin.
    pub(crate) fn start(
        runtime: Handle,
        origin: String,
        clock: LocalClock,
        mut random: fastrand::Rng,
        sender: Arc<dyn HttpService>,
    ) -> Arc<Self> {
        let clock = Clock::start(clock);
        let faults = Mutex::new(Faults::new(random.fork()));
        let workspace = Mutex::new(Workspace::new(clock.epoch, random, origin));
        Arc::new_cyclic(|this| Self {
            clock,
            workspace,
            traffic: Arc::default(),
            position: watch::Sender::new(0),
            sender,
            runtime,
            running: Mutex::default(),
            faults,
            journal: Mutex::default(),
            revoked: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            this: Weak::clone(this),
        })
    }

    /// Does something with the workspace as it is now: after all that was due.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Workspace, Moment) -> T) -> T {
        self.within(self.lock(), work)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.epoch.timestamp(self.clock.now())
    }

    /// Moves time on to a moment, if one is given, and lets happen what is due by then.
    pub(crate) fn move_time<T>(&self, to: impl FnOnce(&Workspace) -> (Option<Moment>, T)) -> T {
        let workspace = self.lock();
        let (moment, result) = to(&workspace);
        if let Some(moment) = moment {
            self.clock.move_to(moment);
            self.within(workspace, |_, _| ());
        }
        result
    }

    /// Whether an automatic clock may be moved to what is due next: somebody waits for it, nothing is under
    /// way, and it isn't the end of a time that a person was given.
    pub(crate) fn may_skip(&self, workspace: &Workspace) -> bool {
        self.clock.skips()
            && self.traffic.is_quiet()
            && (self.traffic.has_readers() || workspace.is_polled())
            && workspace.may_skip()
    }

    fn lock(&self) -> MutexGuard<'_, Workspace> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn within<T>(
        &self,
        mut workspace: MutexGuard<'_, Workspace>,
        work: impl FnOnce(&mut Workspace, Moment) -> T,
    ) -> T {
        // Read under the lock, so that no request sees an earlier time than the one before it.
        let now = self.clock.now();
        workspace.advance(now);
        let before = workspace.next_due();
        let result = work(&mut workspace, now);
        if workspace.next_due() != before {
            self.traffic.notify();
        }
        let position = workspace.events.position();
        self.position.send_if_modified(|last| std::mem::replace(last, position) != position);
        let jobs = std::mem::take(&mut workspace.jobs);
        let attempts = std::mem::take(&mut workspace.attempts);
        drop(workspace);
        jobs.into_iter().for_each(|job| self.run(job));
        attempts.into_iter().for_each(|attempt| self.send(attempt));
        result
    }

    /// Runs what was connected, outside of the lock, and reports what came of it.
    fn run(&self, job: Job) {
        let this = Weak::clone(&self.this);
        self.spawn(async move {
            let outcome = outcome(&job).await;
            if let Some(shared) = this.upgrade() {
                shared.with(|workspace, now| workspace.report(job.mandate, job.run, outcome, now));
            }
        });
    }

    /// Makes an attempt of a delivery when it is its turn.
    fn send(&self, attempt: Attempt) {
        let dispatch = self.faults().dispatch(&attempt);
        match dispatch {
            Dispatch::Now { fault, kept_back } => self.attempt(attempt, fault, kept_back),
            Dispatch::AfterNext(turn) => {
                let this = Weak::clone(&self.this);
                // Not counted: there may be no next one before the clock is moved.
                self.spawn_uncounted(async move {
                    turn.comes().await;
                    if let Some(shared) = this.upgrade() {
                        shared.attempt(attempt, None, None);
                    }
                });
            }
        }
    }

    /// Makes an attempt of a delivery, outside of the lock, and reports what came of it; then lets go of what was
    /// kept back for it.
    fn attempt(&self, attempt: Attempt, fault: Option<Fault>, kept_back: Option<oneshot::Sender<()>>) {
        let (this, sender) = (Weak::clone(&self.this), Arc::clone(&self.sender));
        self.spawn(async move {
            let outcome = sending::send(&*sender, &attempt, fault.as_ref().map(Fault::kind)).await;
            if let Some(shared) = this.upgrade() {
                shared.with(|workspace, now| workspace.report_delivery(&attempt, outcome, now));
            }
            drop(kept_back);
        });
    }

    /// Lets something run until it or the server ends; until then it counts as under way.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let counted = self.traffic.count(Kind::Job);
        self.spawn_uncounted(async move {
            task.await;
            drop(counted);
        });
    }

    fn spawn_uncounted(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        while running.try_join_next().is_some() {}
        running.spawn_on(task, &self.runtime);
    }

    /// Forgets everything but what is connected.
    pub(crate) fn reset(&self) {
        // What still runs was for what is forgotten now, and would report to something else under its number.
        self.running.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        self.with(|workspace, _| workspace.reset());
        self.faults().clear();
        self.journal().clear();
        self.restore_key();
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn revoke_key(&self) {
        self.revoked.store(true, Ordering::Relaxed);
        self.wake_followers();
    }

    pub(crate) fn restore_key(&self) {
        self.revoked.store(false, Ordering::Relaxed);
    }

    pub(crate) async fn until_stopped(&self) {
        // The sender lives as long as this does.
        let _ = self.position.subscribe().wait_for(|_| self.stopped.load(Ordering::Relaxed)).await;
    }

    /// Wakes whoever follows the events, to see that it is over.
    fn wake_followers(&self) {
        self.position.send_modify(|_| {});
    }

    /// Ends whatever runs.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.wake_followers();
        self.running.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

/// Runs a job to its end, a panic included.
async fn outcome(job: &Job) -> Outcome {
    let run = async { job.executor.run(job.input.clone()).await };
    let (code, message) = match AssertUnwindSafe(run).catch_unwind().await {
        Ok(Ok(output)) => return Outcome::Done(secrets::scrub(&output, &job.hidden)),
        Ok(Err(error)) if error.kind() == ErrorKind::InvalidInput => ("invalid_input", reason(&error)),
        Ok(Err(error)) => ("execution_failed", reason(&error)),
        Err(_) => ("panicked", "the function panicked".to_owned()),
    };
    Outcome::Failed(code, secrets::scrub_text(message, &job.hidden))
}

/// What went wrong, as the function itself says it.
fn reason(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), chain)
}

/// An error and what it comes from.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let layers = std::iter::successors(Some(error), |error| error.source());
    layers.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
