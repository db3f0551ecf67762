import assert from "node:assert/strict";
import { it } from "node:test";
import { singlePrecision } from "../../../src/ir/passes/single.js";
import type { KernelIR, Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import {
  add,
  array,
  bin,
  c,
  cast,
  declare,
  define,
  entry,
  f,
  i,
  kernel,
  load,
  local,
  n,
  reduce,
  scalar,
  store,
  table,
  total,
  value,
  view,
} from "../build.js";

/** The same without places in sources. */
const bare = (ir: KernelIR): unknown => JSON.parse(JSON.stringify(ir, (key, item: unknown) => (key === "location" ? undefined : item)));

it("a kernel in single precision has f32 for each f64, and everything else as it was", () => {
  const params = (type: "f64" | "f32") => [
    value("a", type),
    value("m", "i32"),
    view("x", 1, type),
    view("k", 1, "i32"),
    { ...total("s", type), identity: type === "f64" ? 0.1 : Math.fround(0.1) },
    { ...total("count", "i32"), identity: 7 },
  ];
  const body = (type: "f64" | "f32"): Stmt[] => {
    const number = (of: number) => c(type, type === "f64" ? of : Math.fround(of));
    return [
      define("y", bin("mul", scalar("a", type), load("x", [i], type))),
      declare("z", type),
      declare("b", "bool"),
      define("j", bin("add", scalar("m", "i32"), load("k", [i], "i32"))),
      array("w", 3, "private", type),
      store("x", [i], add(local("y", type), bin("sub", entry("t", [n(1)], type), number(0.1)))),
      store("k", [i], local("j", "i32")),
      reduce("s", local("y", type)),
      reduce("count", n(2)),
    ];
  };
  const tables = (type: "f64" | "f32") => [
    table("t", [0.1, 0.2].map(type === "f64" ? Number : Math.fround), [2], type),
    table("u", [1, 2], [2], "i32"),
  ];
  const double = kernel(params("f64"), body("f64"), { tables: tables("f64") });
  const single = kernel(params("f32"), body("f32"), { tables: tables("f32") });
  verify(double);
  assert.deepEqual(bare(singlePrecision(double)), bare(single));
  assert.deepEqual(bare(singlePrecision(single)), bare(single));
});

it("a kernel in single precision has no casts between its f32, and other casts to them", () => {
  const x = load("x", [i], "f32");
  const body = (value: Stmt): KernelIR => kernel([view("x", 1, "f32"), view("k", 1, "i32")], [value]);
  const kept = cast("f32", load("k", [i], "i32"));
  for (const [before, after] of [
    [cast("f32", cast("f64", x)), x],
    [cast("f32", add(cast("f64", x), f(1))), add(x, c("f32", 1))],
    [kept, kept],
    [cast("f32", cast("f64", load("k", [i], "i32"))), kept],
  ])
    assert.deepEqual(bare(singlePrecision(body(store("x", [i], before)))), bare(body(store("x", [i], after))));
});
