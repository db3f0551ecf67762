import { f64, kernel, sum, view } from "isoform";

/* The BabelStream set. */

export const copy = kernel("copy", { a: view(f64), c: view(f64) }, ({ a, c }, i) => {
  c[i] = a[i];
});

export const mul = kernel("mul", { scalar: f64, b: view(f64), c: view(f64) }, ({ scalar, b, c }, i) => {
  b[i] = scalar * c[i];
});

export const add = kernel("add", { a: view(f64), b: view(f64), c: view(f64) }, ({ a, b, c }, i) => {
  c[i] = a[i] + b[i];
});

export const triad = kernel("triad", { scalar: f64, a: view(f64), b: view(f64), c: view(f64) }, ({ scalar, a, b, c }, i) => {
  a[i] = b[i] + scalar * c[i];
});

export const dot = kernel("dot", { a: view(f64), b: view(f64), result: sum(f64) }, ({ a, b, result }, i) => {
  result.add(a[i] * b[i]);
});

/** Gives three arrays their first values. */
export const init = kernel(
  "init",
  { a0: f64, b0: f64, c0: f64, a: view(f64), b: view(f64), c: view(f64) },
  ({ a0, b0, c0, a, b, c }, i) => {
    a[i] = a0;
    b[i] = b0;
    c[i] = c0;
  },
);
