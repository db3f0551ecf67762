// Murmur3 of 32-bit numbers: unsigned integers that wrap, and a helper function.
import { kernel, open, range, u32, view } from "isoform";

const rotate = (x: number, by: number): number => ((x << by) | (x >>> (32 - by))) >>> 0;

const murmur = kernel(
  "murmur",
  { seed: u32, x: view(u32), y: view(u32) },
  ({ seed, x, y }, i) => {
    let k = Math.imul(x[i], 0xcc9e2d51) >>> 0;
    k = Math.imul(rotate(k, 15), 0x1b873593) >>> 0;
    let h = rotate((seed ^ k) >>> 0, 13);
    h = ((Math.imul(h, 5) + (0xe6546b64 | 0)) ^ 4) >>> 0;
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0;
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0;
    y[i] = (h ^ (h >>> 16)) >>> 0;
  },
  () => [rotate],
);

const device = await open(process.argv[2] ?? "wasm");
const n = 10_000;
const y = device.array(u32, n);
const x = device.from(
  u32,
  Uint32Array.from({ length: n }, (_, i) => i),
);
await device.run(murmur, { seed: 0, x, y }, range(n));
const hashes = await device.queue.read(y);
console.log(Array.from(hashes.slice(0, 3), (hash) => hash.toString(16)).join(" ")); // -> 2362f9de fbf1402a 40b23b7f
await device.close();
