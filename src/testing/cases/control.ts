import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f64, fixed, i32, u32, view } from "../../kernel/declare/params.js";
import { expectOutput } from "../expect.js";
import { ofType, type Rounding } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const branches = ofType((real) =>
  kernel("branches", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    let v = x[i];
    if (v > 0.75) {
      v = v * 2;
      if (i % 3 === 0) v = v + 1;
    } else if (v > 0.5) {
      v = -v;
    } else {
      y[i] = 7;
      v = y[i] + v;
    }
    y[i] = v;
  }),
);
const conditionalStore = ofType((real) =>
  kernel("conditionalStore", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    if (x[i] > 0.5) y[i] = x[i];
  }),
);
const readBack = ofType((real) =>
  kernel("readBack", { x: view(real), p: view(real), y: view(real) }, ({ x, p, y }, i) => {
    if (x[i] > 0) y[i] = 2 * x[i];
    y[i] = x[i] < 0.5 ? y[i] : p[3];
  }),
);
const sums = ofType((real) =>
  kernel("sums", { x: view(real, 2), y: view(real, 2), n: i32 }, ({ x, y, n }, i) => {
    let all = 0;
    for (let k = 0; k < 5; k++) all += x[k][i];
    y[0][i] = all;
    let some = 0;
    for (let k = 1; k < n; k += 2) some += x[k][i];
    y[1][i] = some;
    let back = 0;
    for (let k = n - 1; k >= 0; k--) back = back * 0.5 + x[k][i];
    y[2][i] = back;
    let triangle = 0;
    for (let k = 0; k < n; k++) for (let l = 0; l <= k; l++) triangle += x[l][i] * k;
    y[3][i] = triangle;
  }),
);
const collatz = kernel("collatz", { o: view(i32) }, ({ o }, i) => {
  let n = (i + 1) >>> 0;
  let steps = 0;
  while (n !== 1) {
    n = n % 2 === 0 ? n >>> 1 : (3 * n + 1) >>> 0;
    steps++;
  }
  o[i] = steps;
});
const jumps = ofType((real) =>
  kernel("jumps", { x: view(real), o: view(i32, 2) }, ({ x, o }, i) => {
    let found = -1;
    for (let k = 0; k < 20; k++) {
      if (x[(i + k) % x.length] > 0.9) {
        found = k;
        break;
      }
    }
    o[0][i] = found;
    let odd = 0;
    for (let k = 0; k < 20; k++) {
      if (x[(i + k) % x.length] < 0.5) continue;
      odd += k;
    }
    o[1][i] = odd;
    let pairs = 0;
    for (let k = 0; k < 6; k++) {
      for (let l = 0; l < 6; l++) {
        if (l === k) continue;
        if (x[(i + k) % x.length] < x[(i + l) % x.length]) break;
        pairs += 10;
      }
      if (pairs > 90) break;
      pairs++;
    }
    o[2][i] = pairs;
    let turns = 0;
    let left = i % 7;
    do {
      turns += 2;
      left--;
      if (turns > 8) break;
    } while (left > 0);
    o[3][i] = turns;
    let at = 0;
    let skipped = 0;
    for (let k = i % 5; at < 9; k += 3) {
      at++;
      if (k % 2 === 0) continue;
      skipped += k;
    }
    o[4][i] = skipped;
  }),
);
const returns = ofType((real) =>
  kernel("returns", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    if (x[i] < 0.2) return;
    y[i] = 1;
    if (x[i] < 0.4) {
      y[i] = 2;
      return;
    }
    for (let k = 0; k < 10; k++) {
      y[i] = y[i] + 1;
      if (x[i] * 10 < k) return;
    }
    y[i] = -1;
  }),
);
const guarded = ofType((real) =>
  kernel("guarded", { x: view(real), at: view(i32), o: view(real) }, ({ x, at, o }, i) => {
    const k = at[i];
    const inside = k >= 0 && k < x.length && x[k] > 0.5;
    const outside = k < 0 || k >= x.length || x[k] <= 0.5;
    o[i] = (inside ? 1 : 0) + (outside ? 2 : 0) + (k >= 0 && k < x.length ? x[k] : 0);
  }),
);
const newton = ofType((real) =>
  kernel("newton", { x: view(real), y: view(real), steps: view(i32), tolerance: real }, ({ x, y, steps, tolerance }, i) => {
    let root = 1.0;
    let n = 0;
    while (Math.abs(root * root - x[i]) > tolerance * x[i] && n < 100) {
      root = 0.5 * (root + x[i] / root);
      n++;
    }
    y[i] = root;
    steps[i] = n;
  }),
);
const powers = ofType((real) =>
  kernel("powers", { x: view(real), y: view(real), order: fixed(i32) }, ({ x, y, order }, i) => {
    let p = 1.0;
    for (let k = 0; k < order; k++) p *= x[i];
    y[i] = p;
  }),
);
const bitCount = kernel("bitCount", { x: view(u32), o: view(i32) }, ({ x, o }, i) => {
  let v = x[i];
  let bits = 0;
  for (; v !== 0; v = v >>> 1) if ((v & 1) === 1) bits++;
  o[i] = bits;
});

