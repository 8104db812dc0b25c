//! Agents, and what every list and every client has besides.

use http::Method;
use serde_json::json;
use shadway::agents::{Agent, AgentCreateParams, AgentUpdateParams};
use shadway::types::ListParams;

use super::{Row, WAIT, follow, send, some};
use crate::matrix::world::{Effect, NEW_TEXT, Need};

pub(super) fn rows() -> Vec<Row> {
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
            send(call.decode::<Agent>(), key)
        }),
    ]
}
