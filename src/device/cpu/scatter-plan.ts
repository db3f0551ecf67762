import { systemMemory } from "#engine";
import { derive } from "../../cache/derive.js";
import { ownedAxis, ownersKernel, whyNoOwners } from "../../ir/passes/owners.js";
import { analyseAccess, type AccessAnalysis } from "../../ir/analysis/access.js";
import { orderMatters } from "../../ir/identity.js";
import type { OwnersKernel } from "../../ir/passes/owners.js";
import { MOST_CACHED } from "../../ir/cache-lines.js";
import type { KernelIR, ScatterParam } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import type { ScatterStrategy } from "../device.js";
import { strategySource } from "../tuning/tuning.js";
import { BYTES } from "../memory/view.js";
import { belowOf, spanOf } from "./host-view.js";
import { foldingOf, type CopiesFold } from "./fold-copies.js";
import type { CpuLaunch } from "./launch.js";
import { PrivateCopies } from "./private-copies.js";
import { launchTimes, scatterTimes, type ScatterTimes } from "./scatter-times.js";
import type { Allocator } from "./storage.js";
import { WorkerCaches } from "./worker-caches.js";

/** Private copies of this many bytes are taken without a look at the free memory. */
const ALWAYS_FITS = 16 << 20;

/** How one scatter parameter's updates are brought together on a CPU. */
export interface ScatterPlan {
  name: string;
  strategy: ScatterStrategy;
  /** A line for Launch.remarks. */
  remark: string;
  /** `duplicated` with several workers: memory for the private copies. */
  copies?: PrivateCopies;
  /** Folds many of them; see `withFoldings`. */
  folding?: CpuLaunch;
  /** `cached`: the workers' scatter caches. */
  caches?: WorkerCaches;
}

/** How a launch with scatter parameters runs. */
interface ScatterPlans {
  /** Binding to compile: the launch itself, or its form for owners (ir/owners.ts). */
  binding: Binding;
  workers: number;
  plans: ScatterPlan[];
}

/**
 * Chooses the strategies of a launch's scatter parameters on `threads` threads, and takes the memory that they need. `allocate` returns
 * memory that the backend can reach, an atomic update takes `slower` times as long as in compiled code. Where the order of updates matters, either one worker makes them all, or each worker is an owner of a part of every target.
 */
export function planScatters(binding: Binding, threads: number, allocate: Allocator, slower = 1): ScatterPlans {
  const targets = binding.ir.params.filter((p): p is ScatterParam => p.kind === "scatter");
  const ordered = targets.filter((p) => binding.scatter[p.name] === "sorted" && orderMatters(p));
  if (ordered.length > 0) return planOrdered(binding, targets, threads);
  const times = new Map(threads > 1 ? targets.map((param) => [param, scatterTimes(binding, param, threads, slower)]) : []);
  const alone = aloneWhereFaster(binding, times, threads);
  if (alone) return { binding, workers: 1, plans: alone };
  const plans = targets.map((param) => planScatter(binding, param, { workers: threads, times: times.get(param), allocate }));
  return { binding, workers: threads, plans };
}

/** One worker takes over where several would take longer by this factor: the times are estimates. */
const CLEARLY = 1.2;

/** The plans of one worker that adds in element order, where it is faster than several and nobody asks for them. */
function aloneWhereFaster(binding: Binding, times: ReadonlyMap<ScatterParam, ScatterTimes>, threads: number): ScatterPlan[] | undefined {
  if (times.size === 0 || binding.tuning.values.workers !== undefined || binding.policy.kind === "team") return undefined;
  const isFree = ({ name }: ScatterParam): boolean =>
    (binding.scatter[name] ?? "sorted") === "sorted" && belowOf(binding.views[name]) === 0;
  if (![...times.keys()].every(isFree)) return undefined;
  const { alone, together } = launchTimes(binding, [...times.values()], threads);
  if (together < CLEARLY * alone) return undefined;
  const why = `one worker adds in element order in about ${micros(alone)} us, as ${threads} together would take ${micros(together)}`;
  return [...times.keys()].map(({ name }) => ({ name, strategy: "sorted", remark: `scatter "${name}": sorted, ${why}` }));
}

const micros = (nanoseconds: number): number => Math.ceil(nanoseconds / 1000);

function planOrdered(binding: Binding, targets: readonly ScatterParam[], threads: number): ScatterPlans {
  const owners = threads > 1 ? ownersOf(binding, threads) : "there is one worker";
  const how =
    typeof owners === "string"
      ? `one worker adds in element order, as ${owners}`
      : `${threads} workers go through all elements in order, and each adds to its own part of axis`;
  const plans = targets.map(({ name }): ScatterPlan => {
    const axis = typeof owners === "string" ? "" : ` ${owners.axes[name]}`;
    return { name, strategy: "sorted", remark: `scatter "${name}": sorted, ${how}${axis}` };
  });
  return typeof owners === "string" ? { binding, workers: 1, plans } : { binding: owners.binding, workers: threads, plans };
}

/** A worker's part of a target is this many indices at least: fewer could not be shared out evenly. */
const SHORTEST_PART = 8;
/** Owners pay where they are this much faster than one worker. */
const LEAST_GAIN = 1.6;

