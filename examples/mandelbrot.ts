// The Mandelbrot set: a loop whose length differs from pixel to pixel, over a range of two axes.
import { i32, kernel, open, range, view } from "isoform";

const mandelbrot = kernel("mandelbrot", { n: i32, limit: i32, image: view(i32, 2) }, ({ n, limit, image }, row, column) => {
  const x = -2 + (3 * +column) / n;
  const y = -1.5 + (3 * +row) / n;
  let [re, im, steps] = [0, 0, 0];
  while (steps < limit && re * re + im * im < 4) {
    const next = re * re - im * im + x;
    im = 2 * re * im + y;
    re = next;
    steps++;
  }
  image[row][column] = steps;
});

const device = await open(process.argv[2] ?? "wasm");
const n = 512;
const image = device.array(i32, [n, n]);
await device.run(mandelbrot, { n, limit: 200, image }, range(n, n));

const steps = await device.queue.read(image);
console.log(`${steps.filter((count) => count === 200).length} of ${n * n} points are in the set`); // -> 44524 of 262144 points are in the set
await device.close();
