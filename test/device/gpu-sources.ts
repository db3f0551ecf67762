import { COEFFICIENTS } from "../../apps/gsr/coefficients.js";
import * as generate from "../../apps/gsr/generate.js";
import * as gsr from "../../apps/gsr/kernels.js";
import * as scalars from "../../apps/gsr/scalars.js";
import * as sweep from "../../apps/gsr/sweep.js";
import * as vectors from "../../apps/gsr/vectors.js";
import * as stream from "../../apps/stream/kernels.js";
import * as elasticity from "../../apps/elasticity/elasticity.js";
import * as heat from "../../apps/heat/heat.js";
import * as cavity from "../../apps/lbm/cavity.js";
import { Simulation } from "../../apps/lbm/simulation.js";
import * as life from "../../apps/life/life.js";
import { pushCellsKernel } from "../../apps/pic/particles/cells.js";
import * as fields from "../../apps/pic/fields/field-kernels.js";
import { meshOf } from "../../apps/pic/mesh/mesh.js";
import * as particles from "../../apps/pic/particles/particles.js";
import * as poisson from "../../apps/poisson/poisson.js";
import { cg, lbmProblem } from "../../bench/grid-problems.js";
import * as bench from "../../bench/kernels.js";
import { bind } from "../../src/device/launch/bind.js";
import type { Device, LaunchOptions, Precision } from "../../src/device/device.js";
import type { CodeFacts } from "../../src/device/gpu/machine.js";
import { programOf } from "../../src/device/gpu/program.js";
import { open } from "../../src/device/open.js";
import type { Policy } from "../../src/device/launch/policy.js";
import { BrickUnitGrid } from "../../src/domain/bricks/brick-unit-grid.js";
import { dense, sparse } from "../../src/domain/index.js";
import type { GpuLanguage } from "../../src/schedule/program.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { IsoformError } from "../../src/base/errors.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import { devices } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { suite } from "../../src/testing/suite.js";

import { failing } from "../checked/cases.js";
import { fluxes } from "../domain/fluxes.js";

/** A language, and what is assumed of the GPU. */
export interface Target {
  readonly language: GpuLanguage;
  readonly facts: CodeFacts;
}

/** Kernel names by source. */
export type Sources = ReadonlyMap<string, string>;

/** Many kernels as one source, each in a namespace of its own: one run of a compiler costs more than most kernels. */
export const together = (sources: Iterable<string>): string =>
  [...sources].map((source, n) => `namespace program${n} {\n${source.replaceAll('extern "C" __global__', "__global__")}\n}`).join("\n");

/** What was translated, and what failed although a user may get no such error. */
class Translated {
  readonly sources = new Map<string, string>();
  readonly failures: unknown[] = [];

  finish(): Sources {
    if (this.failures.length > 0) throw new Error("a translation failed", { cause: this.failures[0] });
    return this.sources;
  }
}

/** The device, with every launch that it prepares also translated, as strict or fast code. */
function translating(device: Device, precision: Precision, { language, facts }: Target, translated: Translated): Device {
  const translate = (kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions) => {
    try {
      const { program } = programOf(bind(device, kernel, args, policy, { ...options, precision }), language, facts);
      translated.sources.set(program.source, kernel.name);
    } catch (error) {
      // What a user may get is what some cases want.
      if (!(error instanceof IsoformError)) translated.failures.push(error);
    }
  };
  return new Proxy(device, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown;
      if (property === "prepare" || property === "run")
        return (kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions) => {
          translate(kernel, args, policy, options);
          return (value as (...all: unknown[]) => unknown).call(target, kernel, args, policy, options);
        };
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const isKernel = (value: unknown): value is Kernel => typeof value === "object" && value !== null && "policy" in value && "body" in value;

/** Some value for each parameter that is compiled into the code. */
function fixedValues({ params }: Kernel): Record<string, number | boolean> {
  const fixed = Object.entries(params).filter(([, token]) => typeof token === "object" && token.kind === "fixed");
  return Object.fromEntries(fixed.map(([name, token]) => [name, (token as { type: string }).type === "bool" ? true : 4]));
}

/** Kernels of applications and benchmarks, with the values that are compiled into them. */
export function applicationKernels(): ReturnType<typeof compileKernel>[] {
  const modules = [generate, sweep, gsr, scalars, vectors, stream, bench, fields, particles];
  const kernels = modules.flatMap((module) => Object.values<unknown>({ ...module }).filter(isKernel));
  // Kernels for one right-hand side, and for four; with coefficients in f64, and in f32.
  for (const make of Object.values<unknown>({ ...sweep, ...vectors })) {
    if (typeof make !== "function") continue;
    const types = make.length === 2 ? COEFFICIENTS.map((type) => [type]) : [[]];
    const made = types.flatMap((type) => [1, 4].map((sides) => (make as (...words: unknown[]) => unknown)(...type, sides)));
    kernels.push(...made.filter(isKernel));
  }
  const box = meshOf([16, 8, 8], [1, 1, 1], 3, 3);
  kernels.push(particles.pushKernel(box, 0), pushCellsKernel(box, 0), particles.kickKernel(box), particles.depositKernel(box));
  return kernels.map((kernel) => compileKernel(kernel, fixedValues(kernel)));
}

/** What applications on grids of every kind launch. */
export async function gridSources(target: Target, precision: Precision): Promise<Sources> {
  const device = await open("js");
  const translated = new Translated();
  const set = await devices([translating(device, precision, target, translated)]);
  const settings = { grid: "dense", layout: "soa", occ: "none", fuse: true, unroll: 2, precision } as const;
  for (const { makeSkeleton } of [heat, life, poisson, elasticity, cavity])
    await (await makeSkeleton(set, { ...settings, size: 6 })).run(1);
  await (await Simulation.create(set, cavity.cavity({ reynolds: 10, size: 6 }), { pattern: "aa", precision })).run(2);
  const extents = [6, 6, 6] as const;
  for (const grid of [dense(set, extents), sparse(set, extents, () => true), new BrickUnitGrid<3>(set, extents, {})]) {
    for (const { steps, temporary } of [await lbmProblem(grid, "f64"), await lbmProblem(grid, "f32"), await cg(grid)])
      await skeleton(set, "grid", steps, { occ: "none", unroll: 2, precision, temporary }).run(1);
  }
  for (const axis of ["y", "z"] as const) {
    const grid = dense(set, extents, { periodic: [false, true, false] });
    await grid.run(fluxes(grid, axis).once, { precision });
  }
  await set.close();
  await device.close();
  return translated.finish();
}

/** Kernels whose indices are checked. */
export async function checkedSources(target: Target, precision: Precision): Promise<Sources> {
  const device = await open("js");
  const translated = new Translated();
  for (const { run } of failing)
    // They fail, by their nature.
    await run(translating(device, precision, target, translated), { checked: true, precision }).catch(() => undefined);
  await device.close();
  return translated.finish();
}

/** What the suite launches. */
export async function suiteSources(target: Target, precision: Precision): Promise<Sources> {
  const device = await open("js");
  device.precision = "strict";
  const translated = new Translated();
  for (const testCase of suite)
    // A case that fails on the device is the suite test's business.
    await testCase.run(translating(device, precision, target, translated)).catch(() => undefined);
  await device.close();
  return translated.finish();
}
