import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import * as fused from "../../apps/gsr/fused.js";
import * as generate from "../../apps/gsr/generate.js";
import * as gsr from "../../apps/gsr/kernels.js";
import * as scalars from "../../apps/gsr/scalars.js";
import * as vectors from "../../apps/gsr/vectors.js";
import * as stream from "../../apps/stream/kernels.js";
import * as elasticity from "../../apps/elasticity/elasticity.js";
import * as heat from "../../apps/heat/heat.js";
import * as cavity from "../../apps/lbm/cavity.js";
import { Simulation } from "../../apps/lbm/simulation.js";
import * as life from "../../apps/life/life.js";
import * as poisson from "../../apps/poisson/poisson.js";
import { cg, lbm } from "../../bench/grid-problems.js";
import * as bench from "../../bench/kernels.js";
import { BrickGrid } from "../../src/domain/brick-grid.js";
import { dense, sparse } from "../../src/domain/index.js";
import { devices } from "../../src/set/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { bind } from "../../src/device/bind.js";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { programOf } from "../../src/device/gpu/program.js";
import type { Device, LaunchOptions, Precision } from "../../src/device/device.js";
import { open } from "../../src/device/open.js";
import type { Policy } from "../../src/device/policy.js";
import { cudaLanguage, cudaSource } from "../../src/emit/c/cuda.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { IsoformError } from "../../src/kernel/errors.js";
import type { Kernel } from "../../src/kernel/kernel.js";
import { ladder } from "../../src/testing/ladder.js";
import { dataOf } from "../random/data.js";
import { KernelPrograms } from "../random/generate.js";
import { kernelOf } from "../random/program.js";

/** Volta, Ampere and Hopper: the oldest that CUDA 12 knows, and those of the published measurements. */
const ARCHITECTURES = [70, 80, 90];
/** Shared memory that a block may ask for on the smallest of them. */
const FACTS = { sharedBytes: 96 << 10, threads: 1024, atomics64: true };

interface Translated {
  /** Kernel names by source. */
  sources: Map<string, string>;
  failures: Error[];
}

/** The device, with every launch that it prepares also translated to CUDA, as strict or fast code. */
function translating(device: Device, precision: Precision, { sources, failures }: Translated): Device {
  const translate = (kernel: Kernel, args: Record<string, unknown>, policy: Policy, options?: LaunchOptions) => {
    try {
      const { program } = programOf(bind(device, kernel, args, policy, { ...options, precision }), cudaLanguage, FACTS);
      sources.set(program.source, kernel.name);
    } catch (error) {
      // What a user may get is what some rungs want.
      if (!(error instanceof IsoformError)) failures.push(error as Error);
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
  const fixed = Object.entries(params).filter(([, token]) => typeof token !== "function" && token.kind === "fixed");
  return Object.fromEntries(fixed.map(([name, token]) => [name, (token as { type: string }).type === "bool" ? true : 4]));
}

const compiler = await Nvrtc.open().then(
  (nvrtc) => ({ nvrtc }),
  (error: Error) => ({ missing: error.message }),
);

describe("NVRTC compiles the CUDA code of", { skip: "missing" in compiler ? compiler.missing : false }, () => {
  const { nvrtc } = compiler as { nvrtc: Nvrtc };
  const architectures = ARCHITECTURES.filter((arch) => nvrtc?.architectures.includes(arch));
  const compile = (source: string, name: string, fmad: boolean) => {
    for (const arch of architectures) assert.ok(nvrtc.compileToCubin(source, arch, { fmad, name }).length > 0);
  };

  it("the library's own kernels", () => {
    compile(cudaLanguage.sort, "sort", false);
    compile(cudaLanguage.copies, "copy", false);
  });

  it("the applications and benchmarks", () => {
    const modules = [generate, fused, gsr, scalars, vectors, stream, bench];
    const kernels = modules.flatMap((module) => Object.values<unknown>({ ...module }).filter(isKernel));
    assert.ok(kernels.length > 25);
    for (const kernel of kernels)
      for (const precision of ["strict", "fast"] as const)
        compile(cudaSource(compileKernel(kernel, fixedValues(kernel)), precision), kernel.name, precision === "fast");
  });

  it("random kernels", () => {
    for (const program of fc.sample(new KernelPrograms(), { numRuns: 25, seed: 1 })) {
      const kernel = kernelOf(program);
      const source = cudaSource(compileKernel(kernel, dataOf(program).fixed), "strict");
      assert.ok(nvrtc.compileToCubin(source, architectures.at(-1)!, { fmad: false, name: "random" }).length > 0, source);
    }
  });

  for (const precision of ["strict", "fast"] as const)
    it(`applications on grids, ${precision}`, async () => {
      const device = await open("js");
      const translated: Translated = { sources: new Map(), failures: [] };
      const set = await devices([translating(device, precision, translated)]);
      const settings = { grid: "dense", layout: "soa", occ: "none", fuse: true, unroll: 2, precision } as const;
      for (const { makeSkeleton } of [heat, life, poisson, elasticity, cavity])
        await (await makeSkeleton(set, { ...settings, size: 6 })).run(1);
      await (await Simulation.create(set, cavity.cavity({ reynolds: 10, size: 6 }), { pattern: "aa", precision })).run(2);
      const extents = [6, 6, 6] as const;
      for (const grid of [dense(set, extents), sparse(set, extents, () => true), new BrickGrid<3>(set, extents, {})]) {
        for (const { steps, temporary } of [await lbm(grid, "f64"), await lbm(grid, "f32"), await cg(grid)])
          await skeleton(set, "grid", steps, { ...settings, temporary }).run(1);
      }
      await set.close();
      await device.close();
      assert.deepEqual(translated.failures, []);
      assert.ok(translated.sources.size > 20);
      for (const [source, name] of translated.sources) compile(source, name, precision === "fast");
    });

  for (const precision of ["strict", "fast"] as const)
    it(`the ladder, ${precision}, for ${architectures.map((arch) => `sm_${arch}`).join(", ")}`, async () => {
      const device = await open("js");
      device.precision = "strict";
      const translated: Translated = { sources: new Map(), failures: [] };
      // A rung that fails on the device is the ladder test's business.
      for (const rung of ladder) await rung.run(translating(device, precision, translated)).catch(() => undefined);
      await device.close();
      assert.deepEqual(translated.failures, []);
      const { sources } = translated;
      assert.ok(sources.size > ladder.length / 2);
      for (const [source, name] of sources) compile(source, name, precision === "fast");
    });
});
