// What an approval is about: the mandate, its limits and how much of each is used, and what it did lately.

import { status } from "./approval.js";
import { rows } from "./exact.js";
import { path, read } from "./server.js";
import { code, element, money, text } from "./show.js";
import { at, atClock, now } from "./time.js";

const COUNTED =
  "The service does not say what is used: it is counted here, from the mandate’s events, an action when it starts.";
/** Several events come at once; one reading is enough for them. */
const PAUSE = 250;

export class Mandate {
  #id;
  #approval;
  #timer = null;
  #closed = false;

  constructor(approval) {
    this.#id = approval.mandate;
    this.#approval = approval;
    this.element = element("section", { className: "mandate", "aria-labelledby": "mandate-title" });
    this.#show(element("p", { className: "hint" }, "Reading the mandate…"));
    this.#read();
  }

  /** Something happened in a mandate. */
  changed(id) {
    if (id !== this.#id || this.#closed) return;
    this.#timer ??= setTimeout(() => this.#read(), PAUSE);
  }

  update(approval) {
    this.#approval = approval;
    this.changed(approval.mandate);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #read() {
    this.#timer = null;
    try {
      const mandate = await read(path("mandates", this.#id));
      if (!this.#closed) this.#show(...parts(mandate, this.#approval));
    } catch (error) {
      this.#show(element("p", { className: "failure" }, text(error.message)));
    }
  }

  #show(...content) {
    this.element.replaceChildren(
      element("h3", { id: "mandate-title" }, "The mandate"),
      ...content.filter((part) => part !== null),
    );
  }
}

function parts(mandate, approval) {
  return [
    element("p", { className: "objective" }, text(mandate.objective)),
    element("p", { className: "summary" }, status(mandate.status), " ", text(mandate.summary)),
    mandate.waitingOn ? element("p", { className: "hint" }, "Waits for: ", text(mandate.waitingOn)) : null,
    mandate.guidance.length
      ? element("ul", { className: "guidance" }, ...mandate.guidance.map((line) => element("li", {}, text(line))))
      : null,
    element("h4", {}, "Limits, and what is used of them"),
    element(
      "dl",
      { className: "limits" },
      ...mandate.limits.flatMap((limit) => shown(limit, approval)),
      ...term("Ends", [mandate.expiresAt ? at(mandate.expiresAt) : "no set time"]),
    ),
    element("p", { className: "hint" }, `Version ${mandate.authorityVersion} of the limits. ${COUNTED}`),
    element("h4", {}, "Latest events"),
    mandate.events.length
      ? element("ol", { className: "events" }, ...mandate.events.map(event))
      : element("p", { className: "hint" }, "None yet."),
  ];
}

const term = (name, content) => [element("dt", {}, name), element("dd", {}, ...content)];

function shown(limit, approval) {
  switch (limit.kind) {
    case "spend":
      return spending(limit, approval);
    case "count":
      return term(name(limit), used(limit.used, limit.maximum, String, name(limit)));
    case "rate": {
      const since = now() - (limit.seconds ?? Infinity) * 1000;
      const recent = limit.starts.filter((start) => Date.parse(start) > since).length;
      const [text, ...meter] = used(recent, limit.maximum, String, limit.what);
      return term(name(limit), [`${text} in ${limit.interval}`, ...meter]);
    }
    default:
      return term(limit.what, [text(limit.text)]);
  }
}

const name = (limit) => (limit.what.includes(".") ? code(limit.what) : text(limit.what));

function used(count, maximum, format, label) {
  if (maximum === null) return [`${format(count)}, no limit`];
  const what = `${format(count)} of ${format(maximum)}`;
  const meter = element("meter", {
    max: Math.max(maximum, 1),
    value: count,
    "aria-label": `${label.textContent ?? label} used`,
  });
  meter.classList.toggle("full", count >= maximum);
  return [what, meter];
}

function spending({ used: spent, maximum, threshold, currency, argument }, approval) {
  const amount = (value) => money(value, currency);
  const [what, ...meter] = used(spent, maximum, amount, "Spending");
  const stated = approval.status === "pending" ? statedAmount(approval.arguments, argument) : null;
  const left = maximum - spent - stated;
  const hints = [
    threshold === null ? null : `Asks above ${amount(threshold)} for one action.`,
    stated === null
      ? null
      : `This action says ${amount(stated)}${maximum === null ? "" : left < 0 ? `, ${amount(-left)} too much` : `, so ${amount(left)} would be left`}.`,
    `Counted: approved actions that ran and say “${argument}”. What else was spent is not known here.`,
  ];
  return term("Spending", [
    `at least ${what}`,
    ...meter,
    element("span", { className: "hint" }, hints.filter((hint) => hint !== null).join(" ")),
  ]);
}

/** What an action says it spends; nothing if it says so twice, or in anything but a whole number. */
function statedAmount(json, argument) {
  try {
    const stated = rows(json).filter(([name]) => name.split(/[.[]/)[0] === argument);
    const [[name, value, isText]] = stated;
    const amount = stated.length === 1 && name === argument && !isText && /^-?\d+$/.test(value) ? Number(value) : null;
    return Number.isSafeInteger(amount) ? amount : null;
  } catch {
    return null;
  }
}

function event({ at: time, kind, text: what }) {
  return element(
    "li",
    {},
    element("time", { dateTime: time ?? "", title: at(time) }, atClock(time)),
    element("span", { className: "kind" }, text(kind)),
    element("span", { className: "what" }, text(what)),
  );
}
