//! Mandates: what is done with them, their record, and the waits for them.

use futures_util::FutureExt as _;
use shadway::Client;
use shadway::mandates::{
    Authority, MandateAmendmentCreateParams, MandateCreateParams, MandateHandle, MandateListParams,
    MandateStatus,
};

use super::{Row, WAIT, follow, send, some};
use crate::matrix::world::{Effect, Need, Things};

pub(super) fn commands() -> Vec<Row> {
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

fn work(client: &Client, things: &Things) -> MandateHandle {
    client.mandate(&things.mandate)
}

pub(super) fn record() -> Vec<Row> {
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
            some(work(client, things).artifacts().list())
        }),
        list("MandateHandle::amendments", "version", "/v1/mandates/{id}/amendments", |client, things, _| {
            some(work(client, things).amendments().list())
        }),
        list("Artifacts::download", "url", "/v1/artifacts/{id}/download", |client, things, key| {
            send(client.artifacts().download(&things.artifact), key)
        }),
    ]
}

/// Whatever they send meets the faults.
pub(super) fn waits() -> Vec<Row> {
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
