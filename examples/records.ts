// Particles as records, in three memory layouts. The kernel does not change, and in strict mode neither does a bit of the result.
import { f64, i32, kernel, open, range, sum, view } from "isoform";
import { aosoa, records } from "isoform/views";

const push = kernel(
  "push",
  { dt: f64, x: view(f64, 2), v: view(f64, 2), id: view(i32), energy: sum(f64) },
  ({ dt, x, v, id, energy }, i) => {
    id[i] = i;
    let square = 0;
    for (let k = 0; k < 3; k++) {
      v[i][k] += dt * (k + 1);
      x[i][k] += dt * v[i][k];
      square += v[i][k] * v[i][k];
    }
    energy.add(square);
  },
);

const device = await open(process.argv[2] ?? "wasm");
const n = 1000;
const energies: number[] = [];
for (const layout of ["soa", "aos", aosoa(8)] as const) {
  const particles = records(device, n, { x: [f64, 3], v: [f64, 3], id: i32 }, { layout });
  const { energy } = await device.run(push, { dt: 0.5, ...particles.views }, range(n), { precision: "strict" });
  energies.push(energy);
  particles.free();
}
console.log(energies.join(" ")); // -> 3500 3500 3500
await device.close();
