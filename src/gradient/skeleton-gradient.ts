import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { requireOptions, requireThing } from "../base/own.js";
import { unreachable } from "../base/unreachable.js";
import { BYTES } from "../ir/scalars.js";
import { containersIn, marksOf, SwappedMemory, swapsIn } from "../skeleton/fusion/sequence.js";
import { StateSnapshot } from "../skeleton/run/snapshot.js";
import { Skeleton } from "../skeleton/skeleton.js";
import { Field, type CellFunction } from "../domain/grid/grid.js";
import { memoryOf, Scalar } from "../set/index.js";
import { requireOneProcess } from "../set/one-process.js";
import { writtenData, type Data } from "./container-adjoint.js";
import { activeData, AdjointMemory, reverseIteration, type ReversedIteration } from "./sequence.js";
import { extraIterations, reverseSchedule } from "./snapshots.js";

/** Start of a gradient of a skeleton: fields after the last iteration, with what reaches their cells. */
export type FieldSeed = readonly [field: Field, seed: number | CellFunction | ArrayLike<number>];

/** Options of `gradient`. */
export interface GradientOptions {
  /** A scalar as it is after the last iteration, or fields with seeds; several of one field are added. */
  readonly of: Scalar | readonly FieldSeed[];
  /** Fields and scalars that gradients are wanted of, as they are before the first iteration. */
  readonly wrt: readonly Data[];
  /** States that are held at a time, the start's included: a number, or the bytes that they may take. Default: half of the memory, and at most one for each iteration. */
  readonly snapshots?: number | { readonly bytes: number };
}

/** Result of a run of a gradient. */
export interface GradientRun {
  /** The scalar that the gradient is of, after the last iteration; undefined of seeds. */
  readonly value: number | undefined;
  /** Iterations that were run beside the ones that kept their values. */
  readonly extra: number;
  readonly snapshots: number;
}

/** One kind of iteration, gone back over. */
interface Reversed extends ReversedIteration {
  readonly skeleton: Skeleton;
}

/** The gradient of a skeleton's iterations. `gradient(skeleton, ...)` makes one. */
export class SkeletonGradient {
  private readonly memory: AdjointMemory;
  private readonly active: ReadonlySet<Data>;
  private readonly state: readonly Data[];
  /** Arrays along axes that take results, which iterations that run again would add to once more. */
  private readonly folded: Skeleton["state"]["folded"];
  private readonly reversed = new Map<string, Reversed>();

  constructor(
    readonly skeleton: Skeleton,
    private readonly options: GradientOptions,
  ) {
    const { name, steps, state, set } = skeleton;
    requireOneProcess("a gradient of a skeleton", set);
    this.memory = new AdjointMemory(`${name} gradient`);
    this.active = activeData(steps, options.wrt);
    const changed = new Set<unknown>([...containersIn(steps).flatMap(writtenData), ...swapsIn(steps).flat()]);
    this.state = [...state.fields, ...state.scalars].filter((data) => changed.has(data));
    this.folded = state.folded;
    if (state.species.length > 0) this.refuse("it moves particles, and gradients of these are not known", "leave them out of the skeleton");
    const of = options.of instanceof Scalar ? [options.of] : options.of.map(([field]) => field);
    for (const data of of)
      if (!this.active.has(data))
        this.refuse(`"${data.name}" does not depend on ${options.wrt.map((each) => `"${each.name}"`).join(", ")}`, "give others for wrt");
    // Refuses containers whose gradient is not known, before anything runs.
    this.reversedAt(skeleton.iteration, true);
  }

  /** Ordinary skeletons that run an iteration again and go back over it, one for each kind of iteration that was met. */
  get skeletons(): readonly Skeleton[] {
    return [...this.reversed.values()].map(({ skeleton }) => skeleton);
  }

  /** Places where gradients end, and containers that run in strict mode for them, a line each. */
  get remarks(): readonly string[] {
    return [...new Set([...this.reversed.values()].flatMap(({ remarks }) => remarks))];
  }

