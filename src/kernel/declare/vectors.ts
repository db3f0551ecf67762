import { LaunchError } from "../../base/errors.js";

/*
 * Vectors of two to four components: values that exist in the front end alone. Each method is told once, over the arithmetic of numbers where a function is called
 * as plain TypeScript, and over the arithmetic of expressions where it is compiled.
 */

/** Arithmetic of components of one type. */
export interface ComponentArithmetic<T> {
  readonly one: T;
  add(a: T, b: T): T;
  sub(a: T, b: T): T;
  mul(a: T, b: T): T;
  div(a: T, b: T): T;
  min(a: T, b: T): T;
  max(a: T, b: T): T;
  neg(a: T): T;
  abs(a: T): T;
  sqrt(a: T): T;
  /** A value that is used several times. */
  once(a: T): T;
  /** `a` if the place is n, else `b`. */
  choose(place: T, n: number, a: T, b: T): T;
}

/** An argument of a method: a vector of the same type, a number of the components' type, or the place of a component. */
type VectorOperand = "vector" | "number" | "place";

/** A method; it gives a number, or the components of a vector of the same type. */
interface VectorMethod {
  readonly takes: readonly VectorOperand[];
  /** `b`: components of vectors among the arguments, or the other arguments. */
  apply<T>(by: ComponentArithmetic<T>, a: readonly T[], b: readonly T[]): T | readonly T[];
}

/** Element types of vectors. */
export type ComponentType = "f64" | "f32" | "i32";

export interface VectorType {
  readonly name: string;
  readonly element: ComponentType;
  readonly fields: readonly string[];
  readonly methods: Readonly<Record<string, VectorMethod>>;
}

/** The type of vectors and their constructor. `value` and `place` stand in the type alone: the vector, and an element of an array. */
export interface VectorToken<V = unknown, P = V, T extends ComponentType = ComponentType, A extends number[] = number[]> {
  (...components: A): V;
  readonly kind: "vector";
  readonly vector: VectorType & { readonly element: T };
  readonly value?: V;
  readonly place?: P;
}

