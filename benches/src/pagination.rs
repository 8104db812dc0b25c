//! A list of ten thousand at a distance, with and without reading ahead.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shadway::Client;
use shadway::types::ListParams;

use crate::measure::Spread;
use crate::socket;

const ITEMS: usize = 10_000;
const PAGE: usize = 100;
/// From a request to its answer.
const ROUND_TRIP: Duration = Duration::from_millis(20);

/// What is done with the items.
#[derive(Clone, Copy)]
enum Work {
    Nothing,
    /// So long for every ten items, and others may use the thread meanwhile: a database, another service.
    Await(Duration),
    /// So long for every ten items, and the thread is busy.
    Compute(Duration),
}

/// Prints seconds for the whole list; whether all items came each time.
#[must_use]
pub fn run(rounds: usize) -> bool {
    let url = format!("http://{}", socket::serve(pages(), ROUND_TRIP));
    let client = Client::builder().api_key("sk_test_1").base_url(url).build().expect("a client");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    println!(
        "Seconds for {ITEMS} items in pages of {PAGE}, {ROUND_TRIP:?} each: medians of {rounds} rounds\n"
    );
    println!(
        "| for every page | its work alone | as it is | `.prefetch(1)` | `.prefetch(2)` |\n|---|---|---|---|---|"
    );
    let millis = Duration::from_millis;
    let cases = [
        ("nothing", Work::Nothing),
        ("10 awaits of 1 ms", Work::Await(millis(1))),
        ("10 awaits of 2 ms", Work::Await(millis(2))),
        ("10 awaits of 10 ms", Work::Await(millis(10))),
        ("20 ms of computing", Work::Compute(millis(2))),
    ];
    let mut whole = true;
    for (name, work) in cases {
        let alone = median(rounds, || {
            runtime.block_on(async {
                for _ in 0..ITEMS / 10 {
                    done(work).await;
                }
            });
        });
        let cells = [0, 1, 2].map(|ahead| {
            let took = median(rounds, || {
                // As a task, since the thread that blocks on it is none of the runtime's own.
                let items =
                    client.agents().list(ListParams::new().limit(PAGE as u32)).items().prefetch(ahead);
                let walk = runtime.spawn(async move {
                    let (mut items, mut count) = (items, 0);
                    while let Some(agent) = items.try_next().await.expect("an answer") {
                        count += usize::from(!agent.id.as_str().is_empty());
                        if count % 10 == 0 {
                            done(work).await;
                        }
                    }
                    count
                });
                whole &= runtime.block_on(walk).expect("no panic") == ITEMS;
            });
            format!("{took:.2}")
        });
        println!("| {name} | {alone:.2} | {} |", cells.join(" | "));
    }
    whole
}

#[expect(clippy::disallowed_methods, reason = "what is measured is the time")]
fn median(rounds: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    });
    Spread::of(times.collect::<Vec<_>>()).median
}

#[expect(clippy::disallowed_methods, reason = "it is busy for a time")]
async fn done(work: Work) {
    match work {
        Work::Nothing => {}
        Work::Await(time) => tokio::time::sleep(time).await,
        Work::Compute(time) => {
            let began = Instant::now();
            while began.elapsed() < time {
                std::hint::spin_loop();
            }
        }
    }
}

fn pages() -> Vec<socket::Answer> {
    let agent = include_str!("../../fixtures/agents/active.json").parse::<Value>().expect("JSON");
    let data = vec![agent; PAGE];
    let count = ITEMS / PAGE;
    let page = |number: usize| {
        let cursor = if number == 0 { String::new() } else { format!("&cursor=c{number}") };
        let next = (number + 1 < count).then(|| format!("c{}", number + 1));
        (format!("/v1/agents?limit={PAGE}{cursor}"), json!({"data": data, "nextCursor": next}).to_string())
    };
    (0..count).map(page).collect()
}
