import type { Device } from "../../device/device.js";
import { range, teams } from "../../device/launch/policy.js";
import { print } from "../../kernel/declare/builtins.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { f32, i32, sum, u32, view } from "../../kernel/declare/params.js";
import { conformanceCase, type ConformanceCase } from "../case.js";
import { expectEqual } from "../expect.js";
import { make } from "../values.js";

const values = kernel(
  "values",
  { n: view(i32), u: view(u32), x: view(f32), s: sum(i32) },
  ({ n, u, x, s }, i) => {
    if (i % 2 === 0) print("cell", i, n[i], u[i], x[i] * 2, x[i] > 0, "100%", 0.5);
    for (let k = 0; k < i; k++) if (k > 3) print(k);
    s.add(n[i]);
  },
  () => [print],
);
const shared = teamKernel(
  "shared",
  { x: view(i32) },
  ({ x }, team) => {
    print("team", team.index);
    team.range(3, (j, lanes) => {
      print("member", team.index, j);
      lanes.range(2, (k) => print("lane", j, k));
    });
    team.range(2, (j) => print("alone", j));
    const total = team.sum(2, (j) => {
      print("part", j);
      return j;
    });
    team.single(() => print("single", total));
    x[team.index] = total;
  },
  () => [print],
);

/** The lines of what `run` submits, in an order that does not depend on the device. */
async function linesOf(device: Device, run: () => Promise<unknown>): Promise<string[]> {
  const { print } = device;
  const lines: string[] = [];
  device.print = (line) => lines.push(line);
  try {
    await run();
  } finally {
    device.print = print;
  }
  return lines.sort();
}

function expectLines(actual: readonly string[], expected: readonly string[]): void {
  expectEqual(actual.join("\n"), [...expected].sort().join("\n"), "lines");
}

export const printCases: ConformanceCase[] = [
  conformanceCase(150, "a kernel prints a line each time, with numbers as JavaScript prints them", async (device) => {
    const n = Int32Array.of(0, -1, 2147483647, -2147483648, 7, 1);
    const u = Uint32Array.of(0, 1, 4294967295, 3, 2147483648, 5);
    const x = Float32Array.of(-0, 1, 0.1, 1e30, -16777216, Infinity);
    const args = { n: device.from(i32, n), u: device.from(u32, u), x: device.from(f32, x) };
    const launch = device.prepare(values, args, range(6));
    const once = [0, 2, 4].map((i) => `cell ${i} ${n[i]} ${u[i]} ${i === 0 ? "-0" : Math.fround(2 * x[i])} ${x[i] > 0} 100% 0.5`);
    const { queue } = device;
    expectLines(
      await linesOf(device, async () => {
        queue.submit(launch);
        await queue.finish();
      }),
      [...once, "4"],
    );
    const graph = queue.capture(() => queue.submit(launch));
    expectLines(
      await linesOf(device, async () => {
        queue.submit(graph);
        queue.submit(graph);
        expectEqual((await queue.results(launch)).s, 6, "results");
      }),
      [...once, ...once, "4", "4"],
    );
    graph.free();
    expectLines(
      await linesOf(device, async () => {
        queue.submit(launch);
        launch.free();
        await queue.record().done();
      }),
      [...once, "4"],
    );
    expectLines(await linesOf(device, () => queue.finish()), []);
  }),

  conformanceCase(151, "teams print once, members and lanes each", async (device) => {
    const x = device.array(i32, 2);
    const of = (count: number, line: (n: number) => string): string[] => Array.from({ length: count }, (_, n) => line(n));
    expectLines(
      await linesOf(device, () => device.run(shared, { x }, teams(2))),
      [0, 1].flatMap((team) => [
        `team ${team}`,
        ...of(3, (j) => `member ${team} ${j}`),
        ...of(6, (n) => `lane ${Math.floor(n / 2)} ${n % 2}`),
        ...of(2, (j) => `alone ${j}`),
        ...of(2, (j) => `part ${j}`),
        "single 1",
      ]),
    );
  }),

  conformanceCase(152, "lines that a launch cannot keep are counted", async (device) => {
    const n = 50_000;
    const [zeros, x] = [make(n, () => 0), make(n, () => 1)];
    const args = { n: device.from(i32, zeros), u: device.from(u32, zeros), x: device.from(f32, x) };
    const lines = await linesOf(device, () => device.run(values, args, range([0, 4])));
    expectEqual(lines.length, 2, "lines of few elements");
    const many = await linesOf(device, () => device.run(flood, { x: args.x }, range(n)));
    const told = many.filter((line) => line.includes("are lost"));
    const kept = many.length - 1;
    expectEqual(told.length, 1, "lines about the loss");
    if (!told[0].includes(`printed ${n} lines; ${n - kept} of them are lost`)) throw new Error(told[0]);
    expectEqual(new Set(many).size, kept + 1, "different lines");
  }),
];

const flood = kernel(
  "flood",
  { x: view(f32) },
  ({ x }, i) => {
    print("element", i, x[i]);
  },
  () => [print],
);