  /** Bytes of a snapshot on all members. */
  get snapshotBytes(): number {
    const views = [...this.state, ...this.folded].flatMap((data) => [...(data instanceof Field ? data.storage : data.views)]);
    return views.reduce((sum, { size, type }) => sum + size * BYTES[type], 0);
  }

  /**
   * Runs iterations, and back. Fields, scalars and the skeleton's iteration are then as they were before; the gradients are in `of(...)`.
   * @throws LaunchError where the snapshots do not fit, and as `skeleton.run` does
   */
  async run(iterations: number): Promise<GradientRun> {
    if (!Number.isInteger(iterations) || iterations < 1) this.refuse(`${iterations} iterations`, "give a whole number, at least 1");
    const snapshots = this.snapshotsFor(iterations);
    const { skeleton } = this;
    const base = skeleton.iteration;
    const held = new Map<number, StateSnapshot>();
    let value: number | undefined;
    await this.seed();
    try {
      for (const action of reverseSchedule(iterations, snapshots))
        switch (action.kind) {
          case "save":
            held.set(action.at, new StateSnapshot(skeleton.set, [...this.state, ...this.folded]));
            break;
          case "restore":
            held.get(action.at)!.restore();
            break;
          case "drop":
            if (action.at === 0) held.get(0)!.restore();
            held.get(action.at)!.free();
            held.delete(action.at);
            break;
          case "advance":
            skeleton.iteration = base + action.from;
            await skeleton.run(action.to - action.from);
            break;
          case "reverse":
            value = await this.reverse(base + action.at, action.at === iterations - 1, value);
            break;
          default:
            return unreachable(action);
        }
    } finally {
      skeleton.iteration = base;
      for (const snapshot of held.values()) snapshot.free();
    }
    return { value, extra: extraIterations(iterations, snapshots), snapshots };
  }

  private async reverse(iteration: number, isLast: boolean, value: number | undefined): Promise<number | undefined> {
    const { skeleton, swaps } = this.reversedAt(iteration, isLast);
    await skeleton.run(1);
    const { of } = this.options;
    if (!isLast || !(of instanceof Scalar)) return value;
    return new SwappedMemory(swaps).of(of).get();
  }

  /** The gradient by a field or a scalar of `wrt`, after a run: a field or a scalar with the values. */
  of<T extends Data>(data: T): T {
    if (!this.options.wrt.includes(data)) this.refuse(`the gradient by "${data.name}" is asked for`, "give it for wrt");
    return this.memory.bar(data, containersIn(this.skeleton.steps)[0].grid);
  }

  /** Frees adjoints and what the skeletons hold. */
  free(): void {
    for (const { skeleton } of this.reversed.values()) skeleton.free();
    this.reversed.clear();
    this.memory.free();
  }

  private reversedAt(iteration: number, isWhole: boolean): Reversed {
    const { name, steps, set, precision, occ } = this.skeleton;
    const marks = marksOf(steps, iteration);
    const key = `${marks} ${isWhole}`;
    let found = this.reversed.get(key);
    if (!found) {
      const back = reverseIteration(steps, iteration, { active: this.active, memory: this.memory, isWhole });
      const kind = [isWhole ? "last" : "", marks].filter(Boolean).join(" ");
      // Code of the two kernels of an extreme may differ by rounding in fast mode, and no value would then equal the greatest one.
      const isCompared = back.compared.length > 0 && precision !== "strict";
      const compared = (isCompared ? back.compared : []).map(
        (each) => `container "${each}": its values are compared with the least or greatest one, so the gradient runs in strict mode`,
      );
      const made = new Skeleton(set, `${name} reversed${kind && `, ${kind}`}`, back.steps, {
        precision: isCompared ? "strict" : precision,
        occ: occ === "auto" ? "standard" : occ,
      });
      this.reversed.set(key, (found = { ...back, remarks: [...back.remarks, ...compared], skeleton: made }));
    }
    return found;
  }

