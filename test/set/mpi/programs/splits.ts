import { createHash } from "node:crypto";
import { assign, f32, f64, i32, max, sum } from "../../../../src/index.js";
import { deposit, particles } from "../../../../src/domain/particles/index.js";
import { dense, face, roll, slab, type AxisArray, type Split } from "../../../../src/domain/index.js";
import { HOST_LIMITS } from "../../../../src/domain/grid/pieces.js";
import { readCheckpoint, readImage, writeCheckpoint, writeImage } from "../../../../src/io/index.js";
import { devices } from "../../../../src/set/index.js";
import { skeleton, swap, type OccLevel } from "../../../../src/skeleton/index.js";
import { findNan } from "../../../../src/skeleton/run/nan.js";
import { carryByStandIn } from "./stand-in.js";

/*
 * A grid that is cut along y, or y and z: halos with edges, uneven cuts by a mask, ghosts, strict sums, folds along axes, rolls, scalar steps, and files. The words are the devices, the split, the level
 * of overlap, the iterations, a checkpoint to write, a picture to write, and perhaps a checkpoint to go on from. Rank 0 prints digests.
 */

const [spec, split, occ, iterations, checkpoint, picture, from] = process.argv.slice(2);
const set = await devices(spec);
if (process.env.STAND_IN) carryByStandIn(set);
// So small that fields go in many pieces.
HOST_LIMITS.piece = 2 ** 12;
const noise = (x: number, y: number, z: number, k: number): number =>
  Math.fround(Math.sin(x * 12.9898 + y * 78.233 + z * 37.719 + k * 4.1));

const cut = set.members.length > 1 ? (split as Split) : undefined;
const ring = dense(set, [9, 35, 10], { periodic: true, split: cut });
const [u, v] = ["u", "v"].map((name) => ring.field(name, f64, { cardinality: 2 }));
const [total, greatest, dt] = ["total", "greatest", "dt"].map((name) => ring.scalar(name, f64));
const spread = ring.container("spread", { u, v, dt }, ({ u, v, dt }, c) => {
  v[c][0] = u[c][0] + (0.1 + dt) * (u.at(c, 0, 1, 1)[0] + u.at(c, 0, -1, -1)[1] - u.at(c, 1, 0, 0)[0] - 1e-3 * c.y);
  v[c][1] = 0.9 * u[c][1] + 0.01 * u.at(c, 0, 1, -2)[0] + 0.01 * u.at(c, 0, -2, 0)[1];
});
const measure = ring.container("measure", { v, total: sum(total), greatest: max(greatest) }, ({ v, total, greatest }, c) => {
  total.add(v[c][0]);
  greatest.max(Math.abs(v[c][1]));
});
const step = ring.scalarStep("step", { total, greatest, dt: assign(dt) }, ({ total, greatest, dt }) =>
  dt.set((0.01 * total) / (1 + greatest * 1000)),
);
const sums = ([["x"], ["y"], ["z"], ["x", "y"], ["x", "z"], ["y", "z"]] as const).map((axes) => {
  const into = ring.field(`sums along ${axes.join(" and ")}`, f64, { axes: axes as readonly ["x"], cardinality: 2 });
  const most = ring.field(`most along ${axes.join(" and ")}`, f64, { axes: axes as readonly ["x"] });
  const fold = ring.container(
    "fold",
    { v, into: sum(into, { accumulate: axes.length === 1 }), most: max(most) },
    ({ v, into, most }, c) => {
      into.add(0, v[c][0]);
      into.add(1, v[c][1] * c.z);
      most.max(v[c][1]);
    },
    undefined,
    axes.length === 2 ? { on: slab("y", 3, 31) } : {},
  );
  return { into, most, fold };
});
const [{ into: profile }] = sums;
const sheet = sums[3].into as unknown as AxisArray<"f64", 2, 2>;
const relax = ring.container("relax", { v, profile, sheet }, ({ v, profile, sheet }, c) => {
  v[c][1] = 0.99 * v[c][1] + 1e-5 * profile[c][0] + 1e-4 * sheet.at(c, 0, 0)[1];
});
const recycle = roll(v, v, [4, -9, 6], { on: [slab("x", 0, 5), slab("z", 2, 9)], name: "recycle" });
const all = [spread, measure, step, ...sums.map(({ fold }) => fold), relax, recycle, swap(u, v)];
const steps = skeleton(set, "everything", all, { precision: "strict", occ: occ as OccLevel });

