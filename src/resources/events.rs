//! The events of a workspace, and of one mandate.

use std::future::ready;

use futures_util::TryStreamExt as _;
use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::events::Event;
use crate::model::routes;
use crate::model::types::MandateId;
use crate::page::Page;
use crate::resources::mandates::MandateHandle;
use crate::stream::{EventStream, History};

/// What a page may hold at most (assumed).
const LARGEST_PAGE: u32 = 100;

/// The events of all mandates of a workspace, from [`Client::events`].
#[derive(Debug, Clone)]
pub struct Events {
    client: Client,
}

impl Client {
    /// The events of all mandates of the workspace.
    #[must_use]
    pub fn events(&self) -> Events {
        Events { client: self.clone() }
    }
}

impl Events {
    /// Lists the events of all mandates, in the order in which they happened (the call is assumed). Order those
    /// of one mandate by [`Event::sequence`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// let mut events = client.events().list().items();
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{} {} {}", event.mandate, event.sequence, event.event_type);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> Call<Page<Event>> {
        Call::new(&self.client, Method::GET, routes::EVENTS, &[])
    }

    /// Follows the events of all mandates, in the order in which they happen (documented).
    ///
    /// Nothing is sent until the stream is polled. See [`EventStream`] for resuming, and for what ends it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?;
    /// # let stored = "evt_start"; // before the first
    /// let mut events = client.events().stream().resume_after(stored);
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{} {} {}", event.mandate, event.sequence, event.event_type);
    /// #   if event.mandate_status().is_some_and(|status| status.is_terminal()) { break }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&self) -> EventStream {
        let call = Call::new(&self.client, Method::GET, routes::EVENT_STREAM, &[]);
        let events = self.clone();
        EventStream::new(call, "workspace", move |_| {
            Box::pin(events.list().limit(LARGEST_PAGE).unbudgeted().items())
        })
    }
}

/// The events of one mandate, from [`MandateHandle::events`].
#[derive(Debug, Clone)]
pub struct MandateEvents {
    client: Client,
    id: MandateId,
}

impl MandateHandle {
    /// The events of the mandate: every status change, action and approval.
    #[must_use]
    pub fn events(&self) -> MandateEvents {
        MandateEvents { client: self.client().clone(), id: self.id().clone() }
    }
}

impl MandateEvents {
    /// Lists all events of the mandate, in ascending order of their sequence (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut events = client.mandate(id).events().list().items();
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{} {}", event.sequence, event.event_type);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> Call<Page<Event>> {
        Call::new(&self.client, Method::GET, routes::MANDATE_EVENTS, &[self.id.as_str()])
    }

    /// Follows the events of the mandate. It doesn't end by itself when the mandate does (documented): see
    /// [`until_terminal`](EventStream::until_terminal).
    ///
    /// Nothing is sent until the stream is polled. See [`EventStream`] for resuming, and for what ends it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut events = client.mandate(id).events().stream().until_terminal();
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{} {}", event.sequence, event.event_type);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&self) -> EventStream {
        let call = Call::new(&self.client, Method::GET, routes::MANDATE_EVENT_STREAM, &[self.id.as_str()]);
        let (name, events) = (format!("mandate:{}", self.id), self.clone());
        EventStream::new(call, name, move |after| events.all_after(after))
            .of_mandate(self.client.mandates().get(&self.id).unbudgeted())
    }

    /// Lists the events after a sequence number, to fill a gap (the parameter is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// use shadway::events::Event;
    ///
    /// let last_seen = 7;
    /// let missed: Vec<Event> = client.mandate(id).events().list_after(last_seen).items().try_collect().await?;
    /// assert!(missed.iter().all(|event| event.sequence > last_seen));
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_after(&self, sequence: u64) -> Call<Page<Event>> {
        self.list().query("afterSequence", sequence)
    }

    /// All events, or those after a sequence, also should the service list others with them.
    pub(crate) fn all_after(&self, sequence: Option<u64>) -> History {
        let list = sequence.map_or_else(|| self.list(), |sequence| self.list_after(sequence));
        let follows = move |event: &Event| ready(sequence.is_none_or(|sequence| event.sequence > sequence));
        Box::pin(list.limit(LARGEST_PAGE).unbudgeted().items().try_filter(follows))
    }
}
