import type { Launch } from "../../device/device.js";
import { open } from "../../device/open.js";
import { range } from "../../device/launch/policy.js";
import { kernel } from "../../kernel/declare/kernel.js";
import { f32, max, scatter, sum, view } from "../../kernel/declare/params.js";
import { expectEqual, expectError, expectSame } from "../expect.js";
import { ofType } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make, noiseValue } from "../values.js";

const step = ofType((real) =>
  kernel("step", { x: view(real), y: view(real), dt: real }, ({ x, y, dt }, i) => {
    y[i] = x[i] + dt;
  }),
);
const total = ofType((real) =>
  kernel("total", { x: view(real), s: sum(real), m: max(real) }, ({ x, s, m }, i) => {
    s.add(x[i]);
    m.max(x[i]);
  }),
);
const divide = ofType((real) =>
  kernel("divide", { x: view(real), s: view(real) }, ({ x, s }, i) => {
    x[i] = x[i] / s[0];
  }),
);
const bins = ofType((real) =>
  kernel("bins", { h: scatter(real), x: view(real) }, ({ h, x }, i) => {
    h.add(i % 7, x[i]);
  }),
);

/** Small enough for one worker, and large enough for all. */
const SIZES = [50, 20_000];

export const graphs: ConformanceCase[] = [
  ...reals(120, "captured launches, copies and clears do what they would do one by one, as often as wanted", async (device, real) => {
    for (const n of SIZES) {
      const { queue } = device;
      const [x, y] = [1, 2].map(() => device.array(real, n));
      const table = device.array(real, [n, 3]);
      const there = device.prepare(step(real), { x, y, dt: 0.5 }, range(n)),
        back = device.prepare(step(real), { x: y, y: x, dt: 0.25 }, range(n));
      const graph = queue.capture(() => {
        for (const launch of [there, back, there]) queue.submit(launch);
        queue.copy(y, table.at(1, 1));
        queue.copy(y, x);
        queue.clear(y.slice([0, n / 2]));
      });
      if (graph.remarks.length === 0) throw new Error("a graph says nothing of what it became");
      expectSame(await queue.read(x), new Float64Array(n), "nothing runs during a capture");
      for (let round = 0; round < 3; round++) queue.submit(graph);
      queue.submit(back);
      queue.submit(graph);
      const last = 1.25 + 0.25;
      expectSame(
        await queue.read(x),
        make(n, (k) => (k < n / 2 ? last : 3.75 + last)),
        `x of ${n}`,
      );
      expectSame(
        await queue.read(y),
        make(n, (k) => (k < n / 2 ? 0 : 3.75 + last)),
        `y of ${n}`,
      );
      expectSame(await queue.read(table.at(1, 1)), await queue.read(x), "the strided copy");
      expectSame(await queue.read(table.at(1, 0)), new Float64Array(n), "its neighbour");
      [graph, there, back].forEach((each) => each.free());
    }
  }),

  ...reals(
    121,
    "results of a captured reduction feed later launches of the graph, and are returned afterwards",
    async (device, real, r) => {
      for (const precision of ["strict", "fast"] as const)
        for (const n of SIZES) {
          const { queue } = device;
          const xs = make(n, (k) => 1 + Math.floor(noiseValue(k) * 8));
          const x = device.from(real, xs),
            s = device.array(real, 1);
          const add = device.prepare(total(real), { x, s }, range(n), { precision }),
            scale = device.prepare(divide(real), { x, s }, range(n), { precision });
          const graph = queue.capture(() => {
            queue.submit(add);
            queue.submit(scale);
            queue.submit(add);
          });
          queue.submit(graph);
          const exact = xs.reduce((a, b) => a + b);
          const quotients = [...(await queue.read(x))];
          // Quotients of fast mode may be some units in the last place off.
          if (precision === "strict")
            expectSame(
              quotients,
              xs.map((v) => r(v / exact)),
              `${n} numbers over their sum`,
            );
          else
            expectSame(
              quotients.map((v) => Math.round(v * exact)),
              xs,
              `${n} numbers over their sum, and times it`,
            );
          const results = await queue.results(add);
          expectEqual(results.m, Math.max(...quotients), "the greatest after the graph");
          expectEqual((await queue.read(s))[0], results.s, "the sum after the graph");
          if (!(Math.abs(results.s - 1) < (real === f32 ? 1e-4 : 1e-12))) throw new Error(`numbers over their sum add up to ${results.s}`);
          expectEqual(Object.keys(await queue.results(scale)).length, 0, "results of a launch without any");
          [graph, add, scale].forEach((each) => each.free());
        }
    },
  ),

  ...reals(122, "captured scatter, by every strategy", async (device, real) => {
    const n = 20_000;
    const x = device.from(
      real,
      make(n, (k) => k % 5),
    );
    const expected = Array<number>(7).fill(0);
    for (let k = 0; k < n; k++) expected[k % 7] += 2 * (k % 5);
    for (const strategy of ["sorted", "duplicated", "cached", "atomic"] as const) {
      const h = device.array(real, 7);
      const launch = device.prepare(bins(real), { h, x }, range(n), { scatter: strategy });
      const graph = device.queue.capture(() => {
        for (let round = 0; round < 2; round++) device.queue.submit(launch);
      });
      for (let round = 0; round < 2; round++) {
        device.queue.clear(h);
        device.queue.submit(graph);
      }
      expectSame(await device.queue.read(h), expected, strategy);
      graph.free();
      launch.free();
    }
  }),

  ...reals(123, "several queues, ordered by events, in one graph", async (device, real) => {
    const n = 10_000;
    const { queue } = device;
    const [second, third] = [device.createQueue(), device.createQueue()];
    const [a, b, c, d] = [1, 2, 3, 4].map(() => device.array(real, n));
    const launches = [
      device.prepare(step(real), { x: a, y: b, dt: 1 }, range(n)),
      device.prepare(step(real), { x: a, y: c, dt: 2 }, range(n)),
      device.prepare(step(real), { x: b, y: d, dt: 4 }, range(n)),
      device.prepare(step(real), { x: d, y: a, dt: 8 }, range(n)),
    ];
    const graph = queue.capture(() => {
      queue.submit(launches[0]);
      second.submit(launches[1]);
      third.wait(queue.record());
      third.submit(launches[2]);
      second.wait(third.record());
      second.submit(launches[3]);
    }, [second, third]);
    for (let round = 0; round < 5; round++) queue.submit(graph);
    expectSame(await queue.read(a), new Float64Array(n).fill(65), "after five rounds");
    expectSame(await queue.read(c), new Float64Array(n).fill(54), "the branch");
    [graph, ...launches].forEach((each) => each.free());
  }),

  ...reals(124, "what cannot be captured is refused, and the queue is as before", async (device, real) => {
    const { queue } = device;
    const x = device.array(real, 100),
      y = device.array(real, 100);
    const launch = device.prepare(step(real), { x, y, dt: 1 }, range(100));
    const refused = (record: () => unknown, message: RegExp): Promise<void> =>
      expectError(() => queue.capture(() => void record()), "LaunchError", message);
    await refused(() => queue.write(x, new Float64Array(100)), /a write on .* cannot be captured/);
    await refused(() => queue.copy(x, y.slice([0, 50])), /shapes and types must be equal/);
    await refused(() => queue.capture(() => {}), /capture inside a capture/);
    await refused(() => {
      queue.submit(launch);
      throw new LaunchFailure("given up");
    }, /given up/);
    const graph = queue.capture(() => queue.submit(launch));
    await refused(() => queue.submit(graph), /a graph cannot be captured into another/);
    queue.submit(graph);
    expectSame(await queue.read(y), new Float64Array(100).fill(1), "after refused captures");
    graph.free();
  }),

  ...reals(125, "a graph is refused once it, a launch of it, or the memory of a view was freed", async (device, real) => {
    const { queue } = device;
    const refused = (graph: ReturnType<typeof queue.capture>, message: RegExp): Promise<void> =>
      expectError(() => queue.submit(graph), "LaunchError", message);
    const [x, y, z] = [1, 2, 3].map(() => device.array(real, 100));
    const launch = device.prepare(step(real), { x, y, dt: 1 }, range(100));
    const one = queue.capture(() => queue.submit(launch));
    const copies = queue.capture(() => queue.copy(y, z));
    queue.submit(copies);
    z.free();
    await refused(copies, /a view whose memory was freed/);
    queue.submit(one);
    x.free();
    await refused(one, /x is a view whose memory was freed/);
    launch.free();
    await refused(one, /launch of kernel "step" was freed and cannot run again/);
    one.free();
    one.free();
    await refused(one, /a graph was freed and cannot run again/);
    copies.free();
  }),

  ...reals(126, "launches and queues of another device are refused in a capture", async (device, real) => {
    const other = await open("js-debug");
    try {
      const x = other.array(real, 10);
      const launch: Launch = other.prepare(total(real), { x }, range(10));
      await expectError(
        () => device.queue.capture(() => device.queue.submit(launch)),
        "LaunchError",
        /kernel "total" that another device prepared/,
      );
      const graph = other.queue.capture(() => other.queue.submit(launch));
      other.queue.submit(graph);
      expectEqual((await other.queue.results(launch)).s, 0, "the other device's graph");
    } finally {
      await other.close();
    }
  }),
];

class LaunchFailure extends Error {
  override name = "LaunchError";
}
