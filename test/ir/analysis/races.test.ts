import assert from "node:assert/strict";
import { test } from "node:test";
import { analyseAccess } from "../../../src/ir/analysis/access.js";
import { checkRaces } from "../../../src/ir/analysis/races.js";
import type { KernelIR } from "../../../src/ir/types.js";
import { KernelError } from "../../../src/base/errors.js";
import {
  add,
  array,
  assign,
  declare,
  define,
  element,
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
  scalar,
  scatter,
  setElement,
  single,
  store,
  sub,
  target,
  teamFor,
  teamKernel,
  teamReduce,
  total,
  value,
  view,
} from "../build.js";

const at = (name: string) => local(name, "i32");
const size = scalar("n", "i32");
const check = (ir: KernelIR) => checkRaces(ir, analyseAccess(ir));
const accepts = (ir: KernelIR) => assert.doesNotThrow(() => check(ir));
const refuses = (ir: KernelIR, problem: RegExp, remedy: RegExp) =>
  assert.throws(
    () => check(ir),
    (error: unknown) => {
      assert.ok(error instanceof KernelError);
      assert.match(error.problem, problem);
      assert.match(error.remedy!, remedy);
      assert.equal(error.location.file, "kernel.ts");
      return true;
    },
  );
const one = (...body: Parameters<typeof kernel>[1]) => kernel([view("x"), view("y"), view("m", 2), value("n", "i32")], body);
const two = (...body: Parameters<typeof kernel>[1]) => kernel([view("x"), view("y"), view("m", 2), value("n", "i32")], body, { rank: 2 });

test("an element may write and read its own place", () => {
  accepts(one(store("y", [i], add(load("y", [i]), load("x", [add(i, n(1))])))));
  accepts(one(store("y", [add(i, size)], load("y", [add(size, i)]))));
  accepts(two(store("m", [i, j], f(0))));
  accepts(two(store("m", [j, i], f(0))));
  accepts(one(store("m", [i, load("x", [i], "i32")], f(0)), store("m", [i, n(3)], load("m", [i, n(5)]))));
});

test("a stride leaves room for a window of as many values", () => {
  const window = (...offsets: number[]) => one(...offsets.map((o) => store("y", [add(mul(n(5), i), n(o))], f(0))));
  accepts(window(0, 1, 2, 3, 4));
  accepts(window(-2, 2));
  refuses(window(0, 5), /writes y\[5 \* i \+ 5\] and y\[5 \* i \+ 0\], which another element may write/, /scatter/);
  accepts(one(loop("q", n(0), n(5), [store("y", [add(mul(i, n(5)), at("q"))], f(0))])));
  refuses(
    one(loop("q", n(0), n(6), [store("y", [add(mul(i, n(5)), at("q"))], f(0))])),
    /may write y\[i \* 5 \+ q\]/,
    /index y by the range's index i/,
  );
  refuses(one(loop("q", n(0), size, [store("y", [add(mul(i, n(5)), at("q"))], f(0))])), /may write/, /disjoint/);
});

test("a triangular loop's window is known", () => {
  accepts(one(loop("p", n(0), n(3), [loop("q", n(0), add(at("p"), n(1)), [store("y", [add(mul(i, n(3)), at("q"))], f(0))])])));
});

test("one place for all elements is refused, unless the author vouches for it", () => {
  refuses(one(store("y", [n(0)], f(1))), /several elements of the range may write y\[0\]/, /reduction/);
  refuses(one(store("y", [load("x", [i], "i32")], f(1))), /may write y\[x\[i\]\]/, /scatter/);
  accepts(kernel([view("y", 1, "f64", true)], [store("y", [n(0)], f(1))]));
});

