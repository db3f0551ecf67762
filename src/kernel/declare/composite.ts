import { LaunchError } from "../../base/errors.js";
import { describe } from "../../base/describe.js";
import { INSPECT } from "../../base/inspect.js";

/*
 * Values of several numbers, such as vectors, matrices and complex numbers: they exist in the front end alone. Each method is told once, over the arithmetic of
 * numbers where a function is called as plain TypeScript, and over the arithmetic of expressions where it is compiled.
 */

/** Functions of one component, and of two. */
type ComponentUnary = "neg" | "abs" | "sqrt" | "exp" | "sin" | "cos";
type ComponentBinary = "add" | "sub" | "mul" | "div" | "min" | "max" | "atan2";

/** Arithmetic of components of one type. */
export interface ComponentArithmetic<T>
  extends Readonly<Record<ComponentUnary, (a: T) => T>>, Readonly<Record<ComponentBinary, (a: T, b: T) => T>> {
  number(value: number): T;
  /** A value that is used several times. */
  once(a: T): T;
  /** `a` if the place is n, else `b`. */
  choose(place: T, n: number, a: T, b: T): T;
}

/** An argument of a method: a value of the same type, a number of the components' type, a place below n, or a value of another type. */
export type MethodOperand = "self" | "number" | number | (() => CompositeType);

/** A method; it gives a number, or the components of a value of the type that it `gives`, the same type if that is left out. */
export interface CompositeMethod {
  readonly takes: readonly MethodOperand[];
  readonly gives?: () => CompositeType;
  /** `b`: components of values among the arguments, and the other arguments. */
  apply<T>(by: ComponentArithmetic<T>, a: readonly T[], b: readonly T[]): T | readonly T[];
  /** The method for a first argument of another type. */
  readonly or?: CompositeMethod;
}
export type Methods = Readonly<Record<string, CompositeMethod>>;

/** Element types of components. */
export type ComponentType = "f64" | "f32" | "i32";

export interface CompositeType {
  readonly name: string;
  readonly element: ComponentType;
  /** Names of the components, in memory's order. */
  readonly fields: readonly string[];
  /** Extents of the axes along which the components lie in an array. */
  readonly axes: readonly number[];
  readonly methods: Methods;
  /** Values of some of the components, `v.xy`, by name: their type, and the components' places. */
  readonly parts?: Readonly<Record<string, { readonly of: () => CompositeType; readonly places: readonly number[] }>>;
}

/** The type of values of several numbers and their constructor. `value` and `place` stand in the type alone: a value, and an element of an array. */
export interface CompositeToken<V = unknown, P = V, T extends ComponentType = ComponentType, A extends unknown[] = unknown[]> {
  (...components: A): V;
  readonly kind: "composite";
  readonly composite: CompositeType & { readonly element: T };
  readonly value?: V;
  readonly place?: P;
}

/** A token of any type of such values. */
export type AnyComposite = CompositeToken<unknown, unknown, ComponentType, never>;

/** The sum, from the first on. */
export const totalOf = <T>(by: ComponentArithmetic<T>, list: readonly T[]): T => list.reduce((a, b) => by.add(a, b));

/** The sum of products, from the first on. */
export const dotOf = <T>(by: ComponentArithmetic<T>, a: readonly T[], b: readonly T[]): T =>
  totalOf(
    by,
    a.map((x, n) => by.mul(x, b[n])),
  );

/** The root of the sum of squares. */
export function lengthOf<T>(by: ComponentArithmetic<T>, list: readonly T[]): T {
  const a = list.map((x) => by.once(x));
  return by.sqrt(dotOf(by, a, a));
}

/** The component at a place, which may be computed. */
export const chosenComponent = <T>(by: ComponentArithmetic<T>, list: readonly T[], place: T): T =>
  list.reduceRight((rest, x, n) => (n === list.length - 1 ? x : by.choose(place, n, x, rest)));

