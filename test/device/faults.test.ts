import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { backend as native } from "../../src/device/native/native.js";
import { tested } from "../devices.js";

const missing = (await native.probe()).missing?.reason;
const library = new URL("../../src/index.js", import.meta.url).href;

/** Runs a kernel that writes far outside, on these devices one after the other, in a process of its own. */
function run(devices: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = `
    import { open, kernel, range, view, f64, i32 } from ${JSON.stringify(library)};
    const put = kernel("put", { at: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ at, y }, i) => {
      y[at[i]] = 1;
    });
    const opened = [];
    for (const name of ${JSON.stringify(devices)}) opened.push(await open(name));
    for (const device of opened) await device.run(put, { at: device.array(i32, 1), y: device.array(f64, 1) }, range(1));
    for (const device of opened)
      try {
        const at = device.from(i32, Int32Array.from({ length: 50000 }, (_, i) => (i % 30000 === 29999 ? 2e9 : i)));
        await device.run(put, { at, y: device.array(f64, 50000) }, range(50000));
        console.log(device.name + " wrote outside");
      } catch (error) {
        console.log(device.name, error.constructor.name, error.message);
      }
    process.exit(0);`;
  const options = { encoding: "utf8", env: { ...process.env, ISOFORM_CHECKED: "", ...env } } as const;
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], options);
}

test("a trap of WebAssembly names the kernel and what tells the index", { skip: !tested("wasm") }, () => {
  const { stdout, status } = run(["wasm"]);
  assert.match(
    stdout,
    /^wasm DeviceError .*kernel "put" failed in worker \d: memory access out of bounds; run it with checked: true or ISOFORM_CHECKED=1/m,
  );
  assert.equal(status, 0);
});

test("a signal in a native kernel names it and what tells the index, and ends the process", { skip: missing || !tested("native") }, () => {
  const { stdout, stderr, signal } = run(["native"]);
  assert.match(
    stderr,
    /^isoform: kernel "put" \(.*:\d+\) on native accessed memory outside of its arrays; run it with checked: true or ISOFORM_CHECKED=1$/m,
  );
  assert.equal(signal, "SIGSEGV");
  assert.equal(stdout, "");
});

test("traps of WebAssembly stay errors beside native kernels", { skip: missing || !tested("native") }, () => {
  const { stdout, signal } = run(["wasm", "native"]);
  assert.match(stdout, /^wasm DeviceError .*memory access out of bounds/m);
  assert.equal(signal, "SIGSEGV");
});

test("checked kernels do neither", () => {
  const { stdout, stderr, status } = run(["js", "wasm", ...(missing ? [] : ["native"])], { ISOFORM_CHECKED: "1" });
  const found = stdout.match(
    /^(js|wasm|native) KernelError .*index 2000000000 is outside axis 0 of "y", which has extent 50000 \(element \[29999\]/gm,
  );
  assert.equal(found?.length, missing ? 2 : 3, stdout + stderr);
  assert.equal(status, 0);
});
