// Without a key: what the program gives itself to ask about.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Inbox, launch } from "./stage.mjs";

let inbox, browser, page;

before(async () => {
  inbox = await Inbox.start();
  browser = await launch();
  page = await inbox.open(browser);
});

after(async () => {
  await browser?.close();
  await inbox?.stop();
});

const decision = () => page.getByRole("region", { name: "Decision" });
// What is open beside the list may have a link of the same name.
const listed = (name) => page.locator("#list").getByRole("link", { name });
const open = async (objective) => {
  await listed(objective).click();
  await page.getByRole("region", { name: "The mandate" }).getByText(objective, { exact: true }).waitFor();
};

test("an input request is answered on a form, and a secret is masked, sent, and nowhere to be found", async () => {
  const secrets = { account_number: "DE-77-4150", otp: "483921" };
  const bodies = [];
  page.on(
    "response",
    (response) =>
      response.url().includes("/api/") && !response.url().endsWith("/live") && bodies.push(response.text()),
  );
  await open("Download the May invoice from the Atlas portal.");
  await page.getByRole("button", { name: "Answer…" }).click();
  const otp = decision().getByLabel("otp");
  assert.deepEqual([await otp.getAttribute("type"), await otp.getAttribute("autocomplete")], ["password", "off"]);
  assert.equal(await decision().getByLabel("account number").getAttribute("type"), "text");
  await page.getByRole("button", { name: "Send the answer" }).click();
  assert.equal(await decision().getByText("This is needed.").count(), 2);

  await decision().getByLabel("account number").fill(secrets.account_number);
  await otp.fill(secrets.otp);
  const boxes = await decision().locator("input").elementHandles();
  const sending = page.waitForRequest(/\/approve$/);
  await page.getByRole("button", { name: "Send the answer" }).click();
  assert.deepEqual((await sending).postDataJSON().inputs, secrets);
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  await page.locator(".summary").getByText("The invoice is filed.").waitFor();

  for (const box of boxes) assert.equal(await box.evaluate((box) => box.value), "", "gone from the page");
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state]),
  );
  const seen = [await page.content(), kept, inbox.program.printed, ...(await Promise.all(bodies))].join("\n");
  for (const secret of Object.values(secrets)) assert.ok(!seen.includes(secret), secret);
});

test("a secret is gone from the page also when sending it fails, and the reason is still there", async () => {
  await open("Buy 200 units of part #48-221 for less than $8,000 total, including shipping.");
  await page.route(/\/approve$/, (route) => route.abort());
  await page.getByRole("button", { name: "Approve…" }).click();
  await decision().getByLabel("Reason").fill("The price is right.");
  await page.getByRole("button", { name: "Yes, approve this" }).click();
  await decision().getByRole("alert").getByText("Whether it was recorded is not known").waitFor();
  assert.equal(await decision().getByLabel("Reason").inputValue(), "The price is right.");
  await page.unroute(/\/approve$/);
  await page.getByRole("button", { name: "Yes, approve this" }).click();
  await decision().getByRole("heading", { name: "Approved" }).waitFor();
  await page.locator(".summary").getByText("Ordered 200 units for $7,499.00.").waitFor();
  const spending = page.locator(".limits dd").first();
  assert.match(await spending.textContent(), /at least \$7,499\.00 of \$7,999\.99/);
});

test("there is something of every kind to see", async () => {
  await page.getByRole("tab", { name: "Expired" }).click();
  await listed("pallet 8790 at once").waitFor();
  await page.getByRole("tab", { name: "Decided" }).click();
  await listed("stock report").getByText("approved").waitFor();
  await listed("50 cartons").getByText("rejected").waitFor();
  await page.getByRole("tab", { name: "Pending" }).click();
  await open("Clear what has expired out of the cold store.");
  await page.getByText("It can't be undone.").first().waitFor();
  await open("Answer whoever writes to invoices@harbour.example.");
  await page.getByRole("row", { name: "subject" }).getByText("<script>").waitFor();
  await page.getByRole("row", { name: "reference" }).getByText("12345678901234567890").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve…" }).count(), 1, "nobody clicked it");
  await listed("Ask Ceres Foods").waitFor();
});
