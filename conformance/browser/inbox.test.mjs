// A person decides: on a page, on what a mandate of a local server asks.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventually, Inbox, launch, Service } from "./stage.mjs";

let service, inbox, browser, page;

before(async () => {
  service = await Service.start();
  browser = await launch();
  inbox = await Inbox.start(service);
});

after(async () => {
  await browser?.close();
  await inbox?.stop();
  await service?.stop();
});

afterEach(async () => {
  const problems = page?.problems ?? [];
  // What is still on its way to a page that closes is nobody's any more.
  if (page && !page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" });
  await page?.context().close();
  page = null;
  assert.deepEqual(problems, []);
});

/** Soon enough to be waited for, late enough to be got at before on a busy machine; in milliseconds. */
const SOON = 6_000;

const row = (approval) => page.locator(`#list a[href="#${approval.id}"]`);
const decision = () => page.getByRole("region", { name: "Decision" });
const button = (name) => page.getByRole("button", { name });
const opened = async (approval, options) => {
  page = await inbox.open(browser, { path: `/#${approval.id}`, ...options });
  await decision().waitFor();
};

test("an approval arrives without a reload, is approved in two steps, and the mandate finishes", async () => {
  page = await inbox.open(browser);
  await page.evaluate(() => (window.sinceTheStart = true));
  const before = Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0);
  const approval = await service.asks("Email sales@atlas.example and ask for a quote.");
  await row(approval).waitFor();
  assert.equal(await page.title(), `(${before + 1}) Approvals`);
  await page.getByRole("status").getByText(`New approval: ${approval.question}`).waitFor();

  await row(approval).click();
  await button("Approve…").click();
  assert.equal((await service.approval(approval.id)).status, "pending", "the first step decides nothing");
  await decision().getByRole("heading", { name: "Approve exactly this?" }).waitFor();
  await decision().getByLabel("Reason").fill("The price is right.");
  await button("Yes, approve this").click();
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  await page.getByRole("region", { name: "The mandate" }).locator(".summary").getByText("completed").waitFor();

  const { status, reason } = await service.approval(approval.id);
  assert.deepEqual([status, reason], ["approved", "The price is right."]);
  assert.equal((await service.mandate(approval.mandate)).status, "completed");
  await row(approval).waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Decided" }).click();
  await row(approval).getByText("approved").waitFor();
  assert.equal(await page.evaluate(() => window.sinceTheStart), true, "it is the same page");
});

test("a rejection needs a reason, which is recorded", async () => {
  const approval = await service.asks("Email boreas@example.com about prices.");
  await opened(approval);
  await button("Reject…").click();
  const reason = decision().getByLabel("Reason");
  await reason.fill("   ");
  await button("Reject this").click();
  await decision().getByText("This is needed.").waitFor();
  assert.equal(await reason.getAttribute("aria-invalid"), "true");
  assert.equal((await service.approval(approval.id)).status, "pending");
  await reason.fill("Too <b>expensive</b>.");
  await button("Reject this").click();
  await decision().getByRole("heading", { name: "Rejected" }).waitFor();
  await decision().getByText("Too <b>expensive</b>.").waitFor();
  assert.equal((await service.approval(approval.id)).reason, "Too <b>expensive</b>.");
  const refused = await page.evaluate(
    (id) =>
      fetch(`/api/approvals/${id}/reject`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      }).then((answer) => answer.status),
    approval.id,
  );
  assert.equal(refused, 400, "the program insists on it too");
  page.problems = [];
});

test("what is decided elsewhere shows at once, also over an open form", async () => {
  const approval = await service.asks("Email ceres@example.com about wheat.");
  await opened(approval);
  await button("Approve…").click();
  await service.decide(approval.id, "reject", "We have enough.");
  await decision().getByRole("heading", { name: "Rejected" }).waitFor();
  await decision().getByText("We have enough.").waitFor();
  await page.getByRole("status").getByText(`Rejected: ${approval.question}`).waitFor();
  assert.equal(await button("Yes, approve this").count(), 0);
});

/** Somebody else decides while a decision is on its way from the page. */
const overtaken = (approval, decision, reason) =>
  page.route(/\/(approve|reject)$/, async (route) => {
    await service.decide(approval.id, decision, reason);
    await route.continue();
  });