/** The launch for one owner a thread, or the reason why one worker is better. */
function ownersOf(binding: Binding, threads: number): { binding: Binding; axes: Record<string, number> } | string {
  const { ir, policy, views } = binding;
  const reason = whyNoOwners(ir);
  if (reason !== undefined || policy.kind === "team") return reason!;
  const axes: Record<string, number> = {};
  for (const param of ir.params) {
    if (param.kind !== "scatter") continue;
    const { shape } = views[param.name];
    const long = [...shape.keys()].filter((axis) => shape[axis] >= SHORTEST_PART * threads);
    if (long.length === 0) return `"${param.name}" is too short to be shared out`;
    axes[param.name] = ownedAxis(ir, param.name, long);
  }
  const owners = derive(ir, compiledOwners, axes);
  const gain = owners.kernel.gain(threads);
  if (gain < LEAST_GAIN) return `${threads} would each look at all elements, for a gain of ${gain.toFixed(2)} at best`;
  const partLengths = Object.entries(owners.kernel.partLengths).map(([name, scalar]) => [
    scalar,
    Math.ceil(views[name].shape[axes[name]] / threads),
  ]);
  return {
    axes,
    binding: {
      ...binding,
      ir: owners.kernel.ir,
      access: owners.access,
      policy: { kind: "range", begin: [0, ...policy.begin], extents: [threads, ...policy.extents] },
      scalars: { ...binding.scalars, ...Object.fromEntries(partLengths) },
    },
  };
}

interface CompiledOwners {
  kernel: OwnersKernel;
  access: AccessAnalysis;
}

/** The kernel's form for owners. */
function compiledOwners(ir: KernelIR, axes: Readonly<Record<string, number>>): CompiledOwners {
  const kernel = ownersKernel(ir, axes);
  return { kernel, access: analyseAccess(kernel.ir) };
}

/** Basis for the choice of a strategy; times are known for several workers. */
interface Means {
  readonly workers: number;
  readonly times: ScatterTimes | undefined;
  readonly allocate: Allocator;
}

/** Chooses the strategy of a scatter parameter whose order is free, and takes the memory that it needs. */
function planScatter(binding: Binding, param: ScatterParam, { workers, times, allocate }: Means): ScatterPlan {
  const { name } = param;
  const target = binding.views[name];
  const asked = binding.scatter[name];
  const made = (strategy: ScatterStrategy, why: string): ScatterPlan => ({
    name,
    strategy,
    remark: `scatter "${name}": ${strategy}, ${why}`,
    copies: strategy === "duplicated" && workers > 1 ? new PrivateCopies(param, target, workers, allocate) : undefined,
    caches: strategy === "cached" ? new WorkerCaches(param, workers, allocate) : undefined,
  });
  if (asked === "cached" && spanOf(target) > MOST_CACHED)
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${name}" cannot be cached: it reaches over ${spanOf(target)} elements, and scatter caches serve ${MOST_CACHED} at most; use the strategy "atomic"`,
    );
  const backward = belowOf(target) > 0;
  if (backward && (asked === "cached" || asked === "duplicated"))
    throw new LaunchError(
      `kernel "${binding.kernel.name}": scatter "${name}" cannot be ${asked}: its view of strides [${target.strides}] goes backwards; use the strategy "atomic", or a view that goes forwards`,
    );
  if (asked && asked !== "sorted") return made(asked, strategySource(binding));
  if (!times) return made("sorted", "one worker adds in element order");

  const free = asked === "sorted" ? "any order gives the same bits, and " : "";
  if (backward) return made("atomic", `${free}the view goes backwards`);
  const bytes = spanOf(target) * (workers - 1) * BYTES[param.element];
  if (bytes > ALWAYS_FITS && bytes > systemMemory().available / 4)
    return made(
      "atomic",
      `${free}${workers - 1} private copies of ${target.size} elements would take more than a quarter of the free memory`,
    );
  return times.duplicated <= times.atomic
    ? made(
        "duplicated",
        `${free}${workers - 1} private copies of ${target.size} elements cost less than about ${times.updates} atomic updates`,
      )
    : made(
        "atomic",
        `${free}${workers - 1} private copies of ${target.size} elements cost more than about ${times.updates} atomic updates`,
      );
}

/** Adds the launches that fold private copies, which `prepare` makes. */
export function withFoldings({ ir, views }: Binding, plans: readonly ScatterPlan[], prepare: (folding: CopiesFold) => CpuLaunch): void {
  for (const plan of plans) {
    const param = ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === plan.name)!;
    const folding = plan.copies && foldingOf(param, views[plan.name], plan.copies);
    if (folding) plan.folding = prepare(folding);
  }
}

/** Folds private copies into their targets. */
export function foldCopies(plans: readonly ScatterPlan[]): void {
  for (const { folding, copies } of plans)
    if (folding) folding.runUnseen();
    else copies?.fold();
}

/** Gives back the memory of plans. */
export const freePlans = (plans: readonly ScatterPlan[]): void =>
  plans.forEach(({ folding, copies, caches }) => {
    folding?.free();
    copies?.free();
    caches?.free();
  });
