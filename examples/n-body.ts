// Gravity between all pairs of bodies, in single precision; the momentum shows that action equals reaction.
import { f32, i32, kernel, open, range, sum, view } from "isoform";

const accelerate = kernel(
  "accelerate",
  { n: i32, softening: f32, dt: f32, place: view(f32, 2), velocity: view(f32, 2), mass: view(f32) },
  ({ n, softening, dt, place, velocity, mass }, i) => {
    const [x, y, z] = [place[i][0], place[i][1], place[i][2]];
    const a = new Float32Array(3);
    for (let j = 0; j < n; j++) {
      const [dx, dy, dz] = [place[j][0] - x, place[j][1] - y, place[j][2] - z];
      const inverse = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + softening);
      const pull = mass[j] * inverse * inverse * inverse;
      a[0] += pull * dx;
      a[1] += pull * dy;
      a[2] += pull * dz;
    }
    for (let k = 0; k < 3; k++) velocity[i][k] += dt * a[k];
  },
);
const move = kernel("move", { dt: f32, place: view(f32, 2), velocity: view(f32, 2) }, ({ dt, place, velocity }, i) => {
  for (let k = 0; k < 3; k++) place[i][k] += dt * velocity[i][k];
});
const momentum = kernel("momentum", { mass: view(f32), velocity: view(f32, 2), px: sum(f32) }, ({ mass, velocity, px }, i) => {
  px.add(mass[i] * velocity[i][0]);
});

const device = await open(process.argv[2] ?? "wasm");
const n = 1024;
const start = Float32Array.from({ length: 3 * n }, (_, i) => Math.sin(i * 1.7));
const place = device.from(f32, start, [n, 3]);
const velocity = device.array(f32, [n, 3]);
const mass = device.from(f32, new Float32Array(n).fill(1 / n));

for (let step = 0; step < 10; step++) {
  await device.run(accelerate, { n, softening: 1e-3, dt: 0.01, place, velocity, mass }, range(n));
  await device.run(move, { dt: 0.01, place, velocity }, range(n));
}
const { px } = await device.run(momentum, { mass, velocity }, range(n));
console.log(`momentum ${Math.abs(px) < 1e-6 ? 0 : px}`); // -> momentum 0
await device.close();
