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
}
