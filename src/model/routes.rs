//! Every path of the service, once. All of them are assumed: the service documents its calls, not its
//! paths. `{name}` stands for one percent-encoded segment.

/// Puts the version prefix, an assumption of its own, before every path.
macro_rules! routes {
    ($prefix:literal: $($name:ident = $path:literal,)*) => {
        $(pub(crate) const $name: &str = concat!($prefix, $path);)*
    };
}

routes! { "/v1":
    AGENTS = "/agents",
    AGENT = "/agents/{id}",
    MANDATES = "/mandates",
    MANDATE = "/mandates/{id}",
    MANDATE_PAUSE = "/mandates/{id}/pause",
    MANDATE_RESUME = "/mandates/{id}/resume",
    MANDATE_CANCEL = "/mandates/{id}/cancel",
    MANDATE_AMENDMENTS = "/mandates/{id}/amendments",
    MANDATE_EVENTS = "/mandates/{id}/events",
    MANDATE_EVENT_STREAM = "/mandates/{id}/events/stream",
    MANDATE_FACTS = "/mandates/{id}/facts",
    MANDATE_EVIDENCE = "/mandates/{id}/evidence",
    MANDATE_ISSUES = "/mandates/{id}/issues",
    MANDATE_ASSERTIONS = "/mandates/{id}/assertions",
    MANDATE_INFORMATION_NEEDS = "/mandates/{id}/information-needs",
    MANDATE_COMMITMENTS = "/mandates/{id}/commitments",
    MANDATE_ARTIFACTS = "/mandates/{id}/artifacts",
    ARTIFACT_DOWNLOAD = "/artifacts/{id}/download",
    APPROVALS = "/approvals",
    APPROVAL = "/approvals/{id}",
    APPROVAL_APPROVE = "/approvals/{id}/approve",
    APPROVAL_REJECT = "/approvals/{id}/reject",
    CAPABILITIES = "/capabilities",
    CAPABILITY = "/capabilities/{name}",
    EVENTS = "/events",
    EVENT_STREAM = "/events/stream",
    WEBHOOK_ENDPOINTS = "/webhooks/endpoints",
    WEBHOOK_ENDPOINT = "/webhooks/endpoints/{id}",
    WEBHOOK_ENDPOINT_ROTATE_SECRET = "/webhooks/endpoints/{id}/rotate-secret",
}
