import { boxFlow, tubeFlow } from "./box-flow.js";
import { channelFlow } from "./channel.js";
import type { CaseName, Config } from "../config/config-keys.js";
import { layerFlow } from "./layer-flow.js";
import type { Flow } from "../simulation/simulation.js";

/** A kind of flow. */
interface Case {
  readonly description: string;
  /** Options of `isoform navier-stokes` for it. */
  readonly examples: readonly string[];
  /** Flow that the defaults in the help belong to. */
  readonly defaults?: string;
  readonly flow: (config: Config) => Flow;
}

/** The kinds of flow by name. */
export const CASE_OF: Readonly<Record<CaseName, Case>> = {
  channel: {
    description: "turbulent flow between two walls, at a constant flow rate",
    examples: ["--steps 200 --devices native", "--random --steps 20000 --checkpoint a.state --svg a.svg --show velocity"],
    flow: channelFlow,
  },
  layer: {
    description: "a boundary layer on a wall, turbulent or laminar",
    defaults: "--inflow recycling",
    examples: ["--stats-every 10 --wall wall.csv wall.svg", "--inflow laminar --mach 0.2 --wall wall.svg"],
    flow: layerFlow,
  },
  shock: {
    description: "an oblique shock that meets a boundary layer",
    defaults: "--inflow recycling",
    examples: ["--svg shock.svg --wall wall.svg"],
    flow: layerFlow,
  },
  box: {
    description: "vortices in a periodic box: one that travels, or Taylor and Green's",
    defaults: "--flow vortex",
    examples: ["--flow vortex --nx 64 --ny 64", "--flow taylor-green --re 1600 --steps 620 --energy energy.csv energy.svg"],
    flow: (config) => boxFlow(config),
  },
  tube: {
    description: "shocks along one axis: Sod's shock tube, or the shock of Shu and Osher",
    defaults: "--flow sod",
    examples: ["--weno 5 --profiles tube.csv tube.svg", "--flow shu-osher --nx 401 --profiles tube.svg"],
    flow: (config) => tubeFlow(config),
  },
};

/** The flow of a configuration from `configOf`. Throws IsoformError for one that makes no sense. */
export const flowOf = (config: Config): Flow => CASE_OF[config.case].flow(config);
