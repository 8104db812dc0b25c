// A client that knows nothing but the document: creates an agent and a mandate, approves, and reads the facts.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

type Mandate = components["schemas"]["Mandate"];

const { SHADWAY_BASE_URL, SHADWAY_API_KEY } = process.env;
if (!SHADWAY_BASE_URL || !SHADWAY_API_KEY) throw new Error("Set SHADWAY_BASE_URL and SHADWAY_API_KEY");

const api = createClient<paths>({
  baseUrl: SHADWAY_BASE_URL,
  headers: { Authorization: `Bearer ${SHADWAY_API_KEY}` },
});

/** What a change carries: a key of its own. */
const change = () => ({ header: { "Idempotency-Key": randomUUID() } });

/** The value of an answer, or its error as an exception. */
async function value<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (data === undefined) throw new Error(`${response.status}: ${JSON.stringify(error)}`);
  return data;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${what} did not come about`);
}

const ended = ({ status }: Mandate) => ["completed", "failed", "canceled", "expired"].includes(status);

const agent = await value(
  api.POST("/v1/agents", {
    params: change(),
    body: { name: "Outside", model: "any/model", capabilities: ["email.send", "email.get_delivery"] },
  }),
);

const begin = () =>
  api.POST("/v1/mandates", {
    params: change(),
    body: {
      agent: agent.id,
      objective: "Email sales@atlas.example and ask for a quote.",
      authority: { maximumActions: 5, approval: { requiredFor: ["email.send"] } },
    },
  });

const mandate = await value(begin());
const path = { id: mandate.id };
const approval = await until("an approval", async () => {
  const query = { mandate: mandate.id, status: ["pending" as const] };
  return (await value(api.GET("/v1/approvals", { params: { query } }))).data[0];
});
assert.equal(approval.action.capability, "email.send");
const decided = await value(
  api.POST("/v1/approvals/{id}/approve", {
    params: { path: { id: approval.id }, ...change() },
    body: { reason: "Looks right." },
  }),
);
assert.equal(decided.status, "approved");

const done = await until("the end", async () => {
  const read = await value(api.GET("/v1/mandates/{id}", { params: { path } }));
  return ended(read) ? read : undefined;
});
assert.equal(done.status, "completed", done.currentState.summary);

const facts = await value(api.GET("/v1/mandates/{id}/facts", { params: { path } }));
const sent = facts.data.find(({ key }) => key === "emails_sent");
assert.equal(sent?.status, "verified");
assert.equal(sent.value, 1);

// One that goes on waiting for a person, for whoever looks at this server next.
await value(begin());
console.log(`${done.id} ${done.status}: ${facts.data.map(({ key, value }) => `${key} = ${value}`).join(", ")}`);
