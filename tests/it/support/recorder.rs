//! A subscriber that keeps all that is told to `tracing`, at every level.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// A span, or an event.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// Of a span its name, of an event its message.
    pub(crate) what: String,
    pub(crate) level: String,
    pub(crate) target: String,
    pub(crate) fields: BTreeMap<String, String>,
    /// The span it lies in, by its place among all that was told.
    pub(crate) inside: Option<usize>,
}

impl Told {
    /// A field's value as text; empty if it has none.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    told: Vec<Told>,
    /// Which spans are entered. All is on one thread.
    inside: Vec<usize>,
}

impl Recorder {
    /// Records what this thread tells until the guard is dropped.
    pub(crate) fn start() -> (Self, DefaultGuard) {
        // With a single subscriber, what is first told on a thread without one counts as told to nobody ever.
        static ANOTHER: OnceLock<Dispatch> = OnceLock::new();
        ANOTHER.get_or_init(|| Dispatch::new(Self::default()));
        let recorder = Self::default();
        let guard = tracing::subscriber::set_default(recorder.clone());
        // What other tests have done without a subscriber is remembered by the places that tell.
        tracing::callsite::rebuild_interest_cache();
        (recorder, guard)
    }

    pub(crate) fn told(&self) -> Vec<Told> {
        self.0.lock().unwrap().told.clone()
    }

    /// The crate's own spans.
    pub(crate) fn spans(&self) -> Vec<Told> {
        self.told().into_iter().filter(|told| told.target == "shadway" && told.what == "call").collect()
    }

    /// The crate's own events of one message.
    pub(crate) fn events(&self, message: &str) -> Vec<Told> {
        self.told().into_iter().filter(|told| told.target == "shadway" && told.what == message).collect()
    }

    fn add(&self, name: &str, metadata: &Metadata<'_>, fields: impl FnOnce(&mut Fields)) -> Id {
        let mut read = Fields::default();
        fields(&mut read);
        let mut state = self.0.lock().unwrap();
        let told = Told {
            what: read.0.remove("message").unwrap_or_else(|| name.to_owned()),
            level: metadata.level().to_string(),
            target: metadata.target().to_owned(),
            fields: read.0,
            inside: state.inside.last().copied(),
        };
        state.told.push(told);
        Id::from_u64(state.told.len() as u64)
    }
}

/// A span's place among all that was told.
fn place(id: &Id) -> usize {
    id.into_u64() as usize - 1
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        self.add(metadata.name(), metadata, |fields| attributes.record(fields))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.0.lock().unwrap().told[place(span)].fields.extend(fields.0);
    }

    fn event(&self, event: &Event<'_>) {
        self.add("", event.metadata(), |fields| event.record(fields));
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().inside.push(place(span));
    }

    fn exit(&self, span: &Id) {
        let mut state = self.0.lock().unwrap();
        assert_eq!(state.inside.pop(), Some(place(span)), "spans are left in order");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}
