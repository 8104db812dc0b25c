//! The program that receives webhooks, as a person runs it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use shadway::agents::AgentCreateParams;
use shadway::events::EventType;
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::webhooks::{WebhookEndpointCreateParams, WebhookEndpointUpdateParams};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::quickstart::{example_path, program, text};

#[tokio::test]
async fn without_a_secret_it_gets_real_deliveries_a_repeat_and_a_rotation_and_ends() {
    // A proxy of the environment is not asked for this machine.
    let proxy = [("HTTP_PROXY", "http://127.0.0.1:9"), ("http_proxy", "http://127.0.0.1:9")];
    let output = program("webhook_server", &[], &proxy).await;
    let out = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{out}");
    assert!(out.starts_with("listening at http://127.0.0.1:"), "{out}");
    assert!(out.contains("sent by a local server at http://127.0.0.1:"), "{out}");
    let parts: Vec<_> = out.split("\n\n").collect();
    let lines = |part: usize| parts[part].lines().skip(1).collect::<Vec<_>>();
    let (before, after) = (lines(1), lines(3));
    for lines in [&before, &after] {
        assert!(
            lines.len() > 3 && lines.iter().all(|line| line.starts_with("whd_") && line.contains("  mnd_"))
        );
    }
    // Repeats of one of them, also once it is signed anew.
    let (repeat, again) = (lines(2), lines(4));
    assert_eq!((repeat.len(), &repeat), (1, &again), "{out}");
    let (id, said) = repeat[0].split_once("  ").unwrap();
    assert_eq!(
        (said, before.iter().filter(|line| line.starts_with(id)).count()),
        ("came before: dropped", 1)
    );
    let handled = before.len() + after.len();
    assert_eq!(parts[5], format!("deliveries: {handled} handled, 2 repeats dropped, 0 refused\n"));
    assert!(!out.contains("whsec_"));
}

#[tokio::test]
async fn bad_arguments_and_configuration_are_exit_status_2_with_the_reason() {
    for (arguments, variables, reason) in [
        (vec!["--addr", "nowhere"], vec![], "usage: webhook_server"),
        (vec!["--port", "1"], vec![], "--port"),
        (vec![], vec![("SHADWAY_WEBHOOK_SECRET", "sk_test_483921")], "this is an API key"),
        (
            vec![],
            vec![
                ("SHADWAY_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjU"),
                ("SHADWAY_WEBHOOK_OLD_SECRET", "whsec_483921"),
            ],
            "too short",
        ),
        // An address of no interface of this machine.
        (vec!["--addr", "192.0.2.1:0"], vec![], "192.0.2.1:0: "),
    ] {
        let output = program("webhook_server", &arguments, &variables).await;
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{arguments:?}: {said}");
        assert!(said.contains(reason) && !said.contains("483921"), "{said}");
    }
    let output = program("webhook_server", &["--help"], &[]).await;
    assert_eq!((output.status.code(), text(&output.stdout).starts_with("usage: ")), (Some(0), true));
}

/// A program that runs, ended with this value at the latest.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(secret: &str, old_secret: &str) -> Self {
        let mut command = Command::new(example_path("webhook_server"));
        command.args(["--addr", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("SHADWAY_WEBHOOK_SECRET", secret).env("SHADWAY_WEBHOOK_OLD_SECRET", old_secret);
        let mut child = command.spawn().expect("the example starts");
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next line it prints.
    fn line(&mut self) -> String {
        tokio::task::block_in_place(|| {
            let mut line = String::new();
            self.out.read_line(&mut line).unwrap();
            line
        })
    }

    /// What it prints once it is told to end, its complaints, and its exit status.
    fn end(mut self) -> (String, String, Option<i32>) {
        tokio::task::block_in_place(|| {
            let id = self.child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
            let (mut out, mut complaints) = (String::new(), String::new());
            self.out.read_to_string(&mut out).unwrap();
            self.child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
            (out, complaints, self.child.wait().unwrap().code())
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_secret_it_serves_until_it_is_told_to_end() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let webhooks = client.webhooks();
    let params = WebhookEndpointCreateParams::new("http://127.0.0.1:9/", [EventType::All]);
    let created = webhooks.endpoints().create(params).await.unwrap();

    // In the middle of a rotation: deliveries still have the old secret only.
    let mut program = Running::start("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", created.secret.expose());
    let listening = program.line();
    let url = listening.trim().strip_prefix("listening at ").unwrap();
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let params = WebhookEndpointUpdateParams::new().url(url);
    webhooks.endpoints().update(&created.endpoint.id, params).await.unwrap();

    let mut stranger = TcpStream::connect(&address).await.unwrap();
    let request =
        "POST /shadway/webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    stranger.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("webhook refused\n"), "{answer}");

    let agent = client.agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap();
    let mandate = MandateCreateParams::new(&agent.id, "Say hello.");
    let work = client.mandate(client.mandates().create(mandate).await.unwrap().id);
    work.cancel("Enough.").await.unwrap();
    let line = program.line();
    let expected = format!("  {} 1  mandate.status_changed\n", work.id());
    assert!(line.starts_with("whd_") && line.ends_with(&expected), "{line}");

    let (out, complaints, status) = program.end();
    assert_eq!((out.as_str(), status), ("deliveries: 1 handled, 0 repeats dropped, 1 refused\n", Some(0)));
    assert!(complaints.contains("there is no header Shadway-Webhook-Id"), "{complaints}");
}
