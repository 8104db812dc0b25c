//! What is sent to webhook endpoints, with a receiver in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use jiff::Timestamp;

use super::*;
use crate::agents::AgentCreateParams;
use crate::clock;
use crate::events::{Event, EventType};
use crate::local::{DeliveryOutcome, DeliveryRecord, DeliveryState, RedeliverError};
use crate::mandates::MandateCreateParams;
use crate::transport::{Body, HttpError, HttpFuture, HttpService};
use crate::webhooks::{
    Verifier, VerifyError, WebhookEndpointCreateParams, WebhookEndpointCreated, WebhookEndpointStatus,
    WebhookEndpointUpdateParams, WebhookSecret,
};

mod attempts;
mod endpoints;
mod faults;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Long enough for all attempts of a delivery.
const LONG: Duration = Duration::from_secs(12 * 60 * 60);

/// How a receiver takes a delivery.
#[derive(Debug, Clone, Copy)]
enum Takes {
    With(u16),
    NoConnection,
    Silently,
}

/// What is sent to stands in for every endpoint: keeps each request, and answers as it is told, then with 204.
#[derive(Debug, Default)]
struct Receiver {
    answers: Mutex<VecDeque<Takes>>,
    always: Mutex<Option<Takes>>,
    got: Mutex<Vec<Request<Bytes>>>,
}

impl HttpService for Receiver {
    fn call(&self, request: Request<Bytes>) -> HttpFuture<'_> {
        self.got.lock().unwrap().push(request);
        let always = *self.always.lock().unwrap();
        let takes = always.or_else(|| self.answers.lock().unwrap().pop_front());
        Box::pin(async move {
            let status = match takes.unwrap_or(Takes::With(204)) {
                Takes::With(status) => StatusCode::from_u16(status).unwrap(),
                Takes::NoConnection => return Err(HttpError::connect("connection refused")),
                Takes::Silently => std::future::pending().await,
            };
            let mut response = http::Response::new(Body::from("seen"));
            *response.status_mut() = status;
            Ok(response)
        })
    }
}

/// A delivery as it came.
struct Got {
    path: String,
    id: String,
    event: Event,
    request: Request<Bytes>,
}

struct Stage {
    server: LocalServer,
    client: Client,
    receiver: Arc<Receiver>,
}

impl Stage {
    async fn new() -> Self {
        let receiver = Arc::new(Receiver::default());
        let server =
            LocalServer::builder().clock(LocalClock::Real).start_with(receiver.clone()).await.unwrap();
        let client =
            Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
        Self { server, client, receiver }
    }

    async fn endpoint(&self, path: &str, types: &[EventType]) -> WebhookEndpointCreated {
        let url = format!("https://hooks.example{path}");
        let params = WebhookEndpointCreateParams::new(url, types.to_vec());
        self.client.webhooks().endpoints().create(params).await.unwrap()
    }

    async fn set(&self, endpoint: &WebhookEndpointCreated, status: WebhookEndpointStatus) {
        let params = WebhookEndpointUpdateParams::new().status(status);
        self.client.webhooks().endpoints().update(&endpoint.endpoint.id, params).await.unwrap();
    }

    async fn rotate(&self, endpoint: &WebhookEndpointCreated) -> WebhookSecret {
        self.client.webhooks().endpoints().rotate_secret(&endpoint.endpoint.id).await.unwrap().secret
    }

    /// A mandate from its beginning to its end; its events.
    async fn mandate(&self) -> Vec<Event> {
        let agent = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
        let agent = self.client.agents().create(agent).await.unwrap();
        let params = MandateCreateParams::new(&agent.id, "Ask for a quote.");
        let work = self.client.mandate(self.client.mandates().create(params).await.unwrap().id);
        work.wait().await.unwrap();
        let events = work.events().list().items().try_collect().await.unwrap();
        // What is sent last is reported.
        tokio::time::sleep(Duration::from_millis(1)).await;
        events
    }

    /// One event alone, and the last delivery of it.
    async fn one(&self) -> DeliveryRecord {
        let before = self.server.deliveries().len();
        let agent = self.client.agents().create(AgentCreateParams::new("A", "m/m")).await.unwrap();
        let params = MandateCreateParams::new(&agent.id, "Ask for a quote.");
        let work = self.client.mandate(self.client.mandates().create(params).await.unwrap().id);
        work.cancel("Enough.").await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
        let log = self.server.deliveries();
        assert!(log.len() > before);
        log.into_iter().last().unwrap()
    }

    fn tell(&self, answers: impl IntoIterator<Item = Takes>) {
        self.receiver.answers.lock().unwrap().extend(answers);
    }

    fn always(&self, takes: impl Into<Option<Takes>>) {
        *self.receiver.always.lock().unwrap() = takes.into();
    }

    /// What came since this was last asked.
    fn got(&self) -> Vec<Got> {
        let requests = std::mem::take(&mut *self.receiver.got.lock().unwrap());
        let read = |request: Request<Bytes>| Got {
            path: request.uri().path().to_owned(),
            id: request.headers()["shadway-webhook-id"].to_str().unwrap().to_owned(),
            event: serde_json::from_slice(request.body()).unwrap(),
            request,
        };
        requests.into_iter().map(read).collect()
    }

