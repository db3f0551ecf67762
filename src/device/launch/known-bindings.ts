import { isFloat, wrap, type FloatType, type NumericType } from "../../ir/scalars.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { OPTIONS, type Binding, type BindArguments, type Checked, type CompiledCall } from "./binding.js";
import type { Device, LaunchOptions, Precision } from "../device.js";
import type { Policy } from "./policy.js";
import { BlockedView, storageOf, type AnyView } from "../memory/blocked-view.js";
import { View, type Buffer, type MemorySpace } from "../memory/view.js";

/*
 * Checks of a launch take longer than a small launch itself, and most launches were checked before. What checks have found depends on the
 * kernel, the places of the views, the policy, the options, and on scalars other than floats; floats may differ. Of a launch over another
 * range or with other whole numbers only some checks are made again (see `checkNumbers`).
 */

/** Bound launches that are remembered of one kernel. */
const REMEMBERED = 8;

/** A view's place. It keeps no memory alive. */
type ViewKey = Pick<View, "type" | "offset" | "shape" | "strides"> & {
  /** See `numbers`. */
  readonly buffer: number;
  /** Extent of a blocked view's first axis; the rest is its storage's. */
  readonly length?: number;
};

/** A launch that has passed all checks. It holds no memory. */
export interface KnownBinding {
  /** The same object for launches that differ in their range and in whole numbers alone. */
  readonly place: object;
  readonly compiled: CompiledCall;
  readonly memory: MemorySpace;
  readonly precision: Precision;
  readonly options: string;
  readonly debug: boolean;
  readonly policy: Policy;
  /** Number of arguments, so that one too many is noticed. */
  readonly count: number;
  readonly fixed: readonly (readonly [name: string, value: unknown])[];
  /** Scalars and initial values other than floats. */
  readonly whole: readonly (readonly [name: string, value: unknown])[];
  readonly floats: readonly (readonly [name: string, type: "f64" | "f32"])[];
  readonly views: readonly (readonly [name: string, key: ViewKey])[];
  readonly outputs: readonly (readonly [name: string, key: ViewKey])[];
  /** Reductions that start from a number. */
  readonly initial: readonly (readonly [name: string, type: NumericType])[];
  readonly binding: Omit<Checked, "scalars" | "views" | "outputs" | "initial" | "policy">;
  /** Scalars other than floats. */
  readonly scalars: Binding["scalars"];
  /** Reduce parameters without a view. */
  readonly unbound: Binding["outputs"];
}

/** Places for what each call brings: a copy of an object takes .1 us, but 7 where it gets properties that the object did not have. */
const OF_A_CALL: Record<keyof Omit<Binding, keyof KnownBinding["binding"]> | "place", undefined> = {
  scalars: undefined,
  views: undefined,
  outputs: undefined,
  initial: undefined,
  policy: undefined,
  place: undefined,
  call: undefined,
  tuning: undefined,
};

const known = new WeakMap<Kernel, KnownBinding[]>();

/** Buffers by number, each its own. A WeakRef would keep its buffer until the program next waits for an event, however many launches later. */
const numbers = new WeakMap<Buffer, number>();
let lastNumber = 0;

/** The checked binding of an earlier, equal call; undefined if there was none, or if something has changed since. */
export function recallBinding(call: BindArguments): Checked | undefined {
  const found = findKnown(call);
  if (!found) return undefined;
  const { args, policy } = call;
  const views: Record<string, View> = {};
  for (const [name] of found.views) views[name] = storageOf(args[name] as AnyView);
  const outputs = { ...found.unbound };
  for (const [name] of found.outputs) outputs[name] = args[name] as View;
  return { ...found.binding, place: found.place, policy, ...callNumbers(found, call), views, outputs };
}

/** An earlier call that was equal but for its floats. */
export function findKnown(call: BindArguments): KnownBinding | undefined {
  const list = known.get(call.kernel);
  if (!list) return undefined;
  const options = optionsKey(call);
  return list.findLast((k) => samePolicy(k.policy, call.policy) && sameNumbersIn(k.whole, call.args) && isAlike(k, call, options));
}

/** An earlier call over the same views that was equal but for its range and numbers; none over teams. */
export function findAlike(call: BindArguments): KnownBinding | undefined {
  const list = known.get(call.kernel);
  if (!list || call.policy?.kind !== "range") return undefined;
  const options = optionsKey(call);
  return list.findLast((k) => k.policy.kind === "range" && isAlike(k, call, options));
}

/** Scalars and initial values of a call that equals the known one but for its floats. */
export function callNumbers(found: KnownBinding, { args }: BindArguments): Pick<Binding, "scalars" | "initial"> {
  const scalars = { ...found.scalars };
  for (const [name, type] of found.floats) scalars[name] = inType(type, args[name] as number);
  const initial: Record<string, number | bigint> = {};
  for (const [name, type] of found.initial) initial[name] = inType(type, args[name] as number | bigint);
  return { scalars, initial };
}

const inType = <V extends number | bigint>(type: NumericType, value: V): V => (isFloat(type) ? (wrap(type, Number(value)) as V) : value);

