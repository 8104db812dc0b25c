//! Whether a store of deliveries keeps to what [`Dedupe`] says.

use futures_util::future::join_all;

use super::dedupe::{Begun, Dedupe};

/// Checks a [`Dedupe`] of your own. It needs room for 32 deliveries, and makes ids of its own, so that a
/// store that keeps what it was told can be checked again.
///
/// ```
/// use shadway::webhooks::{MemoryDedupe, check_dedupe};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// check_dedupe(&MemoryDedupe::new(1_000)).await.unwrap();
/// # }
/// ```
///
/// # Errors
/// The first thing that is not as it has to be, or an error of the store.
pub async fn check_dedupe<D: Dedupe>(dedupe: &D) -> Result<(), DedupeFault> {
    let check = Check { dedupe, run: uuid::Uuid::new_v4().simple().to_string() };

    let first = check.id("first");
    check.begin(&first, Begun::New, "an id that was never seen").await?;
    check.begin(&first, Begun::InFlight, "an id that was claimed").await?;
    check.finish(&first).await?;
    check.begin(&first, Begun::Done, "an id that was finished").await?;
    check.finish(&first).await?;
    check.begin(&first, Begun::Done, "an id that was finished twice").await?;
    check.release(&first).await?;
    check.begin(&first, Begun::Done, "a finished id that was released too late").await?;

    let second = check.id("second");
    check.begin(&second, Begun::New, "another id").await?;
    check.release(&second).await?;
    check.begin(&second, Begun::New, "an id that was released").await?;
    check.release(&second).await?;
    check.release(&second).await?;
    check.finish(&second).await?;
    check.begin(&second, Begun::Done, "an id that was finished without a claim").await?;
    check.release(&check.id("third")).await?;
    check.begin(&check.id("third"), Begun::New, "an id that was released without a claim").await?;

    // Ids are opaque: case and length count, and nothing in them has a meaning to a store.
    let long = "f".repeat(256 - check.id("").len() - 1);
    let ends = ["a", "b"].map(|end| format!("{long}{end}"));
    for id in ["FIRST", "firs_", "firs%", "f'irst", "f\"irst", "f\\irst", &ends[0], &ends[1]] {
        check.begin(&check.id(id), Begun::New, "an id like another").await?;
    }

    let contested = check.id("contested");
    let answers = join_all((0..16).map(|_| dedupe.begin(&contested))).await;
    let mut new = 0;
    for answer in answers {
        match answer.map_err(DedupeFault::of_store)? {
            Begun::New => new += 1,
            Begun::InFlight => {}
            Begun::Done => return Err(DedupeFault::new("nobody finished it, and it is done")),
        }
    }
    match new {
        1 => Ok(()),
        new => Err(DedupeFault::new(format!("of 16 who asked at the same time, {new} got it"))),
    }
}

struct Check<'a, D> {
    dedupe: &'a D,
    run: String,
}

impl<D: Dedupe> Check<'_, D> {
    fn id(&self, name: &str) -> String {
        format!("{}-{name}", self.run)
    }

    async fn begin(&self, id: &str, expected: Begun, what: &str) -> Result<(), DedupeFault> {
        match self.dedupe.begin(id).await.map_err(DedupeFault::of_store)? {
            found if found == expected => Ok(()),
            found => Err(DedupeFault::new(format!("{what} should be {expected:?}, and is {found:?}"))),
        }
    }

    async fn finish(&self, id: &str) -> Result<(), DedupeFault> {
        self.dedupe.finish(id).await.map_err(DedupeFault::of_store)
    }

    async fn release(&self, id: &str) -> Result<(), DedupeFault> {
        self.dedupe.release(id).await.map_err(DedupeFault::of_store)
    }
}

/// What [`check_dedupe`] found wrong.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DedupeFault {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl DedupeFault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    fn of_store(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { message: "the store failed".into(), source: Some(Box::new(error)) }
    }
}
