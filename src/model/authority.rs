//! The limits of a mandate. Fields unknown here go back as they came, at every level: an amendment
//! replaces the whole set, so a dropped field would silently lift a limit.

use super::json::{JsonNumber, RawFields, RawJson};
use super::types::{Interval, Money};

open_object! {
    /// What a mandate may do (documented). Every field is optional; a missing one is no limit.
    ///
    /// Each setter changes its one field, so that a limit changed on an authority that was read keeps all
    /// the others.
    ///
    /// ```
    /// use shadway::mandates::Authority;
    /// use shadway::types::Money;
    ///
    /// let authority = Authority::new()
    ///     .capabilities(["email.send", "procurement.create_po"])
    ///     .spend_maximum(Money::usd(799_999))
    ///     .spend_approval_threshold(Money::usd(100_000))
    ///     .maximum_actions(40);
    /// let raised = authority.spend_maximum(Money::usd(899_999));
    /// assert_eq!(raised.spend.unwrap().approval_threshold, Some(Money::usd(100_000)));
    /// ```
    #[derive(Default)]
    pub struct Authority {
        /// Exact action names the mandate may use. Empty means the agent's full set.
        "capabilities" => capabilities: Vec<String>,
        /// The limit on spending.
        "spend" => spend: Option<SpendAuthority>,
        /// How many actions with an effect the mandate may take.
        "maximumActions" => maximum_actions: Option<u64>,
        /// How many actions that only read it may take, counted apart.
        "maximumReadActions" => maximum_read_actions: Option<u64>,
        /// Limits on single capabilities.
        "capabilityLimits" => capability_limits: Vec<CapabilityLimit>,
        /// Actions that can never run; checked before everything else.
        "prohibitedActions" => prohibited_actions: Vec<String>,
        /// Hours in which nothing runs.
        "quietHours" => quiet_hours: Option<QuietHours>,
        /// Limits on the values an action may use.
        "rules" => rules: Vec<AuthorityRule>,
        /// What a person has to sign off.
        "approval" => approval: Option<ApprovalAuthority>,
        /// What must be confirmed before the mandate counts as completed.
        "successCriteria" => success_criteria: Vec<SuccessCriterion>,
    }
}

impl Authority {
    /// No limits yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The exact action names the mandate may use; none means the agent's full set.
    #[must_use]
    pub fn capabilities(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.capabilities = names.into_iter().map(Into::into).collect();
        self
    }

    /// The most the mandate may spend in total. Keeps the approval threshold.
    #[must_use]
    pub fn spend_maximum(mut self, maximum: Money) -> Self {
        self.spend.get_or_insert_default().maximum = Some(maximum);
        self
    }

    /// The amount above which a single action waits for approval; must be below the maximum. Keeps the
    /// maximum.
    #[must_use]
    pub fn spend_approval_threshold(mut self, threshold: Money) -> Self {
        self.spend.get_or_insert_default().approval_threshold = Some(threshold);
        self
    }

    /// How many actions with an effect the mandate may take.
    #[must_use]
    pub fn maximum_actions(mut self, maximum: u64) -> Self {
        self.maximum_actions = Some(maximum);
        self
    }

    /// How many actions that only read it may take.
    #[must_use]
    pub fn maximum_read_actions(mut self, maximum: u64) -> Self {
        self.maximum_read_actions = Some(maximum);
        self
    }

    /// Replaces the limits on single capabilities.
    #[must_use]
    pub fn capability_limits(mut self, limits: impl IntoIterator<Item = CapabilityLimit>) -> Self {
        self.capability_limits = limits.into_iter().collect();
        self
    }

    /// Sets the limit of one capability and keeps the others'.
    #[must_use]
    pub fn capability_limit(mut self, limit: CapabilityLimit) -> Self {
        self.capability_limits.retain(|other| other.capability != limit.capability);
        self.capability_limits.push(limit);
        self
    }

