import assert from "node:assert/strict";
import { it } from "node:test";
import type { Device } from "../../src/device/device.js";
import { range } from "../../src/device/launch/policy.js";
import type { View } from "../../src/device/memory/view.js";
import { rule } from "../../src/gradient/rule.js";
import { tape, type Tape } from "../../src/gradient/tape.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, i32, max, scatter, sum, view } from "../../src/kernel/declare/params.js";
import { eachDevice } from "../patterns/devices.js";

const N = 32;
const square = kernel("square", { a: f64, x: view(f64) }, ({ a, x }, i) => {
  x[i] = a * x[i] * x[i] + 0.1;
});
const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = y[i] + a * x[i];
});
const smooth = kernel("smooth", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * Math.sin(x[i + 1]);
});
const squares = kernel("squares", { y: view(f64), s: sum(f64) }, ({ y, s }, i) => s.add(y[i] * y[i]));
const constant = kernel("constant", { x: view(f64) }, ({ x }, i) => {
  x[i] = 0.5;
});
const scaled = kernel("scaled", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i];
});

type Run = Tape["run"];
type Numbers = Float64Array;
const start = Float64Array.from({ length: N }, (_, q) => 0.5 + 0.3 * Math.sin(q));

/** Central difference of a loss in a direction, the least of several steps' distances from a derivative. */
async function differs(loss: (x: Numbers) => Promise<number>, at: Numbers, along: Numbers, derivative: number): Promise<number> {
  let best = Infinity;
  for (const e of [1e-4, 1e-5, 1e-6]) {
    const [up, down] = await Promise.all([1, -1].map((sign) => loss(at.map((v, n) => v + sign * e * along[n]))));
    best = Math.min(best, Math.abs((up - down) / (2 * e) - derivative) / Math.max(1, Math.abs(derivative)));
  }
  return best;
}

