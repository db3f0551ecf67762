// Strength and place of a heat source, found from six sensors: BFGS with the gradient of 150 steps, which a tape records.
import { f64, kernel, open, range, sum, view } from "isoform";
import { tape, type Tape, type TapeScalar } from "isoform/gradient";

const [n, steps] = [48, 150];
const inner = range([1, n - 1], [1, n - 1]);

const heat = kernel("heat", { q: f64, x: f64, y: f64, source: view(f64, 2) }, ({ q, x, y, source }, i, j) => {
  const [dx, dy] = [i - x, j - y];
  source[i][j] = q * Math.exp(-(dx * dx + dy * dy) / 30);
});

const diffuse = kernel("diffuse", { u: view(f64, 2), source: view(f64, 2), next: view(f64, 2) }, ({ u, source, next }, i, j) => {
  const around = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
  next[i][j] = u[i][j] + 0.2 * (around - 4 * u[i][j]) + 0.01 * source[i][j];
});

const misfit = kernel(
  "misfit",
  { u: view(f64, 2), sensors: view(f64, 2), data: view(f64, 2), loss: sum(f64) },
  ({ u, sensors, data, loss }, i, j) => {
    const miss = sensors[i][j] * (u[i][j] - data[i][j]);
    loss.add(miss * miss);
  },
);

const device = await open(process.argv[2] ?? "wasm");
device.precision = "strict";
const array = () => device.array(f64, [n, n]);
const places = [[12, 10], [35, 14], [20, 36], [38, 38], [25, 22], [10, 30]]; // prettier-ignore
const mask = new Float64Array(n * n);
for (const [i, j] of places) mask[i * n + j] = 1;
const sensors = device.from(f64, mask, [n, n]);
const [source, data] = [array(), array()];
const states = [array(), array()];

/** Temperatures after all steps from a source at rest. */
async function forward(t: Tape, [q, x, y]: readonly TapeScalar[]) {
  states.forEach((state) => device.queue.clear(state));
  await t.run(heat, { q, x, y, source }, inner);
  for (let k = 0; k < steps; k++) await t.run(diffuse, { u: states[k % 2], source, next: states[(k + 1) % 2] }, inner);
  return states[steps % 2];
}

/** The loss at some parameters, and its gradient. */
async function lossAt(parameters: readonly number[]) {
  const t = tape(device);
  const given = parameters.map((value) => t.scalar(value));
  const u = await forward(t, given);
  const { loss } = await t.run(misfit, { u, sensors, data }, range(n, n));
  const g = await t.backward(loss);
  const gradient = given.map((value, k) => g.of(value) * scale[k]);
  t.free();
  return { loss: loss.value, gradient };
}

const truth = [5, 31.3, 17.6];
const scale = [1, 5, 5];
const recorded = tape(device);
device.queue.copy(await forward(recorded, truth.map((value) => recorded.scalar(value))), data); // prettier-ignore
recorded.free();

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((total, v, k) => total + v * b[k], 0);
let inverse = [0, 1, 2].map((r) => [0, 1, 2].map((c) => Number(r === c)));
let at = [2, 22, 26];
let now = await lossAt(at);
const first = now.loss;
let iterations = 0;
for (; iterations < 40 && now.loss > 1e-18 * first; iterations++) {
  const direction = inverse.map((row) => -dot(row, now.gradient));
  const slope = dot(direction, now.gradient);
  let step = iterations === 0 ? 0.3 / Math.hypot(...now.gradient) : 1;
  let tried = at;
  let next = now;
  for (let halvings = 0; halvings < 12; halvings++, step /= 2) {
    tried = at.map((value, k) => value + step * direction[k] * scale[k]);
    next = await lossAt(tried);
    if (next.loss < now.loss + 1e-4 * step * slope) break;
  }
  const s = tried.map((value, k) => (value - at[k]) / scale[k]);
  const y = next.gradient.map((value, k) => value - now.gradient[k]);
  const rho = 1 / dot(s, y);
  if (rho > 0 && Number.isFinite(rho)) {
    const left = [0, 1, 2].map((r) => [0, 1, 2].map((c) => (r === c ? 1 : 0) - rho * s[r] * y[c]));
    const half = left.map((row) => [0, 1, 2].map((c) => dot(row, inverse.map((each) => each[c])))); // prettier-ignore
    inverse = half.map((row, r) => [0, 1, 2].map((c) => dot(row, left[c]) + rho * s[r] * s[c]));
  }
  [at, now] = [tried, next];
}
const error = Math.max(...at.map((value, k) => Math.abs(value - truth[k])));
console.log(`q = ${at[0].toFixed(4)} at (${at[1].toFixed(4)}, ${at[2].toFixed(4)})`); // -> q = 5.0000 at (31.3000, 17.6000)
console.log(`to 1e-6 in at most 40 iterations: ${error <= 1e-6 && iterations <= 40}`); // -> to 1e-6 in at most 40 iterations: true
if (!(error <= 1e-6)) process.exitCode = 1;
await device.close();
