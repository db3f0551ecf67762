// Pi by random points. Random numbers are counted, not drawn in turn: every device gets the same ones.
import { i32, kernel, open, range, sum, u32 } from "isoform";
import { stream } from "isoform/patterns";

const inside = kernel(
  "inside",
  { seed: u32, hits: sum(i32) },
  ({ seed, hits }, i) => {
    const random = stream(seed, i);
    const [x, y] = [random.uniform(), random.uniform()];
    hits.add(x * x + y * y < 1 ? 1 : 0);
  },
  () => [stream],
);

const device = await open(process.argv[2] ?? "wasm");
const n = 1_000_000;
const { hits } = await device.run(inside, { seed: 42 }, range(n));
console.log((4 * hits) / n); // -> 3.142648
await device.close();