test("every axis of the range must be pinned", () => {
  refuses(two(store("y", [i], f(0))), /may write y\[i\]/, /index y by the range's index j/);
  refuses(two(store("m", [i, n(0)], f(0))), /may write m\[i\]\[0\]/, /index j/);
  refuses(two(store("m", [i, add(i, j)], f(0))), /may write/, /one index more/);
});

test("indices made by hand ask for one more rank", () => {
  refuses(two(store("y", [add(mul(i, size), j)], f(0))), /may write y\[i \* n \+ j\]/, /declare y with one index more/);
  refuses(two(define("at", mul(i, size)), store("y", [add(at("at"), j)], f(0))), /y\[at \+ j\]/, /declare y with one index more/);
});

test("reading another element of a view that is written is refused", () => {
  refuses(one(store("y", [i], load("y", [add(i, n(1))]))), /reads y\[i \+ 1\] while y\[i\] is written by another element/, /another view/);
  refuses(one(store("y", [i], load("y", [n(0)]))), /reads y\[0\]/, /scatter/);
  refuses(one(store("y", [add(mul(n(2), i), n(0))], load("y", [add(mul(n(2), i), n(2))]))), /reads y\[2 \* i \+ 2\]/, /another view/);
  accepts(one(store("y", [mul(n(2), i)], load("y", [add(mul(n(2), i), n(1))]))));
});

test("scatter and reduce targets are free", () => {
  accepts(kernel([target("h"), total("s")], [scatter("h", [n(0)], f(1)), reduce("s", f(1))]));
});

const team = (...body: Parameters<typeof kernel>[1]) =>
  teamKernel([view("x"), view("y"), view("m", 2), value("n", "i32"), total("s")], body);

test("a team writes places of its own", () => {
  accepts(team(store("y", [i], f(0))));
  accepts(team(single([store("y", [i], f(0))])));
  refuses(team(single([store("y", [n(0)], f(0))])), /several elements of the league may write y\[0\]/, /team\.index/);
  accepts(team(teamFor("q", size, [store("m", [i, at("q")], f(0))])));
  accepts(team(teamFor("q", n(8), [store("y", [add(mul(i, n(8)), at("q"))], f(0))])));
  refuses(team(teamFor("q", size, [store("y", [add(mul(i, n(8)), at("q"))], f(0))])), /may write y\[team\.index \* 8 \+ q\]/, /index y/);
});

test("a member writes places of its own", () => {
  refuses(team(teamFor("q", size, [store("y", [i], f(0))])), /several members of the team may write y\[team\.index\]/, /member's index q/);
  refuses(
    team(teamFor("q", size, [store("m", [i, at("q")], load("m", [i, add(at("q"), n(1))]))])),
    /reads m\[team\.index\]\[q \+ 1\] while/,
    /second/,
  );
  accepts(
    team(teamFor("q", size, [store("m", [i, at("q")], f(0))]), teamFor("r", size, [define("t", load("m", [i, sub(size, at("r"))]))])),
  );
});

test("scratch follows the same rule within one shared loop", () => {
  const scratch = array("t", 64, "scratch");
  accepts(
    team(
      scratch,
      teamFor("q", n(64), [setElement("t", at("q"), f(0))]),
      teamFor("r", n(63), [define("v", element("t", add(at("r"), n(1))))]),
    ),
  );
  refuses(team(scratch, teamFor("q", n(64), [setElement("t", n(0), f(0))])), /members of the team may write t\[0\]/, /team\.single/);
  refuses(team(scratch, teamFor("q", n(63), [setElement("t", at("q"), element("t", add(at("q"), n(1))))])), /reads t\[q \+ 1\]/, /second/);
});

test("members write rows of scratch as long as there are members", () => {
  const sums = (row: number) =>
    loop("k", n(0), n(4), [setElement("t", add(at("q"), mul(at("k"), n(row))), f(0)), setElement("t", add(at("q"), n(4 * row)), f(0))]);
  accepts(team(array("t", 64, "scratch"), teamFor("q", n(8), [sums(8)])));
  refuses(
    team(array("t", 64, "scratch"), teamFor("q", n(8), [sums(7)])),
    /members of the team may write t\[q \+ k \* 7\]/,
    /member's index q/,
  );
  refuses(team(array("t", 64, "scratch"), teamFor("q", n(9), [sums(8)])), /members of the team may write t/, /member's index q/);
});

test("what is declared outside a shared loop is not assigned inside", () => {
  refuses(team(define("t", f(0)), teamFor("q", n(8), [assign("t", f(1))])), /assigns t inside a loop shared by the team/, /team\.sum/);
  refuses(team(declare("t"), single([assign("t", f(1))])), /assigns t inside team\.single/, /scratch/);
  refuses(team(array("a", 4), teamFor("q", n(4), [setElement("a", at("q"), f(1))])), /assigns a/, /scratch/);
  accepts(team(teamFor("q", n(8), [define("t", f(0)), assign("t", f(1)), store("m", [i, at("q")], local("t"))])));
});

test("a kernel's reduction is fed once by each team", () => {
  accepts(team(teamReduce("q", n(8), [{ name: "r", type: "f64", op: "sum" }], [reduce("r", f(1))]), reduce("s", local("r"))));
  refuses(team(teamFor("q", n(8), [reduce("s", f(1))])), /folds into s inside a loop shared by the team/, /team\.reduce/);
});
