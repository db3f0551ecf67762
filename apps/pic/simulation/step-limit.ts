import { IsoformError } from "isoform";
import { cellSize, eigenvalues, isPresent, massRow, type Mesh } from "../mesh/mesh.js";
import type { Problem } from "./problem.js";

/**
 * The largest step for which waves stay bounded: 2 / omega, omega^2 the square of the highest frequency of the discrete light waves, if
 * any, plus the square of the plasma's frequency.
 */
function largestStep({ mesh: { axes, velocities }, species }: Problem): number {
  const light = axes.filter(isPresent).map((axis) => {
    const [upper, lower] = [axis.degree, axis.degree - 1].map((degree) => eigenvalues(massRow(axis, degree)));
    return Math.max(...lower.map((mu, m) => ((2 * Math.sin((Math.PI * m) / axis.cells)) / cellSize(axis)) ** 2 * (mu / upper[m])));
  });
  const plasma = species.map(({ charge, mass }) => charge ** 2 / mass);
  const squares = [...plasma, ...(velocities > 1 ? light : [])];
  return 2 / Math.sqrt(squares.reduce((a, b) => a + b, 0));
}

/** Throws IsoformError, with the limit and its formula, for a step of this length or more, forwards or back. */
export function requireStep(problem: Problem, dt: number): void {
  const limit = largestStep(problem);
  if (Math.abs(dt) < limit) return;
  throw new IsoformError(
    `pic: a time step of ${dt} makes waves grow without bounds: it must be less than ${limit.toPrecision(4)}, which is ${formulaOf(problem.mesh)}`,
  );
}

const formulaOf = ({ axes, velocities }: Mesh): string => {
  if (velocities === 1) return "2 / omega, omega^2 the sum of q^2 / m over the species";
  const sizes = axes.filter(isPresent).map((axis, a) => `h_${a + 1} = ${cellSize(axis).toPrecision(4)}`);
  const p = axes[0].degree;
  return (
    `2 / omega, omega^2 the sum of q^2 / m over the species and of the largest (2 sin(theta / 2) / h_a)^2 mu_${p - 1}(theta) / mu_${p}(theta) ` +
    `over the axes, mu_d(theta) the eigenvalues of the mass matrix of splines of degree d; ${sizes.join(", ")}`
  );
};
