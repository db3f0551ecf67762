import { f32, f64, i32, kernel, open, sum, view, type Device, type Kernel } from "isoform";
import { dense, type Cell, type DenseGrid, type Field, type FieldAccess } from "isoform/grid";
import { philox, uniform32 } from "isoform/patterns";
import { devices } from "isoform/set";
import { skeleton, swap, type Step } from "isoform/skeleton";
import { beside, big, Functions, noise, over, type Made, type ProgramBesideC } from "./beside-c.js";

/* Programs of ordinary.ts, each beside its function in baselines/ordinary.c. */

const functions = new Functions("ordinary");

/** A launch, and the arguments of its function in C. */
interface Launched extends Omit<Made, "work"> {
  readonly kernel: Kernel<never>;
  readonly args: object;
  readonly extents: readonly number[];
}

/** A kernel's launch beside a function of the same name in C, over the same memory. */
const launched = (name: string, made: (device: Device) => Launched, where: string): Promise<ProgramBesideC> =>
  beside(
    functions,
    name,
    (device) => {
      const { kernel, args, extents, c, output } = made(device);
      return { work: over(device, kernel, args, ...extents), c, output };
    },
    where,
  );

/** Steps of a skeleton over periodic fields of 256 x 256 cells, beside a function in C over arrays of its own. */
async function stepped(
  name: string,
  where: string,
  count: number,
  steps: (fields: readonly Field<"f64", 1, 2>[], grid: DenseGrid<2>) => Step[],
): Promise<ProgramBesideC> {
  const n = 256;
  const set = await devices(where);
  const grid = dense(set, [n, n], { periodic: true });
  const fields = Array.from({ length: count }, (_, k) => grid.field(`field${k}`, f64));
  for (const [k, field] of fields.entries()) await field.fill((x, y) => (k === 0 ? 1 : 0) + 0.01 * noise(k + 7 * x + 131 * y));
  const plan = skeleton(set, name, steps(fields, grid));
  const memory = await open(where);
  const cells = (k: number) => Float64Array.from({ length: n * n }, (_, i) => (k === 0 ? 1 : 0) + 0.01 * noise(k + 7 * i));
  const arrays = Array.from({ length: count }, (_, k) => memory.from(f64, cells(k)));
  return {
    own: (times) => plan.run(times),
    ...functions.bind(name, [...arrays, BigInt(n)]),
    free: async () => {
      await set.close();
      await memory.close();
    },
  };
}

type Access = FieldAccess<1, 2>;
type At = Cell<2>;
const ddx = (a: Access, c: At) => (a.at(c, 1, 0) - a.at(c, -1, 0)) * 0.5;
const ddy = (a: Access, c: At) => (a.at(c, 0, 1) - a.at(c, 0, -1)) * 0.5;
const laplacian = (a: Access, c: At) => a.at(c, 1, 0) + a.at(c, -1, 0) + a.at(c, 0, 1) + a.at(c, 0, -1) - 4 * a[c];

const shallow = (where: string) =>
  stepped("shallow", where, 7, ([h, u, v, h2, u2, v2, b], grid) => {
    const step = grid.container(
      "step",
      { h, u, v, h2, u2, v2, b },
      ({ h, u, v, h2, u2, v2, b }, c) => {
        const fluxX = (h.at(c, 1, 0) * u.at(c, 1, 0) - h.at(c, -1, 0) * u.at(c, -1, 0)) * 0.5;
        const fluxY = (h.at(c, 0, 1) * v.at(c, 0, 1) - h.at(c, 0, -1) * v.at(c, 0, -1)) * 0.5;
        h2[c] = h[c] + 0.02 * (-fluxX - fluxY + 0.1 * (laplacian(h, c) + laplacian(b, c)));
        u2[c] = u[c] + 0.02 * (-u[c] * ddx(u, c) - v[c] * ddy(u, c) + 1e-2 * v[c] - 9.81 * (ddx(h, c) + ddx(b, c)) + 0.1 * laplacian(u, c));
        v2[c] = v[c] + 0.02 * (-u[c] * ddx(v, c) - v[c] * ddy(v, c) - 1e-2 * u[c] - 9.81 * (ddy(h, c) + ddy(b, c)) + 0.1 * laplacian(v, c));
      },
      () => [ddx, ddy, laplacian],
    );
    return [step, swap(h, h2), swap(u, u2), swap(v, v2)];
  });

