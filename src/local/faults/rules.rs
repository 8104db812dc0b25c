//! Which fault a request or a delivery meets.

use http::Method;
use http::request::Parts;

use super::Fault;
use super::deliveries::KeptBack;
use super::plan::{Plan, Reach, Scope};
use crate::local::router;
use crate::model::events::EventType;
use crate::model::routes;

/// What may meet a fault.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    Request(Asked<'a>),
    Delivery {
        event_type: &'a EventType,
        /// Whether one that was kept back goes after it.
        is_next: bool,
    },
}

/// What is known of a request before it is dealt with.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    method: &'a Method,
    path: &'a str,
    is_stream: bool,
    resumes: bool,
}

impl<'a> Target<'a> {
    pub(crate) fn request(parts: &'a Parts, route: &str) -> Self {
        let is_stream = parts.method == Method::GET
            && matches!(route, routes::EVENT_STREAM | routes::MANDATE_EVENT_STREAM);
        let resumes = is_stream && parts.headers.get("last-event-id").is_some_and(|id| !id.is_empty());
        Self::Request(Asked { method: &parts.method, path: parts.uri.path(), is_stream, resumes })
    }
}

impl Plan {
    fn fits(&self, target: &Target<'_>) -> bool {
        match target {
            Target::Request(asked) => self.kind.reach().takes(asked) && self.on.takes(asked),
            Target::Delivery { event_type, is_next } => {
                let possible = match self.kind.reach() {
                    Reach::Deliveries => true,
                    Reach::Foremost => !is_next,
                    _ => false,
                };
                possible
                    && match &self.on {
                        Scope::All | Scope::Deliveries(EventType::All) => true,
                        Scope::Deliveries(wanted) => wanted == *event_type,
                        Scope::Streams | Scope::Call { .. } => false,
                    }
            }
        }
    }
}

impl Reach {
    fn takes(self, asked: &Asked<'_>) -> bool {
        match self {
            Self::Requests => true,
            Self::Answers => !asked.is_stream,
            Self::Streams => asked.is_stream,
            Self::Resumed => asked.resumes,
            Self::Deliveries | Self::Foremost => false,
        }
    }
}

impl Scope {
    fn takes(&self, asked: &Asked<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Streams => asked.is_stream,
            Self::Call { method, path } => {
                method == asked.method && (path == asked.path || router::fits(path, asked.path))
            }
            Self::Deliveries(_) => false,
        }
    }
}

/// The faults that may happen, in the order in which they were given.
#[derive(Debug)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
    random: fastrand::Rng,
    pub(super) kept_back: KeptBack,
}

/// A fault, and how often it could have happened and did.
#[derive(Debug)]
struct Rule {
    fault: Fault,
    met: u32,
    done: u32,
    /// Its own, so that what it draws does not depend on the others.
    random: fastrand::Rng,
}

impl Faults {
    pub(crate) fn new(random: fastrand::Rng) -> Self {
        Self { rules: Vec::new(), random, kept_back: KeptBack::default() }
    }

    pub(crate) fn add(&mut self, fault: Fault) {
        let random = self.random.fork();
        self.rules.push(Rule { fault, met: 0, done: 0, random });
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault that this request or delivery meets; counts as met and as done.
    pub(crate) fn pick(&mut self, target: &Target<'_>) -> Option<Fault> {
        let index = self.rules.iter_mut().position(|rule| rule.applies(target))?;
        let rule = &self.rules[index];
        if rule.is_spent() { Some(self.rules.remove(index).fault) } else { Some(rule.fault.clone()) }
    }
}

impl Rule {
    fn applies(&mut self, target: &Target<'_>) -> bool {
        let plan = &self.fault.0;
        if self.is_spent() || !plan.fits(target) {
            return false;
        }
        if self.met < plan.after {
            self.met += 1;
            return false;
        }
        if plan.probability.is_some_and(|probability| self.random.f64() >= probability) {
            return false;
        }
        self.done = self.done.saturating_add(1);
        true
    }

