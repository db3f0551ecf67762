import assert from "node:assert/strict";
import test from "node:test";
import { f32, f64, i32, kernel, open, range, scatter, sum, teamKernel, teams, u8, view } from "../../../src/index.js";
import type { Args, Device, Kernel, LaunchOptions, Params, Policy, View } from "../../../src/index.js";

/* What the WebAssembly emitter does in cases of its own: vectors, masks, pointers. The suite and the random kernels cover the language. */

const device: Device = await open("wasm");
device.precision = "strict";
// Its subject is code for vectors; code that checks indices goes element by element.
device.checked = false;
test.after(() => device.close());

const numbers = (n: number, value: (n: number) => number) => Float64Array.from({ length: n }, (_, k) => value(k));

/** Runs a kernel and returns what a view then holds; its remarks must include `remark`. */
async function outcome<P extends Params>(
  kernel: Kernel<P>,
  args: Args<P>,
  policy: Policy,
  output: View,
  remark: RegExp,
  options?: LaunchOptions,
): Promise<number[]> {
  const launch = device.prepare(kernel, args, policy, options);
  assert.match(launch.remarks.join("\n"), remark);
  device.queue.submit(launch);
  launch.free();
  return [...(await device.queue.read(output))];
}

test("32-bit kernels have four lanes, with remainders", async () => {
  const scale = kernel("scale", { x: view(f32), y: view(f32) }, ({ x, y }, i) => {
    y[i] = x[i] * 0.5;
  });
  for (const n of [1, 3, 4, 15, 16, 17, 1000]) {
    const [x, y] = [
      device.from(
        f32,
        numbers(n, (k) => k),
      ),
      device.array(f32, n),
    ];
    assert.deepEqual(await outcome(scale, { x, y }, range(n), y, /elements: 4 lanes/), [...numbers(n, (k) => k / 2)]);
  }
});

test("bytes are widened and narrowed", async () => {
  const next = kernel("next", { x: view(u8), y: view(u8) }, ({ x, y }, i) => {
    y[i] = x[i] * 3 + 1;
  });
  const [x, y] = [
    device.from(
      u8,
      numbers(50, (k) => k * 5),
    ),
    device.array(u8, 50),
  ];
  assert.deepEqual(await outcome(next, { x, y }, range(50), y, /4 lanes/), [...numbers(50, (k) => (((k * 5) % 256) * 3 + 1) % 256)]);
});

test("bytes among 64-bit values, under a mask", async () => {
  const mark = kernel("mark", { x: view(f64), y: view(u8) }, ({ x, y }, i) => {
    if (x[i] > 10) y[i] = x[i] | 0;
  });
  const [x, y] = [
    device.from(
      f64,
      numbers(37, (k) => k),
    ),
    device.from(
      u8,
      numbers(37, () => 7),
    ),
  ];
  assert.deepEqual(await outcome(mark, { x, y }, range(37), y, /2 lanes/), [...numbers(37, (k) => (k > 10 ? k : 7))]);
});

test("columns, reversed rows and gathers", async () => {
  const mix = kernel("mix", { a: view(f64, 2), p: view(i32), y: view(f64, 2) }, ({ a, p, y }, i, j) => {
    y[i][j] = a[j][i] + 100 * a[i][a.length - 1 - j] + 10000 * a[i][p[j]];
  });
  const n = 21;
  const at = (i: number, j: number) => (i * 5 + j) % 7;
  const a = device.from(
    f64,
    numbers(n * n, (k) => at(Math.floor(k / n), k % n)),
    [n, n],
  );
  const [p, y] = [
    device.from(
      i32,
      numbers(n, (k) => (k * 8) % n),
    ),
    device.array(f64, [n, n]),
  ];
  const expected = numbers(n * n, (k) => {
    const [i, j] = [Math.floor(k / n), k % n];
    return at(j, i) + 100 * at(i, n - 1 - j) + 10000 * at(i, (j * 8) % n);
  });
  assert.deepEqual(await outcome(mix, { a, p, y }, range(n, n), y, /2 lanes/), [...expected]);
});

