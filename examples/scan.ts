// Prefix sums, from the patterns of the library.
import { i32, open } from "isoform";
import { scan } from "isoform/patterns";

const device = await open(process.argv[2] ?? "wasm");
const n = 100_003;
const input = device.from(
  i32,
  Int32Array.from({ length: n }, (_, i) => i % 7),
);
const output = device.array(i32, n);
const sums = scan(device, { input, output, op: "sum" });
sums.submit();

const prefix = await device.queue.read(output);
console.log(`${prefix.slice(0, 8).join(" ")} ... ${prefix.at(-1)}`); // -> 0 1 3 6 10 15 21 21 ... 300006
sums.free();
await device.close();
