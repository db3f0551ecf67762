import assert from "node:assert/strict";
import { it, test } from "node:test";
import type { View } from "../../src/device/memory/view.js";
import { open } from "../../src/device/open.js";
import { f32, f64 } from "../../src/kernel/declare/params.js";
import { tridiagonal } from "../../src/patterns/index.js";
import { noiseValue } from "../../src/testing/values.js";
import { eachDevice } from "./devices.js";

type Round = (x: number) => number;
type System = readonly number[][];

/** Elimination in the order of the page. */
function eliminated([a, b, c, d]: System, round: Round): number[] {
  const [ratio, x]: number[][] = [[], []];
  let pivot = round(1 / b[0]);
  [ratio[0], x[0]] = [round(c[0] * pivot), round(d[0] * pivot)];
  for (let k = 1; k < b.length; k++) {
    pivot = round(1 / round(b[k] - round(a[k] * ratio[k - 1])));
    ratio[k] = round(c[k] * pivot);
    x[k] = round(round(d[k] - round(a[k] * x[k - 1])) * pivot);
  }
  for (let k = b.length - 2; k >= 0; k--) x[k] = round(x[k] - round(ratio[k] * x[k + 1]));
  return x;
}

/** The same after steps of reduction. */
function reduced([a, b, c, d]: System, parts: number, round: Round): number[] {
  const n = b.length;
  const size = Math.ceil(n / parts) * parts;
  let rows = Array.from({ length: size }, (_, k) => (k < n ? [k > 0 ? a[k] : 0, b[k], k < n - 1 ? c[k] : 0, d[k]] : [0, 1, 0, 0]));
  for (let s = 1; s < parts; s *= 2)
    rows = rows.map(([lower, middle, upper, right], k) => {
      const [before, after] = [rows[Math.max(0, k - s)], rows[Math.min(size - 1, k + s)]];
      const p = k < s ? 0 : -round(lower / before[1]);
      const q = k + s >= size ? 0 : -round(upper / after[1]);
      const sum = (own: number, u: number, v: number): number => round(round(own + round(p * u)) + round(q * v));
      return [round(p * before[0]), sum(middle, before[2], after[0]), round(q * after[2]), sum(right, before[3], after[3])];
    });
  const x: number[] = [];
  for (let r = 0; r < parts; r++) {
    const own = rows.filter((_, k) => k % parts === r);
    eliminated(
      [0, 1, 2, 3].map((m) => own.map((row) => row[m])),
      round,
    ).forEach((value, t) => (x[t * parts + r] = value));
  }
  return x.slice(0, n);
}

const partsFor = (systems: number, n: number): number => {
  let parts = 1;
  while (n > 64 && systems * parts < 4096 && n >= 8 * parts) parts *= 2;
  return parts;
};

/** Diagonally dominant systems, a column each: [n, systems] of a, b, c and d. */
const random = (n: number, systems: number): number[][] =>
  [0, 1, 2, 3].map((m) =>
    Array.from({ length: n * systems }, (_, k) => noiseValue(4 * k + m) - 0.5 + (m === 1 ? (k % 2 === 0 ? 2 : -2) : 0)),
  );

const column = (list: readonly number[], systems: number, s: number): number[] =>
  Array.from({ length: list.length / systems }, (_, k) => list[k * systems + s]);

/** Greatest residual over the sizes of coefficients and unknowns. */
function residual([a, b, c, d]: System, x: readonly number[], periodic = false): number {
  const n = x.length;
  const at = (k: number): number => (k >= 0 && k < n ? x[k] : periodic ? x[(k + n) % n] : 0);
  const most = Math.max(1, ...x.map(Math.abs));
  return Math.max(...x.map((_, k) => Math.abs(a[k] * at(k - 1) + b[k] * x[k] + c[k] * at(k + 1) - d[k]))) / most;
}

