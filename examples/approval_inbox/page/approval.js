// One approval: the exact action, in no other words than came, and how long there is to decide.

import { indented, rows } from "./exact.js";
import { code, element, text } from "./show.js";
import { at, countdown, SOON, until } from "./time.js";

/** More than this is read better in the JSON. */
const MOST_ROWS = 300;
/** From this many characters on a value scrolls in itself. */
const LONG = 600;

/**
 * What it is by now: one whose time is up can't be decided, even if nobody has said so yet. The clocks may differ, so if
 * the service still has it pending after that (`outlived`), the service has the last word.
 */
export const standing = (approval) =>
  approval.status === "pending" && !approval.outlived && until(approval.expiresAt) <= 0
    ? "expired"
    : approval.status;

export function status(name) {
  return element("span", { className: "status", "data-status": name }, name.replaceAll("_", " "));
}

/** How long there is, as a text that `tick` keeps true. */
export function due(approval) {
  const time = element("time", {
    className: "due",
    dateTime: approval.expiresAt ?? "",
    title: at(approval.expiresAt),
  });
  time.dataset.expires = approval.expiresAt ?? "";
  return tick(time);
}

export function tick(time) {
  const left = until(time.dataset.expires || null);
  time.textContent =
    left === Infinity ? "does not expire" : left <= 0 ? "time is up by this machine’s clock" : `expires in ${countdown(left)}`;
  time.classList.toggle("soon", left < SOON);
  return time;
}

/** What a person reviews. */
export function action(approval) {
  return element(
    "section",
    { className: "action", "aria-labelledby": "action-title" },
    element("h3", { id: "action-title" }, approval.isInputRequest ? "What is asked" : "The exact action"),
    element("p", { className: "capability" }, code(approval.capability)),
    approval.consequence && approval.consequence !== approval.question
      ? element("p", { className: "consequence" }, text(approval.consequence))
      : null,
    ...argumentsOf(approval),
    approval.more ? json("What else the service says of it", approval.more) : null,
  );
}

function argumentsOf({ arguments: raw, isInputRequest }) {
  if (raw === "null" || raw === "{}")
    return isInputRequest ? [] : [element("p", { className: "hint" }, "It has no arguments.")];
  let found;
  try {
    found = rows(raw);
  } catch {
    // Nested deeper than a table could show.
    return [json("Arguments as JSON", raw, true)];
  }
  const more = found.length - MOST_ROWS;
  return [
    element(
      "table",
      { className: "arguments" },
      element("caption", { className: "unseen" }, "Arguments"),
      element(
        "thead",
        { className: "unseen" },
        element("tr", {}, ...["Argument", "Value"].map((name) => element("th", { scope: "col" }, name))),
      ),
      element("tbody", {}, ...found.slice(0, MOST_ROWS).map(row)),
    ),
    more > 0 ? element("p", { className: "hint" }, `And ${more} more: see the JSON.`) : null,
    json("Arguments as JSON", raw),
  ];
}

function row([name, value, isText]) {
  const cell = isText
    ? element("div", { className: "value", dir: "auto" }, text(value))
    : element("div", { className: "value" }, code(value));
  if (value === "") cell.append(element("span", { className: "hint" }, "empty"));
  if (value.length > LONG) {
    cell.classList.add("long");
    cell.tabIndex = 0; // so that keys can scroll it
    cell.setAttribute("role", "group");
    cell.setAttribute("aria-label", `${name}, ${value.length} characters`);
  }
  return element("tr", {}, element("th", { scope: "row" }, code(name || "value")), element("td", {}, cell));
}

/** From left to right whatever is in it: each value keeps its direction to itself. */
function json(title, raw, open = false) {
  const pre = element("pre", { dir: "ltr", tabIndex: 0, "aria-label": title });
  for (const piece of indented(raw)) pre.append(/^[{}[\],:]/.test(piece) ? piece : text(piece));
  return element("details", { open }, element("summary", {}, title), pre);
}
