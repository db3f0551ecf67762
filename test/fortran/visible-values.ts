/* Runs routines `name(n, x, y)` by gfortran and by Isoform: what they leave in `y`. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";
import { picks } from "../soak/mutate.js";
import type { RoutinePort } from "./compare-routines.js";
import { withHip } from "./cpp-routines.js";
import { randomModules } from "./random-modules.js";

const X = [1, 2.5, -3];

/** What gfortran's code leaves, routine after routine. */
export function byGfortran(text: string, routines: readonly string[], words: readonly string[] = []): number[][] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-visible-"));
  try {
    const calls = routines.map((name) => `call ${name}(3, x, y)\nprint '(3es26.17)', y`).join("\n");
    const uses = routines.includes("fill") ? "use p, only: fill\n" : "";
    writeFileSync(
      join(folder, "t.f90"),
      `${text}\nprogram main\n${uses}real(8) :: x(3) = [${X.map((v) => `${v}d0`).join()}], y(3)\n${calls}\nend program\n`,
    );
    execFileSync("gfortran", ["-O0", "-ffp-contract=off", "-w", "-fopenmp", "-ffree-line-length-none", "t.f90", ...words, "-o", "t"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const lines = execFileSync(join(folder, "t"), { encoding: "utf8" }).trim().split("\n");
    return lines.map((line) => line.trim().split(/\s+/).map(Number));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What devices leave. */
export async function byIsoform(text: string, routines: readonly string[]): Promise<number[][]> {
  const code = fortran(text, { file: "t.f90" });
  const found: number[][] = [];
  const device = await open("js");
  try {
    for (const name of routines) {
      const y = device.array(f64, 3);
      await code.routine(name).run(device, { n: 3, x: device.from(f64, X), y });
      found.push([...(await device.queue.read(y))]);
    }
  } finally {
    await device.close();
  }
  return found;
}

/** The values of routines as a port. */
export function asPort(text: string, routines: readonly string[], port: RoutinePort): number[][] {
  if (port === "hip") return withHip(text, (host, words) => byGfortran(host, routines, words));
  return byGfortran(portSources([{ file: "t.f90", text }], { targets: [port] })[0].text, routines);
}

/** Compares routines of random modules on js, and as a port. @throws Error with the whole text where one differs, or is refused */
export async function compareModules(seed: number, count: number, port: RoutinePort): Promise<void> {
  // Functions that read variables of modules are refused in C++.
  const text = randomModules(picks(seed), count, port !== "hip");
  const names = Array.from({ length: count }, (_, n) => `s${n}`);
  try {
    const expected = byGfortran(text, names);
    assert.deepEqual(await byIsoform(text, names), expected);
    assert.deepEqual(asPort(text, names, port), expected, port);
  } catch (error) {
    throw new Error(`modules of seed ${seed}: ${(error as Error).message}\n${text}`, { cause: error });
  }
}