const cahn = (where: string) =>
  stepped("cahn", where, 3, ([c0, mu, c1], grid) => {
    const potential = grid.container(
      "potential",
      { c0, mu },
      ({ c0, mu }, c) => {
        mu[c] = c0[c] ** 3 - c0[c] - 0.5 * laplacian(c0, c);
      },
      () => [laplacian],
    );
    const move = grid.container(
      "move",
      { c0, mu, c1 },
      ({ c0, mu, c1 }, c) => {
        c1[c] = c0[c] + 0.01 * laplacian(mu, c);
      },
      () => [laplacian],
    );
    return [potential, move, swap(c0, c1)];
  });

const spins = kernel(
  "ising",
  { own: view(i32, 2), other: view(i32, 2), beta: f32 },
  ({ own, other, beta }, i, j) => {
    const n = own.length;
    const m = own[0].length;
    const up = i > 0 ? i - 1 : n - 1;
    const down = i < n - 1 ? i + 1 : 0;
    const side = (i & 1) !== 0 ? (j < m - 1 ? j + 1 : 0) : j > 0 ? j - 1 : m - 1;
    const around = other[up][j] + other[down][j] + other[i][j] + other[i][side];
    const words = new Uint32Array(4);
    words[0] = (i * m + j) >>> 0;
    philox(words, 1, 1);
    const change = 2 * own[i][j] * around;
    if (uniform32(words[0]) < Math.exp(-beta * change)) own[i][j] = -own[i][j];
  },
  () => [philox, uniform32],
);

const ising = (where: string) =>
  launched(
    "ising",
    (device) => {
      const [n, m] = [256, 128];
      const [own, other] = [0, 1].map(() => device.from(i32, new Int32Array(n * m).fill(1), [n, m]));
      return { kernel: spins as never, args: { own, other, beta: 0.5 }, extents: [n, m], c: [own, other, 0.5, ...big(n, m)] };
    },
    where,
  );

const forces = kernel(
  "lj",
  { x: view(f64, 2), force: view(f64, 2), offsets: view(i32), box: f64, width: f64, cutoff: f64, m: i32, total: sum(f64) },
  ({ x, force, offsets, box, width, cutoff, m, total }, i) => {
    let fx = 0;
    let fy = 0;
    let fz = 0;
    let energy = 0;
    const cx = Math.min(m - 1, Math.floor(x[i][0] / width) | 0);
    const cy = Math.min(m - 1, Math.floor(x[i][1] / width) | 0);
    const cz = Math.min(m - 1, Math.floor(x[i][2] / width) | 0);
    for (let dz = -1; dz <= 1; dz++)
      for (let dy = -1; dy <= 1; dy++)
        for (let dx = -1; dx <= 1; dx++) {
          const cell = (((cz + dz + m) % m) * m + ((cy + dy + m) % m)) * m + ((cx + dx + m) % m);
          for (let k = offsets[cell]; k < offsets[cell + 1]; k++) {
            if (k === i) continue;
            let rx = x[i][0] - x[k][0];
            let ry = x[i][1] - x[k][1];
            let rz = x[i][2] - x[k][2];
            rx -= box * Math.round(rx / box);
            ry -= box * Math.round(ry / box);
            rz -= box * Math.round(rz / box);
            const r2 = rx * rx + ry * ry + rz * rz;
            if (r2 < cutoff * cutoff) {
              const i2 = 1 / r2;
              const i6 = i2 * i2 * i2;
              const g = 48 * i6 * (i6 - 0.5) * i2;
              fx += g * rx;
              fy += g * ry;
              fz += g * rz;
              energy += 2 * i6 * (i6 - 1) + 0.5 * g * r2;
            }
          }
        }
    force[i][0] = fx;
    force[i][1] = fy;
    force[i][2] = fz;
    total.add(energy);
  },
);

