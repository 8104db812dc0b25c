//! The capabilities that come with every workspace (documented).

/// One capability.
struct BuiltIn {
    name: &'static str,
    /// Whether it can run: its `executionMode`.
    available: bool,
}

const BUILT_IN: [BuiltIn; 12] = [
    available("email.send"),
    available("email.get_delivery"),
    available("mailbox.read_thread"),
    available("mailbox.send"),
    available("mailbox.reply"),
    available("phone.call"),
    available("phone.get_call"),
    available("browser.run"),
    available("browser.get_run"),
    available("browser.cancel_run"),
    listed_only("mailbox.search"),
    listed_only("mailbox.get_attachment"),
];

const fn available(name: &'static str) -> BuiltIn {
    BuiltIn { name, available: true }
}

const fn listed_only(name: &'static str) -> BuiltIn {
    BuiltIn { name, available: false }
}

/// How a name stands with the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An action that can run.
    Available,
    /// An action that is listed but can't run.
    Unavailable,
    /// No action but the family of some, such as `phone`.
    Family,
    /// Nothing the workspace knows.
    Unknown,
}

pub(crate) fn standing(name: &str) -> Standing {
    let is_family = || BUILT_IN.iter().any(|built_in| family(built_in.name) == name);
    match BUILT_IN.iter().find(|built_in| built_in.name == name) {
        Some(built_in) if built_in.available => Standing::Available,
        Some(_) => Standing::Unavailable,
        None if is_family() => Standing::Family,
        None => Standing::Unknown,
    }
}

/// Whether the name is an action's, which always has a dot (documented), rather than a family's.
pub(crate) fn is_action(name: &str) -> bool {
    name.contains('.')
}

/// The family of a name; a family's name is its own.
pub(crate) fn family(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_as_the_table_says() {
        assert_eq!(standing("email.send"), Standing::Available);
        assert_eq!(standing("mailbox.search"), Standing::Unavailable);
        assert_eq!(standing("phone"), Standing::Family);
        for unknown in ["fax", "phone.fax", "", "email.", "email.send.now"] {
            assert_eq!(standing(unknown), Standing::Unknown, "{unknown}");
        }
    }

    #[test]
    fn ten_actions_can_run() {
        assert_eq!(BUILT_IN.iter().filter(|built_in| built_in.available).count(), 10);
    }
}
