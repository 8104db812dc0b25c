// The list of approvals, kept up to date, and the one that is open.

import { action, due, standing, status, tick } from "./approval.js";
import { Decision } from "./decision.js";
import { Mandate } from "./mandate.js";
import { path, read } from "./server.js";
import { announce, element, put, text } from "./show.js";
import { ago, at, until } from "./time.js";

const $ = (selector) => document.querySelector(selector);
const list = $("#list ul"), empty = $("#list .empty"), detail = $("#detail"), mandates = $("#mandates");
const tabs = [...document.querySelectorAll("[role=tab]")];

const approvals = new Map();
let tab = "pending";
/** The approval that is open: its id, and what is shown of it. */
let open = null;
let loaded = false;

// What there is

const TABS = { pending: "pending", expired: "expired" };
const tabOf = (row) => TABS[standing(row)] ?? "decided";
const inFilter = (row) => !mandates.value || row.mandate === mandates.value;
const visible = () => [...approvals.values()].filter((row) => inFilter(row) && tabOf(row) === tab).sort(tab === "pending" ? soonestFirst : latestFirst);
const time = (row) => Date.parse(row.resolvedAt ?? row.expiresAt ?? row.createdAt ?? 0);
const soonestFirst = (one, other) => order(until(one.expiresAt), until(other.expiresAt)) || order(one.id, other.id);
const latestFirst = (one, other) => order(time(other), time(one)) || order(one.id, other.id);
const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

/** Takes in a row. One that is settled stays so, whatever arrives late. */
function take(row) {
  const before = approvals.get(row.id);
  if (before && before.status !== "pending" && row.status === "pending") return;
  approvals.set(row.id, { ...row, objective: row.objective ?? before?.objective ?? null });
  if (loaded && !before && row.status === "pending") arrived(row);
  if (open?.id === row.id && before && before.status !== row.status) refreshOpen();
}

let arrivals = [];
function arrived(row) {
  if (arrivals.push(row) > 1) return;
  setTimeout(() => {
    announce(arrivals.length === 1 ? `New approval: ${arrivals[0].question}` : `${arrivals.length} new approvals`);
    arrivals = [];
  }, 300);
}

// The list

const items = new Map();

function draw() {
  const rows = visible();
  const wanted = rows.map(item);
  if (wanted.length !== list.childElementCount || wanted.some((made, index) => list.children[index] !== made)) {
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    list.replaceChildren(...wanted);
    focused?.focus({ preventScroll: true });
  }
  for (const id of items.keys()) if (!approvals.has(id)) items.delete(id);
  empty.hidden = rows.length > 0;
  empty.textContent = !loaded ? "Reading…" : { pending: "Nothing waits for a decision.", decided: "Nothing has been decided yet.", expired: "Nothing has expired." }[tab];

  const all = [...approvals.values()];
  const pending = all.filter((row) => tabOf(row) === "pending").length;
  document.title = pending ? `(${pending}) Approvals` : "Approvals";
  for (const button of tabs) {
    const name = button.dataset.tab;
    const count = all.filter((row) => inFilter(row) && tabOf(row) === name).length;
    put(button, `${name[0].toUpperCase()}${name.slice(1)} ${count}`);
    button.setAttribute("aria-selected", name === tab);
    button.tabIndex = name === tab ? 0 : -1;
  }
  $("#list").setAttribute("aria-labelledby", `tab-${tab}`);
  drawMandates(all);
}

function item(row) {
  let made = items.get(row.id);
  if (!made) {
    const link = element("a", { href: linkTo(row) }, ...["question", "objective", "what", "when"].map((className) => element("span", { className })));
    link.addEventListener("click", () => open?.id === row.id && open.heading.focus());
    made = element("li", {}, link);
    items.set(row.id, made);
  }
  const [question, objective, what, when] = made.firstElementChild.children;
  put(question, row.question);
  put(objective, row.objective ?? "");
  put(what, row.capability);
  const now = standing(row);
  if (when.dataset.standing !== now || when.dataset.resolved !== (row.resolvedAt ?? "")) {
    when.dataset.standing = now;
    when.dataset.resolved = row.resolvedAt ?? "";
    when.replaceChildren(now === "pending" ? due(row) : status(now));
  }
  if (now !== "pending" && row.resolvedAt) when.title = ago(row.resolvedAt);
  if (open?.id === row.id) made.firstElementChild.setAttribute("aria-current", "true");
  else made.firstElementChild.removeAttribute("aria-current");
  return made;
}

