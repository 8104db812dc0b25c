//! The columns: every fault of the local server, and every one of the raw bytes.

use std::time::Duration;

use serde_json::json;
use shadway::local::Fault;

use crate::support::raw::Raw;

pub(crate) struct Column {
    /// As it is in the table.
    pub(crate) name: &'static str,
    pub(crate) trouble: Trouble,
}

pub(crate) enum Trouble {
    /// Of the local server, for a call whose answer can't be without this field.
    Local(fn(&str) -> Fault),
    Raw(Raw),
    /// On a connection that has served one request before.
    KeptAlive(Raw),
    /// Reset or closed after each number of bytes of the answer.
    EveryByte,
}

impl Trouble {
    /// Whether it is seen with little time as well. An endless answer fills the buffers of its sockets, and a system that
    /// is slow to tell that there is room again makes the clock jump: an attempt that fails for that is made again, but
    /// a call would be over.
    pub(crate) fn leaves_the_clock_alone(&self) -> bool {
        !matches!(self, Self::Raw(Raw::EndlessHead | Raw::EndlessBody(_) | Raw::HugeLength))
    }

    pub(crate) fn is_endless(&self) -> bool {
        !self.leaves_the_clock_alone() || matches!(self, Self::Raw(Raw::EndlessInterim))
    }

