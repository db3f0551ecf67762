import type { Args, Kernel, Params, Policy } from "isoform";
import { f64, i32, kernel, range, scatter, view } from "isoform";
import { a1Astro, a1Att, a1Glob, a1Instr, a2Att, a2Instr } from "./kernels.js";
import type { Step } from "./lsqr.js";
import { globalShare } from "./sweep.js";
import { unknowns } from "./system.js";
import type { SharePart, Tile } from "./tiles.js";
import { scale, squaredNorms } from "./vectors.js";

/*
 * Products of a tile's rows with their coefficients in f64, for residuals of solutions that an iteration with other coefficients has found. They run a few times in
 * a solution, in any order of rows, and need no copies.
 */

/** Prepares a launch on a member's device. */
export type MakeStep = <P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy) => Step;

/** The stars' share of A^T u, row by row: rows may be in any order. */
const a2Rows = kernel("a2Rows", { a: view(f64, 2), star: view(i32), u: view(f64), v: scatter(f64, 2) }, ({ a, star, u, v }, i) => {
  const s = star[i];
  const t = u[i];
  for (let k = 0; k < 5; k++) v.add(s, k, a[i][k] * t);
});

/** u := A v - (alpha/beta) u, with its sum of squares; for one side. */
export function exactProduct({ share, at }: SharePart, { rows, u, leaf }: Tile, step: MakeStep): Step[] {
  const { astrometric: a, attitude, instrument, star, knot, column, global: g } = rows;
  const v = unknowns(share.system.shape, share.vectors.v);
  const b = u.at(1, 0);
  const each = range(rows.shape.observations);
  return [
    step(scale, { factor: at("minusRatio"), x: b }, each),
    step(a1Astro, { a, star, x: v.astrometric.at(2, 0), b }, each),
    step(a1Att, { a: attitude, knot, x: v.attitude.at(2, 0), b }, each),
    step(a1Instr, { a: instrument, column, x: v.instrument.at(1, 0), b }, each),
    ...(g && v.global ? [step(a1Glob, { g, x: v.global.at(1, 0), b }, each)] : []),
    step(squaredNorms(1), { x: u, result: leaf.at("betaSquared") }, each),
  ];
}

/** t = A^T u, added to zeros, and |u|^2; for one side. */
export function exactTranspose({ share }: SharePart, { rows, u, leaf }: Tile, step: MakeStep): Step[] {
  const { shape } = share.system;
  const { attitude, instrument, global } = leaf.shared;
  const t = unknowns(shape, share.vectors.ahead!);
  const of = { star: rows.star, knot: rows.knot, column: rows.column, u: u.at(1, 0) };
  const each = range(rows.shape.observations);
  return [
    step(squaredNorms(1), { x: u, result: leaf.at("betaSquared") }, each),
    step(a2Rows, { a: rows.astrometric, star: of.star, u: of.u, v: t.astrometric.at(2, 0) }, each),
    step(a2Att, { a: rows.attitude, knot: of.knot, u: of.u, v: attitude.at(2, 0) }, each),
    step(a2Instr, { a: rows.instrument, column: of.column, u: of.u, v: instrument.at(1, 0) }, each),
    ...(rows.global && global ? [step(globalShare(1), { g: rows.global, u, product: global.at(0, 0) }, each)] : []),
  ];
}
