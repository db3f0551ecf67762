/* Random expressions have gfortran's bits: integers, reals of both sizes, conditions, the exact functions. */
import { test } from "node:test";
import { compareWithGfortran, needsGfortran } from "./gfortran.js";

const MANY = 80;
const SEED = 20251;

function randomFrom(seed: number): (below: number) => number {
  let s = seed;
  return (below) => {
    s = (Math.imul(s ^ (s >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let t = Math.imul(s ^ (s >>> 12), 0x297a2d39);
    t = (t ^ (t >>> 15)) >>> 0;
    return t % below;
  };
}

type Kind = "integer" | "real" | "double" | "logical";

/** An expression of a kind; values stay small enough that integers do not overflow, which gfortran leaves open. */
function expression(next: (below: number) => number, kind: Kind, depth: number): string {
  const pick = <T>(list: readonly T[]): T => list[next(list.length)];
  const of = (inner: Kind): string => expression(next, inner, depth - 1);
  const number = (): Kind => pick(["integer", "real", "double"] as const);
  if (depth === 0)
    switch (kind) {
      case "integer":
        return pick(["k(i)", "3", "7", "(-2)", "i"]);
      case "real":
        return pick(["real(x(i))", "0.1", "2.5e-1", "1.", "real(k(i))"]);
      case "double":
        return pick(["x(i)", "0.1d0", "1.25_rk", "dble(k(i))", "x(n + 1 - i)"]);
      case "logical":
        return pick(["x(i) > 0", "k(i) <= 2", ".true.", "x(i) /= x(i)"]);
      default:
        return kind satisfies never;
    }
  switch (kind) {
    case "integer":
      return pick([
        () => `(${of("integer")} + ${of("integer")})`,
        () => `mod(${of("integer")} - ${of("integer")}, 11)`,
        () => `modulo(${of("integer")}, ${pick(["5", "(-7)"])})`,
        () => `(${of("integer")} / ${pick(["2", "(-3)", "(abs(k(i)) + 1)"])})`,
        () => `mod(${of("integer")}, 50) * ${pick(["2", "(-3)", "k(i)"])}`,
        () => `nint(max(-1d3, min(1d3, ${of("double")})))`,
        () => `int(max(-1e3, min(1e3, ${of("real")})))`,
        () => `merge(${of("integer")}, ${of("integer")}, ${of("logical")})`,
        () => `min(${of("integer")}, ${of("integer")}, 40)`,
        () => `sign(${of("integer")}, ${of("integer")})`,
        () => `mod(${of("integer")}, 5)**${pick(["2", "3", "4"])}`,
      ])();
    case "real":
    case "double": {
      const other = kind === "double" ? number() : pick(["integer", "real"] as const);
      const conversion = kind === "double" ? "dble" : "real";
      return pick([
        () => `(${of(kind)} + ${of(other)})`,
        () => `(${of(other)} - ${of(kind)})`,
        () => `(${of(kind)} * ${of(other)})`,
        () => `(${of(kind)} / ${of(other)})`,
        () => `(-${of(kind)})`,
        () => `sqrt(abs(${of(kind)}))`,
        () => `abs(${of(kind)})`,
        // gfortran takes powers of constants at once, and rounds them once.
        () => `(${of(kind)} + ${kind === "double" ? "x(i)" : "real(x(i))"})**${pick(["2", "3", "4", "(-2)"])}`,
        () => `sign(${of(kind)}, ${of(kind)})`,
        () => `aint(max(-1${kind === "double" ? "d" : "e"}6, min(1${kind === "double" ? "d" : "e"}6, ${of(kind)})))`,
        () => `merge(${of(kind)}, ${of(kind)}, ${of("logical")})`,
        () => `${conversion}(${of(number())})`,
      ])();
    }
    case "logical":
      return pick([
        () => `(${of("double")} < ${of(number())})`,
        () => `(${of("integer")} ${pick(["==", "/=", ".ge.", ".lt."])} ${of("integer")})`,
        () => `(${of("logical")} .and. ${of("logical")})`,
        () => `(${of("logical")} .or. .not. (${of("logical")}))`,
        () => `((${of("logical")}) .eqv. (${of("logical")}))`,
      ])();
    default:
      return kind satisfies never;
  }
}

test(`${MANY} random expressions have gfortran's bits`, needsGfortran, async () => {
  const next = randomFrom(SEED);
  const kinds: readonly Kind[] = ["integer", "real", "double", "double"];
  const bodies = Array.from({ length: MANY }, (_, n) => `y(i) = ${expression(next, kinds[n % 4], 1 + (n % 4))}`);
  const x = Float64Array.of(0.3, -1.75, 2.5, 1e-3, -0.5, 12.125, 0.7);
  const k = Int32Array.of(1, -2, 3, 5, -7, 4, 2);
  await compareWithGfortran(new Map(bodies.map((body, n) => [`r${n}`, body])), { x, k }, ["js", "wasm"]);
});
