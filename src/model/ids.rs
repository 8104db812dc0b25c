//! The ids of the service's resources.

id! {
    /// The id of an agent.
    AgentId;
    /// The id of a mandate.
    MandateId;
}
