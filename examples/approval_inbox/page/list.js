// The list: tabs, the filter by mandate, and a row for each approval.

import { due, standing, status } from "./approval.js";
import { element, plain, put } from "./show.js";
import { all, inTab, tabOf, view } from "./store.js";

const $ = (selector) => document.querySelector(selector);
const panel = $("#list"),
  list = $("#list ul"),
  empty = $("#list .empty"),
  mandates = $("#mandates");
const tabs = [...document.querySelectorAll("[role=tab]")];

const EMPTY = {
  pending: "Nothing waits for a decision.",
  decided: "Nothing has been decided yet.",
  expired: "Nothing has expired.",
};
/** The longest line of the filter, in characters. */
const LONGEST = 60;

/** Each row is made once and then kept true, so that whoever is in it stays there. */
const items = new Map();

export const linkTo = (row) => `#${encodeURIComponent(row.id)}`;

/** Goes to the row of an approval, if it is to be seen. */
export function focus(id) {
  const link = items.get(id)?.firstElementChild;
  if (!link?.checkVisibility()) return false;
  link.focus();
  return true;
}

export function draw(loaded) {
  drawMandates();
  const rows = inTab(view.tab);
  const wanted = rows.map(item);
  if (wanted.length !== list.childElementCount || wanted.some((made, index) => list.children[index] !== made)) {
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    list.replaceChildren(...wanted);
    focused?.focus({ preventScroll: true });
  }
  empty.hidden = rows.length > 0;
  empty.textContent = loaded ? EMPTY[view.tab] : "Reading…";

  for (const tab of tabs) {
    const name = tab.dataset.tab;
    put(tab, `${name[0].toUpperCase()}${name.slice(1)} ${inTab(name).length}`);
    tab.setAttribute("aria-selected", name === view.tab);
    tab.tabIndex = name === view.tab ? 0 : -1;
  }
  panel.setAttribute("aria-labelledby", `tab-${view.tab}`);
  const pending = all().filter((row) => tabOf(row) === "pending").length;
  document.title = pending ? `(${pending}) Approvals` : "Approvals";
}

function item(row) {
  const made = items.get(row.id) ?? newItem(row);
  const link = made.firstElementChild;
  const [question, objective, what, when] = link.children;
  put(question, row.question);
  put(objective, row.objective ?? "");
  put(what, row.capability);
  const now = standing(row);
  if (when.dataset.standing !== now) {
    when.dataset.standing = now;
    when.replaceChildren(now === "pending" ? due(row) : status(now));
  }
  if (row.id === view.open) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  return made;
}

function newItem(row) {
  const parts = ["question", "objective", "what", "when"].map((className) => element("span", { className }));
  const made = element("li", {}, element("a", { href: linkTo(row) }, ...parts));
  items.set(row.id, made);
  return made;
}

function drawMandates() {
  const found = new Map(all().map((row) => [row.mandate, row.objective]));
  const shortened = (line) => plain(line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line);
  const options = [...found].map(([id, objective]) => [id, shortened(objective ?? id)]);
  options.sort(([, one], [, other]) => one.localeCompare(other));
  const key = JSON.stringify(options);
  if (mandates.dataset.options !== key) {
    mandates.dataset.options = key;
    mandates.replaceChildren(
      new Option("All mandates", ""),
      ...options.map(([id, label]) => new Option(label, id)),
    );
  }
  mandates.value = view.mandate;
}

/** What a person chooses here; `changed` is told. */
export function listen(changed) {
  mandates.addEventListener("change", () => {
    view.mandate = mandates.value;
    changed();
  });
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener("click", () => {
      view.tab = tab.dataset.tab;
      changed();
    });
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next.click();
      next.focus();
    });
  }
}
