import assert from "node:assert/strict";
import { test } from "node:test";
import { optimise } from "../../../src/ir/passes/optimise.js";
import { foldConstants } from "../../../src/ir/constant-folding.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { Expr, KernelIR, Stmt } from "../../../src/ir/types.js";
import { KernelError } from "../../../src/base/errors.js";
import {
  add,
  and,
  array,
  assign,
  bin,
  c,
  call,
  cast,
  cmp,
  declare,
  define,
  div,
  element,
  entry,
  f,
  i,
  kernel,
  leave,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  or,
  scalar,
  select,
  setElement,
  skip,
  store,
  sub,
  table,
  teamFor,
  teamKernel,
  un,
  value,
  view,
  when,
} from "../build.js";

const at = (name: string) => local(name, "i32");
const x = load("x", [i]);
const m = load("m", [i], "i32");
const params = [view("x"), view("y"), view("m", 1, "i32"), value("n", "i32"), value("flag", "bool")];
const flag = scalar("flag", "bool");
const size = scalar("n", "i32");

/** The printed body, without the declarations above it. */
const bodyOf = (ir: KernelIR) =>
  printKernel(ir)
    .split("\n")
    .slice(1 + ir.params.length + ir.tables.length, -1)
    .map((s) => s.slice(2));
const optimised = (...body: Stmt[]) => bodyOf(optimise(kernel(params, body)));
const folded = (expr: Expr) => {
  const to = expr.type === "bool" ? cast("i32", expr) : expr;
  return bodyOf(foldConstants(kernel(params, [store(to.type === "f64" ? "y" : "m", [i], to)])))[0].replace(/^.*? = /, "");
};

test("float arithmetic is folded only where no bit can change", () => {
  assert.equal(folded(add(f(0.1), f(0.2))), "0.30000000000000004");
  assert.equal(folded(mul(x, f(1))), "x[i]");
  assert.equal(folded(div(x, f(1))), "x[i]");
  assert.equal(folded(sub(x, f(0))), "x[i]");
  assert.equal(folded(add(x, f(0))), "x[i] + 0.0", "-0 + 0 is 0");
  assert.equal(folded(mul(x, f(0))), "x[i] * 0.0", "of NaN it is NaN");
  assert.equal(folded(sub(x, f(-0))), "x[i] - -0.0");
  assert.equal(folded(add(add(x, f(1)), f(2))), "x[i] + 1.0 + 2.0");
  assert.equal(folded(un("neg", f(0))), "-0.0");
  assert.equal(folded(un("floor", div(x, f(NaN)))), "NaN");
  assert.equal(folded(bin("max", f(-0), x)), "max(x[i], -0.0)");
});

test("signs and powers of two are taken the short way, with the same bits", () => {
  assert.equal(folded(mul(f(-1), x)), "-x[i]");
  assert.equal(folded(add(f(2), mul(x, f(-1)))), "2.0 - x[i]");
  assert.equal(folded(add(un("neg", x), f(2))), "2.0 - x[i]");
  assert.equal(folded(sub(f(2), un("neg", x))), "2.0 + x[i]");
  assert.equal(folded(add(x, mul(f(-3), x))), "x[i] - 3.0 * x[i]");
  assert.equal(folded(add(mul(x, f(-3)), x)), "x[i] - x[i] * 3.0");
  assert.equal(folded(sub(f(2), mul(x, f(-3)))), "2.0 + x[i] * 3.0");
  assert.equal(folded(sub(mul(f(-3), x), f(2))), "-3.0 * x[i] - 2.0");
  assert.equal(folded(div(x, f(-4))), "x[i] * -0.25");
  assert.equal(folded(div(x, f(3))), "x[i] / 3.0");
  assert.equal(folded(div(x, f(2 ** 1023))), `x[i] / ${2 ** 1023}`, "the reciprocal would not be normal");
});

test("small powers are products", () => {
  assert.equal(folded(call("pow", x, f(2))), "x[i] * x[i]");
  assert.equal(folded(call("pow", x, f(3))), "x[i] * x[i] * x[i]");
  assert.equal(folded(call("pow", x, f(4))), "pow(x[i], 4.0)");
  assert.equal(folded(call("pow", call("exp", x), f(2))), "pow(exp(x[i]), 2.0)", "the function would be called twice");
});

test("integer identities and sums of constants are folded", () => {
  assert.equal(folded(add(m, n(0))), "m[i]");
  assert.equal(folded(mul(n(0), m)), "0");
  assert.equal(folded(bin("or", m, n(0))), "m[i]");
  assert.equal(folded(sub(add(m, n(2)), n(3))), "m[i] - 1");
  assert.equal(folded(add(n(3), sub(m, n(3)))), "m[i]");
  assert.equal(folded(add(add(m, n(2147483647)), n(1))), "m[i] + -2147483648");
  assert.equal(folded(sub(n(3), m)), "3 - m[i]");
});

