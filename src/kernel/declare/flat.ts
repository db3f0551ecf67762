import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { own } from "../../base/own.js";
import { componentsOfValue, compositeOf, compositeValue, typeOfValue, type CompositeType } from "./composite.js";
import type { Kernel } from "./kernel.js";
import type { Params, ParamToken } from "./params.js";

/*
 * Parameters and results of several numbers, such as `g: vec3` and `p: sum(vec3)`. Launches and code know each as several of one number, so that
 * nothing after the front end deals with such types.
 */

type PartNames = ReadonlyMap<string, readonly string[]>;

/** A parameter that becomes several of one number. */
function partedType(token: unknown): CompositeType | undefined {
  const { kind, of } = (token ?? {}) as { readonly kind?: string; readonly of?: CompositeType };
  return kind === "reduceComposite" ? of : compositeOf(token);
}

const known = new WeakMap<object, PartNames>();

/** Names of the parts of such parameters, `g_x`, which no other parameter has. */
export function partNames(params: Readonly<Record<string, unknown>>): PartNames {
  let found = known.get(params);
  if (found) return found;
  const taken = new Set(Object.keys(params));
  const free = (wish: string): string => {
    const name = taken.has(wish) ? free(`${wish}_`) : wish;
    taken.add(name);
    return name;
  };
  found = new Map(
    Object.entries(params).flatMap(([name, token]) => {
      const of = partedType(token);
      return of ? [[name, of.fields.map((field) => free(`${name}_${field}`))] as const] : [];
    }),
  );
  known.set(params, found);
  return found;
}

const flats = new WeakMap<Kernel, Kernel>();

/** The kernel as launches know it; itself where all its parameters are single numbers and arrays. */
function flatKernel(kernel: Kernel): Kernel {
  // Anything else is refused where it is bound.
  if (typeof kernel?.params !== "object" || !kernel.params) return kernel;
  let flat = flats.get(kernel);
  if (flat) return flat;
  const names = partNames(kernel.params);
  flat = names.size === 0 ? kernel : { ...kernel, params: flatParams(kernel.params, names), written: kernel };
  flats.set(kernel, flat);
  return flat;
}

const flatParams = (params: Params, names: PartNames): Params =>
  Object.fromEntries(
    Object.entries(params).flatMap(([name, token]): (readonly [string, ParamToken])[] => {
      const parts = names.get(name);
      if (!parts) return [[name, token]];
      return parts.map((part) => [part, partOf(token)]);
    }),
  );

function partOf(token: ParamToken): ParamToken {
  if (typeof token === "object" && token.kind === "reduceComposite") {
    const { type, op, identity } = token;
    return { kind: "reduce", type, op, identity };
  }
  return { kind: "scalar", type: compositeOf(token)!.element };
}

type Arguments = Readonly<Record<string, unknown>>;

/** A view that can be cut along its first axis. */
interface Sliceable {
  readonly shape: readonly number[];
  slice(range: [number, number]): unknown;
}

/** The arguments of a launch, for the flat kernel. Throws LaunchError for a value of another type. */
function flatArguments(flat: Kernel, args: Arguments): Arguments {
  const written = flat?.written;
  if (!written || typeof args !== "object" || !args) return args;
  for (const [name, token] of Object.entries(written.params))
    if (!Object.hasOwn(args, name) && compositeOf(token)) partValues(written, name, undefined);
  return flatValues(flat, args);
}

/** Some of the arguments, for the flat kernel. Throws LaunchError for a value of another type. */
export function flatValues<T extends Arguments>(flat: Kernel, args: T): T {
  const { written } = flat;
  if (!written) return args;
  const names = partNames(written.params);
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const parts = Object.hasOwn(written.params, name) ? names.get(name) : undefined;
    if (parts) partValues(written, name, value).forEach((part, n) => (given[parts[n]] = part));
    else if (Object.hasOwn(flat.params, name) && !Object.hasOwn(written.params, name))
      throw new LaunchError(`kernel "${written.name}" has no parameter "${name}"; it takes ${Object.keys(written.params).join(", ")}`);
    else given[name] = value;
  }
  return given as T;
}

function partValues({ name: kernel, params }: Kernel, name: string, value: unknown): readonly unknown[] {
  const token = params[name];
  const of = partedType(token)!;
  if (compositeOf(token)) return componentsOfValue(of, value, `kernel "${kernel}": ${name} is`);
  // A reduction is given a value that it starts from, a view for its result, or nothing.
  if (value === undefined) return [];
  if (typeOfValue(value)) return componentsOfValue(of, value, `kernel "${kernel}": ${name} starts from`);
  const { shape, slice } = value as Partial<Sliceable>;
  const count = of.fields.length;
  if (typeof slice !== "function" || shape?.length !== 1 || shape[0] !== count)
    throw new LaunchError(
      `kernel "${kernel}": ${name} is a reduction of ${of.name}, and is given ${shape ? `a view of shape [${shape}]` : describe(value)}; give a ${of.name}, a view of ${count} elements, or nothing`,
    );
  return of.fields.map((_, n) => (value as Sliceable).slice([n, n + 1]));
}

/** A kernel and its arguments as launches know them. */
export function flatCall(written: Kernel, given: Arguments): { kernel: Kernel; args: Arguments } {
  const kernel = flatKernel(written);
  return { kernel, args: flatArguments(kernel, given) };
}

/** Results of a launch of the flat kernel as its author knows them. */
export function writtenResults<R>({ written }: Kernel, results: Record<string, R>): Record<string, unknown> {
  if (!written) return results;
  const values = [...partNames(written.params)].filter(([, parts]) => parts.every((part) => Object.hasOwn(results, part)));
  const taken = new Set(values.flatMap(([, parts]) => parts));
  return Object.fromEntries([
    ...Object.entries(results).filter(([name]) => !taken.has(name)),
    ...values.map(([name, parts]) => {
      const components = parts.map((part) => Number(own(results, part)));
      return [name, compositeValue(partedType(written.params[name])!, components)] as const;
    }),
  ]);
}
