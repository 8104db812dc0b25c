//! Keys, endpoint secrets and what a person gives for one action are seen by nobody but whom they are for.

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::FromRequest as _;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::approvals::{ApprovalApproveParams, ApprovalInputs, ApprovalListParams};
use shadway::capabilities::{Capability, CapabilityEffect, CapabilityRegisterParams, Executor};
use shadway::events::{Checkpoint as _, FileCheckpoint};
use shadway::local::{Fault, LocalServer, Scenario};
use shadway::mandates::MandateCreateParams;
use shadway::transport::{Body, HttpError};
use shadway::types::{ListParams, RawJson};
use shadway::webhooks::{
    MemoryDedupe, Signer, VerifiedEvent, Verifier, VerifyError, WebhookEndpointCreateParams,
    WebhookEndpointCreated, WebhookEndpointSecretRotated, WebhookSecret, check_dedupe,
};

use crate::support::recorder::Recorder;
use crate::support::streams::{End, Player, event, open, refusal};
use crate::support::{Script, Step, agent, mandate};

mod repeated;
mod scan;

/// In every secret below, and in nothing else.
const WORD: &str = "s3cr3t";
const KEY: &str = "sk_test_s3cr3t";
const ENDPOINT_SECRET: &str = "whsec_s3cr3t0123456789abcdef";
const INPUT: &str = "483921-s3cr3t";

/// Prints all that it is shown, in every way there is, and looks for the word.
#[derive(Clone, Default)]
struct Show(Arc<Mutex<BTreeSet<String>>>);

impl Show {
    fn value<T: Debug>(&self, value: &T) {
        let name = std::any::type_name::<T>();
        for text in [format!("{value:?}"), format!("{value:#?}")] {
            assert!(!text.contains(WORD), "{name}: {text}");
        }
        let path = name.split('<').next().unwrap();
        self.0.lock().unwrap().insert(path.rsplit("::").next().unwrap().to_owned());
    }

    /// An error as it prints, with all below it; and as it stops a program that takes it for impossible.
    fn error(&self, error: impl StdError) {
        self.value(&error);
        let mut layer: Option<&dyn StdError> = Some(&error);
        while let Some(error) = layer {
            let said = format!("{error} {error:?}");
            assert!(!said.contains(WORD), "{said}");
            layer = error.source();
        }
        let panic = catch_unwind(AssertUnwindSafe(|| unexpected(error).unwrap())).unwrap_err();
        let said = panic.downcast::<String>().expect("a message");
        assert!(said.starts_with("called `Result::unwrap()`") && !said.contains(WORD), "{said}");
    }
}

/// What a program holds that takes an error for impossible.
fn unexpected<E>(error: E) -> Result<(), E> {
    Err(error)
}

/// Every call's request has secrets wherever one can be.
fn full_call(client: &Client) -> shadway::call::Call<bytes::Bytes> {
    let call = client.request(Method::POST, "/v1/s3cr3t").query("token", "s3cr3t");
    call.header("x-token", "s3cr3t").json(&json!({"otp": INPUT}))
}

fn approval_params() -> ApprovalApproveParams {
    ApprovalApproveParams::new().reason("Reviewed.").input("otp", INPUT)
}

#[tokio::test(start_paused = true)]
async fn no_public_type_that_can_hold_a_secret_shows_one() {
    let (recorder, _guard) = Recorder::start();
    let show = Show::default();
    client_and_calls(&show).await;
    streams_and_waits(&show).await;
    webhooks(&show).await;
    capabilities_and_local_server(&show).await;

    for told in recorder.told() {
        assert!(!format!("{told:?}").contains(WORD), "{told:?}");
    }
    assert!(recorder.spans().len() > 10, "it was listened to");
    let shown = show.0.lock().unwrap().clone();
    let to_show = scan::public_types_that_can_hold_a_secret();
    assert!(to_show.len() > 40, "the scan finds them: {to_show:#?}");
    let forgotten: Vec<_> = to_show.difference(&shown).collect();
    assert!(forgotten.is_empty(), "show these too: {forgotten:#?}");
}

