import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { barrier, teamOfThreads } from "../../../src/fortran/lower/block-threads.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { Stmt } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import {
  add,
  array,
  assign,
  bin,
  cast,
  cmp,
  define,
  element,
  f,
  leave,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  reduce,
  scalar,
  setElement,
  skip,
  store,
  sub,
  teamKernel,
  total,
  value,
  view,
  when,
} from "../../ir/build.js";

type ThreadBlock = Parameters<typeof teamOfThreads>[0];

const wait = barrier({ file: "kernel.ts", line: 1, column: 1 });
/** The thread's number, the threads of a block, and another parameter. */
const [t, w, m] = [local("t", "i32"), scalar("w", "i32"), scalar("m", "i32")];
const [half, k, q] = ["half", "k", "q"].map((name) => local(name, "i32"));
const x = (at: typeof t) => load("x", [at]);
const y = (at: typeof t, of: typeof t) => store("y", [at], of);

/** The team kernel of what one thread does, without its head and its parameters. */
function team(body: Stmt[], more: Partial<ThreadBlock> = {}): string {
  const taken = new Set<string>();
  const unique = (wish: string): string => {
    let name = wish;
    for (let count = 2; taken.has(name); count++) name = `${wish}_${count}`;
    taken.add(name);
    return name;
  };
  const block: ThreadBlock = {
    body,
    threads: w,
    thread: "t",
    rows: new Set(),
    reductions: [total("s")] as ThreadBlock["reductions"],
    unique,
    ...more,
  };
  const made = teamOfThreads(block);
  for (const { rank, disjoint } of made.params) assert.deepEqual([rank, disjoint], [2, true]);
  const params = [view("x"), view("y"), total("s"), value("w", "i32"), value("m", "i32")];
  const ir = teamKernel([...params, ...made.params], made.body);
  verify(ir);
  return printKernel(ir)
    .split("\n")
    .slice(1 + params.length, -1)
    .map((line) => line.slice(2))
    .join("\n");
}

/** Lengths of the rows that a block keeps, for each team, by name. */
function rows(body: Stmt[]): Record<string, unknown> {
  const { params } = teamOfThreads({ body, threads: w, thread: "t", rows: new Set(), reductions: [], unique: (wish) => wish });
  return Object.fromEntries(params.map(({ name, teamLength }) => [name, teamLength]));
}

