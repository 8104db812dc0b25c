// The decision: in two steps, once, and never by accident. What was typed stays here until it is sent, and a secret is
// gone from the page as soon as it has been.

import { standing } from "./approval.js";
import { path, send } from "./server.js";
import { announce, code, element, text } from "./show.js";
import { ago, at } from "./time.js";

const DONE = { approved: "Approved", rejected: "Rejected", expired: "Expired", canceled: "Canceled" };

/** The part of the page on which one approval is decided. `decided` is told what came of it. */
export class Decision {
  #approval;
  #decided;
  /** What became of a decision that was made here. */
  #outcome = null;
  #sending = false;

  constructor(approval, decided) {
    this.#approval = approval;
    this.#decided = decided;
    this.element = element("section", { className: "decision", "aria-label": "Decision" });
    this.element.addEventListener("keydown", ignoreHeldKey);
    this.#show();
  }

  /** Takes in the approval as it is now. A form that is open stays as it is, as long as it can be sent. */
  update(approval) {
    if (approval.id !== this.#approval.id) return;
    const before = standing(this.#approval);
    const shown = this.element.dataset.standing;
    this.#approval = approval;
    if (standing(approval) === shown && before === shown) return;
    this.#show();
    if (!this.#outcome && !this.#sending)
      announce(`${DONE[standing(approval)] ?? standing(approval)}: ${approval.question}`);
  }

  /** The first step of either decision. */
  begin(decision) {
    if (!this.#open || this.#sending || this.element.dataset.step !== "choose") return;
    decision === "approve" ? this.#confirm() : this.#refuse();
  }

  /** Whether there was a step to go back from. */
  back() {
    if (this.#sending || !["approve", "reject"].includes(this.element.dataset.step)) return false;
    const left = this.element.dataset.step;
    this.#show();
    this.element.querySelector(`[data-decision=${left}]`)?.focus();
    return true;
  }

  get #open() {
    return standing(this.#approval) === "pending" && this.#approval.mayDecide;
  }

  #show() {
    const now = standing(this.#approval);
    this.element.dataset.standing = now;
    if (now !== "pending") return this.#step("done", ...this.#result(now));
    if (!this.#open) return this.#step("none", element("p", { className: "hint" }, "You may not decide on this."));
    const [yes, no] = this.#approval.isInputRequest ? ["Answer…", "Decline…"] : ["Approve…", "Reject…"];
    const button = (decision, label, key) =>
      element(
        "button",
        {
          type: "button",
          className: decision,
          "data-decision": decision,
          "aria-keyshortcuts": key,
          onclick: () => this.begin(decision),
        },
        label,
        element("kbd", { "aria-hidden": "true" }, key),
      );
    this.#step(
      "choose",
      element("div", { className: "buttons" }, button("approve", yes, "A"), button("reject", no, "D")),
    );
  }

  #confirm() {
    const { isInputRequest, fields, capability, consequence } = this.#approval;
    this.#form("approve", {
      title: isInputRequest ? "Give this answer?" : "Approve exactly this?",
      body: [
        isInputRequest ? null : element("p", {}, code(capability), " ", text(consequence)),
        isInputRequest
          ? null
          : element("p", { className: "hint" }, "Only this action, once, inside the mandate’s limits."),
        ...fields.map(input),
        isInputRequest ? null : reason("Reason", "optional, for the record", false),
      ],
      button: isInputRequest ? "Send the answer" : "Yes, approve this",
    });
  }

  #refuse() {
    const hint = "Only this action is refused; the mandate goes on without it.";
    this.#form("reject", {
      title: this.#approval.isInputRequest ? "Decline to answer?" : "Reject this action?",
      body: [element("p", { className: "hint" }, hint), reason("Reason", "for the record", true)],
      button: this.#approval.isInputRequest ? "Decline" : "Reject this",
    });
  }

  #form(decision, { title, body, button }) {
    const { id } = this.#approval;
    const form = element(
      "form",
      { autocomplete: "off", noValidate: true, "aria-labelledby": "decision-title" },
      element("h3", { id: "decision-title", tabIndex: -1 }, title),
      ...body,
      element(
        "div",
        { className: "buttons" },
        element("button", { className: decision, "aria-describedby": "decision-title" }, button),
        element("button", { type: "button", className: "quiet", onclick: () => this.back() }, "Back"),
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (complete(form)) this.#send(id, decision, form);
    });
    this.#step(decision, form);
    (form.querySelector("input, textarea[required]") ?? form.querySelector("button")).focus();
    form.scrollIntoView({ block: "nearest" });
  }

  async #send(id, decision, form) {
    if (this.#sending) return;
    this.#sending = true;
    const reason = form.elements.reason?.value.trim() ?? "";
    const given = [...form.querySelectorAll("[data-input]")].filter((input) => input.value !== "");
    const body = { reason, inputs: Object.fromEntries(given.map((input) => [input.dataset.input, input.value])) };
    const buttons = form.querySelectorAll("button");
    buttons.forEach((button) => (button.disabled = true));
    try {
      const answer = send(path("approvals", id, decision), decision === "reject" ? { reason } : body);
      // On their way, and of no more use here, whatever comes of it.
      given.forEach((input) => (input.value = ""));
      this.#settle(await answer);
    } catch (error) {
      if (error.status === 409) this.#settle(error.body);
      else this.#failed(form, error);
    } finally {
      this.#sending = false;
      buttons.forEach((button) => (button.disabled = false));
    }
  }

  #settle({ approval, already, conflict }) {
    this.#outcome = { already, conflict };
    this.#approval = approval;
    this.#show();
    this.#decided(approval);
    if (this.#open) this.#failed(this.element, new Error(conflict));
    else if (this.element.isConnected) this.element.querySelector("h3").focus();
    else announce(`${DONE[standing(approval)] ?? standing(approval)}: ${approval.question}`);
  }

  #failed(form, error) {
    const unclear = " Whether it was recorded is not known; the same decision again does no harm.";
    form.querySelector(".failure")?.remove();
    const failure = element(
      "p",
      { className: "failure", role: "alert" },
      text(error.message),
      error.unclear ? unclear : "",
    );
    form.querySelector(".buttons").before(failure);
  }

  /** What stands, and since when. */
  #result(now) {
    const { reason, resolvedAt, expiresAt } = this.#approval;
    const outcome = this.#outcome;
    const since = resolvedAt ?? (now === "expired" ? expiresAt : null);
    const time = since ? element("time", { dateTime: since }, `${at(since)}, ${ago(since)}`) : null;
    const agrees = outcome && !outcome.conflict;
    const notice = {
      conflict: "Your decision was not recorded: this had been settled before.",
      expired: "The time to decide is over. It did not run, and can’t be decided any more.",
      canceled: "It was canceled with its mandate, and did not run.",
      already: "It had been decided so before; that decision stands, and what you sent was not needed.",
    };
    return [
      element("h3", { tabIndex: -1 }, DONE[now] ?? text(now)),
      outcome?.conflict ? element("p", { className: "conflict", role: "alert" }, notice.conflict) : null,
      agrees && outcome.already ? element("p", {}, notice.already) : null,
      notice[now] ? element("p", {}, notice[now]) : null,
      time ? element("p", {}, "Since ", time) : null,
      reason ? element("p", {}, "Reason: ", element("q", {}, text(reason))) : null,
    ];
  }

  #step(step, ...content) {
    this.element.dataset.step = step;
    this.element.replaceChildren(...content.filter((part) => part !== null));
  }
}

