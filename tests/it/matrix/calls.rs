//! The rows: every call that sends a request, as it is made.

use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use http::Method;
use serde_json::json;
use shadway::agents::{AgentCreateParams, AgentUpdateParams};
use shadway::approvals::{ApprovalApproveParams, ApprovalListParams, ApprovalRejectParams};
use shadway::call::Call;
use shadway::capabilities::CapabilityUpdateParams;
use shadway::mandates::{
    Authority, MandateAmendmentCreateParams, MandateCreateParams, MandateHandle, MandateListParams,
    MandateStatus,
};
use shadway::page::Page;
use shadway::record::Artifact;
use shadway::types::ListParams;
use shadway::webhooks::{WebhookEndpointCreateParams, WebhookEndpointUpdateParams};
use shadway::{Client, Error};

use super::world::{ANSWER, CAPABILITY, ENDPOINT, Effect, NEW_TEXT, Need, Things, capability};

/// How a call ended: how many requests it took, if it says so.
pub(crate) type Ended = Result<Option<u32>, Error>;
pub(crate) type Making = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// How long a wait may take; at its end comes one more read.
pub(crate) const WAIT: Duration = Duration::from_secs(60);
pub(crate) const LAST_READ: Duration = Duration::from_secs(5);

pub(crate) struct Row {
    /// As it is in the sources, `Type::method`.
    pub(crate) name: &'static str,
    /// The request that meets the faults.
    pub(crate) method: Method,
    pub(crate) route: &'static str,
    pub(crate) need: Need,
    pub(crate) effect: Effect,
    /// How many requests one after the other it makes when all is well: each has the client's timeout.
    pub(crate) requests: u32,
    /// A field of the answer that can't be missing.
    pub(crate) field: &'static str,
    pub(crate) make: fn(&Client, &Things, Option<String>) -> Making,
}

impl Row {
    fn new(
        name: &'static str,
        method: Method,
        route: &'static str,
        need: Need,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self { name, method, route, need, make, effect: Effect::None, requests: 1, field: "id" }
    }

    /// Whether it reads before it changes something.
    pub(crate) fn reads_first(&self) -> bool {
        self.requests > 1 && self.method != Method::GET
    }

    fn read(
        name: &'static str,
        route: &'static str,
        need: Need,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self::new(name, Method::GET, route, need, make)
    }

    fn post(
        name: &'static str,
        route: &'static str,
        need: Need,
        effect: Effect,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self { effect, ..Self::new(name, Method::POST, route, need, make) }
    }
}

/// Sends a call, under this key if there is one.
fn send<T: Send + 'static>(call: Call<T>, key: Option<String>) -> Making {
    let call = match key {
        Some(key) => call.idempotency_key(key),
        None => call,
    };
    call.with_response().map(|answer| answer.map(|answer| Some(answer.attempts))).boxed()
}

/// Sends what is more than one call.
fn follow<T>(work: impl Future<Output = Result<T, Error>> + Send + 'static) -> Making {
    work.map(|done| done.map(|_| None)).boxed()
}

fn work(client: &Client, things: &Things) -> MandateHandle {
    client.mandate(&things.mandate)
}

/// With an answer that has one item at least: an empty list would hide what happens to its items.
fn some<T: Send + 'static>(call: Call<Page<T>>) -> Making {
    async move {
        let answer = call.with_response().await?;
        assert!(!answer.value.data.is_empty(), "an empty list shows nothing");
        Ok(Some(answer.attempts))
    }
    .boxed()
}

pub(crate) fn rows() -> Vec<Row> {
    [agents(), mandates(), record(), approvals(), capabilities(), events_and_webhooks(), waits()]
        .into_iter()
        .flatten()
        .collect()
}

