import assert from "node:assert/strict";
import { after, describe, it, test } from "node:test";
import { f64, sum, u8 } from "isoform";
import { dense, type Container, type Field, type Grid } from "../../../src/domain/index.js";
import { devices, type Scalar } from "../../../src/set/index.js";
import { fuse, type Fusion, type FusionOptions } from "../../../src/skeleton/fusion/fusion.js";
import { stagesOf } from "../../../src/skeleton/plan/plan.js";
import { MergedContainers } from "../../../src/skeleton/fusion/merged.js";
import { exchange } from "../../../src/skeleton/fusion/sequence.js";

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
    fusion.swaps.forEach(exchange);
  }
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(state.fields)) values[name] = await field.download();
  for (const [name, scalar] of Object.entries(state.scalars)) values[name] = await scalar.get();
  return values;
}

const names = ({ containers }: Fusion) => containers.map((container) => container.name);

describe("fusion of conjugate gradients", () => {
  type Parts = ReturnType<typeof conjugateGradients>;
  const whole = (s: Parts) => [s.updateP, s.laplace, s.dot, s.updateX, s.updateR, s.norm];
  const textbook = (s: Parts) => [s.laplace, s.dot, s.updateX, s.updateR, s.norm, s.updateP];

  it("reaches the least traffic, 8 words a cell, where the matrix times vector is temporary", () => {
    const state = conjugateGradients();
    const fusion = fuse(whole(state), { temporary: [state.fields.s] });
    assert.deepEqual(names(fusion), ["update p + laplace + dot p s", "laplace + update x + update r + dot r r"]);
    assert.deepEqual(fusion.bytes, { before: 14 * 8, after: 8 * 8 });
    assert.deepEqual(
      fusion.swaps.map((pair) => pair.map((field) => field.name)),
      [["p", "p'"]],
    );
    assert.equal(fuse(whole(state)).bytes.after, 10 * 8, "with all results stored");
    for (const reason of [/"laplace" runs again/, /s is temporary/, /computed for the 6 neighbours/, /p is written to a second buffer/])
      assert.match(fusion.remarks.join("\n"), reason);
  });

  it("moves the update of x beside that of p where the sequence ends with it", () => {
    const state = conjugateGradients();
    const plain = fuse(textbook(state));
    assert.deepEqual(names(plain), ["laplace + dot p s", "update r + dot r r", "update x + update p"]);
    assert.equal(plain.bytes.after, 10 * 8);
    assert.equal(fuse(textbook(state), { temporary: [state.fields.s] }).bytes.after, 9 * 8);
  });

  it("fuses across iterations that are unrolled", () => {
    const state = conjugateGradients();
    const { bytes } = fuse(
      [1, 2, 3, 4].flatMap(() => textbook(state)),
      { temporary: [state.fields.s] },
    );
    // p is updated with the matrix product of the next iteration, and with nothing at the end.
    assert.ok(bytes.after <= (4 * 8 + 3) * 8, `${bytes.after} bytes`);
  });

  for (const [order, sequence] of Object.entries({ whole, textbook }))
    it(`keeps every bit of the ${order} sequence`, async () => {
      const expected = await outcome(conjugateGradients, sequence);
      assert.deepEqual(await outcome(conjugateGradients, sequence, () => ({})), expected);
      const { s: _, ...rest } = expected;
      const { s: __, ...temporary } = await outcome(conjugateGradients, sequence, (state) => ({ temporary: [state.fields.s] }));
      assert.deepEqual(temporary, rest);
    });
});

it("fuses a stencil with the step that it leads to, with a second buffer", () => {
  const grid = dense(set, EXTENTS);
  const [u, rate] = [grid.field("u", f64), grid.field("rate", f64)];
  const laplace = grid.container("laplace", { u, rate }, ({ u, rate }, c) => {
    rate[c] = u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) - 2 * u[c]!;
  });
  const step = grid.container("step", { u, rate, dt: 0.1 }, ({ u, rate, dt }, c) => {
    u[c] = u[c]! + dt * rate[c]!;
  });
  const fusion = fuse([laplace, step], { temporary: [rate] });
  assert.deepEqual(names(fusion), ["laplace + step"]);
  assert.deepEqual(fusion.bytes, { before: 5 * 8, after: 2 * 8 });
  const [{ uses, values, location }] = fusion.containers;
  assert.deepEqual(
    uses.map(({ field, read, written, offsets }) => ({ field: field.name, read, written, offsets: offsets.length })),
    [
      { field: "u", read: true, written: false, offsets: 2 },
      { field: "u'", read: false, written: true, offsets: 0 },
    ],
  );
  assert.deepEqual([...values], [["dt", 0.1]]);
  assert.equal(location, laplace.location);
});