async fn client_and_calls(show: &Show) {
    let builder = || Client::builder().api_key(KEY).default_header("x-proxy-token", "s3cr3t");
    show.value(&builder().base_url("https://user:s3cr3t@host"));
    show.error(builder().base_url("https://user:s3cr3t@host").build().unwrap_err());
    show.error(builder().base_url("http://s3cr3t@host").build().unwrap_err());
    show.error(builder().default_header("x-more", "s3cr3t\n").build().unwrap_err());
    show.error(builder().default_header("authorization", KEY).build().unwrap_err());
    show.error(Client::builder().api_key(format!("{KEY}\n")).build().unwrap_err());
    show.error(Client::builder().api_key(format!("{KEY} ü")).build().unwrap_err());

    let steps = [
        Step::Broken,
        Step::Refused,
        Step::Hang,
        Step::CutBody(200, "{".into()),
        Step::error(503, "busy"),
        Step::error(401, "unauthorized"),
        Step::text(500, "<html>"),
        Step::text(302, "").with_header("location", "https://user:s3cr3t@a.example/?token=s3cr3t"),
        Step::text(200, vec![b' '; 9_000]),
    ];
    for step in steps {
        let script = Script::new([step]);
        let client = builder().http_service(script.clone()).max_response_bytes(8_000).build().unwrap();
        show.value(&client);
        show.error(full_call(&client).await.unwrap_err());
        show.error(
            full_call(&client).without_idempotency_key().timeout(Duration::from_millis(9)).await.unwrap_err(),
        );
        show.error(client.approvals().approve("apr_1", approval_params()).await.unwrap_err());
        let sent = script.seen();
        assert!(
            sent.iter().any(|seen| seen.header("authorization") == Some("Bearer sk_test_s3cr3t")),
            "it was there"
        );
    }
    let script = Script::new([Step::json(200, &agent())]);
    let client = builder().http_service(script).build().unwrap();
    show.value(&full_call(&client));
    show.error(full_call(&client).header("x-bad", "s3cr3t\n").await.unwrap_err());
    show.error(full_call(&client).idempotency_key("s3cr3t ").await.unwrap_err());
    show.error(client.request(Method::GET, "/v1/a?token=s3cr3t").await.unwrap_err());
    show.value(&client.approvals().approve("apr_1", approval_params()));
    show.value(&client.agents().get("agt_1").with_response().await.unwrap());
    // An answer that is no approval: the error names what is missing, and nothing of what was sent.
    show.error(client.approvals().approve("apr_1", approval_params()).await.unwrap_err());

    show.value(&client.agents());
    show.value(&client.approvals());
    show.value(&client.artifacts());
    show.value(&client.capabilities());
    show.value(&client.events());
    show.value(&client.mandates());
    show.value(&client.mandate("mnd_1"));
    show.value(&client.mandate("mnd_1").facts());
    show.value(&client.mandate("mnd_1").events());
    show.value(&client.webhooks());
    show.value(&client.webhooks().endpoints());
    show.value(&client.agents().list(ListParams::new()).items());
    show.value(&client.agents().list(ListParams::new()).pages());

    show.value(&Body::from(INPUT));
    show.error(HttpError::other("the connection was reset"));
    show.value(&approval_params());
    show.value(&approval_params().inputs);
    for misfit in [r#"{"otp":["s3cr3t"]}"#, r#""s3cr3t""#, r#"{"otp":"s3cr3t","#] {
        show.error(serde_json::from_str::<ApprovalInputs>(misfit).unwrap_err());
    }
}

