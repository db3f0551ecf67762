import { createHash } from "node:crypto";
import { assign, f64, i32, max, min, sum } from "../../../../src/index.js";
import { dense, sparse } from "../../../../src/domain/index.js";
import { devices } from "../../../../src/set/index.js";
import { skeleton, swap, type OccLevel } from "../../../../src/skeleton/index.js";

/*
 * Totals in fast mode, between halos and steps that use them at once, of integers, which every order adds up to the same. The words are the devices, the level of
 * overlap and the iterations. Rank 0 prints a digest, and what exchanges totals.
 */

const [spec, occ, iterations] = process.argv.slice(2);
const options = { occ: occ as OccLevel };
const set = await devices(spec);

const box = dense(set, [16, 9, 23], { periodic: true });
const [a, b] = ["a", "b"].map((name) => box.field(name, i32));
const [total, shift] = ["total", "shift"].map((name) => box.scalar(name, i32));
const [least, greatest, sumOfSquares] = ["least", "greatest", "squares"].map((name) => box.scalar(name, f64));
const mix = box.container("mix", { a, b, shift }, ({ a, b, shift }, c) => {
  b[c] = (a.at(c, 0, 0, 1) * 5 + a.at(c, 0, 0, -1) * 3 + a.at(c, 1, 0, 0) + shift) & 1023;
});
const measure = box.container("measure", { b, total: sum(total) }, ({ b, total }, c) => total.add(b[c]));
const step = box.scalarStep("step", { total, shift: assign(shift) }, ({ total, shift }) => shift.set((total & 255) + 1));
const spread = box.container(
  "spread",
  { a, b, total, least: min(least), greatest: max(greatest), sumOfSquares: sum(sumOfSquares) },
  ({ a, b, total, least, greatest, sumOfSquares }, c) => {
    a[c] = (b[c] + b.at(c, 0, 0, 2) + total) & 511;
    least.min(a[c]);
    greatest.max(a[c] + 0.5);
    sumOfSquares.add(a[c] * a[c]);
  },
);
const mixing = skeleton(set, "mixing", [mix, measure, step, spread], options);

const ball = sparse(set, [12, 12, 40], (x, y, z) => (x - 6) ** 2 + (y - 6) ** 2 + (z - 9) ** 2 < 70 || x === 0);
const [p, q] = ["p", "q"].map((name) => ball.field(name, f64));
const heat = ball.scalar("heat", f64);
const relax = ball.container("relax", { p, q, heat: sum(heat) }, ({ p, q, heat }, c) => {
  q[c] = Math.floor(0.5 * (p[c] + p.at(c, 0, 0, 1) + p.at(c, 0, 0, -1)) + 1);
  heat.add(q[c]);
});
const cooling = skeleton(set, "cooling", [relax, swap(p, q)], options);

a.fill((x, y, z) => (x * 7 + y * 31 + z * 101) & 511);
p.fill((x, y, z) => (x * 3 + y * 5 + z * 7) % 64);
shift.set(1);
const totals: number[] = [];
for (let turn = 0; turn < 3; turn++) {
  await mixing.run(Number(iterations));
  await cooling.run(Number(iterations) + turn);
  totals.push(...(await Promise.all([total, least, greatest, sumOfSquares, heat].map((scalar) => scalar.get()))));
}
const hash = createHash("sha256");
for (const list of [await a.download(), await p.download(), totals]) hash.update(Float64Array.from(list));
if ((set.ranks?.rank ?? 0) === 0) {
  const { carried } = set;
  console.log(
    `digests ${JSON.stringify({ all: hash.digest("hex").slice(0, 16), totals: carried?.by === "NCCL" ? carried.totals.by : "" })}`,
  );
}
await set.close();
