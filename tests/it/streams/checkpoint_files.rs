//! Positions in files: what is stored outlasts everything, and what is no position is never taken for none.

use std::fs;
use std::path::{Path, PathBuf};

use shadway::ErrorKind;
use shadway::events::{Checkpoint, CheckpointFileError, FileCheckpoint, checkpoint_conformance};
use shadway::types::EventId;

use super::{item, take};
use crate::support::streams::{Player, event, open};

const MANDATE: &str = "mandate:mnd_1";

/// An empty folder of the test's own.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

async fn load(path: &Path, stream: &str) -> Result<Option<String>, CheckpointFileError> {
    match FileCheckpoint::new(path).load(stream).await {
        Ok(position) => Ok(position.map(|id| id.to_string())),
        Err(error) => Err(*error.downcast().expect("the file's error")),
    }
}

async fn save(path: &Path, id: &str) -> Result<(), CheckpointFileError> {
    let saved = FileCheckpoint::new(path).save(MANDATE, &EventId::from(id)).await;
    saved.map_err(|error| *error.downcast().expect("the file's error"))
}

#[tokio::test]
async fn a_file_is_a_good_store() {
    let path = folder("good").join("position.json");
    checkpoint_conformance(|| FileCheckpoint::new(&path)).await.unwrap();
}