await eachDevice("tapes", (device) => {
  if (!device.capabilities.f64) return;
  const array = (data: ArrayLike<number> = new Float64Array(N)): View<"f64", 1> => device.from(f64, data);

  const cases: Record<string, { copies: number; run: (run: Run, x: View<"f64", 1>, y: View<"f64", 1>) => Promise<unknown> }> = {
    "x = f(x) five times": {
      copies: 5,
      run: async (run, x, y) => {
        for (let t = 0; t < 5; t++) await run(square, { a: 0.9, x }, range(N));
        await run(axpy, { a: 1, x, y }, range(N));
      },
    },
    "y += a x five times": {
      copies: 0,
      run: async (run, x, y) => {
        for (let t = 0; t < 5; t++) await run(axpy, { a: 0.9 + t, x, y }, range(N));
      },
    },
    "two buffers in turn": {
      copies: 6,
      run: async (run, x, y) => {
        for (let t = 0; t < 7; t++) await run(smooth, t % 2 ? { x: y, y: x } : { x, y }, range([1, N - 1]));
      },
    },
    "x = f(x) twice, then a constant": {
      copies: 2,
      run: async (run, x, y) => {
        for (let t = 0; t < 2; t++) await run(square, { a: 0.7, x }, range(N));
        await run(axpy, { a: 2, x, y }, range(N));
        await run(constant, { x }, range([3, 9]));
        await run(axpy, { a: 2, x, y }, range(N));
      },
    },
    "an array between, without being asked for": {
      copies: 0,
      run: async (run, x, y) => {
        const between = array();
        await run(scaled, { a: 3, x, y: between }, range(N));
        await run(smooth, { x: between, y }, range([1, N - 1]));
      },
    },
    "parts of one array": {
      copies: 0,
      run: async (run, x, y) => {
        const both = array(new Float64Array(2 * N));
        await run(scaled, { a: 3, x, y: both.slice([0, N]) }, range(N));
        await run(scaled, { a: 2, x, y: both.slice([N, 2 * N]) }, range(N));
        await run(smooth, { x: both.slice([N / 2, (3 * N) / 2]), y }, range([1, N - 1]));
      },
    },
  };
  for (const [name, { copies, run }] of Object.entries(cases))
    it(`${name}: central differences, and copies`, async () => {
      const loss = async (data: Numbers): Promise<number> => {
        const [x, y] = [array(data), array()];
        await run(((k: never, args: never, policy: never) => device.run(k, args, policy)) as unknown as Run, x, y);
        return (await device.run(squares, { y }, range(N))).s;
      };
      const t = tape(device);
      const [x, y] = [array(start), array()];
      await run(t.run.bind(t) as Run, x, y);
      const { s } = await t.run(squares, { y }, range(N));
      assert.equal(t.copies, copies);
      const g = await device.queue.read((await t.backward(s)).of(x));
      const along = start.map((_, q) => Math.cos(1.1 * q));
      const derivative = g.reduce((total, v, n) => total + v * along[n], 0);
      const off = await differs(loss, start, along, derivative);
      assert.ok(off < 1e-8, `${derivative} is off by ${off}`);
      // The same once more.
      assert.deepEqual(await device.queue.read((await t.backward(s)).of(x)), g);
      t.free();
    });

  it("numbers pass from launch to launch", async () => {
    const t = tape(device);
    const [x, y] = [array(start), array()];
    const a = t.scalar(0.3);
    await t.run(scaled, { a, x, y }, range(N));
    const { s } = await t.run(squares, { y }, range(N));
    await t.run(scaled, { a: s, x, y }, range(N));
    const { s: last } = await t.run(squares, { y }, range(N));
    // last = (a^2 X)^2 X for X the sum of squares.
    const X = start.reduce((total, v) => total + v * v, 0);
    const g = await t.backward(last);
    assert.ok(Math.abs(last.value - 0.3 ** 4 * X ** 3) < 1e-12 * X ** 3);
    assert.ok(Math.abs(g.of(a) - 4 * 0.3 ** 3 * X ** 3) < 1e-12 * X ** 3);
    const gx = await device.queue.read(g.of(x));
    gx.forEach((v, n) => assert.ok(Math.abs(v - 6 * start[n] * 0.3 ** 4 * X ** 2) < 1e-11 * X ** 2));
    t.free();
  });

  it("Newton's loop for a square root, of a length that the values decide", async () => {
    const newton = kernel("newton", { a: f64, x: view(f64) }, ({ a, x }, i) => {
      x[i] = 0.5 * (x[i] + a / x[i]);
    });
    const error = kernel("error", { a: f64, x: view(f64), e: max(f64) }, ({ a, x, e }, i) => e.max(Math.abs(x[i] * x[i] - a)));
    const t = tape(device);
    const x = array([3]);
    const a = t.scalar(2);
    let turns = 0;
    for (;;) {
      await t.run(newton, { a, x }, range(1));
      turns++;
      if ((await device.run(error, { a: 2, x }, range(1))).e < 1e-14) break;
    }
    const g = await t.backward([[x, [1]]]);
    assert.ok(turns > 3);
    assert.ok(Math.abs(g.of(a) - 0.5 / Math.SQRT2) < 1e-12, `${g.of(a)}`);
    assert.ok(Math.abs((await device.queue.read(g.of(x)))[0]) < 1e-6);
    t.free();
  });

  it("seeds, results on the device, scatters, extremes, one array given twice", async () => {
    const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => s.add(x[i] * y[i]));
    const largest = kernel("largest", { x: view(f64), m: max(f64) }, ({ x, m }, i) => m.max(x[i]));
    const bins = kernel("bins", { x: view(f64), at: view(i32), into: scatter(f64) }, ({ x, at, into }, i) => into.add(at[i], x[i] * x[i]));
    const at = device.from(
      i32,
      Int32Array.from({ length: N }, (_, n) => n % 5),
    );
    const t = tape(device);
    const x = array(start);
    const s = array([7]);
    const into = array(new Float64Array(5));
    await t.run(dot, { x, y: x, s }, range(N));
    const { m } = await t.run(largest, { x }, range(N));
    await t.run(bins, { x, at, into }, range(N));
    const g = await t.backward([
      [s, [2]],
      [m, 3],
      [into, [1, 2, 3, 4, 5]],
    ]);
    const greatest = start.indexOf(Math.max(...start));
    const expected = start.map((v, n) => 4 * v + (n === greatest ? 3 : 0) + 2 * v * (1 + (n % 5)));
    (await device.queue.read(g.of(x))).forEach((v, n) => assert.ok(Math.abs(v - expected[n]) < 1e-12, `${n}: ${v} for ${expected[n]}`));
    t.free();
  });

  it("a launch reads its arguments as they are when it is asked for", async () => {
    const t = tape(device);
    const [x, y] = [array(start), array()];
    const a = t.scalar(2);
    const running = t.run(scaled, { a, x, y }, range(N));
    device.queue.write(x, new Float64Array(N));
    await running;
    assert.deepEqual(
      await device.queue.read(y),
      start.map((v) => 2 * v),
    );
    await assert.rejects(t.backward([[y, start]]), /needs "x" as it was/);
    t.free();
  });

  it("a checkpoint runs again, and leaves everything as it was", async () => {
    const run = async (checkpoints: boolean) => {
      const t = tape(device);
      const [x, y] = [array(start), array()];
      const a = t.scalar(0.8);
      const several = async () => {
        for (let k = 0; k < 4; k++) await t.run(square, { a, x }, range(N));
        const { s } = await t.run(squares, { y: x }, range(N));
        await t.run(scaled, { a: s, x, y }, range(N));
        return s;
      };
      let first;
      for (let k = 0; k < 3; k++) first = await (checkpoints ? t.checkpoint(several) : several());
      await t.run(axpy, { a: first!, x, y }, range(N));
      const { s } = await t.run(squares, { y }, range(N));
      const now = [await device.queue.read(x), await device.queue.read(y)];
      const g = await t.backward(s);
      const found = { x: await device.queue.read(g.of(x)), a: g.of(a), copies: t.copies };
      assert.deepEqual([await device.queue.read(x), await device.queue.read(y)], now);
      assert.deepEqual((await t.backward(s)).of(a), found.a);
      t.free();
      return found;
    };
    const [plain, sparing] = [await run(false), await run(true)];
    assert.deepEqual(sparing.x, plain.x);
    assert.equal(sparing.a, plain.a);
    assert.ok(sparing.copies < plain.copies);
  });
});

