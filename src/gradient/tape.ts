import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import type { Args, Device, DeviceRunOptions, PolicyOf } from "../device/device.js";
import { requireKernel } from "../device/launch/bind.js";
import type { Policy } from "../device/launch/policy.js";
import { storageOf, type AnyView } from "../device/memory/blocked-view.js";
import type { Buffer, TypedArray, View } from "../device/memory/view.js";
import { writeCount } from "../device/memory/writes.js";
import { flatCall } from "../kernel/declare/flat.js";
import type { Kernel, PolicyKind } from "../kernel/declare/kernel.js";
import type { Params, ReduceToken, ScalarToken } from "../kernel/declare/params.js";
import { ReversePass, type TapeGradients } from "./backward.js";
import {
  buffersOfViews,
  differentiated,
  isAnyView,
  sharedViews,
  writtenViews,
  type DifferentiatedKernel,
  type FlatArgs,
} from "./differentiated.js";
import { wholeMemory } from "./kept-values.js";
import { Recording, type SectionEntry, type SeenLaunch } from "./recording.js";
import { NumbersAgain, requireSame } from "./same-again.js";
import { requireTapeScalar, TapeScalar } from "./tape-scalar.js";

/** Arguments of a launch on a tape: numbers of floats may be numbers of the tape. */
export type TapeArgs<P extends Params> = string extends keyof P
  ? Readonly<Record<string, unknown>>
  : { [K in keyof Args<P>]: K extends keyof P ? (P[K] extends ScalarToken<"f64" | "f32"> ? number | TapeScalar : Args<P>[K]) : never };

/** Results of a launch on a tape: sums and least or greatest values of floats are numbers of the tape. */
export type TapeResults<P extends Params> = string extends keyof P
  ? Record<string, TapeScalar>
  : {
      [K in keyof P as P[K] extends ReduceToken ? K : never]: P[K] extends ReduceToken<infer T>
        ? T extends "f64" | "f32"
          ? TapeScalar
          : number
        : never;
    };

/** Start of a gradient: a number of the tape, or a view with what reaches its elements. */
export type Seed = readonly [of: AnyView, seed: AnyView | TypedArray | readonly number[]] | readonly [of: TapeScalar, seed: number];

/** Launches whose gradient is wanted, in the order in which they run. `tape(device)` makes one. */
export class Tape {
  private recording: Recording;
  /** The function that is recorded by its inputs alone. */
  private section: SectionEntry | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  /** Launches that have not come to their end. */
  private pending = 0;
  private backwards = false;
  private freed = false;
  private launches = 0;
  private readonly passes: TapeGradients[] = [];
  private readonly notes = new Set<string>();

  constructor(readonly device: Device) {
    this.recording = new Recording(device);
  }

  /** A number that gradients are wanted of, for arguments of launches. */
  scalar(value: number): TapeScalar {
    requireThing("a number of a tape", value, typeof value === "number", "give a number");
    this.requireOpen();
    return this.made(value, false);
  }

  /** Copies of views that were made, as adjoints need values that later launches overwrote. */
  get copies(): number {
    return this.recording.kept.copies;
  }

  /** Bytes of these copies. */
  get bytes(): number {
    return this.recording.kept.bytes;
  }

  /** Copies of views, and places where gradients end, a line each. */
  get remarks(): readonly string[] {
    return [...this.notes];
  }

  /**
   * Runs a kernel as `device.run` does, and records it. Launches run one after the other. Sums and least or greatest values of floats are numbers of the tape,
   * which later launches take.
   * @throws GradientError, before the launch, for kernels whose gradient is not known; LaunchError as `device.run` does
   */
  run<P extends Params, K extends PolicyKind = PolicyKind>(
    kernel: Kernel<P, K>,
    args: TapeArgs<P>,
    policy: PolicyOf<K>,
    options: Pick<DeviceRunOptions, "precision" | "deterministic" | "checked" | "scatter"> = {},
  ): Promise<TapeResults<P>> {
    const given = { ...(args as FlatArgs) };
    const start = (): Promise<Record<string, unknown>> => this.runNow(kernel as unknown as Kernel, given, policy, options);
    // At once where it can be, as others may write its arguments before the next turn.
    const result = this.pending > 0 ? this.turn.then(start) : start();
    this.pending++;
    this.turn = result.catch(() => {}).finally(() => this.pending--);
    return result as Promise<TapeResults<P>>;
  }

