//! Streams: of single mandates, and of the workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use shadway::events::{Checkpoint, Event, EventType, FileCheckpoint, MemoryCheckpoint};
use shadway::mandates::MandateHandle;
use shadway::types::EventId;
use shadway::{Error, ErrorKind};
use tokio::time::{sleep, timeout};

use crate::ledger::{Wanted, all, decisions};
use crate::run::{Failure, Run, is_expected};
use crate::tally::{add, lock};

/// How long a stream may be silent: less than by default, so that a fault doesn't take most of a short run, and longer
/// than a heartbeat of the server takes.
const IDLE: Duration = Duration::from_secs(20);

/// How often to look whether all is over.
pub(crate) const LOOK_UP: Duration = Duration::from_millis(200);

/// The ids and sequences of the events that a stream gave out.
pub(crate) type Followed = Vec<(EventId, u64)>;

/// Events of a type that only faults make are in no history.
pub(crate) fn is_real(event: &Event) -> bool {
    event.is_known() || event.event_type.as_str() != "mandate.of_tomorrow"
}

/// All events of a mandate, from the first to its end.
pub(crate) async fn stream(run: &Run, work: &MandateHandle) -> Result<Followed, Failure> {
    let mut followed = Followed::new();
    loop {
        // An empty store: what there was is listed first.
        let stream = work.events().stream().checkpoint(MemoryCheckpoint::new());
        let mut stream = stream.idle_timeout(IDLE).until_terminal();
        let before = followed.last().map_or(0, |(_, sequence)| *sequence);
        let result = loop {
            match stream.try_next().await {
                Ok(Some(event)) if !is_real(&event) => {}
                // Of a stream that began anew what is known already.
                Ok(Some(event)) if event.sequence <= before => {}
                Ok(Some(event)) => followed.push((event.id, event.sequence)),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        run.tally.outcome("stream", result.as_ref().err());
        match result {
            Ok(()) => return Ok(followed),
            Err(error) if error.kind() == ErrorKind::CursorTooOld || is_expected(&error) => {
                add(&run.tally.begun_anew);
                sleep(Duration::from_millis(100)).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// All events of a mandate, as the server lists them.
pub(crate) async fn listed(run: &Run, work: &MandateHandle) -> Result<Vec<Event>, Error> {
    let list = || async { work.events().list().limit(100).items().try_collect().await };
    run.insist("events.list", list).await
}

/// A consumer of the events of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Consumer {
    pub(crate) name: &'static str,
    store: Store,
    /// Whether it stops now and then, and goes on where its checkpoint is.
    restarts: bool,
    /// Empty for all.
    types: Vec<EventType>,
}

#[derive(Debug, Clone)]
enum Store {
    Memory(MemoryCheckpoint),
    File(PathBuf),
}

/// One that never stops, and others that go on where their checkpoint is.
pub(crate) fn consumers(file: &Path) -> [Consumer; 4] {
    let consumer = |name, restarts, types: &[EventType]| {
        let store = Store::Memory(MemoryCheckpoint::new());
        Consumer { name, store, restarts, types: types.to_vec() }
    };
    let decisions = [EventType::MandateApprovalRequested, EventType::ApprovalResolved];
    [
        consumer("events", false, &[]),
        consumer("events, with restarts", true, &[]),
        consumer("decisions, with restarts", true, &decisions),
        // Not all: a busy disk stores less than that.
        Consumer {
            store: Store::File(file.to_owned()),
            ..consumer("decisions, from a file, with restarts", true, &decisions)
        },
    ]
}

impl Consumer {
    pub(crate) fn wanted(&self) -> Wanted {
        if self.types.is_empty() { all } else { decisions }
    }

    fn checkpoint(&self) -> Box<dyn Checkpoint> {
        match &self.store {
            Store::Memory(store) => Box::new(store.clone()),
            Store::File(path) => Box::new(FileCheckpoint::new(path)),
        }
    }

    /// Reads until nothing more will happen.
    pub(crate) async fn consume(self, run: Arc<Run>, reader: usize) {
        let mut random = run.random(u64::MAX - reader as u64);
        while !run.is_over() {
            let stream = run.client.events().stream().idle_timeout(IDLE).event_types(self.types.clone());
            let mut stream = stream.checkpoint(self.checkpoint());
            let mut left = if self.restarts { random.usize(1..400) } else { usize::MAX };
            while left > 0 && !run.is_over() {
                // Dropping the future loses nothing.
                match timeout(LOOK_UP, stream.try_next()).await {
                    Err(_) => {}
                    Ok(Ok(Some(event))) => {
                        left -= 1;
                        if is_real(&event) {
                            lock(&run.ledger).read(reader, &event.id);
                        }
                    }
                    Ok(Ok(None)) => return run.tally.breach(format!("{}: it ended", self.name)),
                    Ok(Err(error)) => {
                        run.tally.outcome("events.stream", Some(&error));
                        if !is_expected(&error) {
                            return run.tally.breach(format!("{}: {error:?}", self.name));
                        }
                        break;
                    }
                }
            }
            drop(stream);
            lock(&run.ledger).restarted(reader);
        }
    }
}

/// Writes down what happens, from lists alone, which meet no faults: what all others are held against.
pub(crate) async fn audit(run: &Run) -> Result<(), Failure> {
    let mut cursor: Option<String> = None;
    // How much of the page at the cursor is written down.
    let mut known = 0;
    while !run.is_over() {
        let list = || {
            let list = run.client.events().list().limit(100);
            match &cursor {
                Some(cursor) => list.query("cursor", cursor).send(),
                None => list.send(),
            }
        };
        let page = run.insist("all events", list).await?;
        let next = page.next_cursor.clone();
        let here = page.data.len();
        {
            let mut ledger = lock(&run.ledger);
            for event in page.data.into_iter().skip(known) {
                ledger.happened(event.id, event.event_type);
            }
        }
        known = here;
        match next {
            Some(next) => (cursor, known) = (Some(next), 0),
            None => sleep(Duration::from_millis(300)).await,
        }
    }
    Ok(())
}
