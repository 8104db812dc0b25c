//! The function behind a capability, as JSON in and JSON out.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::call::CallFuture;
use crate::error::{Error, Result};
use crate::model::json::RawJson;

/// The function behind a capability, whatever its types: JSON in, JSON out.
///
/// [`Capability::define`](crate::capabilities::Capability::define) makes one from a typed function; this makes
/// one by hand. The service runs none of them yet, only the local server does.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// use shadway::capabilities::Executor;
/// use shadway::types::RawJson;
///
/// let echo = Executor::new("test.echo", |input: RawJson| async move { Ok::<_, std::io::Error>(input) });
/// assert_eq!(echo.run(RawJson::from(7)).await?.get(), "7");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Executor {
    name: Arc<str>,
    function: Arc<dyn Fn(RawJson) -> CallFuture<RawJson> + Send + Sync>,
}

impl Executor {
    /// The function that runs the capability of this name.
    pub fn new<F, Fut, E>(name: impl AsRef<str>, function: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<RawJson, E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let name: Arc<str> = name.as_ref().into();
        Self::erased(Arc::clone(&name), move |input| {
            let (name, output) = (Arc::clone(&name), function(input));
            Box::pin(async move { output.await.map_err(|error| Error::execution(&name, error.into())) })
        })
    }

    /// The name of the capability.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the function.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) when the input does not fit a typed function,
    /// which then did not run; [`ErrorKind::Execution`](crate::ErrorKind::Execution) when the function failed, with
    /// its error as the source.
    pub async fn run(&self, input: impl Into<RawJson> + Send) -> Result<RawJson> {
        (self.function)(input.into()).await
    }

    /// One whose errors are this crate's already.
    pub(super) fn erased(
        name: Arc<str>,
        function: impl Fn(RawJson) -> CallFuture<RawJson> + Send + Sync + 'static,
    ) -> Self {
        Self { name, function: Arc::new(function) }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("name", &self.name).finish_non_exhaustive()
    }
}
