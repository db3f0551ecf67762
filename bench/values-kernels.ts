import { f64, kernel, mat3, quat, struct, sum, vec3, view, complex, type Kernel, type Vec3 } from "isoform";

/*
 * Kernels with vectors, matrices, quaternions, complex numbers and records, and the same kernels with a number for each component, in the order of
 * operations that docs/language.md gives.
 */

/** Kernels of other parameters: they are called by arrays of these names. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyKernel = Kernel<any>;

/** A kernel in two forms; elements of its arrays, by name, have so many components. */
export interface ValueKernel {
  readonly name: string;
  readonly values: AnyKernel;
  readonly hand: AnyKernel;
  readonly arrays: Readonly<Record<string, 1 | 2 | 3 | 4 | 9>>;
  readonly scalars: Readonly<Record<string, number>>;
}

const turn = (v: Vec3, axis: Vec3, s: number): Vec3 => v.add(v.cross(axis).scale(s)).normalize();

const push: ValueKernel = {
  name: "push",
  values: kernel(
    "push",
    { dt: f64, x: view(vec3), v: view(vec3), p: sum(vec3) },
    ({ dt, x, v, p }, i) => {
      const w = turn(v[i], vec3(0.5, 0.25, 1), dt);
      x[i] = x[i].add(w.scale(dt));
      v[i] = w;
      p.add(w);
    },
    () => [vec3, turn],
  ),
  hand: kernel(
    "push",
    { dt: f64, x: view(f64, 2), v: view(f64, 2), p_x: sum(f64), p_y: sum(f64), p_z: sum(f64) },
    ({ dt, x, v, p_x, p_y, p_z }, i) => {
      const [vx, vy, vz] = [v[i][0], v[i][1], v[i][2]];
      const [ux, uy, uz] = [vx + (vy * 1 - vz * 0.25) * dt, vy + (vz * 0.5 - vx * 1) * dt, vz + (vx * 0.25 - vy * 0.5) * dt];
      const s = 1 / Math.sqrt(ux * ux + uy * uy + uz * uz);
      const [wx, wy, wz] = [ux * s, uy * s, uz * s];
      const [px, py, pz] = [x[i][0] + wx * dt, x[i][1] + wy * dt, x[i][2] + wz * dt];
      x[i][0] = px;
      x[i][1] = py;
      x[i][2] = pz;
      v[i][0] = wx;
      v[i][1] = wy;
      v[i][2] = wz;
      p_x.add(wx);
      p_y.add(wy);
      p_z.add(wz);
    },
  ),
  arrays: { x: 3, v: 3 },
  scalars: { dt: 0.01 },
};

const transform: ValueKernel = {
  name: "matrix times vector",
  values: kernel("transform", { m: view(mat3), x: view(vec3), y: view(vec3) }, ({ m, x, y }, i) => {
    y[i] = m[i].mul(x[i]);
  }),
  hand: kernel("transform", { m: view(f64, 3), x: view(f64, 2), y: view(f64, 2) }, ({ m, x, y }, i) => {
    const [x0, x1, x2] = [x[i][0], x[i][1], x[i][2]];
    const y0 = m[i][0][0] * x0 + m[i][0][1] * x1 + m[i][0][2] * x2;
    const y1 = m[i][1][0] * x0 + m[i][1][1] * x1 + m[i][1][2] * x2;
    const y2 = m[i][2][0] * x0 + m[i][2][1] * x1 + m[i][2][2] * x2;
    y[i][0] = y0;
    y[i][1] = y1;
    y[i][2] = y2;
  }),
  arrays: { m: 9, x: 3, y: 3 },
  scalars: {},
};

