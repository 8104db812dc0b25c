// What the tests stand on: the approval screen's program, a local server that plays the service, and a browser.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chromium } from "playwright-core";

const PROGRAMS = `${process.env.CARGO_TARGET_DIR ?? "../../target"}/debug/examples`;
const SWITCHES =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: SWITCHES.split(" ") });

/** Looks until there is something: what happens outside of the browser has nothing to wait on. */
export async function eventually(look, what = look.toString()) {
  for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((done) => setTimeout(done, 25))) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`never came: ${what}`);
}

/** A program of this crate, and all that it ever printed. */
class Program {
  printed = "";

  static async start(name, options, environment, ready) {
    const program = new Program();
    const { SHADWAY_API_KEY, SHADWAY_BASE_URL, ...others } = process.env;
    program.child = spawn(`${PROGRAMS}/${name}`, options, { env: { ...others, ...environment } });
    for (const stream of [program.child.stdout, program.child.stderr])
      stream.on("data", (text) => (program.printed += text));
    const failed = once(program.child, "exit").then(([status]) => {
      throw new Error(`${name} ended with ${status}: ${program.printed}`);
    });
    failed.catch(() => {}); // Later on its end is wanted.
    try {
      await Promise.race([
        eventually(() => ready.test(program.printed), `${name} is ready: ${program.printed}`),
        failed,
      ]);
    } catch (error) {
      program.child.kill();
      throw error;
    }
    return program;
  }

  /** The latest that was printed of a kind. */
  latest(pattern) {
    return [...this.printed.matchAll(pattern)].at(-1)?.[1];
  }

  async stop() {
    this.child.kill();
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "exit");
  }
}

/** The service, as the tests use it beside the page: from outside, with its key. */
export class Service {
  static async start() {
    const service = new Service();
    service.program = await Program.start("local_server", [], {}, /API_KEY=\S+/);
    service.url = service.program.latest(/BASE_URL=(\S+)/g);
    service.key = service.program.latest(/API_KEY=(\S+)/g);
    service.agent = (
      await service.call("POST", "/v1/agents", {
        name: "Assistant",
        model: "local/simulated",
        capabilities: ["email.send", "email.get_delivery"],
      })
    ).id;
    return service;
  }

  async call(method, path, body) {
    const headers = {
      authorization: `Bearer ${this.key}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    };
    const answer = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    return { ...(await answer.json()), httpStatus: answer.status };
  }

  /** An email that a person has to allow; `expiresIn` is in milliseconds. */
  async asks(objective, { expiresIn, authority = {} } = {}) {
    const mandate = await this.call("POST", "/v1/mandates", {
      agent: this.agent,
      objective,
      authority: { approval: { requiredFor: ["email.send"] }, maximumActions: 5, ...authority },
      ...(expiresIn && { expiresAt: new Date(Date.now() + expiresIn).toISOString() }),
    });
    return eventually(
      async () => (await this.call("GET", `/v1/approvals?mandate=${mandate.id}`)).data[0],
      "an approval",
    );
  }

  approval(id) {
    return this.call("GET", `/v1/approvals/${id}`);
  }

  decide(id, decision, reason) {
    return this.call("POST", `/v1/approvals/${id}/${decision}`, { reason });
  }

  mandate(id) {
    return this.call("GET", `/v1/mandates/${id}`);
  }

  stop() {
    return this.program.stop();
  }
}

/** The approval screen's program. */
export class Inbox {
  /** On a service, or without one on its own local server. */
  static async start(service, ...options) {
    const inbox = new Inbox();
    const environment = service ? { SHADWAY_API_KEY: service.key, SHADWAY_BASE_URL: service.url } : {};
    inbox.program = await Program.start("approval_inbox", options, environment, /sign-in\?token=\S+\n/);
    inbox.url = new URL(inbox.link).origin;
    return inbox;
  }

  /** The link that lets the next browser in. */
  get link() {
    return this.program.latest(/(http:\S+sign-in\S+)/g);
  }

  /** A page in a browser of its own, which has signed in. */
  async open(browser, { path = "/", ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
    await page.goto(this.link);
    await page.getByText("Live", { exact: true }).waitFor();
    if (path !== "/") await page.goto(this.url + path);
    return page;
  }

  stop() {
    return this.program.stop();
  }
}
