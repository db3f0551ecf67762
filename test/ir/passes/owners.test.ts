import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { unprovedAccesses } from "../../../src/ir/analysis/proofs.js";
import { checkIndices } from "../../../src/ir/passes/check-indices.js";
import { ownedAxis, ownersKernel, whyNoOwners } from "../../../src/ir/passes/owners.js";
import { printKernel } from "../../../src/ir/kernel-text.js";
import type { KernelIR } from "../../../src/ir/types.js";
import { verify } from "../../../src/ir/verify.js";
import { mapStmts } from "../../../src/ir/walk.js";
import {
  add,
  bin,
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
  scatter,
  store,
  target,
  teamKernel,
  total,
  view,
  when,
} from "../build.js";
import { interpret } from "../interpret.js";
import { EXTENT, randomKernel, randomMemory } from "../random.js";

const first = local("first", "i32");
const at = (m: number) => load("at", [add(mul(i, n(2)), n(m))], "i32");
const body = (ir: KernelIR) => {
  verify(ir);
  return printKernel(ir)
    .split("\n")
    .filter((line) => !/^(kernel| {2}(scatter|view|scalar) \w+:)/.test(line))
    .slice(0, -1);
};

/** Two contributions to neighbouring knots of each of two axes, as of a spline. */
const spline = kernel(
  [view("a", 2), view("knot", 1, "i32"), target("v", 2)],
  [
    define("first", load("knot", [i], "i32")),
    define("t", load("a", [i, n(4)])),
    scatter("v", [n(0), first], mul(load("a", [i, n(0)]), local("t"))),
    scatter("v", [n(0), add(first, n(1))], mul(load("a", [i, n(1)]), local("t"))),
    scatter("v", [n(1), first], mul(load("a", [i, n(2)]), local("t"))),
    scatter("v", [n(1), add(first, n(1))], mul(load("a", [i, n(3)]), local("t"))),
  ],
);

/** Contributions to the two ends of an edge. */
const edges = kernel(
  [view("at", 1, "i32"), view("w"), target("y")],
  [scatter("y", [at(0)], load("w", [i])), scatter("y", [at(1)], mul(f(2), load("w", [i])))],
);

test("an owner skips elements that only add elsewhere, and asks once for each owned index", () => {
  assert.deepEqual(body(ownersKernel(spline, { v: 1 }).ir), [
    "  let v_first: i32 = i * v_part",
    "  let first: i32 = knot[j]",
    "  if u32(first + 1 - v_first) < u32(v_part + 1)",
    "    let t: f64 = a[j][4]",
    "    if u32(first - v_first) < u32(v_part) && u32(first + 1 - v_first) < u32(v_part)",
    "      scatter v[0][first] <- a[j][0] * t",
    "      scatter v[0][first + 1] <- a[j][1] * t",
    "      scatter v[1][first] <- a[j][2] * t",
    "      scatter v[1][first + 1] <- a[j][3] * t",
    "    else",
    "      if u32(first - v_first) < u32(v_part)",
    "        scatter v[0][first] <- a[j][0] * t",
    "        scatter v[1][first] <- a[j][2] * t",
    "      if u32(first + 1 - v_first) < u32(v_part)",
    "        scatter v[0][first + 1] <- a[j][1] * t",
    "        scatter v[1][first + 1] <- a[j][3] * t",
  ]);
});

test("contributions that may meet in one place keep their order", () => {
  const ir = kernel(
    [view("at", 1, "i32"), target("y")],
    [scatter("y", [at(0)], f(1)), scatter("y", [at(1)], f(2)), scatter("y", [at(0)], f(3))],
  );
  assert.deepEqual(
    body(ownersKernel(ir, { y: 0 }).ir).filter((line) => line.includes("scatter")),
    ["      scatter y[at[j * 2]] <- 1.0", "      scatter y[at[j * 2 + 1]] <- 2.0", "      scatter y[at[j * 2]] <- 3.0"],
  );
});

test("the axis is the one along which an element's contributions lie together", () => {
  assert.equal(ownedAxis(spline, "v", [0, 1]), 1);
  assert.equal(ownedAxis(spline, "v", [0]), 0);
  const rows = kernel(
    [view("at", 1, "i32"), target("y", 2)],
    [scatter("y", [at(0), n(0)], f(1)), scatter("y", [at(0), load("at", [i], "i32")], f(2))],
  );
  assert.equal(ownedAxis(rows, "y", [0, 1]), 0);
});

test("what is known only inside a branch or a loop is asked there", () => {
  const ir = kernel(
    [view("at", 1, "i32"), view("x"), target("y")],
    [
      when(cmp("gt", load("x", [i]), f(0)), [
        loop("q", n(0), load("at", [i], "i32"), [scatter("y", [load("at", [local("q", "i32")], "i32")], f(1))]),
      ]),
    ],
  );
  assert.deepEqual(body(ownersKernel(ir, { y: 0 }).ir), [
    "  let y_first: i32 = i * y_part",
    "  if x[j] > 0.0",
    "    for q = 0 until at[j]",
    "      if u32(at[q] - y_first) < u32(y_part)",
    "        scatter y[at[q]] <- 1.0",
  ]);
});