interface Components<V> {
  add(b: V): V;
  sub(b: V): V;
  /** Products of components. */
  mul(b: V): V;
  scale(s: number): V;
  neg(): V;
  min(b: V): V;
  max(b: V): V;
  abs(): V;
  /** The sum of products of components, from the first on. */
  dot(b: V): number;
  /** Component k, which may be computed. */
  at(k: number): number;
  /** The same vector with another component k. */
  with(k: number, value: number): V;
}
interface Euclidean<V> extends Components<V> {
  length(): number;
  /** The vector times 1 / length. */
  normalize(): V;
  distance(b: V): number;
}
/** A vector of two components, of f64 or f32. */
export interface Vec2 extends Euclidean<Vec2> {
  readonly x: number;
  readonly y: number;
  cross(b: Vec2): number;
}
/** A vector of three components, of f64 or f32. */
export interface Vec3 extends Euclidean<Vec3> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  cross(b: Vec3): Vec3;
}
/** A vector of four components, of f64 or f32. */
export interface Vec4 extends Euclidean<Vec4> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
}
/** A vector of two i32. */
export interface Vec2i extends Components<Vec2i> {
  readonly x: number;
  readonly y: number;
  cross(b: Vec2i): number;
}
/** A vector of three i32. */
export interface Vec3i extends Components<Vec3i> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  cross(b: Vec3i): Vec3i;
}
/** A vector of four i32. */
export interface Vec4i extends Components<Vec4i> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec2Place extends Vec2 {
  x: number;
  y: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec3Place extends Vec3 {
  x: number;
  y: number;
  z: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec4Place extends Vec4 {
  x: number;
  y: number;
  z: number;
  w: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec2iPlace extends Vec2i {
  x: number;
  y: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec3iPlace extends Vec3i {
  x: number;
  y: number;
  z: number;
}
/** An element of an array of vectors, whose components may be assigned one by one. */
export interface Vec4iPlace extends Vec4i {
  x: number;
  y: number;
  z: number;
  w: number;
}

const total = <T>(by: ComponentArithmetic<T>, list: readonly T[]): T => list.reduce((a, b) => by.add(a, b));

function lengthOf<T>(by: ComponentArithmetic<T>, list: readonly T[]): T {
  const a = list.map((x) => by.once(x));
  return by.sqrt(
    total(
      by,
      a.map((x) => by.mul(x, x)),
    ),
  );
}

type Pairwise = "add" | "sub" | "mul" | "min" | "max";
const pairwise = (fn: Pairwise): VectorMethod => ({ takes: ["vector"], apply: (by, a, b) => a.map((x, n) => by[fn](x, b[n])) });
const single = (fn: "neg" | "abs"): VectorMethod => ({ takes: [], apply: (by, a) => a.map((x) => by[fn](x)) });

/** Methods of all vectors: made by a call, so that bundlers leave them out of pages without vectors. */
const methodsOfAll = (): Readonly<Record<string, VectorMethod>> => ({
  add: pairwise("add"),
  sub: pairwise("sub"),
  mul: pairwise("mul"),
  min: pairwise("min"),
  max: pairwise("max"),
  neg: single("neg"),
  abs: single("abs"),
  scale: { takes: ["number"], apply: (by, a, [s]) => a.map((x) => by.mul(x, s)) },
  dot: {
    takes: ["vector"],
    apply: (by, a, b) =>
      total(
        by,
        a.map((x, n) => by.mul(x, b[n])),
      ),
  },
  at: { takes: ["place"], apply: (by, a, [k]) => a.reduceRight((rest, x, n) => (n === a.length - 1 ? x : by.choose(k, n, x, rest))) },
  with: { takes: ["place", "number"], apply: (by, a, [k, s]) => a.map((x, n) => by.choose(k, n, s, x)) },
});
const OF_FLOATS: Readonly<Record<string, VectorMethod>> = {
  length: { takes: [], apply: lengthOf },
  distance: {
    takes: ["vector"],
    apply: (by, a, b) =>
      lengthOf(
        by,
        a.map((x, n) => by.sub(x, b[n])),
      ),
  },
  normalize: {
    takes: [],
    apply(by, list) {
      const a = list.map((x) => by.once(x));
      const s = by.once(by.div(by.one, lengthOf(by, a)));
      return a.map((x) => by.mul(x, s));
    },
  },
};
/** Cross products, by the number of components. */
const CROSS: Readonly<Record<number, VectorMethod>> = {
  2: { takes: ["vector"], apply: (by, [x, y], [u, v]) => by.sub(by.mul(x, v), by.mul(y, u)) },
  3: {
    takes: ["vector"],
    apply(by, c, d) {
      const [a, b] = [c, d].map((list) => list.map((x) => by.once(x)));
      const minor = (p: number, q: number) => by.sub(by.mul(a[p], b[q]), by.mul(a[q], b[p]));
      return [minor(1, 2), minor(2, 0), minor(0, 1)];
    },
  },
};

const arithmeticOf = (round: (x: number) => number, mul = (a: number, b: number) => a * b): ComponentArithmetic<number> => ({
  one: 1,
  add: (a, b) => round(a + b),
  sub: (a, b) => round(a - b),
  mul: (a, b) => round(mul(a, b)),
  div: (a, b) => round(a / b),
  min: Math.min,
  max: Math.max,
  neg: (a) => round(-a),
  abs: (a) => round(Math.abs(a)),
  sqrt: (a) => round(Math.sqrt(a)),
  once: (a) => a,
  choose: (place, n, a, b) => (place === n ? a : b),
});
const ROUND: Readonly<Record<ComponentType, (x: number) => number>> = { f64: (x) => x, f32: Math.fround, i32: (x) => x | 0 };

const prototypes = new WeakMap<VectorType, object>();

/** The methods of vectors of a type, over its components as properties. */
function prototypeOf(of: VectorType): object {
  let methods = prototypes.get(of);
  if (methods) return methods;
  const by = arithmeticOf(ROUND[of.element], of.element === "i32" ? Math.imul : undefined);
  type Vector = Readonly<Record<string, number>>;
  const components = (v: Vector): number[] => of.fields.map((field) => v[field]);
  const described = Object.entries(of.methods).map(([name, { takes, apply }]) => {
    function method(this: Vector, ...args: (Vector | number)[]): unknown {
      const b = takes.flatMap((what, n) => {
        const arg = args[n];
        if (typeof arg === "object") return components(arg);
        if (what === "place" && !(Number.isInteger(arg) && arg >= 0 && arg < of.fields.length))
          throw new LaunchError(`${name} is given ${arg} as the place of a component, and a ${of.name} has ${of.fields.length}`);
        return what === "number" ? [ROUND[of.element](arg)] : [arg];
      });
      const found = apply(by, components(this), b);
      return typeof found === "number" ? found : vectorOf(of, found);
    }
    return [name, { value: method }] as const;
  });
  prototypes.set(of, (methods = Object.create(null, Object.fromEntries(described)) as object));
  return methods;
}

/** A vector, which does not change. */
const vectorOf = (of: VectorType, components: readonly number[]): object =>
  Object.freeze(Object.assign(Object.create(prototypeOf(of)) as object, Object.fromEntries(of.fields.map((f, n) => [f, components[n]]))));

/** An element of an array of vectors, which reads and writes its components in the array. */
export const vectorPlace = (of: VectorType, get: (component: number) => number, set: (component: number, value: unknown) => void): object =>
  Object.create(
    prototypeOf(of),
    Object.fromEntries(of.fields.map((f, n) => [f, { get: () => get(n), set: (v: unknown) => set(n, v), enumerable: true }])),
  ) as object;

function vector<V, P, T extends ComponentType, A extends number[]>(name: string, element: T, size: number): VectorToken<V, P, T, A> {
  const methods = { ...methodsOfAll(), ...(element === "i32" ? {} : OF_FLOATS), ...(size < 4 ? { cross: CROSS[size] } : {}) };
  const of = { name, element, fields: ["x", "y", "z", "w"].slice(0, size), methods };
  const make = (...components: A): V => vectorOf(of, components.map(ROUND[element])) as V;
  return Object.assign(make, { kind: "vector", vector: of } as const);
}

type Two = [x: number, y: number];
type Three = [...Two, z: number];
type Four = [...Three, w: number];

/** Vectors of two f64: a type, `view(vec2)`, and a constructor, `vec2(x, y)`, which kernels list as a capture. */
export const vec2: VectorToken<Vec2, Vec2Place, "f64", Two> = /* @__PURE__ */ vector("vec2", "f64", 2);
/** Vectors of three f64, as `vec2`. */
export const vec3: VectorToken<Vec3, Vec3Place, "f64", Three> = /* @__PURE__ */ vector("vec3", "f64", 3);
/** Vectors of four f64, as `vec2`. */
export const vec4: VectorToken<Vec4, Vec4Place, "f64", Four> = /* @__PURE__ */ vector("vec4", "f64", 4);
/** Vectors of two f32, as `vec2`. */
export const vec2f: VectorToken<Vec2, Vec2Place, "f32", Two> = /* @__PURE__ */ vector("vec2f", "f32", 2);
/** Vectors of three f32, as `vec2`. */
export const vec3f: VectorToken<Vec3, Vec3Place, "f32", Three> = /* @__PURE__ */ vector("vec3f", "f32", 3);
/** Vectors of four f32, as `vec2`. */
export const vec4f: VectorToken<Vec4, Vec4Place, "f32", Four> = /* @__PURE__ */ vector("vec4f", "f32", 4);
/** Vectors of two i32, as `vec2`. */
export const vec2i: VectorToken<Vec2i, Vec2iPlace, "i32", Two> = /* @__PURE__ */ vector("vec2i", "i32", 2);
/** Vectors of three i32, as `vec2`. */
export const vec3i: VectorToken<Vec3i, Vec3iPlace, "i32", Three> = /* @__PURE__ */ vector("vec3i", "i32", 3);
/** Vectors of four i32, as `vec2`. */
export const vec4i: VectorToken<Vec4i, Vec4iPlace, "i32", Four> = /* @__PURE__ */ vector("vec4i", "i32", 4);

/** The type that a token stands for; undefined for all else. */
export const vectorTypeOf = (token: unknown): VectorType | undefined =>
  (token as Partial<VectorToken> | null | undefined)?.kind === "vector" ? (token as VectorToken).vector : undefined;
