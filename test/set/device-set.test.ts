import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import test from "node:test";
import { range } from "../../src/device/launch/policy.js";
import { open } from "../../src/device/open.js";
import { DeviceError, IsoformError } from "../../src/base/errors.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f64, view } from "../../src/kernel/declare/params.js";
import { devices, DEFAULT_LINK } from "../../src/set/index.js";

const ones = kernel("ones", { y: view(f64) }, ({ y }, i) => {
  y[i] = 1;
});

test("one device is a set of one member, without a modelled link", async () => {
  const set = await devices("js");
  assert.equal(set.name, "js");
  assert.equal(set.virtual, false);
  assert.equal(set.link, undefined);
  assert.deepEqual(
    set.members.map(({ index, name }) => [index, name]),
    [[0, "js"]],
  );
  assert.equal(set.locals[0].queue(0), set.locals[0].device.queue);
  await set.close();
});

test("a device is divided into sub-devices, which share it and are linked by a model", async () => {
  const set = await devices("wasm*3");
  assert.equal(set.name, "wasm*3");
  assert.equal(set.virtual, true);
  assert.deepEqual(set.link, DEFAULT_LINK);
  assert.deepEqual(
    set.members.map(({ name }) => name),
    ["wasm*3[0]", "wasm*3[1]", "wasm*3[2]"],
  );
  assert.equal(new Set(set.locals.map(({ device }) => device)).size, 1);
  for (const { device } of set.locals) {
    const y = device.array(f64, 10);
    await device.run(ones, { y }, range(10));
    assert.equal((await device.queue.read(y))[9], 1);
  }
  await set.close();
});

test("streams of a member are made once, on first use, and members have their own", async () => {
  const set = await devices("js*2");
  const [a, b] = set.locals;
  assert.equal(a.queue(2), a.queue(2));
  assert.notEqual(a.queue(0), a.queue(2));
  assert.notEqual(a.queue(0), b.queue(0));
  assert.equal(b.queue(0), b.queue(0));
  for (const n of [-1, 0.5])
    assert.throws(() => b.queue(n), { name: "IsoformError", message: `stream ${n} of js*2[1]: streams are numbered from 0` });
  await set.close();
});

test("lists and commas mix backends, and a device named twice is divided", async () => {
  for (const spec of ["js*2,js-debug", ["js", "js-debug", "js:0"], "js, js-debug,js"] as const) {
    const set = await devices(spec);
    assert.equal(set.name, "js*2,js-debug");
    assert.equal(set.virtual, true);
    assert.deepEqual(set.members.map(({ name }) => name).sort(), ["js*2[0]", "js*2[1]", "js-debug"]);
    await set.close();
  }
  const set = await devices(["js-debug", "js"]);
  assert.equal(set.name, "js-debug,js");
  assert.equal(set.virtual, false);
  await set.close();
});

test("an open device may be in a set, and stays open when the set is closed", async () => {
  const device = await open("js");
  const set = await devices([device, device, "js-debug"]);
  assert.equal(set.name, "js*2,js-debug");
  await set.close();
  const y = device.array(f64, 4);
  await device.run(ones, { y }, range(4));
  assert.deepEqual([...(await device.queue.read(y))], [1, 1, 1, 1]);
  await device.close();
});

test("the star stands for every device of a backend", async (t) => {
  const set = await devices("js:*");
  assert.equal(set.name, "js");
  await set.close();
  await devices("cuda:*").then(
    async (gpus) => {
      assert.equal(gpus.virtual, false);
      await gpus.close();
    },
    (error: Error) => {
      assert.match(error.message, /^device "cuda": .*NVIDIA/);
      t.diagnostic(error.message);
    },
  );
});

test("a link is given in whole or in part, and must be one", async () => {
  const set = await devices("js*2", { link: { bandwidth: 300e9 } });
  assert.deepEqual(set.link, { bandwidth: 300e9, latency: DEFAULT_LINK.latency });
  await set.close();
  const real = await devices("js", { link: { bandwidth: 1e9, latency: 0 } });
  assert.deepEqual(real.link, { bandwidth: 1e9, latency: 0 });
  await real.close();
  for (const link of [{ bandwidth: 0 }, { latency: -1 }, { bandwidth: NaN }, { latency: Infinity }])
    await assert.rejects(devices("js*2", { link }), (error) => error instanceof IsoformError && /a link of/.test(error.message));
});

test("what names no device, and sets without members, are refused", async () => {
  const refused = (spec: string | string[], message: RegExp) =>
    assert.rejects(devices(spec), (error: Error) => {
      assert.ok(error instanceof DeviceError);
      assert.match(error.message, message);
      return true;
    });
  await refused("abacus", /device "abacus(:0)?": there is no such device \(the backends are js, /);
  await refused("abacus:*", /device "abacus": there is no such device/);
  await refused("wasm*", /device "wasm\*": this does not name a device/);
  await refused("Wasm 3", /this does not name a device/);
  await refused("", /this does not name a device/);
  await refused("js:1", /there is one js device/);
  await refused("wasm*0", /a set needs at least one member/);
  await refused([], /a set needs at least one member/);
});

/** Opens devices and counts threads, in a process in which no others come and go. */
const COUNTS_THREADS = `
const { readdirSync, promises } = await import("node:fs");
const { devices } = await import(${JSON.stringify(new URL("../../src/set/index.js", import.meta.url).href)});
const threads = () => readdirSync("/proc/self/task").length;
const opened = async (count) => {
  process.env.ISOFORM_THREADS = String(count);
  return devices("js");
};
// What the engine starts once is there then.
await promises.readFile(process.execPath + "/nothing").catch(() => {});
await (await opened(1)).close();
const before = threads();
const set = await opened(4);
const started = threads() - before;
await set.close();
const message = await devices(["js", "js-debug:7"]).then(() => "opened", (error) => error.message);
// Threads of closed pools wait a second for the next one.
for (let turn = 0; threads() > before && turn < 2400; turn++) await new Promise((resolve) => setTimeout(resolve, 50));
console.log(JSON.stringify({ started, message, left: threads() - before }));`;

test(
  "where one device cannot be opened, those opened before are closed",
  { skip: !existsSync("/proc/self/task") && "there is no /proc" },
  () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", COUNTS_THREADS], { encoding: "utf8" });
    assert.notEqual(stdout, "", stderr);
    const { started, message, left } = JSON.parse(stdout) as { started: number; message: string; left: number };
    assert.deepEqual([started, left], [3, 0]);
    assert.match(message, /there is one js-debug device/);
  },
);

test("a closed set takes no more work, and is closed once", async () => {
  const set = await devices("js*2");
  const [member] = set.locals;
  const queue = member.queue(0);
  await set.close();
  await set.close();
  assert.throws(() => member.queue(0), { name: "DeviceError", message: 'device "js*2": the set is closed (open it again)' });
  assert.throws(() => member.device.array(f64, 1), /device "js": it is closed/);
  await assert.rejects(queue.finish(), /device "js": it is closed/);
});