  private async runNow(written: Kernel, given: FlatArgs, policy: Policy, options: DeviceRunOptions): Promise<Record<string, unknown>> {
    this.requireOpen();
    requireOptions("a launch of a tape", options, ["precision", "deterministic", "checked", "scatter"]);
    requireKernel(this.device, written, given);
    this.requireCounted();
    const { device, recording } = this;
    const { plain, scalars } = this.plainArguments(given);
    const { kernel, args } = flatCall(written, plain);
    const code = differentiated(kernel, args, [...scalars.keys()]);
    requireKnownNumbers(kernel, args, scalars, code);
    requireSimpleResults(written, kernel);
    sharedViews(kernel, code, args);
    const views = Object.fromEntries(code.views.flatMap((name) => (isAnyView(args[name]) ? [[name, args[name]]] : [])));
    const writes = writtenViews(code, args);
    const unknown = code.unknown.flatMap((name) => (isAnyView(args[name]) ? [[name, args[name]] as const] : []));
    recording.noteRule(kernel, unknown, buffersOfViews(writes));
    const number = ++this.launches;
    recording.noteUses(kernel, number, views);
    const needs = this.section ? [] : (code.adjoint?.needs ?? []);
    const kept = new Map(needs.flatMap((name) => (isAnyView(args[name]) ? [[name, recording.kept.keep(args[name])] as const] : [])));
    if (this.section) this.noteInSection(this.section, { kernel, args, policy, options });
    const { copies } = recording.kept;
    recording.kept.beforeWrites(writes);
    if (recording.kept.copies > copies)
      this.notes.add(`launch ${number}, "${kernel.name}": copied ${recording.kept.copies - copies} of the views that it overwrites`);
    for (const remark of code.adjoint?.remarks ?? []) this.notes.add(`"${kernel.name}": ${remark}`);
    const buffers = buffersOfViews(writes);
    const counts = [...buffers].map(writeCount);
    const running = recording.own(buffers, () => runOnce(device, written, plain, policy, options));
    const wrote = [...buffers].some((buffer, n) => writeCount(buffer) !== counts[n]);
    const numbers = await running.catch((error: unknown) => {
      if (wrote) recording.failed ??= { kernel, number };
      throw error;
    });
    const { precision = device.precision, deterministic = device.deterministic } = options;
    if (precision !== "strict" && !deterministic) this.repeated?.noteAnyOrder();
    const results = new Map<string, TapeScalar>();
    for (const name of code.results) if (typeof numbers[name] === "number") results.set(name, this.made(numbers[name], true));
    if (!this.section) recording.entries.push({ kind: "launch", number, kernel, policy, args, code, scalars, results, kept, options });
    return { ...numbers, ...Object.fromEntries(results) };
  }

  /**
   * Runs a function whose launches are recorded by their inputs alone: it runs again when the gradient needs their values. It is to do the same each time, and to
   * use arrays that were made before. Numbers and views that it gives may be used as any other.
   */
  async checkpoint<T>(run: () => T | Promise<T>): Promise<T> {
    requireThing("a checkpoint", run, typeof run === "function", "give a function that runs launches: t.checkpoint(async () => { ... })");
    this.requireOpen();
    await this.turn;
    // Part of a function that runs again as a whole.
    if (this.section) return run();
    const section: SectionEntry = { kind: "section", run, saved: new Map(), launches: [], scalars: [] };
    this.section = section;
    try {
      const result = await run();
      await this.turn;
      return result;
    } finally {
      this.section = undefined;
      if (section.launches.length > 0) this.recording.entries.push(section);
    }
  }

