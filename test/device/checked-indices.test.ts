import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  f32,
  f64,
  i32,
  kernel,
  LaunchError,
  KernelError,
  open,
  range,
  scatter,
  sum,
  table,
  teamKernel,
  teams,
  u8,
  view,
  type Device,
  type Graph,
  type Kernel,
  type Launch,
  type LaunchOptions,
  type Policy,
  type View,
} from "../../src/index.js";
import { backend as native } from "../../src/device/native/native.js";
import { tested } from "../devices.js";

const N = 6000;
const FAR = [2_000_000_000, -2_000_000_000];

const gather = kernel("gather", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  y[i] = x[at[i]];
});
const gatherSum = kernel("gatherSum", { x: view(f64), at: view(i32), s: sum(f64) }, ({ x, at, s }, i) => s.add(x[at[i]]));
const put = kernel("put", { x: view(f64), at: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ x, at, y }, i) => {
  y[at[i]] = x[i];
});
const add = kernel("add", { x: view(f64), at: view(i32), y: scatter(f64) }, ({ x, at, y }, i) => y.add(at[i], x[i]));
const nested = kernel("nested", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  y[i] = x[at[i] + 1] - x[at[at[i]]] * x[at[i] - 1];
});
const chosen = kernel("chosen", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  const k = at[i];
  y[i] = k >= 0 && k < x.length && x[at[k]] > 1 ? x[at[k + 1]] : x[k & 1023] + x[(k >>> 1) % 7];
});
const ordered = kernel("ordered", { x: view(f64), at: view(i32), y: view(f64, 2, { disjoint: true }) }, ({ x, at, y }, i) => {
  y[at[i]][at[i] * 2] = x[at[i] * 3];
});
const plane = kernel("plane", { x: view(f64, 2), at: view(i32), y: view(f64, 2) }, ({ x, at, y }, i, j) => {
  y[i][j] = x[at[i]][at[j]];
});
const box = kernel("box", { x: view(f32, 4), at: view(i32), y: view(f64, 3) }, ({ x, at, y }, i, j, k) => {
  y[i][j][k] = x[at[i]][j][at[k]][i & 1];
});
const bytes = kernel("bytes", { x: view(u8), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  y[i] = x[at[i]];
});
const weights = table(f64, [
  [1, 2, 3],
  [4, 5, 6],
]);
const weighed = kernel("weighed", { at: view(i32), weights, y: view(f64) }, ({ at, weights, y }, i) => {
  y[i] = weights[at[i] & 1][at[i]];
});
const privates = kernel("privates", { at: view(i32), y: view(f64) }, ({ at, y }, i) => {
  const a = new Float64Array(8);
  for (let k = 0; k < 4; k++) a[at[i] - k] = k;
  y[i] = a[at[i]] + a[3];
});
const chain = kernel("chain", { next: view(i32), y: view(f64) }, ({ next, y }, i) => {
  let k = i;
  let steps = 0;
  while (next[k] !== k) {
    k = next[k];
    steps++;
  }
  y[i] = steps;
});
const loop = kernel("loop", { start: view(i32), x: view(f64), y: view(f64) }, ({ start, x, y }, i) => {
  let total = 0;
  for (let k = start[i]; k < start[i + 1]; k++) total += x[k];
  y[i] = total;
});
const rows = teamKernel("rows", { start: view(i32), column: view(i32), x: view(f64), y: view(f64) }, ({ start, column, x, y }, team) => {
  const first = start[team.index];
  y[team.index] = team.sum(start[team.index + 1] - first, (j) => x[column[first + j]]);
});
const scratch = teamKernel("scratched", { at: view(i32), y: view(f64) }, ({ at, y }, team) => {
  const t = team.scratch("f64", 16);
  team.range(16, (j) => {
    t[j] = j;
  });
  y[team.index] = team.sum(4, (j) => t[at[team.index] + j]);
});
const level1 = teamKernel("level1", { n: i32, at: view(i32), y: view(f64) }, ({ n, at, y }, team) => {
  const t = team.scratch("f64", n, { level: 1 });
  team.range(n, (j) => {
    t[j] = j;
  });
  y[team.index] = team.sum(4, (j) => t[at[team.index] + j]);
});

interface Case {
  readonly kernel: Kernel<never, never>;
  readonly policy: Policy;
  args(device: Device): Record<string, unknown>;
  /** Of js-debug: it stops at the first index, and names scratch in a way of its own. */
  readonly alike?: boolean;
}

