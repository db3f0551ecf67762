import type { Device, View } from "isoform";
import { f64, fixed, i32, scatter, table, teamKernel, teams, view } from "isoform";
import type { Mesh } from "./mesh.js";
import { cellSize, cyclic, dofs, isPresent, piecesOf } from "./mesh.js";
import { helpers, remembered } from "./particles.js";
import { followPath } from "./path.js";
import type { Particles } from "./species.js";
import { primitivePieces, wrapped } from "./splines.js";

/** Members of a team on a GPU: their currents have room in shared memory beside each other. */
export const MEMBERS = 64;
/** Teams of a cell, so that there are enough to fill a GPU. */
const PARTS = 4;

/** Where the particles of each cell start: those of cell c_a + N_a (c_b + N_b c_c) = c are `start[c]` to `start[c + 1] - 1`. */
export type CellStarts = View<"i32", 1>;

/**
 * The flow H_p along axis a for particles that are sorted by cell, in a mesh of three axes: the same as `pushKernel`. A team takes its part
 * of a cell's particles. The coefficients of the magnetic field there lie in scratch memory, and each member gathers currents of the
 * cell in private sums, which the team adds up once. What a path has outside of the team's cell goes through `scatter`.
 */
export const pushCellsKernel = remembered(
  makePushCells,
  ({ axes }, direction) => `${axes.map(({ degree }) => degree).join()} ${direction}`,
);
function makePushCells({ axes }: Mesh, direction: number) {
  const [a, b, c] = cyclic(direction).map((axis) => axes[axis]);
  if (![a, b, c].every(isPresent)) throw new RangeError("the mesh needs three axes");
  const [ofB, ofC] = [piecesOf(b), piecesOf(c)];
  return teamKernel(
    `pushCells${direction + 1}`,
    {
      dt: f64,
      /** q times what all weights have in common. */
      charge: f64,
      /** q / m */
      ratio: f64,
      ha: f64,
      hb: f64,
      hc: f64,
      length: f64,
      xa: view(f64, 1, { disjoint: true }),
      xb: view(f64),
      xc: view(f64),
      va: view(f64),
      vb: view(f64, 1, { disjoint: true }),
      vc: view(f64, 1, { disjoint: true }),
      w: view(f64),
      /** B_b, which turns v_c, and B_c, which turns v_b. */
      fieldB: view(f64, 3),
      fieldC: view(f64, 3),
      j: scatter(f64, 3),
      start: view(i32),
      /** Teams of a cell, and the most members that one may have. */
      parts: i32,
      members: fixed(i32),
      primitives: table(f64, primitivePieces(a.degree - 1)),
      upperB: table(f64, ofB.upper),
      lowerB: table(f64, ofB.lower),
      upperC: table(f64, ofC.upper),
      lowerC: table(f64, ofC.lower),
      ...helpers,
      nearby,
      followPath,
    },
    (p, team) => {
      const { dt, charge, ratio, ha, hb, hc, length, xa, xb, xc, va, vb, vc, w, fieldB, fieldC, j, start, parts, members } = p;
      const { primitives, upperB, lowerB, upperC, lowerC } = p;
      const cell = (team.index / parts) | 0;
      const each = ((start[cell + 1] - start[cell] + parts - 1) / parts) | 0;
      const begin = start[cell] + (team.index % parts) * each;
      const end = Math.min(begin + each, start[cell + 1]);
      const ca = cell % fieldB.length;
      const cb = ((cell / fieldB.length) | 0) % fieldB[0].length;
      const cc = (cell / (fieldB.length * fieldB[0].length)) | 0;

      // Entry n + p (l + (p + 1) m) belongs to coefficient n, l, m of the splines that are not zero here.
      const entries = primitives.length * upperB.length * upperC.length;
      const nearB = team.scratch("f64", entries);
      const nearC = team.scratch("f64", entries);
      team.range(entries, (k) => {
        const n = p.nearby(ca, primitives.length, fieldB.length, k % primitives.length);
        const l = p.nearby(cb, upperB.length, fieldB[0].length, ((k / primitives.length) | 0) % upperB.length);
        const m = p.nearby(cc, upperC.length, fieldB[0][0].length, (k / (primitives.length * upperB.length)) | 0);
        nearB[k] = fieldB[n][l][m];
        nearC[k] = fieldC[n][l][m];
      });

      // One more than an entry each, so that equal entries of all members lie in different banks of memory.
      const currents = team.scratch("f64", members * (entries + 1));
      team.range(team.size, (member) => {
        const sums = new Float64Array(entries);
        const sb = new Float64Array(upperB.length);
        const tb = new Float64Array(lowerB.length);
        const ib = new Int32Array(upperB.length);
        const sc = new Float64Array(upperC.length);
        const tc = new Float64Array(lowerC.length);
        const ic = new Int32Array(upperC.length);
        const path = new Float64Array(primitives.length);
        const ia = new Int32Array(primitives.length);
        for (let i = begin + member; i < end; i += team.size) {
          p.splinesAt(xb[i], hb, fieldB[0].length, upperB, lowerB, sb, tb, ib);
          p.splinesAt(xc[i], hc, fieldB[0][0].length, upperC, lowerC, sc, tc, ic);
          const weight = charge * w[i];
          const shift = dt * va[i];
          const after = xa[i] + shift;
          const first = xa[i] / ha;
          const final = after / ha;
          const from = Math.floor(first) | 0;
          // What blows up ends as nonsense, but soon.
          const last = Math.abs(final - first) < 1e6 ? Math.floor(final) | 0 : from;
          const isHere = from === ca && (Math.floor(xb[i] / hb) | 0) === cb && (Math.floor(xc[i] / hc) | 0) === cc;
          let alongB = 0;
          let alongC = 0;
          if (isHere) {
            const to = last === from ? final - last : last > from ? 1 : 0;
            for (let n = 0; n < path.length; n++) path[n] = ha * (p.pieceAt(primitives, n, to) - p.pieceAt(primitives, n, first - from));
            for (let m = 0; m < sc.length; m++) {
              let sumC = 0;
              let sumB = 0;
              for (let l = 0; l < sb.length; l++) {
                const s = sb[l] * sc[m] * weight;
                let f = 0;
                let g = 0;
                for (let n = 0; n < path.length; n++) {
                  const k = n + path.length * (l + sb.length * m);
                  sums[k] += path[n] * s;
                  if (l > 0) f += nearC[k] * path[n];
                  if (m > 0) g += nearB[k] * path[n];
                }
                if (l > 0) sumC += f * tb[l - 1];
                sumB += g * sb[l];
              }
              alongC += sumC * sc[m];
              if (m > 0) alongB += sumB * tc[m - 1];
            }
          }
          if (!isHere || last !== from) {
            const towards = last < from ? -1 : 1;
            const [c2, b2] = p.followPath(
              {
                cell: isHere ? from + towards : from,
                last,
                from: isHere ? (towards > 0 ? 0 : 1) : first - from,
                to: final - last,
                h: ha,
                shift,
              },
              primitives,
              { s: sb, t: tb, index: ib },
              { s: sc, t: tc, index: ic },
              { fieldB, fieldC, turnsB: true, turnsC: true, j, charge: weight },
              path,
              ia,
            );
            alongC += c2;
            alongB += b2;
          }
          vb[i] -= ratio * alongC;
          vc[i] += ratio * alongB;
          const inside = after - length * Math.floor(after / length);
          xa[i] = inside < length ? inside : 0;
        }
        for (let k = 0; k < entries; k++) currents[member * (entries + 1) + k] = sums[k];
      });
      team.range(entries, (k) => {
        let sum = 0;
        for (let member = 0; member < team.size; member++) sum += currents[member * (entries + 1) + k];
        const n = p.nearby(ca, primitives.length, fieldB.length, k % primitives.length);
        const l = p.nearby(cb, upperB.length, fieldB[0].length, ((k / primitives.length) | 0) % upperB.length);
        const m = p.nearby(cc, upperC.length, fieldB[0][0].length, (k / (primitives.length * upperB.length)) | 0);
        j.add(n, l, m, sum);
      });
    },
  );
}

/** The coefficient of one of the splines that are not zero in a cell, from 0. */
function nearby(cell: number, splines: number, cells: number, which: number): number {
  return wrapped(cell - splines + 1 + which, cells);
}

/** A launch of `pushCellsKernel`: its policy, and the arguments besides those of `pushKernel`. */
export const cellTeams = (mesh: Mesh, start: CellStarts) => ({
  policy: teams(PARTS * dofs(mesh), { size: MEMBERS }),
  args: { start, parts: PARTS, members: MEMBERS },
});

/** Sorts particles of a mesh of three axes by the cell that they are in, on the host. */
export async function sortByCell(device: Device, mesh: Mesh, particles: Particles, direction: number): Promise<CellStarts> {
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
  return device.from(i32, start);
}
