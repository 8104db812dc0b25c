//! What is told of a mandate, in which order, and to whom.

use super::*;

/// Two mandates that were at work at the same time, to their end.
async fn two(scene: &Scene) -> (MandateHandle, MandateHandle) {
    let script = || Script::any().act("email.send", email()).wait(minutes(1)).complete("Done.");
    let one = scene.give(Authority::new(), script()).await;
    let two = scene.give(Authority::new(), script()).await;
    one.wait().await.unwrap();
    two.wait().await.unwrap();
    (one, two)
}

#[tokio::test(start_paused = true)]
async fn a_sequence_rises_and_has_gaps() {
    // Stream a mandate's events: "`sequence` goes up within a mandate and never repeats"
    // Stream a mandate's events: "It is not gap-free"
    // Stream a mandate's events: "which return in ascending sequence order"
    let scene = Scene::new().await;
    let (one, two) = two(&scene).await;
    for work in [one, two] {
        let numbers: Vec<u64> = events(&work).await.iter().map(|event| event.sequence).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        assert!(numbers.windows(2).any(|pair| pair[0] + 1 < pair[1]), "{numbers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_workspace_tells_all_in_the_order_in_which_it_happened() {
    // Stream a mandate's events: "carries every mandate's events in occurrence order"
    let scene = Scene::new().await;
    let (one, two) = two(&scene).await;
    let all: Vec<Event> = scene.client.events().list().items().try_collect().await.unwrap();
    assert!(all.windows(2).all(|pair| pair[0].created_at <= pair[1].created_at));
    assert_eq!(all.len(), events(&one).await.len() + events(&two).await.len());
    let turns = all.windows(2).filter(|pair| pair[0].mandate != pair[1].mandate).count();
    assert!(turns > 1, "they took turns");
}

#[tokio::test(start_paused = true)]
async fn a_stream_replays_everything_after_the_last_event_that_was_processed() {
    // Stream a mandate's events: "the stream replays everything after that point"
    let scene = Scene::new().await;
    let (one, _) = two(&scene).await;
    let all = events(&one).await;
    let mut stream = one.events().stream().resume_after(all[1].id.as_str());
    for expected in &all[2..] {
        assert_eq!(stream.try_next().await.unwrap().as_ref(), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_listening_stops_nothing_else() {
    // Stream a mandate's events: "It never affects the mandate."
    let scene = Scene::new().await;
    let work = scene.give(Authority::new(), Script::any().work("Reading.").complete("Done.")).await;
    let mut stream = work.events().stream();
    stream.try_next().await.unwrap();
    drop(stream);
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn that_no_decision_is_needed_any_more_is_told_whatever_the_reason() {
    // Handle an approval: "because it was decided elsewhere, expired, or the mandate was canceled"
    let scene = Scene::new().await;
    let ask = async || {
        let script = Script::any().ask("What is the code?", ["otp"]).complete("Done.").nobody_answers();
        let work = scene.give(Authority::new(), script).await;
        let approval = asked(&work).await;
        (work, approval)
    };
    let (decided, approval) = ask().await;
    scene.client.approvals().reject(&approval.id, "No.").await.unwrap();
    let (canceled, _) = ask().await;
    canceled.cancel("Enough.").await.unwrap();
    let (expired, _) = ask().await;
    later(days(8)).await;
    until(&expired, MandateStatus::Paused).await;
    for (work, how) in [(decided, "rejected"), (canceled, "canceled"), (expired, "expired")] {
        let told = story(&work).await;
        assert_eq!(told[1..3], ["input.provide asked for".to_owned(), format!("input.provide {how}")]);
    }
}
