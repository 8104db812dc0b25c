//! A local server with what a call needs, and a look at how often what it asks for was done.

use std::time::Duration;

use serde_json::json;
use shadway::Client;
use shadway::agents::{Agent, AgentCreateParams};
use shadway::capabilities::CapabilityRegisterParams;
use shadway::events::{Event, EventData};
use shadway::local::{LocalClock, LocalServer, Script};
use shadway::mandates::{Authority, MandateAmendmentCreateParams, MandateCreateParams, MandateStatus};
use shadway::page::Page;
use shadway::record::{CommitmentDirection, FactStatus, IssueState};
use shadway::types::{AgentId, ApprovalId, ArtifactId, ListParams, MandateId, WebhookEndpointId};
use shadway::webhooks::WebhookEndpointCreateParams;

/// What a person answers, which may stand in no error.
pub(crate) const ANSWER: &str = "tr0ub4dor";
pub(crate) const NEW_TEXT: &str = "Of the matrix.";
pub(crate) const CAPABILITY: &str = "matrix.measure";
pub(crate) const ENDPOINT: &str = "http://127.0.0.1:9/hooks";
/// How many agents there are, so that a list has more than one page.
pub(crate) const AGENTS: usize = 3;
/// From the start of a mandate that goes on to its end.
const WORK: Duration = Duration::from_secs(20);
const LATER: Duration = Duration::from_secs(300);

/// What a call works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Agents,
    /// A mandate that has asked a person, and goes on to wait for that.
    Asking,
    Paused,
    /// A mandate that asks, and one that ends, in a while.
    Working,
    /// A mandate to which nothing happens for longer than a connection may take to come back.
    Later,
    /// A mandate that has ended, with a bit of everything in its record.
    Ended,
    Capability,
    Endpoint,
}

/// The ids of what is there; those of what isn't are empty.
#[derive(Debug, Clone)]
pub(crate) struct Things {
    pub(crate) agent: AgentId,
    pub(crate) mandate: MandateId,
    /// Another mandate beside it.
    pub(crate) other: MandateId,
    pub(crate) approval: ApprovalId,
    pub(crate) artifact: ArtifactId,
    pub(crate) endpoint: WebhookEndpointId,
}

pub(crate) struct World {
    pub(crate) server: LocalServer,
    /// One whose requests meet no fault unless the server has one.
    pub(crate) healthy: Client,
    pub(crate) things: Things,
}

impl World {
    pub(crate) async fn with(need: Need) -> Self {
        let server = LocalServer::builder().clock(LocalClock::Real).start().await.unwrap();
        let client = Client::builder().api_key(server.api_key()).http_service(server.service());
        let things = Things {
            agent: "".into(),
            mandate: "".into(),
            other: "".into(),
            approval: "".into(),
            artifact: "".into(),
            endpoint: "".into(),
        };
        let mut world = Self { server, healthy: client.build().unwrap(), things };
        world.furnish(need).await;
        world
    }

    /// A new one on the same server, which takes longer to start than to forget.
    pub(crate) async fn renew(&mut self, need: Need) {
        self.server.reset();
        self.furnish(need).await;
    }

    async fn furnish(&mut self, need: Need) {
        for script in scripts() {
            self.server.script(script);
        }
        let mut agents = Vec::new();
        for number in 0..if need == Need::Agents { AGENTS } else { 1 } {
            let params =
                AgentCreateParams::new(format!("Agent {number}"), "p/m").capabilities(["email.send"]);
            agents.push(self.healthy.agents().create(params).await.unwrap().id);
        }
        self.things.agent = agents.remove(0);
        self.prepare(need).await;
    }

    async fn prepare(&mut self, need: Need) {
        match need {
            Need::Agents => {}
            Need::Asking | Need::Paused => {
                self.things.mandate = self.mandate("Ask.").await;
                self.things.approval = self.server.approvals().next().await.unwrap().id;
                if need == Need::Paused {
                    let work = self.healthy.mandate(&self.things.mandate);
                    work.pause("Wait.").await.unwrap();
                    assert_eq!(work.get().await.unwrap().status, MandateStatus::Paused);
                }
            }
            Need::Working => {
                self.things.mandate = self.mandate("Work.").await;
                self.things.other = self.mandate("Ask later.").await;
            }
            Need::Later => {
                self.things.mandate = self.mandate("Work later.").await;
                tokio::time::sleep(LATER / 2).await;
            }
            Need::Ended => {
                self.things.mandate = self.mandate("Work.").await;
                let work = self.healthy.mandate(&self.things.mandate);
                work.amend(MandateAmendmentCreateParams::new(Authority::new(), "Why not.", 1)).await.unwrap();
                work.wait().await.unwrap();
                self.things.artifact = work.artifacts().list().await.unwrap().data.remove(0).id;
            }
            Need::Capability => {
                self.healthy.capabilities().register(capability()).await.unwrap();
            }
            Need::Endpoint => {
                let params = WebhookEndpointCreateParams::new(ENDPOINT, ["*"]);
                self.things.endpoint =
                    self.healthy.webhooks().endpoints().create(params).await.unwrap().endpoint.id;
            }
        }
    }

