//! What a mandate keeps of its agent.

use super::*;
use crate::agents::{AgentStatus, AgentUpdateParams};

#[tokio::test(start_paused = true)]
async fn a_mandate_keeps_the_version_of_its_agent_that_it_began_with() {
    // Agents: "Existing mandates keep the configuration they started with."
    let scene = Scene::new().await;
    let script =
        || Script::any().wait(hours(1)).act("phone.call", json!({"to": "+13025550123"})).complete("Done.");
    let before = scene.give(Authority::new(), script()).await;
    let fewer = AgentUpdateParams::new().capabilities(["email.send"]);
    assert_eq!(scene.client.agents().update(&scene.agent.id, fewer).await.unwrap().revision, Some(2));
    let after = scene.give(Authority::new(), script()).await;
    let revision = async |work: &MandateHandle| work.wait().await.unwrap().agent_revision;
    assert_eq!((revision(&before).await, revision(&after).await), (Some(1), Some(2)));
    assert_eq!(actions(&before).await, ["phone.call started", "phone.call done"]);
    assert_eq!(actions(&after).await, ["phone.call blocked: phone.call is not granted"]);
}

#[tokio::test(start_paused = true)]
async fn status_and_metadata_make_no_new_version() {
    // Agents: "Changes only to `status` or `metadata` do not create a configuration revision."
    let scene = Scene::new().await;
    let update = async |change: AgentUpdateParams| {
        scene.client.agents().update(&scene.agent.id, change).await.unwrap().revision
    };
    assert_eq!(update(AgentUpdateParams::new().metadata([("team", "buyers")])).await, Some(1));
    assert_eq!(update(AgentUpdateParams::new().status(AgentStatus::Disabled)).await, Some(1));
    assert_eq!(update(AgentUpdateParams::new().instructions("Be brief.")).await, Some(2));
}

#[tokio::test(start_paused = true)]
async fn an_authority_that_names_nothing_has_the_full_set() {
    // Agents: "If omitted or empty, it uses the agent's full set."
    let script = Script::any().act("phone.call", json!({"to": "+13025550123"})).complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    assert_eq!(actions(&work).await[1], "phone.call done");
}

#[tokio::test(start_paused = true)]
async fn a_disabled_agent_does_not_stop_its_work() {
    // Agents: "Changing agent status is separate from stopping work."
    let scene = Scene::new().await;
    let work = scene.give(Authority::new(), Script::any().wait(hours(1)).complete("Done.")).await;
    let disable = AgentUpdateParams::new().status(AgentStatus::Disabled);
    scene.client.agents().update(&scene.agent.id, disable).await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    let another = scene.client.mandates().create(MandateCreateParams::new(&scene.agent.id, "Again.")).await;
    assert_eq!(another.unwrap_err().code(), Some(&ErrorCode::AgentDisabled));
}

#[tokio::test(start_paused = true)]
async fn an_agent_can_not_be_deleted() {
    // Agents: "It has no delete method."
    let scene = Scene::new().await;
    let path = format!("/v1/agents/{}", scene.agent.id);
    let answer = Raw::change(Method::DELETE, &path, "k", "").send(&scene.server.service()).await;
    assert_eq!(answer.status, 405);
}
