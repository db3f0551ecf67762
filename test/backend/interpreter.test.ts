import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { backendNames, DeviceError, doctor, f64, i32, kernel, LaunchError, max, open, range, scatter, sum, tune, view } from "isoform";
import { registerBackend, type Backend } from "isoform/backend";
import { makeGrid } from "isoform/grid";
import { devices, type DeviceSet } from "isoform/set";
import { skeleton, swap } from "isoform/skeleton";
import { isoform } from "../cli/isoform.js";
import { conforms } from "../device/conformance/conforms.js";
import { interpreter } from "./interpreter/backend.js";

const source = fileURLToPath(new URL("../../../test/backend/interpreter/", import.meta.url));
const module = fileURLToPath(new URL("./interpreter/backend.js", import.meta.url));

it("a backend outside of the library imports what the package exports and nothing else", () => {
  const allowed = ["isoform", "isoform/backend", "isoform/ir", "isoform/testing"];
  const files = readdirSync(source);
  assert.ok(files.length > 3);
  for (const file of files) {
    const text = readFileSync(source + file, "utf8");
    assert.doesNotMatch(text, /\bimport\(|\brequire\(|getBuiltinModule/, file);
    for (const [, from] of text.matchAll(/(?:^|\n)(?:import|export)[^;]*?from\s+"([^"]+)"/g))
      assert.ok(allowed.includes(from) || files.includes(from.replace(/^\.\/(.*)\.js$/, "$1.ts")), `${file} imports ${from}`);
  }
});

await conforms("interpreter");

describe("a registered backend is known like those of the library", () => {
  it("to open and doctor", async () => {
    assert.ok(backendNames().includes("interpreter"));
    const report = (await doctor()).find(({ backend }) => backend === "interpreter");
    assert.deepEqual(
      report?.devices.map(({ name }) => name),
      ["interpreter"],
    );
    await assert.rejects(open("interpreter:1"), { name: "DeviceError", message: /there is one interpreter device/ });
    await assert.rejects(open("interpret"), { name: "DeviceError", message: /the backends are js, .*interpreter;/ });
  });

  it("by a name of its own", () => {
    const named = (name: unknown): Backend => ({ ...interpreter, name: name as string });
    const refused = (name: unknown, message: RegExp): void =>
      assert.throws(
        () => registerBackend(named(name)),
        (error) => error instanceof DeviceError && message.test(error.message),
      );
    refused("interpreter", /device "interpreter": a backend of this name is registered already/);
    for (const name of ["js", "cuda"]) refused(name, /a backend of this name comes with isoform \(choose another name\)/);
    for (const name of ["", "Mine", "mine:0", "mine*2", undefined]) refused(name, /this cannot name a backend \(use lower-case letters/);
    assert.ok(!backendNames().includes("Mine"));
  });

  it("to the command line", () => {
    const { status, stdout, stderr } = isoform(["doctor", "--backend", module]);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /^interpreter\n {2}interpreter: an interpreter of kernels' code\n {4}f64, 1 in parallel, no SIMD, memory 4.0 GiB/m,
    );
    // It is opened and divided, and then refused, before anything is measured.
    const divided = isoform(["--backend", module, "assess", "stream", "--devices", "interpreter*2"]);
    assert.equal(divided.status, 2);
    assert.match(divided.stderr, /stream runs on one device, and interpreter\*2 has 2 members/);
    const missing = isoform(["doctor", "--backend", "./no-such-backend.js"]);
    assert.equal(missing.status, 2);
    assert.match(missing.stderr, /^isoform: the backend \.\/no-such-backend\.js could not be loaded: Cannot find module/);
  });
});

describe("on a registered backend", () => {
  const relax = async (set: DeviceSet) => {
    const grid = makeGrid(set, [9, 5, 16]);
    const [u, next, mean, most] = [grid.field("u", f64), grid.field("next", f64), grid.scalar("mean", f64), grid.scalar("most", f64)];
    u.fill((x, y, z) => Math.sin(7 * x + 3 * y + z));
    const step = grid.container("step", { u, next }, ({ u, next }, c) => {
      next[c] = (u.at(c, 1, 0, 0) + u.at(c, -1, 0, 0) + u.at(c, 0, 1, 0) + u.at(c, 0, -1, 0) + u.at(c, 0, 0, 1) + u.at(c, 0, 0, -1)) / 6;
    });
    const measure = grid.container("measure", { u, s: sum(mean), m: max(most) }, ({ u, s, m }, c) => {
      s.add(u[c]);
      m.max(Math.abs(u[c]));
    });
    const run = skeleton(set, "relax", [step, swap(u, next), measure], { precision: "strict", occ: "standard" });
    await run.run(6);
    const result = { u: await u.download(), mean: await mean.get(), most: await most.get() };
    run.free();
    grid.free();
    return result;
  };

  for (const spec of ["interpreter", "interpreter*2", "interpreter,js"])
    it(`a skeleton has the bits of js: ${spec}`, async () => {
      const [plain, set] = [await devices("js"), await devices(spec)];
      assert.deepEqual(await relax(set), await relax(plain));
      await Promise.all([plain.close(), set.close()]);
    });

  it("nothing is tuned", async () => {
    const device = await open("interpreter", { tune: true });
    const bins = kernel("bins", { h: scatter(i32), x: view(i32) }, ({ h, x }, i) => h.add(x[i], 1));
    const args = { x: device.from(i32, [0, 2, 2, 1]), h: device.array(i32, 3) };
    await device.run(bins, args, range(4));
    assert.deepEqual([...(await device.queue.read(args.h))], [1, 1, 2]);
    const launch = device.prepare(bins, args, range(4));
    assert.equal(await tune(device, launch), undefined);
    assert.throws(
      () => device.prepare(bins, args, range(4), { tuning: { workers: 2 } }),
      (error) =>
        error instanceof LaunchError && /kernel "bins" on interpreter, tuning: workers cannot be set for this launch/.test(error.message),
    );
    await device.close();
  });
});
