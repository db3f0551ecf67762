/* Statements on one line. */

import type { Location } from "../../ir/types.js";
import type { Allocate, DoConcurrent, Expr, ReductionOp, Stmt, Designator } from "../tree/index.js";
import type { Cursor } from "./cursor.js";
import { launch, reductionOp } from "./directives.js";
import { args, designator, parseExpression } from "./expressions.js";
import { headOf, type Head } from "./head.js";

/** Statements that are kept as they are written. */
const OUTSIDE: readonly string[] = [
  "assign",
  "backspace",
  "close",
  "critical",
  "data",
  "endfile",
  "entry",
  "flush",
  "format",
  "go to",
  "include",
  "inquire",
  "lock",
  "namelist",
  "nullify",
  "open",
  "pause",
  "read",
  "rewind",
  "sync",
  "unlock",
  "wait",
  "write",
];
export type ConcurrentHeading = Omit<DoConcurrent, "kind" | "body" | "at" | "name">;
type Bare = Stmt extends infer S ? (S extends Stmt ? Omit<S, "at"> : never) : never;

/** `(integer :: i = 1:n, j = 1:m, mask) local(a) reduce(+:s)` */
export function concurrent(c: Cursor, isForall = false): ConcurrentHeading {
  c.expect("(");
  if (c.is("::", c.peek())) c.n += 2;
  const axes: DoConcurrent["axes"][number][] = [];
  let mask: Expr | undefined;
  do {
    if (c.token.kind !== "name" || !c.is("=", c.peek())) {
      mask = parseExpression(c);
      break;
    }
    const variable = c.name();
    c.next();
    const start = parseExpression(c);
    c.expect(":");
    const stop = parseExpression(c);
    axes.push({ variable, start, stop, ...(c.take(":") && { step: parseExpression(c) }) });
  } while (c.take(","));
  c.expect(")");
  if (axes.length === 0) throw c.problem("`do concurrent` has no variable", c.tokens[0]);
  const lists: Record<string, string[]> = { local: [], local_init: [], shared: [] };
  const reduce: { op: ReductionOp; names: string[] }[] = [];
  while (c.token.kind === "name" && !isForall) {
    const token = c.token;
    const word = c.name();
    c.expect("(");
    if (word === "reduce") {
      const op = reductionOp(c);
      c.expect(":");
      reduce.push({ op, names: c.names() });
    } else if (word === "default") c.name();
    else if (Object.hasOwn(lists, word)) lists[word].push(...c.names());
    else throw c.problem("is not a locality of `do concurrent`", token, "use local, local_init, shared, reduce or default(none)");
    c.expect(")");
  }
  return { axes, ...(mask && { mask }), local: lists.local, localInit: lists.local_init, shared: lists.shared, reduce };
}

/** The statement that a line is, without its place. */
export function simple(head: Head): Bare {
  const { cursor: c, key } = head;
  switch (key) {
    case "assign":
    case "points": {
      const target = designator(c);
      c.next();
      return { kind: key === "assign" ? "assign" : "pointer-assign", target, value: parseExpression(c) };
    }
    case "call":
      return call(c);
    case "if":
    case "where": {
      c.expect("(");
      const cond = parseExpression(c);
      c.expect(")");
      const body = oneLine(head);
      const branches = [{ cond, body: [body], at: body.at }];
      return key === "if" ? { kind: "if", branches, oneLine: true } : { kind: "where", branches, oneLine: true };
    }
    case "exit":
    case "cycle":
      return { kind: key, ...(c.token.kind === "name" && { loop: c.name() }) };
    case "return":
    case "continue":
      return { kind: key };
    case "stop":
    case "error stop": {
      const value = c.token.kind === "end" || c.is(",") ? undefined : parseExpression(c);
      if (c.is(",")) throw c.outside(key, c.tokens[0]);
      return { kind: "stop", ...(value && { value }), ...(key === "error stop" && { error: true }) };
    }
    case "forall":
      return { kind: "do-concurrent", forall: true, ...concurrent(c, true), body: [oneLine(head)] };
    case "print":
      return { kind: "print", format: format(c), items: c.take(",") ? c.list(() => parseExpression(c)) : [] };
    case "write": {
      // To the screen alone: `write(*,*)`, `write(*,'(a)')`
      if (!c.take("(") || !c.take("*") || !c.take(",")) throw c.outside(key, c.tokens[0]);
      const written = format(c);
      if (!c.take(")")) throw c.outside(key, c.tokens[0]);
      // Compilers take a comma here.
      c.take(",");
      return { kind: "print", format: written, items: c.token.kind === "end" ? [] : c.list(() => parseExpression(c)) };
    }
    case "allocate":
      return { kind: "allocate", ...allocation(c) };
    case "deallocate": {
      const { arrays, options } = allocation(c);
      return { kind: "deallocate", arrays: arrays.map(({ target }) => target), options };
    }
    // Any other word begins a statement that is not ported, or none.
    default:
      if (OUTSIDE.includes(key)) throw c.outside(key, c.tokens[0]);
      if (key === "declaration") throw c.problem("declarations come before the first statement", c.token, "move it up");
      throw c.problem("is not a statement", c.tokens[head.label === undefined ? 0 : 1]);
  }
}

function call(c: Cursor): Bare {
  const called = designator(c);
  if (called.kind === "apply") return { kind: "call", procedure: called.base, args: called.args };
  if (!c.is("<<<")) return { kind: "call", procedure: called, args: [] };
  const launched = launch(c);
  return { kind: "call", procedure: called, args: c.is("(") ? args(c) : [], launch: launched };
}

/** The statement after the condition of a one-line `if` or `where`. */
function oneLine(outer: Head): Stmt {
  const { cursor: c, line } = outer;
  if (c.token.kind === "end") throw c.problem("a statement is missing after the condition");
  const head = headOf(line.part(c.token.from));
  if (head.key === "wrong") throw head.problem!;
  if (head.key === "if" || head.key === "if then") throw c.problem("a one-line `if` cannot contain another");
  const made = simple(head);
  head.cursor.end();
  c.n = c.tokens.length - 1;
  return { ...made, at: head.line.at(0) } as Stmt;
}

function format(c: Cursor): string {
  if (c.take("*")) return "*";
  const { kind, text } = c.next();
  if (kind !== "string" && kind !== "name" && kind !== "integer") throw c.problem("a format is missing", c.tokens[c.n - 1]);
  return text;
}

function allocation(c: Cursor): Pick<Allocate, "arrays" | "options"> {
  c.expect("(");
  const arrays: { target: Designator; at: Location }[] = [];
  const options: { keyword: string; value: Expr }[] = [];
  c.list(() => {
    const at = c.at();
    if (c.token.kind === "name" && c.is("=", c.peek())) {
      const keyword = c.name();
      c.next();
      options.push({ keyword, value: parseExpression(c) });
    } else {
      arrays.push({ target: designator(c), at });
      if (c.is("::")) throw c.outside("allocate(type :: …)");
    }
  });
  c.expect(")");
  return { arrays, options };
}
