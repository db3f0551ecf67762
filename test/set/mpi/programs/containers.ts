import { createHash } from "node:crypto";
import { assign, f64, i32, max, sum } from "../../../../src/index.js";
import { dense, roll, sparse } from "../../../../src/domain/index.js";
import { HOST_LIMITS } from "../../../../src/domain/grid/pieces.js";
import { deposit, particles } from "../../../../src/domain/particles/index.js";
import { readCheckpoint, readImage, writeCheckpoint, writeImage } from "../../../../src/io/index.js";
import { devices } from "../../../../src/set/index.js";
import { every, skeleton, swap } from "../../../../src/skeleton/index.js";
import { carryByStandIn } from "./stand-in.js";

/*
 * Everything that members send each other: halos, rolls to far planes, folds along the cut axis and others, small and large, scalars and steps on them; with a mask that makes
 * slabs uneven, and particles that go from slab to slab. The words are the devices, the iterations, a checkpoint to write, a picture to write, and perhaps a checkpoint to go on from. Rank 0 prints digests.
 */

const [spec, iterations, checkpoint, picture, from] = process.argv.slice(2);
const set = await devices(spec);
if (process.env.STAND_IN) carryByStandIn(set);
// So small that fields go in many pieces.
HOST_LIMITS.piece = 2 ** 12;
const strict = { precision: "strict" } as const;
const noise = (x: number, y: number, z: number, k: number): number =>
  Math.fround(Math.sin(x * 12.9898 + y * 78.233 + z * 37.719 + k * 4.1));

const box = dense(set, [9, 7, 22], { periodic: true });
const [u, v] = ["u", "v"].map((name) => box.field(name, f64, { cardinality: 2 }));
const mean = box.field("mean", f64, { axes: ["x", "y"] });
const profile = box.field("profile", f64, { axes: ["z"] });
const [total, greatest, dt] = ["total", "greatest", "dt"].map((name) => box.scalar(name, f64));
const spread = box.container("spread", { u, v, dt, profile }, ({ u, v, dt, profile }, c) => {
  v[c][0] = u[c][0] + (0.1 + dt) * (u.at(c, 0, 0, 1)[0] + u.at(c, 0, 0, -1)[1] - u.at(c, 1, 0, 0)[0] - 1e-3 * profile[c]);
  v[c][1] = 0.9 * u[c][1] + 0.01 * u.at(c, 0, 1, 2)[0];
});
const measure = box.container("measure", { v, total: sum(total), greatest: max(greatest) }, ({ v, total, greatest }, c) => {
  total.add(v[c][0]);
  greatest.max(Math.abs(v[c][1]));
});
const fold = box.container("fold", { v, mean: sum(mean) }, ({ v, mean }, c) => mean.add(v[c][0] * v[c][1]));
const slice = box.container("slice", { v, profile: sum(profile) }, ({ v, profile }, c) => profile.add(v[c][0]));
const step = box.scalarStep("step", { total, greatest, dt: assign(dt) }, ({ total, greatest, dt }) =>
  dt.set((0.01 * total) / (1 + greatest * 1000)),
);
const steps = skeleton(
  set,
  "everything",
  [spread, measure, step, every(2, [fold, slice]), roll(v, u, [1, 0, 11], { components: [1] }), swap(u, v)],
  strict,
);

// Where the results of a fold are large, members share them out.
const wide = dense(set, [512, 260, 5]);
const w = wide.field("w", f64);
const sums = wide.field("sums", f64, { axes: ["x", "y"] });
const folded = wide.container("folded", { w, sums: sum(sums) }, ({ w, sums }, c) => sums.add(w[c]));