test("the first decision wins: a conflict shows what stands, and since when", async () => {
  const approval = await service.asks("Email diana@example.com about bows.");
  await opened(approval);
  await overtaken(approval, "reject", "Not this year.");
  await button("Approve…").click();
  await button("Yes, approve this").click();
  await decision().getByRole("alert").getByText("Your decision was not recorded").waitFor();
  await decision().getByRole("heading", { name: "Rejected" }).waitFor();
  await decision().getByText("Not this year.").waitFor();
  const { resolvedAt } = await service.approval(approval.id);
  assert.equal(await decision().locator("time").getAttribute("datetime"), resolvedAt);
  assert.equal(
    await decision()
      .locator("h3")
      .evaluate((heading) => heading === document.activeElement),
    true,
  );
  page.problems = page.problems.filter((problem) => !problem.includes("409"));
});

test("the same decision again is a success", async () => {
  const approval = await service.asks("Email epona@example.com about horses.");
  await opened(approval);
  await overtaken(approval, "approve", "Fine.");
  await button("Approve…").click();
  await button("Yes, approve this").click();
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  await decision().getByText("that decision stands").waitFor();
  assert.equal(await decision().getByRole("alert").count(), 0);
  assert.equal((await service.approval(approval.id)).reason, "Fine.");
});

test("two clicks on one button are one decision", async () => {
  const approval = await service.asks("Email faunus@example.com about woods.");
  await opened(approval);
  let sent = 0;
  page.on("request", (request) => (sent += request.method() === "POST"));
  await button("Approve…").click();
  await button("Yes, approve this").dblclick();
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  assert.equal(sent, 1);
});

test("an answer that comes late stays with the approval that was decided", async () => {
  const [decidedOn, next] = [
    await service.asks("Email fides@example.com about trust.", { expiresIn: 40_000 }),
    await service.asks("Email furrina@example.com about springs.", { expiresIn: 45_000 }),
  ];
  await opened(decidedOn);
  await row(next).waitFor();
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  await page.route(/\/approve$/, async (route) => {
    await held;
    await route.continue();
  });
  await button("Approve…").click();
  await button("Yes, approve this").click();
  await page.keyboard.press("j");
  await page.getByRole("heading", { level: 2, name: next.question }).waitFor();
  await button("Reject…").click();
  await decision().getByLabel("Reason").fill("Not yet sent.");
  const arrived = page.waitForResponse(/\/approve$/);
  answer();
  await arrived;
  await row(decidedOn).waitFor({ state: "detached" });
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  assert.equal(await page.locator("#question").textContent(), next.question);
  assert.match(await page.locator(".state").textContent(), /^pending/);
  assert.equal(await decision().getByText("Next:").count(), 0);
  assert.equal(await decision().getByLabel("Reason").inputValue(), "Not yet sent.");
  assert.equal(await page.evaluate(() => document.activeElement.id), "reason");
  assert.deepEqual(
    [(await service.approval(decidedOn.id)).status, (await service.approval(next.id)).status],
    ["approved", "pending"],
  );
  const posted = page.waitForRequest(/\/reject$/);
  await button("Reject this").click();
  assert.ok((await posted).url().includes(next.id));
  await decision().getByRole("heading", { name: "Rejected" }).waitFor();
});