describe("threads of a block as a team", () => {
  it("share a loop between two barriers, and compute again what follows from their number", () => {
    const thread = [
      array("p", 64, "scratch"),
      define("left", sub(sub(w, n(1)), t)),
      setElement("p", t, x(t)),
      wait,
      y(t, element("p", local("left", "i32"))),
    ];
    assert.equal(
      team(thread),
      `scratch p: f64[64]
team for member until w
  p[member] = x[member]
team for member_2 until w
  let left: i32 = w - 1 - member_2
  y[member_2] = p[left]`,
    );
  });

  it("keep in rows what they need after a barrier, truth values as integers", () => {
    const thread = [
      define("v", x(t)),
      define("flag", cmp("lt", local("v"), f(0))),
      wait,
      y(t, local("v")),
      wait,
      when(local("flag", "bool"), [y(t, f(0))]),
    ];
    assert.equal(
      team(thread),
      `view v_of_threads: f64[][] disjoint
view flag_of_threads: i32[][] disjoint
team for member until w
  let v: f64
  let flag: bool
  v = x[member]
  flag = v < 0.0
  v_of_threads[team.place][member] = v
  flag_of_threads[team.place][member] = i32(flag)
team for member_2 until w
  let v_2: f64 = v_of_threads[team.place][member_2]
  y[member_2] = v_2
team for member_3 until w
  let flag_2: bool = flag_of_threads[team.place][member_3] != 0
  if flag_2
    y[member_3] = 0.0`,
    );
  });

  it("load, change and store rows in each part that does so", () => {
    const thread = [define("v", f(1)), define("k", x(t)), wait, assign("v", add(local("v"), local("k"))), wait, y(t, local("v"))];
    assert.equal(
      team(thread),
      `view v_of_threads: f64[][] disjoint
view k_of_threads: f64[][] disjoint
team for member until w
  let v: f64
  let k: f64
  v = 1.0
  k = x[member]
  v_of_threads[team.place][member] = v
  k_of_threads[team.place][member] = k
team for member_2 until w
  let v_2: f64 = v_of_threads[team.place][member_2]
  let k_2: f64 = k_of_threads[team.place][member_2]
  v_2 = v_2 + k_2
  v_of_threads[team.place][member_2] = v_2
team for member_3 until w
  let v_3: f64 = v_of_threads[team.place][member_3]
  y[member_3] = v_3`,
    );
  });

  it("keep private arrays that several parts use, one element after the other over the threads", () => {
    const thread = [
      array("a", 3),
      array("b", 2),
      setElement("a", n(2), x(t)),
      setElement("b", n(1), f(1)),
      y(t, element("b", n(1))),
      wait,
      y(t, element("a", n(2))),
    ];
    assert.equal(
      team(thread),
      `view a_of_threads: f64[][] disjoint
team for member until w
  private b: f64[2]
  a_of_threads[team.place][2 * w + member] = x[member]
  b[1] = 1.0
  y[member] = b[1]
team for member_2 until w
  y[member_2] = a_of_threads[team.place][2 * w + member_2]`,
    );
  });

  it("keep private arrays of a part that a loop of the team repeats", () => {
    const thread = [
      array("a", 3),
      define("half", w),
      loopWhile(
        cmp("gt", half, n(0)),
        [setElement("a", n(0), f(1)), y(t, element("a", n(0))), wait, assign("half", bin("div", half, n(2)))],
        [],
      ),
    ];
    assert.equal(
      team(thread),
      `view a_of_threads: f64[][] disjoint
let half: i32 = w
while half > 0
  team for member until w
    a_of_threads[team.place][member] = 1.0
    y[member] = a_of_threads[team.place][member]
  half = half / 2`,
    );
  });

  it("run loops with barriers once for the team, whose bounds belong to it", () => {
    const thread = [
      define("top", add(m, n(1))),
      define("sum", f(0)),
      loop("q", n(0), local("top", "i32"), [assign("sum", add(local("sum"), x(add(t, q)))), wait], 2),
      y(t, local("sum")),
    ];
    assert.equal(
      team(thread),
      `view sum_of_threads: f64[][] disjoint
let top: i32 = m + 1
team for member until w
  let sum: f64
  sum = 0.0
  sum_of_threads[team.place][member] = sum
for q = 0 until top step 2
  team for member_2 until w
    let sum_2: f64 = sum_of_threads[team.place][member_2]
    sum_2 = sum_2 + x[member_2 + q]
    sum_of_threads[team.place][member_2] = sum_2
team for member_3 until w
  let sum_3: f64 = sum_of_threads[team.place][member_3]
  y[member_3] = sum_3`,
    );
  });

  it("run while loops with barriers, and what they count by, once for the team", () => {
    const thread = [
      define("half", bin("div", w, n(2))),
      loopWhile(cmp("gt", half, n(0)), [y(t, x(half)), wait], [assign("half", bin("div", half, n(2)))]),
    ];
    assert.equal(
      team(thread),
      `let half: i32 = w / 2
while half > 0
  team for member until w
    y[member] = x[half]
update
  half = half / 2`,
    );
  });

  it("run the parts of a branch on which they differ for those threads alone", () => {
    const thread = [
      when(cmp("lt", t, m), [y(t, f(1)), y(t, f(2)), wait, y(t, f(3))], [y(t, f(4)), when(cmp("gt", t, n(9)), [wait, y(t, f(5))])]),
    ];
    assert.equal(
      team(thread),
      `team for member until w
  let active_5: bool = member < m
  if active_5
    y[member] = 1.0
    y[member] = 2.0
team for member_2 until w
  let active_6: bool = member_2 < m
  if active_6
    y[member_2] = 3.0
team for member_3 until w
  let active_2_2: bool = !(member_3 < m)
  if active_2_2
    y[member_3] = 4.0
team for member_4 until w
  let active_2_3: bool = !(member_4 < m)
  let active_3_2: bool = active_2_3 && member_4 > 9
  if active_3_2
    y[member_4] = 5.0`,
    );
  });

  it("take a branch on which they agree together", () => {
    const thread = [when(cmp("lt", m, n(3)), [y(t, f(1)), wait, y(t, f(2))], [y(t, f(3)), wait])];
    assert.equal(
      team(thread),
      `if m < 3
  team for member until w
    y[member] = 1.0
  team for member_2 until w
    y[member_2] = 2.0
else
  team for member_3 until w
    y[member_3] = 3.0`,
    );
  });

  it("leave and continue loops together", () => {
    const thread = [
      loop("q", n(0), m, [y(t, f(1)), wait, when(cmp("gt", q, w), [leave()]), y(t, f(2)), when(cmp("eq", q, w), [skip()]), wait]),
    ];
    assert.equal(
      team(thread),
      `for q = 0 until m
  team for member until w
    y[member] = 1.0
  if q > w
    break
  team for member_2 until w
    y[member_2] = 2.0
  if q == w
    continue`,
    );
  });

  it("fold for the team what they fold", () => {
    const thread = [reduce("s", x(t)), reduce("s", f(1)), wait, reduce("s", f(2))];
    assert.equal(
      team(thread),
      `team reduce member until w (s_of_team: f64 sum)
  reduce s_of_team <- x[member]
  reduce s_of_team <- 1.0
reduce s <- s_of_team
team reduce member_2 until w (s_of_team_2: f64 sum)
  reduce s_of_team_2 <- 2.0
reduce s <- s_of_team_2`,
    );
  });

  it("compute bounds of loops once for the team, in branches, too", () => {
    const thread = [
      define("k", n(0)),
      when(cmp("lt", m, n(3)), [assign("k", n(5))], [assign("k", n(6))]),
      loop("q", n(0), k, [y(t, f(1)), wait]),
    ];
    assert.equal(
      team(thread),
      `let k: i32 = 0
if m < 3
  k = 5
else
  k = 6
for q = 0 until k
  team for member until w
    y[member] = 1.0`,
    );
  });

  it("read a bound before it changes", () => {
    const thread = [define("k", n(0)), y(t, cast("f64", k)), assign("k", n(5)), loop("q", n(0), k, [y(t, f(1)), wait])];
    assert.equal(
      team(thread),
      `let k: i32 = 0
team for member until w
  y[member] = f64(k)
k = 5
for q = 0 until k
  team for member_2 until w
    y[member_2] = 1.0`,
    );
  });

  it("has a row of one element for each thread, and of an array as many as it has", () => {
    assert.deepEqual(rows([define("v", x(t)), wait, y(t, local("v"))]), { v_of_threads: w });
    assert.deepEqual(rows([array("a", 3), setElement("a", n(0), f(1)), wait, y(t, element("a", n(0)))]), { a_of_threads: mul(w, n(3)) });
  });

  it("accepts reads of an element's own thread, and of what was written before the last barrier", () => {
    const shared = (...body: Stmt[]) => team([array("p", 64, "scratch"), ...body]);
    assert.match(shared(setElement("p", t, x(t)), y(t, element("p", t))), /y\[member\] = p\[member\]/);
    assert.match(shared(setElement("p", t, x(t)), wait, y(t, element("p", add(t, n(1))))), /y\[member_2\] = p\[member_2 \+ 1\]/);
  });

  const refused: [what: string, body: Stmt[], message: RegExp][] = [
    ["loops whose end differs", [loop("q", n(0), t, [wait])], /threads of a block would run a loop with a barrier unequally often/],
    ["loops whose start differs", [loop("q", t, m, [wait])], /threads of a block would run a loop with a barrier unequally often/],
    [
      "loops whose bound is loaded from what they store",
      [y(t, f(1)), loop("q", n(0), cast("i32", load("y", [m])), [wait])],
      /threads of a block would run a loop with a barrier unequally often/,
    ],
    [
      "while loops that count for each thread",
      [define("k", t), loopWhile(cmp("lt", k, n(3)), [wait], [assign("k", add(k, n(1)))])],
      /threads of a block would run a loop with a barrier unequally often/,
    ],
    [
      "bounds that some threads assign",
      [define("k", n(0)), when(cmp("lt", t, n(3)), [assign("k", n(1))]), loop("q", n(0), k, [wait])],
      /threads of a block would run a loop with a barrier unequally often/,
    ],
    ...[leave(), skip()].map((jump): [string, Stmt[], RegExp] => [
      `bounds that threads count until a ${jump.kind}`,
      [
        define("k", n(0)),
        loop("j", n(0), m, [when(cmp("lt", t, local("j", "i32")), [jump]), assign("k", add(k, n(1)))]),
        loop("q", n(0), k, [wait]),
      ],
      /threads of a block would run a loop with a barrier unequally often/,
    ]),
    [
      "loops that some threads leave",
      [loop("q", n(0), m, [when(cmp("lt", t, n(3)), [wait, leave()]), wait])],
      /some threads of a block leave a loop that has a barrier/,
    ],
    [
      "while loops whose update is each thread's",
      [loopWhile(cmp("lt", m, n(3)), [wait], [y(t, f(1))])],
      /a loop with a barrier ends by a condition that differs between threads of a block/,
    ],
    [
      "barriers among the turns of a team's loop",
      [{ ...loop("q", n(0), m, [wait]), kind: "teamFor", count: m } as Stmt],
      /there is a barrier inside a teamFor/,
    ],
    [
      "reads of what another thread writes in the same part",
      [array("p", 64, "scratch"), setElement("p", t, x(t)), y(t, element("p", add(t, n(1))))],
      /a thread may read a value that another thread writes, with no barrier between/,
    ],
  ];
  for (const [what, body, message] of refused) it(`refuses ${what}`, () => assert.throws(() => team(body), message));

  it("refuses reads of rows that threads share, and folds of the program's own", () => {
    const row = [store("r", [t], x(t)), y(t, load("r", [add(t, n(1))]))];
    assert.throws(
      () => team(row, { rows: new Set(["r"]) }),
      /a thread may read a value that another thread writes, with no barrier between/,
    );
    const custom = { ...total("s"), op: "custom" } as unknown as ThreadBlock["reductions"][number];
    assert.throws(() => team([reduce("s", x(t))], { reductions: [custom] }), /s is folded by an operation other than \+, min and max/);
  });
});
