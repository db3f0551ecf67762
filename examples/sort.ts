// Sorting by key: the sort gives a permutation, with which any number of arrays are put in order.
import { f32, i32, open, u32 } from "isoform";
import { permute, sortByKey } from "isoform/patterns";

const device = await open(process.argv[2] ?? "wasm");
const n = 100_003;
const numbers = Uint32Array.from({ length: n }, (_, i) => Math.imul(i, 2654435761) >>> 0);
const keys = device.from(u32, numbers);
const values = device.from(
  f32,
  Float32Array.from(numbers, (key) => key / 2 ** 32),
);
const permutation = device.array(i32, n);

const sort = sortByKey(device, { keys, permutation });
const move = permute(device, { permutation, input: [keys, values] });
sort.submit();
move.submit();

const expected = numbers.slice().sort();
const [sorted, moved] = [await device.queue.read(keys), await device.queue.read(values)];
const right = sorted.every((key, k) => key === expected[k] && moved[k] === Math.fround(key / 2 ** 32));
console.log(`in order: ${right}`); // -> in order: true
await device.close();