test("a key that is held down approves nothing", async () => {
  const approval = await service.asks("Email fons@example.com about wells.");
  await opened(approval);
  let sent = 0;
  page.on("request", (request) => (sent += request.method() === "POST"));
  await button("Approve…").focus();
  for (let times = 0; times < 3; times++) await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  await decision().getByRole("heading", { name: "Approve exactly this?" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Yes, approve this");
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  assert.equal(sent, 0);
  assert.equal((await service.approval(approval.id)).status, "pending");
  await page.keyboard.press("Enter");
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
});

test("an approval that could not be read is read again, and one that does not exist is not", async () => {
  const approval = await service.asks("Email fulgora@example.com about lightning.");
  page = await inbox.open(browser);
  await row(approval).waitFor();
  await page.route(/\/api\/approvals\/./, (route) => route.abort(), { times: 1 });
  await row(approval).click();
  await page.getByRole("heading", { name: "It can’t be shown." }).waitFor();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await button("Approve…").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "question", "the focus stays");

  await page.goto(`${inbox.url}/#apr_none`);
  await page.getByText("There is no such approval.").waitFor();
  let asked = 0;
  page.on("request", (request) => (asked += request.url().endsWith("/apr_none")));
  const list = page.waitForResponse(/\/api\/approvals$/);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await list;
  assert.equal(asked, 0);
  page.problems = [];
});

test("by a clock that is ahead the time is up, and the service has the last word", async () => {
  const approval = await service.asks("Email janus@example.com about doors.", { expiresIn: 1_800_000 });
  page = await inbox.open(browser);
  let asked = 0;
  await page.route(/\/api\/(approvals|mandates)/, async (route) => {
    const answer = await route.fetch();
    asked += route.request().url().endsWith(approval.id);
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    await route.fulfill({ response: answer, headers: { ...answer.headers(), date } });
  });
  await row(approval).click();
  await page.locator(".state").getByText("time is up by this machine’s clock").waitFor();
  await button("Approve…").click();
  const before = asked;
  await page.waitForTimeout(3_500);
  assert.ok(asked - before <= 2, `asked ${asked - before} times in a few seconds`);
  await button("Yes, approve this").click();
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
});

/** Has the page read other arguments of an approval than it has. */
const withArguments = (approval, json) =>
  page.route(`**/api/approvals/${approval.id}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), arguments: json } });
  });

test("JSON is read from left to right, whatever the direction of its values", async () => {
  const approval = await service.asks("Email kadmos@example.com about letters.");
  const json = '{"שלום":"עולם","to":"a@example.com","amount":[12.50,true]}';
  page = await inbox.open(browser);
  await withArguments(approval, json);
  await row(approval).click();
  await page.getByText("Arguments as JSON").click();
  const pre = page.locator("details pre");
  assert.equal((await pre.textContent()).replaceAll(/\s/g, ""), json);
  assert.equal(await pre.evaluate((shown) => getComputedStyle(shown).direction), "ltr");
  const [name, value] = ['"שלום"', '"עולם"'].map((text) => pre.locator("bdi").getByText(text, { exact: true }));
  const [left, right] = [await name.boundingBox(), await value.boundingBox()];
  assert.ok(left.x + left.width <= right.x, "the name comes before its value");
});

for (const [json, says] of [
  ['{"amount_minor":1200}', "$12.00"],
  ['{"amount_minor":1,"amount_minor":1200}', null],
  ['{"amount_minor":1200,"amount_minor":{"value":1}}', null],
  ['{"amount_minor":"1200"}', null],
  ['{"amount_minor":9007199254740993}', null],
]) {
  test(`an action that says ${json} says ${says ?? "no amount"}`, async () => {
    const approval = await service.asks("Email kore@example.com about seeds.", {
      authority: { spend: { maximum: { amount: 5_000, currency: "usd" } } },
    });
    page = await inbox.open(browser);
    await withArguments(approval, json);
    await row(approval).click();
    const spending = page.locator(".limits dd").first();
    await spending.getByText("at least $0.00 of $50.00").waitFor();
    const hint = /This action says ([^,]*),/.exec(await spending.textContent());
    assert.equal(hint?.[1] ?? null, says);
  });
}

test("an approval expires on the screen, and can no longer be decided", async () => {
  page = await inbox.open(browser);
  const approval = await service.asks("Email flora@example.com about flowers.", { expiresIn: SOON });
  await row(approval).click();
  await page
    .locator(".state")
    .getByText(/expires in 0:0\d/)
    .waitFor();
  await button("Approve…").click();
  await decision().getByRole("heading", { name: "Expired" }).waitFor();
  await decision().getByText("can’t be decided any more").waitFor();
  await page.locator(".state").getByText("expired").waitFor();
  assert.equal(await page.locator("button.approve, button.reject").count(), 0);
  await page.keyboard.press("a");
  assert.equal(await decision().locator("form").count(), 0);
  await row(approval).waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Expired" }).click();
  await row(approval).waitFor();
  assert.equal((await service.approval(approval.id)).status, "expired");
});

test("a decision that comes too late is told so", async () => {
  page = await inbox.open(browser);
  const approval = await service.asks("Email fortuna@example.com about luck.", { expiresIn: SOON });
  await row(approval).click();
  await page.route(/\/approve$/, async (route) => {
    await eventually(async () => (await service.approval(approval.id)).status === "expired");
    await route.continue();
  });
  await button("Approve…").click();
  await button("Yes, approve this").click();
  await decision().getByRole("alert").getByText("Your decision was not recorded").waitFor();
  await decision().getByRole("heading", { name: "Expired" }).waitFor();
  page.problems = page.problems.filter((problem) => !problem.includes("409"));
});

test("everything from outside is shown as text, and what can't be seen in it is marked", async () => {
  const hostile =
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> שלום \u202Egnp.exe p\u0430ypal μm Москва ' +
    "w".repeat(3000);
  const approval = await service.asks(`Email eve@example.com ${hostile}`);
  await opened(approval);
  const body = page.getByRole("table", { name: "Arguments" }).getByRole("row", { name: "body" });
  await body.getByText('<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">').waitFor();
  assert.deepEqual(await body.locator(".mark").allTextContents(), ["U+202E", "U+0430", "U+03BC"]);
  await body.getByText("w".repeat(3000)).waitFor();
  await page.getByText("Arguments as JSON").click();
  const json = (await page.locator("details pre").textContent())
    .replace("U+202E", "\u202E")
    .replaceAll(/U\+0430|U\+03BC/g, "");
  assert.deepEqual(JSON.parse(json), approval.action.arguments);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("#detail script, #detail img, #list img").count(), 0);
  const widths = await page.evaluate(() =>
    [...document.querySelectorAll("html, #detail, #list")].map((part) => part.scrollWidth - part.clientWidth),
  );
  assert.deepEqual(widths, [0, 0, 0], "nothing sticks out");
});

test("the action, the mandate, its limits and what is used of them are all there", async () => {
  const approval = await service.asks("Email geb@example.com about soil.", {
    authority: {
      maximumActions: 5,
      spend: {
        maximum: { amount: 799_999, currency: "usd" },
        approvalThreshold: { amount: 100_000, currency: "usd" },
      },
      prohibitedActions: ["phone.call"],
      capabilityLimits: [{ capability: "email.send", maximumActions: 2, rate: { maximum: 1, interval: "1h" } }],
    },
  });
  await opened(approval);
  await page.getByRole("heading", { level: 2, name: approval.question }).waitFor();
  await page.locator(".capability").getByText("email.send").waitFor();
  await page.locator(".consequence").getByText(approval.action.consequence).waitFor();
  const mandate = page.getByRole("region", { name: "The mandate" });
  await mandate.getByText("Email geb@example.com about soil.", { exact: true }).waitFor();
  const limit = (name) => mandate.locator("dt", { hasText: name }).locator("xpath=following-sibling::dd[1]");
  assert.match(await limit("Spending").textContent(), /at least \$0\.00 of \$7,999\.99.*Asks above \$1,000\.00/);
  assert.match(await limit("Actions with an effect").textContent(), /^0 of 5/);
  assert.match(await limit("email.send").first().textContent(), /^0 of 2/);
  assert.match(await limit("Never").textContent(), /phone\.call/);
  await mandate.getByText("mandate.approval_requested").waitFor();
  await button("Approve…").click();
  await button("Yes, approve this").click();
  await mandate.getByText("capability.execution_completed").first().waitFor();
  await mandate.locator(".summary").getByText("completed").waitFor();
  assert.match(await limit("Actions with an effect").textContent(), /^1 of 5/);
  assert.match(await limit("email.send").nth(1).textContent(), /^1 of 1 in 1h/);
});

test("a link leads to one approval, whatever became of it, and only to one that exists", async () => {
  const approval = await service.asks("Email hathor@example.com about music.");
  await service.decide(approval.id, "approve", "Yes.");
  await opened(approval);
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  assert.equal(await page.getByRole("tab", { name: "Decided" }).getAttribute("aria-selected"), "true");
  assert.equal(await row(approval).getAttribute("aria-current"), "true");
  await page.goto(`${inbox.url}/#apr_none`);
  await page.getByText("There is no such approval.").waitFor();
  page.problems = page.problems.filter((problem) => !problem.includes("404"));
});