export const pairwise = (fn: "add" | "sub" | "mul" | "min" | "max"): CompositeMethod => ({
  takes: ["self"],
  apply: (by, a, b) => a.map((x, n) => by[fn](x, b[n])),
});
export const single = (fn: "neg" | "abs"): CompositeMethod => ({ takes: [], apply: (by, a) => a.map((x) => by[fn](x)) });
export const scaled: CompositeMethod = { takes: ["number"], apply: (by, a, [s]) => a.map((x) => by.mul(x, s)) };
/** The value times 1 / length. */
export const normalized: CompositeMethod = {
  takes: [],
  apply(by, list) {
    const a = list.map((x) => by.once(x));
    const s = by.once(by.div(by.number(1), lengthOf(by, a)));
    return a.map((x) => by.mul(x, s));
  },
};

const arithmeticOf = (round: (x: number) => number, mul = (a: number, b: number) => a * b): ComponentArithmetic<number> => ({
  number: (value) => value,
  add: (a, b) => round(a + b),
  sub: (a, b) => round(a - b),
  mul: (a, b) => round(mul(a, b)),
  div: (a, b) => round(a / b),
  min: Math.min,
  max: Math.max,
  atan2: (a, b) => round(Math.atan2(a, b)),
  neg: (a) => round(-a),
  abs: (a) => round(Math.abs(a)),
  sqrt: (a) => round(Math.sqrt(a)),
  exp: (a) => round(Math.exp(a)),
  sin: (a) => round(Math.sin(a)),
  cos: (a) => round(Math.cos(a)),
  once: (a) => a,
  choose: (place, n, a, b) => (place === n ? a : b),
});
const ROUND: Readonly<Record<ComponentType, (x: number) => number>> = { f64: (x) => x, f32: Math.fround, i32: (x) => x | 0 };

type Plain = Readonly<Record<string, number>>;
const componentsIn = (of: CompositeType, value: Plain): number[] => of.fields.map((field) => value[field]);

const prototypes = new WeakMap<CompositeType, object>();
const types = new WeakMap<object, CompositeType>();

/** The type of a value that a constructor or a method has made, or of an array's element; undefined for all else. */
export const typeOfValue = (value: unknown): CompositeType | undefined =>
  typeof value === "object" && value !== null ? types.get(Object.getPrototypeOf(value) as object) : undefined;

/** Components of a value. Throws LaunchError, beginning with `what`, for a value of another type. */
export function componentsOfValue(of: CompositeType, value: unknown, what: string): number[] {
  if (typeOfValue(value) === of) return componentsIn(of, value as Plain);
  throw new LaunchError(`${what} a ${of.name}, and is given ${typeOfValue(value)?.name ?? describe(value)}; give ${usageOf(of)}`);
}

/** `vec3(x, y, z)` */
const usageOf = ({ name, fields }: CompositeType): string => `${name}(${fields.join(", ")})`;

/** The methods of values of a type, over its components as properties. */
function prototypeOf(of: CompositeType): object {
  let methods = prototypes.get(of);
  if (methods) return methods;
  const described = Object.entries(of.methods).map(([name, first]) => {
    function method(this: Plain, ...args: unknown[]): unknown {
      const form = formFor(of, first, typeOfValue(args[0]));
      const b = form.takes.flatMap((what, n) => plainOperand(of, name, what, args[n]));
      const found = form.apply(plainArithmetic(of), componentsIn(of, this), b);
      return typeof found === "number" ? found : compositeValue(form.gives?.() ?? of, found as number[]);
    }
    return [name, { value: method }] as const;
  });
  const parts = Object.entries(of.parts ?? {}).map(([name, { of: type, places }]) => {
    const { fields } = of;
    function part(this: Plain): unknown {
      return compositeValue(
        type(),
        places.map((place) => this[fields[place]]),
      );
    }
    return [name, { get: part }] as const;
  });
  function text(this: Plain): string {
    return `${of.name}(${componentsIn(of, this).join(", ")})`;
  }
  const printed = [INSPECT, "toString"].map((name) => [name, { value: text }] as const);
  methods = Object.create(null, Object.fromEntries([...described, ...parts, ...printed])) as object;
  prototypes.set(of, methods);
  types.set(methods, of);
  return methods;
}

