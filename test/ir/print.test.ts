import assert from "node:assert/strict";
import { test } from "node:test";
import { printKernel, printExpr } from "../../src/ir/kernel-text.js";
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
  or,
  reduce,
  scalar,
  scatter,
  select,
  setElement,
  single,
  store,
  sub,
  table,
  target,
  teamFor,
  teamKernel,
  teamReduce,
  teamSize,
  total,
  un,
  value,
  view,
  when,
} from "./build.js";

test("expressions have the brackets that they need", () => {
  const [a, b] = [local("a"), local("b")];
  const shown = (expr: Parameters<typeof printExpr>[0]) => printExpr(expr);
  assert.equal(shown(mul(add(a, b), sub(a, sub(b, a)))), "(a + b) * (a - (b - a))");
  assert.equal(shown(sub(sub(a, b), mul(a, div(b, a)))), "a - b - a * (b / a)");
  assert.equal(shown(un("neg", add(a, un("neg", un("neg", b))))), "-(a + -(-b))");
  assert.equal(shown(or(and(cmp("lt", a, b), cmp("ne", a, b)), un("not", cmp("eq", a, b)))), "a < b && a != b || !(a == b)");
  assert.equal(
    shown(select(cmp("ge", a, b), select(cmp("gt", a, f(0)), a, b), select(cmp("le", a, f(0)), a, b))),
    "a >= b ? (a > 0.0 ? a : b) : a <= 0.0 ? a : b",
  );
  assert.equal(shown(bin("shr", c("u32", 7), bin("or", c("u32", 1), c("u32", 2)))), "7u >>> (1u | 2u)");
  assert.equal(shown(bin("shr", n(7), n(1))), "7 >> 1");
  assert.equal(shown(cast("f32", bin("min", a, call("pow", a, f(-0.5))))), "f32(min(a, pow(a, -0.5)))");
});

test("constants show their type", () => {
  assert.deepEqual(
    [f(2), f(-0), f(1e21), f(NaN), c("f32", 0.5), c("f32", 3), n(-4), c("u32", 5), c("bool", true)].map((e) => printExpr(e)),
    ["2.0", "-0.0", "1e+21", "NaN", "0.5f", "3.0f", "-4", "5u", "true"],
  );
});

test("a range kernel in full", () => {
  const ir = kernel(
    [
      value("a"),
      view("x", 2),
      view("y", 1, "u8", true),
      target("h", 2, "f32"),
      total("s"),
      { kind: "reduce", name: "r", type: "f64", op: "custom", identity: 1, combine: { a: "p", b: "q", body: mul(local("p"), local("q")) } },
    ],
    [
      declare("t"),
      array("w", 3),
      loop("k1", n(0), extent("x", 1), [setElement("w", local("k1", "i32"), load("x", [i, j]))], 2),
      loopWhile(
        cmp("lt", local("t"), scalar("a")),
        [when(cmp("gt", local("t"), f(1)), [leave()], [assign("t", f(2))])],
        [assign("t", f(3))],
      ),
      scatter("h", [i, n(0)], c("f32", 1)),
      reduce("s", element("w", n(1))),
      store("y", [j], cast("i32", entry("c", [n(0), i]))),
    ],
    { rank: 2, tables: [table("c", [1, 2], [1, 2])] },
  );
  assert.equal(
    printKernel(ir),
    `kernel test (range i, j)
  scalar a: f64
  view x: f64[][]
  view y: u8[] disjoint
  scatter h: f32[][] sum
  reduce s: f64 sum, from 0
  reduce r: f64 (p, q) => p * q, from 1
  table c: f64[1][2] = 1, 2
  let t: f64
  private w: f64[3]
  for k1 = 0 until x[0].length step 2
    w[k1] = x[i][j]
  while t < a
    if t > 1.0
      break
    else
      t = 2.0
  update
    t = 3.0
  scatter h[i][0] <- 1.0f
  reduce s <- w[1]
  y[j] = i32(c[0][i])
`,
  );
});

test("a team kernel in full", () => {
  const ir = teamKernel(
    [view("y")],
    [
      array("p", 8, "scratch"),
      teamFor("q", n(8), [setElement("p", local("q", "i32"), cast("f64", teamSize))]),
      teamReduce(
        "r",
        n(8),
        [
          { name: "v", type: "f64", op: "sum" },
          { name: "w", type: "f64", op: "max" },
        ],
        [reduce("v", element("p", local("r", "i32")))],
      ),
      single([store("y", [i], local("v"))]),
    ],
  );
  assert.equal(
    printKernel(ir),
    `kernel test (team)
  view y: f64[]
  scratch p: f64[8]
  team for q until 8
    p[q] = f64(team.size)
  team reduce r until 8 (v: f64 sum, w: f64 max)
    reduce v <- p[r]
  team single
    y[team.index] = v
`,
  );
});

test("index names give way to the kernel's own", () => {
  assert.match(
    printKernel(kernel([view("y")], [define("i", n(3)), store("y", [i], f(1))])),
    /range i'\)\n.*\n  let i: i32 = 3\n  y\[i'\] = 1\.0/,
  );
});
