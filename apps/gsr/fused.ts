import type { Args, Kernel, LaunchOptions, Params, Policy, View } from "isoform";
import { bool, f64, fixed, i32, kernel, range, scatter, sum, teamKernel, teams, view } from "isoform";
import { a2Astro, a2Att, a2Constraints, a2Instr } from "./kernels.js";
import type { Bidiagonalisation, Step, Vectors } from "./lsqr.js";
import type { Scalars } from "./scalars.js";
import type { Shape } from "./shape.js";
import { ATTITUDE, KNOTS, sections } from "./shape.js";
import type { System } from "./system.js";
import { unknowns } from "./system.js";

/*
 * The fused form. Dividing by beta is linear, so u is kept unscaled (beta times the u of the paper form) and one sweep over the rows
 * computes u := A v - (alpha/beta) u, its norm, and A^T u: each coefficient is read once an iteration.
 */

/** A team a star. `tAtt` takes part only where `scatterAttitude` is true. */
const sweep = teamKernel(
  "sweep",
  {
    scatterAttitude: fixed(bool),
    astrometric: view(f64, 2),
    attitude: view(f64, 2),
    instrument: view(f64, 2),
    knot: view(i32),
    column: view(i32, 2),
    starRow: view(i32),
    shift: view(f64),
    xAstro: view(f64, 2),
    xAtt: view(f64, 2),
    xInstr: view(f64),
    u: view(f64, 1, { disjoint: true }),
    tAstro: view(f64, 2),
    tAtt: scatter(f64, 2),
    tInstr: scatter(f64),
    squares: sum(f64),
  },
  (
    {
      scatterAttitude,
      astrometric,
      attitude,
      instrument,
      knot,
      column,
      starRow,
      shift,
      xAstro,
      xAtt,
      xInstr,
      u,
      tAstro,
      tAtt,
      tInstr,
      squares,
    },
    team,
  ) => {
    const star = team.index;
    const begin = starRow[star];
    const factor = shift[0];
    const x0 = xAstro[star][0];
    const x1 = xAstro[star][1];
    const x2 = xAstro[star][2];
    const x3 = xAstro[star][3];
    const x4 = xAstro[star][4];
    const sums = team.reduce(
      starRow[star + 1] - begin,
      { s0: "sum", s1: "sum", s2: "sum", s3: "sum", s4: "sum", squares: "sum" },
      (j, r) => {
        const i = begin + j;
        const a0 = astrometric[i][0];
        const a1 = astrometric[i][1];
        const a2 = astrometric[i][2];
        const a3 = astrometric[i][3];
        const a4 = astrometric[i][4];
        const att = new Float64Array(12);
        const instr = new Float64Array(6);
        const first = knot[i];
        // Short sums, so that no long chain of additions holds up the sweep.
        let t = factor * u[i] + (a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4);
        for (let axis = 0; axis < 3; axis++) {
          let part = 0;
          for (let k = 0; k < 4; k++) {
            att[4 * axis + k] = attitude[i][4 * axis + k];
            part += att[4 * axis + k] * xAtt[axis][first + k];
          }
          t += part;
        }
        let part = 0;
        for (let k = 0; k < 6; k++) {
          instr[k] = instrument[i][k];
          part += instr[k] * xInstr[column[i][k]];
        }
        t += part;
        u[i] = t;
        r.squares.add(t * t);
        r.s0.add(a0 * t);
        r.s1.add(a1 * t);
        r.s2.add(a2 * t);
        r.s3.add(a3 * t);
        r.s4.add(a4 * t);
        for (let k = 0; k < 6; k++) tInstr.add(column[i][k], instr[k] * t);
        if (scatterAttitude) {
          for (let axis = 0; axis < 3; axis++) {
            for (let k = 0; k < 4; k++) tAtt.add(axis, first + k, att[4 * axis + k] * t);
          }
        }
      },
    );
    tAstro[star][0] = sums.s0;
    tAstro[star][1] = sums.s1;
    tAstro[star][2] = sums.s2;
    tAstro[star][3] = sums.s3;
    tAstro[star][4] = sums.s4;
    squares.add(sums.squares);
  },
);

