// eventsource-parser and JSON.parse on the same stream: `node decode.mjs STREAM ROUNDS CHUNK_BYTES...`.
// One line an answer: its name, the bytes of a chunk, the events, the nanoseconds of each round.
import { readFileSync } from "node:fs";
import { createParser } from "eventsource-parser";

const [file, rounds, ...sizes] = process.argv.slice(2);
const stream = readFileSync(file);

function time(work) {
  const times = [];
  let events = 0;
  // The first ones warm the compiler up.
  for (let round = -3; round < Number(rounds); round++) {
    const began = process.hrtime.bigint();
    events = work();
    const took = process.hrtime.bigint() - began;
    if (round >= 0) times.push(took);
  }
  return `${events} ${times.join(" ")}`;
}

function parse(chunks, take) {
  let events = 0;
  const text = new TextDecoder();
  const parser = createParser({
    onEvent(event) {
      take(event.data);
      events += 1;
    },
  });
  for (const chunk of chunks) parser.feed(text.decode(chunk, { stream: true }));
  return events;
}

const payloads = [];
parse([stream], (data) => payloads.push(data));
let kept;
console.log("floor", 0, time(() => {
  for (const payload of payloads) kept = JSON.parse(payload);
  return payloads.length;
}));
for (const size of sizes.map(Number)) {
  const chunks = [];
  for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size));
  console.log("parser", size, time(() => parse(chunks, () => {})));
  console.log("parser+json", size, time(() => parse(chunks, (data) => (kept = JSON.parse(data)))));
}
if (kept === undefined) process.exit(1);
