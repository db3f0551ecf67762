/** Modules to begin with. */
export const EXAMPLES: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: "axpy: vectors",
    text: `import { f32, kernel, view } from "isoform";

export const axpy = kernel("axpy", { a: f32, x: view(f32), y: view(f32) }, ({ a, x, y }, i) => {
  y[i] = a * x[i] + y[i];
});

// What a run is given; all of it may be left away.
export const launch = { size: 1_000_000, a: 2 };
`,
  },
  {
    title: "smooth: a stencil",
    text: `import { f32, kernel, view } from "isoform";

export const smooth = kernel("smooth", { a: f32, u: view(f32, 2), v: view(f32, 2) }, ({ a, u, v }, i, j) => {
  const around = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
  v[i][j] = (1 - 4 * a) * u[i][j] + a * around;
});

// Cells on the border have no neighbours beyond it.
export const launch = { size: 1024, a: 0.2, range: [[1, 1023], [1, 1023]] };
`,
  },
  {
    title: "energy: a reduction with a helper",
    text: `import { f32, kernel, sum, view } from "isoform";

function square(v) {
  return v * v;
}

export const energy = kernel("energy", { m: view(f32), v: view(f32, 2), square, total: sum(f32) }, ({ m, v, square, total }, i) => {
  let speed2 = 0;
  for (let axis = 0; axis < 3; axis++) speed2 += square(v[i][axis]);
  total.add(0.5 * m[i] * speed2);
});

export const launch = { size: 1000 };
`,
  },
];