test("a guarded access far in front of a view stays inside the memory", async () => {
  const delay = kernel("delay", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    let v = x[i];
    if (i >= 500000) v += x[i - 500000];
    y[i] = v + (i >= 300000 ? x[i - 300000] : 0);
  });
  const n = 500005;
  const [x, y] = [
    device.from(
      f64,
      numbers(n, (k) => k),
    ),
    device.array(f64, n),
  ];
  const out = await outcome(delay, { x, y }, range(n), y, /2 lanes/);
  for (const k of [0, 299999, 300000, 300001, 499999, 500000, 500004])
    assert.equal(out[k], k + (k >= 500000 ? k - 500000 : 0) + (k >= 300000 ? k - 300000 : 0));
});

test("a masked store leaves to its owner what lies between", async () => {
  const spread = kernel("spread", { x: view(i32), y: view(i32, 1, { disjoint: true }) }, ({ x, y }, i) => {
    if (x[i] === 1) {
      y[i] = i;
      y[i + 1] = -i;
    }
  });
  const n = 5001;
  const [x, y] = [
    device.from(
      i32,
      numbers(n, (k) => Number(k % 2 === 0)),
    ),
    device.array(i32, n + 1),
  ];
  for (let turn = 0; turn < 20; turn++)
    assert.deepEqual(await outcome(spread, { x, y }, range(n), y, /4 lanes/), [...numbers(n + 1, (k) => (k % 2 === 0 ? k : 1 - k) + 0)]);
});

test("lanes leave a loop at different times", async () => {
  const collatz = kernel("collatz", { x: view(i32), y: view(i32) }, ({ x, y }, i) => {
    let v = x[i];
    let steps = 0;
    while (v !== 1) {
      steps = steps + 1;
      if (v % 2 === 0) {
        v = v >> 1;
        continue;
      }
      v = 3 * v + 1;
      if (steps > 100) break;
    }
    y[i] = steps;
  });
  const steps = (start: number): number => {
    let count = 0;
    for (let v = start; v !== 1;) {
      count++;
      if (v % 2 === 0) v /= 2;
      else {
        v = 3 * v + 1;
        if (count > 100) break;
      }
    }
    return count;
  };
  const [x, y] = [
    device.from(
      i32,
      numbers(200, (k) => k + 1),
    ),
    device.array(i32, 200),
  ];
  assert.deepEqual(await outcome(collatz, { x, y }, range(200), y, /4 lanes/), [...numbers(200, (k) => steps(k + 1))]);
});

test("rows of different lengths that gather are not vectorised", async () => {
  const product = kernel(
    "product",
    { start: view(i32), column: view(i32), a: view(f64), x: view(f64), y: view(f64) },
    ({ start, column, a, x, y }, i) => {
      let s = 0;
      for (let k = start[i]; k < start[i + 1]; k++) s += a[k] * x[column[k]];
      y[i] = s;
    },
  );
  const start = device.from(
    i32,
    numbers(11, (k) => (k * (k - 1)) / 2),
  );
  const column = device.from(
    i32,
    numbers(45, (k) => k % 10),
  );
  const [a, x, y] = [
    device.from(
      f64,
      numbers(45, () => 2),
    ),
    device.from(
      f64,
      numbers(10, (k) => k),
    ),
    device.array(f64, 10),
  ];
  const expected = numbers(10, (i) => {
    let s = 0;
    for (let k = (i * (i - 1)) / 2; k < ((i + 1) * i) / 2; k++) s += 2 * (k % 10);
    return s;
  });
  assert.deepEqual(await outcome(product, { start, column, a, x, y }, range(10), y, /one at a time, as a loop of a different length/), [
    ...expected,
  ]);
});