/** Atoms on a shaken lattice, in the order of their cells. */
function atoms(n: number, box: number, m: number): { positions: number[][]; offsets: Int32Array } {
  const side = Math.ceil(Math.cbrt(n));
  const place = (i: number): number[] => [i % side, Math.floor(i / side) % side, Math.floor(i / side / side)];
  const cellOf = (x: readonly number[]): number => x.reduceRight((cell, at) => cell * m + Math.min(m - 1, Math.floor((at / box) * m)), 0);
  const positions = Array.from({ length: n }, (_, i) => place(i).map((k, a) => ((k + 0.5 + 0.1 * (noise(3 * i + a) - 0.5)) * box) / side));
  positions.sort((a, b) => cellOf(a) - cellOf(b));
  const offsets = new Int32Array(m ** 3 + 1);
  for (const x of positions) offsets[cellOf(x) + 1]++;
  for (let c = 0; c < m ** 3; c++) offsets[c + 1] += offsets[c];
  return { positions, offsets };
}

const lj = (where: string) =>
  launched(
    "lj",
    (device) => {
      const n = 4096;
      const [box, cutoff] = [Math.cbrt(n / 0.8), 2.5];
      const m = Math.floor(box / cutoff);
      const { positions, offsets } = atoms(n, box, m);
      const [x, force, starts] = [device.from(f64, positions.flat(), [n, 3]), device.array(f64, [n, 3]), device.from(i32, offsets)];
      const args = { x, force, offsets: starts, box, width: box / m, cutoff, m };
      return { kernel: forces as never, args, extents: [n], c: [x, force, starts, box, box / m, cutoff, ...big(n, m)], output: force };
    },
    where,
  );

const crank = kernel(
  "options",
  { strike: view(f64), value: view(f64, 2), cp: view(f64, 2), steps: i32 },
  ({ strike, value, cp, steps }, o) => {
    const m = value.length;
    const dx = +3 / (m - 1);
    const dt = +1 / steps;
    const spread = (0.25 * 0.25) / (dx * dx);
    const drift = (0.03 - 0.5 * 0.25 * 0.25) / dx;
    const alpha = 0.25 * dt * (spread - drift);
    const gamma = 0.25 * dt * (spread + drift);
    const beta = -0.5 * dt * (spread + 0.03);
    for (let k = 0; k < m; k++) value[k][o] = Math.max(0, strike[o] - 100 * Math.exp(-1.5 + k * dx));
    for (let step = 0; step < steps; step++) {
      let before = value[0][o];
      let last = value[0][o];
      cp[0][o] = 0;
      for (let k = 1; k < m - 1; k++) {
        const here = value[k][o];
        const rhs = alpha * before + (1 + beta) * here + gamma * value[k + 1][o];
        const w = 1 - beta + alpha * cp[k - 1][o];
        cp[k][o] = -gamma / w;
        last = (rhs + alpha * last) / w;
        value[k][o] = last;
        before = here;
      }
      for (let k = m - 2; k > 0; k--) value[k][o] -= cp[k][o] * value[k + 1][o];
    }
  },
);

const prices = (where: string) =>
  launched(
    "options",
    (device) => {
      const [n, m, steps] = [256, 201, 200];
      const strike = device.from(
        f64,
        Float64Array.from({ length: n }, (_, o) => 80 + (40 * o) / n),
      );
      const [value, cp] = [0, 1].map(() => device.array(f64, [m, n]));
      return {
        kernel: crank as never,
        args: { strike, value, cp, steps },
        extents: [n],
        c: [strike, value, cp, ...big(n, m, steps)],
        output: value,
      };
    },
    where,
  );

