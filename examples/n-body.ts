// Gravity between all pairs of bodies, in single precision; the momentum shows that action equals reaction.
import { f32, i32, kernel, open, range, sum, vec3f, view } from "isoform";

const accelerate = kernel(
  "accelerate",
  { n: i32, softening: f32, dt: f32, place: view(vec3f), velocity: view(vec3f), mass: view(f32) },
  ({ n, softening, dt, place, velocity, mass }, i) => {
    const here = place[i];
    let a = vec3f(0, 0, 0);
    for (let j = 0; j < n; j++) {
      const d = place[j].sub(here);
      const inverse = 1 / Math.sqrt(d.dot(d) + softening);
      a = a.add(d.scale(mass[j] * inverse * inverse * inverse));
    }
    velocity[i] = velocity[i].add(a.scale(dt));
  },
  () => [vec3f],
);
const move = kernel("move", { dt: f32, place: view(vec3f), velocity: view(vec3f) }, ({ dt, place, velocity }, i) => {
  place[i] = place[i].add(velocity[i].scale(dt));
});
const momentum = kernel("momentum", { mass: view(f32), velocity: view(vec3f), p: sum(vec3f) }, ({ mass, velocity, p }, i) => {
  p.add(velocity[i].scale(mass[i]));
});

const device = await open(process.argv[2] ?? "wasm");
const n = 1024;
const start = Float32Array.from({ length: 3 * n }, (_, i) => Math.sin(i * 1.7));
const place = device.from(vec3f, start);
const velocity = device.array(vec3f, n);
const mass = device.from(f32, new Float32Array(n).fill(1 / n));

for (let step = 0; step < 10; step++) {
  await device.run(accelerate, { n, softening: 1e-3, dt: 0.01, place, velocity, mass }, range(n));
  await device.run(move, { dt: 0.01, place, velocity }, range(n));
}
const { p } = await device.run(momentum, { mass, velocity }, range(n));
console.log(`momentum ${p.length() < 1e-6 ? 0 : p}`); // -> momentum 0
await device.close();
