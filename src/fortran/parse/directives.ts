/* Directives: words of the construct, the launch of `!$cuf kernel do`, then clauses. */

import type { Clause, Directive, Expr, LaunchDirective, ReductionOp, Sentinel } from "../tree/index.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { dataList, isDataClause } from "./data-clauses.js";
import { parseExpression } from "./expressions.js";

/** Words that make up constructs. The text after the last of them is a clause. */
const WORDS: Readonly<Record<Sentinel, readonly string[]>> = {
  cuf: ["kernel", "do"],
  acc: [
    "atomic",
    "cache",
    "data",
    "declare",
    "end",
    "enter",
    "exit",
    "host_data",
    "init",
    "kernels",
    "loop",
    "parallel",
    "routine",
    "serial",
    "set",
    "shutdown",
    "update",
    "wait",
  ],
  omp: "allocate atomic barrier cancel critical data declare depobj distribute do end enter exit flush loop masked master nothing ordered parallel requires section sections simd single target task taskgroup taskloop taskwait taskyield teams threadprivate update workshare".split(
    " ",
  ),
};
/** Elsewhere these are clauses: `do ordered`, `loop wait(1)`. */
const FIRST_ONLY: readonly string[] = ["allocate", "declare", "nothing", "ordered", "requires", "routine", "update", "wait"];
/** Words after `atomic`; `target update` is one word, too. */
const ATOMIC: readonly string[] = ["update", "read", "write", "capture"];

const REDUCTIONS: readonly ReductionOp[] = ["+", "*", "min", "max", ".and.", ".or.", ".eqv.", ".neqv.", "iand", "ior", "ieor"];
const LEVELS: readonly string[] = ["gang", "worker", "vector", "seq", "independent", "auto", "simd"];
const LISTS = ["private", "firstprivate", "lastprivate", "shared"] as const;

const LOOPS: readonly string[] = ["do", "loop", "simd", "distribute", "taskloop"];
const BLOCKS: readonly string[] =
  "critical data host_data kernels masked master ordered parallel sections serial single target task taskgroup teams workshare".split(" ");
const ALONE: readonly string[] = ["cancel", "declare", "end", "enter", "exit", "update"];

/** Scope of a directive: the next loop, the next statement, everything up to its `end`, or nothing. */
export function governs({ words }: Directive): "loop" | "statement" | "block" | "nothing" {
  const last = words.at(-1)!;
  if (ALONE.includes(words[0]) || (words[0] === "target" && ALONE.includes(words[1]))) return "nothing";
  if (words[0] === "atomic") return last === "capture" ? "block" : "statement";
  if (LOOPS.includes(last)) return "loop";
  return BLOCKS.includes(last) ? "block" : "nothing";
}

/** Whether it stands among declarations. */
export const isDeclarative = ({ words }: Directive): boolean =>
  ["allocate", "declare", "requires", "routine", "threadprivate"].includes(words[0]);

/** @throws SyntaxProblem */
export function directive(c: Cursor): Directive {
  const sentinel = c.line.sentinel!;
  const at = c.at();
  const words: string[] = [];
  const isWord = (text: string): boolean => {
    if (words.at(-1) === "atomic" || words.at(-1) === "target") if (ATOMIC.includes(text)) return true;
    return WORDS[sentinel].includes(text) && (words.length === 0 || words[0] === "end" || !FIRST_ONLY.includes(text));
  };
  while (c.token.kind === "name") {
    const { text } = c.token;
    const parts = isWord(text) ? [text] : WORDS[sentinel].includes(text) ? [] : runTogether(text, WORDS[sentinel]);
    if (parts.length === 0) break;
    c.next();
    words.push(...parts);
    if (words[0] === "update" || words[0] === "wait" || words[0] === "routine") break;
  }
  if (words.length === 0)
    throw c.problem(`is not a directive of \`!$${sentinel}\``, c.token, "correct its name, or make the line a comment");
  const clauses = leading(c, sentinel, words);
  const given = sentinel === "cuf" && c.is("<<<") ? launch(c) : undefined;
  while (c.token.kind !== "end") {
    if (c.take(",")) continue;
    clauses.push(clause(c, { sentinel, words }));
  }
  return { sentinel, words, clauses, ...(given && { launch: given }), at };
}

/** Clauses in parentheses right after the words: `do(2)`, `declare target(a)`, `wait(1)`. */
function leading(c: Cursor, sentinel: Sentinel, words: readonly string[]): Clause[] {
  const at = c.at();
  if (!c.is("(") && !c.is("(/")) return [];
  if (sentinel !== "cuf") {
    const listed = words[0] === "declare" ? dataList(c, "", at) : undefined;
    return [listed ?? { kind: "other", name: "", at, text: c.enclosed() }];
  }
  c.next();
  const count = c.next();
  if (count.kind !== "integer") throw c.problem("`do(n)` takes a number of loops", count);
  c.expect(")");
  return [{ kind: "collapse", count: Number(count.text), at }];
}

