//! What all parts of a run share.

use std::error::Error as StdError;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use http::Method;
use serde_json::Value;
use shadway::mandates::{MandateStatus, Watcher};
use shadway::types::{AgentId, MandateId};
use shadway::{Client, Error, ErrorKind};
use tokio::time::sleep;

use crate::ledger::Ledger;
use crate::tally::{Tally, lock};

pub(crate) type Failure = Box<dyn StdError + Send + Sync>;

/// How often a user repeats what failed for good, at most.
const PATIENCE: usize = 200;

pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) client: Client,
    pub(crate) watchers: [Watcher; 2],
    pub(crate) agent: AgentId,
    pub(crate) tally: Tally,
    pub(crate) ledger: Mutex<Ledger>,
    /// No new mandates any more.
    pub(crate) closing: AtomicBool,
    /// Nothing more will happen.
    pub(crate) over: AtomicBool,
    /// How the mandates of the jobs ended, as they were seen.
    ended: Mutex<Vec<Ended>>,
}

pub(crate) struct Ended {
    pub(crate) job: u64,
    pub(crate) mandate: MandateId,
    pub(crate) status: MandateStatus,
    pub(crate) events: usize,
}

impl Run {
    pub(crate) fn new(seed: u64, client: Client, agent: AgentId) -> Self {
        Self {
            seed,
            watchers: [client.watcher(), client.watcher()],
            client,
            agent,
            tally: Tally::default(),
            ledger: Mutex::default(),
            closing: AtomicBool::new(false),
            over: AtomicBool::new(false),
            ended: Mutex::default(),
        }
    }

    /// Draws of its own for each part, whatever the others do.
    pub(crate) fn random(&self, part: u64) -> Rng {
        Rng::with_seed(self.seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(crate) fn ended(&self, ended: Ended) {
        lock(&self.ended).push(ended);
    }

    pub(crate) fn take_ended(&self) -> Vec<Ended> {
        std::mem::take(&mut lock(&self.ended))
    }

    /// Does again what failed for good in a way that faults explain, as a user has to: changes under the same key.
    /// Each failure is counted. Any other is the result.
    pub(crate) async fn insist<T, F>(&self, name: &'static str, attempt: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut left = PATIENCE;
        loop {
            let result = attempt().await;
            self.tally.outcome(name, result.as_ref().err());
            match result {
                Err(error) if is_expected(&error) && left > 0 => {
                    left -= 1;
                    sleep(error.retry_after().unwrap_or(Duration::from_millis(200))).await;
                }
                result => return result,
            }
        }
    }

    /// One of the server's own controls, which meet no faults.
    pub(crate) async fn control(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let call = || {
            let request = self.client.request(method.clone(), path);
            match body {
                Some(body) => request.json(body).send(),
                None => request.send(),
            }
        };
        let answer = self.insist("controls", call).await?;
        Ok(if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer)? })
    }
}

/// What faults can do to a call that is retried, and to a wait with a time limit.
pub(crate) fn is_expected(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Connection
            | ErrorKind::Timeout
            | ErrorKind::WaitTimeout
            | ErrorKind::RateLimit
            | ErrorKind::Server
            | ErrorKind::Decode
    )
}
