// A Lennard-Jones fluid in a periodic box: atoms sorted into cells in each step, so that forces go through neighbours alone.
import { f64, kernel, open, range, sum, vec3, type Vec3, view } from "isoform";
import { cellList, cellListParams, cellListIn, stream } from "isoform/patterns";

const [n, density, cutoff, dt] = [1000, 0.8, 2.5, 0.002];
const side = Math.cbrt(n / density);

/** Half of the potential at the cutoff, by which it is shifted. */
const shift = 2 * (cutoff ** -12 - cutoff ** -6);
/** The nearest image of a difference. */
const nearest = (d: Vec3): Vec3 =>
  vec3(d.x - side * Math.round(d.x / side), d.y - side * Math.round(d.y / side), d.z - side * Math.round(d.z / side));

const drift = kernel("drift", { x: view(vec3), v: view(vec3), f: view(vec3) }, ({ x, v, f }, i) => {
  v[i] = v[i].add(f[i].scale(0.5 * dt));
  x[i] = x[i].add(v[i].scale(dt));
}, () => [dt]); // prettier-ignore
const kick = kernel(
  "kick",
  { ...cellListParams, x: view(vec3), v: view(vec3), f: view(vec3), energy: sum(f64), momentum: sum(vec3) },
  ({ cellTable, cellPlace, x, v, f, energy, momentum }, i) => {
    let [force, potential] = [vec3(0, 0, 0), 0];
    cellListIn(cellTable, cellPlace).near(x[i], (j) => {
      const d = nearest(x[i].sub(x[j]));
      const r2 = d.dot(d);
      if (j === i || r2 >= cutoff * cutoff) return;
      const s6 = 1 / (r2 * r2 * r2);
      force = force.add(d.scale((48 * s6 * (s6 - 0.5)) / r2));
      potential += 2 * s6 * (s6 - 1) - shift;
    });
    f[i] = force;
    v[i] = v[i].add(force.scale(0.5 * dt));
    energy.add(potential + 0.5 * v[i].dot(v[i]));
    momentum.add(v[i]);
  },
  () => [cellListIn, nearest, vec3, side, cutoff, shift, dt],
);

const device = await open(process.argv[2] ?? "wasm");
const atoms = Array.from({ length: n }, (_, i) => {
  const random = stream(1, i);
  const at = (k: number): number => ((k % 10) + 0.5 + 0.1 * (random.uniform() - 0.5)) * (side / 10);
  return { x: vec3(at(i), at(i / 10 | 0), at(i / 100 | 0)), v: vec3(random.normal(), random.normal(), random.normal()) }; // prettier-ignore
});
const [x, v] = [device.from(vec3, atoms.map((atom) => atom.x)), device.from(vec3, atoms.map((atom) => atom.v))]; // prettier-ignore
const f = device.array(vec3, n);
const cells = cellList(device, { points: x, size: cutoff, box: [side, side, side], periodic: true, move: [x, v, f] });
const energies: number[] = [];
for (let step = 0; step <= 100; step++) {
  if (step > 0) await device.run(drift, { x, v, f }, range(n));
  cells.submit();
  const { energy } = await device.run(kick, { ...cells.args, x, v, f }, range(n));
  energies.push(energy / n);
}
console.log(Math.abs(energies[100] - energies[1]) < 0.002 * Math.abs(energies[1])); // -> true
await device.close();
