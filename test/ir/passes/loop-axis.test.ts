import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loopAsAxis } from "../../../src/ir/passes/loop-axis.js";
import { printKernel, printExpr } from "../../../src/ir/kernel-text.js";
import type { Stmt } from "../../../src/ir/types.js";
import {
  add,
  array,
  assign,
  bin,
  cmp,
  define,
  element,
  f,
  i,
  j,
  kernel,
  leave,
  load,
  local,
  loop,
  mul,
  n,
  reduce,
  scalar,
  scatter,
  setElement,
  store,
  sub,
  target,
  total,
  value,
  view,
  when,
} from "../build.js";

const [q, w] = [local("q", "i32"), scalar("w", "i32")];
const params = [view("x", 2), view("y", 2), view("z"), value("w", "i32"), total("s"), target("h")];
const found = (rank: number, ...body: Stmt[]) => loopAsAxis(kernel(params, body, { rank }));
/** A loop over q from 0 to w. */
const turns = (...body: Stmt[]) => loop("q", n(0), w, body);

/** The kernel with an axis more, without its parameters. */
function made(rank: number, ...body: Stmt[]): string {
  const result = found(rank, ...body);
  assert.ok(result, "no axis is made of the loop");
  const lines = printKernel(result.ir)
    .split("\n")
    .filter((line) => line && !/^ {2}(scalar|view|reduce s:|scatter h:)/.test(line));
  return [`axis ${result.axis}: ${printExpr(result.trips)}`, ...lines.map((line) => line.replace("kernel test ", "").trim())].join("\n");
}

