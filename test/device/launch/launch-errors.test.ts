import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cpuStorage } from "../../../src/device/cpu/storage.js";
import {
  f64,
  i32,
  kernel,
  KernelError,
  LaunchError,
  open,
  range,
  scatter,
  table,
  teamKernel,
  teams,
  u8,
  view,
  type Device,
} from "../../../src/index.js";

const refused = (body: () => unknown, message: RegExp): void =>
  assert.throws(body, (error: unknown) => error instanceof LaunchError && message.test(error.message));

let device: Device;
before(async () => void (device = await open("js")));
after(() => device.close());

test("policies of other than whole numbers are refused", () => {
  refused(() => range([0.5, 3.5]), /range axis 0 has 3 indices from 0.5/);
  refused(() => range([-(2 ** 31), 5]), /range axis 0 has 2147483653 indices from -2147483648: .*an axis has 0 to 2147483647 indices/);
  refused(() => teams(3, { size: -7 }), /teams of -7 members/);
  refused(() => teams(3, { size: 0.5 }), /teams of 0.5 members/);
  refused(() => teams(3, { lanes: 3 }), /members of 3 lanes: their number is a power of two/);
  refused(() => teams(3, { lanes: 0.5 }), /members of 0.5 lanes/);
  refused(() => range(3, 4, { tile: [2] }), /tiles of \[2\] for a range of rank 2/);
  refused(() => range(3, 4, { tile: [2, 0] }), /tiles of \[2,0\]/);
  refused(() => range(3, { tile: [2] }), /for a range of rank 1: a tile has .* each of 2 to 4 axes/);
});

test("shapes that are none are refused", () => {
  const v = device.array(f64, [2, 3]);
  refused(() => v.reshape(-2, -3), /shape \[-2,-3\]/);
  refused(() => v.reshape(1, 1, 1, 1, 1, 1, 2, 3), /1 to 7 axes/);
  refused(() => v.slice([0, 1], [0, 1], [0, 1]), /3 bounds/);
  refused(() => v.at(0, 0.5), /index 0.5 of axis 0/);
  refused(() => v.at(0.5, 0), /axis 0.5/);
});

test("arrays of no element type are refused", () => {
  refused(() => device.array(undefined as never, 4), /element type.*f64/);
  refused(() => device.array({ type: "i128" } as never, 4), /element type.*f64/);
  refused(() => device.array(f64, -1), /shape \[-1\]/);
});

test("values that an integer view cannot hold are refused", () => {
  refused(() => device.from(i32, [1.5, 2]), /value 0.*1\.5.*i32/);
  refused(() => device.from(i32, new Float64Array([1, Number.NaN])), /value 1.*NaN.*i32/);
  const { allocated } = cpuStorage();
  refused(() => device.from(u8, [255, 256]), /value 1.*256.*u8/);
  refused(() => device.from(f64, [1, 2, 3], [2, 2]), /3 values for a view of shape \[2,2\], which has 4/);
  assert.equal(cpuStorage().allocated, allocated, "what is refused takes no memory");
  const v = device.from(u8, [1, 2]);
  refused(() => device.queue.write(v, [3, -1]), /value 1.*-1.*u8/);
  refused(() => device.queue.write(v, Float64Array.of(3, 4, 5)), /3 values/);
});

test("options that name nothing are refused", () => {
  const k = kernel("count", { h: scatter(f64) }, ({ h }, i) => {
    h.add(0, i);
  });
  const args = { h: device.array(f64, 1) };
  refused(() => device.prepare(k, args, range(4), { scatter: "locked" as never }), /scatter strategy "locked".*sorted/);
  refused(() => device.prepare(k, args, range(4), { scatter: { g: "sorted" } }), /"g".*h/);
  refused(() => device.prepare(k, args, range(4), { precision: "loose" as never }), /precision "loose".*strict/);
  refused(() => device.prepare(k, args, undefined as never), /policy.*range/);
});

test("indices outside private arrays and tables are refused where the launch fixes them", () => {
  const place = String.raw`at .*launch-errors\.test\.ts:\d+ with index`;
  const tables = {
    t: table(f64, [1, 2, 3, 4, 5, 6]),
    p: table(f64, [
      [1, 2, 3],
      [4, 5, 6],
    ]),
  };
  const looked = kernel("looked", { ...tables, n: i32, y: view(f64) }, ({ t, p, n, y }, i) => {
    let s = 0;
    for (let q = 0; q < n; q++) s += p[1][q];
    y[i] = t[i + n] + s;
  });
  const y = device.array(f64, 8);
  device.prepare(looked, { n: 3, y }, range(1)).free();
  device.prepare(looked, { n: 9, y }, range(0)).free();
  refused(
    () => device.prepare(looked, { n: 3, y }, range(4)),
    RegExp(String.raw`kernel "looked".*reads t\[i \+ n\] ${place} 6 along axis 0, but t has extent 6 there; make it longer`),
  );
  refused(() => device.prepare(looked, { n: 4, y }, range(2)), RegExp(String.raw`reads p\[1\]\[q\] ${place} 3 along axis 1`));
  refused(() => device.prepare(looked, { n: -1, y }, range(1)), RegExp(String.raw`reads t\[i \+ n\] ${place} -1 along axis 0`));

  const kept = kernel("kept", { n: i32, y: view(f64) }, ({ n, y }, i) => {
    const v = new Float64Array(4);
    v[n] = 1;
    y[i] = v[0];
  });
  device.prepare(kept, { n: 3, y }, range(8)).free();
  refused(() => device.prepare(kept, { n: 4, y }, range(8)), RegExp(String.raw`writes v\[n\] ${place} 4 along axis 0.*extent 4`));

  const shared = teamKernel("shared", { n: i32, y: view(f64) }, ({ n, y }, team) => {
    const s = team.scratch("f64", 4);
    team.range(n, (j) => {
      s[j] = j;
    });
    team.single(() => {
      y[team.index] = s[0];
    });
  });
  device.prepare(shared, { n: 4, y }, teams(8)).free();
  refused(() => device.prepare(shared, { n: 5, y }, teams(8)), RegExp(String.raw`writes s\[j\] ${place} 4 along axis 0`));

  const guarded = kernel("guarded", { n: i32, y: view(f64), t: table(f64, [1, 2]) }, ({ n, y, t }, i) => {
    y[i] = n < 2 ? t[n] : 0;
  });
  device.prepare(guarded, { n: 7, y }, range(8)).free();
});

test("indices outside private arrays and tables are refused when the kernel is compiled where the code fixes them", () => {
  const y = device.array(f64, 8);
  const far = kernel("far", { y: view(f64), t: table(f64, [1, 2]) }, ({ y, t }, i) => {
    let s = 0;
    for (let q = 0; q < 1000; q++) s += t[q];
    y[i] = s;
  });
  assert.throws(
    () => device.prepare(far, { y }, range(8)),
    (error: unknown) =>
      error instanceof KernelError &&
      /kernel "far", .*launch-errors\.test\.ts:\d+:\d+: index 999 of t, which has 2 elements along axis 0 \(use an index from 0 to 1\)/.test(
        error.message,
      ),
  );
});