    fn record(&self, id: &str) -> DeliveryRecord {
        self.server.deliveries().into_iter().find(|record| record.id == id).unwrap()
    }
}

impl Got {
    fn verifies_with(&self, secret: &WebhookSecret) -> bool {
        self.verified_with(secret).is_ok_and(|id| id == self.id)
    }

    /// The delivery's id as a receiver gets to know it.
    fn verified_with(&self, secret: &WebhookSecret) -> Result<String, VerifyError> {
        let verifier = Verifier::new(secret).unwrap();
        let delivery = verifier.verify(self.request.headers(), self.request.body())?;
        Ok(delivery.id().to_owned())
    }

    fn signatures(&self) -> usize {
        self.request.headers()["shadway-signature"].to_str().unwrap().matches(",v1=").count()
    }
}

fn after(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_event_goes_to_each_endpoint_that_wants_it_as_it_is_streamed() {
    let stage = Stage::new().await;
    let earlier = stage.mandate().await;
    let all = stage.endpoint("/all", &[EventType::All]).await;
    let some = stage.endpoint("/some", &[EventType::MandateStatusChanged]).await;
    let events = stage.mandate().await;
    let got = stage.got();

    let ids = |path: &str| {
        let mine = got.iter().filter(|got| got.path == path);
        mine.map(|got| got.event.id.clone()).collect::<Vec<_>>()
    };
    let changes = events.iter().filter(|event| event.event_type == EventType::MandateStatusChanged);
    assert_eq!(ids("/all"), events.iter().map(|event| event.id.clone()).collect::<Vec<_>>());
    assert_eq!(ids("/some"), changes.map(|event| event.id.clone()).collect::<Vec<_>>());
    assert!(ids("/some").len() > 1 && ids("/some").len() < events.len());
    assert!(!got.iter().any(|got| earlier.iter().any(|event| event.id == got.event.id)), "from before");

    for got in &got {
        let event = events.iter().find(|event| event.id == got.event.id).unwrap();
        assert_eq!(got.request.body(), &serde_json::to_string(event).unwrap());
        assert_eq!(got.request.method(), "POST");
        assert_eq!(got.request.headers()["content-type"], "application/json");
        assert!(got.id.starts_with("whd_") && !got.id.contains('.'));
        let (own, other) = if got.path == "/all" { (&all, &some) } else { (&some, &all) };
        assert!(got.verifies_with(&own.secret) && !got.verifies_with(&other.secret));
        assert_eq!(got.signatures(), 1);
    }
    let distinct: std::collections::BTreeSet<_> = got.iter().map(|got| got.id.as_str()).collect();
    assert_eq!(distinct.len(), got.len());
}

#[tokio::test(start_paused = true)]
async fn the_log_says_what_was_sent_and_how_it_was_taken() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await.endpoint;
    let events = stage.mandate().await;
    let log = stage.server.deliveries();
    assert_eq!(log.len(), events.len());
    for (record, event) in log.iter().zip(&events) {
        assert_eq!((&record.endpoint, &record.event), (&endpoint.id, &event.id));
        assert_eq!(record.event_type, event.event_type);
        assert_eq!((record.state, record.next_attempt_at), (DeliveryState::Delivered, None));
        let attempt = &record.attempts[0];
        assert_eq!(attempt.outcome, DeliveryOutcome::Answered(StatusCode::NO_CONTENT));
        assert_eq!((Some(attempt.at), record.attempts.len()), (event.created_at, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_signature_has_the_time_of_day_whatever_the_clock_of_the_server_says() {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    tokio::time::sleep(HOUR * 24 * 30).await;
    let record = stage.one().await;
    let got = &stage.got()[0];
    assert!(got.verifies_with(&secret), "by this machine's clock");
    let ahead = after(clock::timestamp(), got.event.created_at.unwrap());
    assert!(ahead > HOUR * 24 * 29, "the event's time is the server's: {ahead:?}");
    assert_eq!(Some(record.attempts[0].at), got.event.created_at);
}

#[tokio::test(start_paused = true)]
async fn no_secret_prints() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    stage.rotate(&endpoint).await;
    stage.always(Takes::Silently);
    stage.one().await;
    let printed = stage.server.shared.with(|workspace, _| format!("{workspace:?}"));
    assert!(printed.contains("hooks.example") && !printed.contains("whsec_"));
    let printed = format!("{:?} {:?}", stage.server, stage.got()[0].request);
    assert!(!printed.contains("v1="), "{printed}");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_sends_nothing_more() {
    let stage = Stage::new().await;
    stage.endpoint("/", &[EventType::All]).await;
    stage.always(Takes::Silently);
    stage.one().await;
    assert_eq!(Arc::strong_count(&stage.receiver), 3, "ours, the server's, and that of the attempt");
    stage.server.shutdown().await;
    drop(stage.client);
    tokio::time::sleep(LONG).await;
    assert_eq!((Arc::strong_count(&stage.receiver), stage.receiver.got.lock().unwrap().len()), (1, 1));
}
