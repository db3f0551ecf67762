import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bind } from "../../../src/device/launch/bind.js";
import { bool, f32, f64, fixed, i32, kernel, open, range, scatter, sum, teamKernel, teams, view, type Device } from "../../../src/index.js";
import { backend as native } from "../../../src/device/native/native.js";
import { tested } from "../../devices.js";

const shifted = kernel(
  "shifted",
  { a: f64, b: f32, by: i32, on: bool, twice: fixed(i32), x: view(f64), y: view(f64), s: sum(f64) },
  ({ a, b, by, on, twice, x, y, s }, i) => {
    const value = x[i + by];
    y[i] = on ? a * value + b * twice : 0;
    s.add(y[i]);
  },
);
const missing = (await native.probe()).missing?.reason;

for (const name of ["js", "wasm", "native"].filter(tested))
  describe(`a launch whose like was bound before, on ${name}`, { skip: name === "native" && (missing ?? false) }, () => {
    let device: Device;
    before(async () => void (device = await open(name)));
    after(() => device.close());
    const views = () => ({ x: device.from(f64, [1, 2, 3, 4, 5]), y: device.array(f64, 4) });
    const scalars = { a: 2, b: 0.1, by: 1, on: true, twice: 2 };

    test("takes new values of all scalars", async () => {
      const args = { ...scalars, ...views() };
      const run = async (changed: Partial<typeof scalars>) => {
        const { s } = await device.run(shifted, { ...args, ...changed }, range(4), { precision: "strict" });
        return [s, ...(await device.queue.read(args.y))];
      };
      const expected = ({ a, b, by, on, twice }: typeof scalars) => {
        const y = [0, 1, 2, 3].map((i) => (on ? a * (1 + i + by) + Math.fround(Math.fround(b) * twice) : 0));
        return [y[0] + 0 + (y[2] + 0) + (y[1] + 0 + (y[3] + 0)), ...y];
      };
      const changes: Partial<typeof scalars>[] = [{}, {}, { a: -3 }, { b: 0.7 }, { by: 0 }, { on: false }, { twice: 4 }, { a: NaN }, {}];
      for (const changed of changes) assert.deepEqual(await run(changed), expected({ ...scalars, ...changed }));
    });

    test("is refused for what is wrong with it now", async () => {
      const args = { ...scalars, ...views() };
      const prepare = (changed: Record<string, unknown>, policy = range(4)) =>
        device.prepare(shifted, { ...args, ...changed } as typeof args, policy).free();
      for (let n = 0; n < 2; n++) prepare({});
      assert.throws(() => prepare({ by: 2 }), /reads x\[i \+ by\].*index 5/);
      assert.throws(() => prepare({ by: 0.5 }), /by is i32/);
      assert.throws(() => prepare({ a: "2" }), /a is f64/);
      assert.throws(() => prepare({ on: 1 }), /on is bool/);
      assert.throws(() => prepare({ z: 1 }), /no parameter "z"/);
      assert.throws(() => prepare({ x: undefined }), /x needs a view/);
      assert.throws(() => prepare({ x: args.y, y: args.x, by: 3 }), /reads x\[i \+ by\]/);
      assert.throws(() => prepare({ y: args.x.slice([0, 4]) }), /share memory/);
      assert.throws(() => prepare({}, range(5)), /index 5/);
      assert.throws(() => prepare({}, teams(4) as never), /range/);
      assert.throws(() => prepare({}, null as never), /needs a policy/);
      assert.throws(() => device.prepare(shifted, args, range(4), { precison: "strict" } as never), /precison/);
      assert.throws(() => device.prepare(shifted, args, range(4), { scatter: { h: "sorted" } }), /no scatter parameter "h"/);
      assert.throws(() => device.prepare(shifted, args, range(4), { partials: true, precision: "strict" }), /returns 1 partials/);
      prepare({});
      args.x.free();
      assert.throws(() => prepare({}), /x is a view whose memory was freed/);
      await assert.rejects(device.run(shifted, args, range(4)), /x is a view whose memory was freed/);
    });

    test("follows the device's precision, and the view of a result", async () => {
      const args = { ...scalars, ...views() };
      const precisions = (["fast", "strict", "fast"] as const).map((precision) => {
        device.precision = precision;
        const launch = device.prepare(shifted, args, range(4));
        launch.free();
        return launch.precision;
      });
      assert.deepEqual(precisions, ["fast", "strict", "fast"]);
      const [s, t] = [device.array(f64, 1), device.array(f64, 1)];
      for (const output of [s, t, undefined, s]) await device.run(shifted, { ...args, s: output }, range(4));
      const all = (await device.run(shifted, args, range(4))).s;
      assert.deepEqual([...(await device.queue.read(s)), ...(await device.queue.read(t))], [all, all]);
    });

    test("is found for views of the same elements, whatever their objects", () => {
      const { x, y } = views();
      const bound = (from: number) => bind(device, shifted, { ...scalars, x: x.slice([from, 5]), y }, range(3));
      const [first, again, other] = [bound(0), bound(0), bound(1)];
      assert.equal(again.cost, first.cost);
      assert.notEqual(again.views.x, first.views.x);
      assert.notEqual(other.cost, first.cost);
    });
  });

test("launches of teams and of scatter kernels are told apart by their policies and options", async () => {
  const device = await open("js");
  const bins = teamKernel("bins", { at: view(i32, 2), h: scatter(i32) }, ({ at, h }, team) => {
    team.range(at[0].length, (j) => h.add(at[team.index][j], 1));
  });
  const args = { at: device.array(i32, [6, 5]), h: device.array(i32, 3) };
  for (const league of [6, 6, 2, 6]) await device.run(bins, args, teams(league));
  assert.deepEqual([...(await device.queue.read(args.h))], [100, 0, 0]);
  assert.throws(() => device.prepare(bins, args, teams(7)), /at\[team\.index\]/);
  const strategy = (scatter: "atomic" | "duplicated") => {
    const launch = device.prepare(bins, args, teams(6), { scatter });
    launch.free();
    return launch.remarks.find((line) => line.startsWith("scatter"))!;
  };
  for (const asked of ["atomic", "duplicated", "atomic"] as const) assert.match(strategy(asked), new RegExp(`: ${asked}, as asked`));
  await device.close();
});
