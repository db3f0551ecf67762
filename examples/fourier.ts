// A Fourier transform by Stockham's stages, which need no reordering of bits. The author asserts that elements write apart (`disjoint`).
import { f64, i32, kernel, open, range, view } from "isoform";

const apart = view(f64, 1, { disjoint: true });
const stage = kernel(
  "stage",
  { half: i32, s: i32, re: view(f64), im: view(f64), toRe: apart, toIm: apart },
  ({ half, s, re, im, toRe, toIm }, t) => {
    const [p, q] = [(t / s) | 0, t % s];
    const angle = (-Math.PI * p) / half;
    const [c, d] = [Math.cos(angle), Math.sin(angle)];
    const other = t + half * s;
    const [dr, di] = [re[t] - re[other], im[t] - im[other]];
    const to = q + 2 * s * p;
    toRe[to] = re[t] + re[other];
    toIm[to] = im[t] + im[other];
    toRe[to + s] = dr * c - di * d;
    toIm[to + s] = dr * d + di * c;
  },
);

const device = await open(process.argv[2] ?? "wasm");
const n = 1024;
const signal = Float64Array.from({ length: n }, (_, i) => Math.cos((2 * Math.PI * 5 * i) / n) + 0.5 * Math.sin((2 * Math.PI * 40 * i) / n));
let [re, im, toRe, toIm] = [device.from(f64, signal), ...[0, 1, 2].map(() => device.array(f64, n))];
for (let [half, s] = [n / 2, 1]; half >= 1; [half, s] = [half / 2, 2 * s]) {
  await device.run(stage, { half, s, re, im, toRe, toIm }, range(n / 2));
  [re, im, toRe, toIm] = [toRe, toIm, re, im];
}
const [cosines, sines] = [await device.queue.read(re), await device.queue.read(im)];
const power = cosines.map((value, k) => Math.hypot(value, sines[k]) / n);
const found = [...power.keys()].filter((k) => power[k] > 1e-9).map((k) => `${k}: ${power[k].toFixed(2)}`);
console.log(found.join(", ")); // -> 5: 0.50, 40: 0.25, 984: 0.25, 1019: 0.50
await device.close();