fn agents() -> Vec<Row> {
    vec![
        Row::post("Agents::create", "/v1/agents", Need::Agents, Effect::Agents, |client, _, key| {
            send(client.agents().create(AgentCreateParams::new("A", "p/m")), key)
        }),
        Row::read("Agents::get", "/v1/agents/{id}", Need::Agents, |client, things, key| {
            send(client.agents().get(&things.agent), key)
        }),
        Row::read("Agents::list", "/v1/agents", Need::Agents, |client, _, _| {
            some(client.agents().list(ListParams::new()))
        }),
        Row {
            method: Method::PATCH,
            ..Row::post(
                "Agents::update",
                "/v1/agents/{id}",
                Need::Agents,
                Effect::Revisions,
                |client, things, key| {
                    send(client.agents().update(&things.agent, AgentUpdateParams::new().name(NEW_TEXT)), key)
                },
            )
        },
        Row::read("Agents::wait_until_ready", "/v1/agents/{id}", Need::Agents, |client, things, _| {
            follow(client.agents().wait_until_ready(&things.agent).timeout(WAIT).into_future())
        }),
        // What every list has.
        Row {
            requests: 3,
            ..Row::read("Call::items", "/v1/agents", Need::Agents, |client, _, _| {
                let items = client.agents().list(ListParams::new().limit(1)).items();
                follow(async move {
                    let names: Vec<_> =
                        items.try_collect::<Vec<_>>().await?.into_iter().map(|one| one.name).collect();
                    assert_eq!(names, ["Agent 0", "Agent 1", "Agent 2"], "each once, in their order");
                    Ok(())
                })
            })
        },
        Row {
            requests: 3,
            ..Row::read("Call::pages", "/v1/agents", Need::Agents, |client, _, _| {
                let pages = client.agents().list(ListParams::new().limit(1)).pages();
                follow(async move {
                    assert_eq!(pages.try_collect::<Vec<_>>().await?.len(), 3);
                    Ok(())
                })
            })
        },
        Row::post("Client::request", "/v1/agents", Need::Agents, Effect::Agents, |client, _, key| {
            let call = client.request(Method::POST, "/v1/agents").json(&json!({"name": "A", "model": "p/m"}));
            send(call.decode::<shadway::agents::Agent>(), key)
        }),
    ]
}

fn mandates() -> Vec<Row> {
    const MANDATE: &str = "/v1/mandates/{id}";
    vec![
        Row::post(
            "Mandates::create",
            "/v1/mandates",
            Need::Agents,
            Effect::Mandates,
            |client, things, key| {
                send(
                    client.mandates().create(MandateCreateParams::new(&things.agent, "Ask for a quote.")),
                    key,
                )
            },
        ),
        Row::read("Mandates::get", MANDATE, Need::Asking, |client, things, key| {
            send(client.mandates().get(&things.mandate), key)
        }),
        Row::read("Mandates::list", "/v1/mandates", Need::Asking, |client, _, _| {
            some(client.mandates().list(MandateListParams::new()))
        }),
        Row::read("MandateHandle::get", MANDATE, Need::Asking, |client, things, key| {
            send(work(client, things).get(), key)
        }),
        Row::post(
            "MandateHandle::pause",
            "/v1/mandates/{id}/pause",
            Need::Asking,
            Effect::Status(MandateStatus::Paused),
            |client, things, key| send(work(client, things).pause("Wait."), key),
        ),
        Row::post(
            "MandateHandle::resume",
            "/v1/mandates/{id}/resume",
            Need::Paused,
            Effect::Status(MandateStatus::NeedsApproval),
            |client, things, key| send(work(client, things).resume("Go on."), key),
        ),
        Row::post(
            "MandateHandle::cancel",
            "/v1/mandates/{id}/cancel",
            Need::Asking,
            Effect::Status(MandateStatus::Canceled),
            |client, things, key| send(work(client, things).cancel("No."), key),
        ),
        Row {
            field: "version",
            ..Row::post(
                "MandateHandle::amend",
                "/v1/mandates/{id}/amendments",
                Need::Asking,
                Effect::Amendments,
                |client, things, key| send(work(client, things).amend(amendment()), key),
            )
        },
        Row {
            field: "version",
            requests: 2,
            ..Row::post(
                "MandateHandle::amend_with",
                "/v1/mandates/{id}/amendments",
                Need::Asking,
                Effect::Amendments,
                |client, things, key| match key {
                    // It has no option for a key: whoever wants to be sure repeats the amendment it made.
                    Some(key) => send(work(client, things).amend(amendment()), Some(key)),
                    None => {
                        follow(work(client, things).amend_with("More.", |limits| limits.maximum_actions(7)))
                    }
                },
            )
        },
    ]
}

