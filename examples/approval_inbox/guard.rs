//! Who comes in, who may see what, and who may decide: the place for a team's own sign-in and access checks.
//!
//! As it is, whoever holds the link that the program prints is let in, sees everything, and may decide on everything.
//! To put your own in its place, change three functions: [`Guard::person`], which says from the headers of a request who
//! sent it, [`may_see`] and [`may_decide`]. What else is here guards against other pages in the same browser, and should stay.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Query, Request, State};
use axum::http::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use shadway::approvals::Approval;
use shadway::types::MandateId;
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;
use uuid::Uuid;

use super::api::Refusal;
use super::server::Inbox;
use super::support::say;

/// How long somebody stays signed in: a working day.
const SESSION: Duration = Duration::from_secs(12 * 60 * 60);
/// How many are signed in at most; one more signs out whoever came first.
const MOST_SESSIONS: usize = 100;

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// When they have to sign in again.
    pub(crate) until: Instant,
}

/// Whether this person may see this mandate, and with it whatever it asks for.
///
/// Put your own check here. It is made for every row of the list, every approval and mandate that is read, everything
/// that is told as it happens, and every decision; what somebody may not see is to them as if it did not exist. It is
/// asked often, so it should answer from memory.
pub(crate) fn may_see(_person: &Person, _mandate: &MandateId) -> bool {
    true
}

/// Whether this person may decide on this approval, which they may see.
///
/// Put your own check here: whether they have to do with `approval.mandate`, whether the amount is within what they may
/// sign, whether they are not the one who asked. It is made for every decision, and decides what the page offers.
pub(crate) fn may_decide(_person: &Person, _approval: &Approval) -> bool {
    true
}

/// Sign-in by a link that works once.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    door: Mutex<Door>,
}

#[derive(Debug)]
struct Door {
    /// What the next link has to carry.
    token: String,
    sessions: VecDeque<Session>,
}

#[derive(Debug)]
struct Session {
    key: String,
    person: Person,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, door: Mutex::new(Door { token: secret(), sessions: VecDeque::new() }) }
    }

    /// The link that lets one browser in.
    pub(crate) fn link(&self) -> String {
        format!("http://{}/sign-in?token={}", self.address, self.door().token)
    }

    /// Who sent a request, if they are signed in.
    ///
    /// Put your own sign-in here: a session of your application, or what a proxy in front of this has made sure of.
    fn person(&self, headers: &HeaderMap) -> Option<Person> {
        let cookies = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let name = self.cookie();
        let key = cookies.flat_map(|cookies| cookies.split(';')).find_map(|cookie| {
            let (cookie, value) = cookie.trim().split_once('=')?;
            (cookie == name).then_some(value)
        })?;
        let mut door = self.door();
        let now = Instant::now();
        door.sessions.retain(|session| now < session.person.until);
        let session = door.sessions.iter().find(|session| same(&session.key, key))?;
        Some(session.person.clone())
    }

    /// The key of a new session, for the token of the link, which is then worth nothing any more.
    fn exchange(&self, token: &str) -> Option<String> {
        let mut door = self.door();
        if !same(&door.token, token) {
            return None;
        }
        door.token = secret();
        if door.sessions.len() == MOST_SESSIONS {
            door.sessions.pop_front();
        }
        let session = Session { key: secret(), person: Person { until: Instant::now() + SESSION } };
        let key = session.key.clone();
        door.sessions.push_back(session);
        Some(key)
    }

    /// Browsers share cookies between the ports of a machine, so each has a name of its own.
    fn cookie(&self) -> String {
        format!("approval_inbox_{}", self.address.port())
    }

    fn door(&self) -> MutexGuard<'_, Door> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Deserialize)]
pub(crate) struct SignIn {
    #[serde(default)]
    token: String,
}

/// Takes the token of the link, gives a session for it, and leads to the page, whose address no longer has it.
pub(crate) async fn sign_in(
    State(inbox): State<Arc<Inbox>>,
    Query(SignIn { token }): Query<SignIn>,
) -> Result<Response, Refusal> {
    let guard = &inbox.guard;
    let key = guard.exchange(&token).ok_or_else(|| {
        Refusal::new(
            StatusCode::UNAUTHORIZED,
            "This link has been used. Open the latest one that the program printed.",
        )
    })?;
    say(format!("somebody signed in; for another browser: {}", guard.link()));
    // Not `Secure`, since it is plain HTTP on this machine; add it where TLS is in front.
    let cookie =
        format!("{}={key}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}", guard.cookie(), SESSION.as_secs());
    Ok((StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, "/".into())]).into_response())
}

/// Lets a request through that this page sent, on behalf of somebody who is signed in.
pub(crate) async fn check(
    State(inbox): State<Arc<Inbox>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if !is_own(request.method(), request.headers()) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "This did not come from the approval page."));
    }
    let person = inbox.guard.person(request.headers()).ok_or_else(|| {
        Refusal::new(
            StatusCode::UNAUTHORIZED,
            "You are not signed in. Open the link that the program printed.",
        )
    })?;
    request.extensions_mut().insert(person);
    Ok(next.run(request).await)
}

