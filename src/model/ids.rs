//! The ids of the service's resources.

id! {
    /// The id of an agent.
    AgentId;
    /// The id of a mandate.
    MandateId;
    /// The id of an amendment.
    AmendmentId;
    /// The id of an approval.
    ApprovalId;
    /// The id of a capability. Calls go by its name instead.
    CapabilityId;
    /// The id of an event; what a stream resumes after.
    EventId;
    /// The id of a webhook endpoint.
    WebhookEndpointId;
    /// The id of a fact.
    FactId;
    /// The id of a piece of evidence.
    EvidenceId;
    /// The id of an issue.
    IssueId;
    /// The id of an assertion.
    AssertionId;
    /// The id of an information need.
    InformationNeedId;
    /// The id of a commitment.
    CommitmentId;
    /// The id of an artifact.
    ArtifactId;
}
