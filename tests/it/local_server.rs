//! The local server as a command, as a program in any language meets it.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use shadway::approvals::ApprovalApproveParams;
use shadway::mandates::MandateStatus;
use shadway::{Client, ErrorKind};

use crate::quickstart::{example_path, program, text};

/// The command, stopped when this goes.
struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
    client: Client,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(example_path("local_server"));
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = exported(&mut lines, "SHADWAY_BASE_URL");
        let key = exported(&mut lines, "SHADWAY_API_KEY");
        let client = Client::builder().api_key(key).base_url(&url).build().unwrap();
        Self { child, lines, url, client }
    }

    async fn control(&self, method: Method, path: &str, body: Value) -> Value {
        let call = self.client.request(method.clone(), path);
        let call = if method == Method::GET { call } else { call.json(&body) };
        let answer = call.await.unwrap();
        serde_json::from_slice(&answer).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn exported(lines: &mut Lines<BufReader<ChildStdout>>, name: &str) -> String {
    let line = lines.next().unwrap().unwrap();
    line.strip_prefix(&format!("export {name}=")).expect("the variable").to_owned()
}

#[tokio::test]
async fn a_scenario_runs_to_its_end_for_a_client_that_only_knows_the_address() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/support/scenario.toml");
    let mut server = Server::start(&["--clock", "auto", "--scenario", file]);
    let line = server.lines.next().unwrap().unwrap();
    let id = line.strip_prefix("# ").unwrap().split(' ').next().unwrap().to_owned();

    let work = server.client.mandate(id);
    let asked = work.wait_for_approval().timeout(Duration::from_secs(20)).await.unwrap().unwrap();
    assert_eq!(asked.action.capability, "procurement.create_po");
    server.client.approvals().approve(&asked.id, ApprovalApproveParams::new()).await.unwrap();
    let done = work.wait().timeout(Duration::from_secs(20)).await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed, "{}", done.current_state.summary);
    assert_eq!(done.current_state.summary, "Ordered 200 units for $7,499.00, and they have arrived.");
}

#[tokio::test]
async fn its_controls_are_reached_over_http() {
    let receiver = wiremock::MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(wiremock::ResponseTemplate::new(204))
        .mount(&receiver)
        .await;
    let mut server = Server::start(&["--webhook", &receiver.uri()]);
    assert!(exported(&mut server.lines, "SHADWAY_WEBHOOK_SECRET").starts_with("whsec_"));

    let agents = json!({"agents": [{"name": "A", "model": "m/m", "capabilities": ["email.send"]}],
        "mandates": [{"agent": "A", "objective": "Write to sales@atlas.example.", "expiresIn": "2d"}]});
    let loaded = server.control(Method::POST, "/_local/scenario", agents).await;
    let work = server.client.mandate(loaded["mandates"][0]["id"].as_str().unwrap());

    // Time is moved on, and all is done.
    let before = server.control(Method::GET, "/_local/clock", json!(null)).await;
    let after = server.control(Method::POST, "/_local/clock/advance", json!({"by": "36h"})).await;
    let time = |answer: &Value| answer["now"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(time(&after).duration_since(time(&before)).as_hours() >= 36);
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Completed);
    server.control(Method::POST, "/_local/clock/skip", json!(null)).await;

    // What was delivered is listed, and sent again.
    let log = server.control(Method::GET, "/_local/deliveries", json!(null)).await;
    let first = &log["data"][0];
    assert_eq!(
        (&first["state"], &first["attempts"][0]["status"]),
        (&json!("delivered"), &json!(204)),
        "{log}"
    );
    let id = first["id"].as_str().unwrap();
    server.control(Method::POST, &format!("/_local/deliveries/{id}/redeliver"), json!(null)).await;
    let unknown = server.client.request(Method::POST, "/_local/deliveries/whd_none/redeliver").await;
    assert_eq!(unknown.unwrap_err().kind(), ErrorKind::NotFound);

    // Faults come and go, and the key too.
    let fault = json!({"kind": {"status": 403}, "on": "GET /v1/mandates/{id}"});
    server.control(Method::POST, "/_local/faults", fault).await;
    assert_eq!(work.get().await.unwrap_err().kind(), ErrorKind::Permission);
    server.control(Method::DELETE, "/_local/faults", json!(null)).await;
    work.get().await.unwrap();
    server.control(Method::POST, "/_local/key/revoke", json!(null)).await;
    assert_eq!(work.get().await.unwrap_err().kind(), ErrorKind::Authentication);
    server.control(Method::POST, "/_local/key/restore", json!(null)).await;

    let seen = server.control(Method::GET, "/_local/requests", json!(null)).await;
    let statuses = seen["data"].as_array().unwrap().iter().map(|request| request["status"].clone());
    assert_eq!(statuses.filter(|status| *status == 403).count(), 1, "{seen}");
    let state = server.control(Method::GET, "/_local/state", json!(null)).await;
    assert_eq!((&state["counts"]["agents"], &state["counts"]["mandates"]), (&json!(1), &json!(1)), "{state}");

    // A scenario that makes no sense says where.
    let wrong = json!({"scripts": [{"steps": [{"fly": "home"}]}]});
    let refused = server.client.request(Method::POST, "/_local/scenario").json(&wrong).await.unwrap_err();
    assert!(refused.to_string().contains("scripts[0].steps[0]"), "{refused}");

    server.control(Method::POST, "/_local/reset", json!(null)).await;
    assert_eq!(work.get().await.unwrap_err().kind(), ErrorKind::NotFound);
    let state = server.control(Method::GET, "/_local/state", json!(null)).await;
    assert_eq!(state["counts"]["webhookEndpoints"], 0, "{state}");

    let stranger = Client::builder().api_key("sk_test_other").base_url(&server.url).build().unwrap();
    let refused = stranger.request(Method::POST, "/_local/reset").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Authentication);
}

#[tokio::test]
async fn bad_arguments_are_exit_status_2_with_the_reason() {
    for (arguments, reason) in [
        (&["--addr", "nowhere"][..], "usage: local_server"),
        (&["--clock", "wall"], "real or auto"),
        (&["--speed", "0"], "at least 1"),
        (&["--clock", "auto", "--speed", "9"], "--speed is for"),
        (&["--scenario", "no/such/file.toml"], "no/such/file.toml"),
        (&["--scenario", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "unknown field"),
        (&["--addr", "192.0.2.1:1"], "192.0.2.1:1"),
    ] {
        let output = program("local_server", arguments, &[]).await;
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
}
