//! The local server: how soon it is there, how long a week takes, how many requests it answers, what it keeps.

use std::future::Future;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::capabilities::{CapabilityEffect, CapabilityRegisterParams, CapabilityRisk};
use shadway::local::{Check, LocalClock, LocalServer, Script, days, hours, minutes};
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateHandle};
use shadway::types::Money;
use tokio::time::Instant;

use crate::load;
use crate::measure::{Spread, in_words, memory_apart, seconds};
use crate::service::Runtime;

const SERVERS: usize = 200;
const MANDATES: usize = 10_000;
/// What the purchase of a week may take.
const WEEK_TAKES: Duration = Duration::from_millis(200);

/// Prints what came of it; whether a week was quick enough.
#[must_use]
pub fn run(rounds: usize) -> bool {
    println!("Time on the wall, medians of {rounds} rounds (the middle half of them)\n");
    println!("| | in memory | over sockets |");
    println!("|---|---|---|");
    let row = |name: &str, cells: [Spread; 2]| {
        let cells = cells.map(|Spread { median, low, high }| {
            let [median, low, high] = [median, low, high].map(|took| in_words(Duration::from_secs_f64(took)));
            format!("{median} ({low} – {high})")
        });
        println!("| {name} | {} |", cells.join(" | "));
    };
    row("start, and the answer to a first request", both(rounds, start));
    row(&format!("{SERVERS} servers, each with a mandate to its end"), both(rounds, servers));
    row("an hour, with an approval", both(rounds, hour));
    let weeks = both(rounds, week);
    row("a purchase of a week, with an approval", weeks);
    println!();
    load::run(rounds);
    println!();
    weeks.iter().all(|week| week.median < WEEK_TAKES.as_secs_f64()) && memory_apart("local")
}

/// How a client gets to its server.
#[derive(Debug, Clone, Copy)]
enum Way {
    Memory,
    Sockets,
}

impl Way {
    fn client(self, server: &LocalServer) -> Client {
        let client = match self {
            Self::Sockets => server.client(),
            Self::Memory => in_memory(server),
        };
        client.expect("a client")
    }
}

fn in_memory(server: &LocalServer) -> shadway::Result<Client> {
    Client::builder().api_key(server.api_key()).http_service(server.service()).timer(Runtime).build()
}

/// The seconds that it took each way, by turns.
fn both<F: Future<Output = Duration>>(rounds: usize, run: impl Fn(Way) -> F) -> [Spread; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (times, way) in times.iter_mut().zip([Way::Memory, Way::Sockets]) {
            // A runtime each: nothing of the last server is left.
            times.push(runtime().block_on(run(way)));
        }
    }
    times.map(|times| Spread::of(seconds(&times)))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

async fn start(way: Way) -> Duration {
    let began = Instant::now();
    let server = LocalServer::start().await.expect("a server");
    let client = way.client(&server);
    assert!(client.agents().list(Default::default()).await.expect("an answer").data.is_empty());
    began.elapsed()
}

async fn servers(way: Way) -> Duration {
    let began = Instant::now();
    let ended = join_all((0..SERVERS).map(|_| async move {
        let server = LocalServer::start().await.expect("a server");
        let client = way.client(&server);
        ended(mandate(&client, &["email.send"], Authority::new()).await).await;
        server
    }));
    let servers = ended.await;
    assert_eq!(servers.len(), SERVERS, "all at the same time");
    began.elapsed()
}

/// A wait of an hour around an approval.
async fn hour(way: Way) -> Duration {
    let server = LocalServer::start().await.expect("a server");
    let client = way.client(&server);
    let asking = Script::any()
        .wait(minutes(20))
        .act("email.send", json!({"to": "sales@atlas.example", "subject": "A quote"}))
        .wait(minutes(40))
        .complete("Atlas has the request.");
    server.script(asking);
    let authority = Authority::new().require_approval_for(["email.send"]);
    approved(&client, &["email.send"], authority, hours(1)).await
}

