import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jam } from "../../src/ir/jam.js";
import { print, printExpr } from "../../src/ir/print.js";
import type { Param, Stmt } from "../../src/ir/types.js";
import { verify } from "../../src/ir/verify.js";
import { add, assign, cmp, define, f, i, j, kernel, load, local, loop, mul, n, reduce, store, sub, total, view, when } from "./build.js";
import { interpret } from "./interpret.js";

const u = (row = i, column = j) => load("u", [row, column]);
const VIEWS: Param[] = [view("u", 2), view("out", 2), view("flags", 2, "u8")];
const laplace = sub(mul(f(4), u()), add(add(u(add(i, n(1))), u(sub(i, n(1)))), add(u(i, add(j, n(1))), u(i, sub(j, n(1))))));
const flagged = cmp("eq", load("flags", [i, j], "i32"), n(1));

const jammed = (body: Stmt[], params = VIEWS) => {
  const ir = kernel(params, body, { rank: 2 });
  verify(ir);
  const pair = jam(ir, 0);
  if (pair) verify({ ...ir, body: [...pair.body] });
  return pair;
};
const lines = (body: readonly Stmt[]) =>
  print(kernel(VIEWS, [...body], { rank: 2 }))
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}(view|scalar) /.test(line))
    .map((line) => line.slice(2));

describe("two neighbouring elements are worked on together", () => {
  it("statement by statement, with locals of their own", () => {
    const pair = jammed([define("a", add(u(), u(add(i, n(1))))), store("out", [i, j], local("a"))])!;
    assert.deepEqual(lines(pair.body), [
      "let a: f64 = u[i][j] + u[i + 1][j]",
      "let a_next: f64 = u[i + 1][j] + u[i + 2][j]",
      "out[i][j] = a",
      "out[i + 1][j] = a_next",
    ]);
    assert.equal(pair.guard, undefined);
  });

  it("along the axis of the pair only", () => {
    const sideways = define("a", add(u(), u(i, add(j, n(1)))));
    assert.equal(jammed([sideways, store("out", [i, j], local("a"))]), undefined, "rows have nothing in common");
    assert.ok(jam(kernel(VIEWS, [sideways, store("out", [i, j], local("a"))], { rank: 2 }), 1));
  });

  it("under the guard that both take the same branch", () => {
    const pair = jammed([define("a", f(0)), when(flagged, [assign("a", laplace)], [assign("a", u())]), store("out", [i, j], local("a"))])!;
    assert.equal(printExpr(pair.guard!), "flags[i][j] == 1 && flags[i + 1][j] == 1");
    assert.equal(pair.body.filter((stmt) => stmt.kind === "if").length, 0);
  });

  it("with the results that each has alone", () => {
    const params = [view("u"), view("out")];
    const at = (d: number) => load("u", [add(i, n(d))]);
    const body = [
      define("a", add(at(0), mul(at(1), at(2)))),
      define("b", mul(local("a"), at(1))),
      store("out", [i], sub(local("b"), at(0))),
    ];
    const ir = kernel(params, body);
    const both = { ...ir, body: [...jam(ir, 0)!.body] };
    const values = [3, 1, 4, 1, 5, 9, 2, 6];
    const [alone, paired] = [
      { u: values, out: [0, 0] },
      { u: values, out: [0, 0] },
    ];
    interpret(ir, 2, alone, {});
    interpret(both, 1, paired, {});
    assert.deepEqual(paired.out, alone.out);
  });
});

describe("elements stay alone", () => {
  it("where a branch depends on what was computed, or memory that is written", () => {
    const branch = (cond: Parameters<typeof when>[0]) => [
      define("a", laplace),
      define("b", f(0)),
      when(cond, [assign("b", local("a"))]),
      store("out", [i, j], local("b")),
    ];
    assert.equal(jammed(branch(cmp("lt", local("a"), f(0)))), undefined);
    assert.equal(jammed(branch(cmp("lt", load("out", [i, j]), f(0)))), undefined);
  });

  it("where there is a loop", () => {
    const body = [define("a", laplace), loop("m", n(0), n(9), [assign("a", add(local("a"), f(1)))]), store("out", [i, j], local("a"))];
    assert.equal(jammed(body), undefined);
  });

  it("where they read nothing in common", () => {
    assert.equal(jammed([store("out", [i, j], u())]), undefined);
  });
});

describe("reductions", () => {
  it("of the two follow each other", () => {
    const params = [...VIEWS, total("total")];
    const pair = jammed([reduce("total", mul(u(), u(add(i, n(1)))))], params)!;
    assert.deepEqual(
      pair.body.map((stmt) => stmt.kind),
      ["reduce", "reduce"],
    );
  });
});