  /**
   * The gradient of a number of the tape, or of seeds: `[[v, seed], ...]`, with a value for each element of the view v as it is after the last launch. May be
   * called again, with other seeds.
   * @throws LaunchError where values that it needs were written past the tape
   */
  async backward(of: TapeScalar | readonly Seed[]): Promise<TapeGradients> {
    this.requireOpen();
    await this.turn;
    if (this.backwards) throw new LaunchError("a tape is asked for a gradient while it computes another one: await that first");
    this.backwards = true;
    const { recording } = this;
    const pass = new ReversePass(this.device, this, (section, outer, by) => this.rerun(section, outer, by));
    try {
      this.seed(pass, of);
      await pass.reverse(recording);
      this.passes.push(pass.gradients);
      return pass.gradients;
    } catch (error) {
      pass.gradients.free();
      throw error;
    } finally {
      this.backwards = false;
    }
  }

  private seed(pass: ReversePass, of: TapeScalar | readonly Seed[]): void {
    if (of instanceof TapeScalar) {
      requireTapeScalar("backward", of, this);
      return pass.addToScalar(of, 1);
    }
    if (!Array.isArray(of))
      throw new LaunchError(`backward is given ${describe(of)}; give a number of the tape, or a list of seeds: [[view, values]]`);
    for (const one of of as readonly Seed[]) {
      const [what, seed] = Array.isArray(one) ? one : [one, undefined];
      if (isAnyView(what)) pass.seedView(what, seed);
      else {
        requireTapeScalar("backward", what, this);
        requireThing("the seed of a number", seed, typeof seed === "number", "give a number");
        pass.addToScalar(what, seed as number);
      }
    }
  }

  /** Gives back copies and gradients. The tape cannot be used again. */
  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.recording.free();
    for (const pass of this.passes.splice(0)) pass.free();
  }

  /** Arguments without the tape's numbers, and these. */
  private plainArguments(given: FlatArgs): { plain: FlatArgs; scalars: Map<string, TapeScalar> } {
    const scalars = new Map<string, TapeScalar>();
    const plain: Record<string, unknown> = { ...given };
    for (const [name, value] of Object.entries(given)) {
      if (!(value instanceof TapeScalar)) continue;
      requireTapeScalar(`the argument "${name}"`, value, this);
      scalars.set(name, value);
      plain[name] = value.value;
    }
    return { plain, scalars };
  }

  private made(value: number, isResult: boolean): TapeScalar {
    const scalar = this.repeated?.next(value, isResult) ?? new TapeScalar(value, this);
    this.section?.scalars.push(scalar);
    return scalar;
  }

  /** Numbers of the function that runs again. */
  private repeated: NumbersAgain | undefined;

  private noteInSection({ saved, launches }: SectionEntry, launch: SeenLaunch): void {
    launches.push({ ...launch, options: { ...launch.options } });
    for (const value of Object.values(launch.args)) {
      if (!isAnyView(value)) continue;
      const { buffer } = storageOf(value);
      if (!saved.has(buffer)) saved.set(buffer, copyOfMemory(this.device, wholeMemory(buffer)));
    }
  }

  /** Runs a section again from its inputs, lets `reverse` go back over its launches, and leaves all memory as it was. */
  private async rerun(section: SectionEntry, outer: Recording, pass: ReversePass): Promise<void> {
    const { device } = this;
    const buffers = [...section.saved.keys()];
    const now = new Map(buffers.map((buffer) => [buffer, copyOfMemory(device, wholeMemory(buffer))]));
    const put = (from: ReadonlyMap<Buffer, View>): void => from.forEach((copy, buffer) => device.queue.copy(copy, wholeMemory(buffer)));
    const before = new Map(buffers.map((buffer) => [buffer, writeCount(buffer)]));
    const inner = new Recording(device);
    const again = new NumbersAgain(section.scalars);
    const { launches, repeated } = this;
    put(section.saved);
    Object.assign(this, { recording: inner, repeated: again });
    try {
      await section.run();
      await this.turn;
      requireSame(section, inner, again);
      this.recording = outer;
      await pass.reverse(inner);
    } finally {
      Object.assign(this, { recording: outer, repeated, launches });
      put(now);
      outer.follow(before);
      now.forEach((view) => view.free());
      inner.free();
    }
  }

  private requireOpen(): void {
    if (this.freed) throw new LaunchError("a tape was freed and cannot be used again; make another one: tape(device)");
    if (this.backwards && !this.repeated) throw new LaunchError("a tape is used while it computes a gradient: await backward first");
  }

  /** Refuses devices whose queues do not count writes. */
  private requireCounted(): void {
    if (this.launches > 0) return;
    const one = this.device.array({ type: "f32" }, 1);
    this.device.queue.clear(one);
    const counted = writeCount(one.buffer) > 0;
    one.free();
    if (!counted)
      throw new LaunchError(
        `"${this.device.name}" does not count writes to its memory, without which a tape cannot see what was overwritten: let its queue raise buffer.writes at each write`,
      );
  }
}

