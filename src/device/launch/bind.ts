import { ATOMIC_REMEDY, atomicProblem, dependsOnOrder } from "../../ir/atomic.js";
import { originalPosition } from "#source-map";
import { own, requireOptions } from "../../base/own.js";
import { ELEMENTS, isFloat, isWide, isWord, wrap, type NumericType, type ScalarType, type WideType } from "../../ir/scalars.js";
import { outside, takenRange, type Access, type AccessAnalysis } from "../../ir/analysis/access.js";
import { equal, type Interval, atomParts } from "../../ir/analysis/affine.js";
import { launchBounds } from "../../ir/analysis/launch-bounds.js";
import { overlapIn } from "../../ir/analysis/launch-races.js";
import type { LaunchFacts } from "../../ir/analysis/proofs.js";
import { printAccess } from "../../ir/analysis/races.js";
import { axisWords } from "../../ir/declared-bounds.js";
import { arrayShapes } from "../../ir/analysis/bounds.js";
import { costWhenAsked } from "../../ir/analysis/cost.js";
import { orderMatters } from "../../ir/identity.js";
import { indexNames, printExpr } from "../../ir/kernel-text.js";
import { partialCount } from "../../ir/launch.js";
import { integersOfLaunch } from "../../ir/analysis/launch-integers.js";
import type { KernelIR, PlainValue } from "../../ir/types.js";
import {
  blockedKernel,
  checkedKernel,
  compileKernel,
  printingKernel,
  relaxedKernel,
  type CompiledKernel,
  type CompileOptions,
} from "../../kernel/compile.js";
import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { flatCall, hasLists } from "../../kernel/declare/flat.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { isValueType } from "../../kernel/declare/struct.js";
import type { ParamToken, ReduceEachToken, ScatterToken, ViewToken } from "../../kernel/declare/params.js";
import { BlockedView, storageOf, type AnyView } from "../memory/blocked-view.js";
import type { Device, PeerStore, LaunchOptions, Precision, ScatterStrategy } from "../device.js";
import { OPTIONS, type Binding, type BindArguments, type Checked, type CompiledCall } from "./binding.js";
import { knownIn, type GivenArguments } from "./known-values.js";
import {
  findAlike,
  isChecked,
  isDeterministic,
  recallBinding,
  rememberBinding,
  type KnownBinding as KnownLaunch,
} from "./known-bindings.js";
import { meetsItself, overlap, sameElements } from "../memory/overlap.js";
import type { Policy } from "./policy.js";
import { ACCESS_VERBS, takeFaultRecord } from "./faults.js";
import { takePrintRecords } from "./prints.js";
import { allocateTeamRows, teamLengths } from "./team-rows.js";
import type { Chosen } from "./chosen.js";
import { foldsJointly } from "../../ir/joint.js";
import { componentsOf } from "./components.js";
import { View } from "../memory/view.js";

/** Checks names, types, ranks, extents, memory and overlap, and that every index known before the launch lies inside its view, array or table. Throws LaunchError. */
export function bind(
  device: Device,
  written: Kernel,
  given: Readonly<Record<string, unknown>>,
  policy: Policy,
  options: LaunchOptions = {},
  compile: CompileOptions = {},
): Binding {
  requireKernel(device, written, given);
  const { kernel, args } = flatCall(written, given);
  if (hasLists(kernel))
    throw launchError(device, kernel, "it has lists, and becomes several launches: prepare it by prepareLists(...) of isoform/backend");
  const call: BindArguments = { device, kernel, args, policy, options, compile };
  const peerStores = (options.peerStores?.length ?? 0) > 0;
  let checked = peerStores ? undefined : (recallBinding(call) ?? bindAlike(call));
  if (!checked) {
    const compiled = compiledCall(call);
    checked = checkAnew(call, compiled);
    if (!peerStores) checked.place = rememberBinding(call, checked, compiled);
  }
  const rows = {
    ...allocateTeamRows(device, checked.ir, policy, checked),
    ...takeFaultRecord(device, checked.ir),
    ...takePrintRecords(device, checked.ir),
  };
  if (Object.keys(rows).length > 0) checked = { ...checked, views: { ...checked.views, ...rows } };
  const tuning = device.tuning.choose(checked, options);
  return { ...checked, call, tuning, scatter: tunedScatter(checked.scatter, tuning, options) };
}

