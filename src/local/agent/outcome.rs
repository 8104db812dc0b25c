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
    /// What it says.
    pub(crate) claim: String,
    /// Whether that is a promise.
    pub(crate) promise: bool,
}

/// What an action that comes with the workspace gives back.
pub(crate) fn of(capability: &str, id: &str) -> Value {
    match capability {
        "email.send" | "mailbox.reply" => json!({"message": id}),
        "email.get_delivery" => json!({"status": "delivered"}),
        "mailbox.send" => json!({"message": id, "thread": id}),
        "mailbox.read_thread" => json!({"messages": "One message, and one reply."}),
        "phone.call" => json!({"call": id}),
        "phone.get_call" => json!({"status": "completed", "outcome": "answered"}),
        "browser.run" => json!({"run": id}),
        "browser.get_run" => json!({"status": "completed", "result": "The page was read, in simulation."}),
        _ => json!({"status": "completed"}),
    }
}

/// The document of a message that went out.
pub(crate) fn sent(capability: &str, arguments: &Value) -> Option<Document> {
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

/// What a check found, for a fact that no action reported.
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

/// The answer of whoever was written to or called: a promise, unless it says something of its own.
pub(crate) fn reply(capability: &str, party: &str, day: &str, text: Option<&str>) -> Reply {
    let promised = format!("We will send you what you asked for by {day}.");
    let claim = text.map_or(promised.as_str(), first_line);
    let said = match text {
        Some(text) => text.to_owned(),
        None if capability == "phone.call" => promised.clone(),
        None => format!("Thank you for asking. {promised}"),
    };
    let (name, content_type, text) = if capability == "phone.call" {
        ("call.txt", "text/plain", format!("Call with {party}, in simulation.\n{party}: {said}\n"))
    } else {
        (
            "reply.eml",
            "message/rfc822",
            format!("From: {party}\r\nSubject: Re: your message\r\n\r\n{said}\r\n"),
        )
    };
    let promise = claim == promised;
    let document = Document {
        name: name.to_owned(),
        content_type,
        text,
        title: format!("Answer of {party}"),
        excerpt: claim.to_owned(),
        location: "body".to_owned(),
        source_class: "counterparty",
        firsthand: false,
    };
    Reply { party: party.to_owned(), document, claim: claim.to_owned(), promise }
}

/// The first line that says something, or what there is of it in an excerpt.
fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.char_indices().nth(LONGEST_EXCERPT).map_or(line, |(end, _)| &line[..end])
}

/// What a script has on file: the excerpt is a part of it, or else its first line.
pub(crate) fn filed(name: &str, text: &str, excerpt: &str) -> Document {
    let excerpt = if text.contains(excerpt) { excerpt } else { first_line(text) };
    Document {
        name: name.to_owned(),
        content_type: "text/plain",
        text: text.to_owned(),
        title: name.to_owned(),
        excerpt: excerpt.to_owned(),
        location: "text".to_owned(),
        source_class: "script",
        firsthand: true,
    }
}

/// An attempt whose answer never came.
pub(crate) fn timed_out(capability: &str, id: &str) -> Document {
    let excerpt = format!("{id}: the request went out, and no answer came");
    Document {
        name: "attempt.txt".to_owned(),
        content_type: "text/plain",
        text: format!("{capability}\n{excerpt}\n"),
        title: format!("Timed-out attempt of {capability}"),
        excerpt,
        location: "line 2".to_owned(),
        source_class: "own_action",
        firsthand: true,
    }
}

/// What the checker of a capability says of such an attempt.
pub(crate) fn checked(capability: &str, id: &str, finding: &str) -> Document {
    let excerpt = format!("{id}: {finding}");
    Document {
        name: "check.txt".to_owned(),
        content_type: "text/plain",
        text: format!("Check of {capability}\n{excerpt}\n"),
        title: format!("Check of {capability}"),
        excerpt,
        location: "line 2".to_owned(),
        source_class: "system_of_record",
        firsthand: true,
    }
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
            sent("email.send", &email).unwrap(),
            result("phone.get_call", &of("phone.get_call", "exe_1").to_string(), None),
            result("a.b", r#"{"x":1.50,"y":2}"#, Some(("x", "1.50"))),
            check("delivered", "true"),
            reply("email.send", "a@b.example", "2026-01-12", None).document,
            reply("email.send", "a@b.example", "2026-01-12", Some("\r\n $37 each. \nRegards")).document,
            reply("phone.call", "+13025550123", "2026-01-12", None).document,
            filed("Contract", "Signed.\nBoth.", "Both."),
            filed("Contract", "Signed.\nBoth.", "Neither."),
            timed_out("a.b", "exe_1"),
            checked("a.b", "exe_1", "it was done"),
        ];
        for document in documents {
            assert!(document.text.contains(&document.excerpt), "{document:?}");
            assert!(!document.excerpt.is_empty(), "{document:?}");
        }
    }

    #[test]
    fn an_answer_says_what_it_is_told_to_and_then_promises_nothing() {
        let usual = reply("email.send", "a@b.example", "2026-01-12", None);
        assert!(usual.promise && usual.claim.contains("2026-01-12"));
        let own = reply("email.send", "a@b.example", "2026-01-12", Some("\n$37 each.\nRegards"));
        assert_eq!((own.claim.as_str(), own.promise), ("$37 each.", false));
        assert_eq!(first_line(&"ä".repeat(300)).chars().count(), LONGEST_EXCERPT);
    }
}
