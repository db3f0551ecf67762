import type { Device } from "../../device/device.js";
import { range, teams } from "../../device/launch/policy.js";
import { stridesOf, View } from "../../device/memory/view.js";
import type { PlainValue } from "../../ir/operators.js";
import type { NumberElement } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { keepsBounds } from "../analyse/allocations.js";
import { SHARED_BYTES, sizeName } from "../analyse/thread-index.js";
import {
  dim3Parts,
  findNamed,
  isSaved,
  ownerOf,
  nestedComponents,
  namedVariable,
  type UnitScope,
  type Variable,
} from "../analyse/symbols.js";
import { isTextNumber, type Texts } from "../analyse/texts.js";
import { variableName } from "../analyse/walk.js";
import { lowerSequence, lowerValue, usesArrays, type LoweredSequence } from "../lower/kernels.js";
import { sequenceKernel } from "../lower/sequence-kernel.js";
import type { ParamSource } from "../lower/lowering.js";
import { elementType } from "../lower/values.js";
import { WIDE_LIMIT } from "../lower/wide.js";
import type { Expr, Name, ComponentRef } from "../tree/index.js";
import { assignScalar, CallVariables, modulesWith, nameOfModules, type VariablePlace } from "./call-variables.js";
import { evaluate, run, type HostValues } from "./evaluate.js";
import { randomNumber } from "./random-numbers.js";
import { askedLowers, beginningAt, withLowers } from "./lower-bounds.js";
import { fortranKernel, knownOf, newRows, RunError, tripsOf, type FortranKernel } from "./kernels.js";
import { resultVariable, type Actual, type HostStep } from "./plan.js";
import type { Transfers } from "./transfers.js";

/* Runs the host's side of routines, and launches their kernels. Loaded with the first run. */

/** Routines as runs see them. */
export interface Routines {
  steps(scope: UnitScope): readonly HostStep[];
  kernelOf(step: Extract<HostStep, { kind: "launch" }>): FortranKernel;
  /** The kernel that a `global` procedure is. */
  globalKernel(scope: UnitScope): FortranKernel;
  readonly texts: Texts;
  /** Values of procedures' scalars that are kept between calls. */
  readonly saved: Map<Variable, PlainValue>;
  /** Arrays that are kept between calls: by their variables, and module arrays by their names. */
  arraysOn(device: Device): Map<Variable | string, View>;
}

/** Side that a kernel stands for, and its clauses of data. */
type LaunchNote = Pick<Parameters<Transfers["launched"]>[0], "side" | "items" | "at">;
const NO_ITEMS: LaunchNote["items"] = new Map();

type Jump = Extract<HostStep, { kind: "jump" }>;

export class HostRun {
  private readonly sequences = new Map<LoweredSequence, FortranKernel>();
  /** Arrays that the caller has passed: theirs to free. */
  private readonly passed = new Set<unknown>();

  /** @param transfers counts what the directives copy */
  constructor(
    private readonly routines: Routines,
    private readonly device: Device,
    private readonly transfers?: Transfers,
  ) {}

