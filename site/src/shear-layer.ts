import { boxFlow } from "../../apps/navier-stokes/cases/box-flow.js";
import { configOf } from "../../apps/navier-stokes/config/config.js";
import type { Flow } from "../../apps/navier-stokes/simulation/simulation.js";
import { GRIDS, type Exhibit } from "./exhibit.js";
import { gasGrid, gasShow, type Shown } from "./gas.js";
import { DIVERGING } from "./palette.js";

/** Mach number of each stream. */
const MACH = 0.35;
/** Thickness of the layers between the streams, as parts of the height. */
const THICKNESS = 0.01;
const HEAVY = 2;

/** How much of the heavy gas there is at a height, from 0 to 1. */
const share = (y: number): number => 0.5 * (Math.tanh((y - 0.25) / THICKNESS) - Math.tanh((y - 0.75) / THICKNESS));
const bell = (y: number, at: number): number => Math.exp(-(((y - at) / 0.05) ** 2));

/** Streams side by side, in a periodic box of height 1 and twice that length, with waves that grow; longer ones make rolls merge. */
export function shearFlow(nx: number, ny: number): Flow {
  const config = configOf("box", { nx, ny, lx: 2, ly: 1, mach: MACH, cfl: 0.6, sensorThreshold: 0.05 });
  return boxFlow(config, (x, y, _z, u0) => {
    const heavy = share(y);
    const waves = Math.sin(4 * Math.PI * x) + 0.3 * Math.sin(2 * Math.PI * x) + 0.2 * Math.sin(Math.PI * x + 1);
    const up = 0.1 * u0 * waves * (bell(y, 0.25) + bell(y, 0.75));
    return { rho: 1 + (HEAVY - 1) * heavy, velocity: [u0 * (2 * heavy - 1), up, 0], p: 1 };
  });
}

export const shearLayer: Exhibit = {
  id: "shear",
  title: "Shear layer",
  text: "A heavy gas flows to the right, between streams of a light one that flow to the left. Where they meet, waves grow and roll up: the instability of Kelvin and Helmholtz. Blue is a density of 1, orange one of 2. In one unit of time, sound crosses 1.2 heights of the picture. The equations of Euler, by fluxes that keep kinetic energy and entropy, and by WENO where a sensor finds shocks.",
  hint: "Draw blasts.",
  erases: false,
  alternative: "Two wavy borders between an orange stream and blue ones, which roll up into rows of vortices.",
  sizes: GRIDS,
  defaultGrid: gasGrid,

  async open(set, canvas) {
    const density = ({ grid, w, shown }: Shown) =>
      grid.container("density", { w, shown }, ({ w, shown }, c) => {
        shown[c] = w[c][0];
      });
    const scale = 200 / (HEAVY - 1);
    const colours = { zero: 128 - (scale * (1 + HEAVY)) / 2, scale, colours: DIVERGING };
    return gasShow(set, canvas, shearFlow(canvas.width, canvas.height), density, colours);
  },
};
