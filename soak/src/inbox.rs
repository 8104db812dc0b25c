//! Receives the webhook deliveries: verifies them, drops what it knows, fails now and then.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::routing::post;
use fastrand::Rng;
use http::StatusCode;
use shadway::webhooks::{
    Begun, Dedupe as _, MemoryDedupe, VerifiedEvent, Verifier, WebhookEndpointCreateParams, WebhookRejection,
};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::ledger::{self, Wanted};
use crate::run::{Failure, Run};
use crate::tally::{add, lock};

/// How many deliveries are remembered: those of some minutes, while repeats come within seconds.
const REMEMBERED: usize = 20_000;

/// Each with its name, what it subscribes to, and which events those are. The server makes eight deliveries at a time to
/// each, too few on a busy machine for an endpoint of all events, or of all changes of a status, which two of three are.
pub(crate) const ALL: &[(&str, &[&str], Wanted)] = &[
    ("webhooks, actions begun", &["capability.execution_started"], ledger::begun),
    ("webhooks, actions done", &["capability.execution_completed"], ledger::done),
    ("webhooks, decisions", &["mandate.approval_requested", "approval.resolved"], ledger::decisions),
];

#[derive(Clone)]
struct Inbox {
    run: Arc<Run>,
    verifier: Verifier,
    dedupe: Arc<MemoryDedupe>,
    receiver: usize,
    random: Arc<Mutex<Rng>>,
}

impl FromRef<Inbox> for Verifier {
    fn from_ref(inbox: &Inbox) -> Self {
        inbox.verifier.clone()
    }
}

/// What serves the endpoints.
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Serving {
    pub(crate) async fn stop(self) -> Result<(), Failure> {
        drop(self.stop);
        Ok(self.task.await??)
    }
}

/// Registers an endpoint for these types of events, and takes what comes.
pub(crate) async fn open(run: &Arc<Run>, receiver: usize, types: &[&str]) -> Result<Serving, Failure> {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    let url = format!("http://{}/webhooks", listener.local_addr()?);
    let params = WebhookEndpointCreateParams::new(url, types.iter().copied());
    let created = run.client.webhooks().endpoints().create(params).await?;
    let inbox = Inbox {
        run: Arc::clone(run),
        verifier: Verifier::new(created.secret)?,
        dedupe: Arc::new(MemoryDedupe::new(REMEMBERED)),
        receiver,
        random: Arc::new(Mutex::new(run.random(u64::MAX / 2 - receiver as u64))),
    };
    let router = Router::new().route("/webhooks", post(receive)).with_state(inbox);
    let (stop, stopped) = oneshot::channel::<()>();
    let serve = axum::serve(listener, router).with_graceful_shutdown(async {
        // Sent or dropped, it is over.
        let _ = stopped.await;
    });
    let task = tokio::spawn(async move { serve.await });
    Ok(Serving { stop, task })
}

async fn receive(
    State(inbox): State<Inbox>,
    delivery: Result<VerifiedEvent, WebhookRejection>,
) -> Result<StatusCode, WebhookRejection> {
    let tally = &inbox.run.tally;
    add(&tally.deliveries);
    let delivery = delivery.inspect_err(|_| add(&tally.refused))?;
    let Ok(begun) = inbox.dedupe.begin(&delivery.id).await;
    match begun {
        Begun::Done => {
            add(&tally.known);
            Ok(StatusCode::NO_CONTENT)
        }
        Begun::InFlight => Ok(StatusCode::SERVICE_UNAVAILABLE),
        Begun::New if lock(&inbox.random).u8(..50) == 0 => {
            add(&tally.dropped);
            let Ok(()) = inbox.dedupe.release(&delivery.id).await;
            Ok(StatusCode::INTERNAL_SERVER_ERROR)
        }
        Begun::New => {
            tokio::time::sleep(Duration::from_millis(2)).await;
            lock(&inbox.run.ledger).handled(inbox.receiver, &delivery.event.id);
            add(&tally.handled);
            let Ok(()) = inbox.dedupe.finish(&delivery.id).await;
            Ok(StatusCode::NO_CONTENT)
        }
    }
}
