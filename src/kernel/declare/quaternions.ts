import {
  compositeToken,
  dotOf,
  lengthOf,
  normalized,
  pairwise,
  scaled,
  single,
  type CompositeToken,
  type CompositeType,
  type ComponentType,
  type Methods,
} from "./composite.js";
import { mat3, mat3f, type Mat3 } from "./matrices.js";
import { vec3, vec3f, type Vec3 } from "./vectors.js";

/* Quaternions, (x, y, z) the vector part and w the real one. */

interface QuatMethods {
  add(b: Quat): Quat;
  sub(b: Quat): Quat;
  /** Hamilton's product: the rotation by b, then by this one. */
  mul(b: Quat): Quat;
  scale(s: number): Quat;
  neg(): Quat;
  conj(): Quat;
  dot(b: Quat): number;
  length(): number;
  normalize(): Quat;
  /** The vector, rotated by this quaternion, whose length is 1. */
  rotate(v: Vec3): Vec3;
  /** The matrix of that rotation. */
  matrix(): Mat3;
}
/** A quaternion, of f64 or f32. */
export interface Quat extends QuatMethods {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly w: number;
}
/** An element of an array of quaternions, whose components may be assigned one by one. */
export interface QuatPlace extends QuatMethods {
  x: number;
  y: number;
  z: number;
  w: number;
}

const methods = (vector: () => CompositeType, matrix: () => CompositeType): Methods => ({
  add: pairwise("add"),
  sub: pairwise("sub"),
  scale: scaled,
  neg: single("neg"),
  conj: { takes: [], apply: (by, [x, y, z, w]) => [by.neg(x), by.neg(y), by.neg(z), w] },
  dot: { takes: ["self"], apply: dotOf },
  length: { takes: [], apply: lengthOf },
  normalize: normalized,
  mul: {
    takes: ["self"],
    apply(by, p, q) {
      const [[x, y, z, w], [a, b, c, d]] = [p, q].map((list) => list.map((e) => by.once(e)));
      /** k a + l b + m c - n d */
      const sum = (k: typeof x, l: typeof x, m: typeof x, n: typeof x) => by.sub(by.add(by.add(k, l), m), n);
      return [
        sum(by.mul(w, a), by.mul(x, d), by.mul(y, c), by.mul(z, b)),
        sum(by.mul(w, b), by.mul(y, d), by.mul(z, a), by.mul(x, c)),
        sum(by.mul(w, c), by.mul(z, d), by.mul(x, b), by.mul(y, a)),
        by.sub(by.mul(w, d), dotOf(by, [x, y, z], [a, b, c])),
      ];
    },
  },
  rotate: {
    takes: [vector],
    gives: vector,
    apply(by, given, v) {
      const [x, y, z, w] = given.map((e) => by.once(e));
      const q = [x, y, z];
      const held = v.map((e) => by.once(e));
      const cross = (a: typeof q, b: typeof q) =>
        [0, 1, 2].map((k) => by.sub(by.mul(a[(k + 1) % 3], b[(k + 2) % 3]), by.mul(a[(k + 2) % 3], b[(k + 1) % 3])));
      const u = cross(q, held).map((e) => by.once(by.mul(by.number(2), e)));
      const turned = cross(q, u);
      return held.map((e, k) => by.add(by.add(e, by.mul(w, u[k])), turned[k]));
    },
  },
  matrix: {
    takes: [],
    gives: matrix,
    apply(by, given) {
      const [x, y, z, w] = given.map((e) => by.once(e));
      const twice = (a: typeof x) => by.mul(by.number(2), a);
      const diagonal = (a: typeof x, b: typeof x) => by.sub(by.number(1), twice(by.add(by.mul(a, a), by.mul(b, b))));
      const less = (a: typeof x, b: typeof x, c: typeof x) => twice(by.sub(by.mul(a, b), by.mul(w, c)));
      const more = (a: typeof x, b: typeof x, c: typeof x) => twice(by.add(by.mul(a, b), by.mul(w, c)));
      return [
        diagonal(y, z),
        less(x, y, z),
        more(x, z, y),
        more(x, y, z),
        diagonal(x, z),
        less(y, z, x),
        less(x, z, y),
        more(y, z, x),
        diagonal(x, y),
      ];
    },
  },
});

type Four = [x: number, y: number, z: number, w: number] | [xyz: Vec3, w: number];

const quatOf = <T extends ComponentType>(
  name: string,
  element: T,
  vector: () => CompositeType,
  matrix: () => CompositeType,
): CompositeToken<Quat, QuatPlace, T, Four> =>
  compositeToken({ name, element, fields: ["x", "y", "z", "w"], axes: [4], methods: methods(vector, matrix) });

/** Quaternions of f64, as `vec2`: `quat(x, y, z, w)`, w the real part. */
export const quat: CompositeToken<Quat, QuatPlace, "f64", Four> = /* @__PURE__ */ quatOf(
  "quat",
  "f64",
  () => vec3.composite,
  () => mat3.composite,
);
/** Quaternions of f32. */
export const quatf: CompositeToken<Quat, QuatPlace, "f32", Four> = /* @__PURE__ */ quatOf(
  "quatf",
  "f32",
  () => vec3f.composite,
  () => mat3f.composite,
);
