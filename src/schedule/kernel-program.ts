import type { AccessAnalysis } from "../ir/analysis/access.js";
import type { ElementType, KernelIR, ReduceParam, ScatterParam, ViewParam } from "../ir/types.js";
import { foldGroups, foldsJointly } from "../ir/joint.js";
import { readAfterWrite } from "./coherence.js";
import { finalThreads, type Features } from "./features.js";
import { canSend } from "./mailbox.js";
import type { Func } from "./nodes.js";
import type { GpuAssumptions, ScatterCode } from "./program.js";

/** State shared by the entries of one program: the kernel, its assumptions, the functions that entries call. */
export class Program {
  readonly functions = new Map<string, Func>();
  /** Element types of views that are read after they were written. */
  private readonly readAfterWrite: ReadonlySet<ElementType>;

  constructor(
    readonly ir: KernelIR,
    readonly access: AccessAnalysis,
    readonly assumptions: GpuAssumptions,
    readonly features: Features,
  ) {
    this.readAfterWrite = new Set([...readAfterWrite(ir)].map((name) => this.array(name).element));
  }

  get reduces(): ReduceParam[] {
    return this.ir.params.filter((p) => p.kind === "reduce");
  }

  /** Reductions; those that fold jointly stand together, others alone. */
  get reduceGroups(): (readonly ReduceParam[])[] {
    return foldGroups(this.reduces);
  }

  array(name: string): ViewParam | ScatterParam {
    const found = this.ir.params.find((p) => p.name === name);
    if (found?.kind !== "view" && found?.kind !== "scatter") throw new Error(`kernel "${this.ir.name}" has no view "${name}"`);
    return found;
  }

  target(name: string): ScatterParam {
    return this.array(name) as ScatterParam;
  }

  scatterCode(name: string): ScatterCode {
    return this.assumptions.scatter[name] ?? (this.assumptions.strict ? "serial" : "atomic");
  }

  scatters(code: ScatterCode): ScatterParam[] {
    return this.ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && this.scatterCode(p.name) === code);
  }

  /** Folds keep the order of strict mode. */
  get ordered(): boolean {
    return this.assumptions.strict || this.assumptions.ordered === true || foldsJointly(this.ir);
  }

  /** Blocks of the finish fold partials from several places, and bring their totals together: where they do not, entries fold step by step. */
  get reducesInOneKernel(): boolean {
    const { length } = this.reduces;
    return length > 0 && !this.ordered && finalThreads(this.features) > 0 && (this.features.peerAccess === 0 || canSend(length));
  }

  /** One thread runs it all. */
  get serial(): boolean {
    return this.scatters("serial").length > 0;
  }

  /** Whether a view is written, and whether a view that is only read may be read by a path of its own. */
  isWritten(view: string): boolean {
    return this.array(view).kind === "scatter" || this.access.views[view]?.written === true;
  }
  isStale(view: string): boolean {
    return !this.isWritten(view) && this.readAfterWrite.has(this.array(view).element);
  }

  /** Notes that entries call a function, which `make` makes once. */
  function(name: string, make: () => Func): Func {
    const known = this.functions.get(name) ?? make();
    this.functions.set(name, known);
    return known;
  }
}
