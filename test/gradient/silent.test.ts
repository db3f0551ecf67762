import { test } from "node:test";
import { deepEqual, ok, rejects } from "node:assert/strict";
import { f64, i32, kernel, open, range, sum, view, type Kernel } from "../../src/index.js";
import { checkGradient, jvp, vjp } from "../../src/gradient/index.js";
import { numbers } from "./cases.js";

/*
 * Kernels whose gradients other programs get wrong without an error: loops whose length is not known before the launch, values used around them, jumps, arrays
 * that are overwritten. Central differences of the whole kernel judge.
 */

const N = 24;
const device = await open("js");
const array = (seed: number, length = N) => device.from(f64, numbers(length, seed));

async function right(of: Kernel, args: Record<string, unknown>, wrt: string[], count = N): Promise<void> {
  const { identity, differences } = await checkGradient(device, of, args, range(count), { wrt, directions: 2 });
  ok(identity <= 1e-14 && differences <= 1e-8, `${identity} ${differences}`);
}

test("acc = f(acc) in a loop", async () => {
  const acc = kernel("acc", { n: i32, x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    let acc = 0.5;
    for (let k = 0; k < n; k++) acc = acc * acc * 0.5 + x[i] * acc + 1;
    y[i] = acc * acc;
  });
  for (const n of [0, 1, 5]) await right(acc, { n, x: array(1), y: array(2) }, ["x"]);
});

test("the same in loops within loops, of many lengths", async () => {
  const nested = kernel("nested", { n: i32, m: i32, x: view(f64), y: view(f64) }, ({ n, m, x, y }, i) => {
    let a = x[i];
    let b = 1;
    for (let k = 0; k < n; k++) {
      for (let l = 0; l < m + k; l++) {
        const before = a;
        a = 0.9 * a + 0.05 * b * x[i];
        b = b - 0.1 * before * a;
      }
      a = a + 0.1 * b * b;
    }
    y[i] = a * b;
  });
  for (const [n, m] of [
    [1, 1],
    [3, 0],
    [5, 31],
    [2, 33],
    [40, 3],
    [3, 70],
  ])
    await right(nested, { n, m, x: array(1), y: array(2) }, ["x"]);
});

test("values used before and after a loop", async () => {
  const around = kernel("around", { n: i32, x: view(f64), s: view(f64), y: view(f64) }, ({ n, x, s, y }, i) => {
    const b = x[i] * x[i];
    let acc = 5;
    for (let k = 0; k < n; k++) acc += s[k] * b;
    y[i] = acc * b;
  });
  await right(around, { n: 5, x: array(1), s: array(2), y: array(3) }, ["x", "s"]);
});

test("continue, break, and a loop that falls in steps", async () => {
  const jumps = kernel("jumps", { n: i32, x: view(f64), c: view(f64), y: view(f64) }, ({ n, x, c, y }, i) => {
    let best = 1;
    for (let k = n; k > 0; k -= 3) {
      if (c[k] < 0) continue;
      best = best * (1 + x[i] * c[k]);
      if (best > 1.3) break;
      best += c[k] * c[k];
    }
    y[i] = best * x[i];
  });
  for (const n of [0, 2, 22, 23]) await right(jumps, { n, x: array(1), c: array(5), y: array(3) }, ["x", "c"]);
});

test("counters that come near the limits of i32", async () => {
  const far = kernel("far", { from: i32, to: i32, x: view(f64), y: view(f64) }, ({ from, to, x, y }, i) => {
    let a = x[i];
    for (let k = from; k <= to; k += 2147483646) a = a * (1 + 0.1 * x[((k % 5) + 5) % 5]);
    for (let k = to; k > from; k -= 2000000000) a = a * (1.1 - 0.1 * x[((k % 5) + 5) % 5]);
    for (let k = to; k >= 2147483640; k--) a = a * (1 + 0.1 * x[((k % 5) + 5) % 5]);
    y[i] = a;
  });
  for (const [from, to] of [
    [-2147483648, 2147483647],
    [0, 2147483647],
    [5, 4],
    [-2147483648, -2147483648],
    [-7, 2147483645],
  ])
    await right(far, { from, to, x: array(1), y: array(2) }, ["x"]);
});

test("x[i] += y[j] over j, in place", async () => {
  const rows = kernel("rows", { n: i32, x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    for (let j = 0; j < n; j++) x[i] = x[i] + y[j] * y[i];
  });
  await right(rows, { n: 7, x: array(1), y: array(2) }, ["x", "y"]);
});

test("an array that is set again after a loop has read it", async () => {
  const again = kernel("again", { n: i32, x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    const f = new Float64Array(3);
    f[0] = x[i];
    f[1] = x[i] * x[i];
    f[2] = 0.5;
    let s = 1;
    for (let k = 0; k < n; k++) s = s * (1 + 0.1 * f[k % 3] * f[(k + 1) % 3]);
    f[n % 3] = s * s;
    for (let k = 0; k < n; k++) s += f[k % 3] * f[k % 3];
    f[0] = 7;
    y[i] = s * f[n % 3];
  });
  for (const n of [2, 5, 40]) await right(again, { n, x: array(1), y: array(2) }, ["x"]);
});

