import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { backend } from "../../../src/device/native/native.js";
import { f64, kernel, open, range, sum, view, type Device } from "../../../src/index.js";

/* While a compiler makes the code of a `run`, the event loop goes on, and what is submitted waits for its turn. */

const { missing } = await backend.probe();
const top = mkdtempSync(join(tmpdir(), "isoform-aside-"));
const kept = { ...process.env };

/** Kernels that no cache has: y = a * x + y, each with another number. */
const params = { x: view(f64), y: view(f64), total: sum(f64) };
type Body = Parameters<typeof kernel<typeof params>>[2];
const scaled = (a: number) =>
  kernel(
    `scaled by ${a}`,
    params,
    new Function(`return ({ x, y, total }, i) => { y[i] = ${a} * x[i] + y[i]; total.add(y[i]); }`)() as Body,
  );

describe("compiles aside", { skip: missing?.reason ?? false }, () => {
  let device: Device;
  before(async () => {
    // It takes 0.3 s longer than any compiler.
    const slow = join(top, "slow-compiler");
    writeFileSync(slow, `#!/bin/sh\ncase "$*" in *--version*) ;; *) sleep 0.3;; esac\nexec ${kept.CC || "cc"} "$@"\n`);
    chmodSync(slow, 0o755);
    Object.assign(process.env, {
      PATH: `${top}:${kept.PATH}`,
      CC: "slow-compiler",
      XDG_CACHE_HOME: join(top, "cache"),
      TMPDIR: join(top, "tmp"),
    });
    mkdirSync(join(top, "tmp"));
    device = await open("native");
  });
  after(async () => {
    await device.close();
    for (const name of ["PATH", "CC", "XDG_CACHE_HOME", "TMPDIR"])
      if (kept[name] === undefined) delete process.env[name];
      else process.env[name] = kept[name];
    rmSync(top, { recursive: true });
  });

  const args = () => ({ x: device.from(f64, [1, 2, 3]), y: device.from(f64, [0, 0, 0]) });

  it("let timers come through", async () => {
    const given = args();
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const { total } = await device.run(scaled(2), given, range(3));
    clearInterval(timer);
    assert.equal(total, 12);
    assert.ok(ticks >= 10, `${ticks} ticks`);
    assert.deepEqual([...(await device.queue.read(given.y))], [2, 4, 6]);
  });

  it("run at the same time, and what they make runs in the order of submission", async () => {
    const given = args();
    const known = scaled(5);
    await device.run(known, given, range(3));
    const runs = [7, 8, 9].map((a) => device.run(scaled(a), given, range(3)));
    runs.push(device.run(known, given, range(3)));
    const read = device.queue.read(given.y);
    const totals = await Promise.all(runs);
    assert.deepEqual(
      totals.map(({ total }) => total),
      [72, 120, 174, 204],
    );
    assert.deepEqual([...(await read)], [34, 68, 102]);
  });

  it("are waited for by who frees memory or prepares the same", async () => {
    const given = args();
    const kernel = scaled(3);
    const run = device.run(kernel, given, range(3));
    const launch = device.prepare(kernel, given, range(3));
    given.y.free();
    assert.equal((await run).total, 18);
    launch.free();
    await assert.rejects(device.run(scaled(4), given, range(3)), /freed/);
  });

  it("leave no folder behind", () => {
    assert.deepEqual(readdirSync(join(top, "tmp")), []);
  });

  it("end with the compiler's complaint", async () => {
    writeFileSync(join(top, "slow-compiler"), `#!/bin/sh\necho "out of order" >&2\nexit 1\n`);
    await assert.rejects(device.run(scaled(11), args(), range(3)), {
      name: "DeviceError",
      message: /could not compile kernel "scaled by 11":\nout of order/,
    });
  });
});
