//! Receives webhooks: verifies each, drops those that came before, answers at once and works afterwards.
//!
//!     cargo run --example webhook_server -- [--addr HOST:PORT]
//!
//! With `SHADWAY_WEBHOOK_SECRET` (whsec_…) it serves at /shadway/webhooks, on 127.0.0.1:3000 if no address is given,
//! until it is interrupted. During a rotation it also takes what is signed with `SHADWAY_WEBHOOK_OLD_SECRET`. Without
//! a secret it starts a local server, gets real deliveries from it, a repeat and a rotation among them, and ends.
//!
//! Exit status: 0 at the end, 1 on an error or when something did not come, 2 on bad arguments or configuration.

use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::routing::post;
use shadway::webhooks::{Begun, Dedupe as _, MemoryDedupe, VerifiedEvent, Verifier, WebhookRejection};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use support::{Failure, say, variable};

#[path = "support/rehearsal.rs"]
mod rehearsal;
#[expect(dead_code, reason = "with a secret no call is made")]
#[path = "support/mod.rs"]
mod support;

const USAGE: &str = "usage: webhook_server [--addr HOST:PORT]";
const PATH: &str = "/shadway/webhooks";
/// How many deliveries wait to be worked on. Beyond that the service is asked to come again later.
const QUEUE: usize = 1_000;
/// How many deliveries are remembered, to know a repeat: more than come in a day.
const REMEMBERED: usize = 100_000;
/// How long a shutdown waits for requests under way, and for the work that is left.
const GRACE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let Options { addr, help } = Options::parse().map_err(|why| refuse(format!("{why}; {USAGE}")))?;
    if help {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let on_port = |port| addr.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], port)));
    let Some(secret) = variable("SHADWAY_WEBHOOK_SECRET") else {
        return rehearsal::run(listen(on_port(0)).await?).await;
    };
    let mut verifier = Verifier::new(secret).map_err(refuse)?;
    if let Some(old) = variable("SHADWAY_WEBHOOK_OLD_SECRET") {
        verifier = verifier.also(old).map_err(refuse)?;
    }
    let interruption = interruption().map_err(refuse)?;
    let receiver = Receiver::start(listen(on_port(3000)).await?, verifier);
    interruption.await;
    say(receiver.end().await);
    Ok(ExitCode::SUCCESS)
}

async fn listen(addr: SocketAddr) -> Result<TcpListener, Failure> {
    let refuse = |why: io::Error| refuse(format!("{addr}: {why}"));
    let listener = TcpListener::bind(addr).await.map_err(refuse)?;
    say(format!("listening at http://{}{PATH}", listener.local_addr().map_err(refuse)?));
    Ok(listener)
}

fn refuse(why: impl fmt::Display) -> Failure {
    Failure::configuration(why.to_string())
}

/// A receiver that runs.
struct Receiver {
    app: App,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
    working: JoinHandle<()>,
}

/// What the handler needs.
#[derive(Clone)]
struct App {
    /// Exchanged when a new secret is deployed.
    verifier: Arc<RwLock<Verifier>>,
    seen: Arc<MemoryDedupe>,
    queue: mpsc::Sender<VerifiedEvent>,
    tally: watch::Sender<Tally>,
}

/// How many deliveries came.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    handled: usize,
    repeated: usize,
    refused: usize,
}

impl Receiver {
    fn start(listener: TcpListener, verifier: Verifier) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let app = App {
            verifier: Arc::new(RwLock::new(verifier)),
            seen: Arc::new(MemoryDedupe::new(REMEMBERED)),
            queue,
            tally: watch::Sender::default(),
        };
        let working = tokio::spawn(work(waiting, Arc::clone(&app.seen), app.tally.clone()));
        let router = Router::new().route(PATH, post(receive)).with_state(app.clone());
        let (stop, stopped) = oneshot::channel();
        let server = axum::serve(listener, router).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        let serving = tokio::spawn(async {
            let _ = server.await; // errors of single connections are theirs
        });
        Self { app, stop, serving, working }
    }

    /// From now on only this verifier counts.
    fn deploy(&self, verifier: Verifier) {
        *self.app.verifier.write().unwrap_or_else(PoisonError::into_inner) = verifier;
    }

    /// Answers what is under way, works off what is left, and ends.
    async fn end(self) -> Tally {
        let tally = self.app.tally.subscribe();
        // The work ends with the last one who could add to it.
        drop((self.stop, self.app));
        let _ = timeout(GRACE, self.serving).await;
        let _ = timeout(GRACE, self.working).await;
        *tally.borrow()
    }
}

impl FromRef<App> for Verifier {
    fn from_ref(app: &App) -> Self {
        app.verifier.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Takes a delivery in, and answers before anything is done about it. By then it is verified.
async fn receive(
    State(app): State<App>,
    delivery: Result<VerifiedEvent, WebhookRejection>,
) -> Result<StatusCode, WebhookRejection> {
    let delivery = delivery.inspect_err(|reason| {
        note(reason); // the sender is told nothing but the status
        app.tally.send_modify(|tally| tally.refused += 1);
    })?;
    let id = delivery.id.clone();
    let Ok(begun) = app.seen.begin(&id).await;
    Ok(match begun {
        Begun::New if app.queue.try_send(delivery).is_ok() => StatusCode::NO_CONTENT,
        Begun::New => {
            let Ok(()) = app.seen.release(&id).await; // there is no room: it comes again, as a new one
            StatusCode::SERVICE_UNAVAILABLE
        }
        Begun::InFlight => StatusCode::SERVICE_UNAVAILABLE, // it comes again; by then it is done
        Begun::Done => {
            say(format!("{id}  came before: dropped"));
            app.tally.send_modify(|tally| tally.repeated += 1);
            StatusCode::NO_CONTENT
        }
    })
}

/// Works off the queue. The service has had its answer, so whatever fails here is yours to repeat, and a crash loses
/// the queue: what must not be lost is stored before the answer.
async fn work(
    mut queue: mpsc::Receiver<VerifiedEvent>,
    seen: Arc<MemoryDedupe>,
    tally: watch::Sender<Tally>,
) {
    while let Some(VerifiedEvent { id, event, .. }) = queue.recv().await {
        // Deliveries overtake each other: the sequence is the order within a mandate.
        say(format!("{id}  {} {}  {}", event.mandate, event.sequence, event.event_type));
        let Ok(()) = seen.finish(&id).await;
        tally.send_modify(|tally| tally.handled += 1);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handled, repeated, refused } = self;
        write!(f, "deliveries: {handled} handled, {repeated} repeats dropped, {refused} refused")
    }
}

/// Ends when the program is told to: ready from the moment it is made.
#[cfg(unix)]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn interruption() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

fn note(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[derive(Default)]
struct Options {
    addr: Option<SocketAddr>,
    help: bool,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, Short, ValueExt as _};

        let mut options = Self::default();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("addr") => options.addr = Some(arguments.value()?.parse()?),
                Long("help") | Short('h') => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }
}