/** A step puts the focus on the next one, where a key that is still held down would take that as well. */
function ignoreHeldKey(event) {
  const acts = event.key === "Enter" ? "button, input" : event.key === " " ? "button" : null;
  if (event.repeat && acts && event.target.matches(acts)) event.preventDefault();
}

function input(field, index) {
  const id = `input-${index}`;
  const box = element("input", {
    id,
    type: field.secret ? "password" : "text",
    "data-input": field.name,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: false,
    required: field.required,
  });
  return labelled(id, text(field.label), field.required ? null : "optional", box);
}

function reason(label, hint, required) {
  const box = element("textarea", { id: "reason", name: "reason", rows: 2, maxLength: 2000, required });
  return labelled("reason", label, hint, box);
}

function labelled(id, label, hint, box) {
  return element(
    "p",
    { className: "field" },
    element("label", { htmlFor: id }, label, hint ? element("span", { className: "hint" }, ` ${hint}`) : null),
    box,
  );
}

/** Whether everything that is required is there; blanks are nothing. Goes to the first that is missing. */
function complete(form) {
  const boxes = [...form.querySelectorAll("input, textarea")];
  form.querySelectorAll(".missing").forEach((old) => old.remove());
  const missing = boxes.filter((box) => {
    const wrong = box.required && box.value.trim() === "";
    box.setAttribute("aria-invalid", wrong);
    box.removeAttribute("aria-describedby");
    if (wrong) {
      const why = element("span", { className: "missing", id: `${box.id}-missing` }, "This is needed.");
      box.setAttribute("aria-describedby", why.id);
      box.after(why);
    }
    return wrong;
  });
  missing[0]?.focus();
  return missing.length === 0;
}