    /// Actions that can never run.
    #[must_use]
    pub fn prohibited_actions(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.prohibited_actions = names.into_iter().map(Into::into).collect();
        self
    }

    /// Hours in which nothing runs.
    #[must_use]
    pub fn quiet_hours(mut self, hours: QuietHours) -> Self {
        self.quiet_hours = Some(hours);
        self
    }

    /// Limits on the values an action may use.
    #[must_use]
    pub fn rules(mut self, rules: impl IntoIterator<Item = AuthorityRule>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }

    /// Actions that a person signs off every time. Keeps the rest of `approval`.
    #[must_use]
    pub fn require_approval_for(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.approval.get_or_insert_default().required_for = names.into_iter().map(Into::into).collect();
        self
    }

    /// What must be confirmed before the mandate counts as completed.
    #[must_use]
    pub fn success_criteria(mut self, criteria: impl IntoIterator<Item = SuccessCriterion>) -> Self {
        self.success_criteria = criteria.into_iter().collect();
        self
    }
}

open_object! {
    /// The limit on spending (documented).
    ///
    /// An action that spends has to say how much; one that doesn't is blocked, not counted as zero.
    #[derive(Default)]
    pub struct SpendAuthority {
        /// The most the mandate may spend in total.
        "maximum" => maximum: Option<Money>,
        /// The amount above which a single action waits for approval; below the maximum.
        "approvalThreshold" => approval_threshold: Option<Money>,
    }
}

open_object! {
    /// The limit on one capability: a count, a rate, or both (documented).
    ///
    /// ```
    /// use shadway::mandates::CapabilityLimit;
    /// use shadway::types::Interval;
    ///
    /// let limit = CapabilityLimit::new("email.send").maximum_actions(10).rate(3, Interval::hours(1));
    /// assert_eq!(limit.rate.unwrap().interval.as_str(), "1h");
    /// ```
    pub struct CapabilityLimit {
        /// The exact action name.
        "capability" => capability: String,
        /// How often it may run under this mandate.
        "maximumActions" => maximum_actions: Option<u64>,
        /// How often it may run within an interval.
        "rate" => rate: Option<Rate>,
    }
}

impl CapabilityLimit {
    /// A limit on one capability, still without a number.
    #[must_use]
    pub fn new(capability: impl Into<String>) -> Self {
        Self { capability: capability.into(), maximum_actions: None, rate: None, extra: RawFields::default() }
    }

    /// How often it may run under this mandate.
    #[must_use]
    pub fn maximum_actions(mut self, maximum: u64) -> Self {
        self.maximum_actions = Some(maximum);
        self
    }

    /// How often it may run within an interval.
    #[must_use]
    pub fn rate(mut self, maximum: u64, interval: Interval) -> Self {
        self.rate = Some(Rate { maximum, interval, extra: RawFields::default() });
        self
    }
}

open_object! {
    /// So many within an interval (documented).
    pub struct Rate {
        /// How many.
        "maximum" => maximum: u64,
        /// Within what time, such as `1h`.
        "interval" => interval: Interval,
    }
}

open_object! {
    /// Hours in which nothing runs (that they exist is documented, the shape assumed).
    pub struct QuietHours {
        /// When they begin, as `22:00`.
        "start" => start: String,
        /// When they end, as `07:00`; before the start means the next day.
        "end" => end: String,
        /// The time zone's name, as `Europe/Paris`.
        "timezone" => timezone: String,
    }
}

impl QuietHours {
    /// Hours of the day in a time zone, as `("22:00", "07:00", "Europe/Paris")`.
    #[must_use]
    pub fn new(start: impl Into<String>, end: impl Into<String>, timezone: impl Into<String>) -> Self {
        Self { start: start.into(), end: end.into(), timezone: timezone.into(), extra: RawFields::default() }
    }
}