/** The first stage: the kernel is compiled for its fixed values, or found compiled. Throws LaunchError for these, and what the compiler refuses. */
export function compiledCall({ device, kernel, args, options, compile }: BindArguments): CompiledCall {
  const check: Checks = new Checks(device, kernel, args);
  check.names();
  check.options(options);
  const fixed: Record<string, number | bigint | boolean> = {};
  for (const [name, token] of Object.entries(kernel.params))
    if (typeof token === "object" && token?.kind === "fixed") fixed[name] = check.scalar(name, token.type);
  const strict = compileKernel(kernel, fixed, compile);
  return { strict, code: (options.precision ?? device.precision) === "fast" ? relaxedKernel(strict) : strict };
}

/** The second stage: the other arguments, and all that the code does with them. */
function checkAnew(call: BindArguments, compiled: CompiledCall): Checked {
  const { strict } = compiled;
  const { device, kernel, args, policy, options } = call;
  const check: Checks = new Checks(device, kernel, args);
  const scalars: Record<string, number | bigint | boolean> = {};
  const given: Record<string, AnyView> = {};
  const outputs: Record<string, View | undefined> = {};
  const initial: Record<string, number | bigint> = {};
  for (const [name, token] of Object.entries(kernel.params)) {
    if (typeof token !== "object" || !token) continue;
    if (token.kind === "scalar") scalars[name] = check.scalar(name, token.type);
    else if (token.kind === "view") given[name] = check.elements(name, token);
    else if (token.kind === "scatter") given[name] = check.elements(name, token);
    else if (token.kind === "reduce") {
      const value = own(args, name);
      outputs[name] = value === undefined || isNumeric(value) ? undefined : check.output(name, token.type);
      if (isNumeric(value)) initial[name] = check.initial(name, token.type, options);
    } else if (token.kind === "reduceEach") Object.assign(outputs, check.components(name, token, strict.ir));
  }
  const precision = options.precision ?? device.precision;
  const inOrder = precision === "strict" || isDeterministic(device, options);
  const ordered = inOrder || foldsJointly(strict.ir);
  const partials = options.partials === true;
  const unfolded = options.unfolded === true && !ordered;
  const blocked = new Map(Object.entries(given).flatMap(([name, view]) => (view instanceof BlockedView ? [[name, view]] : [])));
  const views = Object.fromEntries(Object.entries(given).map(([name, view]) => [name, storageOf(view)]));
  check.policy(strict.ir, policy);
  check.outputs(outputs, partials ? partialCount(policy) : undefined, precision);
  const rows = teamLengths(strict.ir, { scalars, views: given });
  const league = policy.kind === "team" ? policy.league : 0;
  const shapes = { ...given, ...Object.fromEntries([...rows].map(([name, length]) => [name, { shape: [league, length] }])) };
  const { code, range } = checkRange(check, call, compiled, { scalars, views: shapes });
  const { ir, access } = blockedKernel(code, blocked);
  const peerStores = check.peerStores(options, views);
  const disjointMemory = check.sharing(strict, views, outputs);
  const scatter = Object.fromEntries(
    ir.params.filter((p) => p.kind === "scatter").map((p) => [p.name, strategyOf(p.name, inOrder, options)]),
  );
  const cost = costWhenAsked(strict.ir, { views: shapes, policy, scalars });
  if (inOrder) check.order(ir, isDeterministic(device, options) ? scatter : undefined);
  return {
    kernel,
    ir,
    access,
    policy,
    precision,
    ordered,
    scalars,
    views,
    outputs,
    initial,
    partials,
    unfolded,
    peerStores,
    disjointMemory,
    scatter,
    cost,
    sizes: once(() => integersOfLaunch(ir, range)),
  };
}

