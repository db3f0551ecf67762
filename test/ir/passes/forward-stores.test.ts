import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { forwardStores } from "../../../src/ir/passes/forward-stores.js";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { KernelIR, Param, Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import {
  add,
  assign,
  cmp,
  define,
  extent,
  f,
  i,
  j,
  kernel,
  leave,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  scalar,
  store,
  value,
  view,
  when,
} from "../build.js";
import { interpret, type Memory } from "../interpret.js";
import { EXTENT, randomKernel, randomMemory } from "../random.js";

const VIEWS: Param[] = [view("x"), view("y"), view("u", 2), view("b", 1, "u8"), view("n", 1, "i32"), value("p")];
const x = (at = i) => load("x", [at]);
const y = (at = i) => load("y", [at]);

/** The statements after the pass, one a line. */
function forwarded(...body: Stmt[]): string[] {
  const ir = kernel(VIEWS, body, { rank: 2 });
  verify(ir);
  const after = forwardStores(ir);
  verify(after);
  return printKernel(after)
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}(view|scalar) /.test(line))
    .map((line) => line.slice(2));
}

describe("what an element reads back is taken from a local", () => {
  it("and a kernel without is given back as it is", () => {
    const same = (...body: Stmt[]): boolean => {
      const ir = kernel(VIEWS, body, { rank: 2 });
      return forwardStores(ir) === ir;
    };
    assert.ok(same(store("y", [i], add(y(), x())), store("x", [i], f(1))));
    assert.ok(!same(store("y", [i], x()), store("x", [i], y())));
    assert.ok(!same(store("y", [i], f(1)), store("y", [i], x())));
  });

  it("and the store takes it, too", () => {
    assert.deepEqual(forwarded(store("y", [i], mul(x(), x())), store("u", [i, j], add(y(), y()))), [
      "let y_value: f64 = x[i] * x[i]",
      "y[i] = y_value",
      "u[i][j] = y_value + y_value",
    ]);
  });

  it("or from what was stored, where that costs nothing", () => {
    assert.deepEqual(forwarded(store("y", [i], f(2)), store("x", [i], y()), store("u", [i, j], add(x(), scalar("p")))), [
      "y[i] = 2.0",
      "x[i] = 2.0",
      "u[i][j] = 2.0 + p",
    ]);
  });

  it("but not from a local that changes later", () => {
    assert.deepEqual(forwarded(define("s", x()), store("y", [i], local("s")), assign("s", f(1)), store("u", [i, j], y())), [
      "let s: f64 = x[i]",
      "let y_value: f64 = s",
      "y[i] = y_value",
      "s = 1.0",
      "u[i][j] = y_value",
    ]);
  });

  it("of bytes, as they are cut", () => {
    assert.deepEqual(forwarded(store("b", [i], load("n", [i], "i32")), store("n", [j], load("b", [i], "i32"))), [
      "let b_value: i32 = n[i] & 255",
      "b[i] = b_value",
      "n[j] = b_value",
    ]);
    assert.deepEqual(forwarded(store("b", [i], n(-1)), store("n", [i], load("b", [i], "i32"))), ["b[i] = -1", "n[i] = 255"]);
  });

  it("not past a store that may go to the same element", () => {
    const body = [store("y", [i], mul(x(), x())), store("y", [j], f(0)), store("u", [i, j], y())];
    assert.deepEqual(forwarded(...body), ["y[i] = x[i] * x[i]", "y[j] = 0.0", "u[i][j] = y[i]"]);
  });

  it("past stores that certainly go elsewhere", () => {
    const body = [
      store("y", [i], f(3)),
      store("y", [add(i, n(1))], f(0)),
      store("u", [i, n(0)], y()),
      store("u", [i, n(1)], load("u", [i, n(0)])),
    ];
    assert.deepEqual(forwarded(...body), ["y[i] = 3.0", "y[i + 1] = 0.0", "u[i][0] = 3.0", "u[i][1] = 3.0"]);
    const next = [define("next", add(i, n(1))), store("y", [i], f(3)), store("y", [local("next", "i32")], f(0)), store("x", [i], y())];
    assert.equal(forwarded(...next).at(-1), "x[i] = 3.0", "as the local's definition tells");
  });

  it("not past a branch or a loop that may store there", () => {
    const stores = store("y", [i], x());
    assert.deepEqual(forwarded(store("y", [i], f(1)), when(cmp("lt", x(), f(0)), [stores]), store("u", [i, j], y())), [
      "y[i] = 1.0",
      "if x[i] < 0.0",
      "  y[i] = x[i]",
      "u[i][j] = y[i]",
    ]);
    const turns = loop("k", n(0), extent("x"), [store("u", [i, local("k", "i32")], y()), store("y", [i], f(2))]);
    assert.deepEqual(forwarded(store("y", [i], f(1)), turns, store("x", [i], y())), [
      "y[i] = 1.0",
      "for k = 0 until x.length",
      "  u[i][k] = y[i]",
      "  y[i] = 2.0",
      "x[i] = y[i]",
    ]);
  });

  it("inside branches and loops that only read", () => {
    const reads = loop("k", n(0), extent("x"), [store("u", [i, local("k", "i32")], y())]);
    assert.deepEqual(forwarded(store("y", [i], add(x(), f(1))), when(cmp("lt", y(), f(0)), [reads])), [
      "let y_value: f64 = x[i] + 1.0",
      "y[i] = y_value",
      "if y_value < 0.0",
      "  for k = 0 until x.length",
      "    u[i][k] = y_value",
    ]);
  });

  it("not where the index depends on memory or on a local that changes", () => {
    const gathered = load("n", [i], "i32");
    const moving = local("at", "i32");
    const body = [
      store("y", [gathered], f(1)),
      store("n", [i], n(3)),
      store("u", [i, j], y(gathered)),
      define("at", i),
      store("y", [moving], f(2)),
      assign("at", j),
      store("x", [i], y(moving)),
    ];
    assert.deepEqual(forwarded(...body), [
      "y[n[i]] = 1.0",
      "n[i] = 3",
      "u[i][j] = y[3]",
      "let at: i32 = i",
      "y[at] = 2.0",
      "at = j",
      "x[i] = y[at]",
    ]);
  });

  it("not in team kernels", () => {
    const team: KernelIR = { ...kernel(VIEWS, [store("y", [i], x()), store("x", [i], y())]), policy: { kind: "team" } };
    assert.equal(forwardStores(team), team);
  });
});

