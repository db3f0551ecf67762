import { memoised, named } from "#memoise";
import { emitWasm, type WasmKernel, type WasmSpec } from "../../emit/wasm/module.js";
import type { Policy, RangePolicy } from "../../ir/launch.js";
import type { KernelIR } from "../../ir/types.js";
import { enclosing, SeenRanges } from "../cpu/any-range.js";
import type { WorkerPool } from "../cpu/pool.js";

/** Modules without a launch that are kept for the next launch of the same kind. */
const KEPT_MODULES = 256;

/** A module, how often launches use it, and its number in the pool. */
export interface CachedModule {
  key: string;
  kernel: WasmKernel;
  id: number;
  users: number;
}

/** Modules by what they are specialised on, registered with the pool. */
export class ModuleCache {
  private readonly known = new Map<string, CachedModule>();
  private readonly kernels = new WeakMap<KernelIR, number>();
  private nextKernel = 0;
  private readonly ranges = new SeenRanges();

  constructor(private readonly pool: WorkerPool) {}

  /** @param isOnce the launch runs once */
  acquire(spec: WasmSpec, isOnce: boolean): CachedModule {
    const { ir, policy } = spec;
    const rest = JSON.stringify({ ...spec, ir: undefined, policy: undefined });
    const keyOf = (of: Policy, what: string): string => `${this.numberOf(ir)} ${what} ${JSON.stringify(of)} ${rest}`;
    const own = keyOf(policy, "range");
    let module = this.known.get(own);
    if (!module && this.ranges.areMany(spec, rest, isOnce)) {
      const around = enclosing(policy as RangePolicy);
      module = this.made(keyOf(around, "any range in"), { ...spec, policy: around, anyRange: true });
    }
    module ??= this.made(own, spec);
    module.users++;
    return module;
  }

  private made(key: string, spec: WasmSpec): CachedModule {
    let found = this.known.get(key);
    if (!found) {
      const { ir, ...rest } = spec;
      const kernel = memoised("module", [named(ir), rest], () => emitWasm(spec));
      const { params, name } = spec.ir;
      // Workers that add up by themselves do so in an order of their own.
      const divides = params.every(({ kind }) => kind !== "scatter" && (kind !== "reduce" || kernel.partials === "units"));
      found = { key, kernel, id: this.pool.register({ kind: "wasm", name, bytes: kernel.bytes, divides }), users: 0 };
      this.known.set(key, found);
    }
    return found;
  }

  /** The pool has forgotten all of them. */
  clear(): void {
    this.known.clear();
  }

  release(module: CachedModule): void {
    module.users--;
    if (this.known.size <= KEPT_MODULES) return;
    const idle = [...this.known.values()].find(({ users }) => users === 0);
    if (!idle) return;
    this.known.delete(idle.key);
    this.pool.release(idle.id);
  }

  private numberOf(ir: KernelIR): number {
    let n = this.kernels.get(ir);
    if (n === undefined) this.kernels.set(ir, (n = this.nextKernel++));
    return n;
  }
}
