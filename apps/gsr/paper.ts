import type { Kernel, LaunchOptions, Params, Policy, Args } from "isoform";
import { range, teams } from "isoform";
import { a1Astro, a1Att, a1Constraints, a1Glob, a1Instr } from "./kernels.js";
import { a2Astro, a2Att, a2Constraints, a2Glob, a2Instr, addGlobal, STAR_TEAM } from "./kernels.js";
import type { Bidiagonalisation, Step } from "./lsqr.js";
import type { Shape } from "./shape.js";
import { constrained, unknowns } from "./system.js";
import type { Share } from "./tiles.js";
import { scale, squaredNorm } from "./vectors.js";

/** The six kernels whose times the paper reports, and the global section's two where the system has one. */
export const paperKernels = ({ globals }: Shape): string[] =>
  [a1Astro, a1Att, a1Instr, a2Astro, a2Att, a2Instr, ...(globals ? [a1Glob, a2Glob] : [])].map((kernel) => kernel.name);

/** The paper's form: each section of each product is a kernel of its own, vectors are scaled and measured between them. */
export function paperForm({ member, system, vectors, scalars }: Share, options: LaunchOptions): Bidiagonalisation {
  const { device, shape, byRow, byColumn } = system;
  const [u, v, w] = [vectors.u.at(1, 0), vectors.v.at(1, 0), vectors.w.at(1, 0)];
  const queue = member.queue(0);
  const step = <P extends Params>(kernel: Kernel<P>, args: Args<P>, policy: Policy, name = kernel.name): Step => ({
    name,
    queue,
    launch: device.prepare(kernel, args, policy, options),
  });
  const each = range(shape.observations);
  const b = u.slice([0, shape.observations]);
  const c = u.slice([shape.observations, u.length]);
  const x = unknowns(shape, v);
  const bound = constrained(system, v);
  const product = scalars.at("globalProduct");
  const transpose = [
    step(scale, { factor: scalars.at("inverseBeta"), x: u }, range(u.length), "normaliseU"),
    step(scale, { factor: scalars.at("minusBeta"), x: v }, range(v.length), "scaleV"),
    step(a2Astro, { a: system.astrometric, starRow: system.starRow, u: b, v: x.astrometric }, teams(shape.stars, { size: STAR_TEAM })),
    step(a2Att, { a: system.attitude, knot: system.knot, u: b, v: x.attitude }, each),
    step(a2Instr, { a: system.instrument, column: system.column, u: b, v: x.instrument }, each),
    ...(system.global && x.global
      ? [step(a2Glob, { g: system.global, u: b, product }, each), step(addGlobal, { product, v: x.global }, range(1))]
      : []),
    step(a2Constraints, { columnStart: byColumn.start, row: byColumn.index, a: byColumn.values, u: c, v: bound }, range(bound.length)),
    step(squaredNorm, { x: v, result: scalars.at("alphaSquared") }, range(v.length), "normV"),
  ];
  return {
    start: { squares: [step(squaredNorm, { x: u, result: scalars.at("betaSquared") }, range(u.length), "normU")], product: transpose },
    forward: [
      step(scale, { factor: scalars.at("minusAlpha"), x: u }, range(u.length), "scaleU"),
      step(a1Astro, { a: system.astrometric, star: system.star, x: x.astrometric, b }, each),
      step(a1Att, { a: system.attitude, knot: system.knot, x: x.attitude, b }, each),
      step(a1Instr, { a: system.instrument, column: system.column, x: x.instrument, b }, each),
      ...(system.global && x.global ? [step(a1Glob, { g: system.global, x: x.global, b }, each)] : []),
      step(a1Constraints, { rowStart: byRow.start, column: byRow.index, a: byRow.values, x: bound, b: c }, teams(c.length)),
      step(squaredNorm, { x: u, result: scalars.at("betaSquared") }, range(u.length), "normU"),
      step(squaredNorm, { x: w, result: scalars.at("wSquares") }, range(w.length), "normW"),
    ],
    transpose,
  };
}
