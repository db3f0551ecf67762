import { costWhenAsked } from "../../ir/analysis/cost.js";
import type { KernelIR, NumericType } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { requireLiveViews } from "../launch/bind.js";
import type { CheckedNumbers } from "../launch/bind.js";
import type { Binding, BindArguments } from "../launch/binding.js";
import { samePolicy } from "../launch/known-bindings.js";
import type { Cost, Launch, Precision } from "../device.js";
import type { Policy } from "../launch/policy.js";
import { OtherNumbers, type ScalarValues } from "../launch/other-numbers.js";
import { withInitialValues } from "../launch/initial-values.js";
import { giveBackFaultRecord } from "../launch/faults.js";
import { freePrintRecords } from "../launch/prints.js";
import { freeTeamRows } from "../launch/team-rows.js";
import type { LaunchTuning } from "../tuning/tuning.js";
import type { Buffer } from "../memory/view.js";
import type { WritingWork } from "../memory/writes.js";
import { buffersWritten } from "../launch/written.js";
import { decodeResults } from "./partials.js";

/** Common base of launches on GPUs, whatever drives them: a kernel bound to arguments, its results, and its life. */
export abstract class DeviceLaunch<Device extends { readonly name: string }> implements Launch, WritingWork {
  abstract readonly remarks: readonly string[];
  abstract readonly tuning: LaunchTuning;
  private otherNumbers: OtherNumbers | undefined;
  /** Values that reductions start from. */
  protected initial: Binding["initial"];
  private hasRun = false;
  private readonly buffers: readonly Buffer[];
  private writes: readonly Buffer[] | undefined;
  private freed = false;

  constructor(
    readonly gpu: Device,
    private bound: Binding,
  ) {
    const { bound: binding } = this;
    const views = [...Object.values(binding.views), ...Object.values(binding.outputs), ...binding.peerStores.map(({ to }) => to)];
    this.initial = binding.initial;
    this.buffers = views.flatMap((view) => view?.buffer ?? []);
  }

  get binding(): Binding {
    return this.bound;
  }

  get kernel(): Kernel {
    return this.bound.kernel;
  }

  get policy(): Policy {
    return this.bound.policy;
  }

  get precision(): Precision {
    return this.bound.precision;
  }

  get cost(): Cost {
    return this.bound.cost();
  }

  get written(): readonly Buffer[] {
    return (this.writes ??= buffersWritten(this.bound));
  }

  /** Launches that were submitted in its place. */
  get others(): OtherNumbers {
    return (this.otherNumbers ??= new OtherNumbers(this, this.bound.call));
  }

  /** True once a queue has run it, until it is freed. */
  get ran(): boolean {
    return this.hasRun;
  }

  set ran(value: boolean) {
    this.hasRun = value;
    if (this.otherNumbers) this.otherNumbers.last = undefined;
  }

  submit(scalars?: ScalarValues, policy?: Policy): void {
    this.others.submit(scalars, policy);
  }

  /** Its binding if it keeps records for the host: an index is checked, or it prints. */
  get recorded(): readonly Binding[] {
    return this.binding.ir.checks || this.binding.ir.prints ? [this.binding] : [];
  }

  /** Throws LaunchError if the launch or the memory of its views was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the launch of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    if (this.buffers.some((buffer) => buffer.live === false)) requireLiveViews(this.gpu, this.binding);
  }

  /** Bytes of its temporary memory. */
  abstract get ownBytes(): number;

  /** True if no more than floats are other ones: `sizes` is then the same function. */
  differsInFloats({ sizes }: CheckedNumbers): boolean {
    return this.bound.sizes === sizes;
  }

  /** Takes other floats and initial values for its next run. Throws LaunchError for those that the device cannot hold. */
  setFloats({ scalars, initial }: CheckedNumbers): void {
    this.setScalars(scalars);
    this.initial = initial;
  }

  /**
   * Takes the range and the numbers of a call for its next run; false where that needs other code, or memory of its own. Its last run has come to
   * its end. Throws LaunchError as `setFloats` does.
   * @param counted the code in which its cost is counted
   */
  moveTo(call: BindArguments, numbers: CheckedNumbers, counted: KernelIR): boolean {
    const { bound: before } = this;
    const { policy } = call;
    const cost = costWhenAsked(counted, { policy, views: before.views, scalars: numbers.scalars });
    const binding: Binding = { ...before, ...numbers, policy, call, cost };
    if (samePolicy(before.policy, policy) && before.sizes() === numbers.sizes()) this.setScalars(numbers.scalars);
    else if (!this.coverRange(binding)) return false;
    this.bound = binding;
    this.initial = binding.initial;
    this.otherNumbers?.free();
    this.otherNumbers = undefined;
    return true;
  }

  /** Gives all scalars other values, from the next run on. */
  protected abstract setScalars(scalars: Binding["scalars"]): void;

  /** Goes over another range with other numbers, with the code and the memory that are there; false where it cannot. */
  protected abstract coverRange(binding: Binding): boolean;

  abstract source(): string;

  /** The reduce parameters whose results the launch hands over; none if their partials are left. */
  protected abstract readonly reduces: readonly { readonly name: string; readonly type: NumericType }[];

  /** The reduce parameters' values from the bytes of the results, and from the values that they start from. */
  decodeResults(bytes: ArrayBufferLike): Record<string, number> {
    return withInitialValues(
      { ir: this.binding.ir, initial: this.initial },
      decodeResults(this.reduces, bytes, this.readF64) as Record<string, number>,
    );
  }

  /** Reads an f64 among the results if it is not a machine number. */
  protected readonly readF64?: (data: DataView, at: number) => number;

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.ran = false;
    this.otherNumbers?.free();
    this.release();
    freeTeamRows(this.binding);
    giveBackFaultRecord(this.binding);
    freePrintRecords(this.binding);
  }

  /** Gives back what the launch has of the device; also after a failure half way. */
  protected abstract release(): void;
}
