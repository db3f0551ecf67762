import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluateBinary, evaluateComparison, evaluateUnary, type PlainValue } from "../../src/ir/evaluate.js";
import { IRError } from "../../src/base/errors.js";
import { labelled, leave, RETURN, structure, type Jump } from "../../src/ir/structure.js";
import { printKernel } from "../../src/ir/kernel-text.js";
import { verify } from "../../src/ir/verify.js";
import { sequence } from "../random/data.js";
import { walkStmts } from "../../src/ir/walk.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../../src/ir/types.js";
import { assign, bin, cmp, define, loop, local, n, teamFor, when } from "./build.js";

const location = { file: "jumps.f90", line: 7, column: 1 };
const trace = local("trace", "i32");
/** Where it passes changes the trace. */
const passes = (id: number): Stmt => assign("trace", bin("add", bin("mul", trace, n(31)), n(id)));
const now = (mask: number): Expr => cmp("eq", bin("and", bin("shr", trace, n(2)), n(mask)), n(0));
const to = (kind: Jump["kind"], of?: string): Stmt => (of === undefined ? { kind, location } : ({ kind, of, location } as Jump));

/** Names like the ones wished for. */
function names(): (wish: string) => string {
  let count = 0;
  return (wish) => `${wish}_${++count}`;
}
const kernelOf = (body: Stmt[]): KernelIR => ({
  name: "k",
  policy: { kind: "range", rank: 1 },
  params: [],
  tables: [],
  body: [define("trace", n(0)), ...body],
  location,
});
const text = (list: Stmt[]): string[] =>
  printKernel(kernelOf(structure(list, names())))
    .trim()
    .split("\n")
    .slice(2);

/** Runs statements as they stand, jumps with labels as well. Returns the trace. */
function run(body: readonly Stmt[]): PlainValue {
  const locals = new Map<string, PlainValue>([["trace", 0]]);
  const value = (e: Expr): PlainValue => {
    if (e.op === "const") return e.value;
    if (e.op === "local") return locals.get(e.name)!;
    if (e.op === "binary") return evaluateBinary(e.fn, e.type as NumericType, value(e.a) as number, value(e.b) as number);
    if (e.op === "compare") return evaluateComparison(e.fn, value(e.a), value(e.b));
    if (e.op === "unary") return evaluateUnary(e.fn, e.type, value(e.a));
    throw new Error(e.op);
  };
  type Way = { kind: Jump["kind"]; of?: Jump["of"] } | undefined;
  const list = (stmts: readonly Stmt[]): Way => {
    for (const stmt of stmts) {
      const way = one(stmt);
      if (way) return way;
    }
    return undefined;
  };
  const one = (stmt: Stmt): Way => {
    switch (stmt.kind) {
      case "let":
        locals.set(stmt.name, value(stmt.init!));
        return undefined;
      case "assign":
        locals.set(stmt.name, value(stmt.value));
        return undefined;
      case "if":
        return list(value(stmt.cond) ? stmt.then : stmt.else);
      case "break":
      case "continue":
        return stmt;
      case "for":
        for (let k = value(stmt.start) as number; k < (value(stmt.stop) as number); k += stmt.step) {
          locals.set(stmt.name, k);
          const way = list(stmt.body);
          const here = way && (way.of === undefined || way.of === (stmt as { label?: string }).label);
          if (way && !here) return way;
          if (way?.kind === "break") break;
        }
        return undefined;
      default:
        throw new Error(stmt.kind);
    }
  };
  list(body);
  return locals.get("trace")!;
}

/** Random statements, with returns and jumps out of up to three loops. */
function random(next: () => number): Stmt[] {
  let id = 0;
  const pick = (count: number): number => Math.floor(next() * count);
  const list = (depth: number, labels: string[]): Stmt[] => Array.from({ length: 1 + pick(4) }, () => statement(depth, labels)).flat();
  const statement = (depth: number, labels: string[]): Stmt[] => {
    const which = pick(depth > 3 ? 5 : 9);
    if (which < 3) return [passes(++id)];
    if (which === 3) return [when(now(1 + pick(7)), [passes(++id), leave(location)])];
    if (which === 4 && labels.length > 0) {
      const kind = pick(2) ? "break" : "continue";
      return [when(now(1 + pick(3)), [passes(++id), to(kind, pick(4) ? labels[pick(labels.length)] : undefined)])];
    }
    if (which < 7) return [when(now(1 + pick(3)), list(depth + 1, labels), pick(2) ? list(depth + 1, labels) : [])];
    const label = `l${++id}`;
    return [labelled(loop(`k${id}`, n(0), n(1 + pick(3)), list(depth + 1, [...labels, label])) as never, label)];
  };
  return list(0, []);
}

describe("structuring", () => {
  it("moves what follows an if that returns into its other branch", () => {
    assert.deepEqual(text([when(now(1), [passes(1), leave(location)]), passes(2)]), [
      "  if (trace >> 2 & 1) == 0",
      "    trace = trace * 31 + 1",
      "  else",
      "    trace = trace * 31 + 2",
    ]);
  });

  it("takes a flag to leave loops", () => {
    const inner = loop("j", n(0), n(4), [when(now(1), [to("continue", "outer")]), passes(1)]);
    const outer = loop("i", n(0), n(4), [inner, passes(2)]);
    assert.deepEqual(text([labelled(outer as never, "outer")]), [
      "  for i = 0 until 4",
      "    let skipped_1: bool = false",
      "    for j = 0 until 4",
      "      if (trace >> 2 & 1) == 0",
      "        skipped_1 = true",
      "        break",
      "      trace = trace * 31 + 1",
      "    if skipped_1",
      "      continue",
      "    trace = trace * 31 + 2",
    ]);
  });

  it("leaves statements without jumps as they are", () => {
    const list = [passes(1), loop("i", n(0), n(3), [when(now(1), [to("continue")])])];
    assert.deepEqual(structure(list, names()), list);
  });

  it("means what the jumps mean, in 1000 random lists", () => {
    const next = sequence(5);
    for (let round = 0; round < 1000; round++) {
      const list = random(next);
      const structured = structure(list, names());
      walkStmts(structured, (stmt) => assert(!("of" in stmt || "label" in stmt)));
      verify(kernelOf(structured));
      assert.equal(run(structured), run(list), `round ${round}`);
    }
  });

  it("refuses jumps that nothing takes", () => {
    const refused = (list: Stmt[], problem: RegExp) =>
      assert.throws(
        () => structure(list, names()),
        (e) => e instanceof IRError && problem.test(e.message),
      );
    refused([to("break", "nowhere")], /jumps\.f90:7:1: break of nowhere, which is not a loop around it/);
    refused([teamFor("t", n(3), [leave(location)])], /a jump out of a teamFor/);
    refused([{ kind: "while", cond: now(1), body: [], update: [leave(location)], location }], /a jump in the update of a loop/);
    assert.equal(leave(location).of, RETURN);
  });
});
