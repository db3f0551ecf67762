// A Fourier transform by Stockham's stages, which need no reordering of bits. The author asserts that elements write apart (`disjoint`).
import { complex, i32, kernel, open, range, view } from "isoform";

const stage = kernel(
  "stage",
  { half: i32, s: i32, z: view(complex), to: view(complex, 1, { disjoint: true }) },
  ({ half, s, z, to }, t) => {
    const [p, q] = [(t / s) | 0, t % s];
    const angle = (-Math.PI * p) / half;
    const [here, other] = [z[t], z[t + half * s]];
    to[q + 2 * s * p] = here.add(other);
    to[q + 2 * s * p + s] = here.sub(other).mul(complex(Math.cos(angle), Math.sin(angle)));
  },
  () => [complex],
);

const device = await open(process.argv[2] ?? "wasm");
const n = 1024;
const signal = Array.from({ length: n }, (_, i) =>
  complex(Math.cos((2 * Math.PI * 5 * i) / n) + 0.5 * Math.sin((2 * Math.PI * 40 * i) / n), 0),
);
let [z, to] = [device.from(complex, signal), device.array(complex, n)];
for (let [half, s] = [n / 2, 1]; half >= 1; [half, s] = [half / 2, 2 * s]) {
  await device.run(stage, { half, s, z, to }, range(n / 2));
  [z, to] = [to, z];
}
const modes = await device.queue.read(z);
const power = Array.from({ length: n }, (_, k) => Math.hypot(modes[2 * k], modes[2 * k + 1]) / n);
const found = [...power.keys()].filter((k) => power[k] > 1e-9).map((k) => `${k}: ${power[k].toFixed(2)}`);
console.log(found.join(", ")); // -> 5: 0.50, 40: 0.25, 984: 0.25, 1019: 0.50
await device.close();