const ball = sparse(set, [12, 12, 24], (x, y, z) => (x - 6) ** 2 + (y - 6) ** 2 + (z - 9) ** 2 < 70 || x === 0);
const [p, q] = ["p", "q"].map((name) => ball.field(name, f64));
const heat = ball.scalar("heat", f64);
const relax = ball.container("relax", { p, q, heat: sum(heat) }, ({ p, q, heat }, c) => {
  q[c] = 0.5 * p[c] + 0.1 * (p.at(c, 0, 0, 1) + p.at(c, 0, 0, -1) + p.at(c, 1, 0, 0));
  heat.add(q[c]);
});
const cooling = skeleton(set, "cooling", [relax, swap(p, q)], { ...strict, occ: "two-way" });

// Particles of two layouts, which go both ways along the cut axis, and leave it at one end to come in at the other.
const rho = box.field("rho", f64);
const species = (["soa", "aos"] as const).map((layout, n) => {
  const of = particles(box, `particles ${n}`, { v: [f64, 3], id: i32 }, { layout, capacity: 400 });
  const push = of.container("push", { x: of.columns.x, v: of.columns.v, rho }, ({ x, v, rho }, p, c) => {
    for (let a = 0; a < 3; a++) x[p][a] += v[p][a] + 1e-4 * rho[c];
  });
  const give = of.container("give", { x: of.columns.x, rho: deposit(rho) }, ({ x, rho }, p, c) => {
    const at = x[p][2] - c.z;
    rho.add(c, 0, 0, 0, 1 - at);
    rho.add(c, 0, 0, 1, at);
  });
  return { of, push, give };
});
const moves = skeleton(set, "moves", [...species.flatMap(({ push }) => push), ...species.flatMap(({ give }) => give)], strict);
const load = (): void =>
  species.forEach(({ of }, n) => {
    const each = (of: (i: number, a: number) => number): number[] =>
      Array.from({ length: 3 * 300 }, (_, m) => of(Math.floor(m / 3), m % 3));
    const x = each((i, a) => (0.5 + 0.499 * noise(i, a, n, 1)) * box.extents[a]);
    of.load({ x, v: each((i, a) => 0.7 * noise(i, a, n, 2)), id: Array.from({ length: 300 }, (_, i) => i) });
  });

u.fill(noise);
rho.fill(0);
load();
v.fill(noise);
w.fill(noise);
p.fill(noise);
if (from) await (await readCheckpoint(from)).restore([steps, cooling, moves]);
await steps.run(Number(iterations));
await cooling.run(Number(iterations));
await moves.run(Number(iterations));
await wide.run(folded, strict);
await writeCheckpoint(checkpoint, [steps, cooling, moves]);
const image = await writeImage(picture, [p]);

const digest = (...values: ArrayLike<number>[]): string => {
  const hash = createHash("sha256");
  for (const list of values) hash.update(Float64Array.from(list));
  return hash.digest("hex").slice(0, 16);
};
const own: number[] = [];
for await (const { first, values } of u.planes()) own.push(first, ...values);
const planes = set.ranks ? (await set.ranks.gather(own)).flat() : own;
const found = {
  fields: digest(await u.download(), await mean.download(), await profile.download(), await p.download()),
  particles: digest(
    ...(await Promise.all(species.map(({ of }) => of.download()))).flatMap(({ x, v, id }) => [x, v, id]),
    await rho.download(),
  ),
  held: (await species[0].of.held()).reduce((a, b) => a + b, 0),
  wide: digest(await sums.download()),
  scalars: digest(await Promise.all([total, greatest, dt, heat].map((scalar) => scalar.get()))),
  values: digest(await Promise.all([u.get([3, 2, 21], 1), u.get([0, 0, 0]), p.get([6, 6, 12])])),
  planes: new Set(planes).size > 100,
  // In several processes it is in pieces.
  checkpoint: digest(...(await (await readCheckpoint(checkpoint)).arrays())),
  picture: digest(...[...(await readImage(image)).cellData.values()].map(({ data }) => data)),
};
if (!set.ranks || set.ranks.rank === 0) console.log(`digests ${JSON.stringify(found)}`);
await set.close();