const flowX = (y: number, z: number): number => Math.sin(z) + 0.8 * Math.cos(y);
const flowY = (x: number, z: number): number => 0.9 * Math.sin(x) + Math.cos(z);
const flowZ = (x: number, y: number): number => 0.8 * Math.sin(y) + 0.9 * Math.cos(x);
const tracers = kernel(
  "advect",
  { p: view(f64, 2), dt: f64 },
  ({ p, dt }, i) => {
    const h = 0.5 * dt;
    const [x, y, z] = [p[i][0], p[i][1], p[i][2]];
    const [ax, ay, az] = [flowX(y, z), flowY(x, z), flowZ(x, y)];
    const [x1, y1, z1] = [x + h * ax, y + h * ay, z + h * az];
    const [bx, by, bz] = [flowX(y1, z1), flowY(x1, z1), flowZ(x1, y1)];
    const [x2, y2, z2] = [x + h * bx, y + h * by, z + h * bz];
    const [cx, cy, cz] = [flowX(y2, z2), flowY(x2, z2), flowZ(x2, y2)];
    const [x3, y3, z3] = [x + dt * cx, y + dt * cy, z + dt * cz];
    p[i][0] = x + (dt / 6) * (ax + 2 * bx + 2 * cx + flowX(y3, z3));
    p[i][1] = y + (dt / 6) * (ay + 2 * by + 2 * cy + flowY(x3, z3));
    p[i][2] = z + (dt / 6) * (az + 2 * bz + 2 * cz + flowZ(x3, y3));
  },
  () => [flowX, flowY, flowZ],
);

const advect = (where: string) =>
  launched(
    "advect",
    (device) => {
      const n = 50_000;
      const start = Float64Array.from({ length: 3 * n }, (_, k) => 1 + 0.5 * noise(k));
      const p = device.from(f64, start, [n, 3]);
      return { kernel: tracers as never, args: { p, dt: 1e-6 }, extents: [n], c: [p, 1e-6, ...big(n)] };
    },
    where,
  );

const bodies = kernel("nbody", { x: view(f32, 2), a: view(f32, 2) }, ({ x, a }, i) => {
  let ax = Math.fround(0);
  let ay = Math.fround(0);
  let az = Math.fround(0);
  for (let j = 0; j < x.length; j++) {
    const dx = x[j][0] - x[i][0];
    const dy = x[j][1] - x[i][1];
    const dz = x[j][2] - x[i][2];
    const r2 = Math.fround(dx * dx + dy * dy + dz * dz + Math.fround(1e-4));
    const w = Math.fround(1 / (r2 * Math.fround(Math.sqrt(r2))));
    ax += w * dx;
    ay += w * dy;
    az += w * dz;
  }
  a[i][0] = ax;
  a[i][1] = ay;
  a[i][2] = az;
});

const nbody = (where: string) =>
  launched(
    "nbody",
    (device) => {
      const n = 4096;
      const places = Float32Array.from({ length: 3 * n }, (_, k) => noise(k));
      const [x, a] = [device.from(f32, places, [n, 3]), device.array(f32, [n, 3])];
      return { kernel: bodies as never, args: { x, a }, extents: [n], c: [x, a, ...big(n)], output: a };
    },
    where,
  );

const rows = kernel("product", { a: view(f64, 2), b: view(f64, 2), c: view(f64, 2) }, ({ a, b, c }, i, j) => {
  let value = 0;
  for (let k = 0; k < b.length; k++) value += a[i][k] * b[k][j];
  c[i][j] = value;
});

const product = (where: string) =>
  launched(
    "product",
    (device) => {
      const n = 512;
      const [a, b] = [0, 1].map((k) =>
        device.from(
          f64,
          Float64Array.from({ length: n * n }, (_, i) => noise(i + k)),
          [n, n],
        ),
      );
      const c = device.array(f64, [n, n]);
      return { kernel: rows as never, args: { a, b, c }, extents: [n, n], c: [a, b, c, ...big(n)], output: c };
    },
    where,
  );

/** The programs, by name; each is made for a device. */
export const PROGRAMS: Record<string, (where: string) => Promise<ProgramBesideC>> = {
  shallow,
  cahn,
  ising,
  lj,
  options: prices,
  advect,
  nbody,
  product,
};
