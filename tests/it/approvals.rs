//! Approvals: the calls, and that what a person types in stays secret.

use serde_json::{Value, json};
use shadway::ErrorKind;
use shadway::approvals::{
    Approval, ApprovalApproveParams, ApprovalField, ApprovalListParams, ApprovalRejectParams, ApprovalStatus,
};
use shadway::types::ErrorCode;

use crate::support::{Script, Step, page};

fn approval(status: &str, capability: &str) -> Value {
    json!({"id": "apr_1", "mandate": "mnd_1", "status": status, "question": "May I?",
        "action": {"capability": capability, "consequence": "An order.", "arguments": {"amount": 1}}})
}

#[tokio::test]
async fn each_call_says_its_method_path_query_and_body() {
    let script = Script::new([
        Step::json(200, &page(&[approval("pending", "email.send")], &Value::Null)),
        Step::json(200, &approval("pending", "email.send")),
    ]);
    let approvals = script.client().approvals();
    let filter = ApprovalListParams::new()
        .status([ApprovalStatus::Pending, ApprovalStatus::from("parked")])
        .mandate("mnd_1")
        .limit(3);
    assert!(approvals.list(filter).await.unwrap().data[0].is_pending());
    approvals.get("apr_1").await.unwrap();
    let params = ApprovalApproveParams::new().reason("Checked.").input("otp", "483921").input("pin", "1");
    approvals.approve("apr_1", params).await.unwrap();
    approvals.approve("apr_1", "Checked.").await.unwrap();
    approvals.reject("apr_1", "Too dear.").await.unwrap();
    approvals.reject("apr_1", ApprovalRejectParams::new()).await.unwrap();
    let seen = script.seen();
    let lines: Vec<_> = seen.iter().map(|seen| format!("{} {}", seen.method, seen.path())).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/approvals?status=pending&status=parked&mandate=mnd_1&limit=3",
            "GET /v1/approvals/apr_1",
            "POST /v1/approvals/apr_1/approve",
            "POST /v1/approvals/apr_1/approve",
            "POST /v1/approvals/apr_1/reject",
            "POST /v1/approvals/apr_1/reject",
        ]
    );
    assert_eq!(seen[2].json(), json!({"reason": "Checked.", "inputs": {"otp": "483921", "pin": "1"}}));
    assert_eq!(seen[3].json(), json!({"reason": "Checked."}));
    assert_eq!(seen[4].json(), json!({"reason": "Too dear."}));
    assert_eq!(seen[5].json(), json!({}));
    assert!(seen[2..].iter().all(|seen| seen.header("idempotency-key").is_some()));
}

#[tokio::test]
async fn a_contradicting_decision_is_a_conflict_and_not_repeated() {
    let script = Script::new([Step::error(409, "already_resolved")]);
    let error = script.client().approvals().reject("apr_1", "No.").await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some(&ErrorCode::AlreadyResolved)));
    assert_eq!(script.count(), 1);
}

#[test]
fn a_question_is_told_from_a_permission() {
    let decode =
        |capability| -> Approval { serde_json::from_value(approval("pending", capability)).unwrap() };
    assert!(decode("input.provide").action.is_input_request());
    assert!(!decode("email.send").action.is_input_request());
    let field = |json: Value| -> ApprovalField { serde_json::from_value(json).unwrap() };
    assert!(field(json!({"name": "otp"})).is_secret(), "hidden unless it is said to be no secret");
    assert!(!field(json!({"name": "city", "secret": false})).is_secret());
}

#[test]
fn arguments_keep_every_digit() {
    let text = r#"{"id":"apr_1","mandate":"mnd_1","status":"pending","question":"?",
        "action":{"capability":"a.b","arguments":{"amount":0.10000000000000000000001,"id":123456789012345678901234567890}}}"#;
    let approval: Approval = serde_json::from_str(text).unwrap();
    let kept = r#"{"amount":0.10000000000000000000001,"id":123456789012345678901234567890}"#;
    assert_eq!(approval.action.arguments.get(), kept);
}

#[tokio::test(start_paused = true)]
async fn inputs_are_in_no_debug_and_no_error() {
    let params = ApprovalApproveParams::new().input("otp", "s3cr3t");
    let hidden = |text: String| assert!(!text.contains("s3cr3t"), "{text}");
    hidden(format!("{params:?} {:#?} {:?}", params.inputs, params.clone()));
    let client = Script::new([Step::Broken]).client();
    let call = client.approvals().approve("apr_1", params.clone());
    hidden(format!("{call:?}"));
    let error = call.await.unwrap_err();
    hidden(format!("{error} {error:?} {error:#?}"));
    for misfit in [
        r#"{"inputs":"s3cr3t"}"#,
        r#"{"inputs":["s3cr3t"]}"#,
        r#"{"inputs":{"otp":["s3cr3t"]}}"#,
        r#"{"inputs":{"otp":{"s3cr3t":1}}}"#,
    ] {
        hidden(serde_json::from_str::<ApprovalApproveParams>(misfit).unwrap_err().to_string());
    }
    let number = serde_json::from_str::<ApprovalApproveParams>(r#"{"inputs":{"otp":483921}}"#).unwrap_err();
    assert!(!number.to_string().contains("483921"), "{number}");
    assert_eq!(params.inputs.expose("otp"), Some("s3cr3t"));
    assert_eq!(params.inputs.names().collect::<Vec<_>>(), ["otp"]);
    let again: ApprovalApproveParams =
        serde_json::from_str(&serde_json::to_string(&params).unwrap()).unwrap();
    assert_eq!(again, params);
}