const plainArithmetic = ({ element }: CompositeType): ComponentArithmetic<number> =>
  arithmeticOf(ROUND[element], element === "i32" ? Math.imul : undefined);

/** The form of a method that takes a first argument of that type; its first form if none does. */
export function formFor(of: CompositeType, method: CompositeMethod, given: CompositeType | undefined): CompositeMethod {
  for (let form: CompositeMethod | undefined = method; form; form = form.or) {
    const [first] = form.takes;
    if ((first === "self" ? of : typeof first === "function" ? first() : undefined) === given) return form;
  }
  return method;
}

function plainOperand(of: CompositeType, name: string, what: MethodOperand, arg: unknown): number[] {
  if (what === "self") return componentsOfValue(of, arg, `${name} takes`);
  if (typeof what === "function") return componentsOfValue(what(), arg, `${name} takes`);
  if (typeof arg !== "number") throw new LaunchError(`${name} takes a number, and is given ${typeOfValue(arg)?.name ?? describe(arg)}`);
  if (what === "number") return [ROUND[of.element](arg)];
  if (!(Number.isInteger(arg) && arg >= 0 && arg < what))
    throw new LaunchError(`${name} is given ${arg} as the place of a component, and a ${of.name} has ${what}`);
  return [arg];
}

/** A value, which does not change. */
export const compositeValue = (of: CompositeType, components: readonly number[]): object =>
  Object.freeze(Object.assign(Object.create(prototypeOf(of)) as object, Object.fromEntries(of.fields.map((f, n) => [f, components[n]]))));

/** An element of an array: it reads its components by `get`, and assignments of components go to `set`. */
export const compositePlace = (
  of: CompositeType,
  get: (component: number) => number,
  set: (component: number, value: unknown) => void,
): object =>
  Object.create(
    prototypeOf(of),
    Object.fromEntries(of.fields.map((f, n) => [f, { get: () => get(n), set: (v: unknown) => set(n, v), enumerable: true }])),
  ) as object;

/** Indices of component n along the axes of the components. */
export function componentPlace({ axes }: CompositeType, n: number): number[] {
  const found: number[] = [];
  for (let axis = axes.length - 1, rest = n; axis >= 0; rest = Math.floor(rest / axes[axis--])) found.unshift(rest % axes[axis]);
  return found;
}

/** Components that an argument of a constructor brings. */
function broughtBy(of: CompositeType, part: unknown): number[] {
  if (Array.isArray(part)) return part.flatMap((each) => broughtBy(of, each));
  const type = typeOfValue(part);
  if (type?.element === of.element) return componentsIn(type, part as Plain);
  if (typeof part === "number") return [ROUND[of.element](part)];
  throw new LaunchError(`${of.name} takes numbers, and is given ${type?.name ?? describe(part)}; write ${usageOf(of)}`);
}

/** A type and its constructor, which takes numbers, lists of numbers, and values whose components are as many as the type's together. */
export function compositeToken<V, P, T extends ComponentType, A extends unknown[]>(
  of: CompositeType & { readonly element: T },
): CompositeToken<V, P, T, A> {
  const make = (...given: A): V => {
    const components = broughtBy(of, given);
    if (components.length !== of.fields.length)
      throw new LaunchError(`${of.name} has ${of.fields.length} components, and is given ${components.length}; write ${usageOf(of)}`);
    return compositeValue(of, components) as V;
  };
  return Object.assign(make, { kind: "composite", composite: of } as const);
}

/** The type that a token stands for; undefined for all else. */
export const compositeOf = (token: unknown): CompositeType | undefined =>
  (token as Partial<CompositeToken> | null | undefined)?.kind === "composite" ? (token as CompositeToken).composite : undefined;
