//! Path templates such as `/v1/agents/{id}`.

/// A path template, ordered so that a literal segment comes before a placeholder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Template {
    segments: Vec<Segment>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Literal(String),
    Placeholder(String),
}

impl Template {
    pub(crate) fn parse(text: &str) -> Self {
        let segment = |part: &str| {
            part.strip_prefix('{').and_then(|part| part.strip_suffix('}')).map_or_else(
                || Segment::Literal(part.to_owned()),
                |name| Segment::Placeholder(name.to_owned()),
            )
        };
        Self { segments: text.split('/').map(segment).collect(), text: text.to_owned() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// The placeholders' names and what stands in their place, still percent-encoded, if the path
    /// fits. A placeholder takes one segment that is not empty.
    pub(crate) fn matches<'a>(&'a self, path: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let parts: Vec<&str> = path.split('/').collect();
        if parts.len() != self.segments.len() {
            return None;
        }
        let mut values = Vec::new();
        for (segment, part) in self.segments.iter().zip(parts) {
            match segment {
                Segment::Literal(literal) if literal == part => {}
                Segment::Placeholder(name) if !part.is_empty() => {
                    values.push((name.as_str(), part));
                }
                _ => return None,
            }
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn a_placeholder_takes_one_whole_segment() {
        let template = Template::parse("/v1/agents/{id}");
        assert_eq!(template.matches("/v1/agents/a%2Fb"), Some(vec![("id", "a%2Fb")]));
        for path in ["/v1/agents", "/v1/agents/", "/v1/agents/a/b", "/v2/agents/a", "v1/agents/a"] {
            assert_eq!(template.matches(path), None, "{path}");
        }
    }

    #[test]
    fn literals_sort_before_placeholders() {
        let literal = Template::parse("/v1/{x}/zzz");
        let placeholder = Template::parse("/v1/{x}/{a}");
        assert!(literal < placeholder);
    }
}