async fn streams_and_waits(show: &Show) {
    let player = Player::new([
        refusal(503),
        open().send(event(1)).send("data: s3cr3t\n\n").then(End::Cut),
        open().send(event(2)),
        refusal(403),
    ]);
    let client = player.builder().api_key(KEY).default_header("x-proxy-token", "s3cr3t").build().unwrap();
    let work = client.mandate("mnd_1");
    let states = show.clone();
    let mut events = work.events().stream().observer(move |state| states.value(state));
    show.value(&events);
    events.try_next().await.unwrap().unwrap();
    events.try_next().await.unwrap().unwrap();
    show.value(&events);
    show.error(client.events().stream().next().await.unwrap().unwrap_err());

    let limit = Duration::from_secs(1);
    show.value(&work.wait());
    show.value(&work.wait().updates());
    show.value(&work.wait_for_approval());
    show.value(&client.agents().wait_until_ready("agt_1"));
    let watcher = client.watcher();
    show.value(&watcher);
    show.value(&watcher.wait("mnd_1"));
    show.value(&watcher.wait_for_approval("mnd_1"));
    show.value(&watcher.events("mnd_1"));
    show.error(work.wait().timeout(limit).await.unwrap_err());
    show.error(watcher.wait("mnd_1").timeout(limit).await.unwrap_err());

    let path =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("secrets-{}", std::process::id()));
    std::fs::write(&path, "s3cr3t").unwrap();
    let file = FileCheckpoint::new(&path);
    let error = file.load("workspace").await.unwrap_err();
    show.error(*error.downcast::<shadway::events::CheckpointFileError>().unwrap());
    show.error(client.events().stream().checkpoint(file).next().await.unwrap().unwrap_err());
    std::fs::remove_file(&path).unwrap();
}

