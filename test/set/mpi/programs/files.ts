import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { f32, f64 } from "../../../../src/index.js";
import { bricks, dense, sparse, type Split } from "../../../../src/domain/index.js";
import { HOST_LIMITS } from "../../../../src/domain/grid/pieces.js";
import { particles } from "../../../../src/domain/particles/index.js";
import {
  readCheckpoint,
  readImage,
  readRaw,
  readRectilinear,
  readUnstructured,
  writeCheckpoint,
  writeImage,
  writeRaw,
  writeRectilinear,
  writeUnstructured,
} from "../../../../src/io/index.js";
import { cellDataOfBox, readVtk } from "../../../../src/io/vtk-reader.js";
import { devices } from "../../../../src/set/index.js";

/*
 * Writes files of all kinds, and reads them. The words are the devices, a folder, and perhaps how the box is cut. Rank 0 prints digests of what the readers give, and each rank how many
 * bytes ranks have given each other, and how many it has read and written itself.
 */

const [spec, folder, split] = process.argv.slice(2);
const set = await devices(spec);
const rank = set.ranks?.rank ?? 0;
const at = (name: string): string => join(folder, name);
// So small that fields go in several pieces.
HOST_LIMITS.piece = 2 ** 14;

const noise = (x: number, y: number, z: number, k = 0): number => Math.fround(Math.sin(x * 12.9898 + y * 78.233 + z * 37.719 + k));
const holes = (x: number, y: number, z: number): boolean => noise(x, y, z) > -0.6;
const box = dense(set, [16, 24, 40], { active: holes, ghosts: { zmin: 1, ymax: 2 }, split: split as Split });
const u = box.field("u", f64, { cardinality: 3, fillValue: 0.5 });
const p = box.field("p", f32);
u.fill(noise, { ghosts: true });
p.fill((x, y, z) => x + 10 * y + 100 * z);
const flat = dense(set, [16, 40]);
const t = flat.field("t", f64);
t.fill((x, y) => x + 100 * y);
const others = [sparse(set, [8, 12, 24], holes), bricks(set, [8, 8, 32], holes)].map((grid, n) => grid.field(`other ${n}`, f64));
for (const field of others) field.fill(noise);
const ions = particles(box, "ions", { v: [f64, 3] }, { capacity: 13000 });
const inside = Array.from({ length: 16 * 24 * 40 }, (_, cell) => [cell % 16, Math.floor(cell / 16) % 24, Math.floor(cell / 384)]).filter(
  ([x, y, z]) => holes(x, y, z),
);
ions.load({ x: inside.flatMap(([x, y, z]) => [x + 0.5, y + 0.25, z + 0.125]), v: inside.flatMap(([x, y, z]) => [x, y, z]) });

/** Bytes that all ranks have given. */
let given = 0;
const { ranks } = set;
if (ranks) {
  const gather = ranks.gather.bind(ranks);
  const agree = ranks.agree.bind(ranks);
  const counted = <T>(value: T): T => ((given += serialize(value).length), value);
  Object.assign(ranks, {
    gather: async (value: unknown, what?: string) => counted(await gather(value, what)),
    agree: async (value: unknown, what?: string) => counted(await agree(value, what)),
  });
}
/** Bytes that this process has read and written in files and pipes so far. */
const traffic = (): number[] =>
  [...readFileSync("/proc/self/io", "utf8").matchAll(/^[rw]char: (\d+)$/gm)].map(([, bytes]) => Number(bytes));

const measured: Record<string, { given: number; read: number; wrote: number }> = {};
async function measure<T>(name: string, work: () => Promise<T>): Promise<T> {
  given = 0;
  const before = traffic();
  const result = await work();
  const [read, wrote] = traffic().map((bytes, n) => bytes - before[n]);
  measured[name] = { given, read, wrote };
  return result;
}

const faces = [16, 24, 40].map((n) => Array.from({ length: n + 1 }, (_, k) => k * k + k));
const state = [u, p, t, ...others, ions];
await measure("checkpoint", () => writeCheckpoint(at("state"), state));
const raw = await measure("raw", () => writeRaw(at("raw"), u)).then(() => readFileSync(at("raw")));
const image = await measure("image", () => writeImage(at("u.vti"), [u, p], { spacing: [1, 2, 3] }));
const again = await writeImage(at("u.vti"), [u, p], { spacing: [1, 2, 3] });
const text = await writeImage(at("t.vti"), [t], { encoding: "inline" });
const rectilinear = await writeRectilinear(at("u.vtr"), [u], { faces });
const plane = await writeRectilinear(at("t.vtr"), [t], { faces: [faces[0], faces[2]] });
const mesh = await measure("mesh", () => writeUnstructured(at("u.vtu"), [u, p]));
const sheet = await writeUnstructured(at("t.vtu"), [t]);

for (const field of [u, p, t, ...others]) field.fill(0);
await measure("restore", async () => (await readCheckpoint(at("state"))).restore(state));
const values = await u.download({ ghosts: true });
await readRaw(at("raw"), u);

const digest = (value: unknown): string => {
  const plain = JSON.stringify(value, (_, each: unknown) =>
    each instanceof Map || ArrayBuffer.isView(each) ? [...(each as Float64Array)] : each,
  );
  return createHash("sha256").update(plain).digest("hex").slice(0, 16);
};
const pixels = await readVtk(image, "ImageData");
const found = {
  hidden: digest(cellDataOfBox(pixels.pieces, box.extents, image)),
  raw: digest(raw),
  images: digest([await readImage(image), await readImage(text)]),
  rectilinear: digest([await readRectilinear(rectilinear), await readRectilinear(plane)]),
  meshes: digest([await readUnstructured(mesh), await readUnstructured(sheet)]),
  restored: digest([values, await t.download(), await others[0].download(), await others[1].download(), await ions.download()]),
  read: digest(await u.download()),
};
console.log(`bytes ${JSON.stringify(measured)}`);
if (rank === 0)
  console.log(`digests ${JSON.stringify(found)}\nfiles ${JSON.stringify([image, again, text, rectilinear, plane, mesh, sheet])}`);
await set.close();
