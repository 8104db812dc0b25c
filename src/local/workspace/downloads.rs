//! Links to artifacts: whoever has one can fetch the artifact with it, for a short while.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;

use super::Workspace;
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::model::record::{Artifact, ArtifactDownload, SignedUrl};
use crate::model::types::Extra;

/// Where an artifact is served; no part of the service's contract.
pub(crate) const FILE: &str = "/files/{id}";
/// How long a link can be used.
const LIFE: Duration = Duration::from_secs(5 * 60);

/// The links that were given out: by signature, for which artifact, and until when.
#[derive(Debug, Default)]
pub(super) struct Links(HashMap<String, (String, Moment)>);

impl Workspace {
    /// A link that needs no key (that it is short-lived is documented).
    pub(crate) fn download(&mut self, id: &str, now: Moment) -> Result<ArtifactDownload> {
        if self.artifact(id).is_none() {
            return Err(Refusal::not_found("artifact", id));
        }
        let signature = self.new_id("");
        let until = now.after(LIFE);
        self.links.0.retain(|_, (_, until)| *until > now);
        let url = format!("{}{}?signature={signature}", self.origin, FILE.replace("{id}", id));
        self.links.0.insert(signature, (id.to_owned(), until));
        let expires_at = Some(self.epoch.timestamp(until));
        Ok(ArtifactDownload { url: SignedUrl::from(url), expires_at, extra: Extra::new() })
    }

    /// The artifact that a link leads to.
    pub(crate) fn file(&self, id: &str, signature: &str, now: Moment) -> Result<(Artifact, Bytes)> {
        let link = self.links.0.get(signature).filter(|(artifact, until)| artifact == id && *until > now);
        if link.is_none() {
            return Err(Refusal::forbidden("the link is not valid, or not any more"));
        }
        match self.artifact(id) {
            Some((artifact, content)) => Ok((artifact.clone(), content.clone())),
            None => Err(Refusal::not_found("artifact", id)),
        }
    }
}