describe("stores are dropped", () => {
  it("that are overwritten before a read", () => {
    assert.deepEqual(forwarded(store("y", [i], x()), store("x", [i], f(0)), store("y", [i], f(1))), ["x[i] = 0.0", "y[i] = 1.0"]);
  });

  it("when what is read between them is taken from a local", () => {
    assert.deepEqual(forwarded(store("y", [i], x()), store("y", [i], add(y(), f(1))), store("y", [i], mul(y(), f(2)))), [
      "let y_value: f64 = x[i]",
      "let y_value_1: f64 = y_value + 1.0",
      "y[i] = y_value_1 * 2.0",
    ]);
  });

  it("not where something may read them", () => {
    assert.equal(forwarded(store("y", [i], f(1)), store("x", [i], y(j)), store("y", [i], f(2))).length, 3);
    assert.equal(forwarded(store("y", [i], f(1)), when(cmp("lt", y(j), f(0)), []), store("y", [i], f(2))).length, 3);
  });

  it("not where they are overwritten on some paths only", () => {
    const [first, second] = [store("y", [i], f(1)), store("y", [i], f(2))];
    assert.equal(forwarded(first, when(cmp("lt", x(), f(0)), [second])).length, 3);
    assert.deepEqual(forwarded(first, when(cmp("lt", x(), f(0)), [second], [store("y", [i], f(3))])), [
      "if x[i] < 0.0",
      "  y[i] = 2.0",
      "else",
      "  y[i] = 3.0",
    ]);
    const leaves = loopWhile(cmp("lt", x(), f(0)), [first, when(cmp("lt", x(j), f(0)), [leave()]), second]);
    assert.equal(forwarded(leaves).length, 5);
  });
});

it("no bit changes of what random kernels compute", () => {
  const outcome = (ir: KernelIR): Memory => {
    const memory = randomMemory();
    interpret(ir, EXTENT, memory, { pd: 2.5, pi: -7, pb: true });
    return memory;
  };
  let changed = 0;
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 100, maxLength: 600, size: "max" }), (choices) => {
      const ir = optimise(randomKernel(choices));
      const after = forwardStores(ir);
      verify(after);
      if (printKernel(after) !== printKernel(ir)) changed++;
      assert.deepEqual(outcome(after), outcome(ir), printKernel(ir));
      assert.deepEqual(outcome(optimise(after)), outcome(ir), printKernel(after));
    }),
    { numRuns: 1500, seed: 11 },
  );
  assert.ok(changed > 300, `${changed} kernels have something to forward`);
});
