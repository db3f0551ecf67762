import assert from "node:assert/strict";
import { it } from "node:test";
import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../../src/ir/types.js";
import { f32, f64, i32, max, min, sum } from "../../../src/kernel/declare/params.js";
import { reductionTraffic } from "../../../src/domain/container/reduction-traffic.js";
import { collect, roundsOf } from "../../../src/domain/container/reductions.js";
import { dense } from "../../../src/domain/index.js";
import { HostField } from "../host-field.js";
import { noise, onEachBackend } from "../sets.js";

type Fold = (a: number, b: number) => number;

/** One chunk by the rule of docs/determinism.md. */
function foldChunk(values: readonly number[], identity: number, fold: Fold): number {
  const lanes = Array<number>(REDUCTION_LANES).fill(identity);
  values.forEach((v, n) => (lanes[n % REDUCTION_LANES] = fold(lanes[n % REDUCTION_LANES], v)));
  for (let step = REDUCTION_LANES / 2; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
  return lanes[0];
}

function foldLine(values: readonly number[], identity: number, fold: Fold): number[] {
  const chunks = Math.ceil(values.length / REDUCTION_CHUNK);
  return Array.from({ length: chunks }, (_, n) => foldChunk(values.slice(n * REDUCTION_CHUNK, (n + 1) * REDUCTION_CHUNK), identity, fold));
}

/** The result of a strict reduction over the rows of a box. */
function foldBox(data: readonly number[], nx: number, identity: number, fold: Fold): number {
  let partials = Array.from({ length: data.length / nx }, (_, row) => data.slice(row * nx, (row + 1) * nx)).flatMap((line) =>
    foldLine(line, identity, fold),
  );
  while (partials.length > 1) partials = foldLine(partials, identity, fold);
  return partials[0];
}

const boxes = [
  [[29, 6, 14], undefined],
  [[29, 6, 14], (x: number, y: number, z: number) => noise(x, y, z) > 0],
  [[300, 2, 7], (x: number, y: number, z: number) => (x - 150) ** 2 > 40 * z * (y + 1)],
  [[523, 9], (x: number, y: number) => x > 20 * y],
  // Several groups of 256 partials, which cuts between members divide.
  [[20, 40, 33], undefined],
] as const;

await onEachBackend("reductions", ({ all }) => {
  for (const [extents, active] of boxes)
    it(`have the bits of the rule over [${extents}]${active ? ", some cells inactive" : ""}`, async () => {
      const value = (x: number, y: number, z: number): number => noise(x, y, z) * 10 ** (4 * noise(x + 1, y, z));
      const p = new HostField(extents, value, active, 5);
      const product = new HostField(extents, (x, y, z) => value(x, y, z) * value(x, y, z), active);
      const single = new HostField(extents, (x, y, z) => Math.fround(value(x, y, z)), active, 0);
      const [nx] = extents;
      const expected = {
        dot: foldBox(product.data, nx, 0, (a, b) => a + b),
        least: foldBox(new HostField(extents, value, active, Infinity).data, nx, Infinity, Math.min),
        total: foldBox(single.data, nx, 0, (a, b) => Math.fround(a + b)),
        most: Math.max(...p.cells().flatMap(([x, y, z]) => (p.contains(x, y, z) ? [x + 10 * y] : []))),
      };
      for (const set of all) {
        const grid = dense(set, extents, { active });
        const [u, v] = [grid.field("u", f64, { fillValue: 5 }), grid.field("v", f32, { fillValue: 3 })];
        const [dot, least, total, most] = [
          grid.scalar("dot", f64),
          grid.scalar("least", f64),
          grid.scalar("total", f32),
          grid.scalar("most", i32),
        ];
        const measure = grid.container(
          "measure",
          { u, v, dot: sum(dot), least: min(least), total: sum(total), most: max(most) },
          ({ u, v, dot, least, total, most }, c) => {
            if (u[c] > -1e300) dot.add(u[c] * u[c]);
            least.min(u[c]);
            total.add(v[c]);
            most.max(c.x + 10 * c.y);
          },
        );
        u.fill(value);
        v.fill(value);
        for (const precision of ["strict", "fast"] as const) {
          await grid.run(measure, { precision });
          const found = { dot: await dot.get(), least: await least.get(), total: await total.get() };
          const { most: greatest, ...rest } = expected;
          if (precision === "strict") assert.deepEqual(found, rest, set.name);
          else assert.ok(Math.abs(found.dot - rest.dot) <= 1e-9 * rest.dot && found.least === rest.least);
          assert.equal(await most.get(), greatest);
        }
        for (const { views } of [dot, total])
          for (const [m, view] of views.entries())
            assert.deepEqual(await set.locals[m].queue(0).read(view), await set.locals[0].queue(0).read(views[0]));
        grid.free();
      }
    });

  it("send the partials of divided groups, and bring the values of groups to all in log2(members) rounds", async () => {
    for (const [extents, groups] of [
      [[20, 4, 9], 1],
      [[20, 40, 33], 6],
      [[20, 64, 28], 7],
    ] as const)
      for (const set of all) {
        const others = set.members.length - 1;
        const grid = dense(set, extents);
        const [a, b] = [grid.scalar("a", f64), grid.scalar("b", f32)];
        const measure = grid.container("measure", { a: sum(a), b: max(b) }, ({ a, b }, c) => {
          a.add(c.x);
          b.max(c.x);
        });
        for (const precision of ["strict", "fast"] as const) {
          const made = ["a", "b"].map((param) => collect(measure, param, precision));
          const rounds = roundsOf(made, set.members.length);
          assert.ok(rounds.every(({ launches, copies }) => launches.flat().length + copies.length > 0));
          const copies = rounds.flatMap((round) => round.copies);
          const traffic = {
            rounds: rounds.filter((round) => round.copies.length > 0).length,
            messages: copies.length,
            bytes: copies.reduce((bytes, { source }) => bytes + source!.size * (source!.type === "f64" ? 8 : 4), 0),
          };
          assert.deepEqual(traffic, reductionTraffic(measure, precision), `[${extents}] on ${set.name}, ${precision}`);
          const doublings = Math.ceil(Math.log2(set.members.length));
          assert.ok(traffic.rounds <= 1 + doublings && traffic.messages <= 2 * (others + 2 * set.members.length * doublings));
          // Partials of at most one group go to another member for each cut, or all of them where there is but one group; each member gets a value for each group.
          if (precision === "strict") assert.ok(traffic.bytes <= 12 * (others * 255 + others * Math.max(groups, 36)));
          for (const collection of made) collection.free();
        }
        grid.free();
      }
  });

  it("feed later containers without the host", async () => {
    for (const set of all) {
      const grid = dense(set, [16, 4, 9]);
      const x = grid.field("x", f64);
      const norm = grid.scalar("norm", f64);
      const square = grid.container("square", { x, norm: sum(norm) }, ({ x, norm }, c) => norm.add(x[c] * x[c]));
      const scale = grid.container("scale", { x, norm }, ({ x, norm }, c) => {
        x[c] /= Math.sqrt(norm);
      });
      x.fill((a, b, c) => 1 + a + b + c);
      await grid.run(square, { precision: "strict" });
      await grid.run(scale, { precision: "strict" });
      await grid.run(square, { precision: "strict" });
      assert.ok(Math.abs((await norm.get()) - 1) < 1e-14);
      grid.free();
    }
  });
});
