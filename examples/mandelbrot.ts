// The Mandelbrot set: a loop whose length differs from pixel to pixel, over a range of two axes.
import { complex, i32, kernel, open, range, view } from "isoform";

const mandelbrot = kernel(
  "mandelbrot",
  { n: i32, limit: i32, image: view(i32, 2) },
  ({ n, limit, image }, row, column) => {
    const c = complex(-2 + (3 * +column) / n, -1.5 + (3 * +row) / n);
    let [z, steps] = [complex(0, 0), 0];
    for (; steps < limit && z.re * z.re + z.im * z.im < 4; steps++) z = z.mul(z).add(c);
    image[row][column] = steps;
  },
  () => [complex],
);

const device = await open(process.argv[2] ?? "wasm");
const n = 512;
const image = device.array(i32, [n, n]);
await device.run(mandelbrot, { n, limit: 200, image }, range(n, n));

const steps = await device.queue.read(image);
console.log(`${steps.filter((count) => count === 200).length} of ${n * n} points are in the set`); // -> 44524 of 262144 points are in the set
await device.close();
