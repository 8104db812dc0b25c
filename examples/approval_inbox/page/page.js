// The page: the list, the approval that is open, and what keeps both up to date.

import { action, due, standing, status, tick } from "./approval.js";
import { Decision } from "./decision.js";
import * as keys from "./keys.js";
import * as list from "./list.js";
import * as live from "./live.js";
import { Mandate } from "./mandate.js";
import { path, read } from "./server.js";
import { announce, element, put, text } from "./show.js";
import { all, inTab, tabOf, take, view } from "./store.js";
import { at, now, until } from "./time.js";

const detail = document.querySelector("#detail");
const connection = document.querySelector("#connection"),
  trouble = document.querySelector("#trouble");

/** How long to wait before asking again what became of an approval whose time is up, in milliseconds: twice as long
 * each time. */
const FIRST_PAUSE = 2_000,
  LONGEST_PAUSE = 60_000;

/** What is shown of the approval that is open. */
let open = null;
/** Whether the list has been read. */
let loaded = false;

const draw = () => list.draw(loaded);

// The approval that is open

/** Reads an approval anew; `outlived` is set if it was pending although its time was up when it was asked for. */
async function readApproval(id) {
  const asked = now();
  const approval = await read(path("approvals", id));
  const outlived = approval.status === "pending" && Date.parse(approval.expiresAt) <= asked;
  return { ...approval, outlived };
}

async function show(id, moveFocus) {
  open?.mandate?.close();
  open = null;
  view.open = id;
  document.body.toggleAttribute("data-open", id !== null);
  draw();
  if (id === null) {
    detail.replaceChildren(element("p", { className: "empty" }, "Choose an approval to review."));
    return;
  }
  const opening = (open = { heading: element("h2", { tabIndex: -1 }, "Reading…") });
  detail.replaceChildren(element("article", {}, back(), opening.heading));
  if (moveFocus) opening.heading.focus();
  try {
    const approval = await readApproval(id);
    if (open === opening) fill(approval, moveFocus);
  } catch (error) {
    if (open === opening) {
      opening.heading.replaceChildren(error.status === 404 ? "There is no such approval." : "It can’t be shown.");
      opening.heading.after(element("p", { className: "failure" }, text(error.message)));
      opening.unread = error.status !== 404;
    }
    failed(error);
  }
}

function fill(approval, moveFocus) {
  // Whoever waits at the heading that goes away is taken along to the one that comes.
  const focused = moveFocus || open.heading === document.activeElement;
  Object.assign(open, {
    approval,
    heading: element("h2", { tabIndex: -1, id: "question" }, text(approval.question)),
    state: element("p", { className: "state" }),
    decision: new Decision(approval, decided),
    mandate: new Mandate(approval),
  });
  const parts = [back(), open.state, open.heading, action(approval), open.decision.element, open.mandate.element];
  detail.replaceChildren(element("article", { "aria-labelledby": "question" }, ...parts));
  detail.scrollTop = 0;
  if (focused) open.heading.focus();
  take(approval);
  // Wherever it is, the list shows it.
  if (view.mandate !== approval.mandate) view.mandate = "";
  view.tab = tabOf(approval);
  drawState();
  draw();
}

function drawState() {
  const state = standing(open.approval);
  if (open.state.dataset.standing === state) return;
  open.state.dataset.standing = state;
  const { expiresAt } = open.approval;
  const left = state === "pending" ? [" ", due(open.approval), expiresAt ? `, ${at(expiresAt)}` : ""] : [];
  open.state.replaceChildren(status(state), ...left);
}

/** Takes in the approval that is open as it is now. */
function update(approval) {
  take(approval);
  open.approval = approval;
  open.decision.update(approval);
  open.mandate.update(approval);
  drawState();
  draw();
}

/** Takes in what came of a decision. Whoever made it may have gone on to another approval by then. */
function decided(approval) {
  take(approval);
  draw();
  if (open?.approval?.id !== approval.id) return;
  update(approval);
  const [next] = inTab("pending");
  if (standing(approval) === "pending" || !next) return;
  const link = element("a", { href: list.linkTo(next) }, text(next.objective ?? next.question));
  open.decision.element.append(element("p", {}, "Next: ", link));
}

