//! The twins of the documented samples, each run against the local server.

#![expect(clippy::duplicate_mod, reason = "each program brings what it begins and ends with")]

use serde_json::json;
use shadway::Client;
use shadway::agents::{AgentCreateParams, AgentStatus};
use shadway::approvals::{Approval, ApprovalStatus};
use shadway::capabilities::{Capability, CapabilityEffect, CapabilityExecutionMode, CapabilityRisk};
use shadway::events::Event;
use shadway::local::LocalServer;
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateStatus};
use shadway::types::{AgentId, MandateId};

macro_rules! programs {
    ($($name:ident = $path:literal;)*) => {$(
        #[path = $path]
        #[expect(dead_code, reason = "its main is not called here")]
        mod $name;
    )*};
}

programs! {
    agent_lifecycle = "../../examples/agent_lifecycle.rs";
    approvals = "../../examples/approvals.rs";
    capabilities = "../../examples/capabilities.rs";
    execution = "../../examples/execution.rs";
    mandates = "../../examples/mandates.rs";
    quickstart = "../../examples/quickstart.rs";
    stream_events = "../../examples/stream_events.rs";
    verification = "../../examples/verification.rs";
    wait_for_results = "../../examples/wait_for_results.rs";
    waiting = "../../examples/waiting.rs";
    webhooks = "../../examples/webhooks.rs";
}

/// A local server, a client without a socket, and paused time.
struct Stage {
    server: LocalServer,
    client: Client,
}

impl Stage {
    async fn new() -> Self {
        let server = LocalServer::start().await.unwrap();
        let client =
            Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
        Self { server, client }
    }

    async fn agent(&self, capabilities: &[&str]) -> AgentId {
        let params = AgentCreateParams::new("A", "p/m").capabilities(capabilities.iter().copied());
        self.client.agents().create(params).await.unwrap().id
    }

    async fn mandate(&self) -> Mandate {
        let agent = self.agent(&["email.send", "email.get_delivery"]).await;
        let params = MandateCreateParams::new(&agent, "Email sales@atlas.example and ask for a quote.");
        self.client.mandates().create(params).await.unwrap()
    }

    async fn ended(&self) -> MandateId {
        let id = self.mandate().await.id;
        assert_eq!(self.client.mandate(&id).wait().await.unwrap().status, MandateStatus::Completed);
        id
    }

    /// A purchase that asks before it orders.
    async fn purchase(&self) -> MandateId {
        let agent = self.agent(&["email.send", "email.get_delivery"]).await;
        let authority = Authority::new().require_approval_for(["email.send"]);
        let params = MandateCreateParams::new(&agent, "Order 200 units.").authority(authority);
        self.client.mandates().create(params).await.unwrap().id
    }

    /// The approval that a purchase waits for.
    async fn approval(&self) -> Approval {
        let id = self.purchase().await;
        self.client.mandate(&id).wait_for_approval().await.unwrap().expect("it asks")
    }

    /// With the capabilities of the purchasing examples connected.
    async fn purchasing(self) -> Self {
        let setup = agent_lifecycle::support::Setup {
            client: self.client.clone(),
            model: "p/m".into(),
            server: Some(self.server),
        };
        agent_lifecycle::purchasing::connect(&setup).await.map_err(|_| "not connected").unwrap();
        Self { server: setup.server.unwrap(), client: self.client }
    }
}

macro_rules! samples {
    ($($test:ident: $page:literal, $sample:literal, |$stage:ident| $body:block)*) => {
        $(
            #[tokio::test(start_paused = true)]
            async fn $test() {
                let $stage = Stage::new().await;
                $body
            }
        )*

        /// Every sample that is run here.
        const RUN: &[(&str, &str)] = &[$(($page, $sample)),*];
    };
}

