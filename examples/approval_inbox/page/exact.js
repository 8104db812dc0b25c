// JSON, read to be shown: numbers keep their digits, objects their order, and a name that comes twice is there twice.
// `JSON.parse` would round the first, and drop the last.

const TOKEN = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The rows of a table, one for each value in it: `[name, text, isText]`. */
export function rows(json) {
  const tokens = json.match(TOKEN) ?? [];
  const found = [];
  let next = 0;
  const read = (name) => {
    const token = tokens[next++];
    const close = { "{": "}", "[": "]" }[token];
    if (!close) return found.push(token[0] === '"' ? [name, JSON.parse(token), true] : [name, token, false]);
    if (tokens[next] === close) return found.push([name, token + tokens[next++], false]);
    for (let index = 0; tokens[next - 1] !== close; index++, next++) {
      if (token === "[") read(`${name}[${index}]`);
      else {
        const member = JSON.parse(tokens[next]);
        next += 2;
        read(name ? `${name}.${member}` : member);
      }
    }
  };
  read("");
  return found;
}

/** The same JSON in pieces, with line breaks, and not a character of any value changed. */
export function indented(json) {
  const tokens = json.match(TOKEN) ?? [];
  let depth = 0;
  const line = (change) => `\n${"  ".repeat((depth += change))}`;
  const laidOut = (token, index) => {
    if (token === ",") return token + line(0);
    if (token === ":") return ": ";
    if ("{[".includes(token)) return "}]".includes(tokens[index + 1]) ? token : token + line(1);
    if ("}]".includes(token)) return "{[".includes(tokens[index - 1]) ? token : line(-1) + token;
    return token;
  };
  return tokens.map(laidOut);
}