  /** @param given arguments and module variables by their names; gives what scalars are afterwards */
  async routine(scope: UnitScope, given: Readonly<Record<string, unknown>>): Promise<Record<string, PlainValue>> {
    const globals = new CallVariables(topOf(scope));
    const own = new CallVariables(scope, globals);
    const { unit } = scope;
    const dummies = unit.kind === "procedure" ? unit.dummies : [];
    const isText = (name: string): boolean => [findNamed(scope, name)].some((variable) => variable && isTextNumber(variable));
    for (const [name, value] of Object.entries(given)) {
      const isArgument =
        scope.variables.get(name)?.dummy ||
        (unit.kind === "program" && scope.variables.has(name)) ||
        dummies.some((dummy) => name === dummy || name.startsWith(`${dummy}_`));
      for (const { home, key } of isArgument ? [{ home: own, key: name }] : this.meant(name, own, globals))
        if (value instanceof View) home.arrays.set(key, value);
        else if (typeof value === "number" || typeof value === "boolean") home.scalars.set(key, value);
        else if (typeof value === "string" && isText(name)) home.scalars.set(key, this.routines.texts.numberOf(value));
      if (
        !(value instanceof View) &&
        typeof value !== "number" &&
        typeof value !== "boolean" &&
        !(typeof value === "string" && isText(name))
      )
        throw new RunError(
          `${unit.name}: ${name} is given ${value === null ? "null" : typeof value}: give a number, a truth value or a view`,
        );
    }
    for (const value of Object.values(given)) this.passed.add(value);
    for (const name of dummies) {
      const dummy = scope.variables.get(name);
      if (!dummy || dummy.derived || own.scalars.has(name) || own.arrays.has(name)) continue;
      const isOut = dummy.attributes.has("intent(out)") && !dummy.dims;
      if (!isOut && !dummy.attributes.has("optional")) throw new RunError(`${unit.name}: the argument ${name} is missing`);
    }
    const kept = this.routines.arraysOn(this.device);
    for (const [key, view] of kept) if (typeof key === "string" && !globals.arrays.has(key)) globals.arrays.set(key, view);
    await this.procedure(scope, own);
    for (const key of kept.keys()) if (typeof key === "string") kept.delete(key);
    const views = Object.values(given);
    for (const [name, view] of globals.arrays) if (!views.includes(view)) kept.set(name, view);
    const result: Record<string, PlainValue> = {};
    const results = unit.kind === "procedure" && unit.result !== undefined ? [...dummies, unit.result] : dummies;
    for (const [key, value] of globals.scalars) {
      const name = key.split("::").at(-1)!;
      const shown = own.place(name).key === key ? name : key;
      if (given[shown] !== value && !isText(name)) result[shown] = value;
    }
    if (unit.kind === "program")
      for (const [name, value] of own.scalars) if (scope.variables.has(name) && !isText(name)) result[name] = value;
    for (const name of results) {
      const dummy = scope.variables.get(name);
      const value = own.scalars.get(name);
      if (value !== undefined && !isText(name) && !dummy?.attributes.has("value") && !dummy?.attributes.has("intent(in)"))
        result[name] = value;
    }
    return result;
  }

  /** The variables of modules that a name is given for: the one that the routine sees, or else all of that name. */
  private meant(name: string, own: CallVariables, globals: CallVariables): VariablePlace[] {
    const seen = own.place(name);
    if (seen.key !== name || findNamed(own.scope, name)) return [{ ...seen, home: globals }];
    const keys = modulesWith(own.scope.world, name).map((module) => nameOfModules(module, name));
    return (keys.length > 0 ? keys : [name]).map((key) => ({ home: globals, key }));
  }

  private async procedure(scope: UnitScope, own: CallVariables): Promise<void> {
    const { unit } = scope;
    if (unit.kind === "procedure" && unit.attributes.includes("global")) {
      const kernel = this.routines.globalKernel(scope);
      const sizes = ["x", "y", "z"].flatMap((axis) => [sizeName("grid", axis), sizeName("block", axis)]);
      const missing = sizes.filter((size) => kernel.lowered.sources.has(size) && !own.scalars.has(size));
      if (missing.length > 0 && !kernel.lowered.ofBlocks)
        throw new RunError(
          `${unit.name} runs one element for each thread of its launch: give ${missing.join(", ")}, or run the routine that launches it`,
        );
      await this.launch(kernel, own);
      return;
    }
    const saved = [...scope.variables.values()].filter((variable) => isSaved(variable) && !variable.dims);
    for (const variable of saved) own.scalars.set(variable.name, this.routines.saved.get(variable) ?? initialOf(variable));
    const kept = this.routines.arraysOn(this.device);
    for (const variable of scope.variables.values()) if (kept.has(variable)) own.arrays.set(variable.name, kept.get(variable)!);
    for (const variable of scope.variables.values())
      if (variable.derived && variable.attributes.has("intent(out)"))
        this.begin(own, { kind: "name", name: variable.name, at: variable.at }, true);
    await this.steps(this.routines.steps(scope), own);
    for (const variable of saved) this.routines.saved.set(variable, own.scalars.get(variable.name)!);
    // Arrays of the procedure's own end with it, but for those that are saved; of pointers' memory others take care.
    for (const variable of scope.variables.values()) {
      const view = own.arrays.get(variable.name);
      kept.delete(variable);
      if (view && isSaved(variable)) kept.set(variable, view);
      else if (!variable.dummy && !variable.attributes.has("pointer") && !this.passed.has(view)) view?.free();
    }
  }