/** Checks that depend on the range and on whole numbers; the code for them, with those indices checked that may be outside. Throws LaunchError. */
function checkRange(check: Checks, call: BindArguments, { strict, code }: CompiledCall, given: GivenArguments) {
  const { policy } = call;
  const range = rangesOf(policy, given.scalars, given.views);
  check.bounds(strict.ir, strict.access, policy, range, given);
  check.races(strict, policy, range);
  const safe = isChecked(call)
    ? checkedKernel(code, { range, ...arraysOf(code.ir, given.views), text: textOf(code.ir, policy, given) })
    : code;
  return { code: printingKernel(safe), range };
}

/** A launch over the views of a known one, with other numbers and another range. Throws LaunchError; undefined where all has to be checked. */
function bindAlike(call: BindArguments): Checked | undefined {
  const found = call.options.partials ? undefined : findAlike(call);
  const numbers = found && checkNumbers(call, found);
  if (!numbers) return undefined;
  const { binding } = found;
  const views = Object.fromEntries(found.views.map(([name]) => [name, storageOf(call.args[name] as AnyView)]));
  const outputs = { ...found.unbound, ...Object.fromEntries(found.outputs.map(([name]) => [name, call.args[name] as View])) };
  const cost = costWhenAsked(found.compiled.strict.ir, { views, policy: call.policy, scalars: numbers.scalars });
  return { ...binding, ...numbers, place: found.place, policy: call.policy, views, outputs, cost };
}

/** Numbers of a launch that needs no other checks, and the sizes of its integers. */
export interface CheckedNumbers extends Pick<Binding, "scalars" | "initial" | "sizes"> {}

const isNumeric = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint";

/**
 * Checks a launch that differs from a known one in its range and in numbers alone. Throws LaunchError as `bind` does; undefined where its code
 * would be another.
 */
export function checkNumbers(call: BindArguments, found: KnownLaunch): CheckedNumbers | undefined {
  const check: Checks = new Checks(call.device, call.kernel, call.args);
  const scalars: Record<string, number | bigint | boolean> = {};
  const initial: Record<string, number | bigint> = {};
  const views: Record<string, { readonly shape: readonly number[] }> = {};
  for (const [name, token] of Object.entries(call.kernel.params)) {
    if (typeof token !== "object") continue;
    if (token.kind === "scalar") scalars[name] = check.scalar(name, token.type);
    else if (token.kind === "view" || token.kind === "scatter") views[name] = call.args[name] as AnyView;
    else if (token.kind === "reduce" && isNumeric(call.args[name])) initial[name] = check.initial(name, token.type, call.options);
  }
  check.policy(found.compiled.strict.ir, call.policy);
  const { code, range } = checkRange(check, call, found.compiled, { scalars, views });
  const { ir } = code;
  return ir === found.binding.ir ? { scalars, initial, sizes: once(() => integersOfLaunch(ir, range)) } : undefined;
}

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => (found ??= { value: find() }).value;
}

/** Throws LaunchError unless it is a kernel with a record of arguments. */
export function requireKernel(device: Device, kernel: Kernel | undefined, args: unknown): void {
  if (typeof kernel?.params !== "object")
    throw new LaunchError(`${device.name} is given ${describe(kernel)} to run; declare it with kernel(...) or teamKernel(...)`);
  if (typeof args !== "object" || !args)
    throw launchError(device, kernel, `it is given ${describe(args)} for its arguments; give them by name, { y }`);
}

function strategyOf(name: string, ordered: boolean, { scatter }: LaunchOptions): ScatterStrategy | undefined {
  const asked = typeof scatter === "string" ? scatter : scatter && own(scatter, name);
  return asked ?? (ordered ? "sorted" : undefined);
}

/** Throws LaunchError if the memory of a bound view was freed after `prepare`; where every backend's `submit` begins. */
export function requireLiveViews(device: { readonly name: string }, { kernel, views, outputs, peerStores }: Binding): void {
  for (const { param, to } of peerStores)
    if (to.buffer.live === false) throw launchError(device, kernel, freedView(`${param}, where a peer stores it,`));
  for (const bound of [views, outputs])
    for (const name in bound) if (bound[name]?.buffer.live === false) throw launchError(device, kernel, freedView(name));
}

const freedView = (name: string): string => `${name} is a view whose memory was freed; free arrays only when no launch uses them`;