fn amendment() -> MandateAmendmentCreateParams {
    MandateAmendmentCreateParams::new(Authority::new().maximum_actions(7), "More.", 1)
}

fn record() -> Vec<Row> {
    let list = |name, field, route, make| Row { field, ..Row::read(name, route, Need::Ended, make) };
    vec![
        list("MandateHandle::facts", "key", "/v1/mandates/{id}/facts", |client, things, _| {
            some(work(client, things).facts().list())
        }),
        list("MandateHandle::evidence", "title", "/v1/mandates/{id}/evidence", |client, things, _| {
            some(work(client, things).evidence().list())
        }),
        list("MandateHandle::issues", "question", "/v1/mandates/{id}/issues", |client, things, _| {
            some(work(client, things).issues().list())
        }),
        list("MandateHandle::assertions", "claim", "/v1/mandates/{id}/assertions", |client, things, _| {
            some(work(client, things).assertions().list())
        }),
        list(
            "MandateHandle::information_needs",
            "question",
            "/v1/mandates/{id}/information-needs",
            |client, things, _| some(work(client, things).information_needs().list()),
        ),
        list("MandateHandle::commitments", "text", "/v1/mandates/{id}/commitments", |client, things, _| {
            some(work(client, things).commitments().list())
        }),
        list("MandateHandle::artifacts", "id", "/v1/mandates/{id}/artifacts", |client, things, _| {
            some::<Artifact>(work(client, things).artifacts().list())
        }),
        list("MandateHandle::amendments", "version", "/v1/mandates/{id}/amendments", |client, things, _| {
            some(work(client, things).amendments().list())
        }),
        list("Artifacts::download", "url", "/v1/artifacts/{id}/download", |client, things, key| {
            send(client.artifacts().download(&things.artifact), key)
        }),
    ]
}

fn approvals() -> Vec<Row> {
    vec![
        Row::read("Approvals::list", "/v1/approvals", Need::Asking, |client, _, _| {
            some(client.approvals().list(ApprovalListParams::new()))
        }),
        Row::read("Approvals::get", "/v1/approvals/{id}", Need::Asking, |client, things, key| {
            send(client.approvals().get(&things.approval), key)
        }),
        Row::post(
            "Approvals::approve",
            "/v1/approvals/{id}/approve",
            Need::Asking,
            Effect::Decision,
            |client, things, key| {
                let params = ApprovalApproveParams::new().reason("Fine.").input("code", ANSWER);
                send(client.approvals().approve(&things.approval, params), key)
            },
        ),
        Row::post(
            "Approvals::reject",
            "/v1/approvals/{id}/reject",
            Need::Asking,
            Effect::Decision,
            |client, things, key| {
                send(
                    client.approvals().reject(&things.approval, ApprovalRejectParams::new().reason("No.")),
                    key,
                )
            },
        ),
    ]
}

fn capabilities() -> Vec<Row> {
    const ONE: &str = "/v1/capabilities/{name}";
    let rows = vec![
        Row::read("Capabilities::list", "/v1/capabilities", Need::Capability, |client, _, _| {
            some(client.capabilities().list(ListParams::new()))
        }),
        Row::read("Capabilities::get", ONE, Need::Capability, |client, _, key| {
            send(client.capabilities().get(CAPABILITY), key)
        }),
        Row::read("Capabilities::get_version", ONE, Need::Capability, |client, _, key| {
            send(client.capabilities().get_version(CAPABILITY, "1"), key)
        }),
        Row::post(
            "Capabilities::register",
            "/v1/capabilities",
            Need::Agents,
            Effect::Capabilities,
            |client, _, key| {
                let mut params = capability();
                params.description = NEW_TEXT.to_owned();
                send(client.capabilities().register(params), key)
            },
        ),
        Row {
            method: Method::PATCH,
            ..Row::post(
                "Capabilities::update",
                ONE,
                Need::Capability,
                Effect::Capabilities,
                |client, _, key| {
                    let params = CapabilityUpdateParams::new().description(NEW_TEXT);
                    send(client.capabilities().update(CAPABILITY, params), key)
                },
            )
        },
    ];
    rows.into_iter().map(|row| Row { field: "name", ..row }).collect()
}