const ball = dense(set, [11, 32, 12], { active: (x, y, z) => (x - 5) ** 2 + (y - 9) ** 2 + (z - 4) ** 2 < 90 || x === 3, split: cut });
const [p, q] = ["p", "q"].map((name) => ball.field(name, f32));
const soften = ball.container("soften", { p, q }, ({ p, q }, c) => {
  q[c] = Math.fround(0.5 * p[c] + 0.1 * (p.at(c, 0, 1, 0) + p.at(c, 0, -1, 0) + p.at(c, 0, 1, 1) + p.at(c, 1, 0, -1)));
});
const wet = dense(set, [300, 24, 6], { ghosts: 1, split: cut });
const [w, next] = ["w", "next"].map((name) => wet.field(name, f64));
const heat = wet.scalar("heat", f64);
const walls = (
  [
    ["ymin", -1],
    ["ymax", 1],
  ] as const
).map(([side, dy]) =>
  wet.container(
    side,
    { w },
    ({ w }, c) => w.put(c, 0, dy, 0, 0.5 * w[c]),
    () => [dy],
    { on: face(side) },
  ),
);
const flow = wet.container("flow", { w, next, heat: sum(heat) }, ({ w, next, heat }, c) => {
  next[c] = 0.5 * w[c] + 0.1 * (w.at(c, 0, 1, 0) + w.at(c, 0, -1, 0) + w.at(c, 1, 0, 1) + w.at(c, 0, 0, -1));
  heat.add(next[c]);
});
const fine = dense(set, [7, 75, 14], { levels: 1, split: cut });
const coarse = fine.coarsen();
const [a, b] = [fine.field("a", f64), coarse.field("b", f64)];
const down = coarse.container("down", { a, b }, ({ a, b }, c) => {
  b[c] = 0.2 * (a.fine(c, 0, 0, 0) + a.fine(c, 1, 1, 1) - a.fine(c, 0, -1, 2) + a.fine(c, 0, 3, -1)) + 1e-3 * c.y;
});
const up = fine.container("up", { a, b }, ({ a, b }, c) => {
  a[c] = 0.5 * a[c] + 0.3 * (b.coarse(c, 0, 0, 0) - b.coarse(c, 0, 1, -1) + b.coarse(c, 1, -1, 1));
});
const dust = particles(fine, "dust", { id: i32, v: [f64, 3] }, { capacity: 1400, exchange: 1400, leaving: "absorb" });
const [walk] = dust.container("walk", { x: dust.columns.x, v: dust.columns.v }, ({ x, v }, p) => {
  for (let axis = 0; axis < 3; axis++) {
    x[p][axis] += v[p][axis];
    v[p][axis] *= -0.97;
  }
});
const meet = dust.container("meet", { id: dust.columns.id, v: dust.columns.v, a: deposit(a) }, ({ id, v, a }, p, c) =>
  a.add(c, 0, 0, 0, 1e-4 * id[p] * v[p][1]),
);
const others = [
  skeleton(set, "dust", [walk, ...meet], { precision: "strict", occ: occ as OccLevel }),
  skeleton(set, "levels", [down, up], { precision: "strict", occ: occ as OccLevel }),
  skeleton(set, "ball", [soften, swap(p, q)], { precision: "strict", occ: occ as OccLevel }),
  skeleton(set, "wet", [...walls, flow, swap(w, next)], { precision: "strict", occ: occ as OccLevel }),
];

for (const field of [u, v, p, q, a]) field.fill(noise);
for (const field of [w, next]) field.fill(noise, { ghosts: true });
const names = Array.from({ length: 1200 }, (_, n) => n);
dust.load({
  x: names.flatMap((n) => [7, 75, 14].map((length, axis) => (0.5 + 0.49 * noise(n, axis, 1, 0)) * length)),
  v: names.flatMap((n) => [0.8, 4, 3].map((most, axis) => most * noise(n, axis, 2, 0))),
  id: names,
});
if (from) await (await readCheckpoint(from)).restore([steps, ...others]);
for (const each of [steps, ...others]) await each.run(Number(iterations));
u.set([2, 17, 3], 0.5, 1);
await ring.run(spread, { precision: "strict" });
await writeCheckpoint(checkpoint, [steps, ...others]);
const picturePath = await writeImage(picture, [p]);

const digest = (...values: ArrayLike<number>[]): string => {
  const hash = createHash("sha256");
  for (const list of values) hash.update(Float64Array.from(list));
  return hash.digest("hex").slice(0, 16);
};
/** Values at their places in an array of the whole box with ghosts, from the boxes of all ranks. */
async function fromBoxes(field: typeof w): Promise<Float64Array> {
  const row = 300 + 2;
  const all = new Float64Array(row * (24 + 2) * (6 + 2));
  const own = [];
  for await (const box of field.boxes({ ghosts: true })) own.push(box);
  for (const { first, end, rows, values } of (set.ranks ? await set.ranks.gather(own, "boxes") : [own]).flat()) {
    const length = (rows[1] - rows[0]) * row;
    for (let plane = first; plane < end; plane++)
      all.set(values.subarray((plane - first) * length, (plane - first + 1) * length), ((plane + 1) * (24 + 2) + rows[0] + 1) * row);
  }
  return all;
}

q.set([3, 30, 11], NaN);
const found = {
  boxes: digest(await fromBoxes(w)),
  fields: digest(await u.download(), await v.download(), await p.download(), await w.download({ ghosts: true })),
  dust: digest(...Object.values(await dust.download())),
  levels: digest(await a.download(), await b.download()),
  sums: digest(...(await Promise.all(sums.flatMap(({ into, most }) => [into.download(), most.download()])))),
  scalars: digest(await Promise.all([total, greatest, dt, heat].map((scalar) => scalar.get()))),
  values: digest(await Promise.all([u.get([3, 34, 9], 1), u.get([0, 0, 0]), p.get([5, 9, 4]), w.get([7, 24, 3]), w.get([7, -1, 3])])),
  nan: (await findNan(q))?.cell,
  checkpoint: digest(...(await (await readCheckpoint(checkpoint)).arrays())),
  picture: digest((await readImage(picturePath)).cellData.get("p")!.data),
};
if (!set.ranks || set.ranks.rank === 0) console.log(`digests ${JSON.stringify(found)}`);
await set.close();
