//! The crate's decoder, built from the same files into this package, so that each stage can be timed alone.

use bytes::Bytes;

use crate::rivals::Sink;

#[expect(dead_code, reason = "the crate uses more of it than its stages need")]
#[path = "../../src/stream/decoder.rs"]
mod decoder;
#[cfg_attr(test, expect(dead_code, reason = "its own tests are not here"))]
#[path = "../../src/stream/lines.rs"]
mod lines;

/// The first stage alone.
pub(crate) fn lines(chunks: &[Bytes], sink: &mut Sink) {
    let mut lines = lines::Lines::default();
    for chunk in chunks {
        lines.push(chunk.clone());
        while let Some(line) = lines.next(usize::MAX).expect("there is no limit") {
            sink.count_if(line.is_empty());
        }
    }
}

/// All stages up to the frames, and what the sink does with their data.
pub(crate) fn decoder(chunks: &[Bytes], sink: &mut Sink) {
    let mut decoder = decoder::Decoder::new(16 << 20);
    for chunk in chunks {
        decoder.push(chunk.clone());
        while let Some(block) = decoder.next().expect("it is below the limit") {
            if let Some(frame) = block.frame {
                sink.take(&frame.data);
            }
        }
    }
}
