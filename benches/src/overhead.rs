//! What a call costs beside the same request by reqwest and serde_json alone, on the same socket.

use std::process::Command;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};
use shadway::Client;
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateListParams};
use shadway::page::Page;
use shadway::types::Money;

use crate::measure::Spread;
use crate::socket;

/// Requests of a round, one after the other.
const REQUESTS: usize = 100;
const KEY: &str = "sk_test_1";

/// What is compared: the same request both ways, to the same typed value.
#[derive(Clone, Copy)]
enum Case {
    Read,
    Create,
    List,
}

const CASES: [(&str, Case); 3] =
    [("read a mandate", Case::Read), ("create a mandate", Case::Create), ("list 100 mandates", Case::List)];

#[derive(Clone, Copy)]
enum Way {
    Bare,
    Ours,
}

const WAYS: [Way; 2] = [Way::Bare, Way::Ours];

/// Both clients, each with a connection of its own to one service.
struct Rivals {
    url: String,
    bare: reqwest::Client,
    ours: Client,
    runtime: tokio::runtime::Runtime,
}

impl Rivals {
    fn new() -> Self {
        let mandate = include_str!("../../fixtures/mandates/completed.json");
        let mandate = serde_json::from_str::<Value>(mandate).expect("JSON").to_string();
        let list = json!({"data": vec![mandate.parse::<Value>().expect("JSON"); 100], "nextCursor": null});
        let answers = vec![
            ("/v1/mandates/mnd_1".to_owned(), mandate.clone()),
            ("/v1/mandates".to_owned(), mandate),
            ("/v1/mandates?limit=100".to_owned(), list.to_string()),
        ];
        let url = format!("http://{}", socket::serve(answers, Duration::ZERO));
        // As the crate's own is built.
        let bare = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .build()
            .expect("a client");
        let ours = Client::builder().api_key(KEY).base_url(&url).build().expect("a client");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { url, bare, ours, runtime }
    }

    /// So many requests, one after the other, as a program makes them: within one task.
    fn send(&self, way: Way, case: Case, requests: usize) {
        self.runtime.block_on(async {
            for _ in 0..requests {
                match way {
                    Way::Bare => self.bare(case).await,
                    Way::Ours => self.ours(case).await,
                }
            }
        });
    }

    async fn bare(&self, case: Case) {
        let mandates = format!("{}/v1/mandates", self.url);
        let request = match case {
            Case::Read => self.bare.get(format!("{mandates}/mnd_1")),
            Case::List => self.bare.get(format!("{mandates}?limit=100")),
            Case::Create => {
                let body = serde_json::to_vec(&params()).expect("JSON");
                let request = self.bare.post(mandates).header(CONTENT_TYPE, "application/json").body(body);
                request.header("idempotency-key", uuid::Uuid::new_v4().to_string())
            }
        };
        let request =
            request.header(AUTHORIZATION, format!("Bearer {KEY}")).header(ACCEPT, "application/json");
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).expect("an answer");
        let body = answer.bytes().await.expect("a body");
        match case {
            Case::List => drop(serde_json::from_slice::<Page<Mandate>>(&body).expect("a page")),
            _ => drop(serde_json::from_slice::<Mandate>(&body).expect("a mandate")),
        }
    }

    async fn ours(&self, case: Case) {
        let mandates = self.ours.mandates();
        match case {
            Case::Read => drop(mandates.get("mnd_1").await.expect("a mandate")),
            Case::Create => drop(mandates.create(params()).await.expect("a mandate")),
            Case::List => drop(mandates.list(MandateListParams::new().limit(100)).await.expect("a page")),
        }
    }
}

fn params() -> MandateCreateParams {
    MandateCreateParams::new("agt_1", "Email sales@atlas.example and ask for a quote.").authority(
        Authority::new()
            .capabilities(["email.send", "email.get_delivery"])
            .maximum_actions(5)
            .spend_maximum(Money::usd(799_999)),
    )
}

/// Prints times, and then what another program counts of allocations.
#[must_use]
pub fn run(rounds: usize) -> bool {
    println!("Microseconds a request (times the bare one), of {rounds} rounds of {REQUESTS} requests:");
    println!("on the wall the fastest round; computing the medians (and the middle half)\n");
    println!("| | reqwest + serde_json, on the wall | shadway | reqwest + serde_json, computing | shadway |");
    println!("|---|---|---|---|---|");
    let rivals = Rivals::new();
    for (name, case) in CASES {
        // The first of each makes its connection.
        WAYS.iter().for_each(|way| rivals.send(*way, case, 1));
        let mut times: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            // Whoever comes second may find the machine as the first left it.
            let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
            for way in order {
                times[way].push(timed(|| rivals.send(WAYS[way], case, REQUESTS)));
            }
        }
        let of = |way: usize, kind: usize| times[way].iter().map(move |time| time[kind]);
        // Other work on the machine makes a round slower, never faster.
        let [bare, ours] = [0, 1].map(|way| of(way, 0).fold(f64::INFINITY, f64::min));
        print!("| {name} | {bare:.1} | {ours:.1} ({:.2}) ", ours / bare);
        let [bare, ours] = [0, 1].map(|way| Spread::of(of(way, 1)).median);
        let Spread { median, low, high } = Spread::of(of(1, 1).zip(of(0, 1)).map(|(ours, bare)| ours / bare));
        println!("| {bare:.1} | {ours:.1} ({median:.2}; {low:.2}–{high:.2}) |");
    }
    println!();
    // A program of its own, since counting takes time.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["run", "-q", "-p", "benches", "--release", "--bin", "allocations", "--", "overhead"];
    let counted = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).status();
    counted.is_ok_and(|status| status.success())
}

/// Of one request, in microseconds: on the wall, and of this thread's computing.
#[expect(clippy::disallowed_methods, reason = "what is measured is the time")]
fn timed(requests: impl Fn()) -> [f64; 2] {
    let (wall, computing) = (Instant::now(), ThreadTime::now());
    requests();
    [wall.elapsed(), computing.elapsed()].map(|time| time.as_secs_f64() * 1e6 / REQUESTS as f64)
}

/// Prints the allocations of a request, by what `allocated` says of all there were: how many, and their bytes.
#[must_use]
pub fn allocations(allocated: &dyn Fn() -> (usize, usize)) -> bool {
    println!("Allocations and reallocations of one request, and their bytes\n");
    println!("| | reqwest + serde_json | shadway |\n|---|---|---|");
    let rivals = Rivals::new();
    for (name, case) in CASES {
        let count = |way: Way| {
            rivals.send(way, case, 10);
            let before = allocated();
            rivals.send(way, case, REQUESTS);
            let after = allocated();
            let each = |count: usize| count as f64 / REQUESTS as f64;
            format!("{:.1} ({:.0} B)", each(after.0 - before.0), each(after.1 - before.1))
        };
        println!("| {name} | {} | {} |", count(Way::Bare), count(Way::Ours));
    }
    true
}

/// Sends so many requests one way, for a program that counts instructions. Whether there is such a case and such a way.
#[must_use]
pub fn send(case: &str, way: &str, requests: usize) -> bool {
    let case = CASES.into_iter().find(|(name, _)| *name == case);
    let way = WAYS.into_iter().zip(["bare", "shadway"]).find(|(_, name)| *name == way);
    let (Some((_, case)), Some((way, _))) = (case, way) else { return false };
    Rivals::new().send(way, case, requests);
    true
}
