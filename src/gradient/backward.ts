import { LaunchError } from "../base/errors.js";
import { describe } from "../base/describe.js";
import type { Device } from "../device/device.js";
import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { range } from "../device/launch/policy.js";
import { View, type Buffer } from "../device/memory/view.js";
import { add, index } from "../ir/expressions.js";
import type { ElementType, Expr } from "../ir/types.js";
import { kernelFromIR } from "../kernel/declare/from-ir.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import type { Params } from "../kernel/declare/params.js";
import { barOf } from "../ir/gradient/names.js";
import { Bars, derivativeType } from "./bars.js";
import { isAnyView, sharedViews } from "./differentiated.js";
import { isIntact } from "./kept-values.js";
import type { LaunchEntry, Recording, SectionEntry } from "./recording.js";
import { ruleOf } from "./rule.js";
import { requireTapeScalar, TapeScalar } from "./tape-scalar.js";

/** Gradients of one number, or of seeds, by all that the tape's launches have read. */
export class TapeGradients {
  constructor(
    private readonly bars: Bars,
    private readonly scalars: ReadonlyMap<TapeScalar, number>,
    private readonly owner: object,
    private readonly leftOut: ReadonlyMap<Buffer, string>,
  ) {}

  /** The gradient by a view as it was before the first launch, in a view of its shape on the device; 0 where nothing depends on it. */
  of<V extends AnyView>(view: V): V;
  /** The gradient by a number of the tape. */
  of(scalar: TapeScalar): number;
  of(what: AnyView | TapeScalar): AnyView | number {
    if (isAnyView(what)) {
      const kernel = this.leftOut.get(storageOf(what).buffer);
      if (kernel !== undefined)
        throw new LaunchError(
          `the gradient by a view of shape [${what.shape}] is not known: the rule(...) of kernel "${kernel}", which reads it, leaves it out`,
        );
      return this.bars.of(what);
    }
    requireTapeScalar("the gradient of(...)", what, this.owner);
    return this.scalars.get(what) ?? 0;
  }

  /** Gives back the memory of the gradients. */
  free(): void {
    this.bars.free();
  }
}

/** Goes back over recordings, last launch first. */
export class ReversePass {
  readonly gradients: TapeGradients;
  private readonly bars: Bars;
  private readonly scalars = new Map<TapeScalar, number>();
  private readonly leftOut = new Map<Buffer, string>();

  /** @param rerun runs a section again, and goes back over it by this pass */
  constructor(
    private readonly device: Device,
    owner: object,
    private readonly rerun: (section: SectionEntry, outer: Recording, by: ReversePass) => Promise<void>,
  ) {
    this.bars = new Bars(device);
    this.gradients = new TapeGradients(this.bars, this.scalars, owner, this.leftOut);
  }

  addToScalar(scalar: TapeScalar, by: number): void {
    this.scalars.set(scalar, (this.scalars.get(scalar) ?? 0) + by);
  }

  /** Adds values for each element to what reaches a view. */
  seedView(view: AnyView, seed: unknown): void {
    const { type } = storageOf(view);
    const own = derivativeType(type);
    if (!own) throw new LaunchError(`a seed is given for a view of ${type}: gradients are of f64 and f32`);
    if (view instanceof BlockedView)
      throw new LaunchError("a seed is given for a blocked view: give seeds for the plain view that it was made of");
    const values = seed as AnyView | ArrayLike<number>;
    const isGiven = isAnyView(values) || (typeof values === "object" && values !== null && typeof values.length === "number");
    if (!isGiven) throw new LaunchError(`the seed of a view is ${describe(seed)}; give a view or an array, with a value for each element`);
    if (isAnyView(values) && (values instanceof BlockedView || values.type !== own || values.shape.join() !== view.shape.join()))
      throw new LaunchError(`the seed of a view of shape [${view.shape}] is ${describe(seed)}; give a view of ${own} of the same shape`);
    const given = values instanceof View ? values : this.device.from({ type: own }, values as ArrayLike<number>, view.shape);
    this.add(given, this.bars.of(view) as View);
    if (given !== values) given.free();
  }

  /** Goes back over all of a recording. Throws LaunchError where it was spoilt. */
  async reverse(recording: Recording): Promise<void> {
    const { spoilt, failed } = recording;
    if (failed)
      throw new LaunchError(
        `launch ${failed.number} of the tape, of "${failed.kernel.name}", failed, and nobody knows what it has written: record the launches again on another tape`,
      );
    if (spoilt)
      throw new LaunchError(
        `"${spoilt.kernel.name}" (launch ${spoilt.number} of the tape) uses "${spoilt.name}", which was written past the tape since launch ${spoilt.before} used it: ` +
          "record that too, or use another view",
      );
    for (const [buffer, kernel] of recording.leftOut) this.leftOut.set(buffer, kernel);
    for (const entry of recording.entries.toReversed())
      if (entry.kind === "launch") await this.launchBack(entry);
      else await this.rerun(entry, recording, this);
  }

