use std::time::Duration;

use super::*;
use crate::local::clock::Epoch;
use crate::model::agents::AgentCreateParams;
use crate::model::authority::{Authority, SuccessCriterion};
use crate::model::events::{Event, EventData};

struct Bench {
    workspace: Workspace,
    now: Moment,
    id: String,
}

impl Bench {
    /// A workspace with one mandate, just made.
    fn new(change: impl FnOnce(MandateCreateParams) -> MandateCreateParams) -> Self {
        let mut workspace = Workspace::new(Epoch::default(), fastrand::Rng::with_seed(7), String::new());
        let now = Moment::default();
        let agent = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
        let agent = workspace.create_agent(agent, now).unwrap();
        let params = change(MandateCreateParams::new(&agent.id, "Ask for a quote."));
        let id = workspace.create_mandate(params, now).unwrap().id;
        Self { workspace, now, id: id.to_string() }
    }

    fn after(&mut self, milliseconds: u64) -> Mandate {
        self.now = self.now.after(Duration::from_millis(milliseconds));
        self.workspace.advance(self.now);
        self.workspace.mandate(&self.id).unwrap()
    }
}

fn code(result: Result<Mandate>) -> Option<ErrorCode> {
    let refusal = result.unwrap_err();
    let (status, error) = refusal.error();
    assert_eq!(status, 409);
    error.code.clone()
}

#[test]
fn a_mandate_runs_through_its_script() {
    let mut bench = Bench::new(|params| params);
    let queued = bench.after(49);
    assert_eq!(queued.status, MandateStatus::Queued);
    assert_eq!(queued.current_state.summary, "Waiting to begin: Ask for a quote.");
    let mut seen = Vec::new();
    for _ in 0..5 {
        let mandate = bench.after(100);
        let waiting_on = mandate.current_state.waiting_on.unwrap_or_default();
        seen.push(format!("{}: {} {waiting_on}", mandate.status, mandate.current_state.summary));
    }
    assert_eq!(
        seen,
        [
            "running: Reading the objective. ",
            "running: Planning the work. It may use email.send. ",
            "running: Sending an email to someone@example.com. ",
            "waiting_external: Wrote to someone@example.com. A reply from someone@example.com",
            "running: Checking the result against the objective. ",
        ]
    );
    let done = bench.after(100);
    assert_eq!(
        (done.status, done.current_state.summary.as_str()),
        (
            MandateStatus::Completed,
            "Done, in simulation, with 1 action: nothing left this machine. Ask for a quote."
        )
    );
    assert_eq!(bench.workspace.next_due(), None);
}

#[test]
fn what_was_due_happens_with_the_time_at_which_it_was() {
    let mut bench = Bench::new(|params| params);
    let done = bench.after(60_000);
    assert_eq!(done.status, MandateStatus::Completed);
    let took = done.updated_at.unwrap().duration_since(done.created_at.unwrap());
    assert_eq!(took.as_millis(), 550);
}

#[test]
fn a_pause_takes_effect_when_the_step_is_over_and_a_resumed_mandate_goes_on() {
    let mut bench = Bench::new(|params| params);
    let reading = bench.after(100);
    let asked = bench.workspace.pause(&bench.id, Some("Wait.".to_owned()), bench.now).unwrap();
    assert_eq!(asked, reading);
    let paused = bench.after(50);
    assert_eq!(
        (paused.status, paused.current_state.summary.as_str()),
        (MandateStatus::Paused, "Paused: Wait.")
    );
    assert_eq!(bench.after(10_000).status, MandateStatus::Paused);
    assert_eq!(
        code(bench.workspace.pause(&bench.id, None, bench.now)),
        Some(ErrorCode::InvalidStatusTransition)
    );
    let resumed = bench.workspace.resume(&bench.id, bench.now).unwrap();
    assert_eq!(resumed.status, MandateStatus::Running);
    assert!(resumed.current_state.summary.starts_with("Planning"), "{}", resumed.current_state.summary);
    assert_eq!(bench.after(400).status, MandateStatus::Completed);
}

