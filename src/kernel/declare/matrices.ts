import {
  chosenComponent,
  compositeToken,
  dotOf,
  pairwise,
  scaled,
  single,
  totalOf,
  type AnyComposite,
  type CompositeMethod,
  type CompositeToken,
  type CompositeType,
  type ComponentArithmetic,
  type ComponentType,
  type Methods,
} from "./composite.js";
import { vec2, vec2f, vec3, vec3f, vec4, vec4f, type Vec2, type Vec3, type Vec4 } from "./vectors.js";

/* Square matrices of two to four rows, in memory row by row. */

interface Square<M, V> {
  add(b: M): M;
  sub(b: M): M;
  scale(s: number): M;
  neg(): M;
  /** The product; each component is a sum over rising k. */
  mul(b: M): M;
  mul(v: V): V;
  transpose(): M;
  determinant(): number;
  /** The adjugate times 1 / determinant. */
  inverse(): M;
  /** Row k, which may be computed. */
  row(k: number): V;
  column(k: number): V;
  trace(): number;
  at(row: number, column: number): number;
  /** The same matrix with another component. */
  with(row: number, column: number, value: number): M;
}
type Fields2 = "m00" | "m01" | "m10" | "m11";
type Fields3 = Fields2 | "m02" | "m12" | "m20" | "m21" | "m22";
type Fields4 = Fields3 | "m03" | "m13" | "m23" | "m30" | "m31" | "m32" | "m33";
/** A matrix of two rows, of f64 or f32. */
export interface Mat2 extends Square<Mat2, Vec2>, Readonly<Record<Fields2, number>> {}
/** A matrix of three rows, of f64 or f32. */
export interface Mat3 extends Square<Mat3, Vec3>, Readonly<Record<Fields3, number>> {}
/** A matrix of four rows, of f64 or f32. */
export interface Mat4 extends Square<Mat4, Vec4>, Readonly<Record<Fields4, number>> {}
/** An element of an array of matrices, whose components may be assigned one by one. */
export interface Mat2Place extends Square<Mat2, Vec2>, Record<Fields2, number> {}
/** An element of an array of matrices, whose components may be assigned one by one. */
export interface Mat3Place extends Square<Mat3, Vec3>, Record<Fields3, number> {}
/** An element of an array of matrices, whose components may be assigned one by one. */
export interface Mat4Place extends Square<Mat4, Vec4>, Record<Fields4, number> {}

const counted = (n: number): number[] => Array.from({ length: n }, (_, k) => k);
const rowOf = <T>(m: readonly T[], n: number, r: number): T[] => m.slice(r * n, (r + 1) * n);
const columnOf = <T>(m: readonly T[], n: number, c: number): T[] => counted(n).map((r) => m[r * n + c]);

/** The differences of products a d - b c of two rows, for each pair of columns. */
const minorsOf = <T>(by: ComponentArithmetic<T>, upper: readonly T[], lower: readonly T[]): T[] =>
  counted(upper.length).flatMap((p) =>
    counted(upper.length)
      .slice(p + 1)
      .map((q) => by.once(by.sub(by.mul(upper[p], lower[q]), by.mul(upper[q], lower[p])))),
  );

/** x a - y b + z c */
const alternating = <T>(by: ComponentArithmetic<T>, [x, y, z]: readonly T[], [a, b, c]: readonly T[]): T =>
  by.add(by.sub(by.mul(x, a), by.mul(y, b)), by.mul(z, c));

/** The determinant, and the adjugate where it is wanted. */
interface Expanded<T> {
  readonly determinant: T;
  adjugate(): T[];
}

function expand<T>(by: ComponentArithmetic<T>, n: number, given: readonly T[]): Expanded<T> {
  const m = given.map((x) => by.once(x));
  if (n === 2)
    return {
      determinant: by.sub(by.mul(m[0], m[3]), by.mul(m[1], m[2])),
      adjugate: () => [m[3], by.neg(m[1]), by.neg(m[2]), m[0]],
    };
  return n === 3 ? expand3(by, m) : expand4(by, m);
}

function expand3<T>(by: ComponentArithmetic<T>, m: readonly T[]): Expanded<T> {
  const [a, b, c] = [0, 1, 2].map((r) => rowOf(m, 3, r));
  const [c01, c02, c12] = minorsOf(by, b, c);
  return {
    determinant: alternating(by, a, [c12, c02, c01]),
    adjugate() {
      const [b01, b02, b12] = minorsOf(by, a, c);
      const [a01, a02, a12] = minorsOf(by, a, b);
      return [c12, by.neg(b12), a12, by.neg(c02), b02, by.neg(a02), c01, by.neg(b01), a01];
    },
  };
}

/** From the six minors of the upper two rows and the six of the lower two. */
function expand4<T>(by: ComponentArithmetic<T>, m: readonly T[]): Expanded<T> {
  const rows = counted(4).map((r) => rowOf(m, 4, r));
  const s = minorsOf(by, rows[0], rows[1]);
  const c = minorsOf(by, rows[2], rows[3]);
  const [s01, s02, s03, s12, s13, s23] = s;
  const [c01, c02, c03, c12, c13, c23] = c;
  const first = alternating(by, [s01, s02, s03], [c23, c13, c12]);
  const second = alternating(by, [s12, s13, s23], [c03, c02, c01]);
  /** The signed cofactors of a row with the minors of the other two rows. */
  const cofactors = ([p, q, r, t]: readonly T[], [m01, m02, m03, m12, m13, m23]: readonly T[]): T[] => [
    alternating(by, [q, r, t], [m23, m13, m12]),
    by.neg(alternating(by, [p, r, t], [m23, m03, m02])),
    alternating(by, [p, q, t], [m13, m03, m01]),
    by.neg(alternating(by, [p, q, r], [m12, m02, m01])),
  ];
  return {
    determinant: by.add(first, second),
    adjugate() {
      const columns = [cofactors(rows[1], c), cofactors(rows[0], c).map(by.neg), cofactors(rows[3], s), cofactors(rows[2], s).map(by.neg)];
      return counted(16).map((k) => columns[k % 4][k >> 2]);
    },
  };
}

