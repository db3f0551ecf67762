import { z } from "zod";
import { GRID_KINDS } from "../domain/grid/options.js";
import { OCC_LEVELS } from "../skeleton/plan/occ.js";
import { DIRECTIONS } from "./cells.js";
import { YARDSTICKS } from "./metric.js";
import { MOVERS } from "./movers.js";

/** Version of the assessment's JSON; it rises when a reader of the former one would misread. */
export const SCHEMA = "isoform-assessment-1";

const name = z.string().min(1);
const positive = z.number().positive();
const sigma = z.number().nonnegative().nullable().describe("standard deviation; null where there is one sample only");
const efficiency = z.number().nonnegative().describe("a fraction of 1");

const machine = z.object({
  name,
  system: z.string().describe("operating system and architecture"),
  processor: z.string(),
  threads: z.int().positive(),
  memory: positive.describe("bytes"),
  engine: z.string().describe("Node's version"),
  isoform: z.string().describe("this package's version"),
  date: z.iso.datetime(),
});

const device = z.object({
  name: name.describe("as given to --devices"),
  platform: name.describe("the hardware, as in runs"),
  backend: name,
  label: z.string(),
  parallelism: z.int().positive().optional(),
  peakBandwidth: positive.describe("bytes a second: the most that was measured, or as published"),
  bandwidthBy: z.enum(MOVERS).optional().describe("what reached it; absent in files of former versions and where devices differ"),
  peakFlops: positive.nullable().describe("floating-point operations a second: the best f64 multiply-adds measured; null where unknown"),
  theoretical: z
    .object({ bandwidth: positive.optional(), flops: positive.optional() })
    .optional()
    .describe("the vendor's figures of the same two, as far as they are known"),
  source: z.enum(["measured", "published"]),
});

const runNames = {
  application: name.describe("the code path"),
  platform: name.describe("the hardware"),
  problem: name,
  run: z.int().nonnegative(),
  quantity: name.describe("iteration, or a kernel's name"),
};

const run = z.union([
  z.object({
    ...runNames,
    seconds: positive.describe("mean of one iteration or launch"),
    bytes: positive.optional().describe("moved in that time, by the counting rule"),
    flops: z.number().nonnegative().optional().describe("done in that time"),
  }),
  z
    .object({ ...runNames, fom: positive.describe("a figure of merit, in any unit"), better: z.enum(DIRECTIONS) })
    .describe("from a file of figures of merit"),
]);

const metric = z.object({
  metric: z.enum(["app", "arch"]),
  yardstick: z
    .enum(YARDSTICKS)
    .optional()
    .describe(
      "programs whose best time counts: any on the platform, or those on all of the set; files of former versions have set and do not say it",
    ),
  setName: name,
  set: z.array(name).min(1).describe("platforms, without those on which nobody ran the problem"),
  problem: name,
  application: name,
  value: efficiency.describe("Pennycook's metric; 0 where the application lacks a platform of the set"),
  sigma,
  efficiencies: z.array(z.object({ platform: name, value: efficiency, sigma })),
  supported: z
    .object({ platforms: z.int().nonnegative(), value: efficiency, sigma })
    .optional()
    .describe("the same over those platforms of the set on which the application runs; absent in files of former versions"),
});

const kernel = z.object({ application: name, platform: name, problem: name, quantity: name, efficiency, sigma });

const kernelMean = z
  .object({ setName: name, set: z.array(name).min(1), problem: name, application: name, quantity: name, efficiency, sigma })
  .describe("a kernel's efficiency, averaged over a set");

const validation = z.object({
  application: name,
  platform: name,
  problem: name,
  ok: z.boolean(),
  maxError: z.number().nonnegative().nullable().describe("largest over all runs; null where it was not a number"),
  against: z.string(),
});

const setting = z
  .object({
    application: name,
    platform: name,
    problem: name,
    devices: name.describe("as given to --devices"),
    precision: z.enum(["strict", "fast"]),
    form: name.optional().describe("how the application did its work, of one with several forms"),
    // Files of former versions call bricks blocks.
    grid: z.preprocess((kind) => (kind === "blocks" ? "bricks" : kind), z.enum(GRID_KINDS)).optional(),
    layout: z.enum(["soa", "aos"]).optional(),
    occ: z.enum(OCC_LEVELS).optional().describe("overlap of computation and communication"),
    choices: z
      .array(
        z.object({
          of: z.enum(["storage", "occ"]),
          best: name,
          seconds: z.record(z.string(), positive).describe("of one iteration, or plan, each way"),
        }),
      )
      .optional()
      .describe("options that were left to measurement, and what was found"),
  })
  .describe("how a code path was run; form of applications with several, grid, layout and occ of applications on grids");

const coverage = z
  .object({
    application: name,
    platform: name,
    problem: name,
    files: z.array(
      z.object({
        file: z.string(),
        id: z.string().describe("tells versions of the file apart"),
        lines: z
          .string()
          .regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/)
          .describe("numbers of the lines that are used: 8,10-12"),
      }),
    ),
  })
  .describe("source code that an application uses on a platform");

