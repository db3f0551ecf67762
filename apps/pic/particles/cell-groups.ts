import { fixed, i32, teamKernel } from "isoform";
import { cellParams } from "./cells.js";
import { kickInCell } from "../mesh/kick.js";
import type { Mesh } from "../mesh/mesh.js";
import { isPresent } from "../mesh/mesh.js";
import { turnInCell } from "../mesh/motion.js";
import { degreesOf, kickParams, motionOf, motionParams, remembered } from "./particles.js";
import { nearby } from "../mesh/splines.js";

/*
 * The kernels over particles that are sorted by cell, as CPUs like it: a team takes a cell, and its particles in groups, one a lane of vectors. Particles
 * that have left the cell have no part in what their group does, and are moved after it, one by one.
 */

/** Particles of a group: as many as the widest vectors of CPUs have f64. */
export const LANES = 8;

const groupParams = { ...cellParams, lanes: fixed(i32), nearby };

/**
 * The flow H_p along axis a in a mesh of three axes: what `pushKernel` does. Each lane adds up the currents of the cell for itself; they come
 * together at the end. Currents of particles that leave the cell go through `scatter`.
 */
export const pushGroupsKernel = remembered(makePushGroups, motionOf);
function makePushGroups(mesh: Mesh, direction: number) {
  if (!mesh.axes.every(isPresent)) throw new RangeError("particles are sorted by cell where the mesh has three axes");
  return teamKernel(`pushGroups${direction + 1}`, { ...motionParams(mesh, direction, true), ...groupParams, turnInCell }, (p, team) => {
    const { fieldB, fieldC, start, lanes, primitives, upperB, lowerB, upperC, lowerC } = p;
    const [na, nb, nc] = [fieldB.length, fieldB[0].length, fieldB[0][0].length];
    const begin = start[team.index];
    const end = start[team.index + 1];
    const ca = ((team.index / p.strideA) | 0) % na;
    const cb = ((team.index / p.strideB) | 0) % nb;
    const cc = ((team.index / p.strideC) | 0) % nc;

    const entries = primitives.length * upperB.length * upperC.length;
    const nearB = team.scratch("f64", entries);
    const nearC = team.scratch("f64", entries);
    team.range(entries, (k) => {
      const n = p.nearby(ca, primitives.length, na, k % primitives.length);
      const l = p.nearby(cb, upperB.length, nb, ((k / primitives.length) | 0) % upperB.length);
      const m = p.nearby(cc, upperC.length, nc, (k / (primitives.length * upperB.length)) | 0);
      nearB[k] = fieldB[n][l][m];
      nearC[k] = fieldC[n][l][m];
    });
    const currents = team.scratch("f64", lanes * entries);
    team.range(lanes * entries, (k) => {
      currents[k] = 0;
    });

    const leaves = team.scratch("i32", lanes);
    for (let first = begin; first < end; first += lanes) {
      const whole = first + lanes <= end;
      if (whole)
        team.range(lanes, (lane) => {
          const i = first + lane;
          const sb = new Float64Array(upperB.length);
          const tb = new Float64Array(lowerB.length);
          const ib = new Int32Array(upperB.length);
          const sc = new Float64Array(upperC.length);
          const tc = new Float64Array(lowerC.length);
          const ic = new Int32Array(upperC.length);
          p.splinesAt(p.xb[i], p.hb, nb, upperB, lowerB, sb, tb, ib);
          p.splinesAt(p.xc[i], p.hc, nc, upperC, lowerC, sc, tc, ic);
          const before = p.xa[i];
          const after = before + p.dt * p.va[i];
          const from = before / p.ha;
          const to = after / p.ha;
          const here = Math.floor(from) === ca && Math.floor(p.xb[i] / p.hb) === cb && Math.floor(p.xc[i] / p.hc) === cc;
          const stays = here && Math.floor(to) === ca;
          const path = new Float64Array(primitives.length);
          for (let n = 0; n < path.length; n++) {
            const integral = p.ha * (p.pieceAt(primitives, n, to - ca) - p.pieceAt(primitives, n, from - ca));
            path[n] = stays ? integral : 0;
          }
          p.turnInCell(p, i, p.charge * p.w[i], path, sb, tb, sc, tc, nearB, nearC, 0, currents, lane, lanes);
          p.xa[i] = stays ? after : before;
          leaves[lane] = stays ? 0 : 1;
        });
      team.single(() => {
        for (let lane = 0; lane < lanes; lane++) if (first + lane < end && (!whole || leaves[lane] !== 0)) p.pushParticle(p, first + lane);
      });
    }

    team.range(entries, (k) => {
      let sum = 0;
      for (let lane = 0; lane < lanes; lane++) sum += currents[lane + lanes * k];
      const n = p.nearby(ca, primitives.length, na, k % primitives.length);
      const l = p.nearby(cb, upperB.length, nb, ((k / primitives.length) | 0) % upperB.length);
      const m = p.nearby(cc, upperC.length, nc, (k / (primitives.length * upperB.length)) | 0);
      p.j.add(n, l, m, sum);
    });
  });
}

