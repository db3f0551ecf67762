import { CHANGES } from "./atomics.js";
import type { Policy, RangePolicy } from "../../src/device/launch/policy.js";
import { componentsOfValue, compositePlace, type CompositeType } from "../../src/kernel/declare/composite.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import type { ArrayType, NumericToken, ParamToken } from "../../src/kernel/declare/params.js";
import type { Lanes, Team, TeamSpec, TeamValues } from "../../src/kernel/declare/body.js";
import type { NumberElement, NumberType } from "../../src/ir/types.js";
import { typedArray, type TypedArray } from "../../src/device/memory/view.js";
import { foldChunk } from "../../src/testing/strict-fold.js";
import { isHalf } from "../../src/ir/scalars.js";
import { elementsOf, offsetOf, rounded, type Grid, type Memory } from "./memory.js";
import { Contributions, foldPartials, namedParts, type Fold, type Folded } from "./reductions.js";

/*
 * The other reference: the kernel's function itself, called as the plain TypeScript that it is, over typed arrays. It agrees with what is
 * compiled where the function says all its roundings and wraps, so that the front end is checked, too.
 */

type Scalars = Readonly<Record<string, number | boolean>>;

/** Calls the kernel's function for each element, or each team, over `memory`, which it changes. Returns the results of its reductions. */
export function callPlainly(kernel: Kernel, policy: Policy, memory: Memory, scalars: Scalars): Record<string, number> {
  return policy.kind === "range" ? overRange(kernel, policy, memory, scalars) : overTeams(kernel, policy.league, memory, scalars);
}

function overRange(kernel: Kernel, policy: RangePolicy, memory: Memory, scalars: Scalars): Record<string, number> {
  const reductions = reductionsOf(kernel);
  const folded = Object.fromEntries(reductions.map(({ name }) => [name, new Contributions(policy)]));
  let at = { line: 0, place: 0 };
  const params = bodyParams(kernel, memory, scalars, (name, value) => folded[name].add(at.line, at.place, value));
  for (const { index, line, place } of elementsOf(policy)) {
    at = { line, place };
    (kernel.body as (...args: unknown[]) => void)(params, ...index);
  }
  return Object.fromEntries(reductions.flatMap(({ name, parts, fold, identity }) => namedParts(parts, folded[name].fold(fold, identity))));
}

function overTeams(kernel: Kernel, league: number, memory: Memory, scalars: Scalars): Record<string, number> {
  const reductions = reductionsOf(kernel);
  const folds = Object.fromEntries(reductions.map(({ name, fold }) => [name, fold]));
  const partials = Object.fromEntries(reductions.map(({ name, identity }) => [name, Array<Folded>(league).fill(identity)]));
  let rank = 0;
  const params = bodyParams(kernel, memory, scalars, (name, value) => (partials[name][rank] = folds[name](partials[name][rank], value)));
  for (; rank < league; rank++) (kernel.body as (...args: unknown[]) => void)(params, plainTeam(rank));
  return Object.fromEntries(
    reductions.flatMap(({ name, parts, fold, identity }) => namedParts(parts, foldPartials(partials[name], fold, identity))),
  );
}

/** A reduction: the names of its results, its fold, and what that starts from. */
interface Reduction {
  readonly name: string;
  readonly parts: readonly string[];
  readonly fold: Fold;
  readonly identity: Folded;
}

const reductionsOf = (kernel: Kernel): Reduction[] =>
  Object.entries(kernel.params).flatMap(([name, token]): Reduction[] => {
    if (typeof token !== "object") return [];
    if (token.kind === "reduce")
      return [
        {
          name,
          parts: [name],
          fold: foldOf(token.type as NumberType, token.op, token.combine as never) as Fold,
          identity: token.identity as number,
        },
      ];
    if (token.kind !== "extremum") return [];
    const worst = (token.op === "min" ? greatest : least)(token.type as NumberType);
    return [{ name, parts: [`${name}_value`, `${name}_index`], fold: firstOf(token.op, worst), identity: { parts: [worst, -1] } }];
  });

