//! The program of the README's first command, as a person runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use shadway::local::LocalServer;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

/// Runs an example with nothing but these variables of ours.
pub(crate) async fn example(name: &str, variables: &[(&str, &str)]) -> Output {
    program(name, &[], variables).await
}

/// The same with arguments.
pub(crate) async fn program(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(name, arguments, variables);
    tokio::task::spawn_blocking(move || command.output().expect("the example starts")).await.unwrap()
}

/// The same, not started yet.
pub(crate) fn command(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(example_path(name));
    for name in [
        "SHADWAY_API_KEY",
        "SHADWAY_BASE_URL",
        "SHADWAY_MODEL",
        "SHADWAY_WEBHOOK_SECRET",
        "SHADWAY_WEBHOOK_OLD_SECRET",
    ] {
        command.env_remove(name);
    }
    command.args(arguments).envs(variables.iter().copied());
    command
}

/// Built by the same `cargo test`, beside the folder of this test.
pub(crate) fn example_path(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn without_a_key_it_runs_on_a_local_server_and_says_so() {
    let output = example("quickstart", &[]).await;
    let lines = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{lines}{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let lines: Vec<_> = lines.lines().collect();
    assert!(lines[0].starts_with("no SHADWAY_API_KEY, so this runs on a local server at http://127.0.0.1:"));
    assert!(lines[1].starts_with("agent    agt_") && lines[2].starts_with("mandate  mnd_"), "{lines:#?}");
    // No terminal: a line for each change and each action, with the time.
    assert!(lines.iter().any(|line| line.contains(" s  queued: ")), "{lines:#?}");
    assert!(lines.iter().filter(|line| line.contains(" s  running: ")).count() > 1, "{lines:#?}");
    for action in ["email.send started", "email.send done", "email.get_delivery done"] {
        assert!(lines.iter().any(|line| line.ends_with(action)), "{action}: {lines:#?}");
    }
    assert!(lines.last().unwrap().starts_with("completed: "), "{lines:#?}");
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked_for_this_machine() {
    let proxy = [("HTTP_PROXY", "http://127.0.0.1:9"), ("http_proxy", "http://127.0.0.1:9")];
    let output = example("quickstart", &proxy).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[tokio::test]
async fn with_a_key_it_talks_to_the_service() {
    let server = LocalServer::start().await.unwrap();
    let service = [("SHADWAY_API_KEY", server.api_key()), ("SHADWAY_BASE_URL", server.url())];
    let output = example("quickstart", &service).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("SHADWAY_MODEL is not set"), "{}", text(&output.stderr));

    let output = example("quickstart", &[service[0], service[1], ("SHADWAY_MODEL", "p/m")]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("local server"));
    let agents = server.client().unwrap().agents().list(Default::default()).await.unwrap();
    assert_eq!(agents.data[0].model, "p/m");
}

#[tokio::test]
async fn bad_configuration_is_exit_status_2_with_the_reason() {
    for (variables, reason) in [
        (vec![("SHADWAY_BASE_URL", "http://127.0.0.1:9")], "SHADWAY_API_KEY is not"),
        (vec![("SHADWAY_API_KEY", "sk_test_1\n"), ("SHADWAY_MODEL", "p/m")], "line break"),
        (
            vec![
                ("SHADWAY_API_KEY", "sk_test_1"),
                ("SHADWAY_MODEL", "p/m"),
                ("SHADWAY_BASE_URL", "http://api.example"),
            ],
            "not this machine",
        ),
    ] {
        let output = example("quickstart", &variables).await;
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).lines().count(), 1, "one line");
    }
}

#[tokio::test]
async fn any_other_end_is_exit_status_1() {
    let service = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(401)).mount(&service).await;
    let uri = service.uri();
    let variables =
        [("SHADWAY_API_KEY", "sk_test_1"), ("SHADWAY_BASE_URL", uri.as_str()), ("SHADWAY_MODEL", "p/m")];
    let output = example("quickstart", &variables).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("401 "), "{}", text(&output.stderr));

    let service = MockServer::start().await;
    let canceled = serde_json::json!({"id": "1", "name": "A", "model": "p/m", "agent": "1", "objective": "x",
        "status": "canceled", "currentState": {"summary": "Canceled."}});
    Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_json(canceled)).mount(&service).await;
    let uri = service.uri();
    let variables =
        [("SHADWAY_API_KEY", "sk_test_1"), ("SHADWAY_BASE_URL", uri.as_str()), ("SHADWAY_MODEL", "p/m")];
    let output = example("quickstart", &variables).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).ends_with("canceled: Canceled.\n"), "{}", text(&output.stdout));
}
