import assert from "node:assert/strict";
import { test } from "node:test";
import { devices } from "../../src/set/index.js";
import { dense } from "../../src/domain/index.js";
import { Column, deposit, particles, type Deposit, type Particle, type Species } from "../../src/domain/particles/index.js";
import { bool, f32, f64, i32, sum } from "../../src/index.js";

const set = await devices("js");
const box = dense(set, [4, 4, 4]);
const plane = dense(set, [4, 4]);
const [rho, e] = [box.field("rho", f64), box.field("e", f64, { cardinality: 3 })];
const ions = particles(box, "ions", { v: [f64, 3], w: f64, id: i32 }, { positions: f32 });
const flat = particles(plane, "flat", { v: [f64, 2] });
const { x, v, w } = ions.columns;

/** Is type checked and not run. */
const unchecked = (code: () => unknown): unknown => code;

test("columns know their components, deposits their fields", () => {
  const columns: [Column<3>, Column<3>, Column<1>] = [x, v, w];
  const onPlane: Column<2> = flat.columns.x;
  const target: Deposit<typeof rho> = deposit(rho);
  assert.deepEqual(
    [...columns, onPlane].map(({ components }) => components),
    [3, 3, 1, 2],
  );
  assert.equal(target.field, rho);
});

test("what is none is a type error", () => {
  // @ts-expect-error there is no such column
  unchecked(() => ions.columns.mass);
  // @ts-expect-error truth values are no columns
  unchecked(() => particles(box, "no", { alive: bool }));
  // @ts-expect-error a species of another grid's dimension
  unchecked((): Species<{ v: readonly [typeof f64, 3] }, 2> => particles(box, "no", { v: [f64, 3] }));
  // @ts-expect-error there are two ways to leave
  unchecked(() => particles(box, "no", {}, { leaving: "reflect" }));
  // @ts-expect-error positions are real numbers
  unchecked(() => particles(box, "no", {}, { positions: i32 }));
  // @ts-expect-error positions are missing
  unchecked(() => ions.load({ v: [1, 2, 3] }));
  // @ts-expect-error there is no such column
  unchecked(() => ions.load({ x: [1, 2, 3], mass: [1] }));
  // @ts-expect-error there is no such column
  unchecked(async () => (await ions.download()).mass);
});

test("bodies see numbers, components and their grid's dimension", () => {
  const total = box.scalar("total", f64);
  const made = ions.container(
    "all",
    { x, v, w, e, rho: deposit(rho), j: deposit(e), total: sum(total) },
    ({ x, v, w, e, rho, j, total }, p: Particle, c) => {
      const n: number = w[p] + v[p][2] + e[c][1] + e.at(c, 0, 0, 1)[0] + c.z;
      rho.add(c, 0, 0, 0, n);
      j.add(c, 0, 0, 0, 2, x[p][0]);
      total.add(n);
      v[p][0] = 1;
    },
  );
  assert.deepEqual(
    made.map(({ name }) => name),
    ["all", "gather rho", "gather e"],
  );
  unchecked(() =>
    ions.container("none", { v, w, rho: deposit(rho), e }, ({ v, w, rho, e }, p, c) => {
      // @ts-expect-error w has no components
      w[p][0] = 1;
      // @ts-expect-error v has components
      v[p] = 1;
      // @ts-expect-error p is no number
      w[p] = p;
      // @ts-expect-error an index of a column is p
      w[0] = 1;
      // @ts-expect-error a deposit is added to
      rho[c] = 1;
      // @ts-expect-error three offsets
      rho.add(c, 0, 0, 1);
      // @ts-expect-error e is read
      e.add(c, 0, 0, 0, 0, 1);
    }),
  );
  unchecked(() =>
    flat.container("none", { x: flat.columns.x }, ({ x }, p, c) => {
      // @ts-expect-error there is no z
      x[p][0] = c.z;
    }),
  );
});