#[test]
fn a_resume_withdraws_a_pending_pause() {
    let mut bench = Bench::new(|params| params);
    assert_eq!(bench.workspace.pause(&bench.id, None, bench.now).unwrap().status, MandateStatus::Queued);
    bench.workspace.pause(&bench.id, None, bench.now).unwrap();
    assert_eq!(bench.workspace.resume(&bench.id, bench.now).unwrap().status, MandateStatus::Queued);
    let again = bench.workspace.resume(&bench.id, bench.now);
    assert_eq!(code(again), Some(ErrorCode::InvalidStatusTransition));
    assert_eq!(bench.after(550).status, MandateStatus::Completed);
}

#[test]
fn a_cancellation_waits_for_the_present_step_only() {
    let mut bench = Bench::new(|params| params);
    bench.after(60);
    assert_eq!(bench.workspace.cancel(&bench.id, None, bench.now).unwrap().status, MandateStatus::Running);
    assert_eq!(
        code(bench.workspace.pause(&bench.id, None, bench.now)),
        Some(ErrorCode::InvalidStatusTransition)
    );
    let resumed = bench.workspace.resume(&bench.id, bench.now);
    assert_eq!(code(resumed), Some(ErrorCode::InvalidStatusTransition));
    bench.workspace.cancel(&bench.id, Some("No need.".to_owned()), bench.now).unwrap();
    let canceled = bench.after(90);
    assert_eq!(canceled.status, MandateStatus::Canceled);
    assert_eq!(canceled.current_state.summary, "Canceled: No need.");
}

#[test]
fn a_cancellation_between_steps_is_done_at_once_also_over_a_pending_pause() {
    let mut queued = Bench::new(|params| params);
    queued.workspace.pause(&queued.id, None, queued.now).unwrap();
    let canceled = queued.workspace.cancel(&queued.id, None, queued.now).unwrap();
    assert_eq!(canceled.status, MandateStatus::Canceled);

    let mut paused = Bench::new(|params| params);
    paused.workspace.pause(&paused.id, None, paused.now).unwrap();
    assert_eq!(paused.after(50).status, MandateStatus::Paused);
    let canceled = paused.workspace.cancel(&paused.id, None, paused.now).unwrap();
    assert_eq!(canceled.status, MandateStatus::Canceled);
    assert_eq!(paused.workspace.next_due(), None);
}

#[test]
fn no_command_applies_to_an_ended_mandate() {
    let mut bench = Bench::new(|params| params);
    bench.after(1_000);
    let ended = Some(ErrorCode::InvalidStatusTransition);
    assert_eq!(code(bench.workspace.pause(&bench.id, None, bench.now)), ended);
    assert_eq!(code(bench.workspace.resume(&bench.id, bench.now)), ended);
    assert_eq!(code(bench.workspace.cancel(&bench.id, None, bench.now)), ended);
}

#[test]
fn a_mandate_expires_in_the_middle_of_a_step_or_paused() {
    let mut bench = Bench::new(|params| params);
    let soon = bench.workspace.epoch.timestamp(Moment::default().after(Duration::from_secs(1_000)));
    let params = MandateCreateParams::new(bench.after(0).agent, "Ask for a quote.").expires_at(soon);
    bench.id = bench.workspace.create_mandate(params, bench.now).unwrap().id.to_string();
    bench.workspace.pause(&bench.id, None, bench.now).unwrap();
    assert_eq!(bench.after(1_000).status, MandateStatus::Paused);
    let expired = bench.after(1_000_000);
    assert_eq!(expired.status, MandateStatus::Expired);
    assert_eq!(expired.updated_at, Some(soon));

    let past = "2020-01-01T00:00:00Z".parse().unwrap();
    let mut bench = Bench::new(|params| params.expires_at(past));
    let expired = bench.after(0);
    assert_eq!(expired.status, MandateStatus::Expired);
    assert_eq!(expired.updated_at, expired.created_at);
}