test("conditions that are known choose their side", () => {
  assert.equal(folded(select(c("bool", true), x, f(2))), "x[i]");
  assert.equal(folded(and(flag, c("bool", false))), "0");
  assert.equal(folded(or(c("bool", false), flag)), "i32(flag)");
  assert.equal(folded(un("not", un("not", flag))), "i32(flag)");
  assert.equal(folded(un("not", cmp("lt", m, n(1)))), "i32(m[i] >= 1)");
  assert.equal(folded(un("not", cmp("lt", x, f(1)))), "i32(!(x[i] < 1.0))", "with NaN neither holds");
  assert.deepEqual(optimised(when(cmp("lt", n(1), n(2)), [store("y", [i], f(1))], [store("y", [i], f(2))])), ["y[i] = 1.0"]);
  assert.deepEqual(optimised(when(flag, [], [store("y", [i], f(2))])), ["if !flag", "  y[i] = 2.0"]);
  assert.deepEqual(optimised(loopWhile(c("bool", false), [store("y", [i], f(1))])), []);
});

test("casts there and back are gone where nothing is lost", () => {
  assert.equal(folded(cast("i32", cast("f64", m))), "m[i]");
  assert.equal(folded(cast("f64", cast("i32", x))), "f64(i32(x[i]))");
});

test("a constant or copy takes the place of the local that holds it", () => {
  assert.deepEqual(optimised(define("t", n(3)), define("u", at("t")), store("m", [i], mul(at("u"), at("t")))), ["m[i] = 9"]);
  assert.deepEqual(optimised(define("t", n(3)), when(flag, [assign("t", n(4))]), store("m", [i], at("t"))), [
    "let t: i32 = 3",
    "if flag",
    "  t = 4",
    "m[i] = t",
  ]);
});

test("a local that changes is a constant where its value is known", () => {
  assert.deepEqual(optimised(define("t", n(1)), store("m", [i], at("t")), assign("t", add(at("t"), n(1))), store("m", [i], at("t"))), [
    "m[i] = 1",
    "m[i] = 2",
  ]);
  assert.deepEqual(
    optimised(define("t", n(1)), when(flag, [assign("t", n(2))], [assign("t", n(2)), store("m", [i], at("t"))]), store("m", [i], at("t"))),
    ["if !flag", "  m[i] = 2", "m[i] = 2"],
  );
});

test("what a loop assigns is not taken for a constant in it or after it", () => {
  const counter = [define("t", n(0)), define("u", n(7))];
  assert.deepEqual(
    optimised(
      ...counter,
      loop("q", n(0), size, [store("m", [at("t")], at("u")), assign("t", add(at("t"), n(1)))]),
      assign("u", n(8)),
      store("m", [at("u")], at("t")),
    ),
    ["let t: i32 = 0", "for q = 0 until n", "  m[t] = 7", "  t = t + 1", "m[8] = t"],
  );
  assert.deepEqual(
    optimised(
      ...counter,
      loopWhile(
        cmp("lt", at("t"), size),
        [when(flag, [assign("u", n(1)), skip()]), assign("u", n(2))],
        [assign("t", add(at("t"), at("u")))],
      ),
      store("m", [i], at("t")),
    ),
    [
      "let t: i32 = 0",
      "let u: i32 = 7",
      "while t < n",
      "  if flag",
      "    u = 1",
      "    continue",
      "  u = 2",
      "update",
      "  t = t + u",
      "m[i] = t",
    ],
  );
  assert.deepEqual(
    optimised(...counter, loopWhile(flag, [when(flag, [assign("t", n(1)), leave()]), assign("t", n(2))]), store("m", [i], at("t"))),
    ["let t: i32 = 0", "while flag", "  if flag", "    t = 1", "    break", "  t = 2", "m[i] = t"],
  );
});

test("integer operations are done in the type that needs no casts", () => {
  const [a, b] = [cast("i32", scalar("p", "u32")), cast("i32", scalar("q", "u32"))];
  const shown = (expr: Expr) =>
    bodyOf(foldConstants(kernel([...params, value("p", "u32"), value("q", "u32"), view("w", 1, "u32")], [store("w", [i], expr)])))[0];
  assert.equal(shown(cast("u32", bin("xor", bin("mul", a, n(-5)), b))), "w[i] = p * 4294967291u ^ q");
  assert.equal(shown(cast("u32", bin("shr", a, n(1)))), "w[i] = u32(i32(p) >> 1)");
  assert.equal(shown(cast("u32", add(a, m))), "w[i] = u32(i32(p) + m[i])");
});

