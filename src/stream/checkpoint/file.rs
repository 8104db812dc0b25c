//! A position in a file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Checkpoint, CheckpointFuture};
use crate::model::types::EventId;

/// What every file of this kind says it is.
const FORMAT: &str = "shadway.checkpoint";
const VERSION: u64 = 1;
/// Ends the name of the temporary file. A shorter one may be that of a file of somebody else's.
const TEMPORARY: &str = ".shadway-checkpoint-tmp";

/// The position of one stream, in a file of its own.
///
/// A save writes a temporary file in the same folder (the file's name and
/// `.shadway-checkpoint-tmp`), syncs it, puts it in the
/// file's place and syncs the folder: after a crash the file holds the old position or the new one. A file
/// that doesn't exist is an empty store; its folder has to exist. A link is followed. Any other file that isn't this stream's position,
/// whole and readable, is a [`CheckpointFileError`] and never taken for an empty store.
///
/// One stream at a time may use a file. Loading and saving block the thread for as long as the disk takes, a few
/// milliseconds as a rule, with each event that was handled; if your runtime can't spare that, give the stream a
/// runtime or a store of its own.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use shadway::events::{FileCheckpoint, checkpoint_conformance};
///
/// let folder = std::env::temp_dir().join(format!("shadway-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("position.json");
/// checkpoint_conformance(|| FileCheckpoint::new(&path)).await?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FileCheckpoint {
    path: PathBuf,
}

impl FileCheckpoint {
    /// The store in this file. Nothing is read or written yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    // Small and synchronous, and so in the thread of the stream. On a thread of its own a write would go on after
    // its stream was dropped, and could overtake what the next stream saves: the position would go back. And
    // without the feature `client` there is no runtime to ask for a thread.
    fn read(&self, stream: &str) -> Result<Option<EventId>, CheckpointFileError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Without its folder, such as that of a disk that isn't mounted, nothing is known of the file.
                fs::metadata(folder(&self.path)).map_err(|error| self.failed("read", error))?;
                if fs::symlink_metadata(&self.path).is_ok() {
                    return Err(self.no_position("it is a link to a file that doesn't exist"));
                }
                return Ok(None);
            }
            Err(error) => return Err(self.failed("read", error)),
        };
        let content = self.content(&text)?;
        if content.stream != stream {
            return Err(CheckpointFileError::OtherStream {
                path: self.path.clone(),
                found: content.stream,
                wanted: stream.to_owned(),
            });
        }
        Ok(Some(content.after))
    }

    fn content(&self, text: &[u8]) -> Result<Content, CheckpointFileError> {
        let unreadable = |reason: String| Err(self.no_position(reason));
        if text.is_empty() {
            return unreadable("it is empty".to_owned());
        }
        match serde_json::from_slice::<Label>(text) {
            Ok(label) if label.format != FORMAT => {
                return unreadable(format!("it is another program's, with the format {:?}", label.format));
            }
            Ok(label) if label.version != VERSION => {
                return unreadable(format!("its version is {}, and this is {VERSION}", label.version));
            }
            Ok(_) => {}
            Err(error) => return unreadable(error.to_string()),
        }
        match serde_json::from_slice::<Content>(text) {
            Ok(content) if content.after.as_str().is_empty() => unreadable("its event is empty".to_owned()),
            Ok(content) => Ok(content),
            Err(error) => unreadable(error.to_string()),
        }
    }

    fn write(&self, stream: &str, position: &EventId) -> Result<(), CheckpointFileError> {
        // The position of another stream is not to be lost either.
        self.read(stream)?;
        let (stream, after) = (stream.to_owned(), position.clone());
        let content = Content { format: FORMAT.to_owned(), version: VERSION, stream, after };
        self.replace(&content).map_err(|error| self.failed("written", error))
    }

    fn replace(&self, content: &Content) -> io::Result<()> {
        let mut text = serde_json::to_vec(content)?;
        text.push(b'\n');
        // A link stays one.
        let path = match fs::canonicalize(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.path.clone(),
            path => path?,
        };
        let mut temporary = path.clone().into_os_string();
        temporary.push(TEMPORARY);
        // One that was left over is written anew.
        let mut file = File::create(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&temporary, &path)?;
        // Until then the new name may not outlast a crash. Elsewhere a folder can't be opened.
        #[cfg(unix)]
        File::open(folder(&path))?.sync_all()?;
        Ok(())
    }

    fn no_position(&self, reason: impl Into<Box<str>>) -> CheckpointFileError {
        CheckpointFileError::NoPosition { path: self.path.clone(), reason: reason.into() }
    }

    fn failed(&self, what: &'static str, source: io::Error) -> CheckpointFileError {
        CheckpointFileError::Io { path: self.path.clone(), what, source }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

impl Checkpoint for FileCheckpoint {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        Box::pin(async move { Ok(self.read(stream)?) })
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        Box::pin(async move { Ok(self.write(stream, position)?) })
    }
}

/// Why a [`FileCheckpoint`] gives or takes no position: the source of the stream's
/// [`Checkpoint`](crate::ErrorKind::Checkpoint) error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFileError {
    /// The file holds no position: it is damaged, another program's, of a later version of this crate, or a link to
    /// nothing.
    #[error("{} holds no position of a stream: {reason}; remove it to start from the beginning", path.display())]
    #[non_exhaustive]
    NoPosition {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: Box<str>,
    },
    /// The file holds the position of another stream.
    #[error("{} holds the position of the stream {found}, not of {wanted}; give each a file of its own", path.display())]
    #[non_exhaustive]
    OtherStream {
        /// The file.
        path: PathBuf,
        /// The stream whose position it is.
        found: String,
        /// The stream that wanted it.
        wanted: String,
    },
    /// The file can't be read or written.
    #[error("{} can't be {what}", path.display())]
    #[non_exhaustive]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// What tells one of these files from any other.
#[derive(Deserialize)]
struct Label {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: String,
    version: u64,
    stream: String,
    after: EventId,
}