test("a store that is read again in a straight line", async () => {
  const twice = kernel("twice", { at: i32, x: view(f64, 2), y: view(f64) }, ({ at, x, y }, i) => {
    x[i][0] = x[i][0] * x[i][1];
    const there = x[i][at];
    x[i][1] = there * there;
    y[i] = x[i][at] * there;
  });
  const x = device.from(f64, numbers(2 * N, 1), [N, 2]);
  for (const at of [0, 1]) await right(twice, { at, x, y: array(2) }, ["x"]);
});

test("the adjoint leaves the arrays of the kernel as they are", async () => {
  const twice = kernel("twice", { at: i32, x: view(f64, 2), y: view(f64) }, ({ at, x, y }, i) => {
    x[i][0] = x[i][0] * x[i][1];
    y[i] = x[i][at] * x[i][at];
  });
  const x = device.from(f64, numbers(2 * N, 1), [N, 2]);
  const before = [...(await device.queue.read(x))];
  const [x_bar, y_bar] = [device.array(f64, [N, 2]), array(3)];
  await vjp(twice, { wrt: ["x"] }).run(device, { at: 0, x, x_bar, y_bar }, range(N));
  ok((await device.queue.read(x)).every((value, n) => Object.is(value, before[n])));
});

test("sums, and an intermediate that is stored and used", async () => {
  const chain = kernel("chain", { a: f64, x: view(f64), y: view(f64), z: view(f64), s: sum(f64) }, ({ a, x, y, z, s }, i) => {
    y[i] = Math.sin(a * x[i]);
    z[i] = y[i] * y[i] + a;
    s.add(z[i] * y[i]);
  });
  await right(chain, { a: 0.7, x: array(1), y: array(2), z: array(3) }, ["a", "x"]);
});

test.after(() => device.close());

test("one array for two parameters, one of them written, is refused", async () => {
  const copied = kernel("copied", { x: view(f64), y: view(f64), z: view(f64) }, ({ x, y, z }, i) => {
    y[i] = x[i] * x[i];
    z[i] = x[i];
  });
  const [one, z] = [array(1), array(2)];
  const refused = /"x" and "y" are given one memory, and it writes "y": its gradient is not known then/;
  const bars = { x_bar: array(3), y_bar: array(4), z_bar: array(5) };
  await rejects(vjp(copied, { wrt: ["x"] }).run(device, { x: one, y: one, z, ...bars }, range(N)), refused);
  await rejects(
    jvp(copied, { wrt: ["x"] }).run(device, { x: one, y: one, z, x_dot: array(3), y_dot: array(4), z_dot: array(5) }, range(N)),
    refused,
  );
  await rejects(checkGradient(device, copied, { x: one, y: one, z }, range(N), { wrt: ["x"] }), refused);
});

test("a check leaves whole numbers as they were", async () => {
  const counted = kernel("counted", { p: view(i32), x: view(f64), y: view(f64) }, ({ p, x, y }, i) => {
    p[i] = p[i] + 1;
    y[i] = x[i] * p[i];
  });
  const p = device.from(
    i32,
    Int32Array.from({ length: N }, (_, n) => n),
  );
  await right(counted, { p, x: array(1), y: array(2) }, ["x"]);
  deepEqual([...(await device.queue.read(p))], [...Array(N).keys()]);
});

test("sides whose squares overflow or vanish", async () => {
  const angle = kernel("angle", { x: view(f64), y: view(f64), a: view(f64), h: view(f64) }, ({ x, y, a, h }, i) => {
    a[i] = Math.atan2(y[i], x[i]);
    h[i] = Math.hypot(x[i], y[i]);
  });
  const sizes = [1e-200, 1e200, 1];
  const [x, y] = [device.from(f64, sizes), device.from(f64, sizes)];
  const [a, h, a_bar, h_bar, x_bar, y_bar] = Array.from({ length: 6 }, () => device.array(f64, 3));
  device.queue.write(a_bar, [1, 1, 1]);
  await vjp(angle, { wrt: ["x", "y"] }).run(device, { x, y, a, h, a_bar, h_bar, x_bar, y_bar }, range(3));
  const [byX, byY] = [await device.queue.read(x_bar), await device.queue.read(y_bar)];
  sizes.forEach((size, n) => {
    ok(Math.abs(byX[n] * 2 * size + 1) < 1e-14, `${byX[n]} at ${size}`);
    ok(Math.abs(byY[n] * 2 * size - 1) < 1e-14, `${byY[n]} at ${size}`);
  });
});
