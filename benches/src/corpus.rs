//! Some 10,000 events of 300 bytes to 2 KB, made from `fixtures/events` the same way each time.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use fastrand::Rng;

/// How many events.
pub const EVENTS: usize = 10_000;
/// What an event's JSON comes to, in bytes.
const SMALLEST: usize = 300;
const LARGEST: usize = 2_000;
const SEED: u64 = 4;

/// Events as the service would send them.
pub struct Corpus {
    /// The JSON of each.
    pub payloads: Vec<String>,
    /// All of them in a row, as an event stream.
    pub stream: Bytes,
}

impl Corpus {
    /// From the fixtures beside this package.
    #[must_use]
    pub fn new() -> Self {
        let fixtures = fixtures();
        let authority = read(&repository().join("fixtures/mandates/authority_full.json"));
        let authority = authority.split_once(r#""authority":"#).expect("an authority").1;
        let authority = authority.split_once(r#","agentRevision""#).expect("the end of the authority").0;
        let mut random = Rng::with_seed(SEED);
        let payloads: Vec<String> = (1..=EVENTS)
            .map(|number| {
                let fixture = &fixtures[random.usize(..fixtures.len())];
                vary(fixture, number, authority, &mut random)
            })
            .collect();
        Self { stream: stream(&payloads), payloads }
    }

    /// The stream, cut into chunks.
    #[must_use]
    pub fn chunks(&self, size: usize) -> Vec<Bytes> {
        cut(&self.stream, size)
    }
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

/// Cuts into chunks of a size; the last one may be smaller.
#[must_use]
pub fn cut(stream: &Bytes, size: usize) -> Vec<Bytes> {
    (0..stream.len()).step_by(size).map(|at| stream.slice(at..stream.len().min(at + size))).collect()
}

/// An event stream of these, each with the id and type that its JSON names.
fn stream(payloads: &[String]) -> Bytes {
    let mut stream = String::new();
    for payload in payloads {
        let field = |name: &str| {
            let start = payload.find(name).expect("the field") + name.len();
            payload[start..].split('"').next().unwrap_or_default()
        };
        let (id, kind) = (field(r#"{"id":""#), field(r#","type":""#));
        stream.push_str(&format!("id: {id}\nevent: {kind}\ndata: {payload}\n\n"));
    }
    stream.into()
}

/// The fixture with ids as long as real ones, and longer texts.
fn vary(fixture: &str, number: usize, authority: &str, random: &mut Rng) -> String {
    let id = |prefix: &str, number: usize| format!("\"{prefix}_01k8v3qz{number:018}\"");
    let mandate = id("mnd", random.usize(..500));
    let head = fixture.split_once(r#","mandate":"#).expect("a mandate").0;
    let kind = head.split_once(r#","type":"#).expect("a type").1.split_once(',').expect("a sequence").0;
    let new_head = format!(r#"{{"id":{},"type":{kind},"sequence":{number}"#, id("evt", number));
    let mut event = fixture
        .replace(head, &new_head)
        .replace("\"mnd_1\"", &mandate)
        .replace("\"agt_1\"", &id("agt", random.usize(..50)))
        .replace("\"apr_1\"", &id("apr", number))
        .replace("\"exe_1\"", &id("exe", number))
        .replace(":00Z\"", ":00.250Z\"");
    if random.bool() {
        event = event
            .replace(r#""authority":{}"#, &format!(r#""authority":{authority}"#))
            .replace(r#""metadata":{}"#, r#""metadata":{"team":"purchasing","ticket":"PRC-4821"}"#);
    }
    // The text of each type that is as long as its author likes.
    let texts = [r#""objective":""#, r#""summary":""#, r#""question":""#, r#""message":""#, r#""reason":""#];
    let texts: Vec<_> = texts.into_iter().filter(|text| event.contains(text)).collect();
    let target = random.usize(SMALLEST..LARGEST);
    for (place, text) in texts.iter().enumerate() {
        let missing = target.saturating_sub(event.len()) / (texts.len() - place);
        event = event.replacen(text, &format!("{text}{}", prose(missing, random)), 1);
    }
    if event.len() < SMALLEST {
        let note = prose(SMALLEST - event.len(), random);
        event = event.replacen(r#""data":{"#, &format!(r#""data":{{"note":"{note}","#), 1);
    }
    event
}

/// About so many bytes of text as it stands in JSON, with an escape and a letter beyond ASCII now and then.
fn prose(bytes: usize, random: &mut Rng) -> String {
    const WORDS: [&str; 12] = [
        "supplier",
        "asks",
        "for",
        "a",
        "deposit",
        "before",
        "it",
        "ships",
        "Zürich",
        "\\\"firm\\\"",
        "quote,\\n",
        "again",
    ];
    let mut text = String::new();
    while text.len() + 2 < bytes {
        text.push_str(WORDS[random.usize(..WORDS.len())]);
        text.push(' ');
    }
    text
}

/// The event fixtures by name, in one line each.
fn fixtures() -> Vec<String> {
    let folder = repository().join("fixtures/events");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A JSON file without the blanks between its words; every text and number stays as it is.
fn read(file: &Path) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for letter in fs::read_to_string(file).expect("a fixture").chars() {
        if quoted || !letter.is_whitespace() {
            text.push(letter);
        }
        quoted ^= letter == '"' && !escaped;
        escaped = quoted && letter == '\\' && !escaped;
    }
    text
}

#[cfg(test)]
mod tests {
    use shadway::events::Event;

    use super::*;

    #[test]
    fn every_event_is_one_and_of_the_size_said() {
        let corpus = Corpus::new();
        let events: Vec<Event> =
            corpus.payloads.iter().map(|payload| serde_json::from_str(payload).unwrap()).collect();
        assert_eq!(events.len(), EVENTS);
        let known = events.iter().filter(|event| event.is_known()).count();
        assert!((EVENTS * 7 / 10..EVENTS * 9 / 10).contains(&known), "{known} known");
        for payload in &corpus.payloads {
            assert!((SMALLEST - 20..LARGEST + 300).contains(&payload.len()), "{payload}");
        }
        assert_eq!(Corpus::new().stream, corpus.stream, "the same each time");
    }
}
