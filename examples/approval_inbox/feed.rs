//! The approvals of the workspace, kept up to date by its one event stream, and told to every page that is open.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use shadway::approvals::{Approval, ApprovalListParams, ApprovalStatus};
use shadway::events::{Event, EventData, StreamState};
use shadway::mandates::{Mandate, MandateListParams, MandateStatus};
use shadway::types::{ApprovalId, MandateId};
use shadway::{Client, Result};
use tokio::sync::{Notify, broadcast};

use super::support::{say, with_causes};
use super::views::Row;

/// What a page of a list may hold at most (assumed).
const LARGEST_PAGE: u32 = 100;
/// How many approvals that are no longer pending are shown: the latest.
const MOST_SETTLED: usize = 500;
/// How many changes a browser may be behind before it has to read everything again.
const MOST_BEHIND: usize = 256;
/// How long to leave the service alone after the stream has ended.
const PAUSE: Duration = Duration::from_secs(5);

/// What the pages are told.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) kind: &'static str,
    /// What it is about, if it is about one mandate.
    pub(crate) mandate: Option<MandateId>,
    /// JSON.
    pub(crate) data: Arc<str>,
}

/// What is shown, and whom to tell of changes. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    known: Arc<Mutex<Known>>,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Default)]
struct Known {
    approvals: HashMap<ApprovalId, Approval>,
    /// What the mandates of these approvals are for, as far as that is known.
    objectives: HashMap<MandateId, String>,
    /// Whether changes arrive as they happen.
    live: bool,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self { known: Arc::default(), changes: broadcast::channel(MOST_BEHIND).0 }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// All that is shown, and whether it is up to date.
    pub(crate) fn rows(&self) -> (Vec<Row>, bool) {
        let known = self.known();
        let rows = known.approvals.values().map(|approval| known.row(approval)).collect();
        (rows, known.live)
    }

    /// Takes in an approval as it is now. One that has been settled stays so, whatever arrives late.
    pub(crate) fn put(&self, approval: Approval) {
        let mut known = self.known();
        let news = known.approvals.get(&approval.id).is_none_or(|old| old.is_pending() && *old != approval);
        if news {
            let id = approval.id.clone();
            known.approvals.insert(id.clone(), approval);
            known.trim();
            if let Some(approval) = known.approvals.get(&id) {
                self.tell("approval", Some(&approval.mandate), &known.row(approval));
            }
        }
    }

    /// Takes in what a mandate is for.
    pub(crate) fn learn(&self, mandate: &Mandate) {
        let mut known = self.known();
        if known.objectives.get(&mandate.id) == Some(&mandate.objective) {
            return;
        }
        known.objectives.insert(mandate.id.clone(), mandate.objective.clone());
        for approval in known.approvals.values().filter(|approval| approval.mandate == mandate.id) {
            self.tell("approval", Some(&approval.mandate), &known.row(approval));
        }
        if known.objectives.len() > 2 * MOST_SETTLED {
            known.forget_objectives();
        }
    }

