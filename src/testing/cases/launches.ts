import { backendNames, open } from "../../device/open.js";
import { range, teams } from "../../device/launch/policy.js";
import { BYTES, View } from "../../device/memory/view.js";
import { kernel, teamKernel } from "../../kernel/declare/kernel.js";
import { f32, f64, i32, scatter, sum, table, view } from "../../kernel/declare/params.js";
import { expectEqual, expectError, expectSame } from "../expect.js";
import { arrayOf, ofType } from "../real.js";
import { reals, type ConformanceCase } from "../case.js";
import { make } from "../values.js";

const step = ofType((real) =>
  kernel("step", { x: view(real), y: view(real), dt: real }, ({ x, y, dt }, i) => {
    y[i] = x[i] + dt;
  }),
);
const total = ofType((real) =>
  kernel("total", { x: view(real), s: sum(real) }, ({ x, s }, i) => {
    s.add(x[i]);
  }),
);
const shifted = ofType((real) =>
  kernel("shifted", { x: view(real), y: view(real) }, ({ x, y }, i) => {
    y[i] = x[i + 1];
  }),
);
const looked = ofType((real) =>
  kernel("looked", { n: i32, y: view(real), t: table(real, [1, 2, 3, 4]), Real: arrayOf(real) }, ({ n, y, t, Real }, i) => {
    const v = new Real(8);
    v[8 * n] = t[i + n];
    y[i] = v[0];
  }),
);
const league = teamKernel("league", { y: view(i32) }, ({ y }, team) => {
  team.single(() => {
    y[team.index] = 1;
  });
});
const bins = ofType((real) =>
  kernel("bins", { h: scatter(real) }, ({ h }, i) => {
    h.add(i % 7, 1);
  }),
);