test("sequences share the merged containers that they have in common", () => {
  const { updateP, laplace, dot, updateX, updateR, norm, fields } = conjugateGradients();
  const shared = { merged: new MergedContainers(), spares: new Map() };
  const fused = (sequence: Container[], temporary: Field[] = []) => fuse(sequence, { ...shared, temporary });
  const textbook = [laplace, dot, updateX, updateR, norm, updateP];
  const { containers } = fused(textbook);
  assert.deepEqual(fused(textbook).containers, containers, "the same sequence");
  const [product, residual] = fused([laplace, dot, updateR, norm]).containers;
  assert.equal(product, containers[0]);
  assert.equal(residual, containers[1]);
  assert.notEqual(fused(textbook, [fields.s]).containers[0], containers[0], "a field that is temporary is not stored");
  const whole = [updateP, laplace, dot, updateX, updateR, norm];
  const [matrix] = fused(whole, [fields.s]).containers;
  assert.equal(fused(whole, [fields.s]).containers[0], matrix, "with the same second buffer");
  assert.notEqual(fuse(whole, { merged: shared.merged, temporary: [fields.s] }).containers[0], matrix, "with another second buffer");
});

test("a scalar that is read takes the next result in a second buffer", async () => {
  const make = () => {
    const grid = dense(set, EXTENTS);
    const b = grid.field("b", f64);
    const s = grid.scalar("s", f64);
    b.fill((x, y, z) => 1 + x + 2 * y + 3 * z);
    s.set(0.5);
    return { grid, fields: { b }, scalars: { s } };
  };
  const sequence = ({ grid, fields: { b }, scalars: { s } }: ReturnType<typeof make>) => [
    grid.container("scale", { b, s }, ({ b, s }, c) => void (b[c] = s * b[c]!)),
    grid.container("norm", { b, s: sum(s) }, ({ b, s }, c) => s.add(b[c]! / 1000)),
  ];
  const state = make();
  assert.equal(fuse(sequence(state)).containers.length, 1);
  assert.deepEqual(await outcome(make, sequence, () => ({})), await outcome(make, sequence));
});

describe("containers stay apart", () => {
  const grid = dense(set, EXTENTS);
  const [a, b, d, bytes] = [grid.field("a", f64), grid.field("b", f64), grid.field("d", f64, { fillValue: 1 }), grid.field("mark", u8)];
  const [s, t] = [grid.scalar("s", f64), grid.scalar("t", f64)];
  const double = grid.container("double", { a, b }, ({ a, b }, c) => void (b[c] = 2 * a[c]!));
  const shift = grid.container("shift", { a, b }, ({ a, b }, c) => void (b[c] = a.at(c, 1, 0, 0)));
  const back = grid.container("back", { a, b }, ({ a, b }, c) => void (a[c] = b.at(c, -1, 0, 0)));
  const norm = grid.container("norm", { b, s: sum(s) }, ({ b, s }, c) => s.add(b[c]! * b[c]!));
  const again = grid.container("again", { a, s: sum(s) }, ({ a, s }, c) => s.add(a[c]!));
  const scale = grid.container("scale", { b, s }, ({ b, s }, c) => void (b[c] = s * b[c]!));
  const wrong = grid.container("wrong", { a, d }, ({ a, d }, c) => void (d[c] = 2 * a[c]!));
  const after = grid.container("after", { d, b }, ({ d, b }, c) => void (b[c] = d.at(c, 0, 1, 0)));
  const raise = grid.container("raise", { b, t }, ({ b, t }, c) => void (b[c] = b[c]! + t));
  const edge = grid.container("edge", { b, mark: bytes }, ({ b, mark }, c) => void (b[c] = mark.isActive(c, 1, 0, 0) ? 0 : 1));

  const reasons: [containers: Container[], reason: RegExp][] = [
    [[norm, scale], /"scale" reads s, the result of "norm" over all cells/],
    [[norm, again], /"norm" and "again" both put a result into s/],
    [[shift, back], /"back" reads neighbours of b, which "shift" writes, and "shift" itself reads neighbours/],
    [
      [wrong, after],
      /"after" reads neighbours of d, which "wrong" writes, and "wrong" would give cells outside the domain values other than 1/,
    ],
    [[double, raise, back], /"back" reads neighbours of b, which "double" writes, and "raise" writes it too/],
    [[edge, back], /"back" reads neighbours of b, which "edge" writes, and "edge" asks which cells are active/],
  ];
  for (const [containers, reason] of reasons)
    it(containers.map((container) => container.name).join(", "), () => {
      const { containers: fused, remarks } = fuse(containers);
      assert.ok(fused.length > 1, names({ containers: fused } as Fusion).join("; "));
      assert.match(remarks.join("\n"), reason);
    });

  it("over different grids", () => {
    const other = dense(set, EXTENTS);
    const u = other.field("u", f64);
    const elsewhere = other.container("elsewhere", { u }, ({ u }, c) => void (u[c] = 1));
    assert.match(fuse([double, elsewhere]).remarks.join("\n"), /"double" and "elsewhere" run over different grids/);
  });
});