const isFloat = (type: NumberType): boolean => type === "f64" || type === "f32";
const greatest = (type: NumberType): number => (isFloat(type) ? Infinity : type === "i32" ? 2 ** 31 - 1 : 2 ** 32 - 1);
const least = (type: NumberType): number => (isFloat(type) ? -Infinity : type === "i32" ? -(2 ** 31) : 0);

/** Of two values with their places the one that NumPy's argmin or argmax finds first; `worst` at -1 is no value. */
function firstOf(op: "min" | "max", worst: number): Fold {
  const isBefore = (one: readonly number[], other: readonly number[]): boolean => {
    const [x, y] = [one[0], other[0]];
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x);
    if (!Number.isNaN(x) && x !== y) return op === "min" ? x < y : x > y;
    const place = ([value, index]: readonly number[]): number => (value === worst && index === -1 ? Infinity : index);
    return place(one) < place(other);
  };
  const partsOf = (value: Folded): readonly number[] => (value as { parts: readonly number[] }).parts;
  return (a, b) => (isBefore(partsOf(b), partsOf(a)) ? b : a);
}

type NumberFold = (a: number, b: number) => number;

function foldOf(type: NumberType, op: string, combine?: NumberFold): NumberFold {
  const rounded = typedArray(type, 1);
  const exact: NumberFold = op === "sum" ? (a, b) => a + b : op === "min" ? Math.min : op === "max" ? Math.max : combine!;
  return (a, b) => {
    rounded[0] = exact(a, b);
    return rounded[0];
  };
}

function bodyParams(
  kernel: Kernel,
  memory: Memory,
  scalars: Scalars,
  fold: (name: string, value: Folded) => void,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(kernel.params as Record<string, ParamToken>).map(([name, token]) => {
      if (typeof token !== "object") return [name, token];
      switch (token.kind) {
        case "scalar":
        case "fixed":
          return [name, scalars[name]];
        case "view":
          if ("atomic" in token) return [name, atomicIn(memory[name], name)];
          return [
            name,
            token.of
              ? valuesIn(token.of, memory[name].data, memory[name].shape)
              : nested(memory[name].type as NumberElement, memory[name].data, memory[name].shape),
          ];
        case "table":
          return [name, token.values];
        case "scatter":
          return [name, { [METHODS[token.op]]: scatterInto(memory[name], name, foldOf(token.element as NumberType, token.op)) }];
        case "reduce":
          return [name, { [METHODS[token.op]]: (value: number) => fold(name, value) }];
        case "extremum":
          return [
            name,
            { [token.op]: (value: number, index: number) => fold(name, { parts: [roundedTo(token.type as NumberType, value), index] }) },
          ];
        case "reduceEach":
        case "reduceStruct":
        case "reduceComposite":
        case "structView":
        case "list":
          throw new Error(`${name}: programs with reductions of several components are compared with such of one each`);
      }
    }),
  );
}
const METHODS = { sum: "add", min: "min", max: "max", custom: "merge", joint: "merge" } as const;

const roundedTo = (type: NumberType, value: number): number => typedArray(type, 1).fill(value)[0];

type Nested = TypedArray | Nested[];
function nested(type: NumberElement, data: TypedArray, shape: readonly number[]): Nested {
  const [extent, ...rest] = shape;
  if (!rest.length) return isHalf(type) ? rounding(type, data) : data;
  const size = rest.reduce((a, b) => a * b, 1);
  return Array.from({ length: extent }, (_, n) => nested(type, data.subarray(n * size, (n + 1) * size), rest));
}

/** Rounds what is stored to a float of 16 bits. */
const rounding = (type: NumberElement, data: TypedArray): TypedArray =>
  new Proxy(data, {
    get: (_, key) => (Number.isInteger(Number(String(key))) ? data[Number(String(key))] : Reflect.get(data, key, data)),
    set(_, key, value) {
      data[Number(String(key))] = rounded(type, Number(value));
      return true;
    },
  });