const refused = (work: Promise<unknown>, message: RegExp): Promise<void> => assert.rejects(work, { message });

await eachDevice("tapes refuse", (device) => refusals(device));

function refusals(device: Device): void {
  if (!device.capabilities.f64) return;
  const array = (data: ArrayLike<number> = new Float64Array(N)): View<"f64", 1> => device.from(f64, data);

  it("values that were written past the tape", async () => {
    const t = tape(device);
    const [x, y] = [array(start), array()];
    await t.run(square, { a: 1, x }, range(N));
    await t.run(scaled, { a: t.scalar(2), x, y }, range(N));
    const { s } = await t.run(squares, { y }, range(N));
    await t.backward(s);
    await device.run(constant, { x }, range(N));
    await refused(
      t.backward(s),
      /the gradient of "scaled" \(launch 2 of the tape\) needs "x" as it was, but it was written since, past the tape: record that too, or write to another view/,
    );
    t.free();
  });

  it("a write between two uses that no adjoint needs", async () => {
    const t = tape(device);
    const [x, y] = [array(start), array()];
    await t.run(scaled, { a: 2, x, y }, range(N));
    device.queue.write(y, start);
    const { s } = await t.run(squares, { y }, range(N));
    await refused(t.backward(s), /"squares" \(launch 2 of the tape\) uses "y", which was written past the tape since launch 1 used it/);
  });

  it("a write by a run that nobody waits for", async () => {
    const t = tape(device);
    const x = array(start);
    const { s } = await t.run(squares, { y: x }, range(N));
    const other = device.run(constant, { x }, range(N));
    await refused(t.backward(s), /needs "y" as it was/);
    await other;
  });

  it("numbers of other tapes, arithmetic, shared memory that is written, views of integers", async () => {
    const t = tape(device);
    const [x, y] = [array(start), array()];
    const other = tape(device).scalar(1);
    await refused(t.run(scaled, { a: other, x, y }, range(N)), /a number of another tape/);
    assert.throws(() => (t.scalar(2) as unknown as number) * 2, /arithmetic of the host, which is not on the tape/);
    await refused(t.run(axpy, { a: 1, x, y: x }, range(N)), /"x" and "y" are given one memory, and it writes "y"/);
    const { s } = await t.run(squares, { y: x }, range(N));
    const g = await t.backward(s);
    assert.throws(() => g.of(device.array(i32, 3)), /a view of i32 has no gradient/);
    assert.throws(() => g.of(other), /another tape/);
    await refused(t.backward([[device.array(i32, 3), [1, 2, 3]]]), /a seed is given for a view of i32/);
    t.free();
    await refused(t.run(scaled, { a: 1, x, y }, range(N)), /a tape was freed/);
  });

  it("views that a rule leaves out", async () => {
    const product = kernel("product", { x: view(f64), w: view(f64), y: view(f64) }, ({ x, w, y }, i) => {
      y[i] = w[i] * x[i];
    });
    const back = kernel("product back", { w: view(f64), x_bar: view(f64), y_bar: view(f64) }, ({ w, x_bar, y_bar }, i) => {
      x_bar[i] = x_bar[i] + w[i] * y_bar[i];
      y_bar[i] = 0;
    });
    rule(product, { wrt: ["x"], needs: ["w"], vjp: back });
    const t = tape(device);
    const [x, w, y] = [array(start), array(start), array()];
    await t.run(product, { x, w, y }, range(N));
    const { s } = await t.run(squares, { y }, range(N));
    const g = await t.backward(s);
    (await device.queue.read(g.of(x))).forEach((v, n) => assert.ok(Math.abs(v - 2 * start[n] ** 3) < 1e-14));
    assert.throws(() => g.of(w), /the rule\(...\) of kernel "product", which reads it, leaves it out/);
    await refused(
      t.run(product, { x, w: y, y: w }, range(N)),
      /it reads "w", which earlier launches of the tape stored, and its rule\(...\) leaves it out/,
    );
    t.free();
    const constantNow = rule(kernel("threshold", { x: view(f64), y: view(f64) }, ({ x, y }, i) => { y[i] = x[i]; }), "none"); // prettier-ignore
    const u = tape(device);
    await u.run(scaled, { a: 2, x, y }, range(N));
    await u.run(constantNow, { x, y }, range(N));
    const { s: none } = await u.run(squares, { y }, range(N));
    const ended = await u.backward(none);
    assert.ok((await device.queue.read(ended.of(x))).every((v) => v === 0));
    u.free();
  });

  it("a launch that failed", async () => {
    const gather = kernel("gather", { at: view(i32), x: view(f64), y: view(f64) }, ({ at, x, y }, i) => {
      y[i] = x[at[i]];
    });
    const t = tape(device);
    const [x, y] = [array(start), array()];
    await t.run(scaled, { a: 2, x, y }, range(N));
    const at = device.from(i32, new Int32Array(N).fill(N + 5));
    await refused(t.run(gather, { at, x, y }, range(N)), /outside/);
    const { s } = await t.run(squares, { y }, range(N));
    await refused(t.backward(s), /launch 2 of the tape, of "gather", failed, and nobody knows what it has written/);
    t.free();
  });

  it("a checkpoint that does something else", async () => {
    const t = tape(device);
    const x = array(start);
    let count = 0;
    await t.checkpoint(async () => {
      await t.run(square, { a: 1 + count++, x }, range(N));
    });
    const { s } = await t.run(squares, { y: x }, range(N));
    await refused(t.backward(s), /a function of t.checkpoint gave kernel "square" another "a" when it ran again/);
    t.free();
  });
}
