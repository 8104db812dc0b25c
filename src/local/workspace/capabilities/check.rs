//! What can be registered, and what can be changed.

use crate::local::answer::{Refusal, Result};
use crate::local::workspace::agents::not_empty;
use crate::model::capabilities::{
    CapabilityEffect, CapabilityIdempotency, CapabilityRegisterParams, CapabilityRisk, CapabilityStatus,
    CapabilityUpdateParams, CapabilityVerify,
};
use crate::model::json::RawJson;

pub(super) fn definition(params: &CapabilityRegisterParams) -> Result<()> {
    let name = &params.name;
    let parts = || name.split('.');
    let fits =
        parts().count() > 1 && parts().all(|part| !part.is_empty() && !part.contains(char::is_whitespace));
    if !fits {
        let message = format!("{name:?} is no name of a capability; it needs a dot, as in \"email.send\"");
        return Err(Refusal::invalid(message).param("name"));
    }
    not_empty("description", &params.description)?;
    if let Some(version) = &params.version {
        not_empty("version", version)?;
    }
    schema("inputSchema", &params.input_schema)?;
    schema("outputSchema", &params.output_schema)?;
    known("risk", matches!(params.risk, Some(CapabilityRisk::Unknown(_))))?;
    known("effect", matches!(params.effect, Some(CapabilityEffect::Unknown(_))))?;
    known("verify", matches!(params.verify, Some(CapabilityVerify::Unknown(_))))?;
    known("idempotency", matches!(params.idempotency, Some(CapabilityIdempotency::Unknown(_))))
}

pub(super) fn change(params: &CapabilityUpdateParams) -> Result<()> {
    if let Some(description) = &params.description {
        not_empty("description", description)?;
    }
    known("status", matches!(params.status, Some(CapabilityStatus::Unknown(_))))
}

/// An action has named inputs and outputs, so its schemas are of objects (assumed).
fn schema(field: &str, schema: &RawJson) -> Result<()> {
    let is_of_object = schema.to_value().is_ok_and(|schema| schema["type"] == "object");
    if is_of_object {
        return Ok(());
    }
    Err(Refusal::invalid(format!("{field} is no schema with \"type\": \"object\"")).param(field))
}

fn known(field: &str, unknown: bool) -> Result<()> {
    if unknown {
        return Err(Refusal::invalid(format!("the {field} is none of those there are")).param(field));
    }
    Ok(())
}
