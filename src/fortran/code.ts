import type { Device } from "../device/device.js";
import type { View } from "../device/memory/view.js";
import type { TargetName } from "../emit/standalone/names.js";
import { LaunchError } from "../base/errors.js";
import type { PlainValue } from "../ir/operators.js";
import { forgetAbsent } from "./analyse/broken.js";
import { regionsOf, type ParallelRegion } from "./analyse/regions.js";
import { findNamed, type UnitScope, type World } from "./analyse/symbols.js";
import type { Texts } from "./analyse/texts.js";
import type { Emitted } from "./emitted.js";
import { oldScalars } from "./data/scalars.js";
import { type FortranError, problemText, type Problems } from "./errors.js";
import { Planner, type HostStep } from "./host/plan.js";
import { arrayExtents, fortranKernel, RunError, type FortranKernel } from "./host/kernels.js";
import type { Routines } from "./host/run.js";
import type { TransferCounts } from "./host/transfers.js";
import { lowerRegion } from "./lower/kernels.js";
import { elementType, Unlowerable } from "./lower/values.js";
import { withLoopOrder } from "./port/order.js";
import type { FortranOptions, ReadFiles } from "./read-files.js";

/** Options of `routine.run`. */
export interface RoutineRunOptions {
  /** Called after the run with the copies that its directives ask for: here, host and device share one memory. */
  readonly transfers?: (counts: TransferCounts) => void;
}

/** One subroutine that can be run. */
export interface Routine {
  readonly name: string;
  /** Its dummy arguments, in their order. */
  readonly arguments: readonly string[];
  /**
   * Runs the statements of the host in order and the loops on the device. Arguments and module variables go by their names, components
   * `p%nx` as `p_nx`; arrays are views with the extents reversed; scalars that are only results may be left out. Gives scalars that may
   * have changed.
   *
   * @throws RunError if an argument is missing or does not fit, or a statement outside of loops cannot be run
   */
  run(device: Device, args: Readonly<Record<string, unknown>>, options?: RoutineRunOptions): Promise<Record<string, PlainValue>>;
}

/** Result of translating Fortran. */
export interface FortranCode {
  /** By the routine's name, with `#1`, `#2`, … where it has several loops. */
  readonly kernels: ReadonlyMap<string, FortranKernel>;
  readonly routines: readonly string[];
  /** @throws LaunchError if there is none, or it was left out */
  routine(name: string): Routine;
  readonly problems: FortranError["problems"];
  /**
   * Extents of an array as `array` makes it, outermost first.
   *
   * @throws RunError if a bound is not known
   */
  extents(routine: string, name: string, scalars?: Readonly<Record<string, PlainValue>>): number[];
  /**
   * A new array for an argument of a routine, or of a module's variable: extents and lower bounds are worked out from its declaration, or from
   * its `allocate`, with these scalars. Filled with data in Fortran's order, or zero.
   *
   * @throws RunError if a bound is not known
   */
  array(device: Device, routine: string, name: string, scalars?: Readonly<Record<string, PlainValue>>, data?: ArrayLike<number>): View;
  /** The kernels as source files of another language, and why some cannot be written in it. */
  emit(target: TargetName): Promise<Emitted>;
}

/**
 * Makes kernels of the loops that a file has, and plans of its routines.
 *
 * @throws FortranError which names all that is wrong, each thing at its place
 */
export function compileFiles(read: ReadFiles, { loops = {}, partial }: FortranOptions): FortranCode {
  const { world, scopes, problems, texts } = read;
  const code = new Code(world, problems, texts, loops);
  for (const scope of scopes) code.add(scope);
  for (const name of Object.keys(loops))
    if (!code.kernels.has(name) && problems.found.length === 0)
      throw new LaunchError(
        `loops names "${name}", which is not a loop of ${read.file}: choose from ${[...code.kernels.keys()].join(", ")}`,
      );
  if (!partial) {
    forgetAbsent(problems, read.unread, read.files);
    problems.throwIfAny();
  }
  return code;
}

class Code implements FortranCode, Routines {
  readonly kernels = new Map<string, FortranKernel>();
  readonly saved: Routines["saved"] = new Map();
  private readonly arrays = new WeakMap<Device, ReturnType<Routines["arraysOn"]>>();
  private readonly scopes = new Map<string, UnitScope>();
  private readonly planned = new Map<UnitScope, readonly HostStep[]>();
  private readonly global = new Map<UnitScope, FortranKernel>();
  private readonly unrunnable = new Map<UnitScope, Unlowerable>();

  constructor(
    private readonly world: World,
    private readonly found: Problems,
    readonly texts: Texts,
    private readonly loops: NonNullable<FortranOptions["loops"]>,
  ) {}

  get problems(): FortranError["problems"] {
    return this.found.found;
  }

  get routines(): readonly string[] {
    return [...this.scopes.keys()];
  }

  /** Lowers a procedure: its loops, and what is around them. */
  add(scope: UnitScope): void {
    const { unit } = scope;
    if (unit.kind === "module" || isDevice(scope) || (unit.kind === "procedure" && unit.ofStatement)) return;
    const before = this.found.found.length;
    if (unit.kind === "procedure" && unit.attributes.includes("global")) {
      const [region] = regionsOf(scope);
      const kernel = region && this.lowered(region);
      if (kernel) this.global.set(scope, kernel);
    } else this.plan(scope);
    if (this.found.found.length === before) this.scopes.set(unit.name, scope);
  }

