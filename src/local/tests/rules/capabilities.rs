//! What an action is, and who may use it.

use super::*;
use crate::agents::{AgentCapabilityConfig, AgentCapabilityReadiness, AgentUpdateParams};
use crate::capabilities::{CapabilityUpdateParams, Executor};
use crate::types::RawJson;

async fn refused(scene: &Scene, names: &[&str]) -> Option<ErrorCode> {
    let params = MandateCreateParams::new(&scene.agent.id, "Do it.")
        .authority(Authority::new().capabilities(names.to_vec()));
    scene.client.mandates().create(params).await.err().and_then(|error| error.code().cloned())
}

#[tokio::test(start_paused = true)]
async fn each_level_cuts_down_the_one_before() {
    // Capabilities: "each level can only cut down the one before it"
    let scene = Scene::new().await;
    let lacking = Some(ErrorCode::CapabilityNotGranted);
    assert_eq!(refused(&scene, &["browser.run"]).await, lacking);
    assert_eq!(refused(&scene, &["fax.send"]).await, lacking);
    let script = Script::any().act("email.send", email()).act("phone.call", json!({"to": "+13025550123"}));
    let work = scene.give(Authority::new().capabilities(["email.send"]), script.complete("Done.")).await;
    work.wait().await.unwrap();
    assert_eq!(actions(&work).await[2], "phone.call blocked: phone.call is not granted");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_grants_exact_action_names() {
    // Capabilities: "a mandate can only grant exact action names"
    let scene = Scene::new().await;
    for name in ["phone", "email", "Email.send", "email."] {
        assert_eq!(refused(&scene, &[name]).await, Some(ErrorCode::CapabilityNotGranted), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_can_not_run_is_rejected_right_away() {
    // Capabilities: "A mandate that needs an unavailable capability is rejected right away."
    // Capabilities: "Registering a capability only defines it."
    let scene = Scene::unconnected(order()).await;
    assert_eq!(refused(&scene, &[ORDER]).await, Some(ErrorCode::CapabilityUnavailable));
    scene.server.connect(Executor::new(ORDER, |input: RawJson| async { Ok::<_, std::io::Error>(input) }));
    assert_eq!(refused(&scene, &[ORDER]).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_script_that_acts_with_a_capability_is_what_runs_it() {
    // Capabilities: "until something is set up to run it"
    let scene = Scene::unconnected(order()).await;
    scene.server.script(Script::when(|_| false).act(ORDER, json!({})).act("mailbox.search", json!({})));
    assert_eq!(refused(&scene, &[ORDER]).await, None);
    let listed = scene.client.capabilities().get("mailbox.search").await.unwrap();
    assert!(!listed.is_runnable());
}

#[tokio::test(start_paused = true)]
async fn inputs_and_outputs_stay_as_they_were_registered() {
    // Capabilities: "you can only change the description, status, and metadata"
    let scene = Scene::new().await;
    let again = scene.client.capabilities().register(order()).await.unwrap_err();
    assert_eq!(again.code(), Some(&ErrorCode::CapabilityExists));
    scene.client.capabilities().register(order().version("2")).await.unwrap();
    let path = format!("/v1/capabilities/{ORDER}");
    let body = r#"{"inputSchema":{"type":"object"}}"#;
    let answer = Raw::change(Method::PATCH, &path, "k", body).send(&scene.server.service()).await;
    assert_eq!(answer.status, 422);
    let change = CapabilityUpdateParams::new().description("Order it.");
    assert_eq!(scene.client.capabilities().update(ORDER, change).await.unwrap().description, "Order it.");
}

#[tokio::test(start_paused = true)]
async fn settings_grant_nothing_and_what_needs_no_setup_is_ready_at_once() {
    // Built-in capabilities: "An entry here does nothing on its own without the grant."
    // Capabilities: "is `ready` as soon as the agent has it"
    let scene = Scene::unconnected(order()).await;
    let settings = [("browser", AgentCapabilityConfig::new().model("m/n"))];
    let change = AgentUpdateParams::new().capability_config(settings);
    let agent = scene.client.agents().update(&scene.agent.id, change).await.unwrap();
    assert_eq!(refused(&scene, &["browser.run"]).await, Some(ErrorCode::CapabilityNotGranted));
    let ready = |name: &str| agent.capability_status[name].status.clone();
    assert_eq!(ready("email.send"), AgentCapabilityReadiness::Ready);
    assert_eq!(ready(ORDER), AgentCapabilityReadiness::Unavailable);
}