/** Remembers a binding that has passed all checks, and gives its place. Reductions with components, whose arguments have other names than outputs, are checked each time. */
export function rememberBinding(call: BindArguments, made: Checked, compiled: CompiledCall): object {
  const { device, kernel, args, compile } = call;
  if (Object.values(kernel.params).some((token) => typeof token === "object" && token.kind === "reduceEach")) return {};
  const { policy, scalars, views, outputs, initial } = made;
  const floats: [string, FloatType][] = [];
  const fixed: [string, unknown][] = [];
  const whole: [string, unknown][] = [];
  const starts: [string, NumericType][] = [];
  for (const [name, token] of Object.entries(kernel.params)) {
    if (typeof token === "object" && token.kind === "reduce" && Object.hasOwn(initial, name)) {
      starts.push([name, token.type]);
      if (!isFloat(token.type)) whole.push([name, args[name]]);
    }
    if (typeof token !== "object" || (token.kind !== "scalar" && token.kind !== "fixed")) continue;
    if (token.kind === "scalar" && isFloat(token.type)) floats.push([name, token.type]);
    else (token.kind === "fixed" ? fixed : whole).push([name, args[name]]);
  }
  const viewKeys = (bound: Record<string, View | undefined>) =>
    Object.entries(bound).flatMap(([name, view]): [string, ViewKey][] => (view ? [[name, viewKey(args[name] as AnyView)]] : []));
  const floatNames = new Set(floats.map(([name]) => name));
  const list = known.get(kernel) ?? [];
  known.set(kernel, list);
  const place = findAlike(call)?.place ?? {};
  list.push({
    place,
    compiled,
    memory: device.memory,
    precision: made.precision,
    options: optionsKey(call),
    debug: compile.debug ?? false,
    policy: policy.kind === "team" ? { ...policy } : { ...policy, begin: [...policy.begin], extents: [...policy.extents] },
    count: Object.keys(args).length,
    fixed,
    whole,
    floats,
    views: viewKeys(views),
    outputs: viewKeys(outputs),
    initial: starts,
    binding: { ...made, ...OF_A_CALL },
    scalars: Object.fromEntries(Object.entries(scalars).filter(([name]) => !floatNames.has(name))),
    unbound: Object.fromEntries(Object.entries(outputs).filter(([, view]) => !view)),
  });
  if (list.length > REMEMBERED) list.shift();
  return place;
}

/** Unless a launch says so, its device does. */
export const isDeterministic = ({ deterministic }: Device, options: LaunchOptions): boolean =>
  options.deterministic ?? deterministic ?? false;

/** Launches of strict mode are, so that a wrong index ends them alike on all devices; `js-debug` has checks of its own. */
export const isChecked = ({ device, options, compile }: Pick<BindArguments, "device" | "options" | "compile">): boolean =>
  !compile.debug && (options.checked ?? device.checked ?? (options.precision ?? device.precision) === "strict");

/** Equal but for policies, scalars and initial values; these are of the same kinds. */
function isAlike(found: KnownBinding, { device, args, options, compile }: BindArguments, key: string): boolean {
  return (
    found.memory === device.memory &&
    found.precision === (options.precision ?? device.precision) &&
    found.options === key &&
    found.debug === (compile.debug ?? false) &&
    found.count === Object.keys(args).length &&
    sameNumbersIn(found.fixed, args) &&
    found.floats.every(([name]) => typeof args[name] === "number") &&
    found.initial.every(([name]) => typeof args[name] === "number") &&
    found.views.every(([name, key]) => isAt(args[name], key)) &&
    found.outputs.every(([name, key]) => isAt(args[name], key))
  );
}

const sameNumbersIn = (found: KnownBinding["whole"], args: BindArguments["args"]): boolean =>
  found.every(([name, value]) => Object.is(args[name], value));

/** Key of the options; another one for each unknown name, which has to be refused. */
function optionsKey(call: BindArguments): string {
  const { device, options } = call;
  for (const name in options) if (!(OPTIONS as readonly string[]).includes(name)) return `unknown: ${name}`;
  const { partials, scatter, sweepBackward, unfolded } = options;
  const deterministic = isDeterministic(device, options);
  const checked = isChecked(call);
  const byDefault = partials === undefined && scatter === undefined && !sweepBackward && !unfolded && !deterministic && !checked;
  return byDefault ? "" : JSON.stringify([partials, scatter, sweepBackward, unfolded, deterministic, checked]);
}

function viewKey(view: AnyView): ViewKey {
  const { buffer, type, offset, shape, strides } = storageOf(view);
  const number = numbers.get(buffer) ?? ++lastNumber;
  numbers.set(buffer, number);
  return { buffer: number, type, offset, shape, strides, length: lengthOf(view) };
}

const lengthOf = (view: AnyView): number | undefined => (view instanceof BlockedView ? view.length : undefined);

/** True for a view of the same memory, which was not freed, with the same elements. */
function isAt(value: unknown, { buffer, type, offset, shape, strides, length }: ViewKey): boolean {
  if (!(value instanceof View || value instanceof BlockedView) || lengthOf(value) !== length) return false;
  const view = storageOf(value);
  return (
    numbers.get(view.buffer) === buffer &&
    view.buffer.live !== false &&
    view.type === type &&
    view.offset === offset &&
    sameNumbers(view.shape, shape) &&
    sameNumbers(view.strides, strides)
  );
}

/** True for policies over the same elements, teams and tiles. */
export function samePolicy(a: Policy, b: Policy | undefined): boolean {
  if (a.kind === "team")
    return b?.kind === "team" && a.league === b.league && a.size === b.size && a.lanes === b.lanes && a.abreast === b.abreast;
  return (
    b?.kind === "range" && sameNumbers(a.begin, b.begin) && sameNumbers(a.extents, b.extents) && sameNumbers(a.tile ?? [], b.tile ?? [])
  );
}

const sameNumbers = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((n, at) => n === b[at]);