test("code after a break is gone", () => {
  assert.deepEqual(optimised(loop("q", n(0), size, [when(c("bool", true), [leave()]), store("y", [i], f(1))])), [
    "for q = 0 until n",
    "  break",
  ]);
});

test("loops with constant bounds are written out, inner ones that depend on outer ones too", () => {
  assert.deepEqual(optimised(loop("p", n(0), n(2), [loop("q", at("p"), n(-1), [store("m", [at("p")], at("q"))], -1)])), [
    "m[0] = 0",
    "m[1] = 1",
    "m[1] = 0",
  ]);
});

test("locals of a body that is written out get a name for each turn", () => {
  assert.deepEqual(
    optimised(
      loop("q", n(0), n(2), [
        define("t", load("x", [at("q")])),
        assign("t", mul(local("t"), local("t"))),
        store("y", [at("q")], local("t")),
      ]),
    ),
    ["let t_0: f64 = x[0]", "t_0 = t_0 * t_0", "y[0] = t_0", "let t_1: f64 = x[1]", "t_1 = t_1 * t_1", "y[1] = t_1"],
  );
});

test("loops that are long, left early or hold work for a team stay", () => {
  const stays = (ir: KernelIR) => assert.match(printKernel(optimise(ir)), /for q = /);
  stays(kernel(params, [loop("q", n(0), n(65), [store("y", [at("q")], f(0))])]));
  stays(kernel(params, [loop("q", n(0), n(4), [when(flag, [leave()]), store("y", [at("q")], f(0))])]));
  stays(kernel(params, [loop("q", n(0), size, [store("y", [at("q")], f(0))])]));
  stays(teamKernel(params, [loop("q", n(0), n(4), [teamFor("r", size, [store("y", [at("r")], f(0))])])]));
});

test("table entries at constant indices are folded, and unused tables are gone", () => {
  const ir = kernel(params, [loop("q", n(0), n(2), [store("y", [at("q")], entry("w", [at("q"), n(1)]))])], {
    tables: [table("w", [1, 2, 3, 4], [2, 2])],
  });
  assert.deepEqual(bodyOf(optimise(ir)), ["y[0] = 2.0", "y[1] = 4.0"]);
  assert.deepEqual(optimise(ir).tables, []);
});

test("private arrays with constant indices become locals", () => {
  assert.deepEqual(
    optimised(
      array("a", 2),
      loop("q", n(0), n(2), [setElement("a", at("q"), load("x", [at("q")]))]),
      store("y", [i], add(element("a", n(0)), element("a", n(1)))),
    ),
    ["let a_0: f64 = x[0]", "let a_1: f64 = x[1]", "y[i] = a_0 + a_1"],
  );
});

test("private arrays start at zero and are zero again in each turn of a loop", () => {
  assert.deepEqual(
    optimised(loop("q", n(0), size, [array("a", 1), when(flag, [setElement("a", n(0), f(2))]), store("y", [i], element("a", n(0)))])),
    ["for q = 0 until n", "  let a_0: f64 = 0.0", "  if flag", "    a_0 = 2.0", "  y[i] = a_0"],
  );
});

test("private arrays with run-time indices stay", () => {
  assert.deepEqual(optimised(array("a", 4), setElement("a", n(1), x), store("y", [i], element("a", m))), [
    "private a: f64[4]",
    "a[1] = x[i]",
    "y[i] = a[m[i]]",
  ]);
});

test("a constant index outside an array or table is refused where it stands", () => {
  const refused = (body: Stmt[], tables = [table("w", [1, 2])]) =>
    assert.throws(
      () => optimise(kernel(params, body, { tables })),
      (e: unknown) => e instanceof KernelError && /from 0 to 1/.test(e.message),
    );
  refused([array("a", 2), setElement("a", n(2), x), store("y", [i], element("a", n(0)))]);
  refused([array("a", 2), store("y", [i], element("a", n(-1)))]);
  refused([store("y", [i], entry("w", [n(2)]))]);
  refused([loop("q", n(0), n(1000), [store("y", [i], entry("w", [at("q")]))])]);
  refused([loop("q", n(999), n(-1), [store("y", [i], entry("w", [sub(at("q"), n(1))]))], -1)]);
  refused([array("a", 2), loop("q", n(0), n(1000), [setElement("a", at("q"), x)]), store("y", [i], element("a", m))]);
});