/// Whether the page itself sent a request. The cookie does not say so: to a browser another port of this machine is the
/// same site, so whatever runs there would have it sent along.
fn is_own(method: &Method, headers: &HeaderMap) -> bool {
    let site = headers.get(HeaderName::from_static("sec-fetch-site"));
    let same_origin = site.is_none_or(|site| site == "same-origin" || (site == "none" && method.is_safe()));
    let origin = match headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) => {
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            authority.is_some() && authority == headers.get(HOST).and_then(|host| host.to_str().ok())
        }
        // Browsers always send it with a change.
        None => method.is_safe(),
    };
    same_origin && origin
}

/// 122 random bits, from the system.
fn secret() -> String {
    Uuid::new_v4().simple().to_string()
}

/// In a time that does not tell how much of it is right.
fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use axum::http::{Method, Request, StatusCode};
    use shadway::local::LocalServer;
    use tower_service::Service as _;

    use super::super::server::router;
    use super::*;

    struct Stage {
        server: LocalServer,
        inbox: Arc<Inbox>,
    }

    impl Stage {
        async fn new() -> Self {
            let server = LocalServer::start().await.unwrap();
            let client = shadway::Client::builder()
                .api_key(server.api_key())
                .http_service(server.service())
                .build()
                .unwrap();
            let inbox = Arc::new(Inbox::new(client, ([127, 0, 0, 1], 80).into()));
            Self { server, inbox }
        }

        async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
            let mut request = Request::builder().method(method).uri(path).header(HOST, "127.0.0.1:80");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.header("content-type", "application/json").body(Body::from("{}")).unwrap();
            router(Arc::clone(&self.inbox)).call(request).await.unwrap()
        }

        /// The cookie of somebody who has just signed in.
        fn signed_in(&self) -> String {
            let guard = &self.inbox.guard;
            let token = guard.door().token.clone();
            format!("{}={}", guard.cookie(), guard.exchange(&token).unwrap())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_after_a_day_of_work() {
        let stage = Stage::new().await;
        let cookie = stage.signed_in();
        let list = async || stage.ask(Method::GET, "/api/approvals", &[("cookie", &cookie)]).await.status();
        assert_eq!(list().await, StatusCode::OK);
        tokio::time::advance(SESSION - Duration::from_secs(1)).await;
        assert_eq!(list().await, StatusCode::OK);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(list().await, StatusCode::UNAUTHORIZED);
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_works_once_and_sessions_are_not_kept_without_end() {
        let stage = Stage::new().await;
        let link = stage.inbox.guard.link();
        let path = link.strip_prefix("http://127.0.0.1:80").unwrap();
        let first = stage.ask(Method::GET, path, &[]).await;
        assert_eq!(
            (first.status(), &first.headers()[LOCATION]),
            (StatusCode::SEE_OTHER, &"/".parse().unwrap())
        );
        let cookie = first.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
        for used in [path, "/sign-in"] {
            assert_eq!(stage.ask(Method::GET, used, &[]).await.status(), StatusCode::UNAUTHORIZED);
        }
        let list = async || stage.ask(Method::GET, "/api/approvals", &[("cookie", cookie)]).await.status();
        assert_eq!(list().await, StatusCode::OK);
        for _ in 0..MOST_SESSIONS {
            stage.signed_in();
        }
        assert_eq!(list().await, StatusCode::UNAUTHORIZED, "whoever came first is out");
        assert_eq!(stage.inbox.guard.door().sessions.len(), MOST_SESSIONS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_needs_the_cookie_and_the_own_origin() {
        let stage = Stage::new().await;
        let cookie = stage.signed_in();
        let own = ("origin", "http://127.0.0.1:80");
        let status = async |headers: &[(&str, &str)]| {
            stage.ask(Method::POST, "/api/approvals/apr_1/approve", headers).await.status()
        };
        let cookie = ("cookie", cookie.as_str());
        assert_eq!(status(&[own]).await, StatusCode::UNAUTHORIZED);
        for other in [
            "http://127.0.0.1:81",
            "http://localhost:80",
            "null",
            "127.0.0.1:80",
            "http://127.0.0.1:80.evil.example",
        ] {
            assert_eq!(status(&[cookie, ("origin", other)]).await, StatusCode::FORBIDDEN, "{other}");
        }
        assert_eq!(status(&[cookie]).await, StatusCode::FORBIDDEN);
        assert_eq!(status(&[cookie, own, ("sec-fetch-site", "same-site")]).await, StatusCode::FORBIDDEN);
        assert_eq!(status(&[cookie, own, ("sec-fetch-site", "none")]).await, StatusCode::FORBIDDEN);
        assert_eq!(
            status(&[cookie, own, ("sec-fetch-site", "same-origin")]).await,
            StatusCode::NOT_FOUND,
            "let through"
        );
        stage.server.shutdown().await;
    }
}