function methodsOf(n: number, vector: () => CompositeType): Methods {
  const place = n;
  const byVector: CompositeMethod = {
    takes: [vector],
    gives: vector,
    apply(by, m, v) {
      const held = v.map((x) => by.once(x));
      return counted(n).map((r) => dotOf(by, rowOf(m, n, r), held));
    },
  };
  return {
    add: pairwise("add"),
    sub: pairwise("sub"),
    scale: scaled,
    neg: single("neg"),
    mul: {
      takes: ["self"],
      apply(by, c, d) {
        const [a, b] = [c, d].map((list) => list.map((x) => by.once(x)));
        return counted(n * n).map((k) => dotOf(by, rowOf(a, n, Math.floor(k / n)), columnOf(b, n, k % n)));
      },
      or: byVector,
    },
    transpose: { takes: [], apply: (_, m) => counted(n).flatMap((c) => columnOf(m, n, c)) },
    determinant: { takes: [], apply: (by, m) => expand(by, n, m).determinant },
    inverse: {
      takes: [],
      apply(by, m) {
        const { determinant, adjugate } = expand(by, n, m);
        const s = by.once(by.div(by.number(1), determinant));
        return adjugate().map((x) => by.mul(x, s));
      },
    },
    row: { takes: [place], gives: vector, apply: (by, m, [k]) => counted(n).map((c) => chosenComponent(by, columnOf(m, n, c), k)) },
    column: { takes: [place], gives: vector, apply: (by, m, [k]) => counted(n).map((r) => chosenComponent(by, rowOf(m, n, r), k)) },
    trace: {
      takes: [],
      apply: (by, m) =>
        totalOf(
          by,
          counted(n).map((k) => m[k * n + k]),
        ),
    },
    with: {
      takes: [place, place, "number"],
      apply: (by, m, [r, c, s]) => m.map((x, k) => by.choose(r, Math.floor(k / n), by.choose(c, k % n, s, x), x)),
    },
    at: {
      takes: [place, place],
      apply: (by, m, [r, c]) =>
        chosenComponent(
          by,
          counted(n).map((k) => chosenComponent(by, rowOf(m, n, k), c)),
          r,
        ),
    },
  };
}

function matrix<V, P, T extends ComponentType, A extends unknown[]>(
  name: string,
  element: T,
  n: number,
  vector: () => AnyComposite,
): CompositeToken<V, P, T, A> {
  const fields = counted(n * n).map((k) => `m${Math.floor(k / n)}${k % n}`);
  return compositeToken({ name, element, fields, axes: [n, n], methods: methodsOf(n, () => vector().composite) });
}

/* Arguments of constructors: components row by row, or rows. */
type Row2 = Vec2 | readonly [number, number];
type Row3 = Vec3 | readonly [number, number, number];
type Row4 = Vec4 | readonly [number, number, number, number];
type Four = [m00: number, m01: number, m10: number, m11: number];
type Nine = [m00: number, m01: number, m02: number, m10: number, m11: number, m12: number, m20: number, m21: number, m22: number];
type Sixteen = [...Four, ...Four, ...Four, ...Four];

/** Matrices of two rows, of f64, as `vec2`: `mat2(m00, m01, m10, m11)`, or `mat2(row0, row1)`. */
export const mat2: CompositeToken<Mat2, Mat2Place, "f64", Four | [Row2, Row2]> = /* @__PURE__ */ matrix("mat2", "f64", 2, () => vec2);
/** Matrices of three rows, of f64, as `mat2`. */
export const mat3: CompositeToken<Mat3, Mat3Place, "f64", Nine | [Row3, Row3, Row3]> = /* @__PURE__ */ matrix("mat3", "f64", 3, () => vec3);
/** Matrices of four rows, of f64, as `mat2`. */
export const mat4: CompositeToken<Mat4, Mat4Place, "f64", Sixteen | [Row4, Row4, Row4, Row4]> = /* @__PURE__ */ matrix(
  "mat4",
  "f64",
  4,
  () => vec4,
);
/** Matrices of two rows, of f32, as `mat2`. */
export const mat2f: CompositeToken<Mat2, Mat2Place, "f32", Four | [Row2, Row2]> = /* @__PURE__ */ matrix("mat2f", "f32", 2, () => vec2f);
/** Matrices of three rows, of f32, as `mat2`. */
export const mat3f: CompositeToken<Mat3, Mat3Place, "f32", Nine | [Row3, Row3, Row3]> = /* @__PURE__ */ matrix(
  "mat3f",
  "f32",
  3,
  () => vec3f,
);
/** Matrices of four rows, of f32, as `mat2`. */
export const mat4f: CompositeToken<Mat4, Mat4Place, "f32", Sixteen | [Row4, Row4, Row4, Row4]> = /* @__PURE__ */ matrix(
  "mat4f",
  "f32",
  4,
  () => vec4f,
);