/** An error that names a kernel and its place. */
export function launchError(device: { readonly name: string }, kernel: Kernel, problem: string): LaunchError {
  const { file, line } = originalPosition(kernel.location);
  return new LaunchError(`kernel "${kernel.name}" (${file}:${line}) on ${device.name}: ${problem}`);
}

class Checks {
  constructor(
    private readonly device: Device,
    private readonly kernel: Kernel,
    private readonly args: Record<string, unknown>,
  ) {}

  private fail(problem: string): never {
    throw launchError(this.device, this.kernel, problem);
  }

  names(): void {
    const takesArgument = (token: ParamToken): boolean => (typeof token === "object" && token?.kind !== "table") || isValueType(token);
    for (const name of Object.keys(this.args)) {
      const declared = Object.hasOwn(this.kernel.params, name);
      if (declared && !takesArgument(this.kernel.params[name]))
        this.fail(
          `${name} is declared as ${describe(this.kernel.params[name])}, which takes no argument; declare view(f64), f64, sum(f64) or the like`,
        );
      if (!declared)
        this.fail(
          `there is no parameter "${name}"; it takes ${Object.entries((this.kernel.written ?? this.kernel).params)
            .filter(([, t]) => takesArgument(t))
            .map(([n]) => n)
            .join(", ")}`,
        );
    }
  }

  scalar(name: string, type: ScalarType): PlainValue {
    const value = own(this.args, name);
    if (isWide(type)) return this.bigint(name, type, value);
    if (type === "bool")
      return typeof value === "boolean" ? value : this.fail(`${name} is bool, and is given ${describe(value)}; give true or false`);
    if (typeof value !== "number") return this.fail(`${name} is ${type}, and is given ${describe(value)}; give a number`);
    if (isFloat(type)) return wrap(type, value);
    const { least, greatest } = ELEMENTS[type];
    if (!(Number.isInteger(value) && value >= least && value <= greatest))
      return this.fail(`${name} is ${type}, and ${value} is not a whole number from ${least} to ${greatest}`);
    return value;
  }

  private bigint(name: string, type: WideType, value: unknown): bigint {
    if (typeof value !== "bigint") return this.fail(`${name} is ${type}, and is given ${describe(value)}; give a bigint, such as 3n`);
    const { least, greatest } = ELEMENTS[type];
    return value >= least && value <= greatest
      ? value
      : this.fail(`${name} is ${type}, and ${value}n is not a whole number from ${least} to ${greatest}`);
  }

  output(name: string, element: string): View {
    const view = this.view(name, element, undefined);
    return view instanceof View ? view : this.fail(`${name} takes a result and needs a plain view, and is given a blocked one`);
  }

  components(name: string, { type, components }: ReduceEachToken, ir: KernelIR): Record<string, View> {
    return componentsOf(name, this.output(name, type), components, ir, (problem) => this.fail(problem));
  }

  /** The value that a reduction starts from. */
  initial(name: string, type: NumericType, { partials, unfolded }: LaunchOptions): number | bigint {
    if (partials || unfolded)
      this.fail(`${name} returns partials, which take no initial value; leave the number out, and fold it with the result`);
    return this.scalar(name, type) as number | bigint;
  }

  /** An array of numbers, or of values of several numbers, which lie along its last axes. */
  elements(name: string, { kind, element, rank, of }: ViewToken | ScatterToken): AnyView {
    if (!of) return this.view(name, element, rank);
    const view = this.view(name, element, undefined);
    const { axes } = of;
    if (view.rank === rank && axes.every((extent, axis) => view.shape[rank - axes.length + axis] === extent)) return view;
    const before = rank - axes.length;
    const declared = `${of.name}${before > 1 ? `, ${before}` : ""}`;
    return this.fail(
      `${name} is ${kind}(${declared}), and is given a view of shape [${view.shape}]; give one of rank ${rank} with ${axes.join(" x ")} components along the last ${axes.length === 1 ? "axis" : "axes"}: device.array(${of.name}, n)`,
    );
  }

  /** The function that declares an array parameter. */
  private wordOf(name: string): string {
    const token = this.kernel.params[name];
    if (typeof token !== "object" || (token.kind !== "scatter" && token.kind !== "view")) return "view";
    return "atomic" in token ? "atomic" : token.kind;
  }