  /** Sets all adjoints to 0, but the ones where the gradient begins. Seeds of one field are added. */
  private async seed(): Promise<void> {
    const { of, wrt } = this.options;
    const [{ grid }] = containersIn(this.skeleton.steps);
    for (const data of [...wrt, ...(of instanceof Scalar ? [of] : of.map(([field]) => field))]) this.memory.bar<Data>(data, grid);
    for (const field of this.memory.fields) field.fill(0);
    for (const scalar of this.memory.scalars) scalar.set(0);
    if (of instanceof Scalar) return this.memory.bar(of, grid).set(1);
    const seeded = new Set<Field>();
    for (const [field, seed] of of) {
      const bar = this.memory.bar(field, grid);
      const before = seeded.has(field) ? await bar.download() : undefined;
      if (typeof seed === "number" || typeof seed === "function") bar.fill(seed);
      else bar.upload(seed);
      if (before) bar.upload((await bar.download()).map((value, n) => value + before[n]));
      seeded.add(field);
    }
  }

  private snapshotsFor(iterations: number): number {
    const { snapshots } = this.options;
    const each = Math.max(1, this.snapshotBytes);
    const free = memoryOf(this.skeleton.set.locals.map(({ device }) => device));
    const most = Math.floor(Math.min(free / each, Number.MAX_SAFE_INTEGER));
    const asked = typeof snapshots === "number" ? snapshots : Math.floor((snapshots?.bytes ?? free / 2) / each);
    const taken = Math.min(iterations, typeof snapshots === "number" ? asked : Math.max(1, asked));
    if (taken > most) {
      const fits = Math.max(1, Math.floor(most / 2));
      const runs = 1 + extraIterations(iterations, fits) / iterations;
      throw new LaunchError(
        `${iterations} iterations with ${taken} snapshots of ${gigabytes(each)} need ${gigabytes(taken * each)}, and the devices have ${gigabytes(free)}: ` +
          `give snapshots: ${fits} (${runs.toFixed(1)} runs of an iteration)`,
      );
    }
    return taken;
  }

  private refuse(problem: string, remedy: string): never {
    throw new LaunchError(`the gradient of skeleton "${this.skeleton.name}": ${problem}; ${remedy}`);
  }
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toPrecision(2)} GB`;

/**
 * The gradient of a skeleton's iterations, as skeletons of ordinary containers: they run on the same grids and members, and bits of strict mode depend on
 * neither. Values within an iteration are kept where later steps overwrite them; iterations run again from snapshots, as few as the snapshots allow.
 * @throws GradientError for containers whose gradient is not known, with the place; LaunchError for options of another kind
 */
export function gradient(skeleton: Skeleton, options: GradientOptions): SkeletonGradient {
  requireThing("gradient", skeleton, skeleton instanceof Skeleton, 'give a skeleton: skeleton(set, "name", [...])');
  requireOptions("gradient", options, ["of", "wrt", "snapshots"]);
  const { of, wrt, snapshots } = options;
  const isData = (value: unknown): boolean => value instanceof Field || value instanceof Scalar;
  requireThing("gradient, for wrt,", wrt, Array.isArray(wrt) && wrt.length > 0 && wrt.every(isData), "give a list of fields and scalars");
  const seeds = Array.isArray(of) && of.length > 0 && of.every((one) => Array.isArray(one) && one[0] instanceof Field);
  requireThing("gradient, for of,", of, of instanceof Scalar || seeds, "give a scalar, or fields with seeds: [[field, 1]]");
  const bytes = typeof snapshots === "object" ? snapshots.bytes : snapshots;
  if (bytes !== undefined && !(Number.isInteger(bytes) && bytes >= 1))
    throw new LaunchError(`gradient, for snapshots, is given ${describe(snapshots)}; give a number of at least 1, or { bytes: 2e9 }`);
  return new SkeletonGradient(skeleton, options);
}