/** The words of `enddo`, `endparalleldo`; none if the text is not a sequence of words. */
function runTogether(text: string, known: readonly string[]): string[] {
  if (known.includes(text)) return [text];
  for (const word of known) {
    const rest = text.startsWith(word) ? runTogether(text.slice(word.length), known) : [];
    if (rest.length > 0) return [word, ...rest];
  }
  return [];
}

function clause(c: Cursor, of: Pick<Directive, "sentinel" | "words">): Clause {
  const at = c.at();
  // `if` and the like are clauses, too.
  const name = c.name("a clause");
  const list = LISTS.find((word) => word === name);
  if (list && c.is("(")) return { kind: list, names: enclosedNames(c), at };
  switch (name) {
    case "collapse": {
      c.expect("(");
      const forced = c.take("force");
      if (forced) c.expect(":");
      const count = c.next();
      if (count.kind !== "integer") throw c.problem("`collapse` takes a number", count);
      c.expect(")");
      return { kind: "collapse", count: Number(count.text), at };
    }
    case "reduction":
    case "reduce":
      return reduction(c, name, at);
    case "default":
      return { kind: "default", value: c.enclosed().toLowerCase(), at };
    case "async": {
      if (!c.take("(")) return { kind: "async", at };
      const queue = parseExpression(c);
      c.expect(")");
      return { kind: "async", queue, at };
    }
    case "if":
      return condition(c, at);
    // Any other clause is kept as it is written.
    default:
      if (isDataClause(name, of) && (c.is("(") || c.is("(/")))
        return dataList(c, name, at) ?? { kind: "other", name, text: c.enclosed(), at };
      if (LEVELS.includes(name) && !c.is("(")) return { kind: "level", level: name, at };
      return { kind: "other", name, text: c.is("(") ? c.enclosed() : "", at };
  }
}

/** `(n > 8)`, `(target data: n > 8)`; as written if it is not an expression. */
function condition(c: Cursor, at: Clause["at"]): Clause {
  const from = c.n;
  try {
    c.expect("(");
    const of: string[] = [];
    for (let n = c.n; c.tokens[n].kind === "name"; n++)
      if (c.is(":", c.tokens[n + 1])) {
        while (!c.take(":")) of.push(c.next().text);
        break;
      }
    const value = parseExpression(c);
    c.expect(")");
    return { kind: "condition", ...(of.length > 0 && { of: of.join(" ") }), value, at };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    c.n = from;
    return { kind: "other", name: "if", text: c.is("(") ? c.enclosed() : "", at };
  }
}

function reduction(c: Cursor, name: string, at: Clause["at"]): Clause {
  c.expect("(");
  // OpenMP's `-` adds.
  const op = name === "reduction" && c.take("-") ? "+" : reductionOp(c);
  c.expect(":", `\`:\` is missing in \`${name}(op:names)\``);
  const names = parts(c);
  c.expect(")");
  return { kind: "reduction", op, names, at };
}

export function reductionOp(c: Cursor): ReductionOp {
  const sign = c.next();
  const op = REDUCTIONS.find((known) => known === sign.text);
  if (!op) throw c.problem("is not a reduction operation", sign, `use ${REDUCTIONS.join(", ")}`);
  return op;
}

/** `a, b(1:n)`: whole arrays, whatever part is named. */
const parts = (c: Cursor): string[] =>
  c.list(() => {
    const name = c.name();
    if (c.is("(")) c.enclosed();
    return name;
  });

function enclosedNames(c: Cursor): string[] {
  c.expect("(");
  const names = parts(c);
  c.expect(")");
  return names;
}

/** `<<<grid, block, shared, stream>>>`, `<<<*, *, stream=s>>>`. */
export function launch(c: Cursor): LaunchDirective {
  c.expect("<<<");
  const parts: Record<string, LaunchDirective["grid"]> = {};
  const order = ["grid", "block", "shared", "stream"];
  c.list(() => {
    const keyword = c.token.kind === "name" && c.is("=", c.peek()) ? c.name() : undefined;
    if (keyword) c.next();
    const part = keyword ?? order.shift();
    if (part === undefined || !["grid", "block", "shared", "stream"].includes(part))
      throw c.problem("a launch takes grid, block, shared and stream only");
    if (c.take("*")) return;
    const sized = c.is("(") && c.tokens.slice(c.n, c.matching(c.n)).some((token) => c.is(",", token));
    parts[part] = sized ? sizes(c) : parseExpression(c);
  });
  c.expect(">>>");
  return parts;
}

/** `(32, 4)` as a constructor; nothing of `(*, *)`. */
function sizes(c: Cursor): Expr | undefined {
  const at = c.at();
  c.expect("(");
  const items = c.list(() => (c.take("*") ? undefined : parseExpression(c)));
  c.expect(")");
  const given = items.filter((item) => item !== undefined);
  if (given.length > 0 && given.length < items.length) throw c.problem("give all sizes of a grid or block, or none");
  return given.length > 0 ? { kind: "constructor", items: given, at } : undefined;
}
