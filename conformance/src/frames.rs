//! Event streams, as a server has to write them.

use serde_json::Value;

use crate::findings::Findings;
use crate::schema::Check;

/// Checks the complete frames at the beginning of a stream. A frame without its blank line is still
/// on its way, and is left alone.
pub(crate) fn check(item: &Check, body: &[u8], findings: &mut Findings<'_>) {
    let Ok(text) = std::str::from_utf8(body) else {
        findings.add("stream", "the bytes are not UTF-8");
        return;
    };
    let mut frame = Frame::default();
    let mut number = 1;
    for line in text.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n') else {
            return;
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let place = format!("frame {number}");
        if !line.is_empty() {
            frame.take(line, &place, findings);
        } else if frame != Frame::default() {
            frame.check(item, &place, findings);
            frame = Frame::default();
            number += 1;
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Frame {
    id: Option<String>,
    event: Option<String>,
    data: Option<String>,
}

impl Frame {
    fn take(&mut self, line: &str, place: &str, findings: &mut Findings<'_>) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            // A comment.
            "" => {}
            "id" => self.id = Some(value.to_owned()),
            "event" => self.event = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "retry" if value.parse::<u64>().is_ok() => {}
            "retry" => findings.add(place, "`retry` is no number"),
            _ => findings.add(place, "there is a field that no event stream has"),
        }
    }

    fn check(&self, item: &Check, place: &str, findings: &mut Findings<'_>) {
        let Some(data) = &self.data else {
            // A frame with only an id moves the position, and that is all it may do.
            if self.id.is_none() || self.event.is_some() {
                findings.add(place, "a frame without data is an id alone");
            }
            return;
        };
        let place = format!("{place} data");
        let Some(event) = findings.parse(&place, data.as_bytes()) else {
            return;
        };
        findings.extend(&place, item.reasons(&event));
        for (field, pointer, text) in [("id", "/id", &self.id), ("event", "/type", &self.event)] {
            if event.pointer(pointer).and_then(Value::as_str) != text.as_deref() {
                let reason = format!("the frame's `{field}` is not this value");
                findings.add(&format!("{place} at {pointer}"), reason);
            }
        }
    }
}
