// Conway's game of life on bytes, with edges that wrap around. A glider is back where it began after 4 n generations.
import { kernel, open, range, u8, view } from "isoform";

const generation = kernel("generation", { now: view(u8, 2), next: view(u8, 2) }, ({ now, next }, i, j) => {
  const [rows, columns] = [now.length, now[0].length];
  let alive = 0;
  for (let di = -1; di <= 1; di++)
    for (let dj = -1; dj <= 1; dj++) if (di !== 0 || dj !== 0) alive += now[(i + di + rows) % rows][(j + dj + columns) % columns];
  next[i][j] = alive === 3 || (alive === 2 && now[i][j] === 1) ? 1 : 0;
});

const device = await open(process.argv[2] ?? "wasm");
const n = 64;
const glider = new Uint8Array(n * n);
for (const [i, j] of [
  [0, 1],
  [1, 2],
  [2, 0],
  [2, 1],
  [2, 2],
])
  glider[i * n + j] = 1;

let [now, next] = [device.from(u8, glider, [n, n]), device.array(u8, [n, n])];
for (let step = 0; step < 4 * n; step++) {
  await device.run(generation, { now, next }, range(n, n));
  [now, next] = [next, now];
}
const cells = await device.queue.read(now);
console.log(`back at the start: ${cells.every((cell, k) => cell === glider[k])}`); // -> back at the start: true
await device.close();