#[tokio::test]
async fn it_is_one_readable_line_and_nothing_is_left_beside_it() {
    let folder = folder("line");
    let path = folder.join("position.json");
    assert_eq!(load(&path, MANDATE).await.unwrap(), None);
    save(&path, "evt_\"7\"").await.unwrap();
    let line = "{\"format\":\"shadway.checkpoint\",\"version\":1,\"stream\":\"mandate:mnd_1\",\"after\":\"evt_\\\"7\\\"\"}\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), line);
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_\"7\"");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn a_file_cut_anywhere_is_an_error_and_stays_as_it_is() {
    let path = folder("cut").join("position.json");
    save(&path, "evt_7").await.unwrap();
    let whole = fs::read(&path).unwrap();
    // The last byte ends the line, and can be missed.
    for length in 0..whole.len() - 1 {
        fs::write(&path, &whole[..length]).unwrap();
        for error in [load(&path, MANDATE).await.unwrap_err(), save(&path, "evt_8").await.unwrap_err()] {
            assert!(matches!(error, CheckpointFileError::NoPosition { .. }), "{length}: {error}");
        }
        assert_eq!(fs::read(&path).unwrap(), &whole[..length]);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_followed_and_one_to_nothing_is_an_error() {
    use std::os::unix::fs::symlink;

    let (here, there) = (folder("link-here"), folder("link-there"));
    let (link, target) = (here.join("position.json"), there.join("kept.json"));
    symlink(&target, &link).unwrap();
    for error in [load(&link, MANDATE).await.unwrap_err(), save(&link, "evt_8").await.unwrap_err()] {
        assert!(matches!(error, CheckpointFileError::NoPosition { .. }), "{error}");
        assert!(error.to_string().contains("it is a link to a file that doesn't exist"), "{error}");
    }
    assert!(!target.exists());
    save(&target, "evt_7").await.unwrap();
    assert_eq!(load(&link, MANDATE).await.unwrap().unwrap(), "evt_7");
    save(&link, "evt_8").await.unwrap();
    assert_eq!(load(&target, MANDATE).await.unwrap().unwrap(), "evt_8");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "the link stays");
    assert_eq!(fs::read_dir(&there).unwrap().count(), 1);
}

#[tokio::test]
async fn a_file_of_something_else_is_an_error_that_says_of_what() {
    let path = folder("foreign").join("position.json");
    for (text, reason) in [
        ("", "it is empty"),
        ("\0\0\0\0\0\0\0\0", "expected value"),
        ("evt_7\n", "expected value"),
        ("{}", "missing field `format`"),
        ("[1,2]", "invalid type"),
        (r#"{"format":"other","version":1}"#, "it is another program's, with the format \"other\""),
        (r#"{"format":"shadway.checkpoint","version":2,"after":[]}"#, "its version is 2, and this is 1"),
        (r#"{"format":"shadway.checkpoint","version":1,"stream":"mandate:mnd_1"}"#, "missing field `after`"),
        (
            r#"{"format":"shadway.checkpoint","version":1,"stream":"mandate:mnd_1","after":""}"#,
            "its event is empty",
        ),
        (
            r#"{"format":"shadway.checkpoint","version":1,"stream":"mandate:mnd_1","after":"e","x":1}"#,
            "unknown field",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = load(&path, MANDATE).await.unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, CheckpointFileError::NoPosition { .. }), "{said}");
        assert!(
            said.contains(reason) && said.contains("position.json") && said.contains("remove it"),
            "{said}"
        );
        assert!(save(&path, "evt_8").await.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "what isn't ours isn't written over");
    }
}

#[tokio::test]
async fn another_streams_position_is_an_error() {
    let path = folder("other").join("position.json");
    save(&path, "evt_7").await.unwrap();
    let error = load(&path, "workspace").await.unwrap_err();
    assert!(
        matches!(&error, CheckpointFileError::OtherStream { found, wanted, .. } if found == MANDATE && wanted == "workspace")
    );
    assert!(error.to_string().contains("the stream mandate:mnd_1, not of workspace"), "{error}");
}

#[tokio::test]
async fn what_a_crash_left_beside_it_is_in_nobodys_way() {
    let folder = folder("left");
    let path = folder.join("position.json");
    fs::write(folder.join("position.json.shadway-checkpoint-tmp"), "{\"format\":\"shad").unwrap();
    assert_eq!(load(&path, MANDATE).await.unwrap(), None);
    save(&path, "evt_7").await.unwrap();
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_7");
    fs::write(folder.join("position.json.shadway-checkpoint-tmp"), "x".repeat(1_000)).unwrap();
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_7");
    save(&path, "evt_8").await.unwrap();
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_8");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn a_file_beside_it_that_is_another_programs_stays_as_it_is() {
    let folder = folder("beside");
    let path = folder.join("position.json");
    for name in ["position.json.tmp", "position.tmp", "position.json~"] {
        fs::write(folder.join(name), "not ours").unwrap();
        save(&path, "evt_7").await.unwrap();
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "not ours");
    }
}

#[tokio::test]
async fn what_can_not_be_read_or_written_is_an_error() {
    let folder = folder("unwritable");
    let gone = folder.join("gone").join("position.json");
    let error = load(&gone, MANDATE).await.unwrap_err();
    assert!(matches!(error, CheckpointFileError::Io { .. }), "without its folder nothing is known: {error}");
    assert!(std::error::Error::source(&error).is_some());
    assert!(
        matches!(load(&folder, MANDATE).await, Err(CheckpointFileError::Io { .. })),
        "a folder is no file"
    );

    // Where the temporary file belongs there is something else, so that nothing can be written, even by root.
    let path = folder.join("position.json");
    save(&path, "evt_7").await.unwrap();
    fs::create_dir(folder.join("position.json.shadway-checkpoint-tmp")).unwrap();
    let error = save(&path, "evt_8").await.unwrap_err();
    assert!(error.to_string().ends_with("position.json can't be written"), "{error}");
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_7");
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_on_where_its_file_says_and_stops_when_it_says_nothing() {
    let path = folder("stream").join("position.json");
    let sent = || Player::new([open().send(event(2)).send(event(3)).send(event(4))]);
    save(&path, "evt_1").await.unwrap();
    let player = sent();
    let mut events = player.stream().checkpoint(FileCheckpoint::new(&path));
    assert_eq!(take(&mut events, 2).await, ["evt_2", "evt_3"]);
    drop(events);
    assert_eq!(load(&path, MANDATE).await.unwrap().unwrap(), "evt_2");

    let player = sent();
    let mut events = player.stream().checkpoint(FileCheckpoint::new(&path));
    take(&mut events, 2).await;
    fs::write(&path, "").unwrap();
    let error = item(&mut events).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Checkpoint);
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.downcast_ref::<CheckpointFileError>().is_some());
    assert_eq!(player.cursors(), [Some("evt_2".to_owned())]);

    let player = sent();
    let mut events = player.stream().checkpoint(FileCheckpoint::new(&path));
    assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::Checkpoint);
    assert_eq!(player.count(), 0, "never a start from nothing");
}