  private async steps(steps: readonly HostStep[], own: CallVariables): Promise<Jump | undefined> {
    for (const step of steps) {
      const jump = await this.step(step, own);
      if (jump) return jump;
    }
    return undefined;
  }

  private async step(step: HostStep, own: CallVariables): Promise<Jump | undefined> {
    switch (step.kind) {
      case "launch":
        await this.loopOnDevice(step, own);
        return undefined;
      case "sequence":
        await this.sequence(step.sequence, own, step.onDevice ? "device" : "host");
        return undefined;
      case "data":
        if (this.transfers) await this.data(step, this.transfers, own);
        return undefined;
      case "call":
        await this.call(step, own);
        return undefined;
      case "if":
        for (const { cond, steps } of step.branches) if (await this.value(cond, own)) return this.steps(steps, own);
        return this.steps(step.otherwise, own);
      case "do":
        return this.loop(step, own);
      case "while":
        while (!step.cond || (await this.value(step.cond, own))) {
          const jump = await this.steps(step.body, own);
          if (jump && !goesOn(jump, step.name)) return outwards(jump, step.name);
        }
        return undefined;
      case "print":
        return this.print(step, own);
      case "construct": {
        const jump = await this.steps(step.body, own);
        return jump?.jump === "exit" && jump.loop === step.name ? undefined : jump;
      }
      case "jump":
        return step;
      case "allocate":
        await this.allocate(step, own);
        return undefined;
      case "point":
        await this.point(step, own);
        return undefined;
      case "random":
        return this.random(step, own);
      case "free": {
        const { home, key } = own.place(step.name);
        home.arrays.get(key)?.free();
        home.arrays.delete(key);
        return undefined;
      }
      case "stop":
        throw new RunError(`${step.at.file}:${step.at.line}: the program stops`);
      default:
        return unreachable(step);
    }
  }

  private async allocate(
    { name, type, bounds, variable, like }: Extract<HostStep, { kind: "allocate" }>,
    own: CallVariables,
  ): Promise<void> {
    const { home, key } = own.place(name);
    const written = bounds.map(({ lower }) => lower);
    const lowers = await (like ? this.lowersOf(like, own) : this.numbers(written, own));
    home.arrays.set(key, beginningAt(this.fresh(type, await this.extents(bounds, own), variable), lowers));
  }

  private async point({ name, to, bounds, lowers: written }: Extract<HostStep, { kind: "point" }>, own: CallVariables): Promise<void> {
    const { home, key } = own.place(name);
    if (!to) return void home.arrays.delete(key);
    const target = await this.actualArray(to, own);
    const lowers = await (written ? this.numbers(written, own) : this.lowersOf(to, own));
    const view = bounds ? shaped(target, name, await this.extents(bounds, own)) : target;
    home.arrays.set(key, withLowers(view, lowers));
  }

  private async loopOnDevice(step: Extract<HostStep, { kind: "launch" }>, own: CallVariables): Promise<void> {
    const isHosts = step.isHosts || (this.transfers && step.condition && !(await this.value(step.condition, own)));
    const note: LaunchNote = { side: isHosts ? "host" : "device", items: step.items, at: step.region.at };
    await this.launch(this.routines.kernelOf(step), own, [], note);
  }

  /** Notes what a directive would copy. */
  private async data(step: Extract<HostStep, { kind: "data" }>, transfers: Transfers, own: CallVariables): Promise<void> {
    if (step.condition && !(await this.value(step.condition, own))) return;
    for (const { item, array } of step.items) {
      const view = await this.actualArray(array, own);
      if (step.action === "update") transfers.update(view, item);
      else transfers[step.action](view, item, step.isDynamic);
    }
  }

  private async random({ type, to }: Extract<HostStep, { kind: "random" }>, own: CallVariables): Promise<undefined> {
    const next = (): number => randomNumber(type);
    if (typeof to === "string") assignScalar(own.place(to), next());
    else {
      const view = await this.actualArray(to, own);
      this.transfers?.writtenByHost(view);
      this.device.queue.write(view, Array.from({ length: view.size }, next));
    }
    return undefined;
  }

