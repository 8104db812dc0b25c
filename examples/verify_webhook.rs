//! Says whether a captured webhook is Shadway's, and if not, why.
//!
//!     cargo run --example verify_webhook -- \
//!         --secret-env SHADWAY_WEBHOOK_SECRET --id ID --signature VALUE --body FILE [--at UNIX] [--diagnose]
//!
//! `ID` and `VALUE` are what the headers `Shadway-Webhook-Id` and `Shadway-Signature` held, `FILE` holds the body's
//! exact bytes. The secret is taken from a variable, so that it is in no shell history. A captured delivery
//! is soon too old: `--at` says when it came.
//!
//! Exit status: 0 when it is, 1 when it is not, 2 when it can't be asked.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use shadway::webhooks::{
    Diagnosis, Scheme, SignatureHeaders, Verifier, VerifyError, WebhookSecret, diagnose,
};

const USAGE: &str = "\
usage: verify_webhook --secret-env VAR --id ID --signature VALUE --body FILE [--at UNIX] [--diagnose]

  --secret-env VAR   the variable that holds the endpoint's secret (whsec_…)
  --id ID            what the header Shadway-Webhook-Id held
  --signature VALUE  what the header Shadway-Signature held
  --body FILE        the body's exact bytes
  --at UNIX          when it came, in seconds since 1970; now if not given
  --diagnose         how it was signed, if not as this crate assumes; its age plays no part";

fn main() -> ExitCode {
    let answer = Question::from_args().and_then(|question| match question {
        Some(question) if question.diagnose => question.diagnose(),
        Some(question) => question.verify(),
        None => Ok(USAGE.to_owned()),
    });
    match answer {
        Ok(text) => {
            // A reader that has gone, as `head` does, is no reason to panic.
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err((status, reason)) => {
            let _ = writeln!(std::io::stderr(), "{reason}");
            ExitCode::from(status)
        }
    }
}

/// The exit status and the reason.
type Refusal = (u8, String);

fn unusable(reason: impl ToString) -> Refusal {
    (2, reason.to_string())
}

fn not_verified(reason: impl ToString) -> Refusal {
    (1, reason.to_string())
}

struct Question {
    secret: WebhookSecret,
    headers: SignatureHeaders,
    body: Vec<u8>,
    at: Option<Timestamp>,
    diagnose: bool,
}

impl Question {
    fn verify(&self) -> Result<String, Refusal> {
        let verifier = Verifier::new(&self.secret).map_err(unusable)?;
        let delivery = match self.at {
            Some(at) => verifier.verify_at(&self.headers, &self.body, at),
            None => verifier.verify(&self.headers, &self.body),
        };
        let delivery = delivery.map_err(not_verified)?;
        let event = delivery.event().map_err(not_verified)?;
        let event = serde_json::to_string_pretty(&event).map_err(not_verified)?;
        Ok(format!("verified: delivery {}, signed {}\n{event}", delivery.id(), delivery.timestamp()))
    }

    fn diagnose(&self) -> Result<String, Refusal> {
        let found = diagnose(&self.headers, &self.body, &self.secret).map_err(|error| match error {
            VerifyError::Secret(error) => unusable(error),
            error => not_verified(error),
        })?;
        let Some(found) = found else {
            return Err(not_verified(
                "no reading of the documentation fits; the secret is another endpoint's, or the body is not what was sent",
            ));
        };
        Ok(format!("matches: {found}\n{}", advice(&found)))
    }

    /// `None`: only help is wanted.
    fn from_args() -> Result<Option<Self>, Refusal> {
        use lexopt::prelude::*;

        let (mut secret, mut id, mut signature, mut body) = (None, None, None, None);
        let (mut at, mut diagnose) = (None, false);
        let mut args = lexopt::Parser::from_env();
        while let Some(arg) = args.next().map_err(unusable)? {
            match arg {
                Long("secret-env") => secret = Some(text(&mut args)?),
                Long("id") => id = Some(text(&mut args)?),
                Long("signature") => signature = Some(text(&mut args)?),
                Long("body") => body = Some(PathBuf::from(args.value().map_err(unusable)?)),
                Long("at") => {
                    at = Some(args.value().and_then(|value| value.parse::<i64>()).map_err(unusable)?)
                }
                Long("diagnose") => diagnose = true,
                Long("help") | Short('h') => return Ok(None),
                other => return Err(unusable(other.unexpected())),
            }
        }
        let (Some(variable), Some(id), Some(signature), Some(body)) = (secret, id, signature, body) else {
            return Err(unusable(USAGE));
        };
        let secret = std::env::var(&variable).map_err(|_| unusable(format!("{variable} is not set")))?;
        let bytes = std::fs::read(&body).map_err(|error| unusable(format!("{}: {error}", body.display())))?;
        Ok(Some(Self {
            secret: secret.into(),
            headers: SignatureHeaders::new(id, signature),
            body: bytes,
            at: at.map(Timestamp::from_second).transpose().map_err(unusable)?,
            diagnose,
        }))
    }
}

fn text(args: &mut lexopt::Parser) -> Result<String, Refusal> {
    args.value().map_err(unusable)?.into_string().map_err(|_| unusable("an argument is not UTF-8"))
}

fn advice(found: &Diagnosis) -> String {
    match found.scheme() {
        Some(scheme) if scheme == Scheme::new() => {
            "that is the scheme of this crate; if it is refused, look at its age".into()
        }
        Some(scheme) => format!("choose it with .scheme({scheme:?})?"),
        None => "this can't be chosen, as it doesn't sign each part with its bounds; please report it".into(),
    }
}
