//! Whatever an authority holds, changing one limit changes that one alone.

use serde_json::json;
use shadway::types::Money;

use crate::exact::Exact;
use crate::support::{Script, Step};

#[tokio::test]
async fn any_authority_keeps_all_but_the_limit_that_was_changed() {
    for seed in 0..300 {
        let authority = Generator(fastrand::Rng::with_seed(seed)).authority();
        let mandate = format!(
            r#"{{"id":"mnd_1","agent":"agt_1","objective":"o","status":"running","authority":{authority},
                "authorityVersion":3}}"#
        );
        let script =
            Script::new([Step::text(200, mandate.clone()), amended(), Step::text(200, mandate), amended()]);
        let work = script.client().mandate("mnd_1");
        work.amend_with("r", |limits| limits.spend_maximum(Money::usd(899_999))).await.unwrap();
        work.amend_with("r", |limits| limits.require_approval_for(["email.send"])).await.unwrap();
        let sent = |index: usize| {
            let body = script.seen()[index].body.clone();
            Exact::of(std::str::from_utf8(&body).unwrap()).field("authority").clone()
        };
        let mut raised = Exact::of(&authority);
        raised.entry("spend").set("maximum", Exact::of(r#"{"amount":899999,"currency":"usd"}"#));
        assert_eq!(sent(1), raised, "seed {seed}: {authority}");
        let mut guarded = Exact::of(&authority);
        guarded.entry("approval").set("requiredFor", Exact::of(r#"["email.send"]"#));
        assert_eq!(sent(3), guarded, "seed {seed}: {authority}");
    }
}

fn amended() -> Step {
    Step::json(201, &json!({"version": 4}))
}

/// An authority with fields never seen at every level, numbers no `f64` can hold, nulls and empty lists.
struct Generator(fastrand::Rng);

type Field<'a> = (&'a str, &'a dyn Fn(&mut Generator) -> String);

impl Generator {
    fn any(&mut self, depth: u32) -> String {
        match self.0.u32(..if depth == 0 { 9 } else { 12 }) {
            0 => "null".to_owned(),
            1 => self.0.bool().to_string(),
            2 => "123456789012345678901234567890".to_owned(),
            3 => format!("0.1{:020}1", self.0.u32(..)),
            4 => "1.50".to_owned(),
            5 => "-1E-400".to_owned(),
            6 => format!("\"{}\"", ["", "ü", "\\n\\u0000", "\\\"", "{"][self.0.usize(..5)]),
            7 => "[]".to_owned(),
            8 => "{}".to_owned(),
            9 => format!("[{},{}]", self.any(depth - 1), self.any(depth - 1)),
            _ => format!("{{\"a\":{},\"maximum\":{}}}", self.any(depth - 1), self.any(depth - 1)),
        }
    }

    /// An object of some of the fields, with up to two that were never seen.
    fn object(&mut self, fields: &[Field], required: usize) -> String {
        let mut parts = Vec::new();
        for (index, (name, value)) in fields.iter().enumerate() {
            if index < required || self.0.u32(..3) > 0 {
                parts.push(format!("\"{name}\":{}", value(self)));
            }
        }
        for index in 0..self.0.u32(..3) {
            parts.push(format!("\"future{index}\":{}", self.any(3)));
        }
        self.0.shuffle(&mut parts);
        format!("{{{}}}", parts.join(","))
    }

    fn or_null(&mut self, value: impl Fn(&mut Self) -> String) -> String {
        if self.0.u32(..4) == 0 { "null".to_owned() } else { value(self) }
    }

    fn list(&mut self, item: impl Fn(&mut Self) -> String) -> String {
        self.or_null(|this| {
            format!("[{}]", (0..this.0.u32(..3)).map(|_| item(this)).collect::<Vec<_>>().join(","))
        })
    }

    fn count(&mut self) -> String {
        self.or_null(|this| this.0.u64(..).to_string())
    }

    fn names(&mut self) -> String {
        self.list(|this| ["\"email.send\"", "\"phone.call\""][this.0.usize(..2)].to_owned())
    }

    fn money(&mut self) -> String {
        self.object(
            &[("amount", &|this| this.0.i64(..).to_string()), ("currency", &|_| "\"usd\"".to_owned())],
            2,
        )
    }

    fn rate(&mut self) -> String {
        self.object(&[("maximum", &|_| "3".to_owned()), ("interval", &|_| "\"1h\"".to_owned())], 2)
    }

    fn bounds(&mut self, required: &[Field]) -> String {
        let number =
            |this: &mut Self| this.or_null(|this| format!("{}.{:025}", this.0.i64(..), this.0.u32(..)));
        let mut fields = required.to_vec();
        fields.extend([
            ("equals", &(|this: &mut Self| this.any(2)) as &dyn Fn(&mut Self) -> String),
            ("min", &number),
            ("max", &number),
        ]);
        self.object(&fields, required.len())
    }

    fn authority(&mut self) -> String {
        let name = |_: &mut Self| "\"a.b\"".to_owned();
        let limit = |this: &mut Self| {
            let rate = |this: &mut Self| this.or_null(Self::rate);
            this.object(&[("capability", &name), ("maximumActions", &Self::count), ("rate", &rate)], 1)
        };
        let money = |this: &mut Self| this.or_null(Self::money);
        let spend = |this: &mut Self| this.object(&[("maximum", &money), ("approvalThreshold", &money)], 0);
        let approval = |this: &mut Self| this.object(&[("requiredFor", &Self::names)], 0);
        let hours = |this: &mut Self| {
            let time = |_: &mut Self| "\"22:00\"".to_owned();
            this.object(&[("start", &time), ("end", &time), ("timezone", &name)], 3)
        };
        let one_of = |this: &mut Self| this.list(|this| this.any(1));
        let rule = |this: &mut Self| this.bounds(&[("capability", &name), ("field", &name), ("in", &one_of)]);
        let criterion = |this: &mut Self| this.bounds(&[("fact", &name)]);
        self.object(
            &[
                ("capabilities", &Self::names),
                ("spend", &|this| this.or_null(spend)),
                ("maximumActions", &Self::count),
                ("maximumReadActions", &Self::count),
                ("capabilityLimits", &|this| this.list(limit)),
                ("prohibitedActions", &Self::names),
                ("quietHours", &|this| this.or_null(hours)),
                ("rules", &|this| this.list(rule)),
                ("approval", &|this| this.or_null(approval)),
                ("successCriteria", &|this| this.list(criterion)),
            ],
            0,
        )
    }
}
