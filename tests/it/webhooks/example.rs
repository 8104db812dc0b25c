//! `examples/verify_webhook.rs`, as a person runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use shadway::webhooks::{Scheme, Signer};

use super::{BODY, N, OLD_SECRET, SECRET, at};
use crate::quickstart::example_path;

const VARIABLE: &str = "SHADWAY_TEST_WEBHOOK_SECRET";

/// A body in a file of its own, gone with this value.
struct Captured(PathBuf);

impl Captured {
    fn new(body: impl AsRef<[u8]>) -> Self {
        let path = std::env::temp_dir().join(format!("shadway-{}.json", uuid::Uuid::new_v4()));
        std::fs::write(&path, body).unwrap();
        Self(path)
    }

    fn run(&self, secret: Option<&str>, signature: &str, more: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(example_path("verify_webhook"));
        command.env_remove(VARIABLE).envs(secret.map(|secret| (VARIABLE, secret)));
        command.args(["--secret-env", VARIABLE, "--id", "dlv_1", "--signature", signature, "--body"]);
        texts(command.arg(&self.0).args(more).output().unwrap())
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn texts(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn sign(scheme: Scheme) -> String {
    let signer = Signer::new(SECRET).unwrap().scheme(scheme).unwrap();
    signer.sign_at("dlv_1", BODY, at(N)).unwrap().signature
}

#[test]
fn a_delivery_that_verifies_is_printed() {
    let now = Signer::new(SECRET).unwrap().sign("dlv_1", BODY).unwrap();
    let body = Captured::new(BODY);
    let (status, out, complaint) = body.run(Some(SECRET), &now.signature, &[]);
    assert_eq!((status, complaint.as_str()), (0, ""));
    assert!(out.starts_with("verified: delivery dlv_1, signed "), "{out}");
    let event: shadway::events::Event = serde_json::from_str(out.split_once('\n').unwrap().1).unwrap();
    assert_eq!(event.id, "evt_1");

    let kept = sign(Scheme::new());
    let (status, out, _) = body.run(Some(SECRET), &kept, &["--at", "1760000100"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("verified: delivery dlv_1, signed 2025-10-09T08:53:20Z\n"), "{out}");
}

#[test]
fn one_that_does_not_is_exit_status_1_with_the_reason() {
    let body = Captured::new(BODY);
    let kept = sign(Scheme::new());
    for (secret, more, reason) in [
        (SECRET, &[][..], "was signed"),
        (SECRET, &["--at", "1760000301"], "signed 301 s ago"),
        (OLD_SECRET, &["--at", "1760000000"], "no signature fits"),
    ] {
        let (status, out, complaint) = body.run(Some(secret), &kept, more);
        assert_eq!((status, out.as_str()), (1, ""));
        assert!(complaint.contains(reason) && complaint.lines().count() == 1, "{complaint}");
    }
    let no_event = Captured::new("{}");
    let signature = Signer::new(SECRET).unwrap().sign("dlv_1", "{}").unwrap().signature;
    let (status, _, complaint) = no_event.run(Some(SECRET), &signature, &[]);
    assert_eq!(status, 1);
    assert!(complaint.contains("its body is no event"), "{complaint}");
}

#[test]
fn what_can_t_be_asked_is_exit_status_2() {
    let body = Captured::new(BODY);
    let kept = sign(Scheme::new());
    for (secret, more, reason) in [
        (None, &[][..], "SHADWAY_TEST_WEBHOOK_SECRET is not set"),
        (Some("sk_test_1"), &[], "API key"),
        (Some(SECRET), &["--at", "tomorrow"], "tomorrow"),
        (Some(SECRET), &["--when"], "--when"),
        (Some(SECRET), &["--body", "/nowhere"], "/nowhere"),
    ] {
        let (status, out, complaint) = body.run(secret, &kept, more);
        assert_eq!((status, out.as_str()), (2, ""), "{complaint}");
        assert!(complaint.contains(reason), "{complaint}");
    }
    let (status, _, complaint) = texts(Command::new(example_path("verify_webhook")).output().unwrap());
    assert_eq!(status, 2);
    assert!(complaint.contains("usage: verify_webhook --secret-env VAR"), "{complaint}");
    let (status, out, _) =
        texts(Command::new(example_path("verify_webhook")).arg("--help").output().unwrap());
    assert!(status == 0 && out.contains("--diagnose"), "{out}");
}

#[test]
fn a_diagnosis_says_what_would_have_matched() {
    let body = Captured::new(BODY);
    let diagnose = |body: &Captured, signature: &str| body.run(Some(SECRET), signature, &["--diagnose"]);
    for (scheme, name, advice) in [
        (
            Scheme::new(),
            "message <id>.<t>.<body>, signature hexadecimal, key the whole secret",
            "the scheme of this crate",
        ),
        (
            Scheme::new().base64_signature(),
            "signature base64, key the whole secret",
            "Scheme::new().base64_signature()",
        ),
        (
            Scheme::new().base64_key().timestamp_first(),
            "message <t>.<id>.<body>, signature hex",
            "Scheme::new()",
        ),
        (Scheme::new().key_without_prefix(), "key what follows whsec_", "Scheme::new().key_without_prefix()"),
    ] {
        let (status, out, complaint) = diagnose(&body, &sign(scheme));
        assert_eq!((status, complaint.as_str()), (0, ""), "{out}");
        assert!(out.contains(name) && out.contains(advice), "{out}");
    }
    // What a shell adds while a body is kept.
    let (status, out, _) = diagnose(&Captured::new(format!("{BODY}\n")), &sign(Scheme::new()));
    assert_eq!(status, 0);
    assert!(out.contains("without the line break at its end"), "{out}");

    let (status, out, complaint) = diagnose(&Captured::new("{}"), &sign(Scheme::new()));
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(complaint.contains("no reading of the documentation fits"), "{complaint}");
}
