import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/* Engines that lack something: address space, WebAssembly, code made from text, changes to what is built in. */

const INDEX = new URL("../../../src/index.js", import.meta.url).href;
const DOCTOR = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));

/** Runs an axpy on a device, and prints a sum; what is refused is printed, too. */
const program = (device: string): string => `
  import { f64, kernel, open, range, sum, view } from ${JSON.stringify(INDEX)};
  const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64), s: sum(f64) }, ({ a, x, y, s }, i) => {
    y[i] = y[i] + a * x[i];
    s.add(y[i]);
  });
  try {
    const device = await open(${JSON.stringify(device)});
    const [x, y] = [device.from(f64, new Float64Array(20000).fill(3)), device.array(f64, 20000)];
    console.log(await device.run(axpy, { a: 2, x, y }, range(20000)), (await device.queue.read(y))[7]);
    await device.close();
  } catch (error) {
    console.log(error.name + ": " + error.message);
  }`;
const WORKS = "{ s: 120000 } 6\n";

async function node(device: string, flags: readonly string[], kilobytes?: number): Promise<string> {
  const args = [...flags, "--no-warnings", "--input-type=module", "-e", program(device)];
  const limited = kilobytes === undefined ? [] : ["-c", `ulimit -v ${kilobytes}; ${TWO_THREADS} exec "$0" "$@"`, process.execPath];
  const { stdout } = await promisify(execFile)(kilobytes === undefined ? process.execPath : "bash", [...limited, ...args]);
  return stdout;
}

/** Each thread sets address space aside, and machines have up to hundreds of cores. */
const TWO_THREADS = "ISOFORM_THREADS=2";

const limits = { skip: process.platform !== "linux" && "ulimit -v is Linux's" };

test("with little address space js works, and wasm says what to do", limits, async () => {
  const [js, wasm, without] = await Promise.all([
    node("js", [], 8_000_000),
    node("wasm", [], 8_000_000),
    node("wasm", ["--disable-wasm-trap-handler"], 8_000_000),
  ]);
  assert.equal(js, WORKS);
  // Later engines may set aside less.
  if (wasm !== WORKS) assert.match(wasm, /DeviceError: .*no WebAssembly memory .*--disable-wasm-trap-handler, raise `ulimit -v`/);
  assert.equal(without, WORKS);
});

test("doctor says so", limits, async () => {
  const command = `ulimit -v 8000000; ${TWO_THREADS} exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", command, process.execPath, DOCTOR, "doctor", "--json"]);
  const wasm = (JSON.parse(stdout) as { backend: string; missing?: { remedy: string } }[]).find(({ backend }) => backend === "wasm");
  if (wasm?.missing) assert.match(wasm.missing.remedy, /--disable-wasm-trap-handler/);
});

test("frozen intrinsics are no hindrance", async () => {
  const [js, wasm] = await Promise.all(["js", "wasm"].map((device) => node(device, ["--frozen-intrinsics"])));
  assert.deepEqual([js, wasm], [WORKS, WORKS]);
});

test("without WebAssembly js works, and wasm says so", async () => {
  const [js, wasm] = await Promise.all(["js", "wasm"].map((device) => node(device, ["--jitless"])));
  assert.equal(js, WORKS);
  assert.match(wasm, /DeviceError: .*this engine has no WebAssembly.*use the device js/);
});

test("where no code may be made from text wasm works, and js says so", async () => {
  const flag = ["--disallow-code-generation-from-strings"];
  const [wasm, ...others] = await Promise.all(["wasm", "js", "js-debug"].map((device) => node(device, flag)));
  assert.equal(wasm, WORKS);
  for (const other of others)
    assert.match(other, /DeviceError: .*'unsafe-eval'.*use the device wasm, for which 'wasm-unsafe-eval' is enough/);
});
