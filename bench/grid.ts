import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeGrid, type Grid, type GridKind } from "isoform/grid";
import { devices, type DeviceSet } from "isoform/set";
import { skeleton, type OccLevel, type Skeleton, type SkeletonOptions } from "isoform/skeleton";
import koffi from "koffi";
import { Elasticity } from "../apps/elasticity/elasticity.js";
import { CASES } from "../apps/elasticity/solid.js";
import { commandLine, parseArgs } from "./command-line.js";
import { cg, lbmProblem, type GridProblem } from "./grid-problems.js";

/*
 * Grid applications on one or several devices: lattice Boltzmann (D3Q19, two populations), conjugate gradients for the 7-point Laplacian and
 * for an elastic cube.
 *   node dist/bench/grid.js --devices cuda:0 [--only lbm,cg,elasticity] [--sizes 256,512] [--grids dense,sparse,bricks] [--occ none,standard,...] [--json F]
 * Where nvcc is found and one GPU is used, baselines/grid.cu is built and measured by turns with ours.
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", multiple: true, default: ["cuda:0"] },
    only: { type: "string", default: "lbm,cg" },
    sizes: { type: "string", default: "256" },
    grids: { type: "string", default: "dense" },
    types: { type: "string", default: "f64,f32" },
    occ: { type: "string", default: "standard" },
    precision: { type: "string", default: "fast" },
    unroll: { type: "string", default: "2" },
    iterations: { type: "string", default: "50" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
const list = (text: string) => text.split(",");
const iterations = Number(options.iterations);
const rounds = Number(options.rounds);
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

interface Row {
  application: string;
  grid: string;
  type: string;
  size: number;
  devices: string;
  occ: string;
  fused: boolean;
  /** Median over the rounds of the seconds of one iteration. */
  seconds: number;
  /** Cells of a second, in millions. */
  mlups: number;
  /** Seconds of the hand-written kernels divided by ours, median over the rounds. */
  ofHandWritten?: number;
  handWritten?: number;
}

const rows: Row[] = [];
const handWritten = baselines();
const only = list(options.only);
const host = await devices(options.devices.length === 1 ? options.devices[0] : options.devices);
const label = host.locals.map(({ device }) => device.label).join(", ");
await host.close();
for (const size of list(options.sizes).map(Number)) {
  if (only.includes("lbm")) for (const type of list(options.types)) await measure("lbm", size, type as "f64" | "f32", lbmProblem);
  if (only.includes("cg")) await measure("cg", size, "f64", cg);
  if (only.includes("elasticity")) await measure("elasticity", size, "f64");
}
if (options.json) {
  mkdirSync(dirname(options.json), { recursive: true });
  writeFileSync(
    options.json,
    JSON.stringify({ command: commandLine("dist/bench/grid.js"), devices: label, node: process.version, rows }, undefined, 1) + "\n",
  );
}

type Problem = (grid: Grid<3>, type: "f64" | "f32") => Promise<GridProblem>;

/** Without a problem, that of the application. */
async function measure(application: string, size: number, type: "f64" | "f32", problem?: Problem): Promise<void> {
  for (const kind of list(options.grids))
    for (const occ of list(options.occ))
      for (const fuse of application === "cg" ? [true, false] : [true]) {
        const set = await devices(options.devices.length === 1 ? options.devices[0] : options.devices);
        try {
          await measureOne(set, { application, size, type, kind: kind as GridKind, occ: occ as OccLevel, fuse }, problem);
        } finally {
          await set.close();
        }
      }
}

interface Variant {
  application: string;
  size: number;
  type: "f64" | "f32";
  kind: GridKind;
  occ: OccLevel;
  fuse: boolean;
}

/** Conjugate gradients for a cube of hexahedra, whose operator reads 27 neighbours. */
async function elasticity(set: DeviceSet, { size, kind, occ }: Variant, settings: SkeletonOptions): Promise<Skeleton> {
  const solid = CASES.cube({ size, material: { young: 1, poisson: 0.3 }, pressure: 0.01 });
  const { unroll, precision } = settings;
  return (await Elasticity.create(set, solid, { grid: kind, occ, precision }, { unroll })).skeleton;
}

async function planOf(set: DeviceSet, variant: Variant, problem: Problem | undefined): Promise<Skeleton> {
  const { application, size, type, kind, occ, fuse } = variant;
  const settings: SkeletonOptions = { occ, fuse, precision: options.precision as "fast", unroll: Number(options.unroll) };
  if (!problem) return elasticity(set, variant, settings);
  const active = kind === "dense" ? undefined : new Uint8Array(size ** 3).fill(1);
  const { steps, temporary } = await problem(makeGrid(set, [size, size, size], { kind, active }), type);
  return skeleton(set, application, steps, { ...settings, temporary: fuse ? temporary : [] });
}

async function measureOne(set: DeviceSet, variant: Variant, problem: Problem | undefined): Promise<void> {
  const { application, size, type, kind, occ, fuse } = variant;
  const plan = await planOf(set, variant, problem);
  await plan.run(4);
  const byHand = application === "lbm" ? `lbm_${type}` : fuse ? "cg_fused" : "cg_unfused";
  const samples: number[] = [];
  const others: number[] = [];
  for (let round = 0; round < rounds; round++) {
    // As the hand-written kernels do, before each time that is taken.
    await plan.run(2 * Number(options.unroll));
    samples.push((await plan.run(iterations)).seconds / iterations);
    if (problem && handWritten && set.members.length === 1) others.push(handWritten(byHand, size));
  }
  const seconds = median(samples);
  const row: Row = {
    application,
    grid: kind,
    type,
    size,
    devices: set.name,
    occ,
    fused: fuse,
    seconds,
    mlups: size ** 3 / seconds / 1e6,
    ...(others.length > 0 ? { handWritten: median(others), ofHandWritten: median(samples.map((own, n) => others[n] / own)) } : {}),
  };
  rows.push(row);
  console.log(
    `${application.padEnd(4)} ${kind.padEnd(6)} ${type} ${size}^3 ${set.name} occ ${occ}${fuse ? "" : ", not fused"}: ${(1e3 * seconds).toFixed(3)} ms, ${row.mlups.toFixed(0)} MLUPS${row.handWritten ? `, by hand ${(1e3 * row.handWritten).toFixed(3)} ms, ratio ${row.ofHandWritten!.toFixed(3)}` : ""}`,
  );
  plan.free();
}

function baselines(): ((name: string, size: number) => number) | undefined {
  if (options.devices.join() !== "cuda:0") return undefined;
  const library = join(mkdtempSync(join(tmpdir(), "isoform-bench-")), "grid.so");
  const source = fileURLToPath(new URL("../../bench/baselines/grid.cu", import.meta.url));
  const built = spawnSync("nvcc", ["-O3", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-o", library, source], { encoding: "utf8" });
  if (built.status !== 0) return undefined;
  const loaded = koffi.load(library);
  return (name, size) => loaded.func(name, "double", ["int", "int"])(size, 20) as number;
}