fn events_and_webhooks() -> Vec<Row> {
    const ENDPOINTS: &str = "/v1/webhooks/endpoints";
    const ONE: &str = "/v1/webhooks/endpoints/{id}";
    vec![
        Row::read("Events::list", "/v1/events", Need::Asking, |client, _, _| some(client.events().list())),
        Row::read("MandateEvents::list", "/v1/mandates/{id}/events", Need::Asking, |client, things, _| {
            some(work(client, things).events().list())
        }),
        Row::read(
            "MandateEvents::list_after",
            "/v1/mandates/{id}/events",
            Need::Asking,
            |client, things, _| some(work(client, things).events().list_after(1)),
        ),
        Row::post(
            "WebhookEndpoints::create",
            ENDPOINTS,
            Need::Agents,
            Effect::Endpoints,
            |client, _, key| {
                let params = WebhookEndpointCreateParams::new(ENDPOINT, ["*"]);
                send(client.webhooks().endpoints().create(params), key)
            },
        ),
        Row::read("WebhookEndpoints::get", ONE, Need::Endpoint, |client, things, key| {
            send(client.webhooks().endpoints().get(&things.endpoint), key)
        }),
        Row::read("WebhookEndpoints::list", ENDPOINTS, Need::Endpoint, |client, _, _| {
            some(client.webhooks().endpoints().list(ListParams::new()))
        }),
        Row {
            method: Method::PATCH,
            ..Row::post(
                "WebhookEndpoints::update",
                ONE,
                Need::Endpoint,
                Effect::Described,
                |client, things, key| {
                    let params = WebhookEndpointUpdateParams::new().description(NEW_TEXT);
                    send(client.webhooks().endpoints().update(&things.endpoint, params), key)
                },
            )
        },
        Row {
            method: Method::DELETE,
            ..Row::post(
                "WebhookEndpoints::delete",
                ONE,
                Need::Endpoint,
                Effect::Deleted,
                |client, things, key| send(client.webhooks().endpoints().delete(&things.endpoint), key),
            )
        },
        // A secret can't be counted: that each attempt has the same key is all there is to see.
        Row::post(
            "WebhookEndpoints::rotate_secret",
            "/v1/webhooks/endpoints/{id}/rotate-secret",
            Need::Endpoint,
            Effect::None,
            |client, things, key| send(client.webhooks().endpoints().rotate_secret(&things.endpoint), key),
        ),
    ]
}

/// Whatever they send meets the faults.
fn waits() -> Vec<Row> {
    let wait = |name, make| Row::read(name, "", Need::Working, make);
    vec![
        wait("MandateHandle::wait", |client, things, _| {
            let wait = work(client, things).wait().timeout(WAIT).into_future();
            follow(wait.map(|done| done.map(|done| assert_eq!(done.status, MandateStatus::Completed))))
        }),
        wait("Wait::updates", |client, things, _| {
            let mut updates = work(client, things).wait().timeout(WAIT).updates();
            follow(async move {
                let mut last = None;
                while let Some(state) = updates.try_next().await? {
                    last = Some(state.status);
                }
                assert_eq!(last, Some(MandateStatus::Completed));
                Ok(())
            })
        }),
        wait("MandateHandle::wait_for_approval", |client, things, _| {
            let wait = client.mandate(&things.other).wait_for_approval().timeout(WAIT).into_future();
            follow(wait.map(|asked| asked.map(|asked| assert!(asked.is_some()))))
        }),
        wait("Watcher::wait", |client, things, _| {
            let wait = client.watcher().wait(&things.mandate).timeout(WAIT).into_future();
            follow(wait.map(|done| done.map(|done| assert_eq!(done.status, MandateStatus::Completed))))
        }),
        wait("Watcher::wait_for_approval", |client, things, _| {
            let wait = client.watcher().wait_for_approval(&things.other).timeout(WAIT).into_future();
            follow(wait.map(|asked| asked.map(|asked| assert!(asked.is_some()))))
        }),
    ]
}
