// Many elements that add to the same places: a scatter parameter, for which the device chooses the strategy.
import { i32, kernel, open, range, scatter, u8, view } from "isoform";

const histogram = kernel("histogram", { x: view(u8), counts: scatter(i32) }, ({ x, counts }, i) => {
  counts.add(x[i], 1);
});

const device = await open(process.argv[2] ?? "wasm");
const n = 2 ** 20;
const values = Uint8Array.from({ length: n }, (_, i) => (i * i * 31 + i) & 255);
const counts = device.array(i32, 256);
const launch = device.prepare(histogram, { x: device.from(u8, values), counts }, range(n));
device.queue.submit(launch);

const found = await device.queue.read(counts);
const expected = new Int32Array(256);
for (const value of values) expected[value]++;
console.log(`right: ${found.every((count, k) => count === expected[k])}`); // -> right: true
await device.close();