const sweepConstraints = teamKernel(
  "sweepConstraints",
  { rowStart: view(i32), column: view(i32), a: view(f64), shift: view(f64), x: view(f64), u: view(f64), squares: sum(f64) },
  ({ rowStart, column, a, shift, x, u, squares }, team) => {
    const first = rowStart[team.index];
    const product = team.sum(rowStart[team.index + 1] - first, (j) => a[first + j] * x[column[first + j]]);
    const t = shift[0] * u[team.index] + product;
    u[team.index] = t;
    squares.add(t * t);
  },
);

/** v := A^T u / beta - beta v from t = A^T (beta u), which is left zero for the next sweep. */
const combine = kernel(
  "combine",
  { inverseBeta: view(f64), minusBeta: view(f64), t: view(f64), v: view(f64), squares: sum(f64) },
  ({ inverseBeta, minusBeta, t, v, squares }, j) => {
    const next = t[j] * inverseBeta[0] + v[j] * minusBeta[0];
    t[j] = 0;
    v[j] = next;
    squares.add(next * next);
  },
);

/* Attitude from a copy sorted by knot: no two groups share a sum, so nothing is added atomically. */

const gatherRows = kernel("gatherRows", { order: view(i32), a: view(f64, 2), sorted: view(f64, 2) }, ({ order, a, sorted }, e) => {
  const row = order[e];
  for (let k = 0; k < 12; k++) sorted[e][k] = a[row][k];
});

/** A team a group of rows with one start knot: the twelve sums of its coefficients times u. */
const attitudeGroups = teamKernel(
  "attitudeGroups",
  { a: view(f64, 2), order: view(i32), start: view(i32), u: view(f64), sums: view(f64, 2) },
  ({ a, order, start, u, sums }, team) => {
    const g = team.index;
    const first = start[g];
    const s = team.reduce(
      start[g + 1] - first,
      {
        s0: "sum",
        s1: "sum",
        s2: "sum",
        s3: "sum",
        s4: "sum",
        s5: "sum",
        s6: "sum",
        s7: "sum",
        s8: "sum",
        s9: "sum",
        s10: "sum",
        s11: "sum",
      },
      (j, r) => {
        const e = first + j;
        const t = u[order[e]];
        r.s0.add(a[e][0] * t);
        r.s1.add(a[e][1] * t);
        r.s2.add(a[e][2] * t);
        r.s3.add(a[e][3] * t);
        r.s4.add(a[e][4] * t);
        r.s5.add(a[e][5] * t);
        r.s6.add(a[e][6] * t);
        r.s7.add(a[e][7] * t);
        r.s8.add(a[e][8] * t);
        r.s9.add(a[e][9] * t);
        r.s10.add(a[e][10] * t);
        r.s11.add(a[e][11] * t);
      },
    );
    sums[g][0] = s.s0;
    sums[g][1] = s.s1;
    sums[g][2] = s.s2;
    sums[g][3] = s.s3;
    sums[g][4] = s.s4;
    sums[g][5] = s.s5;
    sums[g][6] = s.s6;
    sums[g][7] = s.s7;
    sums[g][8] = s.s8;
    sums[g][9] = s.s9;
    sums[g][10] = s.s10;
    sums[g][11] = s.s11;
  },
);

/** Each knot of each axis from the four groups that reach it. */
const attitudeKnots = kernel("attitudeKnots", { sums: view(f64, 2), groups: i32, t: view(f64, 2) }, ({ sums, groups, t }, axis, knot) => {
  let total = 0;
  for (let k = 0; k < 4; k++) {
    const group = knot - k;
    if (group >= 0 && group < groups) total += sums[group][4 * axis + k];
  }
  t[axis][knot] += total;
});

/** Members of a team for the groups: about as many as a group has rows in systems that fill a GPU. */
const GROUP_TEAM = 32;

/** Device memory of the form beside the system and the solver's vectors. */
export const fusedFootprint = (shape: Shape, sorted: boolean): number =>
  8 * sections(shape).unknowns + (sorted ? shape.observations * (8 * ATTITUDE + 4) + shape.knots * (8 * ATTITUDE + 4) : 0);

/**
 * One sweep for A v, the norm and A^T u. With `sorted` the attitude's share of A^T u comes from a copy of its coefficients sorted by
 * knot, which pays where many atomic additions cost more than reading the coefficients again.
 */
