import { f64, fixed, i32, kernel, min, sum, view } from "isoform";
import type { Mesh } from "../mesh/mesh.js";
import { cellSize, dimension, isPresent } from "../mesh/mesh.js";
import type { Particles } from "./species.js";
import type { Workspace } from "../fields/workspace.js";

/** Cells in a step beyond which a particle's path is not followed, so its charge is lost. */
const LONGEST_PATH = 1e6;
/** Along axes without cells. */
const FASTEST = 1e30;

/** Finds particles that are not in the box, or whose velocity is NaN or out of all measure. */
const lost = kernel(
  "lost",
  {
    x1: view(f64),
    x2: view(f64),
    x3: view(f64),
    v1: view(f64),
    v2: view(f64),
    v3: view(f64),
    length1: f64,
    length2: f64,
    length3: f64,
    fastest1: f64,
    fastest2: f64,
    fastest3: f64,
    dimension: fixed(i32),
    velocities: fixed(i32),
    first: min(i32),
    count: sum(i32),
  },
  ({ x1, x2, x3, v1, v2, v3, length1, length2, length3, fastest1, fastest2, fastest3, dimension, velocities, first, count }, i) => {
    // Comparisons with NaN are false.
    let sound = x1[i] >= 0 && x1[i] < length1 && Math.abs(v1[i]) < fastest1;
    if (dimension > 1) sound = sound && x2[i] >= 0 && x2[i] < length2;
    if (dimension > 2) sound = sound && x3[i] >= 0 && x3[i] < length3;
    if (velocities > 1) sound = sound && Math.abs(v2[i]) < fastest2;
    if (velocities > 2) sound = sound && Math.abs(v3[i]) < fastest3;
    if (sound) return;
    first.min(i);
    count.add(1);
  },
);

/** Particles that cannot go on: how many, and of the first its index in storage, position and velocity. */
interface Lost {
  readonly count: number;
  readonly index: number;
  readonly x: readonly number[];
  readonly v: readonly number[];
}

/** The lost particles of a species, for steps of `dt`; undefined if all are sound. */
export async function findLost({ device, precision }: Workspace, mesh: Mesh, dt: number, particles: Particles): Promise<Lost | undefined> {
  const [x1, x2, x3] = particles.x;
  const [v1, v2, v3] = particles.v;
  const [length1, length2, length3] = mesh.axes.map(({ length }) => length);
  const [fastest1, fastest2, fastest3] = mesh.axes.map((axis) =>
    isPresent(axis) ? (LONGEST_PATH * cellSize(axis)) / Math.abs(dt) : FASTEST,
  );
  const limits = { length1, length2, length3, fastest1, fastest2, fastest3, dimension: dimension(mesh), velocities: mesh.velocities };
  const columns = { x1, x2, x3, v1, v2, v3 };
  const { first: index, count } = await device.run(lost, { ...columns, ...limits }, particles.policy, { precision });
  if (count === 0) return undefined;
  const values = (of: Particles["x"], present: number): Promise<number[]> =>
    Promise.all(of.slice(0, present).map(async (column) => (await device.queue.read(column.slice([index, index + 1])))[0]));
  return { count, index, x: await values(particles.x, dimension(mesh)), v: await values(particles.v, mesh.velocities) };
}