describe("a loop that is all of a kernel becomes an axis", () => {
  it("where the first store has it among its indices", () => {
    assert.equal(
      made(1, turns(store("y", [i, q], load("x", [i, q])))),
      "axis 1: 0 < w ? w - 0 : 0\n(range i, j)\nlet q: i32 = j + 0\ny[i][q] = x[i][q]",
    );
    assert.equal(
      made(1, turns(store("y", [q, i], load("x", [q, i])))),
      "axis 0: 0 < w ? w - 0 : 0\n(range i, j)\nlet q: i32 = i + 0\ny[q][j] = x[q][j]",
    );
    assert.match(made(2, turns(store("y", [q, add(mul(i, n(9)), j)], f(1)))), /^axis 0:.*\n\(range i, j, k\)\n.*\ny\[q\]\[j \* 9 \+ k\]/);
    assert.match(
      made(2, turns(define("r", add(q, n(0))), store("y", [i, local("r", "i32")], load("x", [j, i])))),
      /^axis 1:.*\n.*\nlet q: i32 = j \+ 0\nlet r: i32 = q \+ 0\ny\[i\]\[r\] = x\[k\]\[i\]$/,
    );
  });

  it("outermost where no store has it, with what stands before it", () => {
    const head = [define("a", load("x", [i, n(0)])), define("p", add(i, n(1)))];
    assert.equal(
      made(1, ...head, turns(store("y", [q, local("p", "i32")], local("a")))),
      "axis 0: 0 < w ? w - 0 : 0\n(range i, j)\nlet a: f64 = x[j][0]\nlet p: i32 = j + 1\nlet q: i32 = i + 0\ny[q][p] = a",
    );
  });

  it("by the indices of locals from before it", () => {
    const head = [define("p", add(i, n(1)))];
    assert.match(
      made(1, ...head, turns(store("y", [local("p", "i32"), q], f(1)))),
      /^axis 1:.*\n.*\nlet p: i32 = i \+ 1\nlet q: i32 = j \+ 0\n/,
    );
  });

  it("with as many elements as it has turns", () => {
    const by = (start: typeof q, stop: typeof q, step: number) =>
      made(1, loop("q", start, stop, [store("y", [i, q], f(1))], step))
        .split("\n")
        .slice(0, 3);
    assert.deepEqual(by(n(1), w, 2), ["axis 1: 1 < w ? (w - 1 - 1) / 2 + 1 : 0", "(range i, j)", "let q: i32 = j * 2 + 1"]);
    assert.deepEqual(by(w, n(0), -1), ["axis 1: w > 0 ? w - 0 : 0", "(range i, j)", "let q: i32 = j * -1 + w"]);
    assert.deepEqual(by(w, n(0), -3), ["axis 1: w > 0 ? (w - 0 - 1) / 3 + 1 : 0", "(range i, j)", "let q: i32 = j * -3 + w"]);
  });

  const own: [what: string, ...body: Stmt[]][] = [
    ["a local that each turn sets", define("t", f(0)), turns(assign("t", load("x", [i, q])), store("y", [i, q], local("t")))],
    [
      "an element that each turn sets",
      array("a", 4),
      turns(setElement("a", n(0), load("x", [i, q])), store("y", [i, q], element("a", n(0)))),
    ],
    [
      "an array that each turn fills",
      array("a", 4),
      turns(loop("r", n(0), n(4), [setElement("a", local("r", "i32"), load("x", [i, q]))]), store("y", [i, q], element("a", n(2)))),
    ],
    [
      "an array that a branch alone uses",
      array("a", 4),
      turns(when(cmp("gt", load("x", [i, q]), f(0)), [setElement("a", n(0), f(1)), store("y", [i, q], element("a", n(0)))])),
    ],
    [
      "an array that a branch on a parameter fills",
      array("a", 4),
      turns(when(cmp("gt", w, n(3)), [setElement("a", n(0), f(1))]), store("y", [i, q], element("a", n(0)))),
    ],
  ];
  for (const [what, ...body] of own) it(`with ${what}`, () => assert.ok(found(1, ...body)));

  const y = store("y", [i, q], f(1));
  const kept: [what: string, ...body: Stmt[]][] = [
    ["a turn reads a local of the one before", define("t", f(0)), turns(store("y", [i, q], local("t")), assign("t", f(1)))],
    ["turns store to one element", turns(store("z", [i], load("x", [i, q])))],
    ["a turn reads what another one stores", turns(store("y", [i, q], load("y", [i, sub(q, n(1))])))],
    ["a turn may be the last", turns(y, leave())],
    ["turns fold", turns(reduce("s", load("x", [i, q])))],
    ["turns scatter", turns(scatter("h", [q], f(1)))],
    ["its end is a local", define("e", add(w, n(1))), loop("q", n(0), local("e", "i32"), [y])],
    ["its start differs between elements", loop("q", i, w, [y])],
    ["its end is loaded", loop("q", n(0), load("k", [n(0)], "i32"), [y])],
    ["something comes after it", turns(y), store("z", [i], f(1))],
    ["something is stored before it", store("z", [i], f(1)), turns(y)],
    ["turns set different elements", array("a", 4), turns(setElement("a", q, f(1)), store("y", [i, q], element("a", n(0))))],
    [
      "turns read different elements",
      array("a", 4),
      turns(setElement("a", n(0), f(1)), store("y", [i, q], element("a", q)), setElement("a", n(1), f(2))),
    ],
    [
      "some turns set an element",
      array("a", 4),
      turns(when(cmp("gt", load("x", [i, q]), f(0)), [setElement("a", n(0), f(1))]), store("y", [i, q], element("a", n(0)))),
    ],
    [
      "turns set elements by a local of theirs",
      array("a", 4),
      turns(define("r", bin("rem", q, n(4))), setElement("a", local("r", "i32"), f(1)), store("y", [i, q], element("a", n(0)))),
    ],
    [
      "turns fill different parts of an array",
      array("a", 4),
      turns(loop("r", n(0), q, [setElement("a", local("r", "i32"), f(1))]), store("y", [i, q], element("a", n(0)))),
    ],
    [
      "filling an array may end early",
      array("a", 4),
      turns(
        loop("r", n(0), n(4), [setElement("a", local("r", "i32"), f(1)), when(cmp("gt", q, n(2)), [leave()])]),
        store("y", [i, q], element("a", n(3))),
      ),
    ],
  ];
  for (const [what, ...body] of kept) it(`not where ${what}`, () => assert.equal(found(1, ...body), undefined));

  it("not of a team's kernel", () => {
    const ir = kernel(params, [turns(y)]);
    assert.ok(loopAsAxis(ir));
    assert.equal(loopAsAxis({ ...ir, policy: { kind: "team" } }), undefined);
  });
});
