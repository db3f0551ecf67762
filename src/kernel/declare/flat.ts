import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import { NOWHERE } from "../../ir/extremum.js";
import { identityOf } from "../../ir/identity.js";
import type { NumericType } from "../../ir/types.js";
import { componentsOfValue, compositeOf, compositeValue, typeOfValue, type CompositeType } from "./composite.js";
import type { Kernel } from "./kernel.js";
import {
  view,
  type CompositeReduceToken,
  type ExtremumToken,
  type ListToken,
  type Params,
  type ParamToken,
  type ScalarToken,
  type StructReduceToken,
  type StructViewToken,
  type ViewToken,
} from "./params.js";
import { plainRecord, structOf, type StructType } from "./struct.js";

/*
 * Parameters and results of several numbers, such as `g: vec3` and `p: sum(vec3)`. Launches and code know each as several of one number, so that
 * nothing after the front end deals with such types.
 */

/** A part of a parameter: how it is declared, and the fields that lead to it. */
interface Part {
  readonly path: readonly string[];
  readonly token: ParamToken;
}

const within = (field: string, parts: readonly Part[]): Part[] => parts.map(({ path, token }) => ({ path: [field, ...path], token }));

/** Parts of a parameter that becomes several; undefined of one number or array. */
function partsOf(token: unknown): readonly Part[] | undefined {
  const composite = compositeOf(token);
  if (composite) return composite.fields.map((field) => ({ path: [field], token: { kind: "scalar", type: composite.element } }));
  const record = structOf(token);
  if (record) return partsOfFields(record, (field) => field);
  const other = token as Partial<CompositeReduceToken | ExtremumToken | StructReduceToken> | StructViewToken | undefined;
  if (other?.kind === "reduceComposite") {
    const { type, op, identity, of } = other as CompositeReduceToken;
    return of.fields.map((field) => ({ path: [field], token: { kind: "reduce", type, op, identity } }));
  }
  if (other?.kind === "extremum") {
    const { type, op } = other as ExtremumToken;
    return [
      { path: ["value"], token: jointToken(type, identityOf(op, type)) },
      { path: ["index"], token: jointToken("i32", NOWHERE) },
    ];
  }
  if (other?.kind === "reduceStruct") {
    const { struct, identity } = other as StructReduceToken;
    const numbers = numbersOf(struct, identity).values();
    return partsOfFields(struct, (field) => field).map(({ path, token }) => ({
      path,
      token: jointToken((token as ScalarToken<NumericType>).type, numbers.next().value!),
    }));
  }
  if (other?.kind !== "structView") return undefined;
  const { rank, disjoint } = other;
  return partsOfFields(other.struct, (field) => view(field as never, rank, { disjoint }));
}

/** The arrays of a list's elements. */
export const listParts = ({ elements }: ListToken): readonly { readonly path: readonly string[]; readonly token: ViewToken }[] =>
  elements.kind === "view"
    ? [{ path: [], token: elements }]
    : partsOf(elements)!.map(({ path, token }) => ({ path, token: token as ViewToken }));

/** The type of a list's elements, as the author writes it. */
export function listTypeName(of: unknown): string {
  const { type, element } = of as { readonly type?: string; readonly element?: string };
  return (compositeOf(of) ?? structOf(of))?.name ?? type ?? `stored(${element}, ...)`;
}

const isList = (token: ParamToken | null | undefined): boolean => typeof token === "object" && token?.kind === "list";

/** Whether a kernel fills lists; any value may be given. */
export function hasLists(kernel: Pick<Kernel, "params"> | undefined): boolean {
  for (const name in kernel?.params) if (isList(kernel.params[name])) return true;
  return false;
}

/** Parameters other than lists. */
export const paramsWithoutLists = (params: Params): Params =>
  Object.fromEntries(Object.entries(params).filter(([, token]) => !isList(token)));

const jointToken = (type: NumericType, identity: number | bigint): ParamToken => ({ kind: "reduce", type, op: "joint", identity });

