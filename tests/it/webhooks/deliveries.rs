//! What the local server sends, over the network, as a receiver sees it.

use std::time::Duration;

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::post;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::{Event, EventType};
use shadway::local::{DeliveryOutcome, DeliveryRecord, DeliveryState, LocalServer};
use shadway::mandates::MandateCreateParams;
use shadway::types::WebhookEndpointId;
use shadway::webhooks::{
    VerifiedEvent, Verifier, WebhookEndpointCreateParams, WebhookEndpointUpdateParams, WebhookSecret,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
struct App {
    verifier: Verifier,
    got: mpsc::UnboundedSender<VerifiedEvent>,
}

impl FromRef<App> for Verifier {
    fn from_ref(app: &App) -> Self {
        app.verifier.clone()
    }
}

async fn receive(State(app): State<App>, delivery: VerifiedEvent) -> StatusCode {
    app.got.send(delivery).unwrap();
    StatusCode::NO_CONTENT
}

/// A port of this machine, and the endpoint behind it.
struct Port {
    listener: TcpListener,
    url: String,
}

impl Port {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks?token=483921", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Receives what verifies with this secret.
    fn receive(self, secret: &WebhookSecret) -> Receiver {
        let (got, deliveries) = mpsc::unbounded_channel();
        let app = App { verifier: Verifier::new(secret).unwrap(), got };
        serve(self.listener, Router::new().route("/hooks", post(receive)).with_state(app));
        Receiver(deliveries)
    }
}

struct Receiver(mpsc::UnboundedReceiver<VerifiedEvent>);

impl Receiver {
    async fn next(&mut self) -> VerifiedEvent {
        timeout(PATIENCE, self.0.recv()).await.expect("a delivery comes").unwrap()
    }
}

fn serve(listener: TcpListener, router: Router) {
    tokio::spawn(async move { axum::serve(listener, router).await });
}

async fn endpoint(client: &Client, url: &str) -> (WebhookEndpointId, WebhookSecret) {
    let params = WebhookEndpointCreateParams::new(url, [EventType::All]);
    let created = client.webhooks().endpoints().create(params).await.unwrap();
    (created.endpoint.id, created.secret)
}

/// A mandate that has ended, and its events.
async fn mandate(client: &Client) -> Vec<Event> {
    let agent = client.agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap();
    let mandate = MandateCreateParams::new(&agent.id, "Say hello.");
    let work = client.mandate(client.mandates().create(mandate).await.unwrap().id);
    work.cancel("Enough.").await.unwrap();
    work.events().list().items().try_collect().await.unwrap()
}

/// The first entry of the log, once it is as wanted.
async fn logged(server: &LocalServer, wanted: fn(&DeliveryRecord) -> bool) -> DeliveryRecord {
    let look = async {
        loop {
            match server.deliveries().into_iter().next() {
                Some(record) if wanted(&record) => return record,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    timeout(PATIENCE, look).await.expect("the log says so")
}

#[tokio::test]
async fn what_the_local_server_delivers_verifies_and_can_come_again() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let port = Port::new().await;
    let (_, secret) = endpoint(&client, &port.url).await;
    let mut receiver = port.receive(&secret);
    let events = mandate(&client).await;
    let delivery = receiver.next().await;
    assert_eq!((&delivery.event, events.len()), (&events[0], 1));
    let record = logged(&server, |record| record.state == DeliveryState::Delivered).await;
    assert_eq!((&record.id, &record.event), (&delivery.id, &delivery.event.id));

    server.redeliver(&record.id).unwrap();
    let again = receiver.next().await;
    assert_eq!((again.id, again.event), (delivery.id, delivery.event));
}

#[tokio::test]
async fn after_a_rotation_a_receiver_with_the_old_secret_and_one_with_the_new_both_verify() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let (not_yet, already) = (Port::new().await, Port::new().await);
    let (id, old) = endpoint(&client, &not_yet.url).await;
    let new = client.webhooks().endpoints().rotate_secret(&id).await.unwrap().secret;
    let moved = WebhookEndpointUpdateParams::new().url(&already.url);
    let (mut with_old, mut with_new) = (not_yet.receive(&old), already.receive(&new));
    mandate(&client).await;
    let delivery = with_old.next().await;
    client.webhooks().endpoints().update(&id, moved).await.unwrap();
    server.redeliver(&delivery.id).unwrap();
    assert_eq!(with_new.next().await.id, delivery.id);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let (port, elsewhere) = (Port::new().await, Port::new().await);
    let (_, secret) = endpoint(&client, &port.url).await;
    let url = elsewhere.url.clone();
    let mut receiver = elsewhere.receive(&secret);
    serve(port.listener, Router::new().route("/hooks", post(async move || Redirect::temporary(&url))));
    mandate(&client).await;
    let record = logged(&server, |record| !record.attempts.is_empty()).await;
    assert_eq!(record.attempts[0].outcome, DeliveryOutcome::Answered(StatusCode::TEMPORARY_REDIRECT));
    assert_eq!(record.state, DeliveryState::Pending);
    assert!(receiver.0.try_recv().is_err());
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_in_the_log_without_its_url() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let port = Port::new().await;
    endpoint(&client, &port.url).await;
    drop(port);
    mandate(&client).await;
    let record = logged(&server, |record| !record.attempts.is_empty()).await;
    let DeliveryOutcome::Unanswered(why) = &record.attempts[0].outcome else { panic!("{record:?}") };
    assert!(!why.is_empty() && !why.contains("483921"), "{why}");
    assert!(record.next_attempt_at.is_some());
}