function drawMandates(all) {
  const found = new Map(all.map((row) => [row.mandate, row.objective]));
  const options = [...found].map(([id, objective]) => [id, objective ? shortened(objective) : id]);
  options.sort(([, one], [, other]) => one.localeCompare(other));
  const key = JSON.stringify(options);
  if (mandates.dataset.options === key) return;
  mandates.dataset.options = key;
  const chosen = mandates.value;
  mandates.replaceChildren(new Option("All mandates", ""), ...options.map(([id, label]) => new Option(label, id)));
  mandates.value = found.has(chosen) ? chosen : "";
}

const linkTo = (row) => `#${encodeURIComponent(row.id)}`;
const shortened = (line) => (line.length > 60 ? `${line.slice(0, 59)}…` : line);

// The one that is open

async function show(id, { focus }) {
  close();
  document.body.toggleAttribute("data-open", id !== null);
  if (id === null) {
    detail.replaceChildren(element("p", { className: "empty" }, "Choose an approval to review."));
    return draw();
  }
  const opening = (open = { id, heading: element("h2", { tabIndex: -1 }, "Reading…") });
  detail.replaceChildren(backButton(), opening.heading);
  draw();
  if (focus) opening.heading.focus();
  try {
    const approval = await read(path("approvals", id));
    if (open === opening) fill(approval, focus);
  } catch (error) {
    if (open === opening) detail.replaceChildren(backButton(), element("h2", {}, error.status === 404 ? "There is no such approval." : "It can’t be shown."), element("p", { className: "failure" }, text(error.message)));
    signedOut(error);
  }
}

function fill(approval, focus) {
  open.approval = approval;
  open.heading = element("h2", { tabIndex: -1, id: "question" }, text(approval.question));
  open.state = element("p", { className: "state" });
  open.decision = new Decision(approval, decided);
  open.mandate = new Mandate(approval);
  detail.replaceChildren(
    element("article", { "aria-labelledby": "question" }, backButton(), open.state, open.heading, action(approval), open.decision.element, open.mandate.element),
  );
  drawState();
  detail.scrollTop = 0;
  if (focus) open.heading.focus();
  const row = approvals.get(approval.id);
  if (!row) approvals.set(approval.id, approval);
  // A link leads to it wherever it is.
  if (!row || !inFilter(row)) mandates.value = "";
  if (tabOf(approval) !== tab) tab = tabOf(approval);
  draw();
}

function drawState() {
  const now = standing(open.approval);
  if (open.state.dataset.standing === now) return;
  open.state.dataset.standing = now;
  const { expiresAt } = open.approval;
  open.state.replaceChildren(status(now), ...(now === "pending" ? [" ", due(open.approval), expiresAt ? `, ${at(expiresAt)}` : ""] : []));
}

function decided(approval) {
  open.approval = approval;
  take(approval);
  drawState();
  open.mandate.update(approval);
  draw();
  const [next] = [...approvals.values()].filter((row) => inFilter(row) && tabOf(row) === "pending").sort(soonestFirst);
  if (next) open.decision.element.append(element("p", {}, element("a", { href: linkTo(next) }, "Next: ", text(next.question))));
}

async function refreshOpen() {
  const refreshing = open;
  if (!refreshing?.decision) return;
  try {
    const approval = await read(path("approvals", refreshing.id));
    if (open !== refreshing) return;
    take(approval);
    open.approval = approval;
    open.decision.update(approval);
    open.mandate.update(approval);
    drawState();
    draw();
  } catch (error) {
    signedOut(error);
  }
}

function close() {
  open?.mandate?.close();
  open = null;
}

const backButton = () => element("button", { type: "button", className: "quiet back", onclick: () => (location.hash = "") }, "← All approvals");

