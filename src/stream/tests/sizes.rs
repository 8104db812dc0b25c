//! Large events, events that are too large, and what they cost.

use super::{decode, feed};
use crate::stream::decoder::{Decoder, TooLarge};
use crate::stream::lines::{Buffer, Lines};

use bytes::Bytes;

fn event(data_bytes: usize) -> Vec<u8> {
    [b"id: 1\ndata: ".as_slice(), &vec![b'x'; data_bytes], b"\n\n"].concat()
}

#[test]
fn large_events_arrive() {
    for size in [70_000, 1_048_577, 5_000_000] {
        for chunk in [1_024, 65_536] {
            let reading = decode(event(size).chunks(chunk));
            assert_eq!(reading.blocks[0].frame.as_ref().unwrap().data.len(), size);
        }
    }
}

/// Work is bytes looked at and bytes copied, also those that a growing buffer copies.
#[test]
fn the_work_grows_with_the_size_and_not_with_its_square() {
    let work = |mib: usize| {
        let mut lines = Lines::default();
        for chunk in event(mib << 20).chunks(1_024) {
            lines.push(Bytes::copy_from_slice(chunk));
            while lines.next(usize::MAX).unwrap().is_some() {}
        }
        lines.looked_at + lines.carry.copied
    };
    let (one, eight) = (work(1), work(8));
    assert!(one > 1 << 20);
    assert!(eight <= 9 * one, "1 MiB: {one}, 8 MiB: {eight}");
}

#[test]
fn many_lines_of_one_event_are_gathered_in_linear_work() {
    let work = |lines: usize| {
        let mut buffer = Buffer::default();
        for _ in 0..lines {
            buffer.append(b"data: a\n", usize::MAX);
        }
        buffer.copied
    };
    assert!(work(80_000) <= 9 * work(10_000), "{} {}", work(10_000), work(80_000));
}

/// Feeds without end until the decoder refuses; gives how much it took, and how much memory it held.
fn until_refused(start: &[u8], each: &[u8], limit: usize) -> (usize, usize) {
    let mut decoder = Decoder::new(limit);
    let mut blocks = Vec::new();
    let (mut taken, mut held) = (0, 0);
    let mut chunk = start;
    while feed(&mut decoder, chunk, &mut blocks).is_ok() {
        taken += chunk.len();
        held = held.max(decoder.lines.carry.capacity() + decoder.fields.capacity());
        chunk = each;
        assert!(taken < 100 * limit, "never refused");
    }
    assert!(blocks.is_empty());
    (taken, held)
}

#[test]
fn an_event_above_the_limit_is_refused_with_memory_near_the_limit() {
    let limit = 300_000;
    for (start, each) in [
        (b"data: ".as_slice(), [b'x'; 1_024].as_slice()),
        (b"", b"data: a\n"),
        (b"", b"data: a\r\n"),
        (b": ", &[b'x'; 1_000]),
        (b"", &[0xFF; 777]),
        (b"event: x\nda", b"ta: 0123456789\ndata: 0123456789\nda"),
    ] {
        let (taken, held) = until_refused(start, each, limit);
        let slack = 2 * each.len();
        assert!((limit - slack..=limit + limit / 8).contains(&taken), "{start:?}: took {taken}");
        assert!(held <= limit + 4_096, "{start:?}: held {held}");
    }
}

#[test]
fn forty_thousand_short_lines_without_a_blank_one_are_refused() {
    let mut decoder = Decoder::new(256 * 1024);
    let refused = feed(&mut decoder, &b"data: a\n".repeat(40_000), &mut Vec::new());
    assert_eq!(refused, Err(TooLarge));
}

#[test]
fn the_limit_itself_is_allowed() {
    for chunk in [1, 7, 1_000] {
        let read = |input: &[u8]| {
            let mut blocks = Vec::new();
            let mut decoder = Decoder::new(100);
            input.chunks(chunk).try_for_each(|chunk| feed(&mut decoder, chunk, &mut blocks)).map(|()| blocks)
        };
        // The lines with their ends, and without the blank one.
        let at_limit = format!("data: {}\n\n", "x".repeat(93));
        assert_eq!(read(at_limit.as_bytes()).unwrap().len(), 1);
        assert_eq!(read(at_limit.repeat(3).as_bytes()).unwrap().len(), 3, "each event has its own");
        let above = format!("data: {}\n\n", "x".repeat(94));
        assert_eq!(read(above.as_bytes()), Err(TooLarge));
    }
}

#[test]
fn what_is_not_kept_does_not_count() {
    let mut decoder = Decoder::new(100);
    let mut blocks = Vec::new();
    feed(&mut decoder, b"data: a\n", &mut blocks).unwrap();
    for _ in 0..1_000 {
        feed(&mut decoder, b": heartbeat\nid: 1\nretry: 5\n", &mut blocks).unwrap();
    }
    feed(&mut decoder, b"\n", &mut blocks).unwrap();
    assert_eq!(blocks.len(), 1);
}

#[test]
fn a_large_event_leaves_no_large_buffer_behind() {
    let mut decoder = Decoder::new(usize::MAX);
    let mut blocks = Vec::new();
    for chunk in event(3_000_000).chunks(65_536) {
        feed(&mut decoder, chunk, &mut blocks).unwrap();
    }
    assert_eq!(blocks.len(), 1);
    let held = decoder.lines.carry.capacity() + decoder.fields.capacity();
    assert!(held <= 128 * 1024, "{held} bytes");
}