const inside = (length: number) => Int32Array.from({ length }, (_, n) => 1 + ((n * 7919) % (length - 2)));
const values = (length: number) => Float64Array.from({ length }, (_, n) => n + 0.5);
/** With indices outside at some elements. */
const broken = (length: number, at: Readonly<Record<number, number>>) => {
  const list = inside(length);
  for (const [n, index] of Object.entries(at)) list[Number(n)] = index;
  return list;
};

function listed(kernel: unknown, policy: Policy, args: Case["args"], alike = true): Case {
  return { kernel: kernel as Case["kernel"], policy, args, alike };
}

const lines = (kernel: unknown, at: Readonly<Record<number, number>>): Case =>
  listed(kernel, range(N), (d) => ({ x: d.from(f64, values(N)), at: d.from(i32, broken(N, at)), y: d.array(f64, N) }));

const CASES: Readonly<Record<string, Case>> = {
  "a gather": lines(gather, { 4000: N, 5000: 0 }),
  "several elements": lines(gather, { 5900: -1, 3100: N + 5, 200: -7, 3000: 3 * N }),
  "the last element": lines(gather, { [N - 1]: -1 }),
  "far above and below": lines(gather, { 5: FAR[1], 5999: FAR[0] }),
  "part of a range": listed(gather, range([100, 200]), (d) => ({
    x: d.from(f64, values(N)),
    at: d.from(i32, broken(N, { 3: -4, 150: FAR[0] })),
    y: d.array(f64, N),
  })),
  "a store": lines(put, { 17: N }),
  "a scatter": listed(add, range(N), (d) => ({ x: d.from(f64, values(N)), at: d.from(i32, broken(N, { 4321: -3 })), y: d.array(f64, N) })),
  "a reduction": listed(gatherSum, range(N), (d) => ({ x: d.from(f64, values(N)), at: d.from(i32, broken(N, { 777: N })) })),
  "nested gathers, the middle one": lines(nested, { 3000: N - 1 }),
  "nested gathers, the last": lines(nested, { 3000: 0 }),
  "behind conditions": lines(chosen, { 10: N - 1, 2000: -5, [inside(N)[1]]: FAR[0] }),
  "indices, value, then store": listed(ordered, range(50), (d) => ({
    x: d.from(f64, values(100)),
    at: d.from(
      i32,
      Array.from({ length: 50 }, (_, n) => n),
    ),
    y: d.array(f64, [40, 70]),
  })),
  "two axes": listed(plane, range(70, 80), (d) => ({
    x: d.from(f64, values(80 * 80), [80, 80]),
    at: d.from(i32, broken(80, { 61: 80 })),
    y: d.array(f64, [70, 80]),
  })),
  "three axes of four": listed(box, range(20, 3, 30), (d) => ({
    x: d.array(f32, [30, 3, 20, 2]),
    at: d.from(i32, broken(30, { 7: 25 })),
    y: d.array(f64, [20, 3, 30]),
  })),
  "a view by columns": listed(plane, range(30, 80), (d) => ({
    x: d.array(f64, [80, 80], { layout: "left" }),
    at: d.from(i32, broken(80, { 31: 80, 29: -1 })),
    y: d.array(f64, [30, 80]),
  })),
  "a view without elements": listed(gather, range(5), (d) => ({ x: d.array(f64, 0), at: d.array(i32, 5), y: d.array(f64, 5) })),
  bytes: listed(bytes, range(64), (d) => ({ x: d.array(u8, 64), at: d.from(i32, broken(64, { 9: 64 })), y: d.array(f64, 64) })),
  "a table": listed(weighed, range(40), (d) => ({
    at: d.from(
      i32,
      Array.from({ length: 40 }, (_, n) => (n === 31 ? 3 : n % 3)),
    ),
    y: d.array(f64, 40),
  })),
  "a private array": listed(
    privates,
    range(40),
    (d) => ({
      at: d.from(
        i32,
        Array.from({ length: 40 }, (_, n) => (n === 31 ? 2 : 4)),
      ),
      y: d.array(f64, 40),
    }),
    false,
  ),
  "a loop that would not end": listed(chain, range(100), (d) => ({
    next: d.from(
      i32,
      Array.from({ length: 100 }, (_, n) => (n === 40 ? -1 : Math.max(0, n - 1))),
    ),
    y: d.array(f64, 100),
  })),
  "a loop whose end was read": listed(loop, range(20), (d) => ({
    start: d.from(
      i32,
      Array.from({ length: 21 }, (_, n) => (n === 15 ? 5000 : 10 * n)),
    ),
    x: d.from(f64, values(200)),
    y: d.array(f64, 20),
  })),
  "a team's row": listed(rows, teams(20), (d) => ({
    start: d.from(
      i32,
      Array.from({ length: 21 }, (_, n) => 5 * n),
    ),
    column: d.from(i32, broken(100, { 62: 100, 33: -1 })),
    x: d.from(f64, values(100)),
    y: d.array(f64, 20),
  })),
  scratch: listed(
    scratch,
    teams(12),
    (d) => ({
      at: d.from(
        i32,
        Array.from({ length: 12 }, (_, n) => (n === 7 ? 14 : n)),
      ),
      y: d.array(f64, 12),
    }),
    false,
  ),
  "scratch of level 1": listed(
    level1,
    teams(12),
    (d) => ({
      n: 16,
      at: d.from(
        i32,
        Array.from({ length: 12 }, (_, n) => (n === 7 ? 14 : n)),
      ),
      y: d.array(f64, 12),
    }),
    false,
  ),
};

