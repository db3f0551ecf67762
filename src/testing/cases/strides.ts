import { withGroupLimit } from "../../device/gpu/group-limit.js";
import { range, teams } from "../../device/launch/policy.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { i32, scatter, sum, view } from "../../kernel/declare/params.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { expectEqual, expectSame } from "../expect.js";
import { make } from "../values.js";

/*
 * Launches over more elements or teams than a grid has groups: each group takes several, one after the other, and nothing of one may be left for the
 * next. On GPUs a lower limit makes small launches do so; other devices run them as they are.
 */

/** Groups along an axis. */
const GROUPS = 2;
/** Places of the scatter target. */
const PLACES = 5;

/* Elements count in private arrays, which begin with zeros: `left` is what an element finds in its own, added to what it should. */

const line = kernel("line", { o: view(i32), s: sum(i32), h: scatter(i32) }, ({ o, s, h }, i) => {
  const own = new Int32Array(4);
  own[i & 3] = own[i & 3] + 1;
  const left = own[0] + own[1] + own[2] + own[3];
  o[i] = i + left;
  s.add(left);
  h.add(i % 5, left);
});
const plane = kernel("plane", { o: view(i32, 2), s: sum(i32) }, ({ o, s }, i, j) => {
  const own = new Int32Array(4);
  own[(i + j) & 3] = own[(i + j) & 3] + 1;
  const left = own[0] + own[1] + own[2] + own[3];
  o[i][j] = 1000 * i + j + left;
  s.add(left);
});
const box = kernel("box", { o: view(i32, 3) }, ({ o }, i, j, k) => {
  const own = new Int32Array(4);
  own[(i + j + k) & 3] = own[(i + j + k) & 3] + 1;
  o[i][j][k] = 1000 * (100 * i + j) + k + own[0] + own[1] + own[2] + own[3];
});
const boxes = kernel("boxes", { o: view(i32, 4) }, ({ o }, i, j, k, l) => {
  const own = new Int32Array(4);
  own[(i + j + k + l) & 3] = own[(i + j + k + l) & 3] + 1;
  o[i][j][k][l] = 1000 * (100 * (10 * i + j) + k) + l + own[0] + own[1] + own[2] + own[3];
});
const rows = teamKernel("rows", { n: i32, o: view(i32, 2), s: sum(i32) }, ({ n, o, s }, team) => {
  const held = team.scratch("i32", 40);
  team.range(40, (j) => {
    const own = new Int32Array(4);
    for (let r = 0; r < n; r++) own[(j + r) & 3] = own[(j + r) & 3] + 1;
    held[j] = team.index + own[0] + own[1] + own[2] + own[3];
  });
  const total = team.sum(40, (j) => {
    const own = new Int32Array(4);
    own[held[j] & 3] = own[held[j] & 3] + 1;
    return held[(j + 1) % 40] + own[0] + own[1] + own[2] + own[3];
  });
  team.range(40, (j) => {
    o[team.index][j] = held[39 - j];
  });
  s.add(total);
});

export const strides: readonly ConformanceCase[] = [
  conformanceCase(25, "ranges in strides, of every rank", (device) =>
    withGroupLimit(GROUPS, async () => {
      for (const precision of ["strict", "fast"] as const) {
        const n = 2500;
        const [o, h] = [device.array(i32, n), device.array(i32, PLACES)];
        const { s } = await device.run(line, { o, h }, range(n), { precision });
        expectSame(
          await device.queue.read(o),
          make(n, (i) => i + 1),
          "elements of a line",
        );
        expectSame(
          await device.queue.read(h),
          make(PLACES, () => n / PLACES),
          "places that a line scatters to",
        );
        expectEqual(s, n, "sum over a line");
        for (const [of, shape] of [
          [plane, [37, 200]],
          [box, [7, 11, 150]],
          [boxes, [3, 4, 10, 140]],
        ] as const) {
          const size = shape.reduce<number>((a, b) => a * b, 1);
          const out = device.array(i32, [...shape]);
          const sums = await device.run(of as typeof plane, { o: out } as never, range(...shape), { precision });
          const place = (q: number): number => {
            const along = shape.map((extent, axis) => Math.floor(q / shape.slice(axis + 1).reduce<number>((a, b) => a * b, 1)) % extent);
            const weights = [1, 1000, 100_000, 1_000_000].slice(0, shape.length).reverse();
            return along.reduce((sum, index, axis) => sum + index * weights[axis], 1);
          };
          expectSame(await device.queue.read(out), make(size, place), `elements of rank ${shape.length}`);
          if (of === plane) expectEqual(sums.s, size, "sum over a plane");
        }
      }
    }),
  ),

  conformanceCase(92, "teams in strides", (device) =>
    withGroupLimit(GROUPS, async () => {
      for (const precision of ["strict", "fast"] as const) {
        const [league, turns] = [11, 6];
        const o = device.array(i32, [league, 40]);
        const { s } = await device.run(rows, { n: turns, o }, teams(league), { precision });
        expectSame(
          await device.queue.read(o),
          make(league * 40, (q) => Math.floor(q / 40) + turns),
          "what members left",
        );
        expectEqual(s, 40 * ((league * (league - 1)) / 2 + league * (turns + 1)), "sum over all teams");
      }
    }),
  ),
];
