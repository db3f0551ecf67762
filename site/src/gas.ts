import { f32, table } from "isoform";
import { skeleton } from "isoform/skeleton";
import type { Container, DenseGrid, Field } from "isoform/grid";
import type { DeviceSet } from "isoform/set";
import { Simulation, type Flow } from "../../apps/navier-stokes/simulation/simulation.js";
import { brushOf, distance2 } from "./brush.js";
import { defaultGrid, type Show } from "./exhibit.js";
import type { Look } from "./look.js";
import { pictureOf } from "./picture.js";
import { steppingShow } from "./stepping.js";

/*
 * Exhibits of flows of gas in two dimensions, by the application navier-stokes.
 */

/** Conserved values of a flow, and what is shown of them. */
export interface Shown {
  readonly grid: DenseGrid<3>;
  readonly w: Field<"f32", 5, 3>;
  readonly shown: Field<"f32", 1, 3>;
}

/** Pressure of gas where it is drawn; the gas around has about 1. */
const BLAST = 6;

/** A step of three stages is as much work as ten of other exhibits. */
export const gasGrid = (set: DeviceSet): number => defaultGrid(set) + 1;

/** A flow at work in f32; strokes are blasts. `look` makes what is shown of the conserved values. */
export async function gasShow(
  set: DeviceSet,
  canvas: HTMLCanvasElement,
  flow: Flow,
  look: (of: Shown) => Container,
  colours: Pick<Look, "zero" | "scale" | "colours">,
): Promise<Show> {
  const simulation = await Simulation.create(set, flow, { type: "f32" });
  const { grid, time } = simulation;
  const w = simulation.fields.w as Field<"f32", 5, 3>;
  const shown = grid.field("shown", f32);
  const brush = brushOf(grid);
  const inner = BLAST / (flow.gas.gamma - 1);
  const paint = grid.container(
    "paint",
    { w, ...brush, distance2, reach2: table(f32, [(canvas.width / 50) ** 2]), inner: table(f32, [inner]) },
    ({ w, ax, ay, bx, by, distance2, reach2, inner }, c) => {
      const moving = (w[c][1] * w[c][1] + w[c][2] * w[c][2]) / (2 * w[c][0]);
      if (distance2(c, ax, ay, bx, by) < reach2[0]) w[c][4] = Math.max(w[c][4], inner[0] + moving);
    },
  );
  return steppingShow({
    grid,
    step: simulation.skeleton,
    painting: skeleton(set, "paint", [paint]),
    brush,
    showing: skeleton(set, "shown", [look({ grid, w, shown })]),
    picture: await pictureOf(canvas, { grid, values: shown, ...colours }),
    begin: () => simulation.restart(),
    // Waves cross the picture in the same time, however many cells there are.
    most: Math.max(1, Math.round(canvas.width / 128)),
    time,
  });
}
