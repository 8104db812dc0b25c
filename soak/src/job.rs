//! The life of one mandate: begun, followed, decided, commanded, waited for, and then held against its history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use shadway::Error;
use shadway::approvals::ApprovalStatus;
use shadway::events::{Event, EventType};
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateHandle, MandateStatus};
use tokio::time::{sleep, timeout};

use crate::follow::{self, Followed};
use crate::run::{Ended, Failure, Run};
use crate::server::{CAPABILITIES, PACES};
use crate::steer::Steered;
use crate::tally::{add, lock};
use crate::watched::{self, Watched};

/// None takes so long, unless something is never told.
const LONGEST: Duration = Duration::from_secs(400);
/// A limit that runs out before most have ended.
const SHORT: Duration = Duration::from_secs(3);

/// What is done with a mandate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Course {
    Watch,
    Fail,
    Approve,
    Reject,
    Answer,
    Pause,
    Cancel,
}

const COURSES: [Course; 7] = [
    Course::Watch,
    Course::Fail,
    Course::Approve,
    Course::Reject,
    Course::Answer,
    Course::Pause,
    Course::Cancel,
];

pub(crate) struct Job {
    pub(crate) run: Arc<Run>,
    pub(crate) number: u64,
    pub(crate) course: Course,
    pub(crate) work: MandateHandle,
}

/// One mandate after the other.
pub(crate) async fn keep_busy(run: Arc<Run>, next: impl Fn() -> u64) {
    while !run.is_closing() {
        // On a busy machine deliveries are slower than new events.
        if lock(&run.ledger).lags() {
            sleep(Duration::from_millis(100)).await;
            continue;
        }
        let number = next();
        let told = match timeout(LONGEST, Box::pin(live(Arc::clone(&run), number))).await {
            Ok(Ok(())) => continue,
            Ok(Err(failure)) => failure.to_string(),
            Err(_) => format!("not over after {LONGEST:?}"),
        };
        run.tally.breach(format!("mandate {number}: {told}"));
    }
}

async fn live(run: Arc<Run>, number: u64) -> Result<(), Failure> {
    let mut random = run.random(number + 1);
    let course = COURSES[random.usize(..COURSES.len())];
    let mandate = create(&run, number, course, &mut random).await?;
    add(&run.tally.created);
    let work = run.client.mandate(&mandate.id);
    let job = Job { run, number, course, work };
    Box::pin(job.through(&mut random)).await
}

/// A creation that is certain to be the only one under its key.
async fn create(run: &Run, number: u64, course: Course, random: &mut Rng) -> Result<Mandate, Failure> {
    let script = match course {
        Course::Answer => "ask",
        Course::Fail => "fail",
        _ => "act",
    };
    let authority = match course {
        Course::Approve | Course::Reject => Authority::new().require_approval_for([CAPABILITIES[0]]),
        _ => Authority::new(),
    };
    let params = MandateCreateParams::new(&run.agent, "Ask Atlas for a quote.")
        .authority(authority)
        .metadata("job", number.to_string())
        .metadata("script", format!("{script}-{}", random.u64(..PACES)));
    let key = format!("job-{number}");
    let call = || run.client.mandates().create(params.clone()).idempotency_key(&key).send();
    let created = run.insist("create", call).await?;
    if random.u8(..10) == 0 {
        let again = run.insist("create", call).await?;
        if again.id != created.id {
            run.tally.breach(format!("two mandates under one key: {} and {}", created.id, again.id));
        }
    }
    Ok(created)
}

impl Job {
    async fn through(self, random: &mut Rng) -> Result<(), Failure> {
        let id = self.work.id();
        let watcher = &self.run.watchers[random.usize(..2)];
        let (own_wait, updates, watched) = (random.bool(), random.u8(..4) == 0, random.u8(..3) == 0);
        let short = random.u8(..5) == 0;
        // Only at first: a wait that is new reads often.
        let limits = || {
            let first = AtomicBool::new(short);
            move || if first.swap(false, Ordering::Relaxed) { SHORT } else { LONGEST }
        };

        let own = async {
            if !own_wait {
                return Ok(None);
            }
            let limit = limits();
            let wait = || async { self.work.wait().timeout(limit()).await };
            self.run.insist("wait", wait).await.map(Some)
        };
        let shared = async {
            let limit = limits();
            let wait = || async { watcher.wait(id).timeout(limit()).await };
            self.run.insist("watcher.wait", wait).await
        };
        let states = async {
            if !updates {
                return Ok(None);
            }
            self.run.insist("wait.updates", || last_state(&self.work)).await.map(Some)
        };
        let stream = follow::stream(&self.run, &self.work);
        let watched_events = async {
            if watched { watched::follow(&self.run, watcher, &self.work).await.map(Some) } else { Ok(None) }
        };
        let (own, shared, states, stream, watched, steered) =
            tokio::join!(own, shared, states, stream, watched_events, self.steer(random.fork()));
        let (steered, stream) = (steered?, stream?);

        let ended = self.run.insist("get", || self.work.get().send()).await?;
        let history = follow::listed(&self.run, &self.work).await?;
        for seen in [own?, Some(shared?), states?].into_iter().flatten() {
            add(&self.run.tally.waits);
            let same = (&seen.status, &seen.current_state, seen.updated_at)
                == (&ended.status, &ended.current_state, ended.updated_at);
            if !same {
                self.breach(format!("a wait gave {}, it is {}", seen.status, ended.status));
            }
        }
        add(&self.run.tally.mandate_streams);
        self.compare("stream", &stream, &history);
        if let Some(Watched { followed, before }) = watched? {
            add(&self.run.tally.watched_streams);
            // It may give more than it has to: the shared stream may be behind.
            let first = followed.first();
            let first = first.and_then(|first| history.iter().position(|event| event.id == first.0));
            let from = first.into_iter().chain(before).min().unwrap_or(history.len());
            if from == history.len() {
                add(&self.run.tally.too_late_to_watch);
            }
            self.compare("watcher.events", &followed, history.get(from..).unwrap_or_default());
        }
        self.check(&history, &ended, &steered);
        self.run.ended(Ended {
            job: self.number,
            mandate: ended.id.clone(),
            status: ended.status,
            events: history.len(),
        });
        add(&self.run.tally.ended);
        Ok(())
    }

