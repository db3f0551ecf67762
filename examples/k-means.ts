// Clusters of points by k-means: a reduction, two scatters and a second kernel in a loop that ends when no point moves.
import { f32, i32, kernel, open, range, scatter, sum, view } from "isoform";

const assign = kernel(
  "assign",
  { k: i32, p: view(f32, 2), centres: view(f32, 2), label: view(i32), total: scatter(f32, 2), count: scatter(i32), moved: sum(i32) },
  ({ k, p, centres, label, total, count, moved }, i) => {
    let [best, least] = [0, 1e30];
    for (let q = 0; q < k; q++) {
      const [dx, dy] = [p[i][0] - centres[q][0], p[i][1] - centres[q][1]];
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = q;
      }
    }
    moved.add(label[i] === best ? 0 : 1);
    label[i] = best;
    total.add(best, 0, p[i][0]);
    total.add(best, 1, p[i][1]);
    count.add(best, 1);
  },
);
const move = kernel("move", { centres: view(f32, 2), total: view(f32, 2), count: view(i32) }, ({ centres, total, count }, q) => {
  for (let d = 0; d < 2; d++) {
    if (count[q] > 0) centres[q][d] = total[q][d] / count[q];
    total[q][d] = 0;
  }
  count[q] = 0;
});

const device = await open(process.argv[2] ?? "wasm");
const [n, k] = [20_000, 4];
// Four clouds around the corners of a square.
const points = Float32Array.from({ length: 2 * n }, (_, i) => 10 * ((i & 1 ? i >> 2 : i >> 1) & 1) + Math.sin(i * 12.9));
const p = device.from(f32, points, [n, 2]);
const centres = device.from(f32, points.slice(0, 2 * k), [k, 2]);
const [label, total, count] = [device.array(i32, n), device.array(f32, [k, 2]), device.array(i32, k)];

let iterations = 0;
for (let moved = 1; moved > 0 && iterations < 50; iterations++) {
  ({ moved } = await device.run(assign, { k, p, centres, label, total, count }, range(n)));
  await device.run(move, { centres, total, count }, range(k));
}
const found = await device.queue.read(centres);
const corners = Array.from({ length: k }, (_, q) => `(${Math.round(found[2 * q])}, ${Math.round(found[2 * q + 1])})`).sort();
console.log(corners.join(" ").replaceAll("-0", "0")); // -> (0, 0) (0, 10) (10, 0) (10, 10)
await device.close();
