//! Lists: the first page, all pages, all items.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::call::Call;
use crate::error::{CallFacts, Cause, Error, Result};
pub use crate::model::page::Page;

impl<T> Call<Page<T>> {
    /// The size of a page, 1 to 100; the service's default is 20 (assumed).
    pub fn limit(self, limit: u32) -> Self {
        self.change(|request| {
            request.set_query("limit", limit.to_string());
            Ok(())
        })
    }
}

impl<T: Send + 'static> Call<Page<T>> {
    /// All pages, from this one on. Options of the call hold for each page's request.
    pub fn pages(self) -> Pages<T> {
        let walk =
            stream::try_unfold(Walk { next: Some(self), tortoise: None, power: 1, lap: 0 }, Walk::step);
        Pages(Box::pin(walk))
    }

    /// All items of all pages. The next page is asked for when the items of the last are used up.
    pub fn items(self) -> Items<T> {
        Items(Box::pin(self.pages().map_ok(|page| stream::iter(page).map(Ok)).try_flatten()))
    }
}

/// Where a walk over pages stands.
///
/// A cursor that comes again ends it. Which have been seen is not kept, since a list may be long: one of them
/// is, and moves on at every power of two (Brent's cycle detection), so that a walk in circles is noticed
/// after three rounds at the latest and in constant memory.
struct Walk<T> {
    next: Option<Call<Page<T>>>,
    tortoise: Option<String>,
    power: u64,
    lap: u64,
}

impl<T: Send + 'static> Walk<T> {
    async fn step(mut self) -> Result<Option<(Page<T>, Self)>> {
        let Some(call) = self.next.take() else { return Ok(None) };
        let following = call.again();
        let page = call.send().await?;
        self.next = following.zip(page.next_cursor()).map(|(call, cursor)| {
            if self.tortoise.as_deref() == Some(cursor) {
                return call.change(|_| Err(Error::new(Cause::RepeatedCursor, CallFacts::default())));
            }
            self.lap += 1;
            if self.lap == self.power {
                self.tortoise = Some(cursor.to_owned());
                self.power *= 2;
                self.lap = 0;
            }
            call.change(|request| {
                request.set_query("cursor", cursor.to_owned());
                Ok(())
            })
        });
        Ok(Some((page, self)))
    }
}

macro_rules! list_stream {
    ($(#[$meta:meta])* $name:ident, $item:ty) => {
        $(#[$meta])*
        ///
        /// An error is the last item. Nothing is asked for until the stream is polled.
        #[must_use = "a stream does nothing until it is polled"]
        pub struct $name<T>(Pin<Box<dyn Stream<Item = Result<$item>> + Send>>);

        impl<T> $name<T> {
            /// The next one; `None` at the end.
            pub async fn next(&mut self) -> Option<Result<$item>> {
                self.0.next().await
            }

            /// The next one, or the error; `None` at the end.
            ///
            /// # Errors
            /// Of the request for the next page.
            pub async fn try_next(&mut self) -> Result<Option<$item>> {
                self.0.try_next().await
            }

            /// All that are left.
            ///
            /// # Errors
            /// Of the first request that fails.
            pub async fn try_collect<C: Default + Extend<$item>>(self) -> Result<C> {
                self.0.try_collect().await
            }
        }

        impl<T> Stream for $name<T> {
            type Item = Result<$item>;

            fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                self.0.as_mut().poll_next(context)
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

list_stream! {
    /// All pages of a list.
    Pages, Page<T>
}

list_stream! {
    /// All items of a list.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::agents::{AgentCreateParams, };
    /// # use shadway::types::ListParams;
    /// # for name in ["A", "B", "C"] {
    /// #     client.agents().create(AgentCreateParams::new(name, "your-provider/your-model")).await?;
    /// # }
    /// let mut agents = client.agents().list(ListParams::new().limit(2)).items();
    /// let mut names = Vec::new();
    /// while let Some(agent) = agents.try_next().await? {
    ///     names.push(agent.name);
    /// }
    /// assert_eq!(names.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    Items, T
}