export async function fusedForm(
  system: System,
  { u, v }: Vectors,
  scalars: Scalars,
  options: LaunchOptions,
  sorted: boolean,
): Promise<Bidiagonalisation> {
  const { device, shape, byRow, byColumn } = system;
  const step = <P extends Params>(k: Kernel<P>, args: Args<P>, policy: Policy): Step => ({
    name: k.name,
    launch: device.prepare(k, args, policy, options),
  });
  const all = device.array(f64, v.length);
  const t = unknowns(shape, all);
  const x = unknowns(shape, v);
  const each = range(shape.observations);
  const rows = u.slice([0, shape.observations]);
  const constraints = u.slice([shape.observations, u.length]);
  const shift = scalars.at("minusRatio");
  const attitude = sorted ? await sortedAttitude(system, options) : undefined;
  const transpose = [
    ...(attitude?.steps(rows, t.attitude) ?? []),
    step(
      a2Constraints,
      { columnStart: byColumn.start, row: byColumn.index, a: byColumn.values, u: constraints, v: t.instrument },
      range(t.instrument.length),
    ),
    step(
      combine,
      { inverseBeta: scalars.at("inverseBeta"), minusBeta: scalars.at("minusBeta"), t: all, v, squares: scalars.at("alphaSquared") },
      range(v.length),
    ),
  ];
  return {
    start: [
      step(a2Astro, { a: system.astrometric, starRow: system.starRow, u: rows, v: t.astrometric }, teams(shape.stars)),
      step(a2Instr, { a: system.instrument, column: system.column, u: rows, v: t.instrument }, each),
      ...(sorted ? [] : [step(a2Att, { a: system.attitude, knot: system.knot, u: rows, v: t.attitude }, each)]),
      ...transpose,
    ],
    forward: [
      step(
        sweep,
        {
          scatterAttitude: !sorted,
          astrometric: system.astrometric,
          attitude: system.attitude,
          instrument: system.instrument,
          knot: system.knot,
          column: system.column,
          starRow: system.starRow,
          shift,
          xAstro: x.astrometric,
          xAtt: x.attitude,
          xInstr: x.instrument,
          u: rows,
          tAstro: t.astrometric,
          tAtt: t.attitude,
          tInstr: t.instrument,
          squares: scalars.at("betaSquared"),
        },
        teams(shape.stars),
      ),
      step(
        sweepConstraints,
        {
          rowStart: byRow.start,
          column: byRow.index,
          a: byRow.values,
          shift,
          x: x.instrument,
          u: constraints,
          squares: scalars.at("betaSquaredConstraints"),
        },
        teams(constraints.length),
      ),
    ],
    transpose,
    reset: () => device.queue.clear(all),
    free: () => {
      all.free();
      attitude?.free();
    },
  };
}

async function sortedAttitude(
  { device, shape, attitude, knot }: System,
  options: LaunchOptions,
): Promise<{ steps(u: View<"f64">, t: View<"f64">): Step[]; free(): void }> {
  const groups = shape.knots - KNOTS + 1;
  const groupOf = (await device.queue.read(knot)) as Int32Array;
  const start = new Int32Array(groups + 1);
  for (const g of groupOf) start[g + 1]++;
  for (let g = 0; g < groups; g++) start[g + 1] += start[g];
  const next = start.slice();
  const order = new Int32Array(groupOf.length);
  groupOf.forEach((g, row) => (order[next[g]++] = row));

  const arrays = {
    order: device.from(i32, order),
    start: device.from(i32, start),
    sorted: device.array(f64, attitude.shape, { layout: attitude.contiguous ? "right" : "left" }),
    sums: device.array(f64, [groups, ATTITUDE]),
  };
  await device.run(gatherRows, { order: arrays.order, a: attitude, sorted: arrays.sorted }, range(order.length), options);
  return {
    steps: (u, t) => [
      {
        name: attitudeGroups.name,
        launch: device.prepare(
          attitudeGroups,
          { a: arrays.sorted, order: arrays.order, start: arrays.start, u, sums: arrays.sums },
          teams(groups, { size: GROUP_TEAM }),
          options,
        ),
      },
      { name: attitudeKnots.name, launch: device.prepare(attitudeKnots, { sums: arrays.sums, groups, t }, range(3, shape.knots), options) },
    ],
    free: () => Object.values(arrays).forEach((array) => array.free()),
  };
}