open_object! {
    /// A limit on a value an action may use (that rules exist is documented, the shape assumed).
    ///
    /// An action that leaves the value out is blocked (documented).
    ///
    /// ```
    /// use shadway::mandates::AuthorityRule;
    ///
    /// let rule = AuthorityRule::new("procurement.create_po", "quantity").max(500);
    /// assert_eq!(
    ///     serde_json::to_string(&rule)?,
    ///     r#"{"capability":"procurement.create_po","field":"quantity","max":500}"#
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct AuthorityRule {
        /// The exact action name.
        "capability" => capability: String,
        /// The name of the value in the action's input.
        "field" => field: String,
        /// The one value allowed.
        "equals" => equals: Option<RawJson>,
        /// The values allowed.
        "in" => one_of: Vec<RawJson>,
        /// The least value allowed.
        "min" => min: Option<JsonNumber>,
        /// The greatest value allowed.
        "max" => max: Option<JsonNumber>,
    }
}

impl AuthorityRule {
    /// A rule on one value of one capability, still without a bound.
    #[must_use]
    pub fn new(capability: impl Into<String>, field: impl Into<String>) -> Self {
        Self {
            capability: capability.into(),
            field: field.into(),
            equals: None,
            one_of: Vec::new(),
            min: None,
            max: None,
            extra: RawFields::default(),
        }
    }

    /// The one value allowed.
    #[must_use]
    pub fn equals(mut self, value: impl Into<RawJson>) -> Self {
        self.equals = Some(value.into());
        self
    }

    /// The values allowed.
    #[must_use]
    pub fn one_of(mut self, values: impl IntoIterator<Item = impl Into<RawJson>>) -> Self {
        self.one_of = values.into_iter().map(Into::into).collect();
        self
    }

    /// The least value allowed.
    #[must_use]
    pub fn min(mut self, bound: impl Into<JsonNumber>) -> Self {
        self.min = Some(bound.into());
        self
    }

    /// The greatest value allowed.
    #[must_use]
    pub fn max(mut self, bound: impl Into<JsonNumber>) -> Self {
        self.max = Some(bound.into());
        self
    }
}

open_object! {
    /// What a person has to sign off (documented).
    #[derive(Default)]
    pub struct ApprovalAuthority {
        /// Actions that need sign-off every time, whatever the amount.
        "requiredFor" => required_for: Vec<String>,
    }
}

open_object! {
    /// A condition on a confirmed fact (documented). A fact that is missing or not confirmed fails it.
    ///
    /// ```
    /// use shadway::mandates::SuccessCriterion;
    ///
    /// let criteria = [
    ///     SuccessCriterion::new("amount_minor").max(799_999),
    ///     SuccessCriterion::new("delivered").equals(true),
    /// ];
    /// assert_eq!(
    ///     serde_json::to_string(&criteria)?,
    ///     r#"[{"fact":"amount_minor","max":799999},{"fact":"delivered","equals":true}]"#
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct SuccessCriterion {
        /// The fact's key.
        "fact" => fact: String,
        /// The value it must have.
        "equals" => equals: Option<RawJson>,
        /// The least value it may have.
        "min" => min: Option<JsonNumber>,
        /// The greatest value it may have.
        "max" => max: Option<JsonNumber>,
    }
}

impl SuccessCriterion {
    /// A condition on one fact, still without a bound.
    #[must_use]
    pub fn new(fact: impl Into<String>) -> Self {
        Self { fact: fact.into(), equals: None, min: None, max: None, extra: RawFields::default() }
    }

    /// The value the fact must have.
    #[must_use]
    pub fn equals(mut self, value: impl Into<RawJson>) -> Self {
        self.equals = Some(value.into());
        self
    }

    /// The least value it may have.
    #[must_use]
    pub fn min(mut self, bound: impl Into<JsonNumber>) -> Self {
        self.min = Some(bound.into());
        self
    }

    /// The greatest value it may have.
    #[must_use]
    pub fn max(mut self, bound: impl Into<JsonNumber>) -> Self {
        self.max = Some(bound.into());
        self
    }
}
