//! What a person does while a mandate goes on: decides, pauses, resumes, cancels.

use std::time::Duration;

use fastrand::Rng;
use shadway::ErrorKind;
use shadway::approvals::{Approval, ApprovalApproveParams};
use tokio::time::sleep;

use crate::job::{Course, Job};
use crate::run::Failure;
use crate::tally::add;

/// What a person did.
#[derive(Debug, Default)]
pub(crate) struct Steered {
    /// The decisions that were made.
    pub(crate) decided: Vec<Approval>,
    /// Whether it was canceled before it ended by itself.
    pub(crate) canceled: bool,
}

impl Job {
    /// What a person does meanwhile.
    pub(crate) async fn steer(&self, mut random: Rng) -> Result<Steered, Failure> {
        match self.course {
            Course::Watch | Course::Fail => Ok(Steered::default()),
            Course::Approve | Course::Reject | Course::Answer => {
                Ok(Steered { decided: self.decide(&mut random).await?, ..Steered::default() })
            }
            Course::Pause => {
                sleep(Duration::from_millis(random.u64(..4_000))).await;
                if self.command("pause").await? {
                    sleep(Duration::from_millis(random.u64(..2_000))).await;
                    self.command("resume").await?;
                }
                Ok(Steered::default())
            }
            Course::Cancel => {
                sleep(Duration::from_millis(random.u64(..8_000))).await;
                Ok(Steered { canceled: self.command("cancel").await?, ..Steered::default() })
            }
        }
    }

    /// Whether it applied: a mandate may have ended before.
    async fn command(&self, name: &'static str) -> Result<bool, Failure> {
        let key = format!("job-{}-{name}", self.number);
        let call = || {
            let call = match name {
                "pause" => self.work.pause("Wait."),
                "resume" => self.work.resume("Go on."),
                _ => self.work.cancel("No longer needed."),
            };
            call.idempotency_key(&key).send()
        };
        add(&self.run.tally.commands);
        match self.run.insist(name, call).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn decide(&self, random: &mut Rng) -> Result<Vec<Approval>, Failure> {
        let mut decided: Vec<Approval> = Vec::new();
        let (watched, id) = (random.bool(), self.work.id());
        loop {
            let asked = if watched {
                let wait = || async { self.run.watchers[0].wait_for_approval(id).await };
                self.run.insist("watcher.wait_for_approval", wait).await?
            } else {
                let wait = || async { self.work.wait_for_approval().await };
                self.run.insist("wait_for_approval", wait).await?
            };
            let Some(asked) = asked else { return Ok(decided) };
            if decided.iter().any(|approval| approval.id == asked.id) {
                self.breach(format!("{} was asked for again after its decision", asked.id));
                sleep(Duration::from_secs(1)).await;
                continue;
            }
            sleep(Duration::from_millis(random.u64(..500))).await;
            decided.push(self.decide_one(&asked, random).await?);
        }
    }

    async fn decide_one(&self, asked: &Approval, random: &mut Rng) -> Result<Approval, Failure> {
        let approvals = self.run.client.approvals();
        let approve = &|key: String| {
            let params = match self.course {
                Course::Answer => ApprovalApproveParams::new().input("otp", "483921"),
                _ => ApprovalApproveParams::new().reason("It is fine."),
            };
            approvals.approve(&asked.id, params).idempotency_key(key).send()
        };
        let reject = &|key: String| approvals.reject(&asked.id, "Not now.").idempotency_key(key).send();
        let key = &|what: &str| format!("{}-{what}", asked.id);
        // Two people who say the same at the same time.
        let (one, two) = if self.course == Course::Reject {
            let [one, two] = ["one", "two"].map(|who| self.run.insist("reject", move || reject(key(who))));
            tokio::join!(one, two)
        } else {
            let [one, two] = ["one", "two"].map(|who| self.run.insist("approve", move || approve(key(who))));
            tokio::join!(one, two)
        };
        let (one, two) = (one?, two?);
        if (&one.id, &one.status, one.resolved_at) != (&two.id, &two.status, two.resolved_at) {
            self.breach(format!("the same decision twice on {} has two results", one.id));
        }
        if random.bool() {
            let contradicted = if self.course == Course::Reject {
                self.run.insist("approve, too late", || approve(key("no"))).await
            } else {
                self.run.insist("reject, too late", || reject(key("no"))).await
            };
            match contradicted {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error.into()),
                Ok(_) => self.breach(format!("{} was decided twice, differently", asked.id)),
            }
        }
        add(&self.run.tally.decisions);
        Ok(one)
    }
}