  steps(scope: UnitScope): readonly HostStep[] {
    const steps = this.planned.get(scope) ?? this.plan(scope);
    const problem = this.unrunnable.get(scope);
    if (problem) throw new RunError(`${scope.unit.name} cannot be run: ${problemText(problem)}`);
    return steps;
  }

  /** Plan of the host side. Statements without a form here are a problem of the file only next to a loop of a procedure. */
  private plan(scope: UnitScope): readonly HostStep[] {
    const { unit } = scope;
    if (unit.kind === "module") return [];
    const refused: Unlowerable[] = [];
    const planner = new Planner(scope, (problem) => refused.push(problem));
    const steps = planner.steps(unit.body);
    this.planned.set(scope, steps);
    const loops = [...planner.regions.values()];
    for (const { at, construct, why, remedy } of oldScalars(scope, loops)) refused.push(new Unlowerable(at, construct, why, remedy));
    if (refused.length > 0) this.unrunnable.set(scope, refused[0]);
    if (loops.length > 0 && unit.kind === "procedure") for (const problem of refused) this.refuse(problem);
    // Makes kernels of the loops even if the host's part has problems.
    for (const region of loops) this.lowered(region);
    return steps;
  }

  private readonly ofRegions = new Map<ParallelRegion, FortranKernel>();

  private lowered(region: ParallelRegion): FortranKernel | undefined {
    if (this.found.found.some(({ at }) => at === region.at)) return undefined;
    const settings = Object.hasOwn(this.loops, region.name) ? this.loops[region.name] : undefined;
    try {
      const kernel = fortranKernel(lowerRegion(settings ? withLoopOrder(region, settings, this.found) : region));
      this.ofRegions.set(region, kernel);
      this.kernels.set(region.name, kernel);
      return kernel;
    } catch (error) {
      if (!(error instanceof Unlowerable)) throw error;
      this.refuse(error);
      return undefined;
    }
  }

  arraysOn(device: Device): ReturnType<Routines["arraysOn"]> {
    const found = this.arrays.get(device) ?? new Map();
    this.arrays.set(device, found);
    return found;
  }

  private refuse({ at, construct, why, remedy }: Unlowerable): void {
    this.found.add(at, construct, why, remedy);
  }

  kernelOf({ region }: Extract<HostStep, { kind: "launch" }>): FortranKernel {
    const kernel = this.ofRegions.get(region);
    if (!kernel) throw new RunError(`the loop ${region.name} cannot be run: its problems are listed`);
    return kernel;
  }

  globalKernel(scope: UnitScope): FortranKernel {
    return this.global.get(scope)!;
  }

  private scopeOf(name: string): UnitScope {
    const scope = this.scopes.get(name.toLowerCase());
    if (!scope) throw new LaunchError(`no routine ${name}; there are ${this.routines.slice(0, 20).join(", ") || "none"}`);
    return scope;
  }

  extents(routine: string, name: string, scalars: Readonly<Record<string, PlainValue>> = {}): number[] {
    return this.declared(routine, name, scalars).extents;
  }

  array(device: Device, routine: string, name: string, scalars: Readonly<Record<string, PlainValue>> = {}, data?: ArrayLike<number>): View {
    const { type, extents } = this.declared(routine, name, scalars);
    return data ? device.from({ type }, data, extents) : device.array({ type }, extents);
  }

  private declared(routine: string, name: string, scalars: Readonly<Record<string, PlainValue>>) {
    const scope = this.scopeOf(routine);
    // Looks for arrays of modules that the routine does not see, but whose procedures it may call.
    const others = this.world.scopes.flatMap(({ unit, variables }) => (unit.kind === "module" ? (variables.get(name) ?? []) : []));
    const variable = findNamed(scope, name) ?? (others.length === 1 ? others[0] : undefined);
    if (!variable?.dims) throw new RunError(`${routine} has no array ${name}`);
    return { type: elementType(variable), extents: arrayExtents(scope, variable, scalars).reverse() };
  }

  async emit(target: TargetName): ReturnType<FortranCode["emit"]> {
    return (await import("./emitted.js")).emitKernels(this.kernels, target);
  }

  routine(name: string): Routine {
    const scope = this.scopeOf(name);
    const dummies = scope.unit.kind === "procedure" ? scope.unit.dummies : [];
    const run: Routine["run"] = async (device, args, { transfers: tell } = {}) => {
      const { HostRun } = await import("./host/run.js");
      if (!tell) return new HostRun(this, device).routine(scope, args);
      const transfers = new (await import("./host/transfers.js")).Transfers();
      const results = await new HostRun(this, device, transfers).routine(scope, args);
      tell(transfers.counts);
      return results;
    };
    return { name, arguments: dummies, run };
  }
}

/** Procedures that live in kernels alone. */
function isDevice({ unit }: UnitScope): boolean {
  return unit.kind === "procedure" && unit.attributes.includes("device") && !unit.attributes.includes("host");
}
