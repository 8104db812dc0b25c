// stripe's constructEvent, and node:crypto alone: `node --expose-gc verify.mjs ROUNDS OFTEN SELDOM BODY...`.
// One line an answer, with tabs: its name, the bytes of the body, the bytes of heap one takes, the nanoseconds that the
// process computes for one in each round.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Stripe } from "stripe";

const [rounds, often, seldom, ...bodies] = process.argv.slice(2);
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const { webhooks } = new Stripe("sk_test_1");
const cases = bodies.flatMap((text) => {
  const body = Buffer.from(text);
  const time = Math.floor(Date.now() / 1000);
  const start = `${time}.`;
  const code = createHmac("sha256", secret).update(start).update(body).digest();
  const header = `t=${time},v1=${code.toString("hex")}`;
  return [
    {
      name: "node:crypto alone",
      body,
      work: () => timingSafeEqual(code, createHmac("sha256", secret).update(start).update(body).digest()),
    },
    { name: "stripe's verifyHeader", body, work: () => webhooks.signature.verifyHeader(body, header, secret) },
    {
      name: "stripe's constructEvent, and so the parsed event",
      body,
      work: () => webhooks.constructEvent(body, header, secret).id === "evt_1",
    },
  ].map((one) => ({ ...one, times: [], repeats: Number(body.length > 1024 ? seldom : often) }));
});

function repeat({ work, repeats }) {
  for (let done = 0; done < repeats; done++) if (!work()) throw new Error("refused");
}

// The first ones warm the compiler up.
for (let round = -3; round < Number(rounds); round++) {
  for (const one of cases) {
    const began = process.cpuUsage();
    repeat(one);
    const { user, system } = process.cpuUsage(began);
    if (round >= 0) one.times.push(((user + system) * 1000) / one.repeats);
  }
}

const held = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
for (const one of cases) {
  gc();
  const before = held();
  // Few enough that nothing is collected meanwhile.
  repeat({ ...one, repeats: 50 });
  const bytes = (held() - before) / 50;
  console.log([one.name, one.body.length, bytes.toFixed(0), ...one.times.map((took) => took.toFixed(0))].join("\t"));
}
