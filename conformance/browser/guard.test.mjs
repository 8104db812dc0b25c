// Nobody gets in who was not let in, and no other page decides in somebody's name.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Inbox, launch, Service } from "./stage.mjs";

let service, inbox, browser, approval;

before(async () => {
  service = await Service.start();
  browser = await launch();
  inbox = await Inbox.start(service);
  approval = await service.asks("Email sales@atlas.example and ask for a quote.");
});

after(async () => {
  await browser?.close();
  await inbox?.stop();
  await service?.stop();
});

const pending = async () => assert.equal((await service.approval(approval.id)).status, "pending");
const approve = (headers) =>
  fetch(`${inbox.url}/api/approvals/${approval.id}/approve`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });

test("nothing is told and nothing done without the cookie", async () => {
  const { id, mandate } = approval;
  for (const path of ["approvals", `approvals/${id}`, `mandates/${mandate}`, "live"]) {
    const answer = await fetch(`${inbox.url}/api/${path}`);
    assert.equal(answer.status, 401, path);
    assert.ok(!(await answer.text()).includes(mandate));
  }
  assert.equal((await approve({ origin: inbox.url })).status, 401);
  assert.equal(
    (await approve({ origin: inbox.url, cookie: `approval_inbox_${new URL(inbox.url).port}=0` })).status,
    401,
  );
  await pending();
});

test("a link lets one browser in, once, for a cookie that no script and no other site gets", async () => {
  const { link } = inbox;
  const first = await fetch(link, { redirect: "manual" });
  assert.deepEqual([first.status, first.headers.get("location")], [303, "/"]);
  const cookie = first.headers.get("set-cookie");
  for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.ok(cookie.includes(part), cookie);
  assert.ok(!link.includes(cookie.split(/[=;]/)[1]), "the token is not the session");
  const second = await fetch(link, { redirect: "manual" });
  assert.deepEqual([second.status, second.headers.get("set-cookie")], [401, null]);
  assert.notEqual(inbox.link, link, "the next one is another");
});

test("a change has to come from the page's own origin", async () => {
  const answer = await fetch(inbox.link, { redirect: "manual" });
  const cookie = answer.headers.get("set-cookie").split(";")[0];
  const { port } = new URL(inbox.url);
  for (const headers of [
    { origin: `http://localhost:${port}` },
    { origin: "http://127.0.0.1:1" },
    { origin: "https://evil.example" },
    { origin: "null" },
    {},
    { origin: inbox.url, "sec-fetch-site": "cross-site" },
    { origin: inbox.url, "sec-fetch-site": "same-site" },
  ]) {
    assert.equal((await approve({ cookie, ...headers })).status, 403, JSON.stringify(headers));
  }
  await pending();
  const read = await fetch(`${inbox.url}/api/approvals`, { headers: { cookie, "sec-fetch-site": "same-site" } });
  assert.equal(read.status, 403);
  const other = await service.asks("Email apollo@example.com.");
  const own = await fetch(`${inbox.url}/api/approvals/${other.id}/approve`, {
    method: "POST",
    headers: { cookie, origin: inbox.url, "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(own.status, 200, "its own is let through");
});

test("another page of the same machine, for which the browser sends the cookie, can neither decide nor frame it", async () => {
  const page = await inbox.open(browser);
  const cookies = [];
  page
    .context()
    .on(
      "request",
      (request) => request.method() === "POST" && cookies.push(request.allHeaders().then(({ cookie }) => cookie)),
    );
  const target = `${inbox.url}/api/approvals/${approval.id}/approve`;
  const evil = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(
      `<form method=post enctype=text/plain action="${target}"><input name='{"a":"' value='"}'></form><iframe src="${inbox.url}/"></iframe>`,
    );
  });
  await once(evil.listen(0, "127.0.0.1"), "listening");
  try {
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    await page.evaluate(
      (url) =>
        fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }).catch(
          () => "not even the answer is there to see",
        ),
      target,
    );
    const read = await page.evaluate(
      (url) =>
        fetch(url, { credentials: "include" }).then(
          () => "read",
          () => "refused",
        ),
      `${inbox.url}/api/approvals`,
    );
    assert.equal(read, "refused");
    assert.equal(await page.frames()[1].locator("#detail").count(), 0, "it is not framed");
    await page.evaluate(() => document.querySelector("form").submit());
    await page.getByText("This did not come from the approval page.").waitFor();
    assert.equal(cookies.length, 2);
    const sent = (await Promise.all(cookies)).filter((cookie) =>
      cookie?.startsWith(`approval_inbox_${new URL(inbox.url).port}=`),
    );
    assert.ok(sent.length > 0, "the cookie came along, and did not help");
    await pending();
  } finally {
    evil.close();
    await page.context().close();
  }
});

test("the key never comes to the browser, and every answer is guarded", async () => {
  const page = await inbox.open(browser);
  const answers = [];
  await page.goto(`${inbox.url}/#${approval.id}`);
  await page.getByText("Latest events").waitFor();
  page.on("response", (response) => answers.push(response));
  await page.reload();
  await page.getByText("Latest events").waitFor();
  assert.ok(answers.length > 10, String(answers.length));
  for (const answer of answers) {
    const headers = await answer.allHeaders();
    const policy = headers["content-security-policy"];
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.ok(!/unsafe|data:|\*/.test(policy) && policy.includes("frame-ancestors 'none'"), policy);
    assert.deepEqual(
      [headers["cache-control"], headers["x-content-type-options"], headers["referrer-policy"]],
      ["no-store", "nosniff", "same-origin"],
    );
    const body = answer.url().endsWith("/live") ? "" : await answer.text();
    assert.ok(!(JSON.stringify(headers) + body).includes(service.key), answer.url());
  }
  assert.ok(!page.url().includes("token"));
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.ok(!inbox.program.printed.includes(service.key));
  await page.context().close();
});
