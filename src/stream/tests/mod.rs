//! The decoder against a corpus of files, against random inputs, and against its limits.

use bytes::Bytes;

use super::decoder::{Block, Decoder, TooLarge};

mod connections;
mod corpus;
mod oracle;
mod random;
mod sizes;

use oracle::Reading;

/// The decoder's reading of an input that arrives in these chunks.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Reading {
    let mut decoder = Decoder::new(usize::MAX);
    let mut blocks = Vec::new();
    for chunk in chunks {
        feed(&mut decoder, chunk, &mut blocks).expect("there is no limit");
    }
    Reading { blocks, retry: decoder.take_retry() }
}

fn feed(decoder: &mut Decoder, chunk: &[u8], blocks: &mut Vec<Block>) -> Result<(), TooLarge> {
    decoder.push(Bytes::copy_from_slice(chunk));
    while let Some(block) = decoder.next()? {
        blocks.push(block);
    }
    Ok(())
}

/// Every way to cut an input in two.
fn cuts_in_two(input: &[u8]) -> impl Iterator<Item = [&[u8]; 2]> {
    (0..=input.len()).map(|at| {
        let (start, end) = input.split_at(at);
        [start, end]
    })
}

/// Every way to cut an input in three.
fn cuts_in_three(input: &[u8]) -> impl Iterator<Item = [&[u8]; 3]> {
    cuts_in_two(input)
        .flat_map(|[start, rest]| cuts_in_two(rest).map(move |[middle, end]| [start, middle, end]))
}
