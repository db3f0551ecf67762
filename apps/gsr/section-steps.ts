import type { Launch, View } from "isoform";
import { f64, kernel, range, sum, view } from "isoform";
import type { DeviceSet } from "isoform/set";
import { readPieces } from "isoform/set";
import type { IterationWatch } from "./lsqr.js";
import type { Norms } from "./norms.js";
import type { Shape } from "./shape.js";
import { sections } from "./shape.js";
import type { Share } from "./tiles.js";

/*
 * How far each section of the unknowns moves in an iteration. The iteration's columns have unit norm, so an unknown is in units of the standard error
 * that it would have if all others were known, which is its true standard error or less.
 */

/** Sections of the unknowns, in their order. */
export const SECTION_NAMES = ["astrometry", "attitude", "instrument", "global"] as const;

/** Iterations that are recorded in each factor of ten. */
const PER_DECADE = 24;

/** An iteration of a solution. */
interface ConvergencePoint {
  readonly iteration: number;
  /** Squares of the iteration's step, summed over each section, in squares of the unknowns' standard errors by themselves. */
  readonly squares: readonly number[];
  /** |A^T r| / (|A| |r|), which the stopping rules compare with atol. */
  readonly gradient: number;
}

/** Record of how a solution converges, at iterations that are evenly spread over the logarithm of their number. */
export class Convergence {
  /** Points of the last solution. */
  points: ConvergencePoint[] = [];

  /** Whether an iteration is recorded. */
  isDue(iteration: number): boolean {
    const place = (n: number): number => Math.floor(PER_DECADE * Math.log10(n));
    return iteration === 1 || place(iteration) > place(iteration - 1);
  }
}

const squaredStep = kernel("squaredStep", { x: view(f64), before: view(f64), result: sum(f64) }, ({ x, before, result }, j) => {
  result.add((x[j] - before[j]) * (x[j] - before[j]));
});

/** A member's copy of x, and the launches that compare the two. */
interface WatchedShare {
  readonly share: Share;
  readonly before: View<"f64">;
  readonly squares: View<"f64">;
  readonly launches: readonly Launch[];
}

/** Bytes of device memory that the record of a solution of this shape takes. */
export const stepsFootprint = (shape: Shape): number => 8 * (sections(shape).unknowns + SECTION_NAMES.length);

/** Records a solution's steps on its devices, in memory of its own (`stepsFootprint`), which is freed after the solution. */
export class SectionSteps implements IterationWatch {
  private readonly watched: readonly WatchedShare[];

  constructor(
    private readonly set: DeviceSet,
    shares: readonly Share[],
    private readonly record: Convergence,
  ) {
    record.points = [];
    this.watched = shares.map((share) => {
      const { device } = share.member;
      const x = share.vectors.x.at(1, 0);
      const [before, squares] = [device.array(f64, x.length), device.array(f64, SECTION_NAMES.length)];
      const { attitude, instrument, global, unknowns } = sections(share.system.shape);
      const bounds = [0, attitude, instrument, global, unknowns];
      const launches = SECTION_NAMES.flatMap((_, n) => {
        const part = [bounds[n], bounds[n + 1]] as const;
        if (part[0] === part[1]) return [];
        const args = { x: x.slice(part), before: before.slice(part), result: squares.slice([n, n + 1]) };
        return [device.prepare(squaredStep, args, range(part[1] - part[0]))];
      });
      return { share, before, squares, launches };
    });
  }

  before(iteration: number): void {
    if (!this.record.isDue(iteration)) return;
    for (const { share, before } of this.watched) share.member.queue(0).copy(share.vectors.x.at(1, 0), before);
  }

  after(iteration: number): void {
    if (!this.record.isDue(iteration)) return;
    for (const { share, launches } of this.watched) for (const launch of launches) share.member.queue(0).submit(launch);
  }

  async note(iteration: number, { anorm, rnorm, arnorm }: Norms): Promise<void> {
    if (!this.record.isDue(iteration)) return;
    const views: View<"f64">[] = [];
    for (const { share, squares } of this.watched) views[share.member.index] = squares;
    const lengths = this.set.members.map(() => SECTION_NAMES.length);
    const pieces = await readPieces(this.set, views, lengths, "steps of sections");
    // Members have stars of their own, and the other sections alike.
    const squares = Array.from(pieces[0], (own, n) => (n === 0 ? pieces.reduce((total, piece) => total + piece[0], 0) : own));
    this.record.points.push({ iteration, squares, gradient: rnorm > 0 ? arnorm / (anorm * rnorm) : 0 });
  }

  free(): void {
    for (const { before, squares, launches } of this.watched) for (const each of [...launches, before, squares]) each.free();
  }
}

/** The same for iterations that are counted from `first` on. */
export const countedFrom = (watch: IterationWatch, first: number): IterationWatch => ({
  before: (iteration) => watch.before(first + iteration),
  after: (iteration) => watch.after(first + iteration),
  note: (iteration, norms) => watch.note(first + iteration, norms),
});