  private async print({ items, at }: Extract<HostStep, { kind: "print" }>, own: CallVariables): Promise<undefined> {
    const words: string[] = [];
    try {
      for (const item of items)
        if (typeof item === "string") words.push(item);
        else if ("array" in item) {
          const view = await this.actualArray(item.array, own);
          this.transfers?.readByHost(view, item.array.name, at);
          words.push(...Array.from(await this.device.queue.read(view), String));
        } else {
          const value = await this.value(item.value, own);
          words.push(item.isText ? this.routines.texts.textOf(Number(value)) : String(value));
        }
    } catch (error) {
      // Leaves out lines with variables that have no value.
      if (error instanceof RunError) return undefined;
      throw error;
    }
    (this.device.print ?? console.log)(words.join(" "));
    return undefined;
  }

  /** Values of bounds; 1 where none is written. */
  private async numbers(bounds: readonly (LoweredSequence | undefined)[], own: CallVariables): Promise<number[]> {
    const found: number[] = [];
    for (const bound of bounds) found.push(bound ? Number(await this.value(bound, own)) : 1);
    return found;
  }

  /** Lower bounds of an array as a whole; a section begins at 1. */
  private async lowersOf(
    { name, axes, rank, lowers, asked }: Extract<Actual, { kind: "array" }>,
    own: CallVariables,
  ): Promise<readonly number[]> {
    if (axes) return Array<number>(rank).fill(1);
    return asked ? askedLowers(name, rank, own.place(name, asked), own) : this.numbers(lowers, own);
  }

  /** In Fortran's order. */
  private async extents(bounds: Extract<HostStep, { kind: "allocate" }>["bounds"], own: CallVariables): Promise<number[]> {
    const found: number[] = [];
    for (const { lower, upper } of bounds)
      found.push(Math.max(0, Number(await this.value(upper, own)) - (lower ? Number(await this.value(lower, own)) : 1) + 1));
    return found;
  }

  /** A new array; each component of an array of objects begins with its value. */
  private fresh(type: NumberElement, extents: readonly number[], variable?: Variable): View {
    const shape = [...extents].reverse();
    if (!variable?.objects || !variable.initial) {
      const view = this.device.array({ type }, shape);
      this.transfers?.fresh(view);
      return view;
    }
    const value = Number(initialOf(variable));
    return this.device.from({ type }, Array<number>(shape.reduce((a, b) => a * b, 1)).fill(value), shape);
  }

  private async loop(step: Extract<HostStep, { kind: "do" }>, own: CallVariables): Promise<Jump | undefined> {
    const [start, stop] = [Number(await this.value(step.start, own)), Number(await this.value(step.stop, own))];
    const by = step.step ? Number(await this.value(step.step, own)) : 1;
    const { home, key } = own.place(step.variable);
    let n = start;
    for (let trips = Math.trunc((stop - start + by) / by); trips > 0; trips--, n += by) {
      home.scalars.set(key, n);
      const jump = await this.steps(step.body, own);
      if (jump && !goesOn(jump, step.name)) return outwards(jump, step.name);
    }
    home.scalars.set(key, n);
    return undefined;
  }

  private async value(sequence: LoweredSequence, own: CallVariables): Promise<PlainValue> {
    return (await this.sequence(sequence, own)) ?? 0;
  }

  /** Works out statements in order; gives the value that has no name. */
  private async sequence(
    sequence: LoweredSequence,
    own: CallVariables,
    side: LaunchNote["side"] = "host",
  ): Promise<PlainValue | undefined> {
    if (usesArrays(sequence)) {
      const kernel =
        this.sequences.get(sequence) ?? fortranKernel(sequenceKernel(`${own.scope.unit.name} line ${sequence.at.line}`, sequence));
      this.sequences.set(sequence, kernel);
      return this.launch(kernel, own, [], { side, items: NO_ITEMS, at: sequence.at });
    }
    const known: HostValues = {
      ...knownOf({}),
      param: (name) => this.scalar(sequence.sources.get(name)!, own),
    };
    const locals = run(sequence.stmts, known);
    let value: PlainValue | undefined;
    for (const { local, name, variable } of sequence.results) {
      const result = locals.get(local);
      if (name === "") value = result;
      else if (result !== undefined) assignScalar(own.place(name, variable), result);
    }
    return value;
  }