export const launches: ConformanceCase[] = [
  ...reals(100, "a prepared launch runs as often as it is submitted, in order", async (device, real) => {
    const { queue } = device;
    const x = device.array(real, 500),
      y = device.array(real, 500);
    const there = device.prepare(step(real), { x, y, dt: 0.5 }, range(500)),
      back = device.prepare(step(real), { x: y, y: x, dt: 0.25 }, range(500));
    for (let n = 0; n < 40; n++) {
      queue.submit(there);
      queue.submit(back);
    }
    await queue.finish();
    expectSame(
      await queue.read(x),
      make(500, () => 30),
      "after 40 rounds",
    );
    there.free();
    back.free();
  }),

  ...reals(101, "events tell time and order between queues", async (device, real) => {
    const other = device.createQueue();
    const x = device.array(real, 10_000),
      y = device.array(real, 10_000),
      z = device.array(real, 10_000);
    const first = device.prepare(step(real), { x, y, dt: 1 }, range(10_000)),
      second = device.prepare(step(real), { x: y, y: z, dt: 1 }, range(10_000));
    const before = device.queue.record();
    device.queue.submit(first);
    const after = device.queue.record();
    other.wait(after);
    other.submit(second);
    const last = other.record();
    await last.done();
    expectSame(
      await other.read(z),
      make(10_000, () => 2),
      "the second queue's result",
    );
    const seconds = await after.since(before);
    if (!(seconds >= 0 && seconds < 10)) throw new Error(`a small kernel took ${seconds} s by the device's clock`);
  }),

  ...reals(102, "a launch says what it costs, how it is done, and shows its code", async (device, real) => {
    const x = device.from(
        real,
        make(1000, (k) => k),
      ),
      y = device.array(real, 1000);
    const launch = device.prepare(step(real), { x, y, dt: 1 }, range(1000));
    expectSame([launch.cost.flops, launch.cost.bytes], [1000, 2000 * BYTES[real.type]], "cost");
    if (!Array.isArray(launch.remarks)) throw new Error("remarks are not a list");
    if (launch.source().length < 20) throw new Error("there is no source");
    expectEqual(launch.precision, device.precision, "precision");
    const adding = device.prepare(total(real), { x }, range(1000), { precision: "fast" });
    device.queue.submit(adding);
    expectEqual((await device.queue.results(adding)).s, 499_500, "total");
    const scattering = device.prepare(bins(real), { h: device.array(real, 7) }, range(1000), { precision: "fast" });
    if (!scattering.remarks.some((line) => /atomic|duplicated|sorted/.test(line)))
      throw new Error("the scatter strategy is not among the remarks");
    [launch, adding, scattering].forEach((each) => each.free());
  }),

  ...reals(103, "work between kernels: copies, writes and clears are in order", async (device, real) => {
    const { queue } = device;
    const x = device.array(real, 100),
      y = device.array(real, 100);
    const launch = device.prepare(step(real), { x, y, dt: 2 }, range(100));
    queue.write(
      x,
      make(100, (k) => k),
    );
    queue.submit(launch);
    queue.copy(y, x);
    queue.submit(launch);
    queue.clear(x.slice([0, 50]));
    expectSame(
      await queue.read(y),
      make(100, (k) => k + 4),
      "y",
    );
    expectSame(
      await queue.read(x),
      make(100, (k) => (k < 50 ? 0 : k + 2)),
      "x",
    );
    launch.free();
  }),

  ...reals(104, "an argument of the wrong type, rank, extent or memory is refused", async (device, real) => {
    const x = device.array(real, 10),
      y = device.array(real, 10),
      other = device.array(real === f64 ? f32 : f64, 10),
      plane = device.array(real, [2, 5]);
    const run =
      (args: Record<string, unknown>, n = 10) =>
      () =>
        device.run(step(real), args as never, range(n));
    await expectError(run({ x, y: other, dt: 1 }), "LaunchError", new RegExp(`y is a view of ${real.type}.*${other.type}`));
    await expectError(run({ x: plane, y, dt: 1 }), "LaunchError", /x has rank 1.*\[2,5\]/);
    await expectError(run({ x, y }), "LaunchError", new RegExp(`dt is ${real.type}.*nothing`));
    await expectError(run({ x, y, dt: true }), "LaunchError", new RegExp(`dt is ${real.type}.*true`));
    await expectError(run({ x, y, dt: 1, z: x }), "LaunchError", /no parameter "z"/);
    await expectError(run({ x, y, dt: 1 }, 11), "LaunchError", /index 10.*extent 10/);
    await expectError(() => device.run(shifted(real), { x, y }, range(10)), "LaunchError", /x\[i \+ 1\].*index 10.*extent 10/);
    await expectError(() => device.run(looked(real), { n: 0, y }, range(5)), "LaunchError", /t\[i \+ n\].*index 4.*extent 4/);
    await expectError(() => device.run(looked(real), { n: 1, y }, range(3)), "LaunchError", /\[8 \* n\].*index 8.*extent 8/);
    await expectError(() => device.run(step(real), { x, y, dt: 1 }, teams(10) as never), "LaunchError", /range/);
    await expectError(() => device.run(step(real), { x, y, dt: 1 }, range(5, 5)), "LaunchError", /1 index.*2/);
    await expectError(() => device.run(league, { y: device.array(i32, 10) }, range(10) as never), "LaunchError", /teams/);
    const foreign = new View({ memory: { name: "elsewhere" }, bytes: 80, address: 0, free() {} }, real.type, [10], [1]);
    await expectError(run({ x: foreign, y, dt: 1 }), "LaunchError", /memory of elsewhere/);
    await expectError(
      () => device.run(shifted(real), { x: x.slice([0, 9]), y: x.slice([1, 10]) }, range(8)),
      "LaunchError",
      /share memory/,
    );
  }),

  ...reals(105, "arrays beyond the memory and values beyond the type are refused", async (device, real) => {
    await expectError(() => device.array(real, [2 ** 30, 2 ** 20]), "DeviceError", /GiB/);
    await expectError(() => device.array(real, -1), "LaunchError", /shape/);
    const small = device.array(real, 10);
    await expectError(() => device.queue.write(small, [1, 2, 3]), "LaunchError", /3 values/);
    await expectError(() => device.from(real, [1, 2, 3], 4), "LaunchError", /3 values/);
    const whole = device.from(i32, [1, 2]);
    await expectError(() => device.queue.write(whole, [3, 0.5]), "LaunchError", /value 1 is 0.5, which i32 cannot hold/);
    await expectError(() => device.queue.write(whole.slice([0, 1]), [2 ** 31]), "LaunchError", /value 0 is 2147483648/);
    await expectError(() => device.from(i32, [3, Number.NaN]), "LaunchError", /value 1 is NaN/);
    expectSame(await device.queue.read(whole), [1, 2], "what was refused is not written");
  }),

  ...reals(106, "a view whose memory was freed is refused, before and after a launch is prepared", async (device, real) => {
    const h = device.array(real, 7),
      s = device.array(real, 1),
      x = device.array(real, 10),
      window = x.slice([2, 10]);
    const prepared = [
      device.prepare(bins(real), { h }, range(10)),
      device.prepare(total(real), { x: device.array(real, 10), s }, range(10)),
      device.prepare(total(real), { x: window }, range(8)),
    ];
    [h, s, x].forEach((view) => view.free());
    for (const [n, name] of ["h", "s", "x"].entries()) {
      const message = new RegExp(`on ${device.name}: ${name} is a view whose memory was freed`);
      await expectError(() => device.queue.submit(prepared[n]), "LaunchError", message);
    }
    await expectError(() => device.prepare(bins(real), { h }, range(10)), "LaunchError", /h is a view whose memory was freed/);
    await expectError(() => device.prepare(total(real), { x: h, s }, range(7)), "LaunchError", /view whose memory was freed/);
    prepared.forEach((launch) => launch.free());
  }),

  ...reals(107, "a freed launch is refused, and freed once", async (device, real) => {
    const x = device.array(real, 10);
    const launch = device.prepare(total(real), { x }, range(10));
    device.queue.submit(launch);
    expectEqual((await device.queue.results(launch)).s, 0, "total");
    launch.free();
    launch.free();
    await expectError(() => device.queue.submit(launch), "LaunchError", /launch of kernel "total" was freed and cannot run again/);
    await expectError(() => device.queue.results(launch), "LaunchError", /kernel "total" that has not run on .*, or was freed/);
  }),

  ...reals(108, "another device's launch is refused", async (device, real) => {
    const other = await open("js-debug");
    try {
      const launch = other.prepare(total(real), { x: other.array(real, 10) }, range(10));
      await expectError(() => device.queue.submit(launch), "LaunchError", /kernel "total" that another device prepared/);
      other.queue.submit(launch);
      await expectError(() => device.queue.results(launch), "LaunchError", /kernel "total" that has not run on/);
    } finally {
      await other.close();
    }
  }),

  ...reals(109, "a closed device takes no more work", async (device, real) => {
    // A device of a backend that is not the library's cannot be opened a second time from here.
    if (!backendNames().includes(device.backend)) return;
    const other = await open(device.name, device.capabilities.f64Bits === undefined ? {} : { f64: "emulate" });
    const { queue } = other;
    const x = other.array(real, 10),
      y = other.array(real, 10);
    const launch = other.prepare(total(real), { x }, range(10));
    queue.submit(launch);
    const event = queue.record();
    await queue.finish();
    await other.close();
    const calls: (() => unknown)[] = [
      () => queue.write(x, new Float64Array(10)),
      () => queue.read(x),
      () => queue.copy(x, y),
      () => queue.clear(x),
      () => queue.submit(launch),
      () => queue.results(launch),
      () => queue.capture(() => {}),
      () => queue.record(),
      () => queue.wait(event),
      () => queue.finish(),
      () => other.createQueue(),
      () => other.array(real, 10),
      () => other.from(real, [1, 2]),
      () => other.prepare(total(real), { x }, range(10)),
      () => other.run(total(real), { x }, range(10)),
    ];
    for (const call of calls)
      await expectError(call, "DeviceError", new RegExp(`^device "${other.name}": it is closed \\(open it again\\)$`));
    const reached = device.from(real, [1, 2]);
    await expectError(() => queue.read(reached), "DeviceError", /it is closed/);
    await expectError(() => queue.write(reached, [3, 4]), "DeviceError", /it is closed/);
    expectSame(await device.queue.read(reached), [1, 2], "a view of the device that is still open");
  }),
];