test("sorted updates of one target twice an element keep the element order", async () => {
  const twice = kernel("twice", { x: view(f64), h: scatter(f64) }, ({ x, h }, i) => {
    h.add(0, x[i]);
    h.add(0, 1e-16 * i);
  });
  const x = device.from(
    f64,
    numbers(99, (k) => 1 / (k + 1)),
  );
  const h = device.array(f64, 1);
  let expected = 0;
  for (let k = 0; k < 99; k++) expected = expected + 1 / (k + 1) + 1e-16 * k;
  assert.deepEqual(await outcome(twice, { x, h }, range(99), h, /updates of "h" must come in element order/), [expected]);
});

test("atomic updates of each type and operation lose nothing", async () => {
  const n = 100000;
  const order = device.from(
    i32,
    numbers(n, (k) => (k * 7919) % n),
  );
  for (const type of [f64, f32, i32]) {
    const count = kernel(
      "count",
      { order: view(i32), h: scatter(type), low: scatter(type, 1, "min"), high: scatter(type, 1, "max") },
      ({ order, h, low, high }, i) => {
        const v = order[i];
        h.add(v % 3, 1);
        low.min(v % 3, v);
        high.max(v % 3, v);
      },
    );
    const [h, low, high] = [device.array(type, 3), device.from(type, [n, n, n]), device.array(type, 3)];
    const args = { order, h, low, high };
    assert.deepEqual(await outcome(count, args, range(n), h, /atomic/, { precision: "fast", scatter: "atomic" }), [33334, 33333, 33333]);
    assert.deepEqual([...(await device.queue.read(low))], [0, 1, 2]);
    assert.deepEqual([...(await device.queue.read(high))], [99999, 99997, 99998]);
  }
});

test("fast reductions over rows of every length", async () => {
  const total = kernel("total", { x: view(f64, 2), s: sum(f64) }, ({ x, s }, i, j) => {
    s.add(x[i][j] * 2);
  });
  for (const [rows, columns] of [
    [1, 1],
    [3, 7],
    [40, 8],
    [301, 33],
    [2, 5000],
  ]) {
    const x = device.from(
      f64,
      numbers(rows * columns, (k) => k),
      [rows, columns],
    );
    const { s } = await device.run(total, { x }, range(rows, columns), { precision: "fast" });
    assert.equal(s, rows * columns * (rows * columns - 1));
  }
});

test("updates and sums of elements side by side go in pairs", async () => {
  const spread = kernel("spread", { a: view(f64, 2), p: view(i32), h: scatter(f64) }, ({ a, p, h }, i) => {
    const first = p[i];
    for (let k = 0; k < 4; k++) h.add(first + k, a[i][k] * 0.1);
  });
  const value = (k: number) => ((k * 29) % 31) / 3;
  const a = device.from(f64, numbers(300 * 4, value), [300, 4]);
  const p = device.from(
    i32,
    numbers(300, (i) => (i * 7) % 11),
  );
  const expected = new Float64Array(14);
  for (let i = 0; i < 300; i++) for (let k = 0; k < 4; k++) expected[((i * 7) % 11) + k] += value(4 * i + k) * 0.1;
  const h = device.array(f64, 14);
  assert.deepEqual(await outcome(spread, { a, p, h }, range(300), h, /one at a time/), [...expected]);
  assert.match(device.prepare(spread, { a, p, h }, range(300)).source(), /f64x2.add\n *v128.store/);

  const totals = kernel("totals", { a: view(f64, 2), s0: sum(f64), s1: sum(f64), s2: sum(f64) }, ({ a, s0, s1, s2 }, i) => {
    s0.add(a[i][0] * 3);
    s1.add(a[i][1] * 3);
    s2.add(a[i][2] * 3);
  });
  const whole = device.from(
    f64,
    numbers(300 * 4, (k) => k % 17),
    [300, 4],
  );
  const column = (k: number) => numbers(300, (i) => ((4 * i + k) % 17) * 3).reduce((s, v) => s + v, 0);
  for (const n of [1, 7, 300])
    assert.deepEqual(
      await device.run(totals, { a: whole.slice([0, n]) }, range(n), { precision: "fast" }),
      n === 300 ? { s0: column(0), s1: column(1), s2: column(2) } : await device.run(totals, { a: whole.slice([0, n]) }, range(n)),
    );
  assert.match(device.prepare(totals, { a: whole }, range(300), { precision: "fast" }).remarks.join(), /as its sums go in pairs/);
});

