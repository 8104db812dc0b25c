//! All of the crate at once, on a faulty server over real sockets, for as long as it is told to.
//!
//!     cargo run -p soak -- [--seconds 60] [--seed N] [--mandates 200]
//!
//! Exit status: 0 when all held, 1 when something did not, 2 on bad arguments.

mod faults;
mod figures;
mod follow;
mod inbox;
mod job;
mod ledger;
mod machine;
mod run;
mod server;
mod tally;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Method;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::{EventType, MemoryCheckpoint};
use shadway::mandates::MandateListParams;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use figures::Figures;
use follow::{Consumer, Store};
use run::{Failure, Run};
use server::Server;
use tally::lock;

const USAGE: &str = "usage: soak [--seconds SECONDS] [--seed SEED] [--mandates COUNT]";
/// How long the last mandates, deliveries and connections have to come to their end.
const SETTLING: Duration = Duration::from_secs(120);
const CLOSING: Duration = Duration::from_secs(15);
/// How often a storm begins.
const STORMS: Duration = Duration::from_secs(7);

struct Options {
    serve: bool,
    time: Duration,
    seed: u64,
    mandates: u64,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let seed = fastrand::u64(..1_000_000);
        let mut options = Self { serve: false, time: Duration::from_secs(60), seed, mandates: 200 };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("seconds") => options.time = Duration::from_secs(arguments.value()?.parse()?),
                Long("seed") => options.seed = arguments.value()?.parse()?,
                Long("mandates") => options.mandates = arguments.value()?.parse()?,
                Value(value) if value == "serve" => options.serve = true,
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(options)
    }
}

#[tokio::main]
#[expect(clippy::print_stderr, clippy::print_stdout, reason = "it is a program")]
async fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}; {USAGE}");
            return ExitCode::from(2);
        }
    };
    if options.serve {
        return match server::serve(options.seed).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the server: {error}");
                ExitCode::FAILURE
            }
        };
    }
    println!("{} mandates at a time for {:?}, seed {}", options.mandates, options.time, options.seed);
    match soak(&options).await {
        Ok(figures) => {
            println!("{figures}");
            if figures.breaches.is_empty() {
                return ExitCode::SUCCESS;
            }
            println!("Not as it has to be, with seed {}:", options.seed);
            figures.breaches.iter().for_each(|breach| println!("- {breach}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("It could not go on, with seed {}: {error}", options.seed);
            ExitCode::FAILURE
        }
    }
}

async fn soak(options: &Options) -> Result<Figures, Failure> {
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
    let client = Client::builder()
        .api_key("sk_test_local")
        .base_url(&server.url)
        .attempt_timeout(Duration::from_secs(2))
        .build()?;
    let agent = AgentCreateParams::new("Assistant", "local/simulated").capabilities(server::CAPABILITIES);
    let agent = client.agents().create(agent).await?.id;
    let run = Arc::new(Run::new(options.seed, client, agent));
    run.control(Method::POST, "/_local/scenario", Some(&server::scripts(&mut random))).await?;

    let path = std::env::temp_dir().join(format!("shadway-soak-{}.json", std::process::id()));
    let mut inboxes = Vec::new();
    for (name, types, wanted) in RECEIVERS {
        let receiver = lock(&run.ledger).receiver(name, *wanted);
        inboxes.push(inbox::open(&run, receiver, types).await?);
    }
    let mut followers = JoinSet::new();
    for consumer in consumers(path.clone()) {
        let wanted = if consumer.types.is_empty() { all } else { decisions };
        let reader = lock(&run.ledger).reader(consumer.name, wanted);
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
    for _ in 0..options.mandates {
        let numbers = Arc::clone(&numbers);
        busy.spawn(job::keep_busy(Arc::clone(&run), move || numbers.fetch_add(1, Ordering::Relaxed)));
    }
    let mut figures = Figures::new(options.time);
    let began = Instant::now();
    let storms = tokio::spawn(storms(Arc::clone(&run), random));
    while began.elapsed() < options.time {
        sleep(Duration::from_millis(250).min(options.time)).await;
        figures.sample(began.elapsed(), machine::heap(), machine::sockets(std::process::id())?);
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
    figures.take(tally, ledger.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    Ok(figures)
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

type Receiver = (&'static str, &'static [&'static str], ledger::Wanted);
const RECEIVERS: &[Receiver] = &[
    ("webhooks, all events", &["*"], all),
    ("webhooks, decisions", &["mandate.approval_requested", "approval.resolved"], decisions),
];

fn all(_: &EventType) -> bool {
    true
}

fn decisions(event_type: &EventType) -> bool {
    matches!(event_type, EventType::MandateApprovalRequested | EventType::ApprovalResolved)
}

fn consumers(path: std::path::PathBuf) -> [Consumer; 4] {
    let decisions = vec![EventType::MandateApprovalRequested, EventType::ApprovalResolved];
    let consumer = |name, restarts, types: &[EventType]| Consumer {
        name,
        store: Store::Memory(MemoryCheckpoint::new()),
        restarts,
        types: types.to_vec(),
    };
    [
        consumer("events", false, &[]),
        consumer("events, with restarts", true, &[]),
        Consumer { store: Store::File(path), ..consumer("events, from a file, with restarts", true, &[]) },
        consumer("decisions, with restarts", true, &decisions),
    ]
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
    let mut seen: std::collections::HashMap<_, _> =
        ended.iter().map(|ended| (&ended.mandate, (ended.job, &ended.status))).collect();
    let mut mandates = run.client.mandates().list(MandateListParams::new().limit(100)).items();
    let mut jobs = std::collections::HashSet::new();
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