/** The numbers of a record, in the order of its parts. */
const numbersOf = ({ fields }: StructType, value: unknown): number[] =>
  Object.entries(fields).flatMap(([field, token]) => {
    const [composite, record] = [compositeOf(token), structOf(token)];
    const part = (value as Record<string, unknown>)[field];
    return record ? numbersOf(record, part) : composite ? componentsOfValue(composite, part, `${field} is`) : [part as number];
  });

/** A record of numbers that come one by one. */
export function recordOfNumbers({ fields }: StructType, next: () => number): object {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(fields).map(([field, type]) => {
        const [inner, of] = [structOf(type), compositeOf(type)];
        return [field, inner ? recordOfNumbers(inner, next) : of ? compositeValue(of, of.fields.map(next)) : next()];
      }),
    ),
  );
}

const partsOfFields = ({ fields }: StructType, declared: (field: StructType["fields"][string]) => ParamToken): Part[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const token = declared(field);
    return within(name, partsOf(token) ?? [{ path: [], token }]);
  });

interface NamedPart extends Part {
  readonly name: string;
}
type PartNames = ReadonlyMap<string, readonly NamedPart[]>;

const known = new WeakMap<object, PartNames>();

/** Parts of all such parameters, with names `g_x` that no other parameter has. */
export function namedParts(params: Readonly<Record<string, unknown>>): PartNames {
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
      const parts = partsOf(token);
      return parts ? [[name, parts.map((part) => ({ ...part, name: free([name, ...part.path].join("_")) }))] as const] : [];
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
  const names = namedParts(kernel.params);
  flat = names.size === 0 ? kernel : { ...kernel, params: flatParams(kernel.params, names), written: kernel };
  flats.set(kernel, flat);
  return flat;
}

const flatParams = (params: Params, names: PartNames): Params =>
  Object.fromEntries(
    Object.entries(params).flatMap(([name, token]): (readonly [string, ParamToken])[] => {
      const parts = names.get(name);
      return parts ? parts.map((part) => [part.name, part.token]) : [[name, token]];
    }),
  );

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
    if (!Object.hasOwn(args, name) && partsOf(token) && !isReduction(token)) partValues(written, name, undefined);
  return flatValues(flat, args);
}

const isReduction = (token: ParamToken): token is CompositeReduceToken | ExtremumToken | StructReduceToken =>
  typeof token === "object" && ["reduceComposite", "extremum", "reduceStruct"].includes(token.kind);

/** Some of the arguments, for the flat kernel. Throws LaunchError for a value of another type. */
export function flatValues<T extends Arguments>(flat: Kernel, args: T): T {
  const { written } = flat;
  if (!written) return args;
  const names = namedParts(written.params);
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    const parts = Object.hasOwn(written.params, name) ? names.get(name) : undefined;
    if (parts) partValues(written, name, value).forEach((part, n) => (given[parts[n].name] = part));
    else if (Object.hasOwn(flat.params, name) && !Object.hasOwn(written.params, name))
      throw new LaunchError(`kernel "${written.name}" has no parameter "${name}"; it takes ${Object.keys(written.params).join(", ")}`);
    else given[name] = value;
  }
  return given as T;
}

/** Values of a parameter's parts, in their order; none for a reduction that is given nothing. */
function partValues({ name: kernel, params }: Kernel, name: string, value: unknown): readonly unknown[] {
  const token = params[name];
  const about = `kernel "${kernel}": ${name}`;
  if (isReduction(token)) return reductionValues(token, value, about);
  if (typeof token === "object" && token.kind === "structView") return fieldValues(token.struct, value, about, true);
  const struct = structOf(token);
  return struct ? fieldValues(struct, value, about, false) : componentsOfValue(compositeOf(token)!, value, `${about} is`);
}