const N = 1003;
const fractions = (r: Rounding): Float64Array => make(N, (k) => r(noiseValue(k)));

export const control: ConformanceCase[] = [
  ...reals(40, "branches", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      y = device.array(real, N);
    await expectOutput(
      device,
      branches(real),
      { x, y },
      range(N),
      y,
      make(N, (i) => {
        const v = xs[i];
        return v > 0.75 ? r(v * 2 + (i % 3 === 0 ? 1 : 0)) : v > 0.5 ? -v : r(7 + v);
      }),
    );
    const z = device.from(
      real,
      make(N, () => -3),
    );
    await expectOutput(
      device,
      conditionalStore(real),
      { x, y: z },
      range(N),
      z,
      make(N, (i) => (xs[i] > 0.5 ? xs[i] : -3)),
    );
  }),

  ...reals(41, "counted loops: constant, by a scalar, by steps, backwards, nested", async (device, real, r) => {
    for (const n of [1, 5, 8]) {
      const values = make(8 * N, (k) => r(noiseValue(k)));
      const x = device.from(real, values, [8, N]),
        y = device.array(real, [4, N]);
      const at = (k: number, i: number): number => values[k * N + i];
      const expected = make(4 * N, (q) => {
        const [row, i] = [Math.floor(q / N), q % N];
        let result = 0;
        if (row === 0) for (let k = 0; k < 5; k++) result = r(result + at(k, i));
        if (row === 1) for (let k = 1; k < n; k += 2) result = r(result + at(k, i));
        if (row === 2) for (let k = n - 1; k >= 0; k--) result = r(r(result * 0.5) + at(k, i));
        if (row === 3) for (let k = 0; k < n; k++) for (let l = 0; l <= k; l++) result = r(result + r(at(l, i) * k));
        return result;
      });
      await expectOutput(device, sums(real), { x, y, n }, range(N), y, expected);
    }
  }),

  ...reals(42, "loops that end at different times for different elements", async (device, real, r) => {
    const o = device.array(i32, N);
    await expectOutput(
      device,
      collatz,
      { o },
      range(N),
      o,
      make(N, (i) => {
        let steps = 0;
        for (let n = i + 1; n !== 1; n = n % 2 === 0 ? n / 2 : 3 * n + 1) steps++;
        return steps;
      }),
    );
    const x = device.from(
        real,
        make(N, (i) => 1 + i),
      ),
      y = device.array(real, N),
      steps = device.array(i32, N);
    const tolerance = r(real === f64 ? 1e-12 : 1e-6);
    const roots = make(N, () => 0),
      counts = make(N, (i) => {
        let [root, n] = [1, 0];
        for (; Math.abs(r(r(root * root) - (1 + i))) > r(tolerance * (1 + i)) && n < 100; n++) root = r(0.5 * r(root + r((1 + i) / root)));
        roots[i] = root;
        return n;
      });
    const args = { x, y, steps, tolerance };
    await expectOutput(device, newton(real), args, range(N), steps, counts);
    await expectOutput(device, newton(real), args, range(N), y, roots);
    const words = make(N, (i) => Math.imul(i, 2654435761) >>> 0);
    const w = device.from(u32, words);
    await expectOutput(
      device,
      bitCount,
      { x: w, o },
      range(N),
      o,
      words.map((v) => v.toString(2).replaceAll("0", "").length),
    );
  }),

  ...reals(43, "break and continue, in loops inside loops", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      o = device.array(i32, [5, N]);
    const wrap = (i: number, k: number): number => xs[(i + k) % N];
    await expectOutput(
      device,
      jumps(real),
      { x, o },
      range(N),
      o,
      make(5 * N, (q) => {
        const [row, i] = [Math.floor(q / N), q % N];
        if (row === 0) return [...Array(20).keys()].find((k) => wrap(i, k) > r(0.9)) ?? -1;
        if (row === 1) return [...Array(20).keys()].filter((k) => !(wrap(i, k) < 0.5)).reduce((a, b) => a + b, 0);
        if (row === 2) {
          let pairs = 0;
          for (let k = 0; k < 6; k++) {
            for (let l = 0; l < 6; l++) {
              if (l === k) continue;
              if (wrap(i, k) < wrap(i, l)) break;
              pairs += 10;
            }
            if (pairs > 90) break;
            pairs++;
          }
          return pairs;
        }
        if (row === 3) return Math.min(10, 2 * Math.max(1, i % 7));
        let skipped = 0;
        for (let n = 0, k = i % 5; n < 9; n++, k += 3) if (k % 2 !== 0) skipped += k;
        return skipped;
      }),
    );
  }),

  ...reals(44, "early returns", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      y = device.from(
        real,
        make(N, () => 100),
      );
    await expectOutput(
      device,
      returns(real),
      { x, y },
      range(N),
      y,
      xs.map((v) => {
        if (v < r(0.2)) return 100;
        if (v < r(0.4)) return 2;
        for (let k = 0; k < 10; k++) if (r(v * 10) < k) return 2 + k;
        return -1;
      }),
    );
  }),

  ...reals(45, "a guard before an access keeps it from happening", async (device, real, r) => {
    const xs = fractions(r);
    const ats = make(N, (i) => Math.floor(noiseValue(i) * 3 * N) - N);
    const x = device.from(real, xs),
      at = device.from(i32, ats),
      o = device.array(real, N);
    await expectOutput(
      device,
      guarded(real),
      { x, at, o },
      range(N),
      o,
      ats.map((k) => {
        const valid = k >= 0 && k < N;
        return valid ? r((xs[k] > 0.5 ? 1 : 2) + xs[k]) : 2;
      }),
    );
  }),

  ...reals(46, "values compiled into the code", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      y = device.array(real, N);
    for (const order of [0, 1, 3, 12])
      await expectOutput(
        device,
        powers(real),
        { x, y, order },
        range(N),
        y,
        xs.map((v) => {
          let p = 1;
          for (let k = 0; k < order; k++) p = r(p * v);
          return p;
        }),
      );
  }),

  ...reals(47, "an element reads back what it wrote, or a constant of the same type", async (device, real, r) => {
    const xs = fractions(r);
    const x = device.from(real, xs),
      p = device.from(real, xs),
      y = device.from(
        real,
        make(N, () => -5),
      );
    await expectOutput(
      device,
      readBack(real),
      { x, p, y },
      range(N),
      y,
      make(N, (i) => (xs[i] < 0.5 ? (xs[i] > 0 ? 2 * xs[i] : -5) : xs[3])),
    );
  }),
];
