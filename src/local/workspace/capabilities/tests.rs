use serde_json::json;

use super::*;
use crate::local::clock::Epoch;
use crate::model::json::RawJson;

fn workspace() -> Workspace {
    Workspace::new(Epoch::default(), fastrand::Rng::with_seed(7), String::new())
}

fn params(name: &str) -> CapabilityRegisterParams {
    CapabilityRegisterParams::new(name, "Order it.", json!({"type": "object"}), json!({"type": "object"}))
}

fn executor(name: &str) -> Executor {
    Executor::new(name, |input: RawJson| async { Ok::<_, std::io::Error>(input) })
}

#[test]
fn names_stand_as_the_workspace_has_them() {
    let mut workspace = workspace();
    let now = Moment::default();
    workspace.register(params("erp.order"), now).unwrap();
    let standing = |name| workspace.capabilities.standing(name);
    assert_eq!(standing("email.send"), Standing::Available);
    assert_eq!(standing("mailbox.search"), Standing::Unavailable);
    assert_eq!(standing("erp.order"), Standing::Unavailable);
    assert_eq!((standing("phone"), standing("erp")), (Standing::Family, Standing::Family));
    for unknown in ["fax", "phone.fax", "", "email.", "email.send.now"] {
        assert_eq!(standing(unknown), Standing::Unknown, "{unknown}");
    }
}

#[test]
fn it_can_run_once_it_is_registered_and_connected_in_either_order() {
    let now = Moment::default();
    let mut before = workspace();
    before.connect(executor("erp.order"));
    assert_eq!(before.capabilities.standing("erp.order"), Standing::Unknown);
    assert!(before.register(params("erp.order"), now).unwrap().is_runnable());

    let mut after = workspace();
    assert!(!after.register(params("erp.order"), now).unwrap().is_runnable());
    after.connect(executor("erp.order"));
    assert!(after.capability("erp.order", None).unwrap().is_runnable());
    let disabled = CapabilityUpdateParams::new().status(CapabilityStatus::Disabled);
    after.update_capability("erp.order", None, disabled, now).unwrap();
    assert_eq!(after.capabilities.standing("erp.order"), Standing::Disabled);
}

#[test]
fn a_version_is_registered_once_and_the_last_one_counts() {
    let mut workspace = workspace();
    let now = Moment::default();
    for new in [params("erp.order"), params("erp.order").version("2")] {
        workspace.register(new.clone(), now).unwrap();
        let refusal = workspace.register(new, now).unwrap_err();
        assert_eq!(refusal.error().0, 409);
        assert_eq!(refusal.error().1.code, Some(ErrorCode::CapabilityExists));
    }
    assert_eq!(workspace.register(params("email.send").version("9"), now).unwrap_err().error().0, 409);
    let get = |version| workspace.capability("erp.order", version).unwrap().version;
    assert_eq!((get(None).as_deref(), get(Some("2")).as_deref()), (Some("2"), Some("2")));
    assert_eq!(workspace.capability("erp.order", Some("3")).unwrap_err().error().0, 404);
}

#[test]
fn what_does_not_fit_is_named() {
    let object = || json!({"type": "object"});
    let new = |name: &str, input, output| CapabilityRegisterParams::new(name, "Order it.", input, output);
    let cases = [
        (params("order"), "name"),
        (params("erp."), "name"),
        (params("erp .order"), "name"),
        (new("a.b", json!(true), object()), "inputSchema"),
        (new("a.b", object(), json!({"type": "string"})), "outputSchema"),
        (CapabilityRegisterParams { description: " ".to_owned(), ..params("a.b") }, "description"),
        (params("a.b").risk("mild".into()), "risk"),
        (params("a.b").version(""), "version"),
    ];
    for (params, field) in cases {
        let refusal = workspace().register(params, Moment::default()).unwrap_err();
        assert_eq!((refusal.error().0, refusal.named()), (422, Some(field)));
    }
}
