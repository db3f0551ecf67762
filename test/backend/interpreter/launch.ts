import { LaunchError, type Kernel, type Policy } from "isoform";
import {
  freePrintRecords,
  freeTeamRows,
  giveBackFaultRecord,
  LaunchTuning,
  OtherNumbers,
  requireLiveViews,
  finishReductions,
  takeFault,
  takeLines,
  withInitialValues,
  type Binding,
  type Cost,
  type Launch,
  type Precision,
} from "isoform/backend";
import { printKernel } from "isoform/ir";
import type { InterpreterDevice } from "./device.js";
import { Program } from "./program.js";

/** A kernel that is bound to arguments. */
export class InterpreterLaunch implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;

  /** Refuses values that are asked for: there is nothing to tune. */
  readonly tuning: LaunchTuning;
  /** Of the last run. */
  results: Record<string, number> | undefined;
  private readonly program: Program;
  /** Launches that were submitted in its place. */
  readonly others: OtherNumbers;
  private freed = false;

  constructor(
    readonly device: InterpreterDevice,
    private readonly binding: Binding,
  ) {
    ({ kernel: this.kernel, policy: this.policy, precision: this.precision } = binding);
    this.tuning = new LaunchTuning(binding, () => ({}));
    this.program = new Program(binding);
    this.others = new OtherNumbers(this, binding.call);
  }

  get cost(): Cost {
    return this.binding.cost();
  }

  get remarks(): readonly string[] {
    const targets = this.binding.ir.params.filter(({ kind }) => kind === "scatter");
    return targets.map(({ name }) => `scatter "${name}": sorted, one worker adds in element order`);
  }

  submit(scalars?: Readonly<Record<string, number | boolean>>, policy?: Policy): void {
    this.others.submit(scalars, policy);
  }

  source(): string {
    return printKernel(this.binding.ir);
  }

  run(): void {
    this.requireReady();
    this.others.last = undefined;
    const reduced = this.program.run().map(([param, partials]) => ({ param, partials }));
    this.results = finishReductions(this.binding, reduced);
    withInitialValues(this.binding, this.results);
    takeLines(this.binding);
    const fault = takeFault(this.binding);
    if (!fault) return;
    this.results = undefined;
    throw fault;
  }

  /** Throws LaunchError where the launch, or memory that it uses, was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    requireLiveViews(this.device, this.binding);
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.results = undefined;
    this.others.free();
    freeTeamRows(this.binding);
    giveBackFaultRecord(this.binding);
    freePrintRecords(this.binding);
  }
}
