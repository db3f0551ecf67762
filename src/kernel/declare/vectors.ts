import {
  chosenComponent,
  compositeToken,
  dotOf,
  lengthOf,
  normalized,
  pairwise,
  scaled,
  single,
  type AnyComposite,
  type CompositeMethod,
  type CompositeToken,
  type CompositeType,
  type ComponentType,
  type Methods,
} from "./composite.js";

/* Vectors of two to four components. */

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
  readonly xy: Vec2;
  cross(b: Vec3): Vec3;
}
/** A vector of four components, of f64 or f32. */
export interface Vec4 extends Euclidean<Vec4> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
  readonly xy: Vec2;
  readonly xyz: Vec3;
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
  readonly xy: Vec2i;
  cross(b: Vec3i): Vec3i;
}
/** A vector of four i32. */
export interface Vec4i extends Components<Vec4i> {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
  readonly xy: Vec2i;
  readonly xyz: Vec3i;
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

/** Methods of all vectors: made by a call, so that bundlers leave them out of pages without vectors. */
const methodsOfAll = (size: number): Methods => ({
  add: pairwise("add"),
  sub: pairwise("sub"),
  mul: pairwise("mul"),
  min: pairwise("min"),
  max: pairwise("max"),
  neg: single("neg"),
  abs: single("abs"),
  scale: scaled,
  dot: { takes: ["self"], apply: dotOf },
  at: { takes: [size], apply: (by, a, [k]) => chosenComponent(by, a, k) },
  with: { takes: [size, "number"], apply: (by, a, [k, s]) => a.map((x, n) => by.choose(k, n, s, x)) },
});
const ofFloats = (): Methods => ({
  length: { takes: [], apply: lengthOf },
  distance: {
    takes: ["self"],
    apply: (by, a, b) =>
      lengthOf(
        by,
        a.map((x, n) => by.sub(x, b[n])),
      ),
  },
  normalize: normalized,
});
/** Cross products, by the number of components. */
const CROSS: Readonly<Record<number, CompositeMethod>> = {
  2: { takes: ["self"], apply: (by, [x, y], [u, v]) => by.sub(by.mul(x, v), by.mul(y, u)) },
  3: {
    takes: ["self"],
    apply(by, c, d) {
      const [a, b] = [c, d].map((list) => list.map((x) => by.once(x)));
      const minor = (p: number, q: number) => by.sub(by.mul(a[p], b[q]), by.mul(a[q], b[p]));
      return [minor(1, 2), minor(2, 0), minor(0, 1)];
    },
  },
};

const none = (): readonly AnyComposite[] => [];

function vector<V, P, T extends ComponentType, A extends unknown[]>(
  name: string,
  element: T,
  size: number,
  smaller: Smaller = none,
): CompositeToken<V, P, T, A> {
  const methods = { ...methodsOfAll(size), ...(element === "i32" ? {} : ofFloats()), ...(size < 4 ? { cross: CROSS[size] } : {}) };
  return compositeToken({
    name,
    element,
    fields: ["x", "y", "z", "w"].slice(0, size),
    axes: [size],
    methods,
    parts: partsOf(size, smaller),
  });
}

/** `v.xy` of more than two components, `v.xyz` of four. */
const partsOf = (size: number, smaller: Smaller): CompositeType["parts"] => {
  const part = (count: number) => ({ of: () => smaller()[count - 2].composite, places: [0, 1, 2].slice(0, count) });
  return { ...(size > 2 && { xy: part(2) }), ...(size > 3 && { xyz: part(3) }) };
};
/** Vectors of the same type of two and three components. */
type Smaller = () => readonly AnyComposite[];

/* Arguments of constructors: numbers, or values that have some of the components. */
type Two = [x: number, y: number];
type Three<V2> = [...Two, z: number] | [xy: V2, z: number] | [x: number, yz: V2];
type Four<V2, V3> =
  | [...Two, z: number, w: number]
  | [xyz: V3, w: number]
  | [x: number, yzw: V3]
  | [xy: V2, zw: V2]
  | [xy: V2, z: number, w: number];

/** Vectors of two f64: a type, `view(vec2)`, and a constructor, `vec2(x, y)`, which kernels list as a capture. */
export const vec2: CompositeToken<Vec2, Vec2Place, "f64", Two> = /* @__PURE__ */ vector("vec2", "f64", 2);
/** Vectors of three f64, as `vec2`. */
export const vec3: CompositeToken<Vec3, Vec3Place, "f64", Three<Vec2>> = /* @__PURE__ */ vector("vec3", "f64", 3, () => [vec2, vec3]);
/** Vectors of four f64, as `vec2`. */
export const vec4: CompositeToken<Vec4, Vec4Place, "f64", Four<Vec2, Vec3>> = /* @__PURE__ */ vector("vec4", "f64", 4, () => [vec2, vec3]);
/** Vectors of two f32, as `vec2`. */
export const vec2f: CompositeToken<Vec2, Vec2Place, "f32", Two> = /* @__PURE__ */ vector("vec2f", "f32", 2);
/** Vectors of three f32, as `vec2`. */
export const vec3f: CompositeToken<Vec3, Vec3Place, "f32", Three<Vec2>> = /* @__PURE__ */ vector("vec3f", "f32", 3, () => [vec2f, vec3f]);
/** Vectors of four f32, as `vec2`. */
export const vec4f: CompositeToken<Vec4, Vec4Place, "f32", Four<Vec2, Vec3>> = /* @__PURE__ */ vector("vec4f", "f32", 4, () => [
  vec2f,
  vec3f,
]);
/** Vectors of two i32, as `vec2`. */
export const vec2i: CompositeToken<Vec2i, Vec2iPlace, "i32", Two> = /* @__PURE__ */ vector("vec2i", "i32", 2);
/** Vectors of three i32, as `vec2`. */
export const vec3i: CompositeToken<Vec3i, Vec3iPlace, "i32", Three<Vec2i>> = /* @__PURE__ */ vector("vec3i", "i32", 3, () => [
  vec2i,
  vec3i,
]);
/** Vectors of four i32, as `vec2`. */
export const vec4i: CompositeToken<Vec4i, Vec4iPlace, "i32", Four<Vec2i, Vec3i>> = /* @__PURE__ */ vector("vec4i", "i32", 4, () => [
  vec2i,
  vec3i,
]);