  private async launchBack(entry: LaunchEntry): Promise<void> {
    const { code, args, kernel, policy, options } = entry;
    const { adjoint } = code;
    if (!adjoint || !this.isReached(entry)) {
      if (!adjoint) this.forgetResultsOnDevice(entry);
      return this.forgetResults(entry);
    }
    // The code has no parameters for fixed values; adjoints of authors may.
    const isTaken = (name: string): boolean => ruleOf(kernel) !== undefined || code.ir.params.some((param) => param.name === name);
    const given = new Map(Object.entries(args).filter(([name]) => isTaken(name)));
    for (const [name, result] of entry.results) given.set(barOf(name), this.scalars.get(result) ?? 0);
    await this.giveResultsOnDevice(entry, given);
    const apart = new Map(sharedViews(kernel, code, args).map((name) => [name, this.barsApart(args[name] as AnyView)]));
    for (const name of code.views) if (isAnyView(args[name])) given.set(barOf(name), apart.get(name) ?? this.bars.of(args[name]));
    // Nothing is awaited between this look at what is kept and the launches.
    this.giveKept(entry, given);
    const running = adjoint.run(this.device, Object.fromEntries(given), policy, options);
    this.forgetResults(entry);
    const sums = await running;
    for (const [name, scalar] of entry.scalars) if (code.scalars.includes(name)) this.addToScalar(scalar, Number(sums[barOf(name)] ?? 0));
    for (const [name, bar] of apart) {
      this.add(bar, this.bars.of(args[name] as AnyView) as View);
      bar.free();
    }
  }

  /** Whether anything has reached what a launch gave. */
  private isReached({ results, code: { access, ir }, args }: LaunchEntry): boolean {
    for (const scalar of results.values()) if (this.scalars.get(scalar)) return true;
    const outputs = ir.params.filter(({ kind }) => kind === "reduce").map(({ name }) => name);
    const written = Object.keys(access.views).filter((name) => access.views[name]!.written || access.views[name]!.scattered);
    return [...written, ...outputs].some((name) => isAnyView(args[name]) && this.bars.has(args[name]));
  }

  /** Results exist from their launch on: nothing before it reaches them. */
  private forgetResults({ results }: LaunchEntry): void {
    for (const scalar of results.values()) this.scalars.delete(scalar);
  }

  /** The same of results that were given views, of a launch that passes nothing on. */
  private forgetResultsOnDevice({ code, args }: LaunchEntry): void {
    for (const name of code.results) {
      const view = args[name];
      if (isAnyView(view) && this.bars.has(view)) this.device.queue.clear(this.bars.of(view) as View);
    }
  }

  private giveKept({ kept, kernel, number }: LaunchEntry, given: Map<string, unknown>): void {
    for (const [name, value] of kept) {
      if (!isIntact(value))
        throw new LaunchError(
          `the gradient of "${kernel.name}" (launch ${number} of the tape) needs "${name}" as it was, but it was written since, past the tape: ` +
            "record that too, or write to another view",
        );
      given.set(name, value.copy ?? value.view);
    }
  }

  /** Seeds of results that were given views: what has reached these, which the launch overwrote. */
  private async giveResultsOnDevice({ code, args }: LaunchEntry, given: Map<string, unknown>): Promise<void> {
    for (const name of code.results) {
      const view = args[name];
      given.delete(name);
      if (!isAnyView(view)) continue;
      const bar = this.bars.of(view) as View;
      given.set(barOf(name), (await this.device.queue.read(bar))[0]);
      this.device.queue.clear(bar);
    }
  }

  /** An adjoint of its own, 0 at first, for a view whose memory another argument has, too. */
  private barsApart(view: AnyView): View {
    if (view instanceof BlockedView)
      throw new LaunchError("two arguments of a launch are one blocked view, whose gradient is not known: give plain views");
    return this.device.array({ type: derivativeType(view.type)! }, view.shape) as View;
  }

  private add(from: View, to: View): void {
    if (to.rank > MOST_AXES) {
      for (let n = 0; n < to.length; n++) this.add(from.at(0, n), to.at(0, n));
      return;
    }
    const kernel = sumKernel(to.type, to.rank);
    const launch = this.device.prepare<Params>(kernel, { from, to }, range(...to.shape), { precision: "strict" });
    this.device.queue.submit(launch);
    launch.free();
  }
}

/** Axes of a range. */
const MOST_AXES = 4;

const sums = new Map<string, Kernel>();

/** A kernel that adds one view to another. */
function sumKernel(type: ElementType, rank: number): Kernel {
  const key = `${type} ${rank}`;
  const known = sums.get(key);
  if (known) return known;
  const location = { file: "isoform/gradient", line: 0, column: 0 };
  const indices = Array.from({ length: rank }, (_, axis) => index(axis));
  const load = (view: string): Expr => ({ op: "load", type: type as "f64", view, indices });
  const param = (name: string) => ({ kind: "view" as const, name, element: type, rank, disjoint: false });
  const made = kernelFromIR({
    name: "add adjoints",
    policy: { kind: "range", rank },
    params: [param("from"), param("to")],
    tables: [],
    body: [{ kind: "store", view: "to", indices, value: add(load("to"), load("from")), location }],
    location,
  });
  sums.set(key, made);
  return made;
}