  private scalar({ name, variable, asks, lower }: ParamSource, own: CallVariables): PlainValue {
    const { home, key } = own.place(name, variable);
    if (lower !== undefined) return askedLowers(name, variable.dims!.length, { home, key }, own)[lower];
    if (asks) return home.has(key);
    const found = home.scalars.get(key);
    if (variable.wide && Math.abs(Number(found ?? 0)) >= WIDE_LIMIT)
      throw new RunError(`${name} is ${String(found)}: integers of 64 bits have to stay below ${WIDE_LIMIT} here`);
    if (found !== undefined) return found;
    const given = !variable.initial && isGiven(variable);
    if (given && !variable.attributes.has("intent(out)") && own.scope.unit.kind === "procedure" && !own.scope.variables.has(name))
      throw new RunError(`${own.scope.unit.name}: ${name} is missing`);
    return initialOf(variable);
  }

  /** Launches, and takes its results back. `grid`: the blocks of a team kernel, or the most elements along each axis. */
  private async launch(
    kernel: FortranKernel,
    own: CallVariables,
    grid: readonly number[] = [],
    note?: LaunchNote,
  ): Promise<PlainValue | undefined> {
    const { lowered } = kernel;
    const args: Record<string, unknown> = {};
    for (const param of lowered.ir.params) {
      const source = lowered.sources.get(param.name);
      if (source && param.kind === "scalar") args[param.name] = this.scalar(source, own);
    }
    const known = await this.known(kernel, args, own);
    for (const param of lowered.ir.params) {
      const source = lowered.sources.get(param.name);
      if (source && (param.kind === "view" || param.kind === "scatter"))
        args[param.name] = await this.array(kernel, source, param.rank, known, own);
    }
    if (lowered.ofBlocks && grid.length === 0)
      throw new RunError(`${kernel.name} runs over blocks of threads: run a routine that launches it`);
    const trips = lowered.ofBlocks ? grid : tripsOf(kernel, known, grid);
    if (trips.includes(0)) return undefined;
    const policy = lowered.ofBlocks ? teams(trips[0]) : range(...trips);
    for (const { param, name, op } of lowered.outcomes) {
      const { home, key } = own.place(name);
      const before = op && home.scalars.get(key);
      if (before !== undefined) args[param] = Number(before);
    }
    if (this.transfers && note) {
      const views = new Map(Object.entries(args).flatMap(([name, view]) => (view instanceof View ? [[name, view] as const] : [])));
      const scalars = Object.fromEntries(
        Object.entries(args).flatMap(([name, value]) => (typeof value === "number" || typeof value === "boolean" ? [[name, value]] : [])),
      );
      this.transfers.launched({ ...note, lowered, views, scalars, policy });
    }
    const rows = newRows(lowered, this.device, trips, known);
    let results: Record<string, number>;
    try {
      results = await this.device.run(kernel, { ...args, ...rows }, policy);
    } finally {
      for (const view of Object.values(rows)) view.free();
    }
    let value: PlainValue | undefined;
    for (const { param, name, type, variable, assigned, least } of lowered.outcomes) {
      const times = assigned === undefined ? 1 : results[assigned];
      if (times === 0) continue;
      // Both are NaN where one iteration's value is.
      if (times > 1 && least !== undefined && results[least] !== results[param])
        throw new RunError(
          `${kernel.name}: ${times} iterations assign different values to ${name}: name it in a reduction clause such as ` +
            `reduction(max: ${name}), or let one iteration assign it`,
        );
      const result: PlainValue = type === "bool" ? results[param] !== 0 : results[param];
      if (name === "") value = result;
      else assignScalar(own.place(name, variable), result);
    }
    return value;
  }

  /** Values on which bounds depend: arguments, and elements of arrays, which are read from the device. */
  private async known(
    { lowered, boundArrays }: FortranKernel,
    args: Readonly<Record<string, unknown>>,
    own: CallVariables,
  ): Promise<HostValues> {
    const read = new Map<string, { view: View; numbers: ArrayLike<number> }>();
    for (const param of boundArrays) {
      const { name, variable } = lowered.sources.get(param)!;
      const { home, key } = own.place(name, variable);
      const view = home.arrays.get(key);
      if (!view) throw new RunError(`${lowered.ir.name}: the array ${name} is missing: pass it to run`);
      this.transfers?.readByHost(view, name, lowered.ir.location);
      read.set(param, { view, numbers: await this.device.queue.read(view) });
    }
    const element: HostValues["element"] = (name, indices) => {
      const { view, numbers } = read.get(name)!;
      return numbers[indices.reduce((at, index, axis) => at * view.shape[axis] + index, 0)];
    };
    return { ...knownOf(args), element };
  }

