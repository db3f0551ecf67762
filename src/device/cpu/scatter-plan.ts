import { identityOf, orderMatters } from "../../ir/identity.js";
import { analyseAccess, type AccessAnalysis } from "../../ir/access.js";
import { ownedAxis, ownersKernel, whyNoOwners, type OwnersKernel } from "../../ir/owners.js";
import type { KernelIR, ScatterParam } from "../../ir/types.js";
import type { Binding } from "../bind.js";
import type { ScatterStrategy } from "../device.js";
import { BYTES, typedArray, type TypedArray } from "../view.js";
import { addressOf, hostArray, spanOf } from "./host-view.js";
import { foldOf } from "./partials.js";
import { systemMemory, type CpuBuffer } from "./storage.js";

/** Private copies of this many bytes are taken without a look at the free memory. */
const ALWAYS_FITS = 16 << 20;

/** Takes memory that the backend can reach. */
export type Allocate = (bytes: number) => CpuBuffer;

/** How one scatter parameter's updates are brought together on a CPU. */
export interface ScatterPlan {
  name: string;
  strategy: ScatterStrategy;
  /** A line for Launch.decisions. */
  decision: string;
  /** `duplicated` with several workers: memory for the private copies. */
  copies?: PrivateCopies;
}

/**
 * The private copies of one scatter target: worker 0 works on the target itself, worker w > 0 on a copy of its own with the target's
 * strides, so that only the base address differs. Between launches the copies hold the operation's identity.
 */
export class PrivateCopies {
  readonly buffer: CpuBuffer;
  /** Bytes from one copy to the next. */
  readonly stride: number;
  private readonly span: number;

  constructor(
    private readonly param: ScatterParam,
    private readonly target: Binding["views"][string],
    readonly workers: number,
    allocate: Allocate,
  ) {
    this.span = spanOf(target);
    // An odd number of lines apart, so that the copies' equal elements do not share cache sets.
    this.stride = (Math.ceil((this.span * BYTES[param.element]) / 128) * 2 + 1) * 64;
    this.buffer = allocate(this.stride * (workers - 1));
    const identity = identityOf(param.op, param.element);
    if (identity !== 0) for (let worker = 1; worker < workers; worker++) this.copy(worker).fill(identity);
  }

  /** Byte address of the copy of worker 1 or later, in the buffer's host; for worker 0 the target's own. */
  address(worker: number): number {
    return worker === 0 ? addressOf(this.target) : this.buffer.address + (worker - 1) * this.stride;
  }

  /** Adds the copies to the target, copy by copy, and resets them. Places that no worker added to are left as they are. */
  fold(): void {
    const { op, element } = this.param;
    const target = hostArray(this.target);
    const identity = identityOf(op, element);
    const fold = foldOf(op, element);
    for (let worker = 1; worker < this.workers; worker++) {
      const copy = this.copy(worker);
      if (op === "sum") {
        for (let n = 0; n < copy.length; n++) if (copy[n] !== 0) target[n] += copy[n];
      } else for (let n = 0; n < copy.length; n++) if (copy[n] !== identity) target[n] = fold(target[n], copy[n]);
      copy.fill(identity);
    }
  }

  free(): void {
    this.buffer.free();
  }

  private copy(worker: number): TypedArray {
    return typedArray(this.param.element, this.buffer.host, this.address(worker), this.span);
  }
}

/** How a launch with scatter parameters runs. */
export interface ScatterPlans {
  /** What is to be compiled: the launch itself, or its form for owners (ir/owners.ts). */
  binding: Binding;
  workers: number;
  plans: ScatterPlan[];
}

/**
 * Chooses the strategies of a launch's scatter parameters on so many `threads`, and takes the memory that they need. `atomicCost` is the time
 * of an atomic update in units of an element's copy and fold, `allocate` gives what the backend can reach. Where the order of updates matters, either one worker makes them all, or each
 * worker is an owner of a stretch of every target.
 */
export function planScatters(binding: Binding, threads: number, atomicCost: number, allocate: Allocate): ScatterPlans {
  const targets = binding.ir.params.filter((p): p is ScatterParam => p.kind === "scatter");
  const ordered = targets.filter((p) => binding.scatter[p.name] === "sorted" && orderMatters(p));
  if (ordered.length > 0) return planOrdered(binding, targets, threads);
  return { binding, workers: threads, plans: targets.map((param) => planScatter(binding, param, threads, atomicCost, allocate)) };
}

