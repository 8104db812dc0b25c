// Talks to the program behind this page, which talks to the service. The key of the service never comes here.

import { setClock } from "./time.js";

/** An answer that is no success: `status` 0 means that there was none at all. */
export class Refused extends Error {
  constructor(status, body) {
    super(
      body?.message ?? (status ? `The answer was ${status}.` : "The approval screen's program can't be reached."),
    );
    this.status = status;
    this.body = body;
    this.unclear = status === 0 || body?.unclear === true;
  }
}

export const read = (path) => exchange(path);

export const send = (path, body) =>
  exchange(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Approval and mandate ids come from outside. */
export const path = (kind, id, ...more) => ["/api", kind, encodeURIComponent(id), ...more].join("/");

async function exchange(path, options) {
  let answer, body;
  try {
    answer = await fetch(path, options);
    body = await answer.json();
  } catch {
    throw new Refused(answer?.status ?? 0);
  }
  setClock(answer.headers.get("date"));
  if (!answer.ok) throw new Refused(answer.status, body);
  return body;
}