  /** The view of an array as its declaration has it. */
  private async array(
    kernel: Kernel,
    { name, variable, extents }: ParamSource,
    rank: number,
    known: HostValues,
    own: CallVariables,
  ): Promise<View> {
    const { home, key } = own.place(name, variable);
    const wanted = extents?.map((extent) => extent && Math.max(0, Number(evaluate(extent, known))));
    let view = home.arrays.get(key);
    if (!view) {
      if (variable.initial && !variable.component) return this.initialised(variable, wanted, own);
      // Programs begin with the arrays of modules, too.
      const isMissing = isGiven(variable) && (own.around().at(-1)!.scope.unit.kind !== "program" || variable.dummy);
      if (isMissing || !wanted || wanted.includes(undefined))
        throw new RunError(`${kernel.name}: the array ${name} is missing: pass it to run`);
      view = this.fresh(elementType(variable), wanted as number[], variable);
      home.arrays.set(key, view);
    }
    if (view.type !== elementType(variable))
      throw new RunError(`${kernel.name}: ${name} is given an array of ${view.type}, and is declared as ${elementType(variable)}`);
    return wanted ? shaped(view, name, wanted) : view.rank === rank ? view : shaped(view, name, Array<undefined>(rank).fill(undefined));
  }

  /** The array with the values that it begins with. */
  private async initialised(variable: Variable, wanted: readonly (number | undefined)[] | undefined, own: CallVariables): Promise<View> {
    const { name, scope, at, initial } = variable;
    if (!wanted || wanted.includes(undefined)) throw new RunError(`${name} has initial values, and bounds that are not known`);
    const view = this.fresh(elementType(variable), wanted as number[]);
    const { home, key } = own.place(name, variable);
    home.arrays.set(key, view);
    await this.sequence(lowerSequence(scope, [{ kind: "assign", target: { kind: "name", name, at }, value: initial!, at }]), own);
    return view;
  }

  private async call(step: Extract<HostStep, { kind: "call" }>, own: CallVariables): Promise<void> {
    const { procedure } = step;
    const inner = new CallVariables(procedure, hostOf(procedure, own));
    const copied: (() => void)[] = [];
    for (const [dummy, actual] of step.args) {
      // An optional argument that is absent may be handed on.
      if (actual.name !== undefined && !(actual.kind === "array" && actual.axes) && own.lacks(actual.name)) continue;
      switch (actual.kind) {
        case "scalar": {
          inner.scalars.set(dummy, await this.value(actual.value, own));
          const { name } = actual;
          if (name !== undefined && !procedure.variables.get(dummy)?.attributes.has("value"))
            copied.push(() => void assignScalar(own.place(name), inner.scalars.get(dummy)!));
          break;
        }
        case "object":
          this.begin(own, actual.of);
          copied.push(objects(own, actual.name, inner, dummy));
          break;
        case "array":
          inner.arrays.set(dummy, await this.given(actual, procedure.variables.get(dummy), own));
          break;
        default:
          unreachable(actual);
      }
    }
    const { unit } = procedure;
    if (step.grid && unit.kind === "procedure" && unit.attributes.includes("global")) {
      const kernel = this.routines.globalKernel(procedure);
      const [blocks, threads] = await this.threads(step.grid, inner, own);
      if (step.shared) inner.scalars.set(SHARED_BYTES, await this.value(step.shared, own));
      const grid = kernel.lowered.ofBlocks ? [blocks.reduce((a, b) => a * b)] : gridOf(kernel, blocks, threads);
      await this.launch(kernel, inner, grid);
    } else await this.procedure(procedure, inner);
    copied.forEach((copy) => copy());
    const result = step.result !== undefined && resultVariable(procedure);
    if (result) assignScalar(own.place(step.result!), inner.scalars.get(result.name) ?? initialOf(result));
  }

  /** An array as a dummy argument takes it, which may begin where the caller's array does. */
  private async given(actual: Extract<Actual, { kind: "array" }>, dummy: Variable | undefined, own: CallVariables): Promise<View> {
    const view = await this.actualArray(actual, own);
    return dummy?.dims && keepsBounds(dummy) ? withLowers(view, await this.lowersOf(actual, own)) : view;
  }