    async fn mandate(&self, objective: &str) -> MandateId {
        let params = MandateCreateParams::new(&self.things.agent, objective);
        self.healthy.mandates().create(params).await.unwrap().id
    }

    /// All events of the workspace so far.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.healthy.events().list().limit(100).items().try_collect().await.unwrap()
    }

    /// How often this was done.
    pub(crate) async fn count(&self, effect: Effect) -> usize {
        match effect {
            Effect::None => 0,
            Effect::Agents => self.agents().await.len(),
            Effect::Revisions => {
                self.agents().await.iter().filter_map(|agent| agent.revision).sum::<u64>() as usize
            }
            Effect::Mandates => self.server.mandates().len(),
            Effect::Amendments => {
                let amendments = self.healthy.mandate(&self.things.mandate).amendments();
                amendments.list().await.unwrap().data.len()
            }
            Effect::Status(status) => {
                // A command takes effect at the end of a step.
                tokio::time::sleep(WORK).await;
                let events = self.events().await;
                events.iter().filter(|event| event.mandate_status() == Some(&status)).count()
            }
            Effect::Decision => {
                let events = self.events().await;
                events.iter().filter(|event| matches!(event.data, EventData::ApprovalResolved(_))).count()
            }
            Effect::Capabilities => {
                let all: Vec<_> = self
                    .healthy
                    .capabilities()
                    .list(ListParams::new().limit(100))
                    .items()
                    .try_collect()
                    .await
                    .unwrap();
                let named = |text: &str| {
                    all.iter().filter(|one| one.name == CAPABILITY && one.description == text).count()
                };
                named(NEW_TEXT)
            }
            Effect::Endpoints => self.endpoints().await.data.len(),
            Effect::Deleted => 1 - self.endpoints().await.data.len(),
            Effect::Described => {
                let all = self.endpoints().await.data;
                all.iter().filter(|one| one.description.as_deref() == Some(NEW_TEXT)).count()
            }
        }
    }

    async fn agents(&self) -> Vec<Agent> {
        self.healthy.agents().list(ListParams::new().limit(100)).items().try_collect().await.unwrap()
    }

    async fn endpoints(&self) -> Page<shadway::webhooks::WebhookEndpoint> {
        self.healthy.webhooks().endpoints().list(ListParams::new()).await.unwrap()
    }
}

/// What a call changes, and how it is counted: after it exactly one more was done than before.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// Nothing, or nothing that can be counted.
    None,
    Agents,
    Revisions,
    Mandates,
    Amendments,
    Status(MandateStatus),
    Decision,
    Capabilities,
    Endpoints,
    Deleted,
    Described,
}

pub(crate) fn capability() -> CapabilityRegisterParams {
    let any = || json!({"type": "object"});
    CapabilityRegisterParams::new(CAPABILITY, "Measures.", any(), any()).version("1")
}

/// What becomes of a mandate, by its objective.
fn scripts() -> [Script; 4] {
    let of = |objective: &'static str| Script::when(move |mandate| mandate.objective == objective);
    [
        of("Ask.").ask("May it?", ["code"]),
        of("Ask later.").wait(WORK / 4).ask("May it?", ["code"]),
        of("Work later.").wait(LATER).work("On it."),
        // A bit of everything, then work for a while.
        of("Work.")
            .fact("price", 7, FactStatus::Verified)
            .evidence("quote", "It is seven.", "seven")
            .issue("Really?", IssueState::Open)
            .assertion("Atlas", "It is cheap.")
            .information_need("Since when?")
            .commitment(CommitmentDirection::Made, "Atlas", "We pay.")
            .work("Reading.")
            .wait(WORK / 2)
            .work("Writing.")
            .wait(WORK / 2)
            .complete("Done."),
    ]
}
