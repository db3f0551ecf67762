/* Clauses that keep data on a device, move it, or give its address: `copyin(a(1:n), p%b)`, `map(always, tofrom: a)`. */

import type { DataClause, Designator, Directive } from "../tree/index.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { parseExpression } from "./expressions.js";

const ACC: readonly string[] = [
  ...["copy", "copyin", "copyout", "create"].flatMap((word) => [word, `p${word}`, `present_or_${word}`]),
  "present",
  "no_create",
  "attach",
  "detach",
  "delete",
  "deviceptr",
  "use_device",
  "device_resident",
  "link",
];
/** Elsewhere they are a condition, or the number of a device. */
const UPDATE_ONLY: readonly string[] = ["self", "host", "device"];
const OMP: readonly string[] = [
  "map",
  "to",
  "from",
  "enter",
  "link",
  "use_device_ptr",
  "use_device_addr",
  "is_device_ptr",
  "has_device_addr",
];

export function isDataClause(name: string, { sentinel, words }: Pick<Directive, "sentinel" | "words">): boolean {
  if (sentinel === "omp") return OMP.includes(name) && (words.includes("target") || name === "map");
  return sentinel === "acc" && (ACC.includes(name) || (words[0] === "update" && UPDATE_ONLY.includes(name)));
}

/** The list in parentheses that begin here; undefined, and nothing is taken, if it is not one of variables. */
export function dataList(c: Cursor, name: string, at: DataClause["at"]): DataClause | undefined {
  const from = c.n;
  try {
    c.expect("(");
    const modifiers = modifiersOf(c);
    const objects = c.list(() => designator(c));
    c.expect(")");
    return { kind: "data", name, modifiers, objects, at };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    c.n = from;
    return undefined;
  }
}

/** Words before a colon, with or without commas. */
function modifiersOf(c: Cursor): string[] {
  let end = c.n;
  while (c.tokens[end].kind === "name" || c.is(",", c.tokens[end])) end++;
  if (!c.is(":", c.tokens[end])) return [];
  const words = c.tokens.slice(c.n, end).flatMap(({ kind, text }) => (kind === "name" ? [text] : []));
  c.n = end + 1;
  return words;
}

function designator(c: Cursor): Designator {
  const { token } = c;
  const e = parseExpression(c);
  if (e.kind !== "name" && e.kind !== "part" && e.kind !== "apply") throw c.problem("a variable is missing", token);
  return e;
}