/** Numbers of a record, or views of an array of records. */
function fieldValues({ name, fields }: StructType, value: unknown, about: string, isView: boolean): unknown[] {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(fields).flatMap(([field, token]): unknown[] => {
    if (typeof value !== "object" || !Object.hasOwn(given, field))
      throw new LaunchError(
        `${about} is ${isView ? "an array of" : "a"} ${name}, and is given ${typeof value === "object" && value ? `nothing for ${field}` : describe(value)}; give ${isView ? `structArrays(device, ${name}, n)` : `${name}({ ${Object.keys(fields).join(", ")} })`}`,
      );
    const [composite, record] = [compositeOf(token), structOf(token)];
    if (record) return fieldValues(record, given[field], `${about}.${field}`, isView);
    return composite && !isView ? componentsOfValue(composite, given[field], `${about}.${field} is`) : [given[field]];
  });
}

function reductionValues(
  token: CompositeReduceToken | ExtremumToken | StructReduceToken,
  value: unknown,
  about: string,
): readonly unknown[] {
  if (value === undefined) return [];
  switch (token.kind) {
    case "reduceComposite":
      return startValues(token.of, value, about);
    case "extremum": {
      const { value: least, index } = (value ?? {}) as Record<string, unknown>;
      if (typeof least === "number" && typeof index === "number") return [least, index];
      if (isView(least) && isView(index)) return [least, index];
      throw new LaunchError(
        `${about} is a value and its place, and is given ${describe(value)}; give { value, index }, numbers to start from or views of one element, or nothing`,
      );
    }
    case "reduceStruct":
      return numbersOf(token.struct, plainRecord(token.struct, value));
    default:
      return unreachable(token);
  }
}

const isView = (value: unknown): boolean => typeof (value as Partial<Sliceable> | undefined)?.slice === "function";

/** A reduction is given a value that it starts from, a view for its result, or nothing. */
function startValues(of: CompositeType, value: unknown, about: string): readonly unknown[] {
  if (value === undefined) return [];
  if (typeOfValue(value)) return componentsOfValue(of, value, `${about} starts from`);
  const { shape, slice } = (value ?? {}) as Partial<Sliceable>;
  const count = of.fields.length;
  if (typeof slice !== "function" || shape?.length !== 1 || shape[0] !== count)
    throw new LaunchError(
      `${about} is a reduction of ${of.name}, and is given ${shape ? `a view of shape [${shape}]` : describe(value)}; give a ${of.name}, a view of ${count} elements, or nothing`,
    );
  return of.fields.map((_, n) => (value as Sliceable).slice([n, n + 1]));
}

/** A kernel and its arguments as launches know them; a kernel that is flat already has such arguments. */
export function flatCall(written: Kernel, given: Arguments): { kernel: Kernel; args: Arguments } {
  if (written?.written) return { kernel: written, args: given };
  const kernel = flatKernel(written);
  return { kernel, args: flatArguments(kernel, given) };
}

function resultOf(token: CompositeReduceToken | ExtremumToken | StructReduceToken, numbers: readonly number[]): object {
  switch (token.kind) {
    case "reduceComposite":
      return compositeValue(token.of, numbers);
    case "extremum":
      return Object.freeze({ value: numbers[0], index: numbers[1] });
    case "reduceStruct": {
      const left = numbers.values();
      return recordOfNumbers(token.struct, () => left.next().value!);
    }
    default:
      return unreachable(token);
  }
}

/** Results of a launch of the flat kernel as its author knows them. */
export function writtenResults<R>({ written }: Kernel, results: Record<string, R>): Record<string, unknown> {
  if (!written) return results;
  const values = [...namedParts(written.params)].filter(([, parts]) => parts.every(({ name }) => Object.hasOwn(results, name)));
  const taken = new Set(values.flatMap(([, parts]) => parts.map(({ name }) => name)));
  return Object.fromEntries([
    ...Object.entries(results).filter(([name]) => !taken.has(name)),
    ...values.map(([name, parts]) => {
      const token = written.params[name] as CompositeReduceToken | ExtremumToken | StructReduceToken;
      const numbers = parts.map((part) => Number(own(results, part.name)));
      return [name, resultOf(token, numbers)] as const;
    }),
  ]);
}
