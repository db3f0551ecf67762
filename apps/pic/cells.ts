import type { Device, View } from "isoform";
import { fixed, i32, teamKernel, teams, view } from "isoform";
import type { Mesh } from "./mesh.js";
import { cellSize, cyclic, dofs, isPresent } from "./mesh.js";
import { motionOf, motionParams, remembered } from "./particles.js";
import type { Particles } from "./species.js";
import { wrapped } from "./splines.js";

/** Members of a team on a GPU: their currents have room in shared memory beside each other. */
export const MEMBERS = 64;
/** Teams of a cell, so that there are enough to fill a GPU. */
const PARTS = 4;

/** Particles that are sorted by cell. */
export interface Cells {
  /** Those of cell c = c_a + N_a (c_b + N_b c_c) are `start[c]` to `start[c + 1] - 1`. */
  readonly start: View<"i32", 1>;
  /** Room for a number a particle. */
  readonly later: View<"i32", 1>;
}

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
      start: view(i32),
      /** Teams of a cell, and the most members that one may have. */
      parts: i32,
      members: fixed(i32),
      /** Room for a number a particle: those that come last, each member's at the places of its own particles. */
      later: view(i32, 1, { disjoint: true }),
      nearby,
    },
    (p, team) => {
      const { fieldB, fieldC, start, parts, later, primitives, upperB, lowerB, upperC, lowerC } = p;
      const [na, nb, nc] = [fieldB.length, fieldB[0].length, fieldB[0][0].length];
      const cell = (team.index / parts) | 0;
      const each = ((start[cell + 1] - start[cell] + parts - 1) / parts) | 0;
      const begin = start[cell] + (team.index % parts) * each;
      const end = Math.min(begin + each, start[cell + 1]);
      const ca = cell % na;
      const cb = ((cell / na) | 0) % nb;
      const cc = (cell / (na * nb)) | 0;

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
            let turnB = 0;
            let turnC = 0;
            for (let m = 0; m < sc.length; m++) {
              let sumB = 0;
              let sumC = 0;
              for (let l = 0; l < sb.length; l++) {
                const s = sb[l] * sc[m] * weight;
                let f = 0;
                let g = 0;
                for (let n = 0; n < path.length; n++) {
                  const k = n + path.length * (l + sb.length * m);
                  sums[k] += path[n] * s;
                  if (l > 0) f += nearC[copy + k] * path[n];
                  if (m > 0) g += nearB[copy + k] * path[n];
                }
                if (l > 0) sumB += f * tb[l - 1];
                sumC += g * sb[l];
              }
              turnB += sumB * sc[m];
              if (m > 0) turnC += sumC * tc[m - 1];
            }
            p.vb[i] -= p.ratio * turnB;
            p.vc[i] += p.ratio * turnC;
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

/** The coefficient of one of the splines that are not zero in a cell, from 0. */
function nearby(cell: number, splines: number, cells: number, which: number): number {
  return wrapped(cell - splines + 1 + which, cells);
}

/** A launch of `pushCellsKernel`: its policy, and the arguments besides those of `pushKernel`. */
export const cellTeams = (mesh: Mesh, cells: Cells) => ({
  policy: teams(PARTS * dofs(mesh), { size: MEMBERS }),
  args: { ...cells, parts: PARTS, members: MEMBERS },
});

/** Sorts particles of a mesh of three axes by the cell that they are in, on the host. */
export async function sortByCell(device: Device, mesh: Mesh, particles: Particles, direction: number): Promise<Cells> {
  const { storage } = particles;
  const [count, width] = storage.shape;
  const values = await device.queue.read(storage);
  const axes = cyclic(direction);
  const cellOf = (i: number): number =>
    axes.reduceRight((cell, axis) => {
      const { cells } = mesh.axes[axis];
      return cells * cell + Math.floor(values[width * i + axis] / cellSize(mesh.axes[axis]));
    }, 0);
  const start = new Int32Array(dofs(mesh) + 1);
  const cellsOf = new Int32Array(count);
  for (let i = 0; i < count; i++) start[(cellsOf[i] = cellOf(i)) + 1]++;
  for (let c = 0; c + 1 < start.length; c++) start[c + 1] += start[c];
  const next = start.slice();
  const sorted = new Float64Array(values.length);
  for (let i = 0; i < count; i++) {
    const to = next[cellsOf[i]]++;
    for (let k = 0; k < width; k++) sorted[width * to + k] = values[width * i + k];
  }
  device.queue.write(storage, sorted);
  return { start: device.from(i32, start), later: device.array(i32, count) };
}
