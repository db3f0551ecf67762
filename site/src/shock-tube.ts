import { f32, table } from "isoform";
import { mirrorGhosts } from "../../apps/navier-stokes/boundaries/mirror.js";
import { tubeFlow } from "../../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../../apps/navier-stokes/config/config.js";
import type { Flow } from "../../apps/navier-stokes/simulation/simulation.js";
import { GRIDS, type Exhibit } from "./exhibit.js";
import { gasGrid, gasShow, type Shown } from "./gas.js";
import { GLOWING } from "./palette.js";

/** A bubble of light gas with the pressure around it; lengths are in heights of the tube. */
export const BUBBLE = { x: 0.9, y: 0.5, radius: 0.2, rho: 0.2 } as const;
/** Place of the diaphragm, and the gas on its two sides. */
export const DIAPHRAGM = { x: 0.45, behind: { rho: 3, u: 0, p: 5 }, before: { rho: 1, u: 0, p: 1 } } as const;

/** A closed tube of height 1 and twice that length; what leaves it above comes back below. */
export function bubbleFlow(nx: number, ny: number): Flow {
  const config = configOf("tube", { nx, cfl: 0.6, lx: 2 });
  const flow = tubeFlow({ ...config, ny }, (x, y) => {
    const { rho, p } = x < DIAPHRAGM.x ? DIAPHRAGM.behind : DIAPHRAGM.before;
    const inside = 0.5 - 0.5 * Math.tanh((Math.hypot(x - BUBBLE.x, y - BUBBLE.y) - BUBBLE.radius) * ny * 0.5);
    return { rho: rho + (BUBBLE.rho - rho) * inside, velocity: [0, 0, 0], p };
  });
  return { ...flow, boundary: (model, side) => [mirrorGhosts(model, side)] };
}

export const shockTube: Exhibit = {
  id: "shock",
  title: "Shock tube",
  text: "A diaphragm bursts on the left, and a shock runs through a bubble of light gas, which it turns into a pair of vortices; then it runs to and fro between the ends. Bright where the density changes, as in a schlieren photograph. The tube is one high and two long; in one unit of time, sound crosses 1.2 of the gas at rest. The equations of Euler, by WENO of fifth order in characteristic variables.",
  hint: "Draw blasts.",
  erases: false,
  alternative: "Thin bright lines: a shock that runs to the right, bends in the bubble and leaves a pair of vortices behind.",
  sizes: GRIDS,
  defaultGrid: gasGrid,

  async open(set, canvas) {
    const schlieren = ({ grid, w, shown }: Shown) =>
      grid.container("schlieren", { w, shown, gain: table(f32, [canvas.height / 20]) }, ({ w, shown, gain }, c) => {
        const [dx, dy] = [w.at(c, 1, 0, 0)[0] - w.at(c, -1, 0, 0)[0], w.at(c, 0, 1, 0)[0] - w.at(c, 0, -1, 0)[0]];
        shown[c] = 1 - Math.exp(-gain[0] * Math.sqrt(dx * dx + dy * dy));
      });
    return gasShow(set, canvas, bubbleFlow(canvas.width, canvas.height), schlieren, { zero: 0, scale: 255, colours: GLOWING });
  },
};
