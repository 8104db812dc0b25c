//! The rules of WHATWG's HTML standard ("Interpreting an event stream", and the UTF-8 decoder of its Encoding
//! standard), step by step over a whole input, with no thought of speed. It shares nothing with the decoder.

use crate::stream::decoder::{Block, Frame};

/// What a whole input comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) blocks: Vec<Block>,
    pub(super) retry: Option<u64>,
}

pub(super) fn read(input: &[u8]) -> Reading {
    let mut text = decode(input);
    if text.first() == Some(&'\u{feff}') {
        text.remove(0);
    }
    let mut blocks = Vec::new();
    let (mut data, mut event, mut id) = (String::new(), String::new(), None::<String>);
    let mut id_in_block = false;
    let mut retry = None;
    for line in lines(&text) {
        if line.is_empty() {
            // An end of a block sets the last event id, whether or not there is data.
            if id_in_block || !data.is_empty() {
                let frame = (!data.is_empty()).then(|| Frame {
                    event: if event.is_empty() { "message".to_owned() } else { event.clone() },
                    data: data.strip_suffix('\n').unwrap().to_owned(),
                });
                blocks.push(Block { id: id.as_deref().map(Into::into), frame });
            }
            (data, event, id_in_block) = (String::new(), String::new(), false);
            continue;
        }
        let mut name = line.clone();
        let mut value = String::new();
        if let Some(colon) = line.find(':') {
            value = name.split_off(colon);
            value.remove(0);
            if value.starts_with(' ') {
                value.remove(0);
            }
        }
        match name.as_str() {
            "event" => event = value,
            "data" => data = data + &value + "\n",
            "id" if value.contains('\0') => {}
            "id" => (id, id_in_block) = (Some(value), true),
            "retry" if !value.is_empty() && value.chars().all(|c| "0123456789".contains(c)) => {
                retry = Some(value.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    Reading { blocks, retry }
}

/// The lines that have an end.
fn lines(text: &[char]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            '\r' if text.get(at + 1) == Some(&'\n') => {
                lines.push(std::mem::take(&mut line));
                at += 1;
            }
            '\r' | '\n' => lines.push(std::mem::take(&mut line)),
            character => line.push(character),
        }
        at += 1;
    }
    lines
}

fn decode(input: &[u8]) -> Vec<char> {
    let mut text = Vec::new();
    let (mut point, mut needed, mut seen) = (0_u32, 0, 0);
    let (mut lower, mut upper) = (0x80, 0xBF);
    let mut at = 0;
    while at < input.len() {
        let byte = input[at];
        if needed == 0 {
            match byte {
                0x00..=0x7F => text.push(char::from(byte)),
                0xC2..=0xDF => (needed, point) = (1, u32::from(byte & 0x1F)),
                0xE0..=0xEF => {
                    if byte == 0xE0 {
                        lower = 0xA0;
                    }
                    if byte == 0xED {
                        upper = 0x9F;
                    }
                    (needed, point) = (2, u32::from(byte & 0xF));
                }
                0xF0..=0xF4 => {
                    if byte == 0xF0 {
                        lower = 0x90;
                    }
                    if byte == 0xF4 {
                        upper = 0x8F;
                    }
                    (needed, point) = (3, u32::from(byte & 0x7));
                }
                _ => text.push('\u{fffd}'),
            }
            at += 1;
            continue;
        }
        let fits = (lower..=upper).contains(&byte);
        (lower, upper) = (0x80, 0xBF);
        if !fits {
            // The byte itself is looked at again, as the start of something.
            (needed, seen) = (0, 0);
            text.push('\u{fffd}');
            continue;
        }
        point = (point << 6) | u32::from(byte & 0x3F);
        seen += 1;
        at += 1;
        if seen == needed {
            (needed, seen) = (0, 0);
            text.push(char::from_u32(point).unwrap());
        }
    }
    if needed != 0 {
        text.push('\u{fffd}');
    }
    text
}
