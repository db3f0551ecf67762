import { range, teams, type RangePolicy, type TeamPolicy } from "../../device/launch/policy.js";
import type { Device } from "../../device/device.js";
import { View } from "../../device/memory/view.js";
import { IsoformError } from "../../base/errors.js";
import type { PlainValue } from "../../ir/operators.js";
import { someExpr } from "../../ir/walk.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { findAllocation } from "../analyse/allocations.js";
import type { UnitScope, Variable } from "../analyse/symbols.js";
import { sizeName } from "../analyse/thread-index.js";
import { lowerValue, usesArrays, type LoweredKernel } from "../lower/kernels.js";
import type { RowView } from "../lower/lowering.js";
import { racesOf } from "../lower/races.js";
import type { Expr as Tree } from "../tree/index.js";
import { evaluate, run, type HostValues } from "./evaluate.js";

/* Loops as kernels, and the extents of arrays: what is known before anything runs. */

/** A loop nest as a kernel, which can be launched like any other. */
export interface FortranKernel extends Kernel {
  /**
   * The elements for these arguments.
   *
   * @throws IsoformError if one is missing, a bound is an element of an array that is not a list of numbers, or the launch's grid is needed
   */
  range(args: Readonly<Record<string, unknown>>): RangePolicy;
  /**
   * The blocks of a launch, one team each, of a kernel whose threads share memory: by `gridDim_x`, `gridDim_y` and `gridDim_z`.
   *
   * @throws RunError if one is missing, or the kernel runs over elements
   */
  teams(args: Readonly<Record<string, unknown>>): TeamPolicy;
  /**
   * New arrays on the device for each element's own arrays of run-time size: they are passed with the other arguments, and freed by
   * the caller. None if all sizes are constants.
   *
   * @throws RunError if an argument that a size needs is missing
   */
  rows(device: Device, args: Readonly<Record<string, unknown>>): Record<string, View>;
  /**
   * Possible races that the directive denies: a message for each array with a place that two elements may touch
   * and at least one may write. Takes as long as compiling.
   */
  races(): string[];
  readonly lowered: LoweredKernel;
  /** Arrays whose elements are bounds of loops or of other arrays: `range` takes them as lists of numbers. */
  readonly boundArrays: readonly string[];
}

/** A routine that cannot run: an argument is missing, or has the wrong type or shape. */
export class RunError extends IsoformError {
  override name = "RunError";
}

/** Arguments of a kernel as expressions see them. */
export const knownOf = (args: Readonly<Record<string, unknown>>): HostValues => ({
  param: (name) => {
    const value = args[name];
    if (typeof value !== "number" && typeof value !== "boolean") throw new RunError(`${name} is missing: the kernel's bounds depend on it`);
    return value;
  },
  extent: (view, axis) => (args[view] as View).shape[axis],
  element: (view, [index, ...more]) => {
    const list = args[view];
    if (more.length === 0 && (Array.isArray(list) || list instanceof Int32Array)) return Number(list[index]);
    throw new RunError(`a bound is an element of ${view}: give its values, as in kernel.range({ ...args, ${view}: [4, 5, 6] })`);
  },
});

/** The trips of a kernel's axes, and no more than the threads of its launch. @throws RunError if only these tell, and they are not given */
export const tripsOf = ({ lowered }: Pick<FortranKernel, "lowered">, known: HostValues, threads: readonly number[] = []): number[] =>
  lowered.trips.map((trips, axis) => {
    const most = threads[axis] ?? Infinity;
    if (!trips && most === Infinity)
      throw new RunError(`${lowered.ir.name} has no bounds guard, so its range is the grid of its launch: use routine.run or kernel.teams`);
    return trips ? Math.min(most, Math.max(0, Number(evaluate(trips, known)))) : most;
  });

/** The views of a kernel's rows. Neighbours of a range have neighbouring values on GPUs, and rows of their own on CPUs. */
export function newRows({ rows }: LoweredKernel, device: Device, trips: readonly number[], known: HostValues): Record<string, View> {
  const isGpu = device.memory.name !== "cpu" && device.onHost !== true;
  const view = ({ type, length: of }: RowView): View => {
    const length = Math.max(1, Number(evaluate(of, known)));
    if (!isGpu) return device.array({ type }, [...trips, length]);
    const made = device.array({ type }, [length, ...trips]);
    const [first, ...strides] = made.strides;
    return new View(made.buffer, type, [...trips, length], [...strides, first], made.offset);
  };
  return Object.fromEntries(rows.map((each) => [each.param, view(each)]));
}

export function fortranKernel(lowered: LoweredKernel): FortranKernel {
  return Object.assign(kernelFromIR(lowered.ir), {
    lowered,
    boundArrays: boundArrays(lowered),
    races: () => racesOf(lowered.ir),
    rows: (device: Device, args: Readonly<Record<string, unknown>>) => {
      const known = knownOf(args);
      return newRows(lowered, device, lowered.rows.length === 0 ? [] : tripsOf({ lowered }, known), known);
    },
    range: (args: Readonly<Record<string, unknown>>) => {
      if (lowered.ofBlocks) throw new RunError(`${lowered.ir.name} runs over blocks of threads: kernel.teams(args) gives their number`);
      return range(...tripsOf({ lowered }, knownOf(args)));
    },
    teams: (args: Readonly<Record<string, unknown>>) => {
      if (!lowered.ofBlocks) throw new RunError(`${lowered.ir.name} runs over elements: kernel.range(args) gives their number`);
      return teams(["x", "y", "z"].map((axis) => Number(knownOf(args).param(sizeName("grid", axis)))).reduce((a, b) => a * b));
    },
  });
}

function boundArrays({ trips, sources, ir }: LoweredKernel): string[] {
  const bounds = [...trips, ...[...sources.values()].flatMap(({ extents }) => extents ?? [])];
  const isBound = (name: string): boolean => bounds.some((bound) => bound && someExpr(bound, (e) => e.op === "load" && e.view === name));
  return ir.params.map(({ name }) => name).filter(isBound);
}

/** The extents of an array by its declaration, in Fortran's order. @throws RunError if a bound is not known */
export function arrayExtents(scope: UnitScope, variable: Variable, scalars: Readonly<Record<string, PlainValue>>): number[] {
  const allocation = findAllocation(variable);
  return (allocation?.bounds ?? variable.dims!).map(({ lower, upper }) => {
    const value = (e: Tree): number => {
      const sequence = lowerValue(allocation?.scope ?? (variable.dummy ? scope : variable.scope), e, "i32");
      const given: Record<string, unknown> = {};
      for (const [param, source] of sequence.sources) given[param] = scalars[source.name];
      if (usesArrays(sequence)) throw new RunError(`${variable.name}: its bounds are in an array; make the view with explicit extents`);
      return Number(run(sequence.stmts, knownOf(given)).get(sequence.results[0].local));
    };
    if (!upper || upper === "*")
      throw new RunError(`${variable.name}: its declaration leaves the extents open; make the view with explicit extents`);
    return Math.max(0, value(upper) - (lower ? value(lower) : 1) + 1);
  });
}