samples! {
    quickstart_create_agent: "quickstart", "create-agent", |stage| {
        let agent = quickstart::create_agent(&stage.client, "p/m").await.unwrap();
        assert_eq!((agent.name.as_str(), agent.capabilities.len()), ("Assistant", 2));
        assert_eq!(stage.client.agents().get(&agent.id).await.unwrap(), agent);
    }
    quickstart_create_mandate: "quickstart", "create-mandate", |stage| {
        let agent = quickstart::create_agent(&stage.client, "p/m").await.unwrap();
        let mandate = quickstart::create_mandate(&stage.client, &agent).await.unwrap();
        assert_eq!(mandate.status, MandateStatus::Queued);
        assert_eq!(mandate.authority.maximum_actions, Some(5));
    }
    quickstart_wait: "quickstart", "wait", |stage| {
        let done = quickstart::wait(&stage.client, &stage.mandate().await).await.unwrap();
        assert_eq!(done.status, MandateStatus::Completed);
        assert!(!done.current_state.summary.is_empty());
    }
    capabilities_list: "capabilities", "list-capabilities", |stage| {
        let names = capabilities::list_capabilities(&stage.client).await.unwrap();
        assert!(names.contains(&"email.send".to_owned()) && names.contains(&"browser.cancel_run".to_owned()));
        assert!(!names.contains(&"mailbox.search".to_owned()), "listed, and can't run");
    }
    capabilities_configure: "capabilities", "configure", |stage| {
        let agent = stage.agent(&[]).await;
        let updated = capabilities::configure(&stage.client, &agent).await.unwrap();
        assert_eq!(updated.revision, Some(2));
        assert_eq!(updated.capability_config["phone"].area_code.as_deref(), Some("302"));
    }
    agents_create_agent: "concepts/agents", "create-agent", |stage| {
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        assert_eq!(agent.metadata["team"], "procurement");
        assert_eq!(agent.instructions.unwrap().lines().count(), 4);
    }
    agents_check_agent: "concepts/agents", "check-agent", |stage| {
        let before = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        assert!(agent_lifecycle::check_agent(&stage.client, &before.id).await.is_err(), "nothing runs an order yet");
        let stage = stage.purchasing().await;
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        assert!(agent_lifecycle::check_agent(&stage.client, &agent.id).await.is_ok());
    }
    agents_start_mandate: "concepts/agents", "start-mandate", |stage| {
        let stage = stage.purchasing().await;
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        let deadline = "2030-01-01T10:00:00Z".parse().unwrap();
        let mandate = agent_lifecycle::start_mandate(&stage.client, &agent.id, deadline).await.unwrap();
        assert_eq!(mandate.deadline, Some(deadline));
        assert_eq!(mandate.guidance.len(), 5);
        assert_eq!(mandate.metadata["purchaseRequest"], "PR-1042");
        assert_eq!(
            serde_json::to_value(&mandate.authority).unwrap(),
            json!({
                "capabilities": ["email.send", "email.get_delivery", "mailbox.read_thread", "mailbox.reply",
                    "procurement.create_po", "shipping.get_status"],
                "spend": {"maximum": {"amount": 799_999, "currency": "usd"}},
                "maximumActions": 40,
                "maximumReadActions": 100,
                "capabilityLimits": [{"capability": "procurement.create_po", "maximumActions": 1}],
                "approval": {"requiredFor": ["procurement.create_po"]},
                "successCriteria": [{"fact": "amount_minor", "max": 799_999}, {"fact": "delivered", "equals": true}],
            })
        );
    }
    agents_monitor: "concepts/agents", "monitor", |stage| {
        let id = stage.mandate().await.id;
        assert!(agent_lifecycle::monitor(&stage.client, &id).await.unwrap() > 2);
        assert_eq!(agent_lifecycle::monitor(&stage.client, &id).await.unwrap(), 0, "it has ended");
    }
    agents_request_approval: "concepts/agents", "request-approval", |stage| {
        let id = stage.purchase().await;
        let approval = agent_lifecycle::request_approval(&stage.client, &id).await.unwrap().unwrap();
        assert_eq!(approval.mandate, id);
        assert!(approval.is_pending());
        let without = stage.ended().await;
        assert!(agent_lifecycle::request_approval(&stage.client, &without).await.unwrap().is_none());
    }
    agents_decide_approval: "concepts/agents", "decide-approval", |stage| {
        use agent_lifecycle::{Decision, decide_approval};
        let approval = stage.approval().await;
        let other = MandateId::from("mnd_other");
        let foreign = decide_approval(&stage.client, &approval.id, &other, Decision::Approve, "x").await;
        assert!(foreign.is_err(), "not of this mandate");
        let decided = decide_approval(&stage.client, &approval.id, &approval.mandate, Decision::Reject, "No.").await;
        assert_eq!(decided.map_err(|_| ()).unwrap().status, ApprovalStatus::Rejected);
        let again = decide_approval(&stage.client, &approval.id, &approval.mandate, Decision::Approve, "x").await;
        assert!(again.is_err(), "no longer pending");
    }
    agents_inspect_result: "concepts/agents", "inspect-result", |stage| {
        let id = stage.mandate().await.id;
        let done = agent_lifecycle::inspect_result(&stage.client, &id).await.unwrap();
        assert_eq!(done.status, MandateStatus::Completed);
        let canceled = stage.mandate().await.id;
        stage.client.mandate(&canceled).cancel("x").await.unwrap();
        let done = agent_lifecycle::inspect_result(&stage.client, &canceled).await.unwrap();
        assert_eq!(done.status, MandateStatus::Canceled);
    }
    agents_control_work: "concepts/agents", "control-work", |stage| {
        use agent_lifecycle::{Command, control_work};
        let id = stage.mandate().await.id;
        for command in [Command::Pause, Command::Resume, Command::Cancel] {
            control_work(&stage.client, &id, command).await.unwrap();
        }
        assert_eq!(stage.client.mandate(&id).wait().await.unwrap().status, MandateStatus::Canceled);
        assert!(control_work(&stage.client, &id, Command::Pause).await.unwrap_err().is_conflict());
    }
    agents_manage_agent: "concepts/agents", "manage-agent", |stage| {
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        let revised = agent_lifecycle::manage_agent(&stage.client, &agent.id).await.unwrap();
        assert_eq!((revised.id, revised.revision), (agent.id, Some(2)));
        assert!(revised.instructions.unwrap().contains("backup delivery option"));
    }
    agents_set_agent_status: "concepts/agents", "set-agent-status", |stage| {
        let agent = stage.agent(&[]).await;
        for status in [AgentStatus::Disabled, AgentStatus::Active] {
            let set = agent_lifecycle::set_agent_status(&stage.client, &agent, status.clone()).await.unwrap();
            assert_eq!((set.status, set.revision), (status, Some(1)), "a status is no new revision");
        }
    }
    agents_configure: "concepts/agents", "configure", |stage| {
        let agent = stage.agent(&[]).await;
        let updated = agent_lifecycle::configure(&stage.client, &agent).await.unwrap();
        assert_eq!(updated.capabilities.len(), 7);
        let ready = stage.client.agents().wait_until_ready(&agent).await.unwrap();
        assert!(ready.capability_status["phone"].number.as_deref().unwrap().starts_with("+1302"));
    }
    agents_update: "concepts/agents", "update", |stage| {
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        let updated = agent_lifecycle::update(&stage.client, &agent.id).await.unwrap();
        assert!(updated.instructions.unwrap().starts_with("Be concise with suppliers."));
        assert_eq!(updated.name, agent.name, "what is not named stays");
    }
    approvals_present_approval: "concepts/approvals", "present-approval", |stage| {
        let id = stage.purchase().await;
        let approval = approvals::present_approval(&stage.client, &id).await.unwrap().unwrap();
        assert!(!approval.question.is_empty() && approval.expires_at.is_some());
    }
    approvals_decide_approval: "concepts/approvals", "decide-approval", |stage| {
        use approvals::{Decision, decide_approval};
        let approval = stage.approval().await;
        let other = MandateId::from("mnd_other");
        let foreign = decide_approval(&stage.client, &approval.id, &other, Decision::Approve, "Yes.").await;
        assert!(foreign.is_err(), "not of this mandate");
        let decided = decide_approval(&stage.client, &approval.id, &approval.mandate, Decision::Approve, "Yes.").await;
        assert_eq!(decided.unwrap().status, ApprovalStatus::Approved);
        let again = decide_approval(&stage.client, &approval.id, &approval.mandate, Decision::Reject, "No.").await;
        assert!(again.is_err(), "no longer pending");
    }
    approvals_approve_with_inputs: "concepts/approvals", "approve-with-inputs", |stage| {
        // An action of one's own that asks for the code, and says what it got.
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Transfer {
            otp: String,
        }
        #[derive(serde::Serialize, schemars::JsonSchema)]
        struct Transferred {
            done: bool,
        }
        let (tell, told) = std::sync::mpsc::channel();
        let transfer = Capability::define("bank.transfer", "Transfer money.").execute(move |input: Transfer| {
            let told = tell.send(input.otp);
            async move { told.map(|()| Transferred { done: true }) }
        });
        stage.client.capabilities().register(&transfer).await.unwrap();
        stage.server.connect(&transfer);
        let agent = stage.agent(&["bank.transfer"]).await;
        let authority = Authority::new().require_approval_for(["bank.transfer"]);
        let params = MandateCreateParams::new(&agent, "Pay the invoice.").authority(authority);
        let work = stage.client.mandate(stage.client.mandates().create(params).await.unwrap().id);
        let approval = work.wait_for_approval().await.unwrap().unwrap();
        let decided = approvals::approve_with_inputs(&stage.client, &approval.id).await.unwrap();
        assert_eq!(decided.status, ApprovalStatus::Approved);
        assert_eq!(decided.reason.as_deref(), Some("Verified with the account holder."));
        assert!(!serde_json::to_string(&decided).unwrap().contains("483921"));
        work.wait().await.unwrap();
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["483921"], "the action had the code");
    }
    capabilities_register: "concepts/capabilities", "register-capability", |stage| {
        let registered = capabilities::register_capability(&stage.client).await.unwrap();
        assert_eq!(registered.name, "procurement.create_po");
        assert_eq!(registered.execution_mode, CapabilityExecutionMode::Unavailable);
        assert_eq!((&registered.risk, &registered.effect), (&CapabilityRisk::Financial, &CapabilityEffect::Irreversible));
        let input = registered.input_schema.unwrap().to_value().unwrap();
        assert_eq!(input["required"], json!(["supplier", "part", "quantity", "amount_minor"]));
        assert_eq!((&input["additionalProperties"], &input["properties"]["quantity"]["minimum"]), (&json!(false), &json!(1)));
        let order = |quantity: u32| json!({"supplier": "Atlas", "part": "p", "quantity": quantity, "amount_minor": 5});
        let ordered = capabilities::purchase_order().invoke(order(2)).await.unwrap();
        assert_eq!(ordered.purchase_reference, "PO-2041");
        let none = capabilities::purchase_order().invoke(order(0)).await.unwrap_err();
        assert!(none.to_string().contains("quantity"), "{none}");
    }
    capabilities_check_readiness: "concepts/capabilities", "check-readiness", |stage| {
        let agent = stage.agent(&["email.send", "phone"]).await;
        let waiting = capabilities::check_readiness(&stage.client, &agent).await.unwrap();
        assert_eq!(waiting.len(), 1);
        assert!(waiting[0].starts_with("phone provisioning "), "{waiting:?}");
    }
    execution_idempotent_create: "concepts/execution", "idempotent-create", |stage| {
        let agent = stage.agent(&["email.send"]).await;
        let first = execution::idempotent_create(&stage.client, &agent).await.unwrap();
        let again = execution::idempotent_create(&stage.client, &agent).await.unwrap();
        assert_eq!(first.id, again.id);
        assert_eq!(stage.client.mandates().list(Default::default()).await.unwrap().data.len(), 1);
    }
    execution_watch: "concepts/execution", "watch-executions", |stage| {
        let id = stage.mandate().await.id;
        let lines = execution::watch_executions(&stage.client, &id).await.unwrap();
        assert!(lines.iter().any(|line| line.starts_with("email.send ") && line.ends_with(" ms")), "{lines:?}");
    }
    mandates_create: "concepts/mandates", "create-mandate", |stage| {
        let stage = stage.purchasing().await;
        let agent = agent_lifecycle::create_agent(&stage.client, "p/m").await.unwrap();
        let mandate = mandates::create_mandate(&stage.client, &agent.id).await.unwrap();
        assert_eq!((mandate.guidance.len(), mandate.metadata["purchaseRequest"].as_str()), (2, "PR-1042"));
        assert_eq!(
            serde_json::to_value(&mandate.authority).unwrap(),
            json!({
                "capabilities": ["email.send", "mailbox.read_thread", "procurement.create_po"],
                "spend": {"maximum": {"amount": 799_999, "currency": "usd"}},
                "maximumActions": 40,
                "capabilityLimits": [{"capability": "procurement.create_po", "maximumActions": 1}],
                "approval": {"requiredFor": ["procurement.create_po"]},
                "successCriteria": [{"fact": "amount_minor", "max": 799_999}],
            })
        );
    }
    mandates_control: "concepts/mandates", "control", |stage| {
        let id = stage.approval().await.mandate;
        mandates::control(&stage.client, &id).await.unwrap();
        let seen: Vec<Event> = stage.client.mandate(&id).events().list().items().try_collect().await.unwrap();
        let statuses: Vec<_> = seen.iter().filter_map(Event::mandate_status).map(MandateStatus::as_str).collect();
        let paused = statuses.iter().position(|status| *status == "paused").expect("it was paused");
        assert!(statuses[paused + 1..].len() > 1, "and went on: {statuses:?}");
        assert_eq!(statuses.last(), Some(&"canceled"));
    }
    mandates_amend: "concepts/mandates", "amend", |stage| {
        let id = stage.purchase().await;
        let amendment = mandates::amend(&stage.client, &id).await.unwrap();
        assert_eq!(amendment.version, 2);
        let now = stage.client.mandate(&id).get().await.unwrap();
        assert_eq!(now.authority.spend.unwrap().maximum.unwrap().amount, 899_999);
        assert_eq!(now.authority.approval.unwrap().required_for, ["email.send"], "the siblings stay");
    }
    verification_read_facts: "concepts/verification", "read-facts", |stage| {
        let id = stage.ended().await;
        let facts = verification::read_facts(&stage.client, &id).await.unwrap();
        assert!(facts.iter().any(|fact| fact.status.is_confirmed()), "{facts:?}");
    }
    verification_read_evidence: "concepts/verification", "read-evidence", |stage| {
        let id = stage.ended().await;
        let evidence = verification::read_evidence(&stage.client, &id).await.unwrap();
        assert!(!evidence.is_empty() && evidence.iter().all(|piece| !piece.excerpt.is_empty()), "{evidence:?}");
    }
    waiting_waiting_on: "concepts/waiting", "waiting-on", |stage| {
        let approval = stage.approval().await;
        let waiting_on = waiting::waiting_on(&stage.client, &approval.mandate).await.unwrap();
        assert!(!waiting_on.unwrap().is_empty());
        let ended = stage.ended().await;
        assert_eq!(waiting::waiting_on(&stage.client, &ended).await.unwrap(), None);
    }
    approvals_pending: "guides/handle-approvals", "pending", |stage| {
        assert!(approvals::pending(&stage.client).await.unwrap().is_empty());
        let approval = stage.approval().await;
        assert_eq!(approvals::pending(&stage.client).await.unwrap(), [approval]);
    }
    approvals_present: "guides/handle-approvals", "present", |stage| {
        let approval = stage.approval().await;
        let view = approvals::present(&stage.client, &approval.id).await.unwrap();
        assert_eq!((view.question, view.capability), (approval.question, approval.action.capability));
        assert!(view.arguments.starts_with('{') && !view.expires_at.is_empty() && !view.consequence.is_empty());
    }
    approvals_decide: "guides/handle-approvals", "decide", |stage| {
        use approvals::{Decision, decide};
        let id = stage.approval().await.id;
        let first = decide(&stage.client, &id, Decision::Approve, "Yes.").await.unwrap();
        let again = decide(&stage.client, &id, Decision::Approve, "Yes.").await.unwrap();
        let opposite = decide(&stage.client, &id, Decision::Reject, "No.").await.unwrap();
        assert_eq!(first.status, ApprovalStatus::Approved);
        assert_eq!((again.resolved_at, &opposite.status), (first.resolved_at, &ApprovalStatus::Approved));
    }
    approvals_wait_inline: "guides/handle-approvals", "wait-inline", |stage| {
        let id = stage.purchase().await;
        assert!(approvals::wait_inline(&stage.client, &id).await.unwrap().is_some());
        let ended = stage.ended().await;
        assert!(approvals::wait_inline(&stage.client, &ended).await.unwrap().is_none());
    }
    stream_stream: "guides/stream-events", "stream", |stage| {
        let id = stage.mandate().await.id;
        let seen = stream_events::stream(&stage.client, &id).await.unwrap();
        assert!(seen.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        assert_eq!(seen.last().unwrap().mandate_status(), Some(&MandateStatus::Completed));
        let ended = stage.ended().await;
        let late = stream_events::stream(&stage.client, &ended);
        let late = tokio::time::timeout(std::time::Duration::from_secs(20), late).await.expect("an end");
        assert!(late.unwrap().is_empty());
    }
    stream_narrow: "guides/stream-events", "narrow", |stage| {
        let id = stage.mandate().await.id;
        let lines = stream_events::narrow(&stage.client, &id).await.unwrap();
        assert!(lines.iter().any(|line| line == "queued -> running"), "{lines:?}");
        assert!(lines.last().unwrap().ends_with("-> completed"), "{lines:?}");
    }
    stream_resume: "guides/stream-events", "resume", |stage| {
        let id = stage.mandate().await.id;
        let mut checkpoints = stream_events::Checkpoints::default();
        let first = stream_events::resume(&stage.client, &id, &mut checkpoints).await.unwrap();
        assert!(!first.is_empty());
        let again = stream_events::resume(&stage.client, &id, &mut checkpoints).await.unwrap();
        assert!(again.is_empty(), "all of it was handled before: {again:?}");
    }
    stream_backfill: "guides/stream-events", "backfill", |stage| {
        let id = stage.ended().await;
        let seen = stream_events::backfill(&stage.client, &id).await.unwrap();
        assert!(seen.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        assert_eq!(seen.last().unwrap().mandate_status(), Some(&MandateStatus::Completed));
    }
    webhooks_create_endpoint: "guides/verify-webhooks", "create-endpoint", |stage| {
        let created = webhooks::create_endpoint(&stage.client).await.unwrap();
        assert!(created.secret.expose().starts_with("whsec_"));
        assert_eq!(created.endpoint.subscribed_events.len(), 2);
    }
    webhooks_handler: "guides/verify-webhooks", "handler", |stage| {
        use shadway::webhooks::{MemoryDedupe, Signer, Verifier};
        let secret = webhooks::create_endpoint(&stage.client).await.unwrap().secret;
        let verifier = Verifier::new(&secret).unwrap();
        let body = include_bytes!("../../fixtures/events/mandate.status_changed.json").to_vec();
        let signed = Signer::new(&secret).unwrap().sign("whd_1", &body).unwrap();
        let request = |body: Vec<u8>| {
            let mut request = http::Request::new(body);
            for (name, value) in signed.pairs() {
                request.headers_mut().insert(name, value.parse().unwrap());
            }
            request
        };
        let seen = MemoryDedupe::new(10);
        for _ in 0..2 {
            assert_eq!(webhooks::handler(&verifier, &seen, &request(body.clone())).await.unwrap(), 204);
        }
        let altered = request([&body[..], b" "].concat());
        assert_eq!(webhooks::handler(&verifier, &seen, &altered).await.unwrap(), 400);
    }
    webhooks_rotate: "guides/verify-webhooks", "rotate", |stage| {
        let created = webhooks::create_endpoint(&stage.client).await.unwrap();
        let rotated = webhooks::rotate(&stage.client, &created.endpoint.id).await.unwrap();
        assert!(rotated.secret.expose().starts_with("whsec_"));
        assert_ne!(rotated.secret, created.secret);
    }
    wait_wait: "guides/wait-for-results", "wait", |stage| {
        let id = stage.mandate().await.id;
        for _ in 0..2 {
            let done = wait_for_results::wait(&stage.client, &id).await.unwrap().unwrap();
            assert_eq!(done.status, MandateStatus::Completed);
        }
    }
    wait_reconnect: "guides/wait-for-results", "reconnect", |stage| {
        let agent = stage.agent(&["email.send"]).await;
        let mut store = wait_for_results::Store::default();
        let done = wait_for_results::reconnect(&stage.client, &mut store, &agent).await.unwrap();
        assert_eq!(done.status, MandateStatus::Completed);
        assert_eq!(store.0.values().collect::<Vec<_>>(), [&done.id], "what the worker waited for was stored");
    }
    wait_outcome: "guides/wait-for-results", "outcome", |stage| {
        let id = stage.mandate().await.id;
        let lines = wait_for_results::outcome(&stage.client, &id).await.unwrap();
        assert!(lines.iter().any(|line| line.starts_with("fact: ")), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("evidence: ")), "{lines:?}");
        let canceled = stage.mandate().await.id;
        stage.client.mandate(&canceled).cancel("x").await.unwrap();
        let lines = wait_for_results::outcome(&stage.client, &canceled).await.unwrap();
        assert!(lines[0].starts_with("Ended canceled"), "{lines:?}");
    }
}