  view(name: string, element: string, rank: number | undefined): AnyView {
    const value = own(this.args, name);
    if (!(value instanceof View || value instanceof BlockedView))
      return this.fail(`${name} needs a view of ${element}, and is given ${describe(value)}; make one with device.array or device.from`);
    if (value.type !== element)
      return this.fail(
        `${name} is a view of ${element}, and is given one of ${value.type}; declare ${this.wordOf(name)}(${value.type}), or give a view of ${element}`,
      );
    if (rank !== undefined && value.rank !== rank)
      return this.fail(
        `${name} has rank ${rank}, and is given a view of shape [${value.shape}]; declare ${this.wordOf(name)}(${element}, ${value.rank}), or give a view of rank ${rank}`,
      );
    if (value.buffer.memory !== this.device.memory)
      return this.fail(
        `${name} lies in the memory of ${value.buffer.memory.name}, which ${this.device.name} cannot reach; read it and write it to a view of ${this.device.name}`,
      );
    if (value.buffer.live === false) return this.fail(freedView(name));
    return value;
  }

  /** Reduce parameters' views: of one element for a result, of `partials` elements where these are left. */
  outputs(outputs: Record<string, View | undefined>, partials: number | undefined, precision: Precision): void {
    const names = Object.keys(outputs);
    if (partials === undefined) {
      for (const name of names)
        if (outputs[name]?.size === 0) this.fail(`${name} takes a result and needs a view of one element, but this one is empty`);
      return;
    }
    if (names.length === 0) this.fail("it has no reduce parameters whose partials could be returned; leave out partials: true");
    if (precision !== "strict") this.fail('partials are defined in strict mode only; add precision: "strict"');
    for (const name of names) {
      const view = outputs[name];
      if (view?.size !== partials || !view.contiguous)
        this.fail(
          `${name} returns ${partials} partials and needs a contiguous view of as many elements, and is given ${
            view ? `one of shape [${view.shape}]${view.contiguous ? "" : " with gaps"}` : "nothing"
          }`,
        );
    }
  }

  options(options: LaunchOptions): void {
    requireOptions(`a launch of kernel "${this.kernel.name}"`, options, OPTIONS);
    const { precision = this.device.precision, scatter = {} } = options;
    if (precision !== "strict" && precision !== "fast") this.fail(`there is no precision "${precision}"; use "strict" or "fast"`);
    const targets = Object.entries(this.kernel.params).filter(([, token]) => typeof token === "object" && token?.kind === "scatter");
    const names = targets.map(([name]) => name);
    for (const [name, strategy] of typeof scatter === "string" ? [[undefined, scatter]] : Object.entries(scatter)) {
      if (name !== undefined && !names.includes(name))
        this.fail(`there is no scatter parameter "${name}"; it has ${names.join(", ") || "none"}`);
      if (!STRATEGIES.includes(strategy as ScatterStrategy))
        this.fail(`there is no scatter strategy "${strategy}"; use one of ${STRATEGIES.join(", ")}`);
    }
  }

  /** Atomic arrays whose results depend on the order of elements, and scatter parameters, whose sums do so by some of the strategies. */
  order(ir: KernelIR, scatter?: Readonly<Record<string, ScatterStrategy | undefined>>): void {
    const found = dependsOnOrder(ir);
    if (found) this.fail(`${atomicProblem(found)}: ${ATOMIC_REMEDY}`);
    if (!scatter) return;
    for (const param of ir.params)
      if (param.kind === "scatter" && orderMatters(param) && scatter[param.name] !== "sorted")
        this.fail(
          `scatter "${param.name}" cannot be ${scatter[param.name]} in a deterministic launch, as the order of its sums would change; use the strategy "sorted", or leave it out`,
        );
  }

  peerStores({ peerStores = [] }: LaunchOptions, views: Readonly<Record<string, View>>): readonly PeerStore[] {
    for (const { param, to } of peerStores) {
      if (!this.device.canPeerStore) this.fail(`the device cannot store "${param}" in memory other than its own`);
      const view = views[param];
      if (view?.rank !== 3 || view.type !== to.type || view.strides.some((stride, axis) => stride !== to.strides[axis]))
        this.fail(`"${param}" cannot be stored in a peer as well: that takes a view of rank 3, and a target of the same type and strides`);
    }
    return peerStores;
  }

