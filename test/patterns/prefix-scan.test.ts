import assert from "node:assert/strict";
import { after, it } from "node:test";
import type { Device, PrefixScan } from "../../src/device/device.js";
import { f64, fixed, bool, i32, kernel, open, range, u32, view, type View } from "../../src/index.js";
import { scan } from "../../src/patterns/index.js";

/* Scans on a device that has one of its own: here by one thread of `js`. */

const js = await open("js");
after(() => js.close());

const inOrder = kernel(
  "inOrder",
  { input: view(i32), output: view(i32, 1, { disjoint: true }), total: view(i32, 1, { disjoint: true }), exclusive: fixed(bool) },
  ({ input, output, total, exclusive }, _i) => {
    let sum = 0;
    for (let k = 0; k < input.length; k++) {
      if (exclusive) output[k] = sum;
      sum = (sum + input[k]) | 0;
      if (!exclusive) output[k] = sum;
    }
    total[0] = sum;
  },
);

const scans: PrefixScan[] = [];
const device: Device = Object.assign(js, {
  prefixScan: (what: PrefixScan) => {
    scans.push(what);
    const { input, output, exclusive, total = js.array(i32, 1) } = what;
    return js.prepare(inOrder, { input, output, total, exclusive } as never, range(1));
  },
});

for (const exclusive of [false, true])
  it(`a long ${exclusive ? "exclusive " : ""}scan of whole numbers is made by the device`, async () => {
    scans.length = 0;
    const [input, output, total] = [
      js.from(
        i32,
        Int32Array.from({ length: 5000 }, (_, k) => k % 7),
      ),
      js.array(i32, 5000),
      js.array(i32, 1),
    ];
    const pattern = scan(device, { input, output, op: "sum", exclusive, total });
    await pattern.run();
    assert.equal(scans.length, 1);
    const found = await js.queue.read(output);
    for (let k = 0, sum = 0; k < 5000; k++) {
      if (exclusive) assert.equal(found[k], sum);
      sum += k % 7;
      if (!exclusive) assert.equal(found[k], sum);
    }
    assert.equal((await js.queue.read(total))[0], found[4999] + (exclusive ? 4999 % 7 : 0));
    pattern.free();
  });

it("floats, segments, strides and short inputs are scanned by kernels", async () => {
  scans.length = 0;
  const column = (rows: number) => js.array(i32, [rows, 2]).at(1, 1) as View<"i32", 1>;
  const output = js.array(i32, 2000);
  for (const pattern of [
    scan(device, { input: js.array(f64, 2000), output: js.array(f64, 2000), op: "sum" }),
    scan(device, { input: js.array(i32, 2000), output, op: "sum", segments: { flags: js.array(u32, 2000) } }),
    scan(device, { input: column(2000), output, op: "sum" }),
    scan(device, { input: js.array(i32, 900), output: js.array(i32, 900), op: "sum" }),
  ]) {
    await pattern.run();
    pattern.free();
  }
  assert.equal(scans.length, 0);
});