/// The rows of the table in `examples/README.md`: page, sample, program, function.
fn rows() -> Vec<[String; 4]> {
    let table = include_str!("../../examples/README.md").split("| --- | --- | --- | --- |").nth(1).unwrap();
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    table.trim().lines().map(|row| cells(row).try_into().expect("four cells")).collect()
}

#[test]
fn every_documented_sample_has_its_row_its_function_and_its_test() {
    let rows = rows();
    assert_eq!(rows.len(), 44, "the documentation has 44 samples");
    let mut missing = Vec::new();
    for [page, sample, program, function] in &rows {
        let name = function.trim_matches('`');
        assert_eq!(name, sample.replace('-', "_"), "a function is named after its sample");
        let path = format!("{}/examples/{program}.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let begins = |rest| source.contains(&format!("\npub(crate) async fn {name}{rest}"));
        if !begins("(") && !begins("<") {
            missing.push(format!("{program}.rs has no {name}"));
        }
        if !RUN.contains(&(page, sample)) {
            missing.push(format!("{page} {sample} is not run"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    let run = |page: &str, sample: &str| rows.iter().any(|row| row[0] == page && row[1] == sample);
    assert!(RUN.iter().all(|(page, sample)| run(page, sample)), "what is run has a row");
    let distinct: std::collections::BTreeSet<_> = RUN.iter().collect();
    assert_eq!(distinct.len(), RUN.len());
}