await eachDevice("tridiagonal systems", (device) => {
  const types = device.capabilities.f64 ? (["f64", "f32"] as const) : (["f32"] as const);
  const quick = ["js", "wasm", "native"].includes(device.backend);
  const read = async (view: View): Promise<number[]> => [...((await device.queue.read(view)) as Float64Array)];

  for (const type of types) {
    const token = type === "f64" ? f64 : f32;
    const round: Round = type === "f64" ? (x) => x : Math.fround;
    const make = (list: readonly number[], shape: number[]) => device.from(token, list, shape) as View<"f64">;

    it(`of ${type} have the bits of the documented order, along either axis`, async () => {
      const sizes = [[1, 3], [2, 1], [5, 7], [64, 2], [65, 1], ...(quick ? [[1000, 3], [66, 4100]] : [])]; // prettier-ignore
      for (const [n, systems] of sizes) {
        const list = random(n, systems).map((each) => each.map(round));
        const wanted = Array.from({ length: systems }, (_, s) =>
          reduced(
            list.map((each) => column(each, systems, s)),
            partsFor(systems, n),
            round,
          ),
        );
        const columns = wanted[0].flatMap((_, k) => wanted.map((each) => each[k]));
        for (const axis of [0, 1]) {
          const turned = (each: readonly number[]) =>
            axis === 0 ? each : Array.from({ length: systems }, (_, s) => column(each, systems, s)).flat();
          const [a, b, c, d] = list.map((each) => make(turned(each), axis === 0 ? [n, systems] : [systems, n]));
          const x = device.array(token, d.shape) as View<"f64">;
          const pattern = tridiagonal(device, { a, b, c, d, x, axis });
          await pattern.run();
          assert.deepEqual(await read(x), turned(columns), `${n} ${systems} ${axis}`);
          const inPlace = tridiagonal(device, { a, b, c, d, axis });
          await inPlace.run();
          assert.deepEqual(await read(d), turned(columns));
          for (const thing of [pattern, inPlace, a, b, c, d, x]) thing.free();
        }
      }
    });

    it(`of ${type} that are periodic are solved`, async () => {
      for (const [n, systems] of [
        [3, 2],
        [100, 3],
      ]) {
        // prettier-ignore
        const list = random(n, systems).map((each) => each.map(round));
        const [a, b, c, d] = list.map((each) => make(each, [n, systems]));
        const x = device.array(token, [n, systems]) as View<"f64">;
        const pattern = tridiagonal(device, { a, b, c, d, x, axis: 0, periodic: true });
        await pattern.run();
        const found = await read(x);
        for (let s = 0; s < systems; s++) {
          const own = list.map((each) => column(each, systems, s));
          assert.ok(residual(own, column(found, systems, s), true) < (type === "f64" ? 1e-14 : 1e-5));
        }
        for (const thing of [pattern, a, b, c, d, x]) thing.free();
      }
    });
  }

  it("take coefficients of one system for all, in three axes", async () => {
    const [n, shape] = [20, [2, 20, 3]];
    const [a, b, c] = [-1, 2.5, -1].map((value) => device.from(f32, Array<number>(n).fill(value)) as unknown as View<"f64">);
    const right = Array.from({ length: 120 }, (_, k) => Math.fround(noiseValue(k)));
    const d = device.from(f32, right, shape) as unknown as View<"f64">;
    await tridiagonal(device, { a, b, c, d, axis: 1 }).run();
    const found = await read(d);
    for (const [i, j] of [
      [0, 0],
      [1, 2],
    ]) {
      // prettier-ignore
      const own = (list: readonly number[]): number[] => Array.from({ length: n }, (_, k) => list[60 * i + 3 * k + j]);
      const same = [-1, 2.5, -1].map((value) => Array<number>(n).fill(value));
      assert.deepEqual(own(found), eliminated([...same, own(right)], Math.fround));
    }
  });

  it("with a pivot of 0 are refused where launches are checked", async () => {
    for (const [at, n] of [
      [0, 5],
      [4, 5],
      [50, 100],
    ]) {
      // prettier-ignore
      const [a, c, d] = [0, 1, 2].map(() => device.from(f32, Array<number>(n).fill(n === 100 ? 0 : 1)) as unknown as View<"f64">);
      const middle = Array<number>(n).fill(1e6);
      if (at === 4) middle.fill(2).fill(Math.fround(4 / 5), 4); // the fifth pivot of 2 - 1 / (2 - ...) is 4/5 - 4/5
      else middle[at] = 0;
      const b = device.from(f32, middle) as unknown as View<"f64">;
      const pattern = tridiagonal(device, { a, b, c, d: n === 100 ? d : c, ...(n !== 100 && { x: d }), method: "elimination" });
      if (at !== 4) await assert.rejects(pattern.run(), { name: "KernelError", message: /is outside axis 0 of "systemsWithoutZeroPivot"/ });
      pattern.free();
    }
  });
});

test("without strict mode CPUs eliminate, unless reduction is asked for", async () => {
  const device = await open("wasm");
  const [a, b, c, d] = random(1000, 1).map((list) => device.from(f64, list));
  const names = (pattern: { launches: readonly { kernel: { name: string } }[] }) => pattern.launches.map(({ kernel }) => kernel.name);
  assert.deepEqual(names(tridiagonal(device, { a, b, c, d }) as never), ["solveTridiagonal"]);
  assert.ok(names(tridiagonal(device, { a, b, c, d, method: "reduction" }) as never).includes("reduceRows"));
  assert.ok(names(tridiagonal(device, { a, b, c, d }, { precision: "strict" }) as never).includes("reduceRows"));
  await device.close();
});

test("options of tridiagonal are refused with the thing named", async () => {
  const device = await open("js");
  const rows = () => device.array(f64, [4, 6]);
  const right = { a: rows(), b: rows(), c: rows(), d: rows() };
  const refused = (what: object, message: RegExp): void =>
    assert.throws(() => tridiagonal(device, { ...right, ...what } as never), { name: "LaunchError", message });
  refused(
    { a: device.array(f64, 4) },
    /tridiagonal: a is f64 \[4\], and d f64 \[4,6\] with systems along axis 1: give f64 \[4,6\], or \[6\] for all/,
  );
  refused({ b: device.array(f32, [4, 6]) }, /tridiagonal: b is f32 \[4,6\]/);
  refused({ x: device.array(f64, 6) }, /tridiagonal: x has the shape \[6\] and d \[4,6\]/);
  refused({ x: right.a }, /tridiagonal: x and a share memory/);
  refused({ axis: 2 }, /tridiagonal along axis 2 of rank 2: give 0 to 1/);
  refused({ method: "thomas" }, /tridiagonal has no method "thomas"/);
  refused({ pivot: true }, /tridiagonal has no option "pivot"/);
  const two = () => device.array(f64, 2);
  refused({ a: two(), b: two(), c: two(), d: two(), periodic: true }, /a periodic system of 2 unknowns/);
  await device.close();
});