  policy(ir: KernelIR, policy: Policy | undefined): asserts policy is Policy {
    const wanted = ir.policy.kind === "team" ? "teams(n)" : "range(n)";
    if (!policy) this.fail("it needs a policy; use range(...) or teams(...)");
    if (policy.kind !== "team" && policy.kind !== "range")
      this.fail(`it is given ${describe(policy)} for what it runs over; write ${wanted}`);
    if (ir.policy.kind !== policy.kind)
      this.fail(
        policy.kind === "team"
          ? "it is a kernel over a range, launched with teams; use range(...)"
          : "it is a team kernel, launched with a range; use teams(...)",
      );
    if (ir.policy.kind === "range" && policy.kind === "range" && ir.policy.rank !== policy.extents.length)
      this.fail(
        `its function takes ${ir.policy.rank} ${ir.policy.rank === 1 ? "index" : "indices"}, and the range has ${policy.extents.length}; write range(${["nx", "ny", "nz", "nw"].slice(0, ir.policy.rank).join(", ")})`,
      );
  }

  /** Indices that are linear forms of known values, and are reached by every element. */
  bounds(ir: KernelIR, access: AccessAnalysis, policy: Policy, known: (atom: string) => Interval | undefined, given: GivenArguments): void {
    if ((policy.kind === "team" ? [policy.league] : policy.extents).includes(0)) return;
    const check = (a: Access, shape: readonly number[], remedy: string): void =>
      shape.forEach((extent, axis) => {
        const range = takenRange(a, axis, known);
        const index = range && outside(range, extent);
        if (index === undefined) return;
        const words = axisWords(ir, a.view, axis, extent, knownIn(given));
        const text = words.declared ? a.view : `${a.view}${a.indices.map((e) => `[${printExpr(e, indexNames(ir))}]`).join("")}`;
        this.fail(
          `${ACCESS_VERBS[a.kind]} ${text} at ${a.location.file}:${a.location.line} with index ${words.index(index)} along axis ${words.axis}, but ${a.view} ${words.extent} there; ${remedy}`,
        );
      });
    const { views, arrays } = launchBounds(access);
    const viewShape = (view: string): readonly number[] => given.views[view].shape;
    for (const a of views.doubtful(known, viewShape)) check(a, viewShape(a.view), "give a longer view or a smaller range");
    if (!arrays) return;
    const shapes = arrayShapes(ir);
    const arrayShape = (array: string): readonly number[] => shapes.get(array)!;
    for (const a of arrays.doubtful(known, arrayShape)) check(a, arrayShape(a.view), "make it longer or give a smaller range");
  }

  /** Views whose elements lie apart only in some ranges (see `viewsToProve`). */
  races({ ir, toProve }: CompiledKernel, policy: Policy, known: (atom: string) => Interval | undefined): void {
    if (policy.kind !== "range") return;
    for (const view of toProve) {
      const overlap = overlapIn(ir, view, { ...policy, value: (atom) => known(atom)?.[0] });
      if (!overlap) continue;
      const { access, reason } = overlap;
      const { file, line } = originalPosition(access.location);
      this.fail(
        `several elements of the range may touch ${printAccess(ir, access)} (${file}:${line}): ${reason}; give a smaller range, or keep the places further apart`,
      );
    }
  }

