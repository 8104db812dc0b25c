//! What can be seen of the server from inside its process.

use std::time::Duration;

use http::{Method, StatusCode};
use tokio::time::timeout;

use super::Raw;
use crate::Client;
use crate::agents::AgentCreateParams;
use crate::approvals::{ApprovalApproveParams, ApprovalRejectParams};
use crate::local::{Fault, LocalClock, LocalServer};
use crate::mandates::{Authority, MandateCreateParams, MandateStatus};

async fn server() -> (LocalServer, Client) {
    let server = LocalServer::start().await.unwrap();
    let client = Client::builder().api_key(server.api_key()).http_service(server.service());
    (server, client.app_name("tests").build().unwrap())
}

/// Creates a mandate that asks a person for its one action.
async fn asking(client: &Client) {
    let agent = AgentCreateParams::new("Assistant", "p/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.unwrap();
    let authority = Authority::new().require_approval_for(["email.send"]);
    let params = MandateCreateParams::new(&agent.id, "Ask for a quote.").authority(authority);
    client.mandates().create(params).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requests_are_kept_with_what_became_of_them_and_without_the_key() {
    let (server, client) = server().await;
    let fault = Fault::drop_answer().times(1);
    server.fault(fault.clone());
    let params = AgentCreateParams::new("Assistant", "p/m");
    let agent = client.agents().create(params).idempotency_key("k").await.unwrap();
    client.agents().get(&agent.id).query("b", "1 2").await.unwrap_err();
    let mut events = client.events().stream().resume_after("evt_start");
    assert!(timeout(Duration::from_secs(1), events.next()).await.is_err());
    Raw::new(Method::PUT, "/nowhere").send(&server.service()).await;

    let requests = server.requests();
    let [dropped, again, get, stream, nowhere] = &requests[..] else { panic!("{requests:#?}") };
    assert_eq!((dropped.status, &dropped.fault), (None, &Some(fault)));
    assert_eq!((again.status, &again.fault), (Some(StatusCode::CREATED), &None));
    for request in [dropped, again] {
        assert_eq!((request.method.as_str(), request.route), ("POST", "/v1/agents"));
        assert_eq!(request.idempotency_key.as_deref(), Some("k"));
        let body = request.body.as_ref().unwrap().to_value().unwrap();
        assert_eq!((&body["name"], &body["model"]), (&"Assistant".into(), &"p/m".into()));
        assert!(request.user_agent.as_ref().unwrap().contains("tests"), "{request:?}");
        assert!(request.at <= server.now());
    }
    assert_eq!(
        (get.route, get.path.as_str()),
        ("/v1/agents/{id}", format!("/v1/agents/{}", agent.id).as_str())
    );
    assert_eq!(get.query, [("b".to_owned(), "1 2".to_owned())]);
    assert_eq!((get.status, &get.body), (Some(StatusCode::BAD_REQUEST), &None));
    assert_eq!((stream.route, stream.last_event_id.as_deref()), ("/v1/events/stream", Some("evt_start")));
    assert_eq!((nowhere.route, nowhere.status), ("", Some(StatusCode::UNAUTHORIZED)));
    assert!(!format!("{requests:?}").contains("sk_test"), "{requests:?}");
}

#[tokio::test(start_paused = true)]
async fn the_link_to_an_artifact_is_no_request() {
    let (server, _) = server().await;
    let service = server.service();
    server.fault(Fault::close());
    let fetch = http::Request::get("/files/art_1?signature=s").body(bytes::Bytes::new()).unwrap();
    let answer = crate::transport::HttpService::call(&service, fetch).await.unwrap();
    assert_eq!(answer.status(), 403, "there is no such link");
    assert!(server.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn approvals_are_given_once_each_as_they_are_asked_for() {
    let (server, client) = server().await;
    let mut approvals = server.approvals();
    assert!(approvals.pending().is_empty());
    assert!(timeout(Duration::from_secs(1), approvals.next()).await.is_err(), "nothing was asked");

    // The automatic clock goes on, since somebody waits: nobody else does.
    let began = tokio::time::Instant::now();
    asking(&client).await;
    let first = approvals.next().await.unwrap();
    assert_eq!(first.action.capability, "email.send");
    asking(&client).await;
    let second = approvals.next().await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert_ne!(first.id, second.id);
    assert_eq!(approvals.pending(), [first.clone(), second.clone()]);
    assert!(timeout(Duration::from_secs(1), approvals.next()).await.is_err(), "each once");
    assert_eq!(server.approvals().next().await, Some(first.clone()), "another one begins anew");

    client.approvals().approve(&first.id, ApprovalApproveParams::new().input("otp", "483921")).await.unwrap();
    assert_eq!(server.approvals().next().await, Some(second.clone()));
    client.approvals().reject(&second.id, ApprovalRejectParams::new().reason("no")).await.unwrap();
    assert!(server.approvals().pending().is_empty());
    client.mandate(&first.mandate).wait().await.unwrap();
    let statuses: Vec<_> = server.mandates().into_iter().map(|mandate| mandate.status).collect();
    assert_eq!(statuses[0], MandateStatus::Completed);
    assert!(!format!("{:?}", server.requests()).contains("483921"));
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_an_approval_learns_that_the_server_has_stopped() {
    let server = LocalServer::builder().clock(LocalClock::Manual).start().await.unwrap();
    let mut approvals = server.approvals();
    let (next, ()) = tokio::join!(approvals.next(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        server.shutdown().await;
    });
    assert_eq!(next, None);
    assert_eq!(approvals.next().await, None);
}