    fn is_spent(&self) -> bool {
        self.fault.0.times.is_some_and(|times| self.done >= times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tried(Faults);

    impl Tried {
        fn of(faults: impl IntoIterator<Item = Fault>) -> Self {
            let mut all = Faults::new(fastrand::Rng::with_seed(7));
            faults.into_iter().for_each(|fault| all.add(fault));
            Self(all)
        }

        fn meets(&mut self, method: Method, path: &str) -> bool {
            self.picks(method, path, None).is_some()
        }

        fn picks(&mut self, method: Method, path: &str, last: Option<&str>) -> Option<Fault> {
            let mut request = http::Request::builder().method(method).uri(path);
            if let Some(last) = last {
                request = request.header("last-event-id", last);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            self.0.pick(&Target::request(&parts, router::template(path)))
        }

        /// Which of so many requests meet one.
        fn pattern(&mut self, requests: usize) -> String {
            let mut met = || if self.meets(Method::GET, "/v1/agents") { 'x' } else { '.' };
            (0..requests).map(|_| met()).collect()
        }
    }

    #[test]
    fn a_fault_is_about_a_method_and_a_path() {
        let met = |path: &str, method: Method, asked: &str| {
            Tried::of([Fault::close().on(Method::POST, path)]).meets(method, asked)
        };
        assert!(met("/v1/mandates", Method::POST, "/v1/mandates"));
        assert!(!met("/v1/mandates", Method::GET, "/v1/mandates"));
        assert!(!met("/v1/mandates", Method::POST, "/v1/mandates/mnd_1"));
        for path in ["/v1/mandates/{id}/pause", "/v1/mandates/mnd_1/pause", "/v1/mandates/*", "/*"] {
            assert!(met(path, Method::POST, "/v1/mandates/mnd_1/pause"), "{path}");
        }
        for path in ["/v1/mandates/{id}", "/v1/mandates/mnd_2/pause", "/v1/agents/*", "v1/mandates", ""] {
            assert!(!met(path, Method::POST, "/v1/mandates/mnd_1/pause"), "{path}");
        }
        assert!(Tried::of([Fault::close()]).meets(Method::PUT, "/nowhere"));
    }

    #[test]
    fn what_only_streams_have_happens_to_streams_only() {
        let streams = ["/v1/events/stream", "/v1/mandates/mnd_1/events/stream"];
        for (fault, answers, opened, resumed) in [
            (Fault::close().on_streams(), false, true, true),
            (Fault::cut_after(1), false, true, true),
            (Fault::cursor_too_old(), false, false, true),
            (Fault::truncate(), true, false, false),
            (Fault::null_field("status"), true, true, true),
        ] {
            let mut asked = Tried::of([fault.clone()]);
            assert_eq!(asked.meets(Method::GET, "/v1/events"), answers, "{fault:?}");
            for stream in streams {
                assert_eq!(asked.meets(Method::GET, stream), opened, "{fault:?}");
                let resuming = asked.picks(Method::GET, stream, Some("evt_1")).is_some();
                assert_eq!(resuming, resumed, "{fault:?}");
                assert_eq!(asked.picks(Method::GET, stream, Some("")).is_some(), opened, "{fault:?}");
            }
        }
    }

    #[test]
    fn what_only_deliveries_have_happens_to_deliveries_only() {
        let changed = EventType::MandateStatusChanged;
        let all = Fault::bad_signature().on_deliveries(EventType::All);
        for (fault, delivered, delivered_next, other) in [
            (Fault::bad_signature(), true, true, true),
            (all, true, true, true),
            (Fault::duplicate_delivery().on_deliveries(changed.clone()), true, true, false),
            (Fault::reorder_deliveries(), true, false, true),
            (Fault::bad_signature().on_streams(), false, false, false),
            (Fault::bad_signature().on(Method::POST, "/*"), false, false, false),
            (Fault::close(), false, false, false),
            (Fault::close().on_deliveries(EventType::All), false, false, false),
        ] {
            let mut asked = Tried::of([fault.clone()]);
            let mut met = |event_type: &EventType, is_next| {
                asked.0.pick(&Target::Delivery { event_type, is_next }).is_some()
            };
            let found = (met(&changed, false), met(&changed, true), met(&EventType::ApprovalResolved, false));
            assert_eq!(found, (delivered, delivered_next, other), "{fault:?}");
            let requests = fault == Fault::close();
            assert_eq!(asked.meets(Method::POST, "/v1/agents"), requests, "{fault:?}");
            assert_eq!(asked.meets(Method::GET, "/v1/events/stream"), requests, "{fault:?}");
        }
    }

    #[test]
    fn a_fault_happens_as_often_as_it_says() {
        assert_eq!(Tried::of([Fault::close()]).pattern(4), "xxxx");
        assert_eq!(Tried::of([Fault::close().times(2)]).pattern(4), "xx..");
        assert_eq!(Tried::of([Fault::close().after(1).times(2)]).pattern(5), ".xx..");
        assert_eq!(Tried::of([Fault::close().times(0)]).pattern(2), "..");
        let mut asked = Tried::of([Fault::close().times(1)]);
        assert!(!asked.0.rules.is_empty() && asked.meets(Method::GET, "/v1/agents"));
        assert!(asked.0.rules.is_empty(), "what can't happen again is not kept");
    }

    #[test]
    fn a_request_meets_the_first_that_applies() {
        let faults = [Fault::close().times(1), Fault::hang().after(1).times(1), Fault::truncate()];
        let mut asked = Tried::of(faults.clone());
        let mut picks = || asked.picks(Method::GET, "/v1/agents", None).unwrap();
        // The second request is the first that the second fault sees, and it lets that one pass.
        assert_eq!([picks(), picks(), picks(), picks()].map(|fault| fault.0.kind), {
            let [close, hang, truncate] = faults.map(|fault| fault.0.kind);
            [close, truncate.clone(), hang, truncate]
        });
        let mut asked = Tried::of([Fault::close()]);
        asked.0.clear();
        assert_eq!(asked.pattern(2), "..");
    }

    #[test]
    fn a_probability_is_kept_to_and_a_seed_repeats_it() {
        let pattern = |probability| Tried::of([Fault::close().probability(probability)]).pattern(1_000);
        let met = |pattern: &str| pattern.matches('x').count();
        assert_eq!((met(&pattern(0.0)), met(&pattern(1.0))), (0, 1_000));
        let some = pattern(0.3);
        assert!((250..350).contains(&met(&some)), "{}", met(&some));
        assert_eq!(some, pattern(0.3));
        let third = Tried::of([Fault::close().probability(0.3).times(3)]).pattern(1_000);
        assert_eq!(met(&third), 3);
    }
}
