import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jam, splitUniform } from "../../../src/ir/passes/jam.js";
import { printKernel, printExpr } from "../../../src/ir/kernel-text.js";
import type { Param, Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import {
  add,
  assign,
  cmp,
  define,
  f,
  i,
  j,
  kernel,
  load,
  local,
  loop,
  mul,
  n,
  reduce,
  select,
  store,
  sub,
  total,
  view,
  when,
} from "../build.js";
import { interpret } from "../interpret.js";

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
  printKernel(kernel(VIEWS, [...body], { rank: 2 }))
    .split("\n")
    .filter((line) => line && !/^kernel|^ {2}(view|scalar) /.test(line))
    .map((line) => line.slice(2));

describe("two neighbouring elements are worked on together", () => {
  it("statement by statement, with locals of their own", () => {
    const pair = jammed([define("a", add(u(), u(add(i, n(1))))), store("out", [i, j], local("a"))])!;
    assert.deepEqual(lines(pair.body), [
      "let a: f64 = u[i][j] + u[i + 1][j]",
      "let a_next1: f64 = u[i + 1][j] + u[i + 2][j]",
      "out[i][j] = a",
      "out[i + 1][j] = a_next1",
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

  it("under the guard that both are away from the ends, where places come round", () => {
    const above = define("above", select(cmp("lt", i, n(7)), add(i, n(1)), sub(i, n(7))));
    const pair = jammed([above, store("out", [i, j], add(u(), u(local("above", "i32"), j)))])!;
    assert.equal(printExpr(pair.guard!), "i < 7 && i + 1 < 7");
    assert.ok(lines(pair.body).includes("let above: i32 = i + 1"));
  });

  it("or four, where they have much in common, what they share read together", () => {
    const at = (d: number) => (d === 0 ? i : add(i, n(d)));
    const row = (d: number) => [assign("a", add(local("a"), u(at(d), j))), assign("a", add(local("a"), u(at(d), add(j, n(1)))))];
    const four = jammed([define("a", f(0)), ...row(-1), ...row(0), ...row(1), store("out", [i, j], local("a"))])!;
    assert.equal(four.count, 4);
    const reading = lines(four.body).filter((line) => line.includes("u[i][j]"));
    const places = lines(four.body).flatMap((line, at) => (line.includes("u[i][j]") ? [at] : []));
    assert.equal(reading.length, 2, "of the element itself and of the next");
    assert.equal(places[1], places[0] + 1);
    assert.deepEqual(
      four.body.slice(-4).map((stmt) => stmt.kind),
      ["store", "store", "store", "store"],
    );
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
    const { count, body: together } = jam(ir, 0)!;
    const values = [3, 1, 4, 1, 5, 9, 2, 6];
    const memory = () => ({ u: values, out: Array<number>(count).fill(0) });
    const [alone, paired] = [memory(), memory()];
    interpret(ir, count, alone, {});
    interpret({ ...ir, body: [...together] }, 1, paired, {});
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

describe("what is the same for all elements", () => {
  it("is told from the rest: locals at the head, of memory that is not written", () => {
    const body = [
      define("a", load("s", [n(0)])),
      define("b", mul(local("a"), local("a"))),
      define("c", u()),
      store("out", [i, j], local("c")),
    ];
    assert.deepEqual(splitUniform(body, 0), { head: body.slice(0, 2), rest: body.slice(2) });
    assert.equal(splitUniform([...body, store("s", [i], f(0))], 0).head.length, 0);
    assert.equal(splitUniform([...body, assign("a", f(0))], 0).head.length, 0);
    assert.deepEqual(splitUniform(body, 1).head, body.slice(0, 2), "loads of the own element change along both axes");
    const places = [
      define("next", add(i, n(1))),
      define("right", add(j, n(1))),
      store("out", [i, j], u(local("next", "i32"), local("right", "i32"))),
    ];
    assert.deepEqual(splitUniform(places, 0), { head: [places[1]], rest: [places[0], places[2]] });
  });
});
