import { createHash } from "node:crypto";
import { meshOf } from "../../../../apps/pic/mesh/mesh.js";
import { DEFAULTS, type Problem } from "../../../../apps/pic/simulation/problem.js";
import { Simulation } from "../../../../apps/pic/simulation/simulation.js";
import { devices } from "../../../../src/set/index.js";

/*
 * Runs a plasma on the devices that the first word names and prints a digest of all fields, particles and measures, by rank 0. The second word is `free`,
 * `sorted`, with particles sorted by cell, or `lost`, where a particle of the last member is lost.
 */

const [spec, order] = process.argv.slice(2);
const sorted = order === "sorted";
const beams = [{ fraction: 1, sigma: sorted ? [0.4, 0.3, 0.2] : [0.4, 0.3] }];
const electrons = { name: "electrons", charge: -1, mass: 1, beams, perturbation: { amplitude: 0.3, mode: 1 } };
const ions = { name: "ions", charge: 1, mass: 4, beams };
const PROBLEM: Problem = {
  mesh: sorted ? meshOf([5, 4, 3], [2, 3, 2.5], 1, 3) : meshOf([13], [2], 2, 2),
  species: sorted ? [electrons] : [electrons, ions],
  magnetic: { field: (x) => [0, 0, Math.cos((2 * Math.PI * x[0]) / 2)] },
};

const set = await devices(spec);
const simulation = await Simulation.create(set, PROBLEM, { ...DEFAULTS, count: 301, dt: 0.05, sort: sorted ? 2 : 0, precision: "strict" });
const last = simulation.parts.find(({ member }) => member.index === set.members.length - 1);
if (order === "lost" && last) last.queue.write(last.species[1].v[0].slice([3, 4]), [NaN]);
await simulation.requireSound();
await simulation.run(3);
const measures = await simulation.measure();
const mode = await simulation.mode("e", 0, 1);
const { arrays, pieces } = await simulation.state();
const digest = createHash("sha256").update(JSON.stringify([measures, mode]));
for (const [n, array] of arrays.entries()) {
  const all = set.ranks && pieces?.[n] ? await set.ranks.gather(array, `array ${n}`) : [array];
  for (const values of all) digest.update(Float64Array.from(values));
}
simulation.free();
if (!set.ranks || set.ranks.rank === 0) console.log(`pic: ${digest.digest("hex").slice(0, 16)}`);
await set.close();