  /** Returns whether all memory is disjoint; throws if sharing would be a race, between views or inside of one. */
  sharing({ ir, access }: CompiledKernel, views: Record<string, View>, outputs: Record<string, View | undefined>): boolean {
    const all = [...Object.entries(views), ...Object.entries(outputs).filter((e): e is [string, View] => e[1] !== undefined)];
    const changed = (name: string): boolean => Object.hasOwn(outputs, name) || access.views[name].written || access.views[name].scattered;
    // Rows of a grid may share their ghosts, which code of a container does not write.
    const trusted = new Set(ir.params.flatMap((p) => (p.kind === "view" && p.trusted ? [p.name] : [])));
    for (const [name, view] of Object.entries(views))
      if (changed(name) && !trusted.has(name) && meetsItself(view))
        this.fail(
          `${name} is written, and is a view of shape [${view.shape}] with strides [${view.strides}], in which several elements share one place: elements would race; give a view whose elements do not overlap`,
        );
    let disjoint = true;
    all.forEach(([name, v], n) => {
      for (const [other, w] of all.slice(0, n)) {
        if ((!changed(name) && !changed(other)) || !overlap(v, w)) continue;
        disjoint = false;
        const own =
          !Object.hasOwn(outputs, name) &&
          !Object.hasOwn(outputs, other) &&
          sameElements(v, w) &&
          oneForm(access.accesses.filter((a) => a.view === name || a.view === other));
        if (!own)
          this.fail(
            `${other} and ${name} share memory, and ${changed(name) ? name : other} is written: elements would race; give it memory of its own`,
          );
      }
    });
    return disjoint;
  }
}

const STRATEGIES: readonly ScatterStrategy[] = ["atomic", "duplicated", "cached", "sorted"];

type Shapes = Readonly<Record<string, { readonly shape: readonly number[] }>>;

/** Ranges of indices, parameters and extents that are known before the launch, by the names of atoms (see `Affine`). */
function rangesOf(
  policy: Policy,
  scalars: Readonly<Record<string, number | bigint | boolean>>,
  views: Shapes,
): (atom: string) => Interval | undefined {
  // The second index of a team is its place among those that run at a time, who are no more than all.
  const extents = policy.kind === "team" ? [policy.league, policy.league] : policy.extents;
  const begin = policy.kind === "team" ? [0, 0] : policy.begin;
  return (atom) => {
    const [kind, name, axis] = atomParts(atom);
    if (kind === "index" && Number(name) < begin.length) return [begin[Number(name)], begin[Number(name)] + extents[Number(name)] - 1];
    if (kind === "param" && typeof scalars[name] === "number") return [scalars[name], scalars[name]];
    if (kind === "extent" && views[name]) return [views[name].shape[Number(axis)], views[name].shape[Number(axis)]];
    return undefined;
  };
}

/** Extents of all arrays of the code, and along which axes code that the library has made indexes them. */
function arraysOf(ir: KernelIR, views: Shapes): Pick<LaunchFacts, "shape" | "trusted"> {
  const shapes = arrayShapes(ir);
  const trusted = new Map(ir.params.flatMap((p) => (p.kind === "view" && p.trusted ? [[p.name, p.trusted]] : [])));
  return {
    shape: (array) => views[array]?.shape ?? shapes.get(array)!,
    trusted: (array, axis) => trusted.get(array)?.includes(axis) === true,
  };
}

/** All that `rangesOf` and `arraysOf` tell of a launch: integers of its range, parameters and shapes. */
function textOf(ir: KernelIR, policy: Policy, { scalars, views }: GivenArguments): string {
  const range = policy.kind === "team" ? policy.league : [policy.begin, policy.extents];
  const integers = ir.params.flatMap((p) => (p.kind === "scalar" && isWord(p.type) ? [scalars[p.name]] : []));
  return JSON.stringify([range, integers, Object.entries(views).map(([name, { shape }]) => [name, shape])]);
}

/** True if all accesses are to one and the same element. */
function oneForm(accesses: Access[]): boolean {
  return accesses.every(
    (a) =>
      a.kind !== "scatter" &&
      a.kind !== "atomic" &&
      a.affine.every((form, axis) => {
        const first = accesses[0].affine[axis];
        return form !== undefined && first !== undefined && equal(form, first);
      }),
  );
}

/** The strategy of scatter parameters for which the launch was given none; an unknown strategy is refused with the other values of the tuning. */
function tunedScatter(scatter: Binding["scatter"], { values }: Chosen, options: LaunchOptions): Binding["scatter"] {
  if (values.scatter === undefined || options.scatter !== undefined || !STRATEGIES.includes(values.scatter)) return scatter;
  return Object.fromEntries(Object.keys(scatter).map((name) => [name, values.scatter]));
}
