import {
  compositeToken,
  dotOf,
  lengthOf,
  pairwise,
  scaled,
  single,
  type CompositeToken,
  type ComponentType,
  type Methods,
} from "./composite.js";

/* Complex numbers. */

interface ComplexMethods {
  add(b: Complex): Complex;
  sub(b: Complex): Complex;
  mul(b: Complex): Complex;
  /** The product with b's conjugate, over b's square. */
  div(b: Complex): Complex;
  scale(s: number): Complex;
  neg(): Complex;
  conj(): Complex;
  /** The root of the sum of squares. */
  abs(): number;
  /** From -pi to pi. */
  arg(): number;
  exp(): Complex;
}
/** A complex number, of f64 or f32. */
export interface Complex extends ComplexMethods {
  readonly re: number;
  readonly im: number;
}
/** An element of an array of complex numbers, whose parts may be assigned one by one. */
export interface ComplexPlace extends ComplexMethods {
  re: number;
  im: number;
}

const methods = (): Methods => ({
  add: pairwise("add"),
  sub: pairwise("sub"),
  scale: scaled,
  neg: single("neg"),
  conj: { takes: [], apply: (by, [re, im]) => [re, by.neg(im)] },
  abs: { takes: [], apply: lengthOf },
  arg: { takes: [], apply: (by, [re, im]) => by.atan2(im, re) },
  mul: {
    takes: ["self"],
    apply(by, p, q) {
      const [[a, b], [c, d]] = [p, q].map((list) => list.map((x) => by.once(x)));
      return [by.sub(by.mul(a, c), by.mul(b, d)), by.add(by.mul(a, d), by.mul(b, c))];
    },
  },
  div: {
    takes: ["self"],
    apply(by, p, q) {
      const [[a, b], [c, d]] = [p, q].map((list) => list.map((x) => by.once(x)));
      const square = by.once(dotOf(by, [c, d], [c, d]));
      return [by.div(by.add(by.mul(a, c), by.mul(b, d)), square), by.div(by.sub(by.mul(b, c), by.mul(a, d)), square)];
    },
  },
  exp: {
    takes: [],
    apply(by, [re, im]) {
      const [size, angle] = [by.once(by.exp(re)), by.once(im)];
      return [by.mul(size, by.cos(angle)), by.mul(size, by.sin(angle))];
    },
  },
});

const complexOf = <T extends ComponentType>(name: string, element: T): CompositeToken<Complex, ComplexPlace, T, [re: number, im: number]> =>
  compositeToken({ name, element, fields: ["re", "im"], axes: [2], methods: methods() });

/** Complex numbers of f64, as `vec2`: `complex(re, im)`. */
export const complex: CompositeToken<Complex, ComplexPlace, "f64", [re: number, im: number]> = /* @__PURE__ */ complexOf("complex", "f64");
/** Complex numbers of f32. */
export const complexf: CompositeToken<Complex, ComplexPlace, "f32", [re: number, im: number]> = /* @__PURE__ */ complexOf(
  "complexf",
  "f32",
);