test("the list is of one mandate, if wanted, and the soonest to expire comes first", async () => {
  const later = await service.asks("Email isis@example.com about the river.");
  const sooner = await service.asks("Email juno@example.com about peacocks.", { expiresIn: 600_000 });
  page = await inbox.open(browser);
  const ids = () => page.locator("#list a").evaluateAll((links) => links.map((link) => link.hash.slice(1)));
  await row(later).waitFor();
  const shown = await ids();
  assert.ok(shown.indexOf(sooner.id) < shown.indexOf(later.id), shown.join());
  await page.getByLabel("Mandate").selectOption({ label: "Email isis@example.com about the river." });
  assert.deepEqual(await ids(), [later.id]);
});

test("it can be used with keys alone", async () => {
  const [first, second] = [
    await service.asks("Email kali@example.com.", { expiresIn: 60_000 }),
    await service.asks("Email leto@example.com.", { expiresIn: 90_000 }),
  ];
  page = await inbox.open(browser);
  await row(second).waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("j");
  assert.equal(new URL(page.url()).hash, `#${first.id}`);
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  assert.equal(new URL(page.url()).hash, `#${second.id}`);
  await decision().waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await focused(), second.question);
  await page.keyboard.press("d");
  await page.keyboard.type("jk is typed, and nothing moves");
  await page.keyboard.press("Escape");
  assert.match(await focused(), /^Reject…/);
  await page.keyboard.press("a");
  assert.equal(await focused(), "Yes, approve this");
  await page.keyboard.press("Enter");
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.getByLabel("Use single keys").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  assert.equal(new URL(page.url()).hash, `#${second.id}`, "single keys are off");
});

