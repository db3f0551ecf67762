import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { f64, i32, kernel, open, range, view, type Device, type Kernel } from "../../../src/index.js";

const rows = kernel("rows", { y: view(f64), n: i32 }, ({ y, n }, i, j) => {
  y[i * n + j] = 10 * i + j;
});
const planes = kernel("planes", { y: view(f64), n: i32, m: i32 }, ({ y, n, m }, i, j, k) => {
  const at = (i * n + j) * m + k;
  y[at] = y[at] + 1;
});
const columns = kernel("columns", { y: view(f64), x: view(f64, 2) }, ({ y, x }, i) => {
  for (let k = 0; k < x[0].length; k++) y[i * x[0].length + k] = x[i][k];
});
const inner = kernel("inner", { y: view(f64, 2), n: i32 }, ({ y, n }, i, j, k) => {
  y[i * n + k][j] = 1;
});

let device: Device;
before(async () => (device = await open("js")));
after(() => device.close());

const launch = (k: Kernel, args: Record<string, unknown>, ...extents: number[]) =>
  device.run(k as Kernel<any>, args, range(...(extents as [number, number])));
const refused = (run: Promise<unknown>, problem: RegExp) => assert.rejects(run, { name: "LaunchError", message: problem });

test("rows in one array are proved apart at the launch", async () => {
  const y = device.array(f64, 12);
  await launch(rows, { y, n: 4 }, 3, 4);
  assert.deepEqual([...(await device.queue.read(y))], [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]);
  await launch(rows, { y, n: 6 }, 2, 4);
  await launch(rows, { y, n: 0 }, 1, 4);
  await launch(rows, { y, n: -4 }, 1, 4);
});

test("a range that is wider than a row is refused, and the next is looked at anew", async () => {
  const y = device.array(f64, 40);
  await refused(
    launch(rows, { y, n: 4 }, 3, 5),
    /may touch y\[i \* n \+ j\] \(.*races\.test\.[tj]s:\d+\): a step of i moves the index by 4, but j reaches over 5; give a smaller range/,
  );
  await refused(launch(rows, { y, n: 0 }, 3, 5), /n/);
  await launch(rows, { y, n: 5 }, 3, 5);
  await refused(launch(rows, { y, n: 4 }, 3, 5), /moves the index by 4/);
});

test("three axes, a loop along a row, and a view of two axes", async () => {
  await launch(planes, { y: device.array(f64, 24), n: 3, m: 4 }, 2, 3, 4);
  await refused(
    launch(planes, { y: device.array(f64, 240), n: 3, m: 4 }, 2, 4, 4),
    /a step of i moves the index by 12, but k and j reach over 16/,
  );
  const x = device.from(
    f64,
    [
      [1, 2, 3],
      [4, 5, 6],
    ].flat(),
    [2, 3],
  );
  const y = device.array(f64, 6);
  await launch(columns, { y, x }, 2);
  assert.deepEqual([...(await device.queue.read(y))], [1, 2, 3, 4, 5, 6]);
  await launch(inner, { y: device.array(f64, [6, 5]), n: 3 }, 2, 5, 3);
  await refused(launch(inner, { y: device.array(f64, [6, 5]), n: 2 }, 2, 5, 3), /a step of i moves the index by 2, but k reaches over 3/);
});

test("what no launch could allow is refused as the kernel is compiled", async () => {
  const y = device.array(f64, 40);
  const never = { name: "KernelError" };
  const sum = kernel("sum", { y: view(f64) }, ({ y }, i, j) => {
    y[i + j] = 1;
  });
  const neighbour = kernel("neighbour", { y: view(f64), n: i32 }, ({ y, n }, i, j) => {
    y[i * n + j] = y[i * n + j + 1];
  });
  const absent = kernel("absent", { y: view(f64), n: i32 }, ({ y, n }, i, _j) => {
    y[i * n] = 1;
  });
  await assert.rejects(launch(sum, { y }, 2, 2), never);
  await assert.rejects(launch(neighbour, { y, n: 4 }, 2, 2), never);
  await assert.rejects(launch(absent, { y, n: 4 }, 2, 2), never);
});