async fn webhooks(show: &Show) {
    show.value(&WebhookSecret::from(ENDPOINT_SECRET));
    let endpoint = json!({"id": "whe_1", "url": "https://a.example"});
    let created = json!({"endpoint": endpoint, "secret": ENDPOINT_SECRET});
    show.value(&serde_json::from_value::<WebhookEndpointCreated>(created.clone()).unwrap());
    show.value(&serde_json::from_value::<WebhookEndpointSecretRotated>(created.clone()).unwrap());
    let script = Script::new([
        Step::json(201, &created),
        Step::json(201, &json!({"endpoint": endpoint, "secret": [ENDPOINT_SECRET]})),
        Step::json(201, &json!({"secret": ENDPOINT_SECRET})),
        Step::text(201, format!(r#"{{"secret":"{ENDPOINT_SECRET}""#)),
    ]);
    let endpoints = script.client().webhooks().endpoints();
    let create = || endpoints.create(WebhookEndpointCreateParams::new("https://a.example", ["*"]));
    show.value(&create().with_response().await.unwrap());
    for _ in 0..3 {
        show.error(create().await.unwrap_err());
    }

    let signer = Signer::new(ENDPOINT_SECRET).unwrap();
    let verifier = Verifier::new(ENDPOINT_SECRET).unwrap();
    show.value(&signer);
    show.value(&verifier);
    for bad in ["s3cr3t", "sk_test_s3cr3t", "'whsec_s3cr3t'", "whsec_s3cr3t", "whsec_s3cr3t ü"] {
        show.error(Verifier::new(bad).unwrap_err());
        show.error(VerifyError::from(Signer::new(bad).unwrap_err()));
    }
    let body = "s3cr3t";
    let headers = signer.sign("dlv_1", body).unwrap();
    let delivery = verifier.verify(&headers, body).unwrap();
    show.value(&delivery);
    show.error(delivery.event().unwrap_err());
    show.error(verifier.verify(&headers, "s3cr3t!").unwrap_err());
    let mut request = http::Request::new(axum::body::Body::from(body));
    for (name, value) in headers.pairs() {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    show.error(VerifiedEvent::from_request(request, &verifier).await.unwrap_err());
    show.value(&MemoryDedupe::new(1));
    show.error(check_dedupe(&MemoryDedupe::new(1)).await.unwrap_err());

    let download = json!({"url": "https://files.example/art_1?signature=s3cr3t"});
    let script = Script::new([Step::json(200, &download), Step::json(200, &json!({"url": [download]}))]);
    let artifacts = script.client().artifacts();
    let download = artifacts.download("art_1").await.unwrap();
    show.value(&download);
    show.value(&download.url);
    show.error(artifacts.download("art_1").await.unwrap_err());
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    otp: String,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    number: u64,
}

async fn order(order: Order) -> Result<Ordered, std::io::Error> {
    Ok(Ordered { number: order.otp.len() as u64 })
}

async fn capabilities_and_local_server(show: &Show) {
    let defined = Capability::define::<Order, Ordered>("bank.order", "Order.");
    show.value(&defined);
    let defined = defined.execute(order);
    show.value(&defined);
    show.error(defined.invoke(json!({"otp": [INPUT]})).await.map(|ordered| ordered.number).unwrap_err());
    show.value(&Executor::from(&defined));

    let builder = LocalServer::builder();
    show.value(&builder);
    let server = builder.start().await.unwrap();
    show.value(&server);
    show.value(&server.service());
    let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
    let input = json!({"type": "object", "properties": {"otp": {"type": "string"}}});
    let pay = CapabilityRegisterParams::new("bank.pay", "Pay.", input, json!({"type": "object"}));
    client.capabilities().register(pay.effect(CapabilityEffect::Irreversible)).await.unwrap();
    // It fails once and panics once, and repeats what it was given either time.
    let runs = Arc::new(Mutex::new(0));
    let inside = Arc::clone(&runs);
    server.connect(Executor::new("bank.pay", move |input: RawJson| {
        *inside.lock().unwrap() += 1;
        assert!(input.get().contains(INPUT), "it is given to the function");
        assert!(*inside.lock().unwrap() < 2, "no such code: {}", input.get());
        async move { Err::<RawJson, _>(std::io::Error::other(format!("no such code: {}", input.get()))) }
    }));
    let agent = AgentCreateParams::new("A", "p/m").capabilities(["bank.pay"]);
    let agent = client.agents().create(agent).await.unwrap();
    for _ in 0..2 {
        let created = client.mandates().create(MandateCreateParams::new(&agent.id, "Pay.")).await.unwrap();
        let work = client.mandate(&created.id);
        let asked = work.wait_for_approval().await.unwrap().expect("it asks");
        let approved = client.approvals().approve(&asked.id, approval_params()).await.unwrap();
        show.value(&approved);
        show.value(&work.wait().await.unwrap());
        show.value(&work.events().list().items().try_collect::<Vec<_>>().await.unwrap());
        show.value(&work.issues().list().await.unwrap());
        show.value(&work.evidence().list().await.unwrap());
        show.value(&client.approvals().list(ApprovalListParams::new()).await.unwrap());
    }
    assert_eq!(*runs.lock().unwrap(), 2);
    for request in server.requests() {
        show.value(&request);
    }
    show.value(&server.approvals());
    show.value(&Fault::close().on(Method::POST, "/v1/mandates"));
    show.value(&shadway::local::Script::any().ask("Which code?", ["otp"]));
    let scenario = json!({"endpoints": [{"url": "http://127.0.0.1:9/s", "subscribedEvents": ["*"]}]});
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    show.value(&scenario);
    let loaded = server.load(scenario).await.unwrap();
    let secret = loaded.endpoints[0].secret.expose();
    assert!(!format!("{loaded:?}").contains(secret));
    show.value(&loaded);
    show.value(&server);
    show.value(&server.service());
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_told_to_tracing_holds_a_key_an_id_a_query_a_header_or_a_body() {
    let (recorder, guard) = Recorder::start();
    let script = Script::new([
        Step::error(503, "busy"),
        Step::Broken,
        Step::json(201, &agent()),
        Step::json(200, &mandate("completed")),
        Step::text(404, r#"{"error":{"type":"t","message":"no mandate s3cr3t"}}"#)
            .with_header("x-other", "s3cr3t"),
    ]);
    let client = script.builder().api_key(KEY).default_header("x-proxy-token", "s3cr3t").build().unwrap();
    let create = client.agents().create(AgentCreateParams::new("s3cr3t", "p/m"));
    create.header("x-token", "s3cr3t").query("token", "s3cr3t").idempotency_key("s3cr3t").await.unwrap();
    client.mandates().get("s3cr3t").await.unwrap();
    client.mandates().get("s3cr3t").await.unwrap_err();
    full_call(&client).await.unwrap_err();
    let player =
        Player::new([open().send("id: s3cr3t\ndata: {}\n\n").then(End::Cut), refusal(503), refusal(403)]);
    let client = player.builder().api_key(KEY).build().unwrap();
    client.mandate("s3cr3t").events().stream().resume_after("s3cr3t").next().await.unwrap().unwrap_err();
    drop(guard);
    assert_eq!((recorder.spans().len(), recorder.events("trying again").len()), (7, 2));
    assert_eq!(recorder.events("connecting again").len(), 2);
    for told in recorder.told() {
        assert!(!format!("{told:?}").contains(WORD), "{told:?}");
    }
}
