import { emitJs, type JsTarget } from "../../emit/js/index.js";
import type { ReduceParam, ScalarParam } from "../../ir/types.js";
import { KernelError } from "../../base/errors.js";
import { withPrinter } from "../../kernel/declare/builtins.js";
import { printerOf } from "../launch/prints.js";
import type { Binding } from "../launch/binding.js";
import { CpuDevice } from "../cpu/cpu-device.js";
import type { CpuProgram } from "../cpu/launch.js";
import { noCodeFromText, requireCodeFromText } from "../cpu/code-from-text.js";
import { cpuCapabilities, describeMachine } from "../cpu/machine.js";
import { finishReductions, partialArray, putScalar, type PartialValues } from "../cpu/partials.js";
import { partialCount } from "../../ir/launch.js";
import { CopyArena } from "./arena.js";
import { callKernel } from "./call.js";
import type { Backend } from "../device.js";
import { LaunchTuning } from "../tuning/tuning.js";

/**
 * The `js-debug` backend. A launch first calls the kernel's own TypeScript function on a copy of the views, which are checked, and then
 * runs emitted JavaScript whose indices, integers and locals are checked; only then are the results written. They have strict bits.
 */
export const backend: Backend = {
  name: "js-debug",
  single: true,
  async probe() {
    const { label, versions } = describeMachine(1);
    const missing = noCodeFromText();
    if (missing) return { backend: "js-debug", devices: [], versions, missing };
    return { backend: "js-debug", devices: [{ name: "js-debug", label, capabilities: cpuCapabilities(1, 0) }], versions };
  },
  async open() {
    requireCodeFromText("js-debug");
    return new JsDebugDevice();
  },
};

class JsDebugDevice extends CpuDevice {
  constructor() {
    super("js-debug", "js-debug", describeMachine(1).label, cpuCapabilities(1, 0));
  }

  protected override get compileOptions(): { debug: boolean } {
    return { debug: true };
  }

  protected build(binding: Binding, args: Readonly<Record<string, unknown>>): CpuProgram {
    return new DebugProgram(binding, args);
  }
}

class DebugProgram implements CpuProgram {
  readonly remarks: string[];
  readonly tuning: LaunchTuning;

  constructor(
    private readonly binding: Binding,
    private readonly args: Readonly<Record<string, unknown>>,
  ) {
    this.tuning = new LaunchTuning(binding, () => ({}));
    this.remarks = [
      "workers: 1",
      ...binding.ir.params.filter((p) => p.kind === "scatter").map((p) => `scatter "${p.name}": sorted, one worker adds in element order`),
    ];
  }

  run(): Record<string, number> {
    const views = Object.values(this.binding.views);
    const arena = new CopyArena(views);
    // Prints the lines of the code, as on all devices; if the launch fails, the lines of the function, up to the failure.
    const lines: string[] = [];
    let partials: ReturnType<typeof this.runChecked>;
    try {
      if (!this.binding.kernel.ir)
        withPrinter(
          (line) => lines.push(line),
          () => callKernel(this.binding, this.args, new CopyArena(views)),
        );
      partials = this.runChecked(arena);
    } catch (error) {
      lines.forEach(printerOf(this.binding));
      throw error;
    }
    arena.commit();
    return finishReductions(
      this.binding,
      partials.map(([param, values]) => ({ param, partials: values })),
    );
  }

  source(): string {
    return emitJs(this.target(new CopyArena(Object.values(this.binding.views))));
  }

  free(): void {}

  /** Runs checked code on the arena's copies; gives the partials of the reductions. */
  private runChecked(arena: CopyArena): [param: ReduceParam, partials: PartialValues & { readonly length: number }][] {
    const target = this.target(arena);
    const reductions = this.binding.ir.params.filter((p): p is ReduceParam => p.kind === "reduce");
    const buffers = [...arena.pieces.map((p) => p.copy), new ArrayBuffer(8 * this.slots())];
    const scalars = new Float64Array(buffers.at(-1)!);
    this.binding.ir.params
      .filter((p): p is ScalarParam => p.kind === "scalar")
      .forEach((p, n) => putScalar(scalars, n, this.binding.scalars[p.name]));
    const run = new Function("memory", "buffers", emitJs(target))(undefined, buffers) as (
      args: number,
      worker: number,
      workers: number,
    ) => void;
    try {
      run(0, 0, 1);
    } catch (error) {
      throw kernelError(this.binding.ir.name, error as Error);
    }
    const count = partialCount(this.binding.policy);
    return reductions.map((param) => [param, partialArray(param.type, buffers.at(-1)!, target.partials[param.name].address, count)]);
  }

  /** f64 slots after the pieces of the arena: scalars, then partials. */
  private slots(): number {
    const { ir, policy } = this.binding;
    return ir.params.filter((p) => p.kind === "scalar").length + ir.params.filter((p) => p.kind === "reduce").length * partialCount(policy);
  }

  private target(arena: CopyArena): JsTarget {
    const { ir, policy, views } = this.binding;
    const buffer = arena.pieces.length;
    const scalarCount = ir.params.filter((p) => p.kind === "scalar").length;
    const reductions = ir.params.filter((p) => p.kind === "reduce");
    return {
      ir,
      policy,
      workers: 1,
      checked: true,
      views: Object.fromEntries(
        Object.entries(views).map(([name, view]) => {
          const { piece, address } = arena.locate(view);
          return [name, { element: view.type, shape: view.shape, strides: view.strides, address, buffer: piece }];
        }),
      ),
      scalars: { address: 0, buffer },
      partials: Object.fromEntries(reductions.map((p, n) => [p.name, { address: 8 * (scalarCount + n * partialCount(policy)), buffer }])),
      scatter: Object.fromEntries(ir.params.filter((p) => p.kind === "scatter").map((p) => [p.name, { strategy: "sorted" }])),
    };
  }
}

/** An error of checked code, whose message starts with a place in the source. */
function kernelError(kernel: string, error: Error): Error {
  const m = /^(.*):(\d+):(\d+): ([^]*)$/.exec(error.message);
  return m ? new KernelError(kernel, { file: m[1], line: Number(m[2]), column: Number(m[3]) }, m[4]) : error;
}
