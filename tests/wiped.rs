//! The crate's own copies of secrets are gone once they are dropped: this program's memory, what has been freed
//! included, is searched for them. What a transport copies is its own; here it is in memory and copies nothing.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::any::Any;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Method};
use jiff::Timestamp;

use shadway::approvals::{ApprovalApproveParams, ApprovalInputs};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};
use shadway::webhooks::{Signer, Verifier, WebhookEndpointCreateParams, diagnose};
use shadway::{Client, ErrorKind};
use zeroize::Zeroizing;

/// Long, so that it gets blocks of its own, and what an allocator writes over the start of a freed one hides nothing.
const LENGTH: usize = 300;
/// How much of its end is looked for.
const TAIL: usize = 32;

/// A secret that is nowhere in memory until it is asked for.
#[derive(Clone, Copy)]
struct Pattern(usize);

impl Pattern {
    fn at(self, place: usize) -> u8 {
        // Far apart, whatever the pattern and the place.
        let mixed = ((self.0 * LENGTH + place) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        b"0123456789abcdefghijklmnopqrstuv"[((mixed ^ (mixed >> 29)) >> 32) as usize % 32]
    }

    /// Behind a prefix.
    fn text(self, prefix: &str) -> String {
        let mut text = String::with_capacity(prefix.len() + LENGTH);
        text.push_str(prefix);
        (0..LENGTH).for_each(|place| text.push(char::from(self.at(place))));
        text
    }

    /// In the answer of a service that wipes its own copy.
    fn answer(self, before: &str, after: &str) -> Body {
        let mut body = Zeroizing::new(Vec::with_capacity(before.len() + LENGTH + after.len()));
        body.extend_from_slice(before.as_bytes());
        body.extend((0..LENGTH).map(|place| self.at(place)));
        body.extend_from_slice(after.as_bytes());
        Body::from(Bytes::from_owner(body))
    }

    /// A service that repeats the key when it refuses it, wherever one can.
    fn refusal(self, how: &str) -> http::Response<Body> {
        let refused = http::Response::builder().status(401);
        let refused =
            match how {
                "in_a_header" => {
                    let value = Zeroizing::new(self.text("Bearer sk_test_").into_bytes());
                    let value = HeaderValue::from_maybe_shared(Bytes::from_owner(value)).unwrap();
                    refused.header("x-got", value).body(Body::from("{}"))
                }
                "in_a_text" => refused.body(self.answer("<html>Authorization: Bearer sk_test_", "</html>")),
                "in_json" => {
                    refused.body(self.answer(r#"{"error":{"type":"a","message":"Not sk_test_"#, r#"."}}"#))
                }
                // As JSON may write it, here and in the name of a field.
                "in_an_escape" => refused
                    .body(self.answer(r#"{"error":{"type":"a","message":"Not \u0073k_test_"#, r#"."}}"#)),
                "in_a_name" => refused
                    .body(self.answer(r#"{"error":{"type":"a","message":"No","\u0073k_test_"#, r#"":1}}"#)),
                _ => unreachable!("{how}"),
            };
        refused.unwrap()
    }

    /// How often it is in memory.
    fn count(self) -> usize {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let memory = File::open("/proc/self/mem").unwrap();
        let mut window = vec![0; 1 << 20];
        let own = window.as_ptr() as u64;
        let own = own..own + window.len() as u64;
        let mut found = 0;
        for line in maps.lines().filter(|line| line.contains(" rw")) {
            let (range, _) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            let (mut start, end) = (number(start), number(end));
            while start < end {
                if own.contains(&start) {
                    // What the window holds was found where it came from.
                    start = own.end;
                    continue;
                }
                let stop = if start < own.start { end.min(own.start) } else { end };
                let length = (stop - start).min(window.len() as u64);
                // Some of the system's own pages can't be read.
                let Ok(()) = memory.read_exact_at(&mut window[..length as usize], start) else { break };
                let window = &window[..length as usize];
                let ends = memchr::memchr_iter(self.at(LENGTH - 1), window).filter(|last| last + 1 >= TAIL);
                found += ends
                    .filter(|last| (0..TAIL).all(|back| window[last - back] == self.at(LENGTH - 1 - back)))
                    .count();
                // The next one begins a little before the end of this one, or what lies across it would be missed.
                start = if start + length == stop { stop } else { start + length - (TAIL as u64 - 1) };
            }
        }
        found
    }
}

/// Fails twice, in a way that may pass, and then gives an answer.
#[derive(Debug)]
struct Service {
    requests: AtomicUsize,
    pattern: usize,
}

impl HttpService for Service {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let pattern = Pattern(self.pattern);
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(how) = request.uri().path().strip_prefix("/v1/agents/refused_") {
            let answer = pattern.refusal(how);
            return Box::pin(async { Ok(answer) });
        }
        let body = match request.uri().path() {
            "/v1/webhooks/endpoints" => pattern
                .answer(r#"{"endpoint":{"id":"whe_1","url":"https://a.example"},"secret":"whsec_"#, r#""}"#),
            "/v1/artifacts/art_1/download" => {
                pattern.answer(r#"{"url":"https://files.example/?signature="#, r#""}"#)
            }
            _ => Body::from("{}"),
        };
        Box::pin(async move {
            match number % 3 {
                0 => Err(HttpError::other("broken")),
                1 => Ok(http::Response::builder().status(503).body(Body::from("{}")).unwrap()),
                _ => Ok(http::Response::new(body)),
            }
        })
    }
}

fn builder(pattern: Pattern) -> shadway::ClientBuilder {
    Client::builder().http_service(Service { requests: AtomicUsize::new(0), pattern: pattern.0 })
}

fn client(pattern: Pattern) -> Client {
    builder(pattern).api_key("sk_test_1").build().unwrap()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

/// What is done with a secret, and what then holds it.
type Scene = (&'static str, fn(Pattern) -> Box<dyn Any>);

const SCENES: [Scene; 11] = [
    ("a builder", |pattern| Box::new(Client::builder().api_key(pattern.text("sk_test_")))),
    ("a builder, of a text that it copies", |pattern| {
        let key = Zeroizing::new(pattern.text("sk_test_"));
        Box::new(Client::builder().api_key(key.as_str()))
    }),
    ("a client that has been used", |pattern| {
        let client = builder(pattern).api_key(pattern.text("sk_test_")).build().unwrap();
        let answer = run(client.request(Method::POST, "/v1/x").json(&1).with_response()).unwrap();
        assert_eq!(answer.attempts, 3);
        let error = run(client.agents().get("agt_1").max_retries(0).send()).unwrap_err();
        let mut events = client.events().stream();
        run(async { assert!(events.next().await.unwrap().is_err()) });
        Box::new((client, answer, error, events))
    }),
    ("a key that is refused and repeated", |pattern| {
        let client = builder(pattern).api_key(pattern.text("sk_test_")).build().unwrap();
        let errors = ["in_a_header", "in_a_text", "in_json", "in_an_escape", "in_a_name"].map(|how| {
            let error = run(client.agents().get(format!("refused_{how}")).send()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Authentication);
            error
        });
        Box::new((client, errors))
    }),
    ("a header of every call", |pattern| {
        let secret = pattern.text("");
        let client =
            builder(pattern).api_key("sk_test_1").default_header("x-proxy-token", secret).build().unwrap();
        run(client.request(Method::GET, "/v1/x").send()).unwrap();
        Box::new(client)
    }),
    ("a header of one call", |pattern| {
        let client = client(pattern);
        let secret = Zeroizing::new(pattern.text(""));
        let call = || client.request(Method::GET, "/v1/x").header("x-token", secret.as_str());
        run(call().send()).unwrap();
        Box::new(call())
    }),
    ("an approval's inputs", |pattern| {
        let params = || ApprovalApproveParams::new().reason("Reviewed.").input("otp", pattern.text(""));
        let client = client(pattern);
        // `{}` is no approval: the error names what is missing.
        run(client.approvals().approve("apr_1", params()).send()).unwrap_err();
        let mut inputs = ApprovalInputs::default();
        inputs.insert("otp", pattern.text("not this one: "));
        inputs.insert("otp", pattern.text(""));
        let read: ApprovalInputs = {
            let json = Zeroizing::new(pattern.text(r#"{"otp":""#) + r#""}"#);
            serde_json::from_str(&json).unwrap()
        };
        Box::new((client.approvals().approve("apr_1", params()), params(), inputs, read))
    }),
    ("the secret of a new endpoint", |pattern| {
        let params = WebhookEndpointCreateParams::new("https://a.example", ["*"]);
        let created = run(client(pattern).webhooks().endpoints().create(params).send()).unwrap();
        assert_eq!(created.secret.expose().len(), "whsec_".len() + LENGTH);
        Box::new(created)
    }),
    ("verifying and signing", |pattern| {
        let secret = || pattern.text("whsec_");
        let at = Timestamp::from_second(1_760_000_000).unwrap();
        let signer = Signer::new(secret()).unwrap().also(secret()).unwrap();
        let headers = signer.sign_at("dlv_1", "{}", at).unwrap();
        let verifier = Verifier::new(secret()).unwrap().also(secret()).unwrap();
        assert!(verifier.verify_at(&headers, "{}", at).is_ok());
        let copy = verifier.clone();
        assert!(copy.verify_at(&headers, "{ }", at).is_err());
        assert!(diagnose(&headers, "{}", secret()).unwrap().is_some());
        Box::new((signer, verifier, copy))
    }),
    ("a secret that is refused", |pattern| {
        let verifier = Verifier::new(pattern.text("whsec "));
        let client = Client::builder().api_key(pattern.text("sk test ")).build();
        let header =
            client_error(builder(pattern).api_key("sk_test_1").default_header("x", pattern.text("\n")));
        // The errors hold nothing of it.
        let errors = (verifier.unwrap_err(), client.unwrap_err(), header);
        Box::new((errors, Zeroizing::new(pattern.text(""))))
    }),
    ("the link to an artifact", |pattern| {
        Box::new(run(client(pattern).artifacts().download("art_1").send()).unwrap())
    }),
];

fn client_error(builder: shadway::ClientBuilder) -> shadway::Error {
    builder.build().unwrap_err()
}

/// One test, since what another thread holds would be found too.
#[test]
fn what_held_a_secret_leaves_none_behind() {
    let kept = Pattern(1).text("");
    assert_eq!(Pattern(1).count(), 1, "what is there is found");
    drop(kept);
    assert_eq!(Pattern(1).count(), 1, "also what was freed and not wiped");

    let mut left = Vec::new();
    for (number, (name, scene)) in SCENES.into_iter().enumerate() {
        let pattern = Pattern(number + 2);
        let holder = scene(pattern);
        assert!(pattern.count() > 0, "{name}: what holds it is found");
        drop(holder);
        match pattern.count() {
            0 => {}
            copies => left.push(format!("{name}: {copies}")),
        }
    }
    assert!(left.is_empty(), "copies left behind: {left:#?}");
}