  /** Makes the components of an object that nothing was assigned yet; all that have values by their type if it is `intent(out)`. */
  private begin(own: CallVariables, object: Name | ComponentRef, isOut = false): void {
    for (const part of nestedComponents(own.scope, object)) {
      const name = variableName(part);
      const variable = namedVariable(own.scope, part);
      const { home, key } = own.place(name);
      const { scalars, arrays } = home;
      if (isOut && variable?.initial && (variable.dims || variable.refused))
        throw new RunError(`${own.scope.unit.name}: ${name} has initial values from its type: make it intent(inout), and assign it`);
      const isThere = !isOut && (scalars.has(key) || arrays.has(key));
      if (!variable || variable.refused || isThere || (isGiven(variable) && !variable.initial)) continue;
      const { dims } = variable;
      if (!dims) scalars.set(key, initialOf(variable));
      else if (dims.every(({ upper }) => upper && upper !== "*")) {
        const number = (e: Expr): number => Number(initialOf({ ...variable, type: "i32", initial: e }));
        arrays.set(
          key,
          this.fresh(
            elementType(variable),
            dims.map(({ lower, upper }) => number(upper as Expr) - (lower ? number(lower) : 1) + 1),
          ),
        );
      }
    }
  }

  /** The blocks of a launch and the threads of a block, along each axis. */
  private async threads(
    [grid, block]: NonNullable<Extract<HostStep, { kind: "call" }>["grid"]>,
    inner: CallVariables,
    own: CallVariables,
  ): Promise<number[][]> {
    const sizes = async (e: typeof grid): Promise<number[]> => {
      const parts = e.kind === "constructor" ? e.items : (dim3Parts(own.scope, e) ?? [e]);
      const found: number[] = [];
      for (const part of parts) {
        if (part.kind === "implied-do") throw new RunError("a grid size is written as an implied do loop: list its numbers");
        found.push(Number(await this.value(lowerValue(own.scope, part, "i32"), own)));
      }
      return found;
    };
    const found = [await sizes(grid), await sizes(block)].map((given) => [0, 1, 2].map((axis) => given[axis] ?? 1));
    ["x", "y", "z"].forEach((axis, n) => {
      inner.scalars.set(sizeName("grid", axis), found[0][n]);
      inner.scalars.set(sizeName("block", axis), found[1][n]);
    });
    return found;
  }

  /** Makes a local array that no statement has used yet. @throws RunError if an array is not local, or not of a declared size */
  private async begunArray(name: string, own: CallVariables): Promise<View> {
    const variable = findNamed(own.scope, name);
    const sized = variable?.dims?.every(({ upper }) => upper && upper !== "*");
    const isOfObject = variable?.component !== undefined && !variable.objects;
    if (!variable || !sized || (isGiven(variable) && !variable.initial) || isOfObject)
      throw new RunError(`${own.scope.unit.name}: the array ${name} is missing: pass it to run, or allocate it`);
    const bound = (e: Expr): LoweredSequence => lowerValue(variable.scope, e, "i32");
    const bounds = variable.dims!.map(({ lower, upper }) => ({ ...(lower && { lower: bound(lower) }), upper: bound(upper as Expr) }));
    if (variable.initial && !variable.objects) return this.initialised(variable, await this.extents(bounds, own), own);
    const view = this.fresh(elementType(variable), await this.extents(bounds, own), variable);
    const { home, key } = own.place(name);
    home.arrays.set(key, view);
    return view;
  }

  private async actualArray({ name, axes, lowers, asked }: Extract<Actual, { kind: "array" }>, own: CallVariables): Promise<View> {
    const { home, key } = own.place(name);
    const whole = home.arrays.get(key) ?? (await this.begunArray(name, own));
    if (!axes) return whole;
    const number = async (e: LoweredSequence | undefined, otherwise: number): Promise<number> =>
      e ? Number(await this.value(e, own)) : otherwise;
    const begins = asked ? askedLowers(name, whole.rank, own.place(name, asked), own) : await this.numbers(lowers, own);
    const [shape, strides]: [number[], number[]] = [[], []];
    let { offset } = whole;
    for (let axis = 0; axis < axes.length; axis++) {
      const at = whole.rank - 1 - axis;
      const first = begins[axis] ?? 1;
      const part = axes[axis];
      if (part.kind === "index") {
        offset += ((await number(part.at, first)) - first) * whole.strides[at];
        continue;
      }
      const lower = await number(part.lower, first);
      const upper = await number(part.upper, first + whole.shape[at] - 1);
      const by = await number(part.step, 1);
      offset += (lower - first) * whole.strides[at];
      shape.unshift(Math.max(0, Math.trunc((upper - lower + by) / by)));
      strides.unshift(whole.strides[at] * by);
    }
    if (shape.length > 0) return new View(whole.buffer, whole.type, shape, strides, offset);
    // An element stands for all that follow it.
    const left = whole.offset + whole.size - offset;
    return new View(whole.buffer, whole.type, [left], [1], offset);
  }
}

