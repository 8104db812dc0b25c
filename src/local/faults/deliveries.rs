//! Deliveries that change places: the one that is kept back, and the one that it waits for.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Fault;
use super::plan::Kind;
use super::rules::{Faults, Target};
use crate::local::workspace::Attempt;
use crate::local::workspace::store::Serial;

/// How long a delivery is kept back for the next one to come first.
const KEPT_BACK: Duration = Duration::from_secs(1);

/// The deliveries that wait for the next to their endpoint, one each at most. A sender that is dropped lets go.
pub(super) type KeptBack = BTreeMap<Serial, oneshot::Sender<()>>;

/// How an attempt of a delivery goes out.
#[derive(Debug)]
pub(crate) enum Dispatch {
    /// Now, with what it meets. Until it is done, what was kept back for it waits.
    Now { fault: Option<Fault>, kept_back: Option<oneshot::Sender<()>> },
    /// After the next one to its endpoint.
    AfterNext(Turn),
}

/// The turn of a delivery that is kept back.
#[derive(Debug)]
pub(crate) struct Turn(oneshot::Receiver<()>);

impl Turn {
    /// Until the next one is through, or none has come in time.
    pub(crate) async fn comes(self) {
        // The time is this machine's: on the server's there may be no next.
        let _ = timeout(KEPT_BACK, self.0).await;
    }
}

impl Faults {
    /// How this attempt goes out; counts like a request.
    pub(crate) fn dispatch(&mut self, attempt: &Attempt) -> Dispatch {
        // Who has waited too long is gone already.
        let kept_back = self.kept_back.remove(&attempt.endpoint).filter(|waiting| !waiting.is_closed());
        let target = Target::Delivery { event_type: &attempt.event_type, is_next: kept_back.is_some() };
        match self.pick(&target) {
            Some(fault) if *fault.kind() == Kind::ReorderDeliveries => {
                let (sender, receiver) = oneshot::channel();
                self.kept_back.insert(attempt.endpoint, sender);
                Dispatch::AfterNext(Turn(receiver))
            }
            fault => Dispatch::Now { fault, kept_back },
        }
    }
}
