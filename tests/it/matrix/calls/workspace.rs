//! What belongs to the whole workspace: approvals, capabilities, events, webhook endpoints.

use http::Method;
use shadway::approvals::{ApprovalApproveParams, ApprovalListParams, ApprovalRejectParams};
use shadway::capabilities::CapabilityUpdateParams;
use shadway::types::ListParams;
use shadway::webhooks::{WebhookEndpointCreateParams, WebhookEndpointUpdateParams};

use super::{Row, send, some};
use crate::matrix::world::{ANSWER, CAPABILITY, ENDPOINT, Effect, NEW_TEXT, Need, capability};

pub(super) fn approvals() -> Vec<Row> {
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

pub(super) fn capabilities() -> Vec<Row> {
    const ONE: &str = "/v1/capabilities/{name}";
    let rows = vec![
        Row::read("Capabilities::list", "/v1/capabilities", Need::Capability, |client, _, _| {
            some(client.capabilities().list(ListParams::new().limit(1)))
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

pub(super) fn events() -> Vec<Row> {
    vec![
        Row::read("Events::list", "/v1/events", Need::Asking, |client, _, _| some(client.events().list())),
        Row::read("MandateEvents::list", "/v1/mandates/{id}/events", Need::Asking, |client, things, _| {
            some(client.mandate(&things.mandate).events().list())
        }),
        Row::read(
            "MandateEvents::list_after",
            "/v1/mandates/{id}/events",
            Need::Asking,
            |client, things, _| some(client.mandate(&things.mandate).events().list_after(1)),
        ),
    ]
}

pub(super) fn webhook_endpoints() -> Vec<Row> {
    const ENDPOINTS: &str = "/v1/webhooks/endpoints";
    const ONE: &str = "/v1/webhooks/endpoints/{id}";
    vec![
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