type Any = { prepare(kernel: unknown, args: unknown, policy: Policy, options?: LaunchOptions): Launch };

function prepare(device: Device, { kernel, args, policy }: Case, options: LaunchOptions = {}): Launch {
  return (device as unknown as Any).prepare(kernel, args(device), policy, options);
}

/** The message of the error that a launch ends with, without the device's name. */
function failure(device: Device, found: Case, options: LaunchOptions = { precision: "strict" }): string {
  const launch = prepare(device, found, options);
  try {
    device.queue.submit(launch);
  } catch (error) {
    assert.ok(error instanceof KernelError, String(error));
    return error.message.replace(`, on ${device.name}`, "");
  } finally {
    launch.free();
  }
  assert.fail(`no index was outside on ${device.name}`);
}

/** What js-debug and the others both say. */
const core = (message: string): string | undefined =>
  /index -?\d+ is outside axis \d of "\w+", which has extent \d+ \((?:element \[[\d, ]*\]|team \d+)/.exec(message)?.[0];

const missing = (await native.probe()).missing?.reason;
const devices: Device[] = [];
let debug: Device;
before(async () => {
  for (const name of ["js", "wasm", ...(missing ? [] : ["native"])].filter(tested)) devices.push(await open(name));
  debug = await open("js-debug");
});
after(async () => {
  for (const device of [...devices, debug]) await device.close();
});

describe("an index outside ends a strict launch with one error on all devices", () => {
  for (const [name, found] of Object.entries(CASES))
    test(name, () => {
      const messages = new Set(devices.map((device) => failure(device, found)));
      assert.equal(messages.size, 1, [...messages].join("\n"));
      const [message] = messages;
      if (found.alike) {
        let seen = "";
        try {
          debug.queue.submit(prepare(debug, found));
        } catch (error) {
          seen = (error as Error).message;
        }
        assert.equal(core(message), core(seen), `${message}\n${seen}`);
      }
    });
});

describe("what an index outside leaves", () => {
  /** Arrays side by side in one allocation: the middle one is the kernel's. */
  const guarded = (device: Device) => {
    const whole = device.from(f64, new Float64Array(3 * N).fill(7));
    return { whole, middle: whole.slice([N, 2 * N]) as View<"f64", 1> };
  };
  const each = (name: string, check: (device: Device) => Promise<void>) =>
    test(name, async () => {
      for (const device of devices) await check(device);
    });
  const checked = { checked: true } as const;
  /** Submits and waits: long work is told to fail only then. */
  const done = async ({ queue }: Device, work: Launch | Graph): Promise<void> => {
    queue.submit(work);
    await queue.finish();
  };

  each("nothing written outside, and what is inside; the launch runs again once its data are mended", async (device) => {
    const { whole, middle } = guarded(device);
    const at = device.from(i32, broken(N, { 5: -1, 6: N, 7: 2 * N - 1, 8: FAR[0] }));
    const launch = device.prepare(put, { x: device.from(f64, values(N)), at, y: middle }, range(N), checked);
    for (let turn = 0; turn < 2; turn++)
      await assert.rejects(done(device, launch), /writes y\[at\[i\]\]: index -1 is outside .*element \[5\]/);
    const after = await device.queue.read(whole);
    assert.ok(
      after.every((value, n) => (n >= N && n < 2 * N) || value === 7),
      device.name,
    );
    device.queue.write(at, inside(N));
    device.queue.submit(launch);
    launch.free();
  });

  each("no result of a reduction", async (device) => {
    const at = device.from(i32, broken(N, { 5: -1 }));
    const launch = device.prepare(gatherSum, { x: device.from(f64, values(N)), at }, range(N), checked);
    await assert.rejects(done(device, launch), KernelError);
    await assert.rejects(async () => device.queue.results(launch), LaunchError);
    launch.free();
    await assert.rejects(device.run(gatherSum, { x: device.from(f64, values(N)), at }, range(N), checked), KernelError);
  });

  each("the first failure of a graph, told when all of it has run; and none the next time", async (device) => {
    const at = device.from(i32, broken(N, { 50: N }));
    const good = device.from(i32, inside(N));
    const [x, y, z] = [device.from(f64, values(N)), device.array(f64, N), device.array(f64, N)];
    const launches = [
      device.prepare(gather, { x, at: good, y }, range(N), checked),
      device.prepare(gather, { x: y, at, y: z }, range(N), checked),
      device.prepare(gatherSum, { x: z, at }, range(N), checked),
    ];
    const graph = device.queue.capture(() => launches.forEach((launch) => device.queue.submit(launch)));
    await assert.rejects(done(device, graph), /kernel "gather".*element \[50\]/);
    await assert.rejects(async () => device.queue.results(launches[2]), LaunchError);
    device.queue.write(at, inside(N));
    device.queue.submit(graph);
    assert.ok((await device.queue.results(launches[2])).s > 0);
    graph.free();
    for (const launch of launches) launch.free();
  });

  each("and where nothing is outside, the same bits as without checks", async (device) => {
    for (const [name, { kernel, policy, args, outputs }] of Object.entries({
      nested: { kernel: nested, policy: range([100, 5000]), args: { x: values(2 * N), at: inside(N) }, outputs: ["y"] },
      chosen: { kernel: chosen, policy: range(N), args: { x: values(N), at: inside(N) }, outputs: ["y"] },
      add: { kernel: add, policy: range(N), args: { x: values(N), at: inside(N) }, outputs: ["y"] },
    })) {
      const bits: string[] = [];
      for (const options of [checked, { checked: false }]) {
        const given = { x: device.from(f64, args.x), at: device.from(i32, args.at), y: device.array(f64, 2 * N) };
        const launch = (device as unknown as Any).prepare(kernel, given, policy, { precision: "strict", ...options });
        assert.equal(
          launch.remarks.some((line) => /^checked: \d+ of \d+ accesses$/.test(line)),
          options.checked,
          launch.remarks.join("\n"),
        );
        device.queue.submit(launch);
        bits.push(String(await device.queue.read(given[outputs[0] as "y"])));
        launch.free();
      }
      assert.equal(bits[0], bits[1], `${name} on ${device.name}`);
    }
  });
});

const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

test("no index is checked that is known to be inside", () => {
  for (const device of devices) {
    const launch = device.prepare(axpy, { a: 1, x: device.array(f64, N), y: device.array(f64, N) }, range(N), { precision: "strict" });
    assert.ok(!launch.remarks.some((line) => line.startsWith("checked:")), launch.remarks.join("\n"));
    launch.free();
  }
});

test("in fast mode none is, unless the device or the environment asks for it", async () => {
  const remarks = (device: Device) => {
    const launch = device.prepare(gather, { x: device.array(f64, 4), at: device.array(i32, 4), y: device.array(f64, 4) }, range(4));
    const found = launch.remarks.filter((line) => line.startsWith("checked:"));
    launch.free();
    return found;
  };
  const opened = async (options?: { checked: boolean }) => {
    const device = await open("js", options);
    const found = remarks(device);
    await device.close();
    return found;
  };
  assert.deepEqual(await opened(), []);
  assert.deepEqual(await opened({ checked: true }), ["checked: 1 of 3 accesses"]);
  process.env.ISOFORM_CHECKED = "1";
  try {
    assert.deepEqual(await opened(), ["checked: 1 of 3 accesses"]);
    assert.deepEqual(await opened({ checked: false }), []);
  } finally {
    delete process.env.ISOFORM_CHECKED;
  }
});
