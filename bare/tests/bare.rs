//! Without features there is no HTTP client and no runtime: a transport and a timer of the caller's, and
//! any executor.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::future::IntoFuture as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use shadway::agents::AgentCreateParams;
use shadway::events::{Checkpoint as _, FileCheckpoint};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService, Sleep, Timer};
use shadway::webhooks::{Begun, Dedupe as _, MemoryDedupe, Signer, Verifier, VerifyError, check_dedupe};
use shadway::{Client, ErrorKind};

/// A runtime in ten lines.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Signal(Mutex<bool>, Condvar);
    impl Wake for Signal {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() = true;
            self.1.notify_one();
        }
    }
    let signal = Arc::new(Signal(Mutex::new(false), Condvar::new()));
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        let woken = signal.0.lock().unwrap();
        *signal.1.wait_while(woken, |woken| !*woken).unwrap() = false;
    }
}

/// Time that passes by being slept.
#[derive(Debug)]
struct Manual {
    start: Instant,
    slept: Arc<Mutex<Duration>>,
}

impl Timer for Manual {
    fn now(&self) -> Instant {
        self.start + *self.slept.lock().unwrap()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let slept = Arc::clone(&self.slept);
        let mut polled = false;
        // Pending once, so that a call in flight gets its turn before its timeout.
        Box::pin(std::future::poll_fn(move |context| {
            if polled {
                *slept.lock().unwrap() += duration;
                return Poll::Ready(());
            }
            polled = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    }
}

#[derive(Debug, Clone, Default)]
struct Flaky(Arc<AtomicUsize>);

impl HttpService for Flaky {
    fn call(&self, _: http::Request<bytes::Bytes>) -> HttpFuture<'_> {
        let attempt = self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if attempt == 0 {
                return Err(HttpError::connect("not yet"));
            }
            let agent = r#"{"id":"agt_1","name":"A","model":"p/m","status":"active"}"#;
            Ok(http::Response::new(Body::from(agent)))
        })
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this is a timer")]
fn a_call_runs_on_a_transport_and_a_timer_of_the_callers() {
    let slept = Arc::new(Mutex::new(Duration::ZERO));
    let transport = Flaky::default();
    let client = Client::builder()
        .api_key("sk_test_1")
        .http_service(transport.clone())
        .timer(Manual { start: Instant::now(), slept: Arc::clone(&slept) })
        .build()
        .unwrap();
    let agent = block_on(client.agents().create(AgentCreateParams::new("A", "p/m")).into_future()).unwrap();
    assert_eq!(agent.id, "agt_1");
    assert_eq!(transport.0.load(Ordering::SeqCst), 2);
    assert!(*slept.lock().unwrap() <= Duration::from_millis(500));
}

/// Each connection brings one event and is then cut.
#[derive(Debug, Default)]
struct Cut(AtomicUsize);

impl HttpService for Cut {
    fn call(&self, _: http::Request<bytes::Bytes>) -> HttpFuture<'_> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let event = format!(r#"{{"id":"evt_{number}","type":"x","sequence":{number},"mandate":"mnd_1"}}"#);
        let body = Body::from(format!("id: evt_{number}\ndata: {event}\n\nda"));
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(async move { Ok(response.unwrap()) })
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this is a timer")]
fn a_stream_runs_on_a_transport_and_a_timer_of_the_callers() {
    let timer = Manual { start: Instant::now(), slept: Arc::default() };
    let client =
        Client::builder().api_key("sk_test_1").http_service(Cut::default()).timer(timer).build().unwrap();
    let mut events = client.events().stream();
    for number in 0..100 {
        assert_eq!(block_on(events.try_next()).unwrap().unwrap().sequence, number);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this is a timer")]
fn a_stream_keeps_its_position_in_a_file_without_a_runtime() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("position.json");
    let _ = std::fs::remove_file(&path);
    let timer = Manual { start: Instant::now(), slept: Arc::default() };
    let client =
        Client::builder().api_key("sk_test_1").http_service(Cut::default()).timer(timer).build().unwrap();
    let file = FileCheckpoint::new(&path);
    let mut events = client.events().stream().resume_after("evt_start").checkpoint(file.clone());
    for number in 0..3 {
        assert_eq!(block_on(events.try_next()).unwrap().unwrap().sequence, number);
    }
    assert_eq!(block_on(file.load("workspace")).unwrap().unwrap(), "evt_1", "the last is still in hand");
}

#[test]
fn what_is_not_built_in_is_a_clear_error() {
    let error = Client::builder().api_key("sk_test_1").build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("no transport is built in"), "{error}");
    let error = Client::builder().api_key("sk_test_1").http_service(Flaky::default()).build().unwrap_err();
    assert!(error.to_string().contains("no timer is built in"), "{error}");
}

#[test]
fn webhooks_are_verified_without_client_or_runtime() {
    let secret = "whsec_MfKQ9r8GKYqrTwjU";
    let body = r#"{"id":"evt_1","type":"agent.retired","sequence":1,"mandate":"mnd_1"}"#;
    let headers = Signer::new(secret).unwrap().sign("dlv_1", body).unwrap();
    let verifier = Verifier::new(secret).unwrap();
    assert_eq!(verifier.verify(&headers, body).unwrap().event().unwrap().id, "evt_1");
    assert_eq!(verifier.verify(&headers, "{}").unwrap_err(), VerifyError::Mismatch);
    let dedupe = MemoryDedupe::new(9);
    assert_eq!(block_on(dedupe.begin("dlv_1")).unwrap(), Begun::New);
    block_on(check_dedupe(&MemoryDedupe::new(64))).unwrap();
}
