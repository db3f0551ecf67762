/* Values for the variables of loops, and what devices make of them. */
import type { Variable } from "../../src/fortran/analyse/symbols.js";
import type { FortranKernel } from "../../src/fortran/host/kernels.js";
import { evaluate } from "../../src/fortran/host/evaluate.js";
import { elementType } from "../../src/fortran/lower/values.js";
import { f32, f64, i32, u8, type Device, type View } from "../../src/index.js";
import { variablesOf, type Held, type Loop, type Values } from "./loop-programs.js";

/** What is known of a code's variables, by their names. */
export interface Plausible {
  /** Integers, scalars and the elements of arrays, by names or their last parts: `xmin` for `left_xmin`. Others are 1. */
  readonly integers: Readonly<Record<string, number | readonly number[]>>;
  /** Reals lie between two numbers, 0.5 and 1.5 where none are told. */
  readonly reals: Readonly<Record<string, readonly [number, number]>>;
  /** The extent of axes that declarations leave open. */
  readonly extent: number;
}

/** Random values of all variables of a loop. */
export function valuesFor(loop: Loop, { integers, reals, extent }: Plausible, random: () => number): Values {
  const { sources } = loop.kernel.lowered;
  const made = new Map<string, Held>();
  const numbers = (name: string, { type, byte }: Variable, size: number): Held["data"] => {
    const known = integers[name] ?? integers[name.replace(/^.*_/, "")];
    const [low, high] = reals[name] ?? [0.5, 1.5];
    const real = (): number => low + (high - low) * random();
    const integer = (_: unknown, n: number): number =>
      typeof known === "number" ? known : known && size > 1 ? known[n] : type === "bool" ? Math.floor(2 * random()) : 1;
    if (type === "f64") return Float64Array.from({ length: size }, real);
    if (byte) return Uint8Array.from({ length: size }, integer);
    return type === "f32" ? Float32Array.from({ length: size }, real) : Int32Array.from({ length: size }, integer);
  };
  const variables = variablesOf(loop);
  for (const [name, variable] of variables) if (!variable.dims) made.set(name, { data: numbers(name, variable, 1) });
  const paramOf = (param: string): string => sources.get(param)!.name;
  const known = {
    param: (param: string) => made.get(paramOf(param))!.data[0],
    extent: (param: string, axis: number) => made.get(paramOf(param))!.extents!.at(-1 - axis)!,
    element: (param: string, [index]: readonly number[]) => (integers[paramOf(param)] as readonly number[])[index],
  };
  for (const { name, variable, extents } of sources.values()) {
    if (!variable.dims || made.has(name)) continue;
    const shape = extents!.map((e) => (e ? Number(evaluate(e, known)) : extent));
    const size = shape.reduce((a, b) => a * b, 1);
    made.set(name, { extents: shape, data: numbers(name, variable, size) });
  }
  return made;
}

const ELEMENTS = { f64, f32, i32, u8 } as const;

/** The values behind the kernel of a loop on a device. */
export async function ranOn(device: Device, { kernel }: Loop, values: Values): Promise<Values> {
  const { lowered, boundArrays } = kernel;
  const args: Record<string, number | boolean | View> = {};
  const lists: Record<string, Held["data"]> = {};
  for (const [param, { name, variable }] of lowered.sources) {
    const { extents, data } = values.get(name)!;
    const type = elementType(variable) as keyof typeof ELEMENTS;
    if (extents) args[param] = device.from(ELEMENTS[type], data, [...extents].reverse());
    else args[param] = variable.type === "bool" ? data[0] !== 0 : data[0];
    if (boundArrays.includes(param)) lists[param] = data;
  }
  for (const { param, name, op } of lowered.outcomes) if (op) args[param] = values.get(name)!.data[0];
  const results: Record<string, number> = await device.run(kernel as FortranKernel, args, kernel.range({ ...args, ...lists }));
  const found = new Map(values);
  for (const [param, { name }] of lowered.sources) {
    const view = args[param];
    if (typeof view !== "object") continue;
    found.set(name, { ...values.get(name)!, data: (await device.queue.read(view)) as Held["data"] });
    view.free();
  }
  for (const { param, name, assigned } of lowered.outcomes) {
    if (assigned !== undefined && results[assigned] === 0) continue;
    const List = values.get(name)!.data.constructor as Float64ArrayConstructor;
    found.set(name, { data: List.of(results[param]) });
  }
  return found;
}