    /// Whether a run of it is one call.
    pub(crate) fn is_of_one_run(&self) -> bool {
        !matches!(self, Self::EveryByte)
    }
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn local(name: &'static str, fault: fn(&str) -> Fault) -> Column {
    Column { name, trouble: Trouble::Local(fault) }
}

const fn raw(name: &'static str, raw: Raw) -> Column {
    Column { name, trouble: Trouble::Raw(raw) }
}

const fn kept_alive(name: &'static str, raw: Raw) -> Column {
    Column { name, trouble: Trouble::KeptAlive(raw) }
}

pub(crate) const COLUMNS: &[Column] = &[
    // Refusals.
    local("status(400)", |_| Fault::status(400)),
    local("status(401)", |_| Fault::status(401)),
    local("status(403)", |_| Fault::status(403)),
    local("status(404)", |_| Fault::status(404)),
    local("status(408)", |_| Fault::status(408)),
    local("status(409)", |_| Fault::status(409)),
    local("status(409).code(idempotency_in_progress)", |_| {
        Fault::status(409).code("idempotency_in_progress")
    }),
    local("status(410)", |_| Fault::status(410)),
    local("status(418)", |_| Fault::status(418)),
    local("status(422)", |_| Fault::status(422)),
    local("status(425)", |_| Fault::status(425)),
    local("status(429)", |_| Fault::status(429)),
    local("status(429).retry_after(1 s)", |_| Fault::status(429).retry_after(seconds(1))),
    local("status(429).retry_after(120 s)", |_| Fault::status(429).retry_after(seconds(120))),
    local("status(429).after_commit()", |_| Fault::status(429).after_commit()),
    local("status(500)", |_| Fault::status(500)),
    local("status(500).after_commit()", |_| Fault::status(500).after_commit()),
    local("status(501)", |_| Fault::status(501)),
    local("status(503)", |_| Fault::status(503)),
    local("status(503).retry_after(1 s)", |_| Fault::status(503).retry_after(seconds(1))),
    local("status(503).retry_after(120 s)", |_| Fault::status(503).retry_after(seconds(120))),
    local("status(503).after_commit()", |_| Fault::status(503).after_commit()),
    local("status(504)", |_| Fault::status(504)),
    local("bad_gateway()", |_| Fault::bad_gateway()),
    local("bad_gateway().after_commit()", |_| Fault::bad_gateway().after_commit()),
    // Answers that are late, or don't come.
    local("delay(3 s)", |_| Fault::delay(seconds(3))),
    local("delay(40 s)", |_| Fault::delay(seconds(40))),
    local("delay(40 s).after_commit()", |_| Fault::delay(seconds(40)).after_commit()),
    local("hang()", |_| Fault::hang()),
    local("hang().after_commit()", |_| Fault::hang().after_commit()),
    local("close()", |_| Fault::close()),
    local("drop_answer()", |_| Fault::drop_answer()),
    // Answers that are not as they should be.
    local("truncate()", |_| Fault::truncate()),
    local("bad_json()", |_| Fault::bad_json()),
    local("unknown_value(status)", |_| Fault::unknown_value("status")),
    local("extra_field()", |_| Fault::extra_field()),
    local("null_field(metadata)", |_| Fault::null_field("metadata")),
    local("null_field(required)", |field| Fault::null_field(field)),
    local("missing_field(required)", |field| Fault::missing_field(field)),
    local("set_field(required, object)", |field| Fault::set_field(field, json!({"not": "a text"}))),
    local("split()", |_| Fault::split()),
    local("drip(1 ms)", |_| Fault::drip(Duration::from_millis(1))),
    local("drip(10 s)", |_| Fault::drip(seconds(10))),
    // Of streams.
    local("cut_after(0)", |_| Fault::cut_after(0)),
    local("cut_after(1)", |_| Fault::cut_after(1)),
    local("end_after(0)", |_| Fault::end_after(0)),
    local("end_after(1)", |_| Fault::end_after(1)),
    local("silence_after(0)", |_| Fault::silence_after(0)),
    local("silence_after(1)", |_| Fault::silence_after(1)),
    local("duplicate()", |_| Fault::duplicate()),
    local("reorder()", |_| Fault::reorder()),
    local("unknown_event()", |_| Fault::unknown_event()),
    local("cursor_too_old()", |_| Fault::cursor_too_old()),
    // Of deliveries: nobody else notices.
    local("bad_signature()", |_| Fault::bad_signature()),
    local("old_signature(600 s)", |_| Fault::old_signature(seconds(600))),
    local("doubled_signature()", |_| Fault::doubled_signature()),
    local("duplicate_delivery()", |_| Fault::duplicate_delivery()),
    local("reorder_deliveries()", |_| Fault::reorder_deliveries()),
    // Raw bytes: connections that are gone.
    raw("reset before the request is read", Raw::ResetUnread),
    raw("reset before anything is done", Raw::ResetUndone),
    raw("reset before the head", Raw::Reset),
    raw("closed before the head", Raw::Close),
    Column { name: "cut at every byte", trouble: Trouble::EveryByte },
    kept_alive("kept alive, then reset unasked", Raw::ResetUndone),
    kept_alive("kept alive, then closed before the head", Raw::Close),
    // Connections that are there, and mute.
    raw("black hole", Raw::BlackHole),
    raw("silence before the head", Raw::Silence),
    raw("silence within the head", Raw::Stall { body: false }),
    raw("silence within the body", Raw::Stall { body: true }),
    kept_alive("kept alive, then half open", Raw::Silence),
    raw("a byte each ms", Raw::Drip(Duration::from_millis(1))),
    raw("a byte each 10 s", Raw::Drip(seconds(10))),
    // Answers that are none.
    raw("10 bytes fewer than declared", Raw::Length(10)),
    raw("10 bytes more than declared", Raw::Length(-10)),
    raw("two lengths", Raw::Declared("content-length: 5\r\ncontent-length: 64\r\n")),
    raw("a length that is no number", Raw::Declared("content-length: many\r\n")),
    raw("a chunk without a size", Raw::BadChunk),
    raw("a page of HTML", Raw::Page),
    raw("gzip sent unasked", Raw::Gzip),
    raw("204 without a body", Raw::Bare(204)),
    raw("200 without a body", Raw::Bare(200)),
    raw("a redirect", Raw::Bare(307)),
    raw("not HTTP", Raw::NotHttp),
    raw("200 header lines", Raw::ManyHeaders),
    // Answers without end.
    raw("an endless head", Raw::EndlessHead),
    raw("endless interim answers", Raw::EndlessInterim),
    raw("an endless body", Raw::EndlessBody(200)),
    raw("an endless refusal", Raw::EndlessBody(503)),
    raw("a huge declared length", Raw::HugeLength),
];
