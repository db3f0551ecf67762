import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { f64, sum } from "../../../../src/index.js";
import { dense } from "../../../../src/domain/index.js";
import { readCheckpoint, writeCheckpoint, writeImage } from "../../../../src/io/index.js";
import { devices } from "../../../../src/set/index.js";
import { skeleton, swap } from "../../../../src/skeleton/index.js";

/*
 * Fields as large as memory allows. The words are the devices, the size of the box, the fields beside two, the iterations, and perhaps a folder for a checkpoint, which is read back, and a picture.
 * Rank 0 prints a digest; each rank prints the most memory that it had, its own share of the fields and the rest, in MiB.
 */

const [spec, size, more, iterations, folder] = process.argv.slice(2);
const [nx, ny, nz] = size.split(",").map(Number);
const set = await devices(spec);
const MIB = 2 ** 20;
const most = (): number => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
const grid = dense(set, [nx, ny, nz]);
const [u, v, ...others] = ["u", "v", ...Array.from({ length: Number(more) }, (_, n) => `w${n}`)].map((name) => grid.field(name, f64));
const total = grid.scalar("total", f64);
const step = grid.container("step", { u, v, total: sum(total) }, ({ u, v, total }, c) => {
  v[c] = 0.5 * u[c] + 0.125 * (u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1) + u.at(c, 1, 0, 0) + u.at(c, 0, 1, 0));
  total.add(v[c]);
});
const steps = skeleton(set, "steps", [step, swap(u, v)], { precision: "strict" });
/** Bytes of the fields as this process stores them, with halos and padded rows. */
const stored = (): number => [u, v, ...others].flatMap(({ storage }) => storage).reduce((sum, { buffer }) => sum + buffer.bytes, 0);

const marks: [what: string, mib: number][] = [["start", most()]];
const mark = (what: string): unknown => marks.push([what, most()]);
for (const [n, field] of [u, v, ...others].entries()) field.fill((x, y, z) => (x * 3 + y * 7 + z * 13 + n) % 17);
mark("fill");
await steps.run(Number(iterations));
mark("run");
if (folder) {
  const path = join(folder, "large.ckpt");
  await writeCheckpoint(path, [steps]);
  mark("checkpoint");
  await (await readCheckpoint(path)).restore([steps]);
  mark("restore");
  await writeImage(join(folder, "large.vti"), [u, v, ...others]);
  mark("picture");
}

const planes: [number, string][] = [];
for await (const { first, values } of u.planes())
  for (let n = 0; n < values.length / (nx * ny); n++)
    planes.push([
      first + n,
      createHash("sha256")
        .update(values.subarray(n * nx * ny, (n + 1) * nx * ny))
        .digest("hex"),
    ]);
mark("digest");
const all = (set.ranks ? (await set.ranks.gather(planes)).flat() : planes).sort(([a], [b]) => a - b);
const sumOfAll = await total.get();
const rank = set.ranks?.rank ?? 0;
if (rank === 0)
  console.log(
    `large: ${createHash("sha256")
      .update(JSON.stringify([all, sumOfAll]))
      .digest("hex")
      .slice(0, 16)}`,
  );
const fields = stored() / MIB;
console.log(
  `rank ${rank}: ${fields.toFixed(0)} MiB of fields; beyond them at most ${marks.map(([what, mib]) => `${what} ${(mib - (what === "start" ? 0 : fields)).toFixed(0)}`).join(", ")}`,
);
await set.close();
