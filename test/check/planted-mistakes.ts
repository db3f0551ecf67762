import {
  array,
  f32,
  f64,
  fixed,
  helper,
  i32,
  kernel,
  min,
  reducer,
  scatter,
  struct,
  sum,
  table,
  teamKernel,
  vec3,
  view,
  type Kernel,
  type ScalarToken,
} from "isoform";
import type { DenseGrid } from "isoform/grid";

/* Thirty mistakes, each on a line that ends in `// !` and a part of its message; kernels without one are right. Nothing of it is run. */

/* eslint-disable no-empty */

const C = 0.25;
const N = 3;
const WEIGHTS = table(f64, [1, 2, 3]);
const Ray = struct("Ray", { o: vec3, t: f64 });
const square = (v: number): number => v * v;
const scaled = helper(
  (v: number): number => C * square(v),
  () => [C, square],
);
const deep = (n: number): number => (n > 0 ? deep(n - 1) : 0); // ! calls itself
function asText(v: number): number {
  return v > 1 ? 2 : Number(String(v)); // ! String is not part
}

export const right = kernel(
  "right",
  { n: fixed(i32), x: view(f64), rays: view(Ray), s: sum(f64), low: min(f64) },
  ({ n, x, rays, s, low }, i) => {
    let total = 0;
    for (let k = 0; k < n; k++) total += WEIGHTS[k % 3] * scaled(x[i] as number);
    rays[i] = { ...rays[i], t: total };
    s.add(total);
    low.min(rays[i].o.length());
  },
  () => [WEIGHTS, scaled],
);
export const rightAsserted = kernel("rightAsserted", { p: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ p, y }, i) => {
  y[p[i]] = i;
});

/** Types of two kinds, which go together. */
export function rightForBoth(
  real: ScalarToken<"f64" | "f32">,
  Real: Float64ArrayConstructor | Float32ArrayConstructor,
  half: number,
): readonly Kernel[] {
  const scale = kernel(
    "rightForBoth",
    { x: view(real) },
    ({ x }, i) => {
      const own = new Real(1);
      own[0] = x[i];
      x[i] = own[0];
    },
    () => [Real],
  );
  const halved = kernel(
    "rightHalf",
    { x: view(f64) },
    ({ x }, i) => (x[i] *= half),
    () => [half],
  );
  return [scale, halved] as unknown as readonly Kernel[];
}

export const mistakes = {
  tries: kernel("tries", { x: view(f64) }, ({ x }, i) => {
    // oxfmt-ignore
    try { // ! try is not part
      x[i] = 1;
    } catch {}
  }),
  nullish: kernel("nullish", { x: view(f64) }, ({ x }, i) => {
    x[i] = x[i] ?? 0; // ! ??
  }),
  optional: kernel("optional", { x: view(f64) }, ({ x }, i) => {
    x[i] = 2 * x?.[i]; // ! ?.
  }),
  chance: kernel("chance", { x: view(f64) }, ({ x }, i) => {
    x[i] = Math.random(); // ! Math.random
  }),
  keys: kernel("keys", { x: view(f64) }, ({ x }, i) => {
    for (const k in x) x[i] = Number(k); // ! for-in
  }),
  text: kernel("text", { x: view(f64) }, ({ x }, i) => {
    const name = "a"; // ! is not a number
    x[i] = name.length;
  }),
  recursive: kernel(
    "recursive",
    { x: view(f64) },
    ({ x }, i) => (x[i] = deep(3)),
    () => [deep],
  ),
  race: kernel("race", { x: view(f64) }, ({ x }, i) => {
    x[0] = i; // ! several elements
  }),
  neighbour: kernel("neighbour", { x: view(f64) }, ({ x }, i) => {
    x[i] = x[i + 1]; // ! is written by another element
  }),
  indirect: kernel("indirect", { p: view(i32), x: view(f64) }, ({ p, x }, i) => {
    x[p[i]] = 1; // ! several elements
  }),
  unlisted: kernel("unlisted", { x: view(f64) }, ({ x }, i) => {
    x[i] = C; // ! captures "C"
  }),
  unlistedToo: kernel(
    "unlistedToo",
    { x: view(f64) },
    ({ x }, i) => {
      x[i] = C * N; // ! captures "N"
    },
    () => [C],
  ),
  parameter: kernel("parameter", { a: f64, x: view(f64) }, ({ a, x }, i) => {
    a = 2; // ! cannot be assigned
    x[i] = a;
  }),
  vector: kernel("vector", { v: view(vec3) }, ({ v }, i) => {
    const w = v[i];
    w.x = 1; // ! does not change
    v[i] = w;
  }),
  fraction: kernel("fraction", { x: view(f64) }, ({ x }, i) => {
    x[i] = x[i / 2]; // ! integers are divided
  }),
  half: kernel("half", { x: view(f64) }, ({ x }, i) => {
    x[i] = x[0.5]; // ! an index must be i32
  }),
  single: kernel("single", { x: view(f64), y: view(f32) }, ({ x, y }, i) => {
    y[i] = x[i]; // ! y holds f32
  }),
  result: kernel("result", { x: view(f64) }, ({ x }, i) => x[i] + 1), // ! returns a value
  summed: kernel("summed", { s: sum(f64), x: view(f64) }, ({ s, x }, i) => {
    x[i] = 1;
    // @ts-expect-error the editor says so, too
    s.set(1); // ! has no method "set"
  }),
  scattered: kernel("scattered", { h: scatter(f64), x: view(f64) }, ({ h, x }, i) => {
    // @ts-expect-error the editor says so, too
    x[i] = h[i]; // ! cannot read it
  }),
  closure: kernel("closure", { x: view(f64) }, ({ x }, i) => {
    const made = new Map<number, number>(); // ! make private arrays
    x[i] = made.size;
  }),
  big: kernel("big", { x: view(f64) }, ({ x }, i) => {
    x[i] = 2n as unknown as number; // ! i64 is stored into it
  }),
  spread: kernel("spread", { x: view(f64) }, ({ x }, i) => {
    x[i] = Math.max(...WEIGHTS); // ! a spread list
  }),
  thrown: kernel("thrown", { x: view(f64) }, ({ x }, i) => {
    if (x[i] < 0) throw new Error("negative"); // ! throw
  }),
  calls: kernel(
    "calls",
    { x: view(f64) },
    ({ x }, i) => (x[i] = asText(x[i])),
    () => [asText],
  ),
  folded: kernel("folded", { x: view(f64), r: reducer(f64, 0, (a, b) => Math.random() + a + b) }, ({ x, r }, i) => r.merge(x[i])), // ! Math.random
  places: kernel(
    "places",
    { x: view(f64) },
    ({ x }, i) => {
      const q = array(vec3, i); // ! the length of a private array
      x[i] = q[0].x;
    },
    () => [array, vec3],
  ),
  team: teamKernel("team", { x: view(f64) }, ({ x }, team) => {
    x[0] = team.index; // ! several elements of the league
  }),
};

export function containers(grid: DenseGrid<2>): void {
  const [u, next] = [grid.field("u", f64), grid.field("next", f64)];
  const total = grid.scalar("total", f64);
  grid.container("right", { u, next, dt: 0.1, total: sum(total) }, ({ u, next, dt, total }, c) => {
    next[c] = u[c] + dt * (u.at(c, 1, 0) - u.at(c, -1, 0));
    total.add(next[c]);
  });
  grid.container("own", { u }, ({ u }, c) => {
    u[c] = u.at(c, 1, 0); // ! while each cell writes
  });
  grid.container("unlisted", { u }, ({ u }, c) => {
    u[c] = C; // ! captures "C"
  });
}
