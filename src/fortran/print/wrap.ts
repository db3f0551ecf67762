/* Lines of at most 132 columns: F2018 6.3.2. */

const WIDTH = 132;

/** `lead` is blanks, or blanks and a directive's sentinel, which every further line repeats. */
export function wrappedLine(lead: string, text: string): string[] {
  const lines: string[] = [];
  const sentinel = lead.trim();
  let rest = lead + text;
  while (rest.length > WIDTH) {
    // The parts, put together, are the text to the character.
    const at = breakAt(rest, lead.length + 2, WIDTH - 1);
    lines.push(`${rest.slice(0, at)}&`);
    rest = `${sentinel ? lead.trimEnd() : lead}&${rest.slice(at)}`;
  }
  return [...lines, rest];
}

/** The last place before `most` that is between tokens. */
function breakAt(line: string, least: number, most: number): number {
  let quote = "";
  let [space, comma] = [-1, -1];
  for (let n = 0; n <= most; n++) {
    const c = line[n];
    if (quote) {
      if (c === quote) quote = "";
      continue;
    }
    if (c === "'" || c === '"') quote = c;
    if (n < least) continue;
    if (c === " " && n < most) space = n + 1;
    else if (c === "," && n < most) comma = n + 1;
    else if (c === "!" && line.trimStart()[0] !== "!") break;
  }
  const at = Math.max(space, comma);
  if (at > least) return at;
  // One token over the whole line is a string or an expression without blanks, which may be broken at its operators.
  for (let n = most; n > least; n--) if ("+-*/(".includes(line[n]) && !/[*/(]/.test(line[n - 1]) && !/[ed]/i.test(line[n - 1])) return n;
  return most;
}
