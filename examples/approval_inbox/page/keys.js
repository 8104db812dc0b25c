// Keys, for those who decide a lot. Single ones can be turned off, since other tools use them too.

const help = document.querySelector("#keys"),
  single = document.querySelector("#single-keys");
const STORED = "single-keys";

/** Listens for ever; `keys` says what each does, by its name in lower case. */
export function listen(keys) {
  single.checked = localStorage.getItem(STORED) !== "off";
  single.addEventListener("change", () => localStorage.setItem(STORED, single.checked ? "on" : "off"));
  document.querySelector("#help").addEventListener("click", () => help.showModal());

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat || help.open) return;
    const key = event.key.toLowerCase();
    const typing = event.target.matches("input, textarea, select");
    if (key !== "escape") {
      // Whatever has the focus has its own use for it.
      const taken = key === "enter" && event.target.matches("button, summary, a:not([aria-current])");
      if (!single.checked || typing || taken) return;
    }
    const act = key === "?" ? () => help.showModal() : keys[key];
    if (!act) return;
    event.preventDefault();
    act(typing);
  });
}