    fn compare(&self, name: &str, seen: &Followed, history: &[Event]) {
        let tally = &self.run.tally;
        tally.mandate_events.fetch_add(seen.len() as u64, Ordering::Relaxed);
        if seen.iter().map(|(id, _)| id).eq(history.iter().map(|event| &event.id)) {
            return;
        }
        let times = |event: &Event| seen.iter().filter(|(id, _)| *id == event.id).count() as u64;
        let lost = history.iter().filter(|event| times(event) == 0).count() as u64;
        let repeated: u64 = history.iter().map(|event| times(event).saturating_sub(1)).sum();
        tally.lost.fetch_add(lost, Ordering::Relaxed);
        tally.repeated.fetch_add(repeated, Ordering::Relaxed);
        let sequences: Vec<u64> = seen.iter().map(|(_, sequence)| *sequence).collect();
        let happened: Vec<u64> = history.iter().map(|event| event.sequence).collect();
        self.breach(format!("{name} gave {sequences:?} of {happened:?}: {lost} lost, {repeated} repeated"));
    }

    /// Whether each decision and each command had its one effect.
    fn check(&self, history: &[Event], ended: &Mandate, steered: &Steered) {
        let Steered { decided, canceled } = steered;
        let last = history.last().and_then(Event::mandate_status);
        if last != Some(&ended.status) || !ended.status.is_terminal() {
            self.breach(format!("its last event says {last:?}, and it is {}", ended.status));
        }
        let count = |wanted: &EventType| history.iter().filter(|event| event.event_type == *wanted).count();
        let (asked, resolved) =
            (count(&EventType::MandateApprovalRequested), count(&EventType::ApprovalResolved));
        if (asked, resolved) != (decided.len(), decided.len()) {
            self.breach(format!("{asked} asked, {} decided, {resolved} resolved", decided.len()));
        }
        for approval in decided {
            let told = history.iter().filter_map(Event::approval).filter(|told| told.id == approval.id);
            let told: Vec<&ApprovalStatus> = told.map(|told| &told.status).collect();
            if told != [&ApprovalStatus::Pending, &approval.status] {
                self.breach(format!("{} is {} and was told to be {told:?}", approval.id, approval.status));
            }
        }
        let sent = history.iter().filter(|event| {
            event.event_type == EventType::CapabilityExecutionCompleted
                && event.execution().is_some_and(|run| run.capability == CAPABILITIES[0])
        });
        let sent = sent.count();
        let right = match self.course {
            Course::Approve | Course::Watch | Course::Pause => {
                sent == 1 && ended.status == MandateStatus::Completed
            }
            Course::Reject | Course::Answer => sent == 0 && ended.status == MandateStatus::Completed,
            Course::Fail => sent == 0 && ended.status == MandateStatus::Failed,
            Course::Cancel if *canceled => sent <= 1 && ended.status == MandateStatus::Canceled,
            Course::Cancel => sent == 1 && ended.status == MandateStatus::Completed,
        };
        if !right {
            let course = self.course;
            self.breach(format!("it was to {course:?}, and ended {} after {sent} actions", ended.status));
        }
    }

    pub(crate) fn breach(&self, what: String) {
        self.run.tally.breach(format!("mandate {} ({}): {what}", self.number, self.work.id()));
    }
}

/// Follows the states to the last one.
async fn last_state(work: &MandateHandle) -> Result<Mandate, Error> {
    let mut updates = work.wait().updates();
    let mut last = None;
    while let Some(state) = updates.try_next().await? {
        last = Some(state);
    }
    match last {
        Some(last) => Ok(last),
        None => work.get().await,
    }
}
