import { fixed, i32, teamKernel, view } from "isoform";
import type { Mesh } from "../mesh/mesh.js";
import { isPresent } from "../mesh/mesh.js";
import { turnInCell } from "../mesh/motion.js";
import { motionOf, motionParams, remembered } from "./particles.js";
import { nearby } from "../mesh/splines.js";

/** Members of a team on a GPU: their currents have room in shared memory beside each other. */
export const TEAM_MEMBERS = 64;
/** Teams of a cell, enough to fill a GPU. */
export const PARTS = 4;

/** Particles that are sorted by cell: the particles of cell c = strideA c_a + strideB c_b + strideC c_c are start[c] to start[c + 1] - 1. */
export const cellParams = { start: view(i32), strideA: i32, strideB: i32, strideC: i32 };

/**
 * The flow H_p along axis a for particles that are sorted by cell, in a mesh of three axes: what `pushKernel` does. A team takes its part of a
 * cell's particles. The coefficients of the magnetic field there lie in scratch memory, and each member gathers the currents of the cell in
 * private sums, which the team adds up once. Particles that leave the cell, or had left it before, come last, and go through `scatter`.
 */
export const pushCellsKernel = remembered(makePushCells, motionOf);
function makePushCells(mesh: Mesh, direction: number) {
  if (!mesh.axes.every(isPresent)) throw new RangeError("particles are sorted by cell where the mesh has three axes");
  return teamKernel(
    `pushCells${direction + 1}`,
    {
      ...motionParams(mesh, direction, true),
      ...cellParams,
      /** Teams of a cell, and the most members that one may have. */
      parts: i32,
      members: fixed(i32),
      /** Room for a number a particle: those that come last, each member's at the places of its own particles. */
      later: view(i32, 1, { disjoint: true }),
      nearby,
      turnInCell,
    },
    (p, team) => {
      const { fieldB, fieldC, start, parts, later, primitives, upperB, lowerB, upperC, lowerC } = p;
      const [na, nb, nc] = [fieldB.length, fieldB[0].length, fieldB[0][0].length];
      const cell = (team.index / parts) | 0;
      const each = ((start[cell + 1] - start[cell] + parts - 1) / parts) | 0;
      const begin = start[cell] + (team.index % parts) * each;
      const end = Math.min(begin + each, start[cell + 1]);
      const ca = ((cell / p.strideA) | 0) % na;
      const cb = ((cell / p.strideB) | 0) % nb;
      const cc = ((cell / p.strideC) | 0) % nc;

      // Entry n + p (l + (p + 1) m) belongs to the splines n, l, m of those that are not zero here.
      const entries = primitives.length * upperB.length * upperC.length;
      // Twice, for odd and even particles: so it stays in scratch memory, where compilers would take it into registers that the sums need.
      const nearB = team.scratch("f64", 2 * entries);
      const nearC = team.scratch("f64", 2 * entries);
      team.range(2 * entries, (k) => {
        const n = p.nearby(ca, primitives.length, na, k % primitives.length);
        const l = p.nearby(cb, upperB.length, nb, ((k / primitives.length) | 0) % upperB.length);
        const m = p.nearby(cc, upperC.length, nc, ((k / (primitives.length * upperB.length)) | 0) % upperC.length);
        nearB[k] = fieldB[n][l][m];
        nearC[k] = fieldC[n][l][m];
      });

      // One more than the entries each, so that equal entries of the members lie in different banks.
      const currents = team.scratch("f64", p.members * (entries + 1));
      team.range(team.size, (member) => {
        const sums = new Float64Array(entries);
        const sb = new Float64Array(upperB.length);
        const tb = new Float64Array(lowerB.length);
        const ib = new Int32Array(upperB.length);
        const sc = new Float64Array(upperC.length);
        const tc = new Float64Array(lowerC.length);
        const ic = new Int32Array(upperC.length);
        const path = new Float64Array(primitives.length);
        let waiting = 0;
        for (let i = begin + member; i < end; i += team.size) {
          const before = p.xa[i];
          const after = before + p.dt * p.va[i];
          const first = before / p.ha;
          const last = after / p.ha;
          const stays = Math.floor(first) === ca && Math.floor(last) === ca;
          if (stays && Math.floor(p.xb[i] / p.hb) === cb && Math.floor(p.xc[i] / p.hc) === cc) {
            p.splinesAt(p.xb[i], p.hb, nb, upperB, lowerB, sb, tb, ib);
            p.splinesAt(p.xc[i], p.hc, nc, upperC, lowerC, sc, tc, ic);
            const weight = p.charge * p.w[i];
            for (let n = 0; n < path.length; n++)
              path[n] = p.ha * (p.pieceAt(primitives, n, last - ca) - p.pieceAt(primitives, n, first - ca));
            const copy = (i & 1) * entries;
            p.turnInCell(p, i, weight, path, sb, tb, sc, tc, nearB, nearC, copy, sums, 0, 1);
            p.xa[i] = after;
          } else {
            later[begin + member + waiting * team.size] = i;
            waiting++;
          }
        }
        for (let k = 0; k < entries; k++) currents[member * (entries + 1) + k] = sums[k];
        for (let n = 0; n < waiting; n++) p.pushParticle(p, later[begin + member + n * team.size]);
      });
      team.range(entries, (k) => {
        let sum = 0;
        for (let member = 0; member < team.size; member++) sum += currents[member * (entries + 1) + k];
        const n = p.nearby(ca, primitives.length, na, k % primitives.length);
        const l = p.nearby(cb, upperB.length, nb, ((k / primitives.length) | 0) % upperB.length);
        const m = p.nearby(cc, upperC.length, nc, (k / (primitives.length * upperB.length)) | 0);
        p.j.add(n, l, m, sum);
      });
    },
  );
}
