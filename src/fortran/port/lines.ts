import type { Stmt } from "../tree/index.js";

/** An `if` or `where` on one line, as lines of its own if its statement has become several. */
export function asLines(s: Stmt): Stmt {
  if ((s.kind !== "if" && s.kind !== "where") || !s.oneLine) return s;
  const [only, more] = s.branches[0].body;
  const isOne = only && !more && !("body" in only) && !("branches" in only) && only.kind !== "comment" && only.kind !== "select";
  return isOne ? s : { ...s, oneLine: false };
}
