// Makes elements. Whatever came from outside becomes text and nothing else, and what in it can't be seen is made
// visible, since a person decides by what they see.

/** An element with properties, attributes (`aria-…`, `data-…` and the like) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name in made && !name.includes("-")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Controls, and what turns the direction of text around or takes no room. Line breaks, tabs and the joiners that some
// scripts are written with are left alone.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
/** Letters that in a Latin word pass for another. */
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/gu;

/** Where text deceives the eye, in order: `[start, end, character, why]`, the text from start to end not to be shown. */
function deceptions(raw) {
  const found = [...raw.matchAll(UNSEEN)].map(({ 0: unseen, index }) => [
    index,
    index + unseen.length,
    unseen,
    "A character that can’t be seen",
  ]);
  for (const { 0: word, index } of LATIN.test(raw) && raw.search(ALIKE) >= 0 ? raw.matchAll(WORD) : []) {
    if (!LATIN.test(word)) continue;
    for (const { 0: letter, index: at } of word.matchAll(ALIKE)) {
      const end = index + at + letter.length;
      found.push([end, end, letter, "A letter of another alphabet"]);
    }
  }
  return found.sort(([one], [other]) => one - other);
}

/** Text from outside, which keeps its direction to itself. */
export function text(raw) {
  const shown = element("bdi");
  let from = 0;
  for (const [start, end, character, why] of deceptions(raw)) {
    const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    shown.append(raw.slice(from, start), element("span", { className: "mark", title: why }, `U+${code}`));
    from = end;
  }
  shown.append(raw.slice(from));
  return shown;
}

/** The same where there is room for text only. */
export const plain = (raw) => raw.replace(UNSEEN, "\ufffd");

/** Puts text where other text was. */
export function put(place, raw) {
  if (place.dataset.raw === raw) return;
  place.dataset.raw = raw;
  place.replaceChildren(text(raw));
}

export const code = (raw) => element("code", {}, text(raw));

export const money = (amount, currency) => {
  try {
    const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
    return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
  } catch {
    return `${amount} ${currency}`;
  }
};

/** Says something to those who can't see it happen. */
export function announce(message) {
  const news = document.getElementById("news");
  news.append(element("p", {}, message));
  while (news.childElementCount > 3) news.firstElementChild.remove();
}
