import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { FLAGS } from "./baselines.js";
import { commandLine, parseArgs } from "./command-line.js";
import { interleave, type InterleavedTime, type Variant } from "./interleave.js";

/*
 * Ordinary programs, written plainly on both sides, or the kernels of examples/, beside C (baselines/ordinary.c and examples.c, with -ffast-math): by
 * turns, fast mode. On one thread:
 *   ISOFORM_THREADS=1 OMP_NUM_THREADS=1 node dist/bench/ordinary.js [--programs examples] [--only lj,cahn] [--devices native,wasm] [--rounds 25] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    programs: { type: "string", default: "ordinary" },
    only: { type: "string" },
    devices: { type: "string", default: "native,wasm" },
    rounds: { type: "string", default: "25" },
    json: { type: "string" },
  },
});

interface Row extends InterleavedTime {
  readonly program: string;
  readonly device: string;
  /** Median seconds of the program in C. */
  readonly c: number;
  /** The same compiled for vectors of 128 bits, and the part of C's time that it takes; beside wasm. */
  readonly c128?: { readonly seconds: number; readonly overC: number };
}

const inTurn = (name: string, once: () => unknown): Variant => ({
  name,
  run: (times) => {
    for (let n = 0; n < times; n++) once();
  },
});

const programs =
  options.programs === "examples" ? (await import("./example-programs.js")).EXAMPLES : (await import("./ordinary-programs.js")).PROGRAMS;
const results: Row[] = [];
for (const [program, make] of Object.entries(programs)) {
  if (options.only && !options.only.split(",").includes(program)) continue;
  for (const device of options.devices.split(",")) {
    const { own, c, narrow, free } = await make(device);
    const variants = [inTurn("C", c), { name: device, run: own }, ...(device === "wasm" ? [inTurn("C of 128 bits", narrow)] : [])];
    const [reference, measured, of128] = await interleave(variants, {
      rounds: Number(options.rounds),
      sample: 0.005,
      warmUp: 1.5,
    });
    const c128 = of128 && { seconds: of128.seconds, overC: 1 / of128.ratio };
    results.push({ program, device, c: reference.seconds, ...measured, ...(c128 && { c128 }) });
    const over = (1 / measured.ratio).toFixed(2);
    const beside = c128 ? ` (with vectors of 128 bits: ${c128.overC.toFixed(2)})` : "";
    console.log(
      `${program.padEnd(15)} ${device.padEnd(7)} ${(measured.seconds * 1e3).toFixed(3).padStart(8)} ms  ${over} of C's time${beside}`,
    );
    await free();
  }
}
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  const host = {
    processor: cpus()[0].model,
    threads: process.env.ISOFORM_THREADS ?? "all",
    node: process.version,
    flags: [...FLAGS, "-ffast-math"].join(" "),
  };
  writeFileSync(options.json, JSON.stringify({ command: commandLine("dist/bench/ordinary.js"), host, results }, undefined, 1) + "\n");
}