#[test]
fn a_pause_of_what_only_waits_is_done_at_once_and_keeps_the_reply() {
    let mut bench = Bench::new(|params| params);
    assert_eq!(bench.after(350).status, MandateStatus::WaitingExternal);
    let paused = bench.workspace.pause(&bench.id, None, bench.now).unwrap();
    assert_eq!(paused.status, MandateStatus::Paused);
    assert_eq!(bench.after(10_000).status, MandateStatus::Paused);
    let resumed = bench.workspace.resume(&bench.id, bench.now).unwrap();
    assert!(resumed.current_state.summary.starts_with("Checking"), "{}", resumed.current_state.summary);
    let window = Window::parse(None, None).unwrap();
    assert_eq!(bench.workspace.list_commitments(&bench.id, &window).unwrap().data.len(), 1);
    assert_eq!(bench.after(100).status, MandateStatus::Completed);
}

fn events(bench: &Bench) -> Vec<Event> {
    let window = Window::parse(Some("100"), None).unwrap();
    bench.workspace.list_mandate_events(&bench.id, 0, &window).unwrap().data
}

#[test]
fn every_change_of_status_and_every_action_is_an_event() {
    let mut bench = Bench::new(|params| params);
    bench.after(60_000);
    let told: Vec<String> = events(&bench)
        .iter()
        .map(|event| match &event.data {
            EventData::MandateStatusChanged(change) => {
                let previous = change.previous_status.as_ref().unwrap();
                format!("{} {previous} -> {}", event.sequence, change.mandate.status)
            }
            _ => format!(
                "{} {} {:?}",
                event.sequence,
                event.event_type,
                event.execution().unwrap().duration_ms
            ),
        })
        .collect();
    assert_eq!(
        told,
        [
            "1 queued -> running",
            "2 capability.execution_started None",
            "3 capability.execution_completed Some(100)",
            "4 running -> waiting_external",
            "6 waiting_external -> running",
            "7 running -> completed",
        ]
    );
}

#[test]
fn an_action_that_a_limit_forbids_is_blocked_and_never_done() {
    let mut bench = Bench::new(|params| {
        params.authority(
            Authority::new()
                .maximum_actions(0)
                .success_criteria([SuccessCriterion::new("delivered").equals(true)]),
        )
    });
    let failed = bench.after(60_000);
    assert_eq!(failed.status, MandateStatus::Failed);
    assert_eq!(failed.current_state.summary, "Failed: delivered is not known.");
    let events = events(&bench);
    let blocked = events.iter().find_map(|event| match &event.data {
        EventData::ExecutionBlocked(blocked) => blocked.reason.as_deref(),
        EventData::ExecutionStarted(_) => panic!("it started"),
        _ => None,
    });
    assert_eq!(blocked, Some("the limit of 0 actions is used up"));
    let window = Window::parse(None, None).unwrap();
    let issues = bench.workspace.list_issues(&bench.id, &window).unwrap().data;
    assert_eq!(issues[0].question, "What about delivered? It is not known.");
}

#[test]
fn a_mandate_that_could_do_nothing_has_failed() {
    let mut bench =
        Bench::new(|params| params.authority(Authority::new().prohibited_actions(["email.send"])));
    let failed = bench.after(60_000);
    assert_eq!(failed.status, MandateStatus::Failed);
    assert_eq!(failed.current_state.summary, "Failed: email.send is prohibited under this mandate.");
}

#[test]
fn an_ended_mandate_has_told_everything_before_its_last_status() {
    let ask =
        |params: MandateCreateParams| params.authority(Authority::new().require_approval_for(["email.send"]));
    let mut bench = Bench::new(ask);
    assert_eq!(bench.after(300).status, MandateStatus::NeedsApproval);
    bench.workspace.cancel(&bench.id, None, bench.now).unwrap();
    let events = events(&bench);
    let types: Vec<_> = events.iter().rev().take(2).map(|event| event.event_type.as_str()).collect();
    assert_eq!(types, ["mandate.status_changed", "approval.resolved"]);
    assert_eq!(bench.workspace.next_due(), None);
}