test("an index that no turn reaches is not refused", () => {
  assert.deepEqual(
    optimised(
      array("a", 2),
      setElement("a", n(0), x),
      setElement("a", n(1), x),
      loop("q", n(0), n(2), [store("y", [at("q")], select(cmp("gt", at("q"), n(0)), element("a", sub(at("q"), n(1))), f(0)))]),
    ),
    ["let a_0: f64 = x[i]", "y[0] = 0.0", "y[1] = a_0"],
  );
  const guarded = when(cmp("lt", at("q"), n(2)), [store("y", [i], entry("w", [at("q")]))]);
  optimise(kernel(params, [loop("q", n(0), n(1000), [guarded])], { tables: [table("w", [1, 2])] }));
  optimise(kernel(params, [loop("q", n(0), size, [store("y", [i], entry("w", [at("q")]))])], { tables: [table("w", [1, 2])] }));
});

test("what nothing reads is removed", () => {
  assert.deepEqual(
    optimised(
      define("t", x),
      define("u", add(local("t"), f(1))),
      declare("v"),
      when(flag, [assign("v", local("u"))]),
      store("y", [i], f(1)),
    ),
    ["y[i] = 1.0"],
  );
  assert.deepEqual(optimised(define("t", n(0)), loop("q", n(0), size, [assign("t", add(at("t"), n(1)))]), store("y", [i], f(1))), [
    "y[i] = 1.0",
  ]);
});

test("a value that is overwritten before it is read is gone", () => {
  assert.deepEqual(
    optimised(define("t", x), store("y", [i], local("t")), assign("t", f(1)), assign("t", load("y", [n(0)])), store("y", [i], local("t"))),
    ["let t: f64 = x[i]", "y[i] = t", "t = y[0]", "y[i] = t"],
  );
  const jump = [
    define("t", x),
    loop("q", n(0), size, [assign("t", load("x", [at("q")])), when(flag, [leave()]), assign("t", x)]),
    store("y", [i], local("t")),
  ];
  assert.deepEqual(optimised(...jump).slice(2, 3), ["  t = x[q]"], "the break leads to a read");
});

test("a local is declared where it gets its value", () => {
  assert.deepEqual(optimised(declare("t", "i32"), store("y", [i], f(1)), assign("t", add(i, n(1))), store("y", [at("t")], f(2))), [
    "y[i] = 1.0",
    "let t: i32 = i + 1",
    "y[t] = 2.0",
  ]);
});

test("loops along arrays that stay in memory are left to compilers, where their turns share nothing", () => {
  const counted = (body: Stmt[]): number => {
    const kept = optimise(
      kernel(params, [
        array("a", 16),
        array("b", 16),
        loop("k", n(1), n(7), body),
        // An index that is not constant keeps both in memory.
        store("y", [i], add(element("a", m), element("b", m))),
      ]),
    );
    return printKernel(kept)
      .split("\n")
      .filter((line) => / for k\b/.test(line)).length;
  };
  const [k, next] = [at("k"), add(at("k"), n(1))];
  assert.equal(counted([setElement("a", k, mul(element("b", k), x))]), 1);
  assert.equal(counted([define("t", mul(x, x)), setElement("a", k, local("t")), setElement("b", k, add(local("t"), x))]), 1);
  // What a turn stores the next one reads.
  assert.equal(counted([setElement("a", k, x), setElement("b", k, element("a", sub(k, n(1))))]), 0);
  // Steps of two.
  assert.equal(counted([setElement("a", mul(k, n(2)), x), setElement("b", next, x)]), 0);
});

test("a loop around a loop that stays is written out where it is short, or makes indices of locals constant", () => {
  const loopsIn = (...body: Stmt[]): number =>
    printKernel(optimise(kernel(params, body)))
      .split("\n")
      .filter((line) => / for \w+\b/.test(line)).length;
  const inner = loop("j", n(0), m, [store("y", [add(at("j"), at("b"))], x)]);
  assert.equal(loopsIn(loop("b", n(0), n(9), [inner])), 2);
  assert.equal(loopsIn(loop("b", n(0), n(8), [inner])), 8, "short: one inner loop a turn is left");
  // Elements become locals.
  assert.equal(
    loopsIn(array("a", 16), loop("b", n(0), n(16), [inner, setElement("a", at("b"), x)]), store("y", [i], element("a", n(3)))),
    16,
  );
  // An index that is known at run time alone keeps the array in memory, so that no turn's constants help.
  const dynamic = loop("b", n(0), n(16), [inner, setElement("a", at("b"), x)]);
  assert.equal(loopsIn(array("a", 16), dynamic, store("y", [i], element("a", m))), 2);
  const counted = loopWhile(cmp("lt", at("d"), n(16)), [setElement("a", at("d"), x)], [assign("d", mul(at("d"), n(2)))]);
  assert.equal(loopsIn(array("a", 16), define("d", n(1)), counted, dynamic, store("y", [i], element("a", n(3)))), 2);
});
