import { f64, kernel, range, view } from "../../../../src/index.js";
import { devices, type Message } from "../../../../src/set/index.js";

/* Heat along a rod of 64 cells, a piece on each rank; each prints its piece. docs/nodes.md shows it. */

const step = kernel("step", { u: view(f64), v: view(f64) }, ({ u, v }, i) => {
  v[i + 1] = u[i + 1] + 0.25 * (u[i] - 2 * u[i + 1] + u[i + 2]);
});

const set = await devices("mpi:js");
const { rank, count } = set.ranks!;
const { device } = set.locals[0];
const { queue } = device;

// Cells of this rank, with one of each neighbour beside them.
const [first, end] = [rank, rank + 1].map((r) => Math.floor((64 * r) / count));
const cells = end - first;
let [u, v] = [device.array(f64, cells + 2), device.array(f64, cells + 2)];
queue.write(
  u,
  Float64Array.from({ length: cells + 2 }, (_, i) => (first + i > 0 && first + i < 65 ? Math.sin(first + i) : 0)),
);

// Ends of this rank and of its neighbours. Members are numbered over all ranks: here rank r has member r.
const ends = { left: new Float64Array(1), right: new Float64Array(1) };
const halos = { left: new Float64Array(1), right: new Float64Array(1) };
const messages: Message[] = [];
for (let left = 0; left + 1 < count; left++) {
  const right = left + 1;
  const rest = { bytes: 8, name: "u" };
  if (left === rank) messages.push({ from: left, to: right, number: 2 * left, source: ends.right, ...rest });
  if (right === rank) messages.push({ from: left, to: right, number: 2 * left, target: halos.left, ...rest });
  if (left === rank) messages.push({ from: right, to: left, number: 2 * left + 1, target: halos.right, ...rest });
  if (right === rank) messages.push({ from: right, to: left, number: 2 * left + 1, source: ends.left, ...rest });
}

for (let n = 0; n < 50; n++) {
  ends.left.set(await queue.read(u.slice([1, 2])));
  ends.right.set(await queue.read(u.slice([cells, cells + 1])));
  set.transport!.post(messages);
  await set.transport!.arrived(`step ${n}`);
  queue.write(u.slice([0, 1]), halos.left);
  queue.write(u.slice([cells + 1, cells + 2]), halos.right);
  await device.run(step, { u, v }, range(cells), { precision: "strict" });
  [u, v] = [v, u];
}
console.log(`piece ${rank}: ${[...(await queue.read(u.slice([1, cells + 1])))].join()}`);
await set.close();