test("arrays of left layout are traversed along their first axis", async () => {
  const add = kernel("add", { a: view(f64, 3), b: view(f64, 3) }, ({ a, b }, i, j, k) => {
    b[i][j][k] = a[i][j][k] + 100 * i + 10 * j + k;
  });
  const data = numbers(9 * 4 * 5, (n) => n / 2);
  const [a, b] = [device.from(f64, data, [9, 4, 5], { layout: "left" }), device.array(f64, [9, 4, 5], { layout: "left" })];
  const expected = data.map((v, n) => v + 100 * Math.floor(n / 20) + 10 * (Math.floor(n / 5) % 4) + (n % 5));
  assert.deepEqual(await outcome(add, { a, b }, range(9, 4, 5), b, /innermost loop: axis 0.*\n.*2 lanes/), [...expected]);
  const c = device.from(f64, data, [9, 4, 5]);
  assert.deepEqual(await outcome(add, { a: c, b: c }, range(9, 4, 5), c, /^(?!.*innermost)/), [...expected]);
});

test("fast sums of products along a row are taken in pairs", async () => {
  const rows = kernel("rows", { a: view(f64, 2), p: view(i32), x: view(f64), y: view(f64) }, ({ a, p, x, y }, i) => {
    let sum = 0.5;
    for (let k = 0; k < 7; k++) sum += a[i][k] * x[p[i] + 3 * k];
    y[i] = sum;
  });
  const a = device.from(
    f64,
    numbers(30 * 7, (k) => (k * 11) % 13),
    [30, 7],
  );
  const p = device.from(
    i32,
    numbers(30, (k) => (k * 7) % 30),
  );
  const [x, y] = [
    device.from(
      f64,
      numbers(50, (k) => k * k),
    ),
    device.array(f64, 30),
  ];
  const expected = numbers(30, (i) =>
    numbers(7, (k) => (((i * 7 + k) * 11) % 13) * (((i * 7) % 30) + 3 * k) ** 2).reduce((s, v) => s + v, 0.5),
  );
  assert.deepEqual(await outcome(rows, { a, p, x, y }, range(30), y, /one at a time/, { precision: "fast" }), [...expected]);
  assert.match(device.prepare(rows, { a, p, x, y }, range(30), { precision: "fast" }).source(), /f64x2.mul/);
  assert.doesNotMatch(device.prepare(rows, { a, p, x, y }, range(30)).source(), /f64x2.mul/);
});

test("members of a team are lanes", async () => {
  const smooth = teamKernel("smooth", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
    const row = team.scratch("f64", 64);
    team.range(64, (j) => {
      row[j] = x[team.index][j];
    });
    const most = team.max(64, (j) => row[j]);
    team.range(62, (j) => {
      y[team.index][j + 1] = (row[j] + row[j + 1] + row[j + 2]) / most;
    });
  });
  const value = (k: number) => ((k * 37) % 101) + 1;
  const [x, y] = [device.from(f64, numbers(20 * 64, value), [20, 64]), device.array(f64, [20, 64])];
  const expected = numbers(20 * 64, (k) => {
    const [row, j] = [Math.floor(k / 64), k % 64];
    if (j === 0 || j === 63) return 0;
    const most = Math.max(...numbers(64, (m) => value(row * 64 + m)));
    return (value(k - 1) + value(k) + value(k + 1)) / most;
  });
  assert.deepEqual(await outcome(smooth, { x, y }, teams(20), y, /members "j.*": 2 lanes/), [...expected]);
});