function planOrdered(binding: Binding, targets: readonly ScatterParam[], threads: number): ScatterPlans {
  const owners = threads > 1 ? ownersOf(binding, threads) : "there is one worker";
  const how =
    typeof owners === "string"
      ? `one worker adds in element order, as ${owners}`
      : `${threads} workers go through all elements in order, and each adds to its own part of axis`;
  const plans = targets.map(({ name }): ScatterPlan => {
    const axis = typeof owners === "string" ? "" : ` ${owners.axes[name]}`;
    return { name, strategy: "sorted", decision: `scatter "${name}": sorted, ${how}${axis}` };
  });
  return typeof owners === "string" ? { binding, workers: 1, plans } : { binding: owners.binding, workers: threads, plans };
}

/** A worker's part of a target is this many indices at least: fewer could not be shared out evenly. */
const SHORTEST_STRETCH = 8;
/** Owners pay where they are this much faster than one worker. */
const LEAST_GAIN = 1.2;

/** The launch for one owner a thread, or the reason why one worker is better. */
function ownersOf(binding: Binding, threads: number): { binding: Binding; axes: Record<string, number> } | string {
  const { ir, policy, views } = binding;
  const reason = whyNoOwners(ir);
  if (reason !== undefined || policy.kind === "team") return reason!;
  const axes: Record<string, number> = {};
  for (const param of ir.params) {
    if (param.kind !== "scatter") continue;
    const { shape } = views[param.name];
    const long = [...shape.keys()].filter((axis) => shape[axis] >= SHORTEST_STRETCH * threads);
    if (long.length === 0) return `"${param.name}" is too short to be shared out`;
    axes[param.name] = ownedAxis(ir, param.name, long);
  }
  const owners = compiledOwners(ir, axes);
  const gain = owners.kernel.gain(threads);
  if (gain < LEAST_GAIN) return `${threads} would each look at all elements, for a gain of ${gain.toFixed(2)} at best`;
  const stretches = Object.entries(owners.kernel.stretches).map(([name, scalar]) => [
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
      scalars: { ...binding.scalars, ...Object.fromEntries(stretches) },
    },
  };
}

interface CompiledOwners {
  kernel: OwnersKernel;
  access: AccessAnalysis;
}

const compiled = new WeakMap<KernelIR, Map<string, CompiledOwners>>();

/** The kernel's form for owners, the same object each time, as backends remember what they compiled by it. */
function compiledOwners(ir: KernelIR, axes: Readonly<Record<string, number>>): CompiledOwners {
  const variants = compiled.get(ir) ?? new Map<string, CompiledOwners>();
  compiled.set(ir, variants);
  const key = JSON.stringify(axes);
  let variant = variants.get(key);
  if (!variant) {
    const kernel = ownersKernel(ir, axes);
    variants.set(key, (variant = { kernel, access: analyseAccess(kernel.ir) }));
  }
  return variant;
}

/** Chooses the strategy of a scatter parameter whose order is free, and takes the memory that it needs. */
function planScatter(binding: Binding, param: ScatterParam, workers: number, atomicCost: number, allocate: Allocate): ScatterPlan {
  const { name } = param;
  const target = binding.views[name];
  const asked = binding.scatter[name];
  const made = (strategy: ScatterStrategy, why: string): ScatterPlan => ({
    name,
    strategy,
    decision: `scatter "${name}": ${strategy}, ${why}`,
    copies: strategy === "duplicated" && workers > 1 ? new PrivateCopies(param, target, workers, allocate) : undefined,
  });
  if (asked && asked !== "sorted") return made(asked, "as asked");
  if (workers === 1) return made("sorted", "one worker adds in element order");

  const free = asked === "sorted" ? "any order gives the same bits, and " : "";
  const copied = spanOf(target) * (workers - 1);
  const updates = updateCount(binding);
  const bytes = copied * BYTES[param.element];
  if (bytes > ALWAYS_FITS && bytes > systemMemory().available / 4)
    return made(
      "atomic",
      `${free}${workers - 1} private copies of ${target.size} elements would take more than a quarter of the free memory`,
    );
  return copied <= updates * atomicCost
    ? made(
        "duplicated",
        `${free}${workers - 1} private copies of ${target.size} elements cost less than atomic updates by about ${updates} elements`,
      )
    : made(
        "atomic",
        `${free}${workers - 1} private copies of ${target.size} elements cost more than atomic updates by about ${updates} elements`,
      );
}

/** Elements that may scatter; a team's inner loops are known only by the bytes that they move. */
function updateCount({ policy, cost }: Binding): number {
  return policy.kind === "range" ? policy.extents.reduce((a, b) => a * b, 1) : Math.max(policy.league, Math.round(cost.bytes / 16));
}
