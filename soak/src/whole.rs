//! The whole of a run: everybody begins, all comes to its end, and is held against what happened.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use http::Method;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::mandates::MandateListParams;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::figures::{Figures, Sample};
use crate::run::{Failure, Run};
use crate::server::{self, Server};
use crate::tally::{self, lock};
use crate::{Options, faults, follow, inbox, job, machine, watched};

/// How long the last mandates, deliveries and connections have to come to their end.
const SETTLING: Duration = Duration::from_secs(120);
const CLOSING: Duration = Duration::from_secs(15);
/// How long a client waits for one answer.
const ATTEMPT: Duration = Duration::from_secs(4);
/// How far the beginnings of the first mandates are apart: all at once would be another run.
const APART: Duration = Duration::from_millis(50);
const MINUTE: Duration = Duration::from_secs(60);
/// How often a storm begins.
const STORMS: Duration = Duration::from_secs(7);

pub(crate) async fn soak(options: &Options) -> Result<Figures, Failure> {
    // Or what is told before is not counted.
    tracing::subscriber::set_global_default(tally::Counter)?;
    let own = std::process::id();
    let before = machine::sockets(own)?;
    let server = Server::start(options.seed)?;
    let server_before = machine::sockets(server.process())?;
    let mut figures = run(options, &server).await?;

    // Nothing is left of it that could hold a task or a socket.
    let began = Instant::now();
    let metrics = Handle::current().metrics();
    loop {
        figures.tasks = metrics.num_alive_tasks();
        figures.sockets = machine::sockets(own)?.saturating_sub(before);
        figures.server_sockets = machine::sockets(server.process())?.saturating_sub(server_before);
        let clean = (figures.tasks, figures.sockets, figures.server_sockets) == (0, 0, 0);
        if clean || began.elapsed() > CLOSING {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    figures.peak = machine::peak(own)?;
    figures.server_peak = machine::peak(server.process())?;
    figures.judge();
    Ok(figures)
}

async fn run(options: &Options, server: &Server) -> Result<Figures, Failure> {
    let mut random = fastrand::Rng::with_seed(options.seed);
    let client =
        Client::builder().api_key("sk_test_local").base_url(&server.url).attempt_timeout(ATTEMPT).build()?;
    let agent = AgentCreateParams::new("Assistant", "local/simulated").capabilities(server::CAPABILITIES);
    let agent = client.agents().create(agent).await?.id;
    let run = Arc::new(Run::new(options.seed, client, agent));
    run.control(Method::POST, "/_local/scenario", Some(&server::scripts(&mut random))).await?;

    let path = std::env::temp_dir().join(format!("shadway-soak-{}.json", std::process::id()));
    let mut inboxes = Vec::new();
    for (name, types, wanted) in inbox::ALL {
        let receiver = lock(&run.ledger).receiver(name, *wanted);
        inboxes.push(inbox::open(&run, receiver, types).await?);
    }
    let mut followers = JoinSet::new();
    watched::open(&run, &mut followers).await?;
    for consumer in follow::consumers(&path) {
        let reader = lock(&run.ledger).reader(consumer.name, consumer.wanted());
        followers.spawn(consumer.consume(Arc::clone(&run), reader));
    }
    followers.spawn({
        let run = Arc::clone(&run);
        async move {
            if let Err(error) = follow::audit(&run).await {
                run.tally.breach(format!("the history can't be read: {error}"));
            }
        }
    });
    for fault in faults::lasting(&mut random, options.time) {
        run.control(Method::POST, "/_local/faults", Some(&fault)).await?;
    }

    let mut busy = JoinSet::new();
    let numbers = Arc::new(AtomicU64::new(0));
    for place in 0..options.mandates {
        let (run, numbers) = (Arc::clone(&run), Arc::clone(&numbers));
        busy.spawn(async move {
            sleep(APART * u32::try_from(place).unwrap_or(u32::MAX)).await;
            job::keep_busy(run, move || numbers.fetch_add(1, Ordering::Relaxed)).await;
        });
    }
    let mut figures = Figures::new(options.time, options.mandates);
    let began = Instant::now();
    let mut minute = MINUTE;
    let storms = tokio::spawn(storms(Arc::clone(&run), random));
    while began.elapsed() < options.time {
        sleep(Duration::from_millis(250).min(options.time)).await;
        let [created, ended] =
            [&run.tally.created, &run.tally.ended].map(|count| count.load(Ordering::Relaxed));
        figures.sample(Sample {
            at: began.elapsed(),
            heap: machine::heap(),
            sockets: machine::sockets(std::process::id())?,
            mandates: created.saturating_sub(ended) as usize,
        });
        if began.elapsed() >= minute {
            progress(&run, minute);
            minute += MINUTE;
        }
    }
    run.closing.store(true, Ordering::Relaxed);
    storms.await??;
    run.control(Method::DELETE, "/_local/faults", None).await?;
    while let Some(ended) = busy.join_next().await {
        ended?;
    }
    settle(&run).await?;
    run.over.store(true, Ordering::Relaxed);
    while let Some(ended) = followers.join_next().await {
        ended?;
    }
    compare(&run).await?;
    for inbox in inboxes {
        inbox.stop().await?;
    }
    let _ = std::fs::remove_file(path);
    let Run { tally, ledger, .. } = Arc::into_inner(run).ok_or("something still holds the run")?;
    figures.take(tally, ledger.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(figures)
}

/// A sign of life.
#[expect(clippy::print_stderr, reason = "it is a program")]
fn progress(run: &Run, time: Duration) {
    let [created, ended] = [&run.tally.created, &run.tally.ended].map(|count| count.load(Ordering::Relaxed));
    let (events, breaches) = (lock(&run.ledger).events(), run.tally.breaches().0);
    let (minutes, heap) = (time.as_secs() / 60, machine::heap() / 1024);
    eprintln!(
        "{minutes} min: {created} mandates, {ended} ended, {events} events, {breaches} breaches, heap {heap} KiB"
    );
}

/// Lets nothing work of one call for a while, again and again.
async fn storms(run: Arc<Run>, mut random: fastrand::Rng) -> Result<(), Failure> {
    let mut next = Instant::now() + STORMS;
    while !run.is_closing() {
        sleep(Duration::from_millis(100)).await;
        if Instant::now() >= next {
            next += STORMS;
            run.control(Method::POST, "/_local/faults", Some(&faults::storm(&mut random))).await?;
        }
    }
    Ok(())
}

/// Until everybody has all that happened, and nothing more comes.
async fn settle(run: &Run) -> Result<(), Failure> {
    let began = Instant::now();
    loop {
        // Longer than the pause between two looks at the history.
        sleep(Duration::from_secs(1)).await;
        let settled = lock(&run.ledger).is_settled();
        let late = began.elapsed() > SETTLING;
        if !settled && !late {
            continue;
        }
        let deliveries = run.control(Method::GET, "/_local/deliveries", None).await?;
        let states = deliveries["data"].as_array().into_iter().flatten().map(|delivery| &delivery["state"]);
        let open = states.filter(|state| *state != "delivered").count();
        if late {
            run.tally
                .breach(format!("not settled after {SETTLING:?}; {open} deliveries are still to be made"));
        }
        if open == 0 || late {
            return Ok(());
        }
    }
}

/// Holds what was seen of the mandates against the server's own list of them.
async fn compare(run: &Run) -> Result<(), Failure> {
    let ended = run.take_ended();
    let mut seen: HashMap<_, _> =
        ended.iter().map(|ended| (&ended.mandate, (ended.job, &ended.status))).collect();
    let mut mandates = run.client.mandates().list(MandateListParams::new().limit(100)).items();
    let mut jobs = HashSet::new();
    while let Some(mandate) = mandates.try_next().await? {
        let job = mandate.metadata.get("job").and_then(|job| job.parse::<u64>().ok());
        let job = job.ok_or("a mandate without a job")?;
        if !jobs.insert(job) {
            run.tally.breach(format!("two mandates were created for job {job}"));
        }
        match seen.remove(&mandate.id) {
            Some((number, status)) if number == job && *status == mandate.status => {}
            Some((_, status)) => {
                run.tally.breach(format!("mandate {job} is {}, and was seen to be {status}", mandate.status))
            }
            None => run.tally.breach(format!("mandate {job} ({}) was never seen to end", mandate.id)),
        }
    }
    if !seen.is_empty() {
        run.tally.breach(format!("{} mandates are not on the server", seen.len()));
    }
    let (listed, happened) =
        (ended.iter().map(|ended| ended.events as u64).sum(), lock(&run.ledger).events());
    if u64::ne(&listed, &happened) {
        run.tally.breach(format!("the mandates have {listed} events, the workspace {happened}"));
    }
    Ok(())
}