/** An array of vectors or the like, in the memory of their components. */
function valuesIn(of: CompositeType, data: TypedArray, shape: readonly number[]): unknown {
  const [extent, ...rest] = shape;
  const size = rest.reduce((a, b) => a * b, 1);
  if (rest.length > of.axes.length)
    return Array.from({ length: extent }, (_, n) => valuesIn(of, data.subarray(n * size, (n + 1) * size), rest));
  return new Proxy([], {
    get(_, k) {
      const first = Number(k) * size;
      const now = data.slice(first, first + size);
      return compositePlace(
        of,
        (n) => now[n],
        (n, value) => (data[first + n] = Number(value)),
      );
    },
    set(_, k, value) {
      data.set(componentsOfValue(of, value, "the element is"), Number(k) * size);
      return true;
    },
  });
}

const scatterInto =
  (target: Grid, name: string, fold: NumberFold) =>
  (...args: number[]): void => {
    const at = offsetOf(target, name, args.slice(0, -1));
    target.data[at] = fold(target.data[at], args[args.length - 1]);
  };

/** All methods that programs call, each over the same array. */
const atomicIn = (target: Grid, name: string): Record<string, (...args: number[]) => void> =>
  Object.fromEntries(
    Object.entries(CHANGES).map(([method, change]) => [
      method,
      (...args: number[]) => {
        const at = offsetOf(target, name, args.slice(0, -1));
        target.data[at] = change(target.data[at], args[args.length - 1]);
      },
    ]),
  );

/** Keeps what a turn folds into a result: all values in their order, or for each component what they make together. */
function keeper(spec: TeamSpec, values: number[]): (...args: number[]) => void {
  if (typeof spec === "string") return (value) => values.push(value);
  const [op, components] = spec;
  const fold = foldOf("f64", op);
  values.push(...Array<number>(components).fill(op === "sum" ? -0 : IDENTITIES[op]));
  return (k, value) => {
    values[k] = fold(values[k], value);
  };
}

const opOf = (spec: TeamSpec): TeamOp => (typeof spec === "string" ? spec : spec[0]);

type TeamOp = "sum" | "min" | "max";
const IDENTITIES: Record<TeamOp, number> = { sum: 0, min: Infinity, max: -Infinity };

/**
 * Loops shared by one, in strict order, whose functions get `rest` behind the index. All folds are of f64, which holds every f32 and integer
 * result as long as the values say their type.
 */
function sharedLoops<Rest extends unknown[]>(...rest: Rest) {
  const each = <T>(count: number, value: (j: number) => T): T[] => Array.from({ length: count }, (_, j) => value(j));
  const folded = (op: TeamOp, members: number[][]): number => foldChunk(members, foldOf("f64", op), IDENTITIES[op]);
  const over = (op: TeamOp) => (count: number, value: (j: number, ...rest: Rest) => number) =>
    folded(
      op,
      each(count, (j) => [value(j, ...rest)]),
    );
  return {
    range: (count: number, body: (j: number, ...rest: Rest) => void) => void each(count, (j) => body(j, ...rest)),
    sum: over("sum"),
    min: over("min"),
    max: over("max"),
    reduce<const R extends Record<string, TeamSpec>>(count: number, results: R, body: (j: number, r: never, ...rest: Rest) => void) {
      const ops = Object.entries(results);
      const members = each(count, (j) => {
        const values = new Map(ops.map(([name]) => [name, [] as number[]]));
        const folds = ops.map(([name, spec]) => [name, { [METHODS[opOf(spec)]]: keeper(spec, values.get(name)!) }]);
        body(j, Object.fromEntries(folds) as never, ...rest);
        return values;
      });
      const folds = ops.map(([name, spec]) => {
        const of = (k?: number) =>
          folded(
            opOf(spec),
            members.map((values) => (k === undefined ? values.get(name)! : values.get(name)!.slice(k, k + 1))),
          );
        return [name, typeof spec === "string" ? of() : Array.from({ length: spec[1] }, (_, k) => of(k))];
      });
      return Object.fromEntries(folds) as TeamValues<R>;
    },
  };
}

function plainTeam(index: number): Team {
  return {
    ...sharedLoops<[Lanes]>(sharedLoops()),
    index,
    size: 1,
    single: (body) => body(),
    scratch: ((type: NumberType | ArrayType | NumericToken, length: number) =>
      typeof type === "string"
        ? typedArray(type, length)
        : "type" in type
          ? typedArray(type.type, length)
          : new type(length)) as Team["scratch"],
  };
}