test("it fits into 320 px, and there is a way back", async () => {
  const approval = await service.asks(`Email mut@example.com about ${"cats".repeat(60)}.`);
  await opened(approval, { viewport: { width: 320, height: 640 } });
  const fits = async (what) =>
    assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth), 320, what);
  await page.getByText("Latest events").waitFor();
  await fits("the approval");
  await button("Approve…").click();
  await fits("the confirmation");
  await button("Back").click();
  await button("Keys").click();
  await fits("the keys");
  await page.keyboard.press("Escape");
  await button("All approvals").click();
  await row(approval).waitFor();
  assert.equal(await row(approval).evaluate((link) => link === document.activeElement), true);
  await fits("the list");
});

test("whoever can't see it hears the same", async () => {
  const approval = await service.asks("Email nut@example.com about the sky.");
  await opened(approval);
  await page.getByText("Latest events").waitFor();
  const heard = await page.locator("body").ariaSnapshot();
  for (const part of [
    '- heading "Approvals" [level=1]',
    "- tablist",
    /- tab "Pending \d+" \[selected\]/,
    '- combobox "Mandate"',
    `- heading "${approval.question}" [level=2]`,
    '- region "The exact action"',
    '- row "to nut@example.com"',
    '- region "Decision"',
    '- button "Approve…"',
    '- region "The mandate"',
    "Actions with an effect",
    "- meter",
  ]) {
    assert.ok(part.test?.(heard) ?? heard.includes(part), `${part} in\n${heard}`);
  }
});

for (const colorScheme of ["light", "dark"]) {
  test(`every text can be read, in ${colorScheme}`, async () => {
    const approval = await service.asks("Email odin@example.com about \u202Eravens.", { expiresIn: 500_000 });
    await opened(approval, { colorScheme });
    await page.getByText("Latest events").waitFor();
    const poor = async () => assert.deepEqual(await page.evaluate(unreadable), []);
    await poor();
    await button("Reject…").click();
    await button("Reject this").click();
    await poor();
    await page.keyboard.press("Escape");
    await button("Approve…").click();
    await poor();
    await overtaken(approval, "reject", "No.");
    await button("Yes, approve this").click();
    await decision().getByRole("alert").waitFor();
    await poor();
    page.problems = page.problems.filter((problem) => !problem.includes("409"));
  });
}

/** In the page: the texts whose contrast with what is behind them is below 4.5. */
function unreadable() {
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((channel) =>
      (channel /= 255) <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if ((channels(color)[3] ?? 1) === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest(".unseen, :disabled")) continue;
    const [one, other] = [getComputedStyle(element).color, behind(element)].map(luminance).sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (!(contrast >= 4.5))
      poor.push(`${contrast.toFixed(2)} ${element.className || element.tagName}: ${node.data.slice(0, 40)}`);
  }
  return poor;
}

test("when the program stops, the page says so, and signing in anew brings everything up to date", async () => {
  const own = await Inbox.start(service);
  page = await own.open(browser);
  await own.stop();
  await page.getByText("Not live, trying again").waitFor();
  const missed = await service.asks("Email pan@example.com about pipes.");
  const again = await Inbox.start(service, "--addr", new URL(own.url).host);
  try {
    await page.getByRole("alert").getByText("You are not signed in").waitFor();
    await page.goto(again.link);
    await row(missed).waitFor();
  } finally {
    page.problems = [];
    await page.close();
    await again.stop();
  }
});
