import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "isoform/portability";
import type * as Isoform from "isoform";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * What `compileKernel` takes for kernels of 100 to 3000 lines, in seconds of the processor, each in a process of its own; by turns with another build of
 * Isoform where `--against` names its folder.
 *   node dist/bench/compile.js [--lines 100,300,1000,3000] [--rounds 5] [--against FOLDER/dist] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    lines: { type: "string", default: "100,300,1000,3000" },
    rounds: { type: "string", default: "5" },
    against: { type: "string" },
    json: { type: "string" },
    /** Compiles one kernel of so many lines with the build in this folder, and prints the seconds. */
    build: { type: "string" },
  },
});

interface Row {
  lines: number;
  /** Seconds of the processor, median over the rounds. */
  seconds: number;
  /** The same of the other build. */
  against?: number;
}

if (options.build) {
  console.log(JSON.stringify(await compileOnce(options.build, Number(options.lines))));
} else {
  const rows = options.lines.split(",").map((lines) => measure(Number(lines)));
  console.table(rows);
  if (options.json) {
    mkdirSync(dirname(options.json), { recursive: true });
    const report = {
      command: commandLine("dist/bench/compile.js"),
      cpu: cpus()[0].model,
      threads: cpus().length,
      node: process.version,
      rows,
    };
    writeFileSync(options.json, JSON.stringify(report, undefined, 1) + "\n");
  }
}

function measure(lines: number): Row {
  const own = fileURLToPath(new URL("..", import.meta.url));
  const builds = options.against ? [own, resolve(options.against)] : [own];
  const seconds: number[][] = builds.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++) builds.forEach((build, n) => seconds[n].push(inProcess(build, lines)));
  const [mine, other] = seconds.map((list) => median(list));
  return { lines, seconds: mine, against: other };
}

function inProcess(build: string, lines: number): number {
  const words = [fileURLToPath(import.meta.url), "--build", build, "--lines", String(lines)];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as number;
}

async function compileOnce(build: string, lines: number): Promise<number> {
  const { compileKernel, f64, kernel, view } = (await import(pathToFileURL(`${resolve(build)}/src/index.js`).href)) as typeof Isoform;
  // oxlint-disable-next-line typescript/no-implied-eval
  const body = new Function(`return ({ x, y }, i) => {\n${textOf(lines)}\n}`)() as (args: object, i: number) => void;
  const long = kernel("long", { x: view(f64), y: view(f64) }, body) as unknown as Isoform.Kernel;
  const before = process.cpuUsage();
  compileKernel(long);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Lines as people write them in large kernels: some name a value, some change one, some ask first, some loop over a short private array. */
function textOf(lines: number): string {
  const text = ["let s = x[i]; let t = 0.5;"];
  for (let n = 0; text.length < lines; n++)
    text.push(
      `const a${n} = s * ${n + 1.5} + x[i] * t;`,
      `t = Math.sqrt(a${n} * a${n} + ${n});`,
      `if (a${n} > t) s = a${n} - t; else s = s + 0.25 * a${n};`,
      `for (let k = 0; k < 3; k++) s += t * k;`,
    );
  return [...text, "y[i] = s + t;"].join("\n");
}
