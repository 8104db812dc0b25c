//! Programs that are stopped anywhere and started again: every event is handled, and only the one in hand twice.
//!
//! A program is stopped by dropping its stream. A step is a poll of the stream, or the handling of an event: between any
//! two of them, so also inside an event, a save, a list or a request, there is a life that ends. A program that is
//! really killed is in `tail_events`.

use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures_core::Stream as _;
use shadway::Client;
use shadway::events::{Checkpoint, EventStream, FileCheckpoint, MemoryCheckpoint};

use super::checkpoint_files::folder;
use super::checkpoints::Slow;
use crate::support::seed;
use crate::support::torn::{Faults, MANDATE, Torn};

/// One program after another, on what the one before has stored.
struct Lives<Store> {
    client: Client,
    mandate: Option<&'static str>,
    store: Store,
    /// Where each event stands.
    places: HashMap<String, usize>,
    /// How many have been handled: all up to there.
    handled: usize,
    /// The one that was handled last, if no other was asked for since.
    in_hand: Option<usize>,
}

/// When a program is stopped.
#[derive(Clone, Copy)]
enum Stop {
    /// After so many steps.
    Steps(usize),
    /// After so many more once it has come to an event that is new to all.
    FromNew(usize),
}

impl<Store: Checkpoint + Clone> Lives<Store> {
    fn new(service: &Torn, mandate: Option<&'static str>, store: Store) -> Self {
        let places = service.ids(mandate).into_iter().zip(0..).collect();
        let client = service.client();
        Self { client, mandate, store, places, handled: 0, in_hand: None }
    }

    fn over(&self) -> bool {
        self.handled == self.places.len()
    }

    fn stream(&self) -> EventStream {
        let events = match self.mandate {
            Some(mandate) => self.client.mandate(mandate).events().stream(),
            None => self.client.events().stream(),
        };
        events.checkpoint(self.store.clone())
    }

    /// One life; whether it came to anything new. `exact`: the service repeats nothing.
    async fn live(&mut self, stop: Stop, exact: bool) -> bool {
        let mut events = self.stream();
        let (before, mut seen) = (self.handled, HashSet::new());
        let (mut left, mut counts) = match stop {
            Stop::Steps(steps) => (steps, true),
            Stop::FromNew(steps) => (steps, false),
        };
        poll_fn(|context| {
            loop {
                if counts && left == 0 {
                    return Poll::Ready(());
                }
                left -= usize::from(counts);
                let Poll::Ready(event) = Pin::new(&mut events).poll_next(context) else {
                    return if counts && left == 0 { Poll::Ready(()) } else { Poll::Pending };
                };
                let place = self.places[event.unwrap().unwrap().id.as_str()];
                assert!(place <= self.handled, "{place} comes, and {} is lost", self.handled);
                assert!(seen.insert(place), "{place} comes twice in one life");
                counts |= place == self.handled;
                if counts && left == 0 {
                    // It was given out, and is not handled.
                    return Poll::Ready(());
                }
                left -= usize::from(counts);
                if place < self.handled {
                    let in_hand = self.in_hand == Some(place) && seen.len() == 1;
                    assert!(in_hand || !exact, "{place} comes again, and {:?} was in hand", self.in_hand);
                }
                self.handled = self.handled.max(place + 1);
                self.in_hand = Some(place);
                if self.over() {
                    return Poll::Ready(());
                }
            }
        })
        .await;
        self.handled > before
    }
}

/// A run of so many events, and what has happened of it before the first life.
#[derive(Clone, Copy)]
struct Run {
    mandate: Option<&'static str>,
    total: usize,
    happened: usize,
    faults: Faults,
}

impl Run {
    async fn with<Store: Checkpoint + Clone>(self, store: Store, live: impl AsyncFnOnce(&mut Lives<Store>)) {
        let service = Torn::new(seed(), self.mandate, self.total, self.happened, self.faults);
        let mut lives = Lives::new(&service, self.mandate, store);
        live(&mut lives).await;
        assert_eq!(lives.handled, self.total);
        let (cuts, replayed) = service.damage();
        assert_eq!((cuts > 0, replayed > 0), (self.faults.cuts, self.faults.replays));
    }
}

const CUTS: Faults = Faults { cuts: true, replays: false, shy: false };
const SHY: Faults = Faults { shy: true, ..CUTS };
const REPLAYS: Faults = Faults { replays: true, ..CUTS };

/// Ends a life at each step between each event and the next.
async fn at_every_step<Store: Checkpoint + Clone>(lives: &mut Lives<Store>) {
    let mut steps = 0;
    while !lives.over() {
        steps = if lives.live(Stop::Steps(steps), true).await { 0 } else { steps + 1 };
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_that_ends_at_any_step_loses_no_event_and_repeats_the_one_in_hand_only() {
    for mandate in [None, Some(MANDATE)] {
        // A store that saves at once, and one that is still at it when the program ends.
        let run = Run { mandate, total: 1_000, happened: 0, faults: SHY };
        run.with(MemoryCheckpoint::new(), at_every_step).await;
        let run = Run { mandate, total: 1_000, happened: 250, faults: CUTS };
        run.with(Slow::default(), at_every_step).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_replays_more_than_was_asked_for_costs_repeats_and_no_event() {
    for mandate in [None, Some(MANDATE)] {
        let run = Run { mandate, total: 1_000, happened: 120, faults: REPLAYS };
        let mut steps = (0..6).cycle();
        run.with(Slow::default(), async |lives| {
            while !lives.over() {
                lives.live(Stop::FromNew(steps.next().unwrap()), false).await;
            }
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn so_it_is_with_a_position_in_a_file() {
    for mandate in [None, Some(MANDATE)] {
        let path = folder("kills").join("position.json");
        let run = Run { mandate, total: 100, happened: 25, faults: CUTS };
        run.with(FileCheckpoint::new(&path), at_every_step).await;
    }
    // Each save takes the disk's time, so here lives are longer, and end at some steps only.
    let path = folder("kills").join("position.json");
    let run = Run { mandate: None, total: 250, happened: 120, faults: CUTS };
    run.with(FileCheckpoint::new(&path), async |lives| {
        while !lives.over() {
            lives.live(Stop::Steps(fastrand::usize(..60)), true).await;
        }
    })
    .await;
}