async function refreshOpen() {
  const refreshing = open;
  if (refreshing?.unread) return show(view.open, document.activeElement === refreshing.heading);
  if (!refreshing?.decision) return;
  try {
    const approval = await readApproval(refreshing.approval.id);
    if (open === refreshing) update(approval);
  } catch (error) {
    failed(error);
  }
}

const back = () =>
  element("button", { type: "button", className: "quiet back", onclick: toList }, "← All approvals");
const toList = () => (location.hash = "");

function route(event) {
  let id = null;
  try {
    id = decodeURIComponent(location.hash.slice(1)) || null;
  } catch {
    // No id is written like that.
  }
  const left = view.open;
  show(id, Boolean(event) && id !== null);
  if (id === null && left !== null) list.focus(left);
}

/** Opens the next approval of the list, or the one before, and stays in the list. */
function move(by) {
  const rows = inTab(view.tab);
  if (!rows.length) return;
  const from = rows.findIndex((row) => row.id === view.open);
  const next = rows[from < 0 ? 0 : Math.min(Math.max(from + by, 0), rows.length - 1)];
  if (next.id !== view.open) {
    history.replaceState(null, "", list.linkTo(next));
    show(next.id, false);
  }
  // In a narrow window the list is not there to be seen now.
  if (!list.focus(next.id)) open.heading.focus();
}

// Up to date

let arrivals = [];

function arrived(row) {
  const before = take(row);
  if (loaded && !before && row.status === "pending" && arrivals.push(row) === 1) setTimeout(announceArrivals, 300);
  if (before && before.status !== row.status && row.id === view.open) refreshOpen();
}

function announceArrivals() {
  announce(arrivals.length === 1 ? `New approval: ${arrivals[0].question}` : `${arrivals.length} new approvals`);
  arrivals = [];
}

async function refresh() {
  refreshOpen();
  try {
    const { approvals, live } = await read("/api/approvals");
    approvals.forEach(arrived);
    loaded = true;
    trouble.hidden = true;
    connected(live);
    draw();
  } catch (error) {
    connected(false);
    failed(error);
  }
}

function connected(yes) {
  connection.dataset.state = yes ? "live" : "lost";
  put(connection, yes ? "Live" : "Not live, trying again");
}

function failed(error) {
  if (error.status !== 401) return;
  trouble.hidden = false;
  trouble.textContent = error.message;
}

/** Moves every countdown on, and asks what became of the approval that is open once its time is up. */
function second() {
  document.querySelectorAll("time.due").forEach(tick);
  const lapsed = all().filter((row) => row.status === "pending" && !row.lapsed && until(row.expiresAt) <= 0);
  for (const row of lapsed) row.lapsed = true;
  if (open?.decision && lapsed.some((row) => row.id === view.open)) update(open.approval);
  if (lapsed.length) draw();
  if (open?.decision && open.approval.status === "pending" && until(open.approval.expiresAt) <= 0) askAgain(open);
}

/** Asks what became of an approval whose time is up, less and less often. */
function askAgain(asked) {
  if (Date.now() < (asked.askAt ?? 0)) return;
  asked.pause = Math.min(asked.pause ? 2 * asked.pause : FIRST_PAUSE, LONGEST_PAUSE);
  asked.askAt = Date.now() + asked.pause;
  refreshOpen();
}

list.listen(draw);
keys.listen({
  j: () => move(1),
  k: () => move(-1),
  a: () => open?.decision?.begin("approve"),
  d: () => open?.decision?.begin("reject"),
  enter: () => open?.heading.focus(),
  escape: (typing) => {
    if (!open?.decision?.back() && open && !typing) toList();
  },
});
live.listen({
  opened: refresh,
  behind: refresh,
  lost: () => {
    connected(false);
    refresh();
  },
  connection: (live) => (live ? refresh() : connected(false)),
  mandate: (id) => open?.mandate?.changed(id),
  approval: (row) => {
    arrived(row);
    draw();
  },
});
addEventListener("hashchange", route);
addEventListener("online", refresh);
setInterval(second, 1000);
route();
