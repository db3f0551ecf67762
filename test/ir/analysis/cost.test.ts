import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf } from "../../../src/ir/analysis/cost.js";
import type { Sizes } from "../../../src/ir/analysis/cost.js";
import { optimise } from "../../../src/ir/passes/optimise.js";
import type { Expr, KernelIR, Stmt } from "../../../src/ir/types.js";
import {
  add,
  assign,
  bin,
  call,
  cast,
  cmp,
  define,
  extent,
  f,
  i,
  index,
  j,
  k,
  kernel,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  reduce,
  scalar,
  scatter,
  select,
  store,
  sub,
  target,
  teamKernel,
  teamReduce,
  total,
  un,
  value,
  view,
  when,
} from "../build.js";

const at = (name: string) => local(name, "i32");
const range = (...extents: number[]) => ({ kind: "range" as const, begin: extents.map(() => 0), extents });
const shapes = (views: Record<string, number[]>) => Object.fromEntries(Object.entries(views).map(([name, shape]) => [name, { shape }]));
const cost = (ir: KernelIR, policy: Sizes["policy"], views: Record<string, number[]>, scalars: Sizes["scalars"] = {}) =>
  costOf(optimise(ir), { policy, views: shapes(views), scalars });

/* The six kernels of AVU-GSR as published: 8-byte row indices (f64 here, for want of wider integers), 4-byte instrument columns. */

const [N, S, AXIS, INSTRUMENT] = [240_000, 1000, 230_489, 260_338];
const wide = (name: string) => cast("i32", load(name, [i]));
const column = (q: Expr) => load("col", [q, i], "i32");

/** b[i] += sum over q of A[q][i] * x(q), the sum starting from zero. */
const rowProduct = (terms: number, x: (q: Expr) => Expr): Stmt[] => [
  define("sum", f(0)),
  loop("q", n(0), n(terms), [assign("sum", add(local("sum"), mul(load("A", [at("q"), i]), x(at("q")))))]),
  store("b", [i], add(load("b", [i]), local("sum"))),
];

test("A x: operations and bytes of the published kernels", () => {
  const astro = kernel(
    [view("A", 2), view("x", 2), view("b"), view("star")],
    rowProduct(5, (q) => load("x", [wide("star"), q])),
  );
  assert.deepEqual(cost(astro, range(N), { A: [5, N], x: [S, 5], b: [N], star: [N] }), { flops: 11 * N, bytes: 64 * N + 40 * S });

  const attitude = kernel(
    [view("A", 2), view("x", 2), view("b"), view("start")],
    rowProduct(12, (q) => load("x", [bin("div", q, n(4)), add(wide("start"), bin("rem", q, n(4)))])),
  );
  assert.deepEqual(cost(attitude, range(N), { A: [12, N], x: [3, AXIS], b: [N], start: [N] }), {
    flops: 25 * N,
    bytes: 120 * N + 8 * 3 * AXIS,
  });

  const instrument = kernel(
    [view("A", 2), view("x"), view("b"), view("col", 2, "i32")],
    rowProduct(6, (q) => load("x", [column(q)])),
  );
  assert.deepEqual(cost(instrument, range(N), { A: [6, N], x: [INSTRUMENT], b: [N], col: [6, N] }), {
    flops: 13 * N,
    bytes: 88 * N + 8 * INSTRUMENT,
  });
});

