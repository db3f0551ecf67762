import assert from "node:assert/strict";
import test from "node:test";
import { IRError } from "../../src/base/errors.js";
import { cudaDialect } from "../../src/emit/c/cuda/dialect.js";
import { featuresOf } from "../../src/emit/c/gpu/emit.js";
import { openclDialect } from "../../src/emit/c/opencl/dialect.js";
import { analyseAccess } from "../../src/ir/analysis/access.js";
import { BARRIER, block, declare, eq, increase, local, lt, num, thread, upTo, variable, when } from "../../src/schedule/build.js";
import type { ScheduledEntry } from "../../src/schedule/entry.js";
import { defaultAssumptions, entriesOf, scheduleGpu } from "../../src/schedule/lower.js";
import type { Expr, Stmt } from "../../src/schedule/nodes.js";
import { Uniformity } from "../../src/schedule/uniformity.js";
import { verifySchedule } from "../../src/schedule/verify.js";
import { blocksOf } from "../../src/schedule/walk.js";
import { applicationKernels } from "../device/gpu-sources.js";

const FEATURES = [
  featuresOf(cudaDialect(false)),
  featuresOf(openclDialect({ wide: false, strict: false }, { f64: true, atomics64: true, exactF32: true, subGroups: false })),
];

/** Entries of the applications' kernels, strict and fast, with shuffles and without. */
const entries = applicationKernels().flatMap(({ ir }) =>
  FEATURES.flatMap((features) =>
    [true, false].flatMap((strict) => entriesOf(scheduleGpu(ir, analyseAccess(ir), defaultAssumptions(ir, strict), features))),
  ),
);

/** The statements with `change` made of each, also inside of others. */
function changed(list: readonly Stmt[], change: (stmt: Stmt) => readonly Stmt[]): Stmt[] {
  return list.flatMap((stmt) => {
    switch (stmt.kind) {
      case "if":
        return change({ ...stmt, then: changed(stmt.then, change), else: changed(stmt.else, change) });
      case "while":
        return change({ ...stmt, body: changed(stmt.body, change), update: changed(stmt.update, change) });
      case "loop":
      case "repeat":
      case "block":
        return change({ ...stmt, body: changed(stmt.body, change) });
      default:
        return change(stmt);
    }
  });
}

const everyStatement = (list: readonly Stmt[]): Stmt[] => list.flatMap((stmt) => [stmt, ...blocksOf(stmt).flatMap(everyStatement)]);

/** Plants a mistake at each statement for which `plant` has one, and wants it found with this message. */
function planted(plant: (stmt: Stmt) => readonly Stmt[] | undefined, message: RegExp, least: number): void {
  let found = 0;
  for (const entry of entries) {
    const wrong: ScheduledEntry = { ...entry, body: changed(entry.body, (stmt) => plant(stmt) ?? [stmt]) };
    if (!everyStatement(entry.body).some((stmt) => plant(stmt))) continue;
    assert.throws(
      () => verifySchedule("k", [wrong], []),
      (error) => error instanceof IRError && message.test(error.message),
      entry.id,
    );
    found++;
  }
  assert.ok(found >= least, `${found} entries`);
}

test("schedules of all applications are sound", () => {
  assert.ok(entries.length > 400, `${entries.length} entries`);
  for (const entry of entries) verifySchedule("k", [entry], []);
});

test("a barrier that only one thread comes to is found", () => {
  planted((stmt) => (stmt.kind === "barrier" ? [when(eq(thread("x"), 0), [stmt])] : undefined), /only some threads of a block/, 50);
});

test("a barrier after a return of some threads is found", () => {
  planted(
    (stmt) => (stmt.kind === "barrier" ? [when(eq(thread("x"), 0), [{ kind: "return" }]), stmt] : undefined),
    /only some threads of a block/,
    50,
  );
});

test("a declaration that is missing, or there twice, is found", () => {
  planted((stmt) => (stmt.kind === "let" && !stmt.ifUsed && stmt.id !== "thread" ? [stmt, stmt] : undefined), /two declarations of/, 300);
  planted((stmt) => (stmt.kind === "loop" && stmt.start ? [{ ...stmt, start: undefined }] : undefined), /no variable/, 100);
});

test("a condition and a value of the wrong type are found", () => {
  planted((stmt) => (stmt.kind === "if" ? [{ ...stmt, cond: num(1) }] : undefined), /a condition that is int/, 300);
  const wrong: Expr = { op: "const", type: "bool", value: true };
  planted(
    (stmt) => (stmt.kind === "assign" && stmt.to.type !== "bool" ? [{ ...stmt, value: wrong }] : undefined),
    /bool where \w+ is wanted/,
    300,
  );
});

const THREAD = declare("thread", "u32", thread("x"));
const isApart = (...statements: readonly Stmt[]): boolean => new Uniformity([THREAD, ...statements]).barrierApart() !== undefined;

test("numbers of blocks decide for all of their threads", () => {
  assert.equal(isApart(when(eq(block("x"), 0), [BARRIER])), false);
  assert.equal(isApart(upTo("n", block("x"), 10, 1, [BARRIER])), false);
  assert.equal(isApart(upTo("n", local("thread", "u32"), 10, 1, [BARRIER])), true);
});

test("what a thread knows by itself is followed through variables and turns", () => {
  const x = variable("x", "u32");
  const at = local("x", "u32");
  const start = declare("x", "u32", num(0, "u32"));
  assert.equal(isApart(start, when(lt(at, 5), [BARRIER])), false);
  assert.equal(isApart(start, increase(x, local("thread", "u32")), when(lt(at, 5), [BARRIER])), true);
  // Of the turn before
  assert.equal(isApart(start, upTo("n", num(0), 3, 1, [when(lt(at, 5), [BARRIER]), increase(x, local("thread", "u32"))])), true);
  assert.equal(isApart(start, when(lt(local("thread", "u32"), 5), [increase(x, 1)]), when(lt(at, 5), [BARRIER])), true);
});

test("who leaves a loop early misses the barriers of its next turn, and comes to those after it", () => {
  const leaves = when(eq(local("thread", "u32"), 0), [{ kind: "break" }]);
  assert.equal(isApart(upTo("n", num(0), 3, 1, [BARRIER, leaves])), true);
  assert.equal(isApart(upTo("n", num(0), 3, 1, [leaves]), BARRIER), false);
});