/** The particles' part of the flow H_E in a mesh of three axes: what `kickKernel` does. */
export const kickGroupsKernel = remembered(makeKickGroups, degreesOf);
function makeKickGroups(mesh: Mesh) {
  if (!mesh.axes.every(isPresent)) throw new RangeError("particles are sorted by cell where the mesh has three axes");
  return teamKernel("kickGroups", { ...kickParams(mesh, true), ...groupParams, kickInCell }, (p, team) => {
    const { e1, e2, e3, start, lanes, upperA, lowerA, upperB, lowerB, upperC, lowerC } = p;
    const [na, nb, nc] = [e1.length, e1[0].length, e1[0][0].length];
    const begin = start[team.index];
    const end = start[team.index + 1];
    const ca = ((team.index / p.strideA) | 0) % na;
    const cb = ((team.index / p.strideB) | 0) % nb;
    const cc = ((team.index / p.strideC) | 0) % nc;

    const entries = upperA.length * upperB.length * upperC.length;
    const near1 = team.scratch("f64", entries);
    const near2 = team.scratch("f64", entries);
    const near3 = team.scratch("f64", entries);
    team.range(entries, (k) => {
      const n = p.nearby(ca, upperA.length, na, k % upperA.length);
      const l = p.nearby(cb, upperB.length, nb, ((k / upperA.length) | 0) % upperB.length);
      const m = p.nearby(cc, upperC.length, nc, (k / (upperA.length * upperB.length)) | 0);
      near1[k] = e1[n][l][m];
      near2[k] = e2[n][l][m];
      near3[k] = e3[n][l][m];
    });

    const left = team.scratch("i32", lanes);
    for (let first = begin; first < end; first += lanes) {
      const whole = first + lanes <= end;
      if (whole)
        team.range(lanes, (lane) => {
          const i = first + lane;
          const sa = new Float64Array(upperA.length);
          const ta = new Float64Array(lowerA.length);
          const ia = new Int32Array(upperA.length);
          const sb = new Float64Array(upperB.length);
          const tb = new Float64Array(lowerB.length);
          const ib = new Int32Array(upperB.length);
          const sc = new Float64Array(upperC.length);
          const tc = new Float64Array(lowerC.length);
          const ic = new Int32Array(upperC.length);
          p.splinesAt(p.xa[i], p.ha, na, upperA, lowerA, sa, ta, ia);
          p.splinesAt(p.xb[i], p.hb, nb, upperB, lowerB, sb, tb, ib);
          p.splinesAt(p.xc[i], p.hc, nc, upperC, lowerC, sc, tc, ic);
          const here = Math.floor(p.xa[i] / p.ha) === ca && Math.floor(p.xb[i] / p.hb) === cb && Math.floor(p.xc[i] / p.hc) === cc;
          p.kickInCell(p, i, here ? p.factor : 0, sa, ta, sb, tb, sc, tc, near1, near2, near3);
          left[lane] = here ? 0 : 1;
        });
      team.single(() => {
        for (let lane = 0; lane < lanes; lane++) if (first + lane < end && (!whole || left[lane] !== 0)) p.kickParticle(p, first + lane);
      });
    }
  });
}