function route(event) {
  let id = null;
  try {
    id = decodeURIComponent(location.hash.slice(1)) || null;
  } catch {
    // No id has such a hash.
  }
  const left = open?.id;
  show(id, { focus: Boolean(event) && id !== null });
  if (id === null && left) items.get(left)?.firstElementChild.focus();
}

/** Opens the next approval of the list, or the one before, and stays in the list. */
function move(by) {
  const rows = visible();
  if (!rows.length) return;
  const from = rows.findIndex((row) => row.id === open?.id);
  const next = rows[from < 0 ? 0 : Math.min(Math.max(from + by, 0), rows.length - 1)];
  if (next.id !== open?.id) {
    history.replaceState(null, "", linkTo(next));
    show(next.id, { focus: false });
  }
  const link = items.get(next.id).firstElementChild;
  // In a narrow window the list is not shown now.
  link.checkVisibility() ? link.focus() : open.heading.focus();
}

// Keys

const keys = $("#keys"), single = $("#single-keys");
single.checked = localStorage.getItem("single-keys") !== "off";
single.addEventListener("change", () => localStorage.setItem("single-keys", single.checked ? "on" : "off"));
$("#help").addEventListener("click", () => keys.showModal());

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => open?.decision?.begin("approve"),
  d: () => open?.decision?.begin("reject"),
  Enter: () => open?.heading.focus(),
  "?": () => keys.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open) return;
  if (event.key === "Escape") {
    if (!open?.decision?.back() && open && !event.target.matches("input, textarea, select")) location.hash = "";
    return;
  }
  if (!single.checked || event.repeat || event.target.matches("input, textarea, select")) return;
  // Whatever has the focus has its own use for it.
  if (event.key === "Enter" && event.target.matches("button, summary, a:not([aria-current])")) return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

for (const button of tabs) {
  button.addEventListener("click", () => {
    tab = button.dataset.tab;
    draw();
  });
  button.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(button) + step + tabs.length) % tabs.length];
    next.click();
    next.focus();
  });
}
mandates.addEventListener("change", draw);
addEventListener("hashchange", route);

// Live

const connection = $("#connection"), trouble = $("#trouble");

function connected(state) {
  connection.dataset.state = state;
  put(connection, { live: "Live", connecting: "Connecting", lost: "Not live, trying again" }[state]);
}

function signedOut(error) {
  if (error.status !== 401) return;
  trouble.hidden = false;
  trouble.textContent = "You are not signed in. Open the latest link that the program printed.";
}

async function refresh() {
  try {
    const { approvals: rows, live } = await read("/api/approvals");
    rows.forEach(take);
    loaded = true;
    trouble.hidden = true;
    connected(live ? "live" : "lost");
    draw();
  } catch (error) {
    connected("lost");
    signedOut(error);
  }
}

function listen() {
  const source = new EventSource("/api/live");
  const on = (kind, act) => source.addEventListener(kind, (event) => act(JSON.parse(event.data)));
  // Whatever was missed while there was no connection is read now.
  source.onopen = () => {
    refresh();
    refreshOpen();
  };
  on("behind", refresh);
  on("connection", (live) => connected(live ? "live" : "lost"));
  on("mandate", (id) => open?.mandate?.changed(id));
  on("approval", (row) => {
    take(row);
    draw();
  });
  source.onerror = () => {
    connected("lost");
    if (source.readyState !== EventSource.CLOSED) return;
    // Refused, so the browser doesn't try again by itself.
    refresh();
    setTimeout(listen, 5000);
  };
}

/** Moves every countdown on, and asks what became of an approval whose time is up. */
function second() {
  document.querySelectorAll("time.due").forEach(tick);
  const lapsed = [...approvals.values()].filter((row) => row.status === "pending" && until(row.expiresAt) <= 0 && !row.lapsed);
  for (const row of lapsed) {
    row.lapsed = true;
    if (open?.id === row.id && open.decision) {
      open.decision.update(open.approval);
      drawState();
      refreshOpen();
    }
  }
  if (lapsed.length) draw();
}

listen();
setInterval(second, 1000);
route();
