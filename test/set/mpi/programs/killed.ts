import { existsSync } from "node:fs";
import { assign, f64, i32, max } from "../../../../src/index.js";
import { bricks, dense } from "../../../../src/domain/index.js";
import { particles } from "../../../../src/domain/particles/index.js";
import { readCheckpoint, writeCheckpoint } from "../../../../src/io/index.js";
import { devices, type Ranks } from "../../../../src/set/index.js";
import { skeleton, swap } from "../../../../src/skeleton/index.js";
import { createHash } from "node:crypto";

/*
 * A run that writes a checkpoint after each iteration and goes on from the last one, if there is one. The words are the devices, the iterations, the
 * checkpoint, and perhaps when a rank kills itself: the rank, a call of all ranks and how many of them to let pass, and `before` or `after` it; or the
 * rank, `timer` and milliseconds. Rank 0 prints where it began, what it has written, and a digest.
 */

const [spec, iterations, path, ...kill] = process.argv.slice(2);
const set = await devices(spec);
const tell = (text: string): void => void ((set.ranks?.rank ?? 0) === 0 && console.log(text));

const die = (): void => void process.kill(process.pid, "SIGKILL");

/** Kills the process at a call. */
function killAt(ranks: Ranks, call: string, passes: number, when: string): void {
  let left = passes;
  const wrap =
    <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>, whatOf: (args: A) => unknown) =>
    async (...args: A): Promise<R> => {
      const isIt = whatOf(args) === call && left-- === 0;
      if (isIt && when === "before") die();
      const result = await work(...args);
      if (isIt) die();
      return result;
    };
  Object.assign(ranks, {
    gather: wrap(ranks.gather.bind(ranks), ([, what]) => what),
    agree: wrap(ranks.agree.bind(ranks), ([, what]) => what),
  });
}

if (kill.length > 0 && Number(kill[0]) === set.ranks?.rank) {
  if (kill[1] === "timer") setTimeout(die, Number(kill[2]));
  else killAt(set.ranks, kill[1], Number(kill[2]), kill[3]);
}

const noise = (x: number, y: number, z: number): number => Math.fround(Math.sin(x * 12.9898 + y * 78.233 + z * 37.719));
const walls = bricks(set, [8, 8, 32], (x, y, z) => x > 0 || (y + z) % 3 > 0);
const [u, v] = ["u", "v"].map((name) => walls.field(name, f64));
const greatest = walls.scalar("greatest", f64);
const samples = walls.scalar("samples", i32);
const waves = skeleton(
  set,
  "waves",
  [
    walls.container("move", { u, v, greatest: max(greatest) }, ({ u, v, greatest }, c) => {
      v[c] = 0.5 * u[c] + 0.2 * (u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1)) - 0.1 * u.at(c, 1, 0, 0);
      greatest.max(Math.abs(v[c]));
    }),
    walls.scalarStep("count", { samples: assign(samples) }, ({ samples }) => samples.set(samples.get() + 1)),
    swap(u, v),
  ],
  { precision: "strict" },
);
const box = dense(set, [6, 32, 20], { periodic: true, split: set.members.length > 1 ? "yz" : undefined });
const [p, q] = ["p", "q"].map((name) => box.field(name, f64, { cardinality: 2 }));
const ions = particles(box, "ions", { v: [f64, 3] }, { capacity: 300 });
const drift = skeleton(
  set,
  "drift",
  [
    ions.container("drift", { x: ions.columns.x, v: ions.columns.v }, ({ x, v }, p) => {
      for (let a = 0; a < 3; a++) x[p][a] += v[p][a];
    }),
    box.container("mix", { p, q }, ({ p, q }, c) => {
      for (let k = 0; k < 2; k++) q[c][k] = 0.5 * p[c][k] + 0.2 * (p.at(c, 0, 1, 0)[1 - k] + p.at(c, 0, -1, 1)[k]);
    }),
    swap(p, q),
  ],
  { precision: "strict" },
);

if (existsSync(path)) await (await readCheckpoint(path)).restore([waves, drift]);
else {
  u.fill(noise);
  v.fill(0);
  p.fill(noise);
  q.fill(0);
  const each = (of: (n: number, a: number) => number): number[] => Array.from({ length: 600 }, (_, m) => of(Math.floor(m / 3), m % 3));
  ions.load({ x: each((n, a) => (0.5 + 0.499 * noise(n, a, 1)) * box.extents[a]), v: each((n, a) => 0.6 * noise(n, a, 2)) });
}
tell(`from ${waves.iteration}`);
while (waves.iteration < Number(iterations)) {
  await waves.run(1);
  await drift.run(1);
  await writeCheckpoint(path, [waves, drift]);
  tell(`wrote ${waves.iteration}`);
}
const hash = createHash("sha256");
const { x, v: velocities } = await ions.download();
for (const list of [await u.download(), await p.download(), x, velocities, [await greatest.get(), await samples.get()]])
  hash.update(Float64Array.from(list));
tell(`digests ${hash.digest("hex").slice(0, 16)}`);
await set.close();
