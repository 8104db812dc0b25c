//! What comes of the actions that are only simulated, and who answers them.

use serde_json::{Value, json};

/// How many characters of a result are quoted.
const LONGEST_EXCERPT: usize = 200;

/// Something that was sent, fetched or received, and the line of it that counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) content_type: &'static str,
    pub(crate) text: String,
    pub(crate) title: String,
    /// Stands word for word in the text.
    pub(crate) excerpt: String,
    pub(crate) location: String,
    /// Who produced it.
    pub(crate) source_class: &'static str,
    /// Whether it comes from who knows it, rather than from who says so.
    pub(crate) firsthand: bool,
}

/// An answer to something that was sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) party: String,
    pub(crate) document: Document,
    /// What it says, and promises.
    pub(crate) claim: String,
}

/// What an action that comes with the workspace gives back, and what it leaves behind.
pub(crate) fn of(capability: &str, arguments: &Value, id: &str) -> (Value, Document) {
    let output = match capability {
        "email.send" | "mailbox.reply" => json!({"message": id}),
        "email.get_delivery" => json!({"status": "delivered"}),
        "mailbox.send" => json!({"message": id, "thread": id}),
        "mailbox.read_thread" => json!({"messages": "One message, and one reply."}),
        "phone.call" => json!({"call": id}),
        "phone.get_call" => json!({"status": "completed", "outcome": "answered"}),
        "browser.run" => json!({"run": id}),
        "browser.get_run" => json!({"status": "completed", "result": "The page was read, in simulation."}),
        _ => json!({"status": "completed"}),
    };
    let document = match sent(capability, arguments) {
        Some(document) => document,
        None => result(capability, &output.to_string(), None),
    };
    (output, document)
}

/// The document of a message that went out.
fn sent(capability: &str, arguments: &Value) -> Option<Document> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let header = match capability {
        "email.send" | "mailbox.send" => format!("To: {}", text("to")),
        "mailbox.reply" => format!("In-Reply-To: {}", text("thread")),
        _ => return None,
    };
    let subject = text("subject");
    Some(Document {
        name: "message.eml".to_owned(),
        content_type: "message/rfc822",
        text: format!("{header}\r\nSubject: {subject}\r\n\r\n{}\r\n", text("body")),
        title: "Message that was sent".to_owned(),
        excerpt: header,
        location: "header".to_owned(),
        source_class: "own_action",
        firsthand: true,
    })
}

/// The document of what an action gave back; the excerpt is one field of it, or all.
pub(crate) fn result(capability: &str, output: &str, field: Option<(&str, &str)>) -> Document {
    Document {
        name: format!("{capability}.json"),
        content_type: "application/json",
        text: output.to_owned(),
        title: match field {
            Some((name, _)) => format!("{name} in the result of {capability}"),
            None => format!("Result of {capability}"),
        },
        excerpt: field.map_or(output, |(_, value)| value).chars().take(LONGEST_EXCERPT).collect(),
        location: field.map_or_else(|| "$".to_owned(), |(name, _)| format!("$.{name}")),
        source_class: "system_of_record",
        firsthand: true,
    }
}

/// What a check of the result found, for a fact that no action reported.
pub(crate) fn check(key: &str, value: &str) -> Document {
    let excerpt = format!("{key}: {value}");
    Document {
        name: "check.txt".to_owned(),
        content_type: "text/plain",
        text: format!("Checked in simulation.\n{excerpt}\n"),
        title: format!("Check of {key}"),
        excerpt,
        location: "line 2".to_owned(),
        source_class: "simulation",
        firsthand: true,
    }
}

/// The answer of whoever was written to or called.
pub(crate) fn reply(capability: &str, party: &str, day: &str) -> Reply {
    let claim = format!("We will send you what you asked for by {day}.");
    let (name, content_type, text) = if capability == "phone.call" {
        let text = format!("Call with {party}, in simulation.\n{party}: {claim}\n");
        ("call.txt", "text/plain", text)
    } else {
        let text =
            format!("From: {party}\r\nSubject: Re: your message\r\n\r\nThank you for asking. {claim}\r\n");
        ("reply.eml", "message/rfc822", text)
    };
    let document = Document {
        name: name.to_owned(),
        content_type,
        text,
        title: format!("Answer of {party}"),
        excerpt: claim.clone(),
        location: "body".to_owned(),
        source_class: "counterparty",
        firsthand: false,
    };
    Reply { party: party.to_owned(), document, claim }
}

/// The fact that counts actions of this kind.
pub(crate) fn counted(capability: &str) -> Option<&'static str> {
    Some(match capability {
        "email.send" => "emails_sent",
        "mailbox.send" | "mailbox.reply" => "messages_sent",
        "phone.call" => "calls_placed",
        "browser.run" => "browser_runs",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_stands_in_its_document() {
        let email = json!({"to": "a@b.example", "subject": "Quote", "body": "Please."});
        let documents = [
            of("email.send", &email, "exe_1").1,
            of("phone.get_call", &json!({}), "exe_1").1,
            result("a.b", r#"{"x":1.50,"y":2}"#, Some(("x", "1.50"))),
            check("delivered", "true"),
            reply("email.send", "a@b.example", "2026-01-12").document,
            reply("phone.call", "+13025550123", "2026-01-12").document,
        ];
        for document in documents {
            assert!(document.text.contains(&document.excerpt), "{document:?}");
        }
    }
}
