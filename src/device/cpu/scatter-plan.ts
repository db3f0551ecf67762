import { identityOf } from "../../ir/identity.js";
import type { ScatterParam } from "../../ir/types.js";
import type { Binding } from "../bind.js";
import type { ScatterStrategy } from "../device.js";
import { BYTES, typedArray, type TypedArray } from "../view.js";
import { addressOf, hostArray, spanOf } from "./host-view.js";
import { foldOf } from "./partials.js";
import { cpuStorage, systemMemory, type CpuBuffer } from "./storage.js";

/** Private copies of this many bytes are taken without a look at the free memory. */
const ALWAYS_FITS = 16 << 20;

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
  ) {
    this.span = spanOf(target);
    // An odd number of lines apart, so that the copies' equal elements do not share cache sets.
    this.stride = (Math.ceil((this.span * BYTES[param.element]) / 128) * 2 + 1) * 64;
    this.buffer = cpuStorage().allocate(this.stride * (workers - 1));
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

/**
 * Chooses the strategy of a scatter parameter and takes the memory that it needs. `atomicCost` is the time of an atomic update in units
 * of an element's copy and fold. With `sorted` the launch must run on one worker, in element order.
 */
export function planScatter(binding: Binding, name: string, workers: number, atomicCost: number): ScatterPlan {
  const param = binding.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === name)!;
  const target = binding.views[name];
  const asked = binding.scatter[name];
  const made = (strategy: ScatterStrategy, why: string): ScatterPlan => ({
    name,
    strategy,
    decision: `scatter "${name}": ${strategy}, ${why}`,
    copies: strategy === "duplicated" && workers > 1 ? new PrivateCopies(param, target, workers) : undefined,
  });
  if (asked) return made(asked, asked === "sorted" ? "as strict bits ask: one worker adds in element order" : "as asked");
  if (workers === 1) return made("sorted", "one worker adds in element order");

  const copied = spanOf(target) * (workers - 1);
  const updates = updateCount(binding);
  const bytes = copied * BYTES[param.element];
  if (bytes > ALWAYS_FITS && bytes > systemMemory().available / 4)
    return made("atomic", `${workers - 1} private copies of ${target.size} elements would take more than a quarter of the free memory`);
  return copied <= updates * atomicCost
    ? made(
        "duplicated",
        `${workers - 1} private copies of ${target.size} elements cost less than atomic updates by about ${updates} elements`,
      )
    : made("atomic", `${workers - 1} private copies of ${target.size} elements cost more than atomic updates by about ${updates} elements`);
}

/** Elements that may scatter; a team's inner loops are known only by the bytes that they move. */
function updateCount({ policy, cost }: Binding): number {
  return policy.kind === "range" ? policy.extents.reduce((a, b) => a * b, 1) : Math.max(policy.league, Math.round(cost.bytes / 16));
}