const copyOfMemory = (device: Device, memory: ReturnType<typeof wholeMemory>) => {
  const array = device.array({ type: memory.type }, memory.shape);
  device.queue.copy(memory, array);
  return array;
};

/** A launch is submitted at once, even on a device that measures launches at first use. */
async function runOnce(
  device: Device,
  kernel: Kernel,
  args: FlatArgs,
  policy: Policy,
  options: DeviceRunOptions,
): Promise<Record<string, unknown>> {
  if (!device.tuning.measuring) return device.run<Params>(kernel, args, policy, options);
  const launch = device.prepare<Params>(kernel, args, policy, options);
  try {
    device.queue.submit(launch);
    return await device.queue.results(launch);
  } finally {
    launch.free();
  }
}

/** Refuses results of several numbers, whose gradient would be lost. */
function requireSimpleResults({ name, params }: Kernel, flat: Kernel): void {
  if (flat.params === params) return;
  for (const [param, token] of Object.entries(params)) {
    const kind = typeof token === "object" ? (token?.kind as string) : undefined;
    if (kind === "reduceComposite" || kind === "extremum" || kind === "reduceStruct")
      throw new LaunchError(
        `kernel "${name}" on a tape: its result "${param}" is of several numbers, whose gradient a tape does not know: reduce them one by one`,
      );
  }
}

/** Refuses numbers of the tape where their gradient would be lost. */
function requireKnownNumbers(
  { name, params }: Kernel,
  args: FlatArgs,
  scalars: ReadonlyMap<string, TapeScalar>,
  code: DifferentiatedKernel,
): void {
  for (const param of scalars.keys()) {
    const token = params[param];
    const isFloat = typeof token === "object" && token?.kind === "scalar" && (token.type === "f64" || token.type === "f32");
    if (!isFloat)
      throw new LaunchError(
        `kernel "${name}" on a tape: "${param}" takes no number of a tape, whose gradient would be lost; give its value for a constant, s.value`,
      );
  }
  for (const param of code.ir.params)
    if (param.kind === "reduce" && param.op !== "sum" && code.results.includes(param.name) && typeof args[param.name] === "number")
      throw new LaunchError(
        `kernel "${name}" on a tape: the result "${param.name}" starts from a number, which gradients do not know: leave it out`,
      );
}

/**
 * A tape of launches on one device, for their gradient. Values that adjoints need are copied before launches overwrite them, and only then.
 * @example const t = tape(device); await t.run(step, { a, u, v }, range(n)); const { s } = await t.run(loss, { v }, range(n)); const g = await t.backward(s); g.of(u);
 */
export function tape(device: Device): Tape {
  requireThing(
    "a tape",
    device,
    typeof (device as Partial<Device> | undefined)?.prepare === "function",
    "give a device: tape(await open())",
  );
  return new Tape(device);
}