/** A field of two components, and containers that touch one of them. */
function components() {
  const grid = dense(set, EXTENTS);
  const field = (name: string) => grid.field(name, f64);
  const [w, a] = ["w", "a"].map(field);
  const u = grid.field("u", f64, { cardinality: 2 });
  const s = grid.scalar("s", f64);
  const first = grid.container("first", { w, u }, ({ w, u }, c) => void (u[c]![0] = w[c]! * 0.5));
  const second = grid.container("second", { w, u }, ({ w, u }, c) => void (u[c]![1] = 0.25 * w[c]!));
  const beyond = grid.container("beyond", { u, a }, ({ u, a }, c) => void (a[c] = u.at(c, 0, 1, 0)[1]!));
  const divergence = grid.container("divergence", { u, a }, ({ u, a }, c) => {
    a[c] = u.at(c, 1, 0, 0)[0]! - u.at(c, -1, 0, 0)[0]! + u.at(c, 0, 1, 0)[1]! - u.at(c, 0, -1, 0)[1]!;
  });
  const total = grid.container("total", { w, s: sum(s) }, ({ w, s }, c) => s.add(w[c]!));
  const both = grid.container("both", { u, a, s }, ({ u, a, s }, c) => void (a[c] = s * u[c]![0]! + u[c]![1]!));
  w.fill((x, y, z) => Math.sin(1 + x + 3 * y + 7 * z));
  u.fill((x, y, z, k) => Math.cos(x + 5 * y + 11 * z + k));
  const state = { fields: { w, a, u }, scalars: { s } };
  return { grid, ...state, first, second, beyond, divergence, total, both };
}

describe("components of one field", () => {
  type Parts = ReturnType<typeof components>;
  const cases: readonly [string, (s: Parts) => Container[], swapped: readonly string[]][] = [
    ["one is written, another is read of neighbours", (s) => [s.first, s.beyond], []],
    ["the other way round", (s) => [s.beyond, s.first], []],
    ["one is written that neighbours lend, and one that they keep", (s) => [s.first, s.divergence], []],
    ["both are read of neighbours, then one is written", (s) => [s.divergence, s.second], ["u"]],
    ["one each, by two containers", (s) => [s.first, s.second, s.beyond], []],
  ];
  for (const [what, sequence, swapped] of cases)
    it(what, async () => {
      const fusion = fuse(sequence(components()));
      assert.equal(fusion.containers.length, 1, fusion.remarks.join("; "));
      assert.deepEqual(
        fusion.swaps.map(([of]) => of.name),
        swapped,
      );
      const plain = await outcome(components, sequence);
      assert.deepEqual(await outcome(components, sequence, () => ({})), plain);
    });

  it("are temporary, each with a writer of its own that runs again", async () => {
    const sequence = (s: Parts) => [s.first, s.second, s.total, s.both];
    const { u, ...others } = await outcome(components, sequence);
    assert.ok(u);
    const { u: _, ...fused } = await outcome(components, sequence, (s) => ({ temporary: [s.fields.u] }));
    assert.deepEqual(fused, others);
  });

  it("are refused as temporary where one is needed from before", () => {
    const s = components();
    assert.throws(
      () => stagesOf([s.first, s.both], 1, true, [s.fields.u]),
      /container "both", .*: it needs component 1 of field "u" from before the sequence, and the field is declared temporary/,
    );
    stagesOf([s.first, s.second, s.both], 1, true, [s.fields.u]);
  });
});

it("refuses temporaries whose old values are needed", () => {
  const state = conjugateGradients();
  assert.throws(
    () => stagesOf([state.updateP, state.laplace], 1, true, [state.fields.p]),
    /container "update p", .*fusion\.test\.ts:\d+:\d+: it needs the value of field "p" from before the sequence, and the field is declared temporary/,
  );
});
