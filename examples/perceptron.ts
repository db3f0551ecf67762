// Three layers of a neural network. `fixed` compiles the kernel once for each value, with and without the nonlinearity.
import { bool, f32, fixed, kernel, open, range, view } from "isoform";

const layer = kernel(
  "layer",
  { hidden: fixed(bool), x: view(f32, 2), weights: view(f32, 2), bias: view(f32), y: view(f32, 2) },
  ({ hidden, x, weights, bias, y }, sample, neuron) => {
    let sum = bias[neuron];
    for (let k = 0; k < weights.length; k++) sum += x[sample][k] * weights[k][neuron];
    y[sample][neuron] = hidden ? Math.max(sum, 0) : sum;
  },
);

const device = await open(process.argv[2] ?? "wasm");
const [samples, sizes] = [64, [784, 128, 64, 10]];
const values = (count: number, seed: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.3 + seed) / 16);

let x = device.from(f32, values(samples * sizes[0], 1), [samples, sizes[0]]);
for (const [l, inputs] of sizes.slice(0, -1).entries()) {
  const outputs = sizes[l + 1];
  const weights = device.from(f32, values(inputs * outputs, l), [inputs, outputs]);
  const y = device.array(f32, [samples, outputs]);
  await device.run(layer, { hidden: l < 2, x, weights, bias: device.from(f32, values(outputs, 9 + l)), y }, range(samples, outputs));
  x = y;
}
const scores = await device.queue.read(x);
console.log(Array.from(scores.slice(0, 3), (score) => score.toFixed(4)).join(" ")); // -> -0.0638 -0.0206 0.0527
await device.close();