    /// Follows the workspace until it is dropped.
    pub(crate) async fn follow(&self, client: &Client) {
        let live = async {
            let mut said = String::new();
            loop {
                let ended = self.follow_stream(client).await;
                self.set_live(false);
                let why =
                    ended.err().map_or_else(|| "the stream ended".to_owned(), |error| with_causes(&error));
                if why != said {
                    say(format!("no live updates, trying again: {why}"));
                    said = why;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        // It may take a while in a workspace that has been at work for long, and nobody waits for it.
        let earlier = async {
            if let Err(error) = self.read_settled(client).await {
                say(format!("earlier approvals are missing: {}", with_causes(&error)));
            }
        };
        tokio::join!(live, earlier);
    }

    async fn follow_stream(&self, client: &Client) -> Result<()> {
        let opened = Arc::new(Notify::new());
        let (open, feed) = (Arc::clone(&opened), self.clone());
        let mut events = client.events().stream().observer(move |state| match state {
            StreamState::Open => open.notify_one(),
            StreamState::Waiting { .. } => feed.set_live(false),
            _ => {}
        });
        loop {
            tokio::select! {
                event = events.try_next() => match event? {
                    Some(event) => self.take(event),
                    None => return Ok(()),
                },
                // Only what is read after the opening, while events are kept for us, can't be missing anything.
                () = opened.notified() => {
                    self.read_pending(client).await?;
                    self.set_live(true);
                }
            }
        }
    }

    fn take(&self, event: Event) {
        let mandate = event.mandate.clone();
        match event.data {
            EventData::ApprovalRequested(asked) | EventData::ApprovalResolved(asked) => {
                self.put(asked.approval)
            }
            EventData::MandateStatusChanged(change)
                if change.mandate.status == MandateStatus::NeedsApproval =>
            {
                self.learn(&change.mandate);
            }
            _ => {}
        }
        self.tell("mandate", Some(&mandate), &mandate);
    }

    /// Reads what waits for a decision, and what no longer does although it did so before.
    async fn read_pending(&self, client: &Client) -> Result<()> {
        let before: Vec<ApprovalId> = {
            let known = self.known();
            let pending = known.approvals.values().filter(|approval| approval.is_pending());
            pending.map(|approval| approval.id.clone()).collect()
        };
        let waiting = MandateListParams::new().status([MandateStatus::NeedsApproval]).limit(LARGEST_PAGE);
        let mut mandates = client.mandates().list(waiting).items();
        while let Some(mandate) = mandates.try_next().await? {
            self.learn(&mandate);
        }
        let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]).limit(LARGEST_PAGE);
        let mut pending = client.approvals().list(pending).items();
        let mut listed = HashSet::new();
        while let Some(approval) = pending.try_next().await? {
            listed.insert(approval.id.clone());
            self.put(approval);
        }
        for id in before.into_iter().filter(|id| !listed.contains(id)) {
            self.put(client.approvals().get(id).await?);
        }
        Ok(())
    }

    /// Reads what was decided or expired before this program started.
    async fn read_settled(&self, client: &Client) -> Result<()> {
        use ApprovalStatus::{Approved, Canceled, Expired, Rejected};

        let params =
            ApprovalListParams::new().status([Approved, Rejected, Expired, Canceled]).limit(LARGEST_PAGE);
        let mut settled = client.approvals().list(params).items();
        while let Some(approval) = settled.try_next().await? {
            self.put(approval);
        }
        let mut nameless: HashSet<MandateId> = {
            let known = self.known();
            let mandates = known.approvals.values().map(|approval| approval.mandate.clone());
            mandates.filter(|mandate| !known.objectives.contains_key(mandate)).collect()
        };
        let mut mandates = client.mandates().list(MandateListParams::new().limit(LARGEST_PAGE)).items();
        while !nameless.is_empty() {
            let Some(mandate) = mandates.try_next().await? else { break };
            if nameless.remove(&mandate.id) {
                self.learn(&mandate);
            }
        }
        Ok(())
    }

    fn set_live(&self, live: bool) {
        let mut known = self.known();
        if known.live != live {
            known.live = live;
            self.tell("connection", None, &live);
        }
    }

    /// Nobody may be looking, and that is fine.
    fn tell(&self, kind: &'static str, mandate: Option<&MandateId>, what: &impl Serialize) {
        if let Ok(data) = serde_json::to_string(what) {
            let _ = self.changes.send(Change { kind, mandate: mandate.cloned(), data: data.into() });
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn row(&self, approval: &Approval) -> Row {
        Row::new(approval, self.objectives.get(&approval.mandate).cloned())
    }

    /// Forgets the approval that was settled first, once there are too many.
    fn trim(&mut self) {
        let settled = || self.approvals.values().filter(|approval| !approval.is_pending());
        if settled().count() > MOST_SETTLED {
            let first =
                settled().min_by_key(|approval| approval.resolved_at).map(|approval| approval.id.clone());
            if let Some(first) = first {
                self.approvals.remove(&first);
            }
        }
    }

    fn forget_objectives(&mut self) {
        let shown: HashSet<_> = self.approvals.values().map(|approval| approval.mandate.clone()).collect();
        self.objectives.retain(|mandate, _| shown.contains(mandate));
    }
}

#[cfg(test)]
mod tests {
    use shadway::agents::AgentCreateParams;
    use shadway::approvals::Approval;
    use shadway::local::LocalServer;
    use shadway::mandates::{Authority, MandateCreateParams};

    use super::*;

    /// A workspace in which somebody is asked.
    async fn workspace() -> (LocalServer, Client, Approval) {
        let server = LocalServer::start().await.unwrap();
        let client =
            Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
        let approval = ask(&client).await;
        (server, client, approval)
    }

    async fn ask(client: &Client) -> Approval {
        let agent = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
        let agent = client.agents().create(agent).await.unwrap();
        let authority = Authority::new().require_approval_for(["email.send"]);
        let mandate = MandateCreateParams::new(&agent.id, "Write.").authority(authority);
        let mandate = client.mandates().create(mandate).await.unwrap();
        client.mandate(&mandate.id).wait_for_approval().await.unwrap().unwrap()
    }

    fn rows(feed: &Feed) -> Vec<serde_json::Value> {
        feed.rows().0.iter().map(|row| serde_json::to_value(row).unwrap()).collect()
    }

    async fn until(feed: &Feed, mut holds: impl FnMut(&[serde_json::Value]) -> bool) {
        let mut changes = feed.subscribe();
        while !holds(&rows(feed)) {
            let next = tokio::time::timeout(Duration::from_secs(600), changes.recv()).await;
            next.expect("it never held").unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_there_what_comes_and_what_is_decided_is_all_shown() {
        let (server, client, before) = workspace().await;
        let earlier = ask(&client).await;
        client.approvals().reject(&earlier.id, "no").await.unwrap();
        let feed = Feed::new();
        let (following, follower) = (feed.clone(), client.clone());
        let following = tokio::spawn(async move { following.follow(&follower).await });
        until(&feed, |rows| rows.len() == 2 && feed.rows().1).await;
        until(&feed, |rows| rows.iter().all(|row| row["objective"] == "Write.")).await;
        let after = ask(&client).await;
        until(&feed, |rows| rows.iter().any(|row| row["id"] == after.id.as_str())).await;
        client.approvals().approve(&before.id, "yes").await.unwrap();
        until(&feed, |rows| rows.iter().any(|row| row["status"] == "approved")).await;
        following.abort();
        server.shutdown().await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_settled_while_nobody_listened_is_found_when_the_stream_opens() {
        let (server, client, approval) = workspace().await;
        let feed = Feed::new();
        feed.put(approval.clone());
        client.approvals().reject(&approval.id, "no").await.unwrap();
        feed.read_pending(&client).await.unwrap();
        assert_eq!(rows(&feed)[0]["status"], "rejected");
        feed.put(approval);
        assert_eq!(rows(&feed)[0]["status"], "rejected", "it stays so, whatever arrives late");
        server.shutdown().await;
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_settled_approvals_are_kept_the_latest() {
        let (server, client, approval) = workspace().await;
        let settled = client.approvals().reject(&approval.id, "no").await.unwrap();
        let feed = Feed::new();
        feed.put(approval.clone());
        for number in 0..=MOST_SETTLED {
            let mut settled = settled.clone();
            settled.id = format!("apr_{number}").into();
            settled.resolved_at = settled.resolved_at.map(|at| at + Duration::from_secs(number as u64));
            feed.put(settled);
        }
        server.shutdown().await;
        let known = feed.known();
        assert_eq!(known.approvals.len(), MOST_SETTLED + 1);
        assert!(!known.approvals.contains_key(&ApprovalId::from("apr_0")));
        assert!(known.approvals.contains_key(&approval.id));
    }
}
