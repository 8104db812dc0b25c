//! The stream and the reads of a watcher, while anyone waits.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::agenda::Urgency;
use super::queue::Queue;
use super::reads::Wanted;
use super::state::{Key, Kind, State};
use super::wakers::Wakers;
use super::watchdogs::Watchdogs;
use crate::client::Client;
use crate::clock::{Sleep, Timer};
use crate::model::events::Event;
use crate::resources::mandates::watch::Hint;
use crate::resources::mandates::watch::feed::Feed;
use crate::resources::mandates::watch::pace::{Missed, Pace};
use crate::resources::mandates::{approval_wait, wait};

mod reading;
use reading::Reading;

/// How many events are taken, and about how many reads, before those they are for get their turn.
const AT_ONCE: usize = 64;

pub(super) struct Run {
    client: Client,
    timer: Arc<dyn Timer>,
    feed: Feed,
    /// The stream has been open before.
    opened: bool,
    /// It is refused for now.
    pub(super) refused: bool,
    /// When it opened last in a way that may have missed something.
    missed: Option<Missed>,
    pace: Pace,
    pause: Option<Sleep>,
    rested: bool,
    /// When the first of those is due that were put off.
    alarm: Option<(Instant, Sleep)>,
    reading: Vec<Reading>,
    /// How many reads were answered since so many were due that more are made at a time.
    rush: usize,
    /// A read has failed since the last that didn't, and others may not.
    doubt: bool,
    /// How many reads have begun.
    pub(super) started: u64,
    /// Lists are refused, and not asked for again before then.
    no_lists_until: Option<Instant>,
    watchdogs: Watchdogs,
}

impl Run {
    pub(super) fn new(client: &Client, wakers: &Arc<Wakers>) -> Self {
        let timer = Arc::clone(&client.transport().timer);
        let events = client.events();
        Self {
            client: client.clone(),
            feed: Feed::new(Box::new(move || events.stream()), Arc::clone(&timer)),
            opened: false,
            refused: false,
            missed: None,
            pace: Pace::new(None, timer.now()),
            pause: None,
            rested: false,
            alarm: None,
            reading: Vec::new(),
            rush: 0,
            doubt: false,
            started: 0,
            no_lists_until: None,
            watchdogs: Watchdogs::new(wakers),
            timer,
        }
    }

    /// The one that takes over from one that can't go on.
    pub(super) fn anew(&self, client: &Client, wakers: &Arc<Wakers>) -> Self {
        let Self { opened, missed, started, no_lists_until, .. } = *self;
        Self { opened, missed, started, no_lists_until, ..Self::new(client, wakers) }
    }

    /// Does what there is to do; says for whom there is something now.
    pub(super) fn drive(&mut self, state: &mut State, context: &mut Context<'_>, woken: &mut Vec<Key>) {
        self.watchdogs.keep(&*self.timer);
        let mut more = self.listen(state, context, woken);
        let mut reads = 0;
        loop {
            self.look_at_the_clock(state, context);
            self.start(state);
            let done = self.finish(state, context, woken);
            reads += done;
            more |= reads >= AT_ONCE;
            if reads >= AT_ONCE || (done == 0 && self.next(&state.agenda).is_none()) {
                break;
            }
        }
        if more {
            context.waker().wake_by_ref();
        }
    }

    /// Takes what has come, and what it calls for; whether there may be more.
    fn listen(&mut self, state: &mut State, context: &mut Context<'_>, woken: &mut Vec<Key>) -> bool {
        let mut taken = 0;
        while taken < AT_ONCE {
            let Poll::Ready(event) = self.feed.poll(context) else { break };
            self.hear(state, &event, woken);
            taken += 1;
        }
        let (now, missed) = (self.timer.now(), self.feed.take_missed());
        if missed {
            let missed = Missed::after(self.missed, now);
            self.missed = Some(missed);
            state.miss_all(missed);
        }
        // Of a stream that comes back again and again, not each time: of many mandates that would be much to read.
        if self.feed.take_opened() && (missed || !self.pace.has_just_rounded(now)) {
            self.pace.rounded(now);
            state.call_for_all();
        }
        if missed && std::mem::replace(&mut self.opened, true) {
            each_queue(state, woken, Queue::missed);
        }
        let refused_before = std::mem::replace(&mut self.refused, self.feed.is_refused());
        if self.refused && !refused_before {
            if self.opened {
                each_queue(state, woken, Queue::missed);
            }
            each_queue(state, woken, Queue::refused);
        }
        if self.pace.stream_is_open(self.feed.is_open(), now) {
            self.pause = None;
        }
        taken == AT_ONCE
    }

    fn hear(&self, state: &mut State, event: &Event, woken: &mut Vec<Key>) {
        let Some(topic) = state.topics.get_mut(&event.mandate) else { return };
        let (mut over, mut changed) = (Wanted::default(), false);
        for key in &topic.members {
            let (hint, wanted) = match state.members.get_mut(key).map(|member| &mut member.kind) {
                Some(Kind::Events(queue)) => {
                    woken.extend(queue.push(event, self.feed.event_bytes()).then_some(*key));
                    continue;
                }
                Some(Kind::End) => (wait::status_event(event), Wanted { end: true, ..Wanted::default() }),
                Some(Kind::Approval) => {
                    (approval_wait::hint(event), Wanted { approval: true, ..Wanted::default() })
                }
                None => continue,
            };
            match hint {
                Hint::Nothing => {}
                Hint::Changed | Hint::Status(_) => changed = true,
                Hint::Over => over = over.or(wanted),
            }
        }
        if !over.is_none() {
            topic.tell(self.timer.now(), over);
            state.call_for(&event.mandate, Urgency::Alone);
        } else if changed {
            state.call_for(&event.mandate, Urgency::Due);
        }
    }

    /// Calls for what is due by now, and sees to it that somebody is woken for what is due next.
    fn look_at_the_clock(&mut self, state: &mut State, context: &mut Context<'_>) {
        let now = self.timer.now();
        loop {
            let Some(first) = state.agenda.first_later() else {
                self.alarm = None;
                break;
            };
            if self.alarm.as_ref().is_none_or(|(at, _)| *at != first) {
                self.alarm = Some((first, self.timer.sleep(first.saturating_duration_since(now))));
            }
            let over = self.alarm.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(context).is_ready());
            if !over {
                break;
            }
            self.alarm = None;
            state.call_for_first_later();
        }
        if self.rested {
            return;
        }
        let pace = &self.pace;
        let pause = self.pause.get_or_insert_with(|| self.timer.sleep(pace.delay(now, fastrand::f64())));
        if pause.as_mut().poll(context).is_ready() {
            self.pause = None;
            self.rested = self.pace.holds_back();
            self.pace.rounded(now);
            state.call_for_all();
        }
    }
}

fn each_queue(state: &mut State, woken: &mut Vec<Key>, change: fn(&mut Queue)) {
    for (key, member) in &mut state.members {
        if let Kind::Events(queue) = &mut member.kind {
            change(queue);
            woken.push(*key);
        }
    }
}
