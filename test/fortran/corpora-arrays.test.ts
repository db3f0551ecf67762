/* BabelStream's variants that say with whole arrays, or by tasks, what others say with parallel loops: their routines have gfortran's bits. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { oneDevice } from "../devices.js";
import { sequence } from "../random/data.js";
import { CODES, needsCode, read } from "./corpora.js";
import { needsGfortran } from "./gfortran.js";

const BABELSTREAM = CODES.find(({ name }) => name === "BabelStream")!;
const [TYPES] = BABELSTREAM.hosts;
const [DEFINE] = BABELSTREAM.defines;
const VARIANTS = ["Array", "OpenACCArray", "OpenMPTaskloop", "OpenMPWorkshare", "Sequential"];
const DEVICES = oneDevice("all") === "all" ? ["js", "wasm", "native"] : [oneDevice("all")];
const SIZE = 101;
const SCALAR = 0.4;
/** In an order in which each array changes; the last gives a sum, in another order. */
const ROUTINES = ["copy", "mul", "add", "triad", "nstream", "dot"] as const;
const NEAR = 1e-14;

const argumentsOf = (name: string): string => (["mul", "triad", "nstream"].includes(name) ? `${SCALAR}d0` : "");

/** The three arrays after each routine, and the sum of the last. */
function byGfortran(variant: string, values: Float64Array): Float64Array {
  const folder = mkdtempSync(join(tmpdir(), "isoform-babelstream-"));
  try {
    // What asks for devices needs libraries.
    const text = read(BABELSTREAM, `src/fortran/${variant}Stream.F90`).replace(/subroutine (\w+_devices?)\([\s\S]*?end subroutine \1/g, "");
    writeFileSync(join(folder, "types.F90"), read(BABELSTREAM, TYPES));
    writeFileSync(join(folder, "stream.F90"), text);
    const calls = ROUTINES.map((name) => (name === "dot" ? "write(11) dot()" : `call ${name}(${argumentsOf(name)})\nwrite(11) a, b, c`));
    const program = `program run\nuse ${variant}Stream\nimplicit none\ncall alloc(${SIZE})
open(10, file='in', access='stream', form='unformatted')\nread(10) a, b, c
open(11, file='out', access='stream', form='unformatted')\n${calls.join("\n")}\nend program`;
    writeFileSync(join(folder, "run.F90"), program);
    writeFileSync(join(folder, "in"), Buffer.from(values.buffer));
    const flags = ["-O2", "-ffp-contract=off", "-w", ...Object.entries(DEFINE).map(([name, value]) => `-D${name}=${value}`)];
    const stdio = ["ignore", "ignore", "pipe"] as const;
    execFileSync("gfortran", [...flags, "types.F90", "stream.F90", "run.F90", "-o", "run"], { cwd: folder, stdio: [...stdio] });
    execFileSync(join(folder, "run"), { cwd: folder, stdio: [...stdio] });
    return new Float64Array(Uint8Array.from(readFileSync(join(folder, "out"))).buffer);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function byIsoform(variant: string, values: Float64Array, name: string): Promise<number[]> {
  const file = `src/fortran/${variant}Stream.F90`;
  const code = fortran(read(BABELSTREAM, file), { file, define: DEFINE, hosts: [{ file: TYPES, text: read(BABELSTREAM, TYPES) }] });
  const device = await open(name);
  device.precision = "strict";
  const [a, b, c] = [0, 1, 2].map((n) => device.from(f64, values.subarray(n * SIZE, (n + 1) * SIZE)));
  const found: number[] = [];
  for (const routine of ROUTINES) {
    const results = await code.routine(routine).run(device, { n: SIZE, a, b, c, ...(argumentsOf(routine) && { startscalar: SCALAR }) });
    if (routine === "dot") found.push(Number(results.s));
    else for (const view of [a, b, c]) found.push(...(await device.queue.read(view)));
  }
  await device.close();
  return found;
}

describe("BabelStream with arrays and tasks", { skip: needsCode(BABELSTREAM).skip || needsGfortran.skip }, () => {
  for (const variant of VARIANTS)
    it(variant, async () => {
      const random = sequence(1);
      const values = Float64Array.from({ length: 3 * SIZE }, () => 2 * random() - 1);
      const expected = [...byGfortran(variant, values)];
      for (const device of DEVICES) {
        const found = await byIsoform(variant, values, device);
        assert.deepEqual(found.slice(0, -1), expected.slice(0, -1), device);
        const [sum, other] = [expected, found].map((list) => list.at(-1)!);
        assert.ok(Math.abs(sum - other) <= NEAR * SIZE, `${device}: the sum is ${other}, and gfortran's ${sum}`);
      }
    });
});