test("an index that changes on the way is taken where it is used", () => {
  const q = local("q", "i32");
  const ir = kernel(
    [view("at", 1, "i32"), target("y")],
    [
      define("q", at(0)),
      define("p", add(q, n(1))),
      scatter("y", [local("p", "i32")], f(1)),
      assign("q", at(1)),
      scatter("y", [add(q, n(1))], f(2)),
    ],
  );
  assert.deepEqual(
    body(ownersKernel(ir, { y: 0 }).ir).filter((line) => line.includes("if")),
    ["  if u32(p - y_first) < u32(y_part)", "  if u32(q + 1 - y_first) < u32(y_part)"],
  );
});

test("names do not collide", () => {
  const ir = kernel([view("y_part"), target("y")], [define("y_first", n(0)), scatter("y", [local("y_first", "i32")], load("y_part", [i]))]);
  const owners = ownersKernel(ir, { y: 0 });
  verify(owners.ir);
  assert.deepEqual(owners.partLengths, { y: "y_part_1" });
});

test("work that is not an owner's alone is refused", () => {
  assert.equal(whyNoOwners(spline), undefined);
  assert.match(whyNoOwners(kernel([target("y"), total("s")], [scatter("y", [i], f(1)), reduce("s", f(1))]))!, /reduces/);
  assert.match(whyNoOwners(kernel([target("y"), view("x")], [scatter("y", [i], f(1)), store("x", [i], f(1))]))!, /stores/);
  assert.match(whyNoOwners(teamKernel([target("y")], [scatter("y", [i], f(1))]))!, /teams/);
  assert.match(whyNoOwners(kernel([target("y")], [scatter("y", [i], f(1))], { rank: 4 }))!, /four axes/);
});

test("owners gain where contributions lie together, and with their number where they do not", () => {
  const together = ownersKernel(spline, { v: 1 });
  const apart = ownersKernel(edges, { y: 0 });
  assert.ok(together.gain(2) > apart.gain(2));
  assert.ok(apart.gain(2) < 1);
  assert.ok(apart.gain(32) > 1.2);
  assert.ok(together.gain(32) < 32);
  // No branch depends on data.
  const shifted = kernel([view("x", 2), target("y")], [scatter("y", [add(j, n(1))], load("x", [i, j]))], { rank: 2 });
  assert.ok(ownersKernel(shifted, { y: 0 }).gain(4) > ownersKernel(edges, { y: 0 }).gain(4));
});

/** The kernel with neighbouring contributions in place of its stores and reductions. */
function scatterOnly(ir: KernelIR): KernelIR {
  const near = (distance: number) => add(bin("and", load("xi", [i], "i32"), n(1)), n(distance));
  const body = mapStmts(ir.body, {
    stmt: (stmt) => {
      if (stmt.kind === "store")
        return stmt.value.type === "f64" ? [scatter("h", [near(0)], stmt.value), scatter("h", [near(1)], f(0.1))] : [];
      return stmt.kind === "reduce" ? scatter("h", [near(2)], stmt.value) : stmt;
    },
  });
  return { ...ir, body, params: ir.params.filter(({ kind }) => kind !== "reduce") };
}

/** The kernel with every index checked that is not certain. */
function withChecks(ir: KernelIR): KernelIR {
  const nothing = { range: () => undefined, shape: () => [EXTENT, EXTENT, EXTENT], trusted: () => false };
  return checkIndices(ir, unprovedAccesses(ir, nothing), new Set());
}

test("each owner makes all checks of an element, in their order, before it asks what is its own", () => {
  const ir = kernel(
    [view("at", 1, "i32"), view("w"), target("y")],
    [define("t", mul(f(3), load("w", [at(0)]))), scatter("y", [at(1)], mul(local("t"), load("w", [at(1)])))],
  );
  assert.deepEqual(body(ownersKernel(withChecks(ir), { y: 0 }).ir), [
    "  let y_first: i32 = i * y_part",
    "  let at_3_check: i32 = checked(j * 2, at.length)",
    "  let at_2_check: i32 = checked(at[at_3_check], w.length)",
    "  let at_4_check: i32 = checked(j * 2 + 1, at.length)",
    "  let at_1_check: i32 = at[at_4_check]",
    "  let at_6_check: i32 = checked(j * 2 + 1, at.length)",
    "  let at_5_check: i32 = checked(at[at_6_check], w.length)",
    "  let inside_check: i32 = checked(at_1_check, y.length)",
    "  if !failed",
    "    if u32(at[j * 2 + 1] - y_first) < u32(y_part)",
    "      let t: f64 = 3.0 * w[at[j * 2]]",
    "      if u32(at[j * 2 + 1] - y_first) < u32(y_part)",
    "        scatter y[at[j * 2 + 1]] <- t * w[at[j * 2 + 1]]",
  ]);
});

test("all owners together leave what one pass over the elements does", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { minLength: 20, maxLength: 300 }), fc.integer({ min: 1, max: 3 }), (choices, owners) => {
      const plain = scatterOnly(randomKernel(choices));
      const scalars = { pd: 2.5, pi: -7, pb: true };
      const expected = randomMemory();
      interpret(plain, EXTENT, expected, scalars);
      for (const ir of [plain, withChecks(plain)]) {
        const actual = randomMemory();
        const owned = ownersKernel(ir, { h: 0 });
        verify(owned.ir);
        const partLength = { [owned.partLengths.h]: Math.ceil(EXTENT / owners) };
        for (let owner = 0; owner < owners; owner++) interpret(owned.ir, EXTENT, actual, { ...scalars, ...partLength }, [owner]);
        assert.deepEqual(actual.h, expected.h);
      }
    }),
    { seed: 3, numRuns: 300 },
  );
});