test("A^T y: operations and bytes of the published kernels", () => {
  const results = Array.from({ length: 5 }, (_, q) => ({ name: `s${q}`, type: "f64" as const, op: "sum" as const }));
  const row = add(wide("first"), at("m"));
  const astro = teamKernel(
    [view("A", 2), target("x", 2), view("b"), view("first"), view("end")],
    [
      teamReduce(
        "m",
        sub(wide("end"), wide("first")),
        results,
        results.map((r, q) => reduce(r.name, mul(load("A", [n(q), row]), load("b", [row])))),
      ),
      ...results.map((r, q) => scatter("x", [i, n(q)], local(r.name))),
    ],
  );
  assert.deepEqual(cost(astro, { kind: "team", league: S }, { A: [5, N], x: [S, 5], b: [N], first: [S], end: [S] }), {
    flops: 10 * N,
    bytes: 48 * N + 40 * S + 16 * S,
    estimate: true,
  });

  const spread = (terms: number, indices: (q: Expr) => Expr[]) => [
    loop("q", n(0), n(terms), [scatter("x", indices(at("q")), mul(load("A", [at("q"), i]), load("b", [i])))]),
  ];
  const attitude = kernel(
    [view("A", 2), target("x", 2), view("b"), view("start")],
    spread(12, (q) => [bin("div", q, n(4)), add(wide("start"), bin("rem", q, n(4)))]),
  );
  assert.deepEqual(cost(attitude, range(N), { A: [12, N], x: [3, AXIS], b: [N], start: [N] }), {
    flops: 12 * N,
    bytes: 112 * N + 8 * 3 * AXIS,
  });

  const instrument = kernel(
    [view("A", 2), target("x"), view("b"), view("col", 2, "i32")],
    spread(6, (q) => [column(q)]),
  );
  assert.deepEqual(cost(instrument, range(N), { A: [6, N], x: [INSTRUMENT], b: [N], col: [6, N] }), {
    flops: 6 * N,
    bytes: 80 * N + 8 * INSTRUMENT,
  });
});

test("the stream kernels", () => {
  const triad = kernel(
    [view("a"), view("b"), view("c"), value("s")],
    [store("a", [i], add(load("b", [i]), mul(scalar("s"), load("c", [i]))))],
  );
  assert.deepEqual(cost(triad, range(100), { a: [100], b: [100], c: [100] }, { s: 3 }), { flops: 200, bytes: 2400 });
  const dot = kernel([view("a"), view("b"), total("sum")], [reduce("sum", mul(load("a", [i]), load("b", [i])))]);
  assert.deepEqual(cost(dot, range(100), { a: [100], b: [100] }), { flops: 200, bytes: 1600 });
});

test("a stencil counts each cell of its box once", () => {
  const p = (di: number, dj: number, dk: number) => load("p", [add(i, n(di)), add(j, n(dj)), add(k, n(dk))]);
  const ir = kernel(
    [view("p", 3), view("s", 3)],
    [
      store(
        "s",
        [i, j, k],
        sub(mul(f(6), p(0, 0, 0)), add(add(add(p(1, 0, 0), p(-1, 0, 0)), add(p(0, 1, 0), p(0, -1, 0))), add(p(0, 0, 1), p(0, 0, -1)))),
      ),
    ],
    { rank: 3 },
  );
  const inner = { kind: "range" as const, begin: [1, 1, 1], extents: [8, 6, 4] };
  assert.deepEqual(cost(ir, inner, { p: [10, 8, 6], s: [10, 8, 6] }), { flops: 7 * 192, bytes: 8 * (10 * 8 * 6 + 192) });
});

test("strided indices count the elements that they touch", () => {
  const ir = kernel([view("x"), view("y")], [store("y", [i], load("x", [mul(n(4), i)]))]);
  assert.deepEqual(cost(ir, range(10), { x: [40], y: [10] }), { flops: 0, bytes: 8 * 20 });
  const diagonal = kernel([view("x", 2), view("y")], [store("y", [i], load("x", [i, i]))]);
  assert.deepEqual(cost(diagonal, range(10), { x: [10, 10], y: [10] }), { flops: 0, bytes: 8 * 20 });
});

test("widths are those of the elements, and nothing lies beyond an extent", () => {
  const ir = kernel(
    [view("x", 1, "u8"), view("y", 1, "f32")],
    [store("y", [i], cast("f32", select(cmp("lt", i, n(9)), load("x", [add(i, n(1))], "i32"), load("x", [i], "i32"))))],
  );
  assert.deepEqual(cost(ir, range(10), { x: [10], y: [10] }), { flops: 0, bytes: 10 + 40 });
});

