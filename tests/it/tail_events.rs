//! The program that shows events, as a person or a script runs it.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::{Checkpoint as _, Event, FileCheckpoint};
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::types::{EventId, MandateId};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::quickstart::{command, program, text};
use crate::support::seed;
use crate::support::streams::event;

/// The position before the local server's first event.
const START: &str = "evt_start";

fn lines(output: &Output) -> Vec<String> {
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn values(output: &Output) -> Vec<Value> {
    lines(output).iter().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

async fn run(server: &LocalServer, arguments: &[&str]) -> Output {
    let service = [("SHADWAY_API_KEY", server.api_key()), ("SHADWAY_BASE_URL", server.url())];
    program("tail_events", arguments, &service).await
}

/// A mandate that has ended, and its events.
async fn ended(client: &Client) -> (MandateId, Vec<Event>) {
    let agent = AgentCreateParams::new("A", "p/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.unwrap();
    let mandate = MandateCreateParams::new(&agent.id, "Ask sales@atlas.example for a quote.");
    let mandate = client.mandates().create(mandate).await.unwrap().id;
    let mut events = client.mandate(&mandate).events().stream().resume_after(START).until_terminal();
    let mut all = Vec::new();
    while let Some(event) = events.try_next().await.unwrap() {
        all.push(event);
    }
    (mandate, all)
}

fn file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tail-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[tokio::test]
async fn without_a_key_it_shows_a_small_workload_from_the_first_event_to_the_last() {
    let output = program("tail_events", &[], &[]).await;
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.starts_with("no SHADWAY_API_KEY, so this shows 2 mandates on a local server at http://127.")
    );
    let lines = lines(&output);
    assert!(lines.iter().all(|line| line.starts_with("evt_") && line.contains(" mnd_")), "{lines:#?}");
    assert!(lines[0].contains("  1  ") || lines[0].contains(" 1  "), "{lines:#?}");
    let ends = lines.iter().filter(|line| line.contains("mandate.status_changed  completed: ")).count();
    assert_eq!(ends, 2, "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.ends_with("capability.execution_started  email.send")),
        "{lines:#?}"
    );
}

#[tokio::test]
async fn as_json_the_data_are_printed_as_they_were_sent() {
    let service = MockServer::start().await;
    let mandate = crate::support::mandate("running");
    let data = format!(
        r#"{{"zone":1.10,"previousStatus":null,"mandate":{mandate},"count":123456789012345678901234567890,"a":[null,1e2]}}"#
    );
    let sent = format!(
        r#"{{"id":"evt_1","type":"mandate.status_changed","sequence":1,"mandate":"mnd_1","data":{data},"extra":2.50}}"#
    );
    let answer = ResponseTemplate::new(200).set_body_raw(format!("data: {sent}\n\n"), "text/event-stream");
    Mock::given(any()).respond_with(answer).up_to_n_times(1).mount(&service).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(204)).mount(&service).await;
    let uri = service.uri();
    let variables = [("SHADWAY_API_KEY", "sk_test_1"), ("SHADWAY_BASE_URL", uri.as_str())];
    let output = program("tail_events", &["--json"], &variables).await;
    assert_eq!(lines(&output), [sent], "{}", text(&output.stderr));
}

#[tokio::test]
async fn as_json_there_is_a_line_for_each_event_of_the_mandate_after_the_one_given() {
    let server = LocalServer::start().await.unwrap();
    // Another's events are none of this one's.
    ended(&server.client().unwrap()).await;
    let (mandate, events) = ended(&server.client().unwrap()).await;
    let output =
        run(&server, &["--json", "--mandate", mandate.as_str(), "--after", START, "--until-terminal"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let expected: Vec<_> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    assert_eq!(values(&output), expected);
    for name in ["id", "type", "sequence", "mandate", "data"] {
        assert!(values(&output).iter().all(|event| event.get(name).is_some()), "{name}");
    }

    let output = run(
        &server,
        &["--json", "--mandate", mandate.as_str(), "--after", events[1].id.as_str(), "--until-terminal"],
    )
    .await;
    assert_eq!(values(&output), expected[2..]);
}

#[tokio::test]
async fn with_a_checkpoint_it_begins_at_the_first_event_and_goes_on_where_it_was() {
    let server = LocalServer::start().await.unwrap();
    let (mandate, events) = ended(&server.client().unwrap()).await;
    let (path, name) = (file("position"), format!("mandate:{mandate}"));
    let arguments =
        ["--json", "--mandate", mandate.as_str(), "--checkpoint", path.to_str().unwrap(), "--until-terminal"];
    let output = run(&server, &arguments).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(values(&output).len(), events.len());
    let store = FileCheckpoint::new(&path);
    assert_eq!(store.load(&name).await.unwrap(), events.last().map(|event| event.id.clone()));

    store.save(&name, &events[0].id).await.unwrap();
    let output = run(&server, &arguments).await;
    assert_eq!(values(&output)[0]["id"], events[1].id.as_str());
    assert_eq!(values(&output).len(), events.len() - 1);

    store.save(&name, &EventId::from("evt_of_old")).await.unwrap();
    let output = run(&server, &arguments).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).starts_with("410 the event to resume after is older"),
        "{}",
        text(&output.stderr)
    );

    std::fs::write(&path, "oops").unwrap();
    let output = run(&server, &arguments).await;
    assert_eq!((output.status.code(), lines(&output).len()), (Some(1), 0));
    let said = text(&output.stderr);
    assert!(said.starts_with("the position of the stream could not be loaded: "), "{said}");
    assert!(said.contains("holds no position of a stream") && said.lines().count() == 1, "{said}");
}

#[tokio::test]
async fn a_mandate_that_did_not_complete_is_exit_status_1() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let agent = client.agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap();
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Nothing.")).await.unwrap().id;
    client.mandate(&mandate).cancel("Not needed.").await.unwrap();
    let output = run(&server, &["--mandate", mandate.as_str(), "--after", START, "--until-terminal"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("  canceled: "), "{}", text(&output.stdout));

    let output = run(&server, &["--mandate=mnd_none"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("404 "), "{}", text(&output.stderr));
}

#[tokio::test]
async fn bad_arguments_and_configuration_are_exit_status_2_with_the_reason() {
    for (arguments, reason) in [
        (vec!["--mandat", "mnd_1"], "--mandat"),
        (vec!["mnd_1"], "mnd_1"),
        (vec!["--after"], "--after"),
        (vec!["--json=yes"], "--json"),
        (vec!["--until-terminal"], "--until-terminal needs --mandate"),
        (vec!["--mandate", "mnd_1"], "--mandate needs SHADWAY_API_KEY"),
        (vec!["--mandate", "mnd_1", "--until-terminal", "--json"], "--mandate needs SHADWAY_API_KEY"),
    ] {
        let output = program("tail_events", &arguments, &[]).await;
        assert_eq!((output.status.code(), lines(&output).len()), (Some(2), 0), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains(reason) && said.contains("usage: tail_events [--mandate ID]"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let output = program("tail_events", &[], &[("SHADWAY_BASE_URL", "http://127.0.0.1:9")]).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("SHADWAY_API_KEY is not"), "{}", text(&output.stderr));
    let output = program("tail_events", &["--help"], &[]).await;
    assert_eq!((output.status.code(), text(&output.stderr).len()), (Some(0), 0));
    assert!(text(&output.stdout).starts_with("usage: "));
}

#[tokio::test]
async fn a_lost_connection_shows_on_standard_error_only_and_no_text_reaches_the_terminal_raw() {
    let service = MockServer::start().await;
    let odd = event(2).replace("\"data\":{}", "\"data\":\"\u{9b}31m\u{7f}\"");
    let sent = format!("{}{odd}data: oops\n\n", event(1));
    let sent = ResponseTemplate::new(200).set_body_raw(sent, "text/event-stream");
    Mock::given(any()).respond_with(sent).up_to_n_times(1).mount(&service).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(204)).mount(&service).await;
    let uri = service.uri();
    let variables = [("SHADWAY_API_KEY", "sk_test_1"), ("SHADWAY_BASE_URL", uri.as_str())];
    let output = program("tail_events", &[], &variables).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        lines(&output),
        ["evt_1  mnd_1 1  test.happened  {}", "evt_2  mnd_1 2  test.happened  \" 31m \""]
    );
    let said = text(&output.stderr);
    let said: Vec<_> = said.lines().collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("left out what is no event: "), "{said:?}");
    assert!(said[1].starts_with("the service ended the stream; connecting again in "), "{said:?}");
    let second = &service.received_requests().await.unwrap()[1];
    assert_eq!(second.headers["last-event-id"], "evt_2");
}

/// Kills the program once it has printed so many lines, or the end of the last mandate; all the lines it has printed.
fn killed(mut program: Command, lines: usize, mut is_last: impl FnMut(&Value) -> bool) -> Vec<Value> {
    let mut program =
        program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the example starts");
    let mut printed = BufReader::new(program.stdout.take().unwrap());
    let mut text = Vec::new();
    for _ in 0..lines {
        let start = text.len();
        if printed.read_until(b'\n', &mut text).unwrap() == 0 || is_last(&line(&text[start..])) {
            break;
        }
    }
    // SIGKILL, where there are signals: wherever it is, it does nothing more.
    program.kill().unwrap();
    program.wait().unwrap();
    // What it had printed by then; a line that was cut is none.
    printed.read_to_end(&mut text).unwrap();
    text.split_inclusive(|byte| *byte == b'\n').filter(|text| text.ends_with(b"\n")).map(line).collect()
}

fn line(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("a line of JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_it_prints_every_event_and_only_the_last_line_of_a_life_twice() {
    const LIVES: usize = 8;
    const MANDATES: usize = 3;
    let mut random = fastrand::Rng::with_seed(seed());
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let agent = AgentCreateParams::new("A", "p/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.unwrap();
    let path = file("killed");
    let mut lives: Vec<Vec<String>> = Vec::new();
    let (mut created, mut ended) = (0, HashSet::new());
    while lives.len() < LIVES || ended.len() < created {
        if lives.len() < LIVES {
            for _ in 0..MANDATES {
                let mandate = MandateCreateParams::new(&agent.id, "Ask sales@atlas.example for a quote.");
                client.mandates().create(mandate).await.unwrap();
                created += 1;
            }
        }
        let lines = random.usize(..10);
        let service = [("SHADWAY_API_KEY", server.api_key()), ("SHADWAY_BASE_URL", server.url())];
        let program = command("tail_events", &["--checkpoint", path.to_str().unwrap(), "--json"], &service);
        let mut before = ended.clone();
        let mut end = move |event: &Value| {
            if event["data"]["mandate"]["status"] == "completed" {
                before.insert(event["mandate"].clone());
            }
            before.len() == created
        };
        let printed = tokio::task::spawn_blocking(move || killed(program, lines, &mut end)).await.unwrap();
        ended.extend(
            printed
                .iter()
                .filter(|event| event["data"]["mandate"]["status"] == "completed")
                .map(|event| event["mandate"].clone()),
        );
        lives.push(printed.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect());
    }
    let events: Vec<Event> = client.events().list().limit(100).items().try_collect().await.unwrap();
    let mut handled = 0;
    for (number, life) in lives.iter().enumerate() {
        let Some(first) = life.first() else { continue };
        let first = events.iter().position(|event| event.id == first.as_str()).unwrap();
        assert!(first == handled || first + 1 == handled, "life {number} begins at {first} after {handled}");
        let expected = events.iter().skip(first).map(|event| event.id.as_str());
        assert!(expected.take(life.len()).eq(life), "life {number}: {life:?}");
        handled = first + life.len();
    }
    assert_eq!(handled, events.len());
}
