import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f64, sum } from "isoform";
import { dense, type Container, type Field, type Grid } from "../../src/domain/index.js";
import { devices, type Scalar } from "../../src/set/index.js";
import { fuse, type Fusion, type FusionOptions } from "../../src/skeleton/fusion.js";

const set = await devices("js*2");
after(() => set.close());

const EXTENTS = [7, 5, 8];

/** Conjugate gradients on a new grid, `p` first, as in the paper's section VI-B. */
function conjugateGradients() {
  const grid = dense(set, EXTENTS);
  const field = (name: string) => grid.field(name, f64);
  const [x, r, p, s] = ["x", "r", "p", "s"].map(field);
  const scalar = (name: string) => grid.scalar(name, f64);
  const [rr, rr0, ps] = ["rr", "rr0", "ps"].map(scalar);
  const updateP = grid.container("update p", { rr, rr0, r, p }, ({ rr, rr0, r, p }, c) => {
    p[c] = r[c]! + (rr / rr0) * p[c]!;
  });
  const laplace = grid.container("laplace", { p, s }, ({ p, s }, c) => {
    s[c] = 6 * p[c]! - p.at(c, 1, 0, 0) - p.at(c, -1, 0, 0) - p.at(c, 0, 1, 0) - p.at(c, 0, -1, 0) - p.at(c, 0, 0, 1) - p.at(c, 0, 0, -1);
  });
  const dot = grid.container("dot p s", { p, s, ps: sum(ps) }, ({ p, s, ps }, c) => ps.add(p[c]! * s[c]!));
  const updateX = grid.container("update x", { rr, ps, p, x }, ({ rr, ps, p, x }, c) => {
    x[c] = x[c]! + (rr / ps) * p[c]!;
  });
  const updateR = grid.container("update r", { rr, ps, s, r }, ({ rr, ps, s, r }, c) => {
    r[c] = r[c]! - (rr / ps) * s[c]!;
  });
  const norm = grid.container("dot r r", { r, rr0: sum(rr0) }, ({ r, rr0 }, c) => rr0.add(r[c]! * r[c]!));
  r.fill((x, y, z) => Math.sin(1 + x + 3 * y + 7 * z));
  rr.set(2);
  rr0.set(1);
  const state = { fields: { x, r, p, s }, scalars: { rr, rr0, ps } };
  return { grid, ...state, updateP, laplace, dot, updateX, updateR, norm };
}

type State = { grid: Grid; fields: Record<string, Field>; scalars: Record<string, Scalar> };

/** What a sequence leaves in fields and scalars after two runs. */
async function outcome<S extends State>(make: () => S, sequence: (state: S) => Container[], options?: (state: S) => FusionOptions) {
  const state = make();
  const containers = sequence(state);
  const fusion: Pick<Fusion, "containers" | "swaps"> = options ? fuse(containers, options(state)) : { containers, swaps: [] };
  for (let turn = 0; turn < 2; turn++) {
    for (const container of fusion.containers) await state.grid.run(container, { precision: "strict" });
    for (const [a, b] of fusion.swaps) a.swap(b);
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(state.fields)) values[name] = await field.download();
  for (const [name, scalar] of Object.entries(state.scalars)) values[name] = await scalar.get();
  return values;
}

const names = ({ containers }: Fusion) => containers.map((container) => container.name);

describe("fusion of conjugate gradients", () => {
  const whole = (s: ReturnType<typeof conjugateGradients>) => [s.updateP, s.laplace, s.dot, s.updateX, s.updateR, s.norm];

  it("reaches the least traffic, 8 words a cell, where the matrix times vector is temporary", () => {
    const state = conjugateGradients();
    const fusion = fuse(whole(state), { temporary: [state.fields.s] });
    assert.deepEqual(names(fusion), ["update p + laplace + dot p s", "laplace + update x + update r + dot r r"]);
    assert.deepEqual(fusion.bytes, { before: 14 * 8, after: 8 * 8 });
  });

  it("keeps every bit", async () => {
    const expected = await outcome(conjugateGradients, whole);
    assert.deepEqual(await outcome(conjugateGradients, whole, () => ({})), expected);
    const { s: _, ...rest } = expected;
    const { s: __, ...temporary } = await outcome(conjugateGradients, whole, (state) => ({ temporary: [state.fields.s] }));
    assert.deepEqual(temporary, rest);
  });
});
