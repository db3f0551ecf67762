// A stencil on a grid that is spread over two devices. The skeleton exchanges halos and overlaps that with computation; the sum has the same bits on one device.
import { f64, sum } from "isoform";
import { dense } from "isoform/grid";
import { devices } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";

const name = process.argv[2] ?? "wasm";
const results: number[] = [];
for (const members of [name, `${name}*2`]) {
  const set = await devices(members);
  const grid = dense(set, [48, 48, 48]);
  const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
  const heat = grid.scalar("heat", f64);
  u.fill((x, y, z) => 1 + Math.sin(x + 2 * y + 3 * z));

  const step = grid.container("step", { u, next }, ({ u, next }, c) => {
    const around = u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1);
    next[c] = 0.4 * u[c] + 0.1 * around;
  });
  const total = grid.container("total", { next, heat: sum(heat) }, ({ next, heat }, c) => heat.add(next[c]));
  await skeleton(set, "diffusion", [step, total, swap(u, next)], { precision: "strict", occ: "standard" }).run(50);
  results.push(await heat.get());
  await set.close();
}
console.log(`${results[0].toFixed(3)}, the same bits on two devices: ${results[0] === results[1]}`); // -> 84461.573, the same bits on two devices: true