/** Elements on each side that `neighbours` sums over. */
export const REACH = 4;
const neighbours: ValueKernel = {
  name: "sum over neighbours",
  values: kernel(
    "neighbours",
    { x: view(vec3), a: view(vec3) },
    ({ x, a }, i) => {
      let total = vec3(0, 0, 0);
      const here = x[i];
      for (let k = -REACH; k <= REACH; k++) {
        const d = x[i + k].sub(here);
        total = total.add(d.scale(1 / (d.dot(d) + 0.5)));
      }
      a[i] = total;
    },
    () => [vec3, REACH],
  ),
  hand: kernel(
    "neighbours",
    { x: view(f64, 2), a: view(f64, 2) },
    ({ x, a }, i) => {
      let tx = 0.0;
      let ty = 0.0;
      let tz = 0.0;
      const [hx, hy, hz] = [x[i][0], x[i][1], x[i][2]];
      for (let k = -REACH; k <= REACH; k++) {
        const [dx, dy, dz] = [x[i + k][0] - hx, x[i + k][1] - hy, x[i + k][2] - hz];
        const s = 1 / (dx * dx + dy * dy + dz * dz + 0.5);
        tx += dx * s;
        ty += dy * s;
        tz += dz * s;
      }
      a[i][0] = tx;
      a[i][1] = ty;
      a[i][2] = tz;
    },
    () => [REACH],
  ),
  arrays: { x: 3, a: 3 },
  scalars: {},
};

const rotate: ValueKernel = {
  name: "rotation by quaternions",
  values: kernel("rotate", { q: view(quat), x: view(vec3), y: view(vec3) }, ({ q, x, y }, i) => {
    y[i] = q[i].rotate(x[i]);
  }),
  hand: kernel("rotate", { q: view(f64, 2), x: view(f64, 2), y: view(f64, 2) }, ({ q, x, y }, i) => {
    const [qx, qy, qz, w] = [q[i][0], q[i][1], q[i][2], q[i][3]];
    const [vx, vy, vz] = [x[i][0], x[i][1], x[i][2]];
    const [ux, uy, uz] = [2 * (qy * vz - qz * vy), 2 * (qz * vx - qx * vz), 2 * (qx * vy - qy * vx)];
    const rx = vx + w * ux + (qy * uz - qz * uy);
    const ry = vy + w * uy + (qz * ux - qx * uz);
    const rz = vz + w * uz + (qx * uy - qy * ux);
    y[i][0] = rx;
    y[i][1] = ry;
    y[i][2] = rz;
  }),
  arrays: { q: 4, x: 3, y: 3 },
  scalars: {},
};

const horner: ValueKernel = {
  name: "complex polynomial",
  values: kernel(
    "horner",
    { z: view(complex), w: view(complex) },
    ({ z, w }, i) => {
      let value = complex(1, 0);
      for (let k = 0; k < 8; k++) value = value.mul(z[i]).add(complex(0.5, -0.25));
      w[i] = value;
    },
    () => [complex],
  ),
  hand: kernel("horner", { z: view(f64, 2), w: view(f64, 2) }, ({ z, w }, i) => {
    let re = 1.0;
    let im = 0.0;
    for (let k = 0; k < 8; k++) {
      const [zr, zi] = [z[i][0], z[i][1]];
      const next = re * zr - im * zi + 0.5;
      im = re * zi + im * zr + -0.25;
      re = next;
    }
    w[i][0] = re;
    w[i][1] = im;
  }),
  arrays: { z: 2, w: 2 },
  scalars: {},
};

const Ray = struct("Ray", { o: vec3, d: vec3, t: f64 });
const march: ValueKernel = {
  name: "records",
  values: kernel("march", { rays: view(Ray), dt: f64 }, ({ rays, dt }, i) => {
    const { o, d, t } = rays[i];
    rays[i].o = o.add(d.scale(dt));
    rays[i].t = t + dt;
  }),
  hand: kernel("march", { rays_o: view(f64, 2), rays_d: view(f64, 2), rays_t: view(f64), dt: f64 }, ({ rays_o, rays_d, rays_t, dt }, i) => {
    const [ox, oy, oz] = [rays_o[i][0], rays_o[i][1], rays_o[i][2]];
    const [dx, dy, dz] = [rays_d[i][0], rays_d[i][1], rays_d[i][2]];
    const t = rays_t[i];
    const [x, y, z] = [ox + dx * dt, oy + dy * dt, oz + dz * dt];
    rays_o[i][0] = x;
    rays_o[i][1] = y;
    rays_o[i][2] = z;
    rays_t[i] = t + dt;
  }),
  arrays: { rays_o: 3, rays_d: 3, rays_t: 1 },
  scalars: { dt: 0.01 },
};

export const VALUE_KERNELS: readonly ValueKernel[] = [push, transform, neighbours, rotate, horner, march];
