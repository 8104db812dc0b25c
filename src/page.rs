//! Lists: the first page, all pages, all items.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::stream::{self, StreamExt, TryStreamExt};

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
        Pages { walk: Box::pin(walk), ahead: 0, ready: VecDeque::new() }
    }

    /// All items of all pages. The next page is asked for when the items of the last are used up, or
    /// [before](Items::prefetch).
    pub fn items(self) -> Items<T> {
        Items { pages: self.pages(), page: Vec::new().into_iter() }
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

/// All pages of a list. An error is the last item. Nothing is asked for until the stream is polled.
#[must_use = "a stream does nothing until it is polled"]
pub struct Pages<T> {
    walk: Pin<Box<dyn Stream<Item = Result<Page<T>>> + Send>>,
    /// How many pages to ask for before they are needed.
    ahead: usize,
    ready: VecDeque<Result<Page<T>>>,
}

impl<T> Pages<T> {
    /// Asks for so many pages before they are needed, so that the service works on the next page while you work on
    /// this one.
    ///
    /// It pays when your work on each item or page waits for something itself, such as a database: measured, work that
    /// takes as long as the requests then costs half the time in all. One is enough. It costs a request too many when
    /// you stop early.
    ///
    /// Nothing is spawned: requests go on while the stream is polled, and while your task awaits something else as far as
    /// the transport works by itself, as reqwest's does; not while you compute without an await. The timeout of an attempt
    /// runs on meanwhile, so this is for work of seconds between one poll and the next, not of minutes.
    pub fn prefetch(mut self, pages: usize) -> Self {
        self.ahead = pages;
        self
    }

    /// Asks for pages until so many are there, or no more.
    fn poll_fill(&mut self, most: usize, context: &mut Context<'_>) -> Poll<()> {
        while self.ready.len() < most {
            match ready!(self.walk.as_mut().poll_next(context)) {
                Some(page) => self.ready.push_back(page),
                None => break,
            }
        }
        Poll::Ready(())
    }
}

impl<T> Stream for Pages<T> {
    type Item = Result<Page<T>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let pages = self.get_mut();
        let filled = pages.poll_fill(pages.ahead.saturating_add(1), context);
        match pages.ready.pop_front() {
            Some(page) => Poll::Ready(Some(page)),
            None => filled.map(|()| None),
        }
    }
}

/// All items of a list. An error is the last item. Nothing is asked for until the stream is polled.
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
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T> {
    pages: Pages<T>,
    page: std::vec::IntoIter<T>,
}

impl<T> Items<T> {
    /// Asks for so many pages before they are needed: see [`Pages::prefetch`].
    pub fn prefetch(self, pages: usize) -> Self {
        Self { pages: self.pages.prefetch(pages), page: self.page }
    }
}

impl<T> Stream for Items<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let items = self.get_mut();
        loop {
            if let Some(item) = items.page.next() {
                // Brings on what was begun, or begins it.
                let _ = items.pages.poll_fill(items.pages.ahead, context);
                return Poll::Ready(Some(Ok(item)));
            }
            match ready!(Pin::new(&mut items.pages).poll_next(context)) {
                Some(Ok(page)) => items.page = page.into_iter(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

/// What both streams have in common.
macro_rules! list_stream {
    ($name:ident, $item:ty) => {
        // What is in them is moved at will.
        impl<T> Unpin for $name<T> {}

        impl<T> $name<T> {
            /// The next one; `None` at the end.
            pub async fn next(&mut self) -> Option<Result<$item>> {
                StreamExt::next(self).await
            }

            /// The next one, or the error; `None` at the end.
            ///
            /// # Errors
            /// Of the request for the next page.
            pub async fn try_next(&mut self) -> Result<Option<$item>> {
                TryStreamExt::try_next(self).await
            }

            /// All that are left.
            ///
            /// # Errors
            /// Of the first request that fails.
            pub async fn try_collect<C: Default + Extend<$item>>(self) -> Result<C> {
                TryStreamExt::try_collect(self).await
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

list_stream! { Pages, Page<T> }
list_stream! { Items, T }