/** The threads of a launch along each axis of a kernel; no limit along a loop that each thread walks. */
function gridOf({ name, lowered: { axes } }: FortranKernel, blocks: readonly number[], threads: readonly number[]): number[] {
  const along = blocks.map((count, axis) => count * threads[axis]);
  const used = axes.flatMap(({ axis }) => axis ?? []);
  if (along.some((count, n) => count !== 1 && !used.includes((["x", "y", "z"] as const)[n])))
    throw new RunError(`${name} is launched with ${along.join("x")} threads, and uses ${used.length} of these axes only`);
  return axes.map(({ axis }) => (axis ? along[["x", "y", "z"].indexOf(axis)] : Infinity));
}

/** The value that a scalar begins with; of one without, it is undefined in Fortran, too. */
/** Whether a variable comes from outside of its procedure. */
const isGiven = (variable: Variable): boolean => variable.dummy || ownerOf(variable).unit.kind === "module";

function initialOf({ initial, type, scope }: Variable): PlainValue {
  if (!initial) return type === "bool" ? false : 0;
  const { stmts, results } = lowerValue(scope, initial, type);
  return run(stmts, knownOf({})).get(results[0].local)!;
}

const topOf = (scope: UnitScope): UnitScope => (scope.parent ? topOf(scope.parent) : scope);
/** The call whose variables an inner procedure shares; otherwise the variables of modules. */
const hostOf = (inner: UnitScope, own: CallVariables): CallVariables =>
  own.outer && own.scope !== inner.parent ? hostOf(inner, own.outer) : own;

/** Whether the loop takes its next turn. */
const goesOn = ({ jump, loop }: Jump, name: string | undefined): boolean => jump === "cycle" && (loop === undefined || loop === name);
/** The jump as seen further out, after a loop that it leaves. */
const outwards = (jump: Jump, name: string | undefined): Jump | undefined =>
  jump.jump === "exit" && (jump.loop === undefined || jump.loop === name) ? undefined : jump;

/** Gives a call the components of an object; gives the way back. */
function objects(own: CallVariables, name: string, inner: CallVariables, dummy: string): () => void {
  const { home, key: object } = own.place(name);
  const [outside, inside] = [`${object}_`, `${dummy}_`];
  for (const of of ["scalars", "arrays"] as const)
    for (const [key, value] of home[of]) if (key.startsWith(outside)) inner[of].set(inside + key.slice(outside.length), value as never);
  return () => {
    for (const of of ["scalars", "arrays"] as const)
      for (const [key, value] of inner[of]) if (key.startsWith(inside)) home[of].set(outside + key.slice(inside.length), value as never);
    // Removes arrays that the call has freed.
    for (const key of home.arrays.keys())
      if (key.startsWith(outside) && !inner.arrays.has(inside + key.slice(outside.length))) home.arrays.delete(key);
  };
}

/** A view over the same memory with the extents that a declaration wants, given in Fortran's order. @throws RunError */
function shaped(view: View, name: string, wanted: readonly (number | undefined)[]): View {
  const shape = [...wanted].reverse().map((extent, axis) => extent ?? (wanted.length === view.rank ? view.shape[axis] : -1));
  if (shape.join() === view.shape.join()) return view;
  // The last axis of an array of assumed size takes what is left.
  if (shape[0] === -1) shape[0] = Math.floor(view.size / shape.slice(1).reduce((a, b) => a * b, 1));
  const size = shape.reduce((a, b) => a * b, 1);
  if (shape.includes(-1) || !view.contiguous || size > view.size)
    throw new RunError(`${name} is given a view of shape [${view.shape}], and is declared with [${shape.map((n) => (n < 0 ? ":" : n))}]`);
  return new View(view.buffer, view.type, shape, stridesOf(shape, "right"), view.offset);
}