async fn week(way: Way) -> Duration {
    let server = LocalServer::start().await.expect("a server");
    let client = way.client(&server);
    let object = json!({"type": "object", "properties": {"supplier": {"type": "string"},
        "quantity": {"type": "integer"}, "amount_minor": {"type": "integer"}}});
    let order = CapabilityRegisterParams::new("procurement.create_po", "Orders.", object.clone(), object)
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Irreversible);
    client.capabilities().register(order).await.expect("a capability");
    server.script(purchase());
    let authority = Authority::new()
        .spend_maximum(Money::usd(799_999))
        .maximum_actions(40)
        .require_approval_for(["procurement.create_po"]);
    approved(&client, &["email.send", "procurement.create_po"], authority, days(7)).await
}

/// Three suppliers, their answers, an order whose answer is lost, and the delivery.
fn purchase() -> Script {
    let suppliers = ["sales@atlas.example", "sales@beacon.example", "sales@cedar.example"];
    let request =
        |supplier: &str| json!({"to": supplier, "subject": "A quote", "body": "200 units, please."});
    let script = suppliers
        .into_iter()
        .fold(Script::any(), |script, supplier| script.act("email.send", request(supplier)));
    suppliers
        .into_iter()
        .fold(script, |script, supplier| {
            let wait = script.wait_external("a quote", hours(16)).from(supplier);
            wait.reply("200 units for $7,499.00.")
        })
        .act("procurement.create_po", json!({"supplier": "Atlas", "quantity": 200}))
        .spending(Money::usd(749_900))
        .unclear(Check::Done(json!({"amount_minor": 749_900})))
        .wait(days(3))
        .act("email.send", request("sales@atlas.example"))
        .wait_external("an answer from Atlas", hours(20))
        .reply("It arrives tomorrow.")
        .wait(hours(30))
        .complete("Ordered 200 units for $7,499.00, and they are here.")
}

/// From the creation of a mandate until its end, with an approval on the way; it is to take at least so long in the
/// server's time.
async fn approved(client: &Client, names: &[&str], authority: Authority, least: Duration) -> Duration {
    let began = Instant::now();
    let work = mandate(client, names, authority).await;
    let approval = work.wait_for_approval().await.expect("an answer").expect("an approval");
    client.approvals().approve(&approval.id, "Within the budget.").await.expect("approved");
    let done = ended(work).await;
    let elapsed = began.elapsed();
    let (from, to) = (done.created_at.expect("a beginning"), done.updated_at.expect("an end"));
    assert!(to.duration_since(from).unsigned_abs() >= least, "{from} to {to}");
    elapsed
}

async fn mandate(client: &Client, names: &[&str], authority: Authority) -> MandateHandle {
    let agent = AgentCreateParams::new("Buyer", "m/m").capabilities(names.iter().copied());
    let agent = client.agents().create(agent).await.expect("an agent");
    let params =
        MandateCreateParams::new(&agent.id, "Buy 200 units for less than $8,000.").authority(authority);
    client.mandate(client.mandates().create(params).await.expect("a mandate").id)
}

async fn ended(work: MandateHandle) -> Mandate {
    let done = work.wait().await.expect("an end");
    assert!(done.status.is_terminal(), "{}", done.current_state.summary);
    done
}

/// Prints the bytes that the server keeps of a mandate, by what `live` says of all that is allocated; whether all
/// ended.
#[must_use]
pub fn memory(live: &dyn Fn() -> usize) -> bool {
    runtime().block_on(async {
        let server = LocalServer::builder().clock(LocalClock::Manual).start().await.expect("a server");
        let client = in_memory(&server).expect("a client");
        let agent = AgentCreateParams::new("Buyer", "m/m").capabilities(["email.send"]);
        let agent = client.agents().create(agent).await.expect("an agent");
        let before = live();
        for _ in 0..MANDATES {
            let params = MandateCreateParams::new(&agent.id, "Ask sales@atlas.example for a quote.");
            client.mandates().create(params).await.expect("a mandate");
        }
        let created = live() - before;
        server.advance(hours(1)).await;
        let ended = live() - before;
        println!("Bytes kept of one of {MANDATES} mandates: allocated, and not freed\n");
        println!("| just created | at its end |\n|---|---|");
        println!("| {} | {} |", created / MANDATES, ended / MANDATES);
        server.mandates().iter().all(|mandate| mandate.status.is_terminal())
    })
}
