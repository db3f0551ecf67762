// Clusters of points by k-means: a reduction, two scatters and a second kernel in a loop that ends when no point moves.
import { i32, kernel, open, range, scatter, sum, vec2f, view } from "isoform";

const assign = kernel(
  "assign",
  { k: i32, p: view(vec2f), centres: view(vec2f), label: view(i32), total: scatter(vec2f), count: scatter(i32), moved: sum(i32) },
  ({ k, p, centres, label, total, count, moved }, i) => {
    let [best, least] = [0, 1e30];
    for (let q = 0; q < k; q++) {
      const d = p[i].sub(centres[q]);
      if (d.dot(d) < least) [best, least] = [q, d.dot(d)];
    }
    moved.add(label[i] === best ? 0 : 1);
    label[i] = best;
    total.add(best, p[i]);
    count.add(best, 1);
  },
);
const move = kernel(
  "move",
  { centres: view(vec2f), total: view(vec2f), count: view(i32) },
  ({ centres, total, count }, q) => {
    if (count[q] > 0) centres[q] = total[q].scale(1 / Math.fround(count[q]));
    total[q] = vec2f(0, 0);
    count[q] = 0;
  },
  () => [vec2f],
);

const device = await open(process.argv[2] ?? "wasm");
const [n, k] = [20_000, 4];
// Four clouds around the corners of a square.
const points = Float32Array.from({ length: 2 * n }, (_, i) => 10 * ((i & 1 ? i >> 2 : i >> 1) & 1) + Math.sin(i * 12.9));
const p = device.from(vec2f, points);
const centres = device.from(vec2f, points.slice(0, 2 * k));
const [label, total, count] = [device.array(i32, n), device.array(vec2f, k), device.array(i32, k)];

let iterations = 0;
for (let moved = 1; moved > 0 && iterations < 50; iterations++) {
  ({ moved } = await device.run(assign, { k, p, centres, label, total, count }, range(n)));
  await device.run(move, { centres, total, count }, range(k));
}
const found = await device.queue.read(centres);
const corners = Array.from({ length: k }, (_, q) => `(${Math.round(found[2 * q])}, ${Math.round(found[2 * q + 1])})`).sort();
console.log(corners.join(" ").replaceAll("-0", "0")); // -> (0, 0) (0, 10) (10, 0) (10, 10)
await device.close();
