//! Event streams: what is asked of the service, and what comes out.

use std::time::Duration;

use shadway::events::{Event, EventStream};
use tokio::time::timeout;

mod checkpoint_files;
mod checkpoints;
mod ends;
mod events;
mod histories;
mod kills;
mod reconnects;
mod silence;
mod sockets;
mod terminal;
mod turns;

const SECOND: Duration = Duration::from_secs(1);

fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The ids of the next events.
async fn take(events: &mut EventStream, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(next(events).await.id.to_string());
    }
    ids
}

async fn next(events: &mut EventStream) -> Event {
    item(events).await.unwrap().expect("an event")
}

/// Checks that the stream ends, and stays at its end.
async fn ended(events: &mut EventStream) {
    for _ in 0..3 {
        assert!(item(events).await.unwrap().is_none(), "the stream goes on");
    }
}

async fn item(events: &mut EventStream) -> shadway::Result<Option<Event>> {
    timeout(Duration::from_secs(3 * 60 * 60), events.try_next()).await.expect("an item within hours")
}

/// Lets the stream run, and checks that it gives nothing.
async fn nothing_for(time: Duration, events: &mut EventStream) {
    let item = timeout(time, events.next()).await;
    assert!(item.is_err(), "{item:?}");
}