test("loops count as often as scalars, extents and the range say", () => {
  const sum = (stop: Expr, start: Expr = n(0)) =>
    kernel([view("x"), total("s"), value("n", "i32")], [loop("q", start, stop, [reduce("s", un("sqrt", load("x", [at("q")])))])]);
  const flops = (ir: KernelIR) => cost(ir, range(10), { x: [100] }, { n: 7 }).flops;
  assert.equal(flops(sum(mul(scalar("n", "i32"), scalar("n", "i32")))), 2 * 10 * 49);
  assert.equal(flops(sum(extent("x"))), 2 * 10 * 100);
  assert.equal(flops(sum(i)), 2 * 45, "a triangle, on average");
  assert.equal(flops(sum(n(3), n(5))), 0);
});

test("the heavier branch counts, and calls count one", () => {
  const ir = kernel(
    [view("x"), view("y")],
    [
      when(
        cmp("gt", load("x", [i]), f(0)),
        [store("y", [i], call("exp", load("x", [i])))],
        [store("y", [i], mul(add(load("x", [i]), f(1)), f(2)))],
      ),
      store("x", [i], select(cmp("gt", load("x", [i]), f(0)), un("neg", load("x", [i])), bin("max", load("x", [i]), f(2)))),
    ],
  );
  assert.equal(cost(ir, range(10), { x: [10], y: [10] }).flops, 30);
});

test("loops that depend on data make an estimate", () => {
  const segments = kernel(
    [view("first", 1, "i32"), view("x"), view("y")],
    [
      define("sum", f(0)),
      loop("q", load("first", [i], "i32"), load("first", [add(i, n(1))], "i32"), [assign("sum", add(local("sum"), load("x", [at("q")])))]),
      store("y", [i], local("sum")),
    ],
  );
  assert.deepEqual(cost(segments, range(10), { first: [11], x: [500], y: [10] }), {
    flops: 500,
    bytes: 4 * 11 + 8 * 500 + 8 * 10,
    estimate: true,
  });
  const search = kernel(
    [view("y")],
    [define("v", f(1)), loopWhile(cmp("lt", local("v"), f(9)), [assign("v", mul(local("v"), f(2)))]), store("y", [i], local("v"))],
  );
  assert.deepEqual(cost(search, range(10), { y: [10] }), { flops: 10, bytes: 80, estimate: true });
});

test("a product and its part of a sum are two operations, though the sum of a cell starts from 0", () => {
  const own = add(f(0), mul(load("x", [i]), load("y", [i])));
  const dot = kernel([view("x"), view("y"), total("s")], [define("v", own), reduce("s", local("v"))]);
  assert.equal(cost(dot, range(10), { x: [10], y: [10] }).flops, 20);
});

test("an empty range costs nothing", () => {
  const ir = kernel([view("x"), view("y")], [store("y", [index(0)], load("x", [i]))]);
  assert.deepEqual(cost(ir, range(0), { x: [10], y: [10] }), { flops: 0, bytes: 0 });
});

test("what was counted is counted anew for another range, other shapes and other whole numbers", () => {
  const ir = optimise(
    kernel(
      [view("x"), view("y"), value("turns", "i32"), value("a")],
      [loop("q", n(0), scalar("turns", "i32"), [store("y", [i], mul(load("x", [i]), scalar("a")))])],
    ),
  );
  const flops = (length: number, extent: number, turns: number, a: number) =>
    costOf(ir, { policy: range(length), views: shapes({ x: [extent], y: [extent] }), scalars: { turns, a } });
  const first = flops(10, 20, 3, 0.5);
  assert.deepEqual(first, { flops: 30, bytes: 160 });
  assert.equal(flops(10, 20, 3, 0.75), first, "real numbers do not matter");
  assert.deepEqual(flops(20, 20, 3, 0.5), { flops: 60, bytes: 320 });
  assert.equal(flops(10, 20, 4, 0.5).flops, 40);
  assert.deepEqual(flops(10, 30, 3, 0.5), first);
});