const divergence = z.object({
  setName: name,
  set: z.array(name).describe("platforms of the set whose source code is known"),
  problem: name,
  application: name,
  divergence: efficiency.describe(
    "mean over pairs of platforms of the share of lines that only one of them uses (Harrell and Kitson 2018)",
  ),
  convergence: efficiency.describe("1 - divergence"),
  by: z.enum(["coverage", "one source"]).describe("lines of the coverage, or one source on all platforms"),
});

const missing = z
  .object({
    application: name,
    platform: name,
    problem: name.describe("the application's name where no device ran it"),
    devices: name.describe("as given to --devices; the platform in published timings"),
    reason: z.string(),
    failed: z.literal(true).optional().describe("it should have run there"),
  })
  .describe("a code path that a device cannot run, where it failed, or that a file has no value for");

const lineCount = z.int().nonnegative();

const build = z
  .object({
    application: name,
    platform: name,
    problem: name,
    port: name.describe("target of isoform emit"),
    compiler: name.describe("its command"),
    version: z.string(),
    command: z.string().describe("the command line for each file, with KERNEL for the kernel's name"),
    precision: z.enum(["strict", "fast"]),
    kernels: lineCount.describe("kernels of the application that ran, a file each"),
    lines: z
      .object({ total: lineCount, kernels: lineCount, data: lineCount })
      .describe("lines of these files that are neither blank nor a comment: all, in kernels, and those that hold or move data"),
    source: lineCount.describe("such lines of the functions that the kernels are written as, once for all ports"),
  })
  .describe("how the files of a port were built");

const resources = z
  .object({
    application: name,
    platform: name,
    problem: name,
    kernel: name,
    registers: z.int().nonnegative().optional().describe("of a thread"),
    localBytes: z.int().nonnegative().optional().describe("of a thread"),
    sharedBytes: z.int().nonnegative().optional().describe("of a block"),
    threads: z.int().positive().optional().describe("of a block"),
    blocks: z.int().nonnegative().optional().describe("on one multiprocessor at a time"),
    occupancy: efficiency.optional().describe("threads that are resident, of those that a multiprocessor can hold"),
  })
  .describe("what a kernel takes of a GPU; absent where the driver does not tell");

const counters = z
  .object({
    application: name,
    platform: name,
    problem: name,
    kernel: name.describe("a kernel, or a function of the driver that fills or copies memory"),
    launches: z.int().positive().describe("launches that were counted; what follows is the mean of one"),
    bytes: z.number().nonnegative().optional().describe("moved by the counting rule"),
    flops: z.number().nonnegative().optional().describe("done by the counting rule"),
    read: z.number().nonnegative().describe("bytes read from the GPU's memory"),
    written: z.number().nonnegative().describe("bytes written to it"),
    seconds: z.number().nonnegative().describe("by ncu, with empty caches"),
    l1HitRate: efficiency.optional().describe("sectors found in the L1 cache, in its function that takes the most time"),
    atomicSectors: z.number().nonnegative().optional().describe("sectors of 32 bytes that atomic operations take to the L2 cache"),
  })
  .describe("what the hardware counted of a kernel");

/** The JSON of an assessment: what `isoform assess --json` writes and `--merge` reads. */
export const assessmentSchema = z
  .object({
    schema: z.literal(SCHEMA),
    host: z.array(machine).describe("the machines it was measured on; none for published timings"),
    devices: z.array(device),
    runs: z.array(run),
    yardstick: z.enum(YARDSTICKS).optional().describe("what figures and the summary show; set in files of former versions"),
    metrics: z.array(metric),
    kernels: z.array(kernel),
    kernelMeans: z.array(kernelMean),
    validation: z.array(validation),
    settings: z.array(setting).optional().describe("absent in files of former versions and for published timings"),
    builds: z.array(build).optional().describe("ports; absent in files of former versions"),
    resources: z.array(resources).optional().describe("kernels on GPUs; absent in files of former versions"),
    counters: z.array(counters).optional().describe("where --counters asked for them; absent in files of former versions"),
    missing: z.array(missing).optional().describe("absent in files of former versions"),
    coverage: z.array(coverage).optional().describe("absent in files of former versions, and where it is unknown"),
    divergences: z.array(divergence).optional().describe("absent in files of former versions"),
    notes: z.array(z.string()).optional().describe("remarks on figures that were left out; absent in files of former versions"),
  })
  .meta({ title: "Isoform assessment" });

/** The result of an assessment, as `isoform assess --json` writes it. */
export type Assessment = z.infer<typeof assessmentSchema>;
export type Machine = z.infer<typeof machine>;
export type AssessedDevice = z.infer<typeof device>;
export type Validation = z.infer<typeof validation>;
export type Missing = z.infer<typeof missing>;
export type Setting = z.infer<typeof setting>;
export type Build = z.infer<typeof build>;
export type KernelResources = z.infer<typeof resources>;
export type KernelCounters = z.infer<typeof counters>;

/** The JSON Schema that docs/assessment.schema.json holds. */
export function assessmentJsonSchema(): object {
  return z.toJSONSchema(assessmentSchema);
}
