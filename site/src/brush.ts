import { f32 } from "isoform";
import type { DenseGrid } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Stroke } from "./exhibit.js";

/** The stroke that containers see, as scalars on the device. */
export interface Brush {
  readonly ax: Scalar<"f32">;
  readonly ay: Scalar<"f32">;
  readonly bx: Scalar<"f32">;
  readonly by: Scalar<"f32">;
  /** Ink to draw. */
  readonly ink: Scalar<"f32">;
}

/** A brush of a grid; its scalars are the grid's. */
export function brushOf(grid: DenseGrid<2> | DenseGrid<3>): Brush {
  const scalar = (name: string): Scalar<"f32"> => grid.scalar(name, f32);
  return { ax: scalar("ax"), ay: scalar("ay"), bx: scalar("bx"), by: scalar("by"), ink: scalar("ink") };
}

/** Hands a stroke over to the device. */
export function take({ ax, ay, bx, by, ink }: Brush, { from, to }: Stroke, value: number): void {
  ax.set(from.x);
  ay.set(from.y);
  bx.set(to.x);
  by.set(to.y);
  ink.set(value);
}

/** For containers: the squared distance of a cell from the line between two points. */
export function distance2(c: { readonly x: number; readonly y: number }, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay];
  const [px, py] = [Math.fround(c.x) - ax, Math.fround(c.y) - ay];
  const share = Math.min(1, Math.max(0, (px * dx + py * dy) / Math.max(1e-6, dx * dx + dy * dy)));
  const [ex, ey] = [px - share * dx, py - share * dy];
  return ex * ex + ey * ey;
}
