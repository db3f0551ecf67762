import { boxFlow, tubeFlow } from "./box-flow.js";
import { channelFlow } from "./channel.js";
import type { CaseName, Config } from "./config-keys.js";
import { layerFlow } from "./layer-flow.js";
import type { Flow } from "./simulation.js";

/** A kind of flow. */
export interface Case {
  readonly description: string;
  readonly flow: (config: Config) => Flow;
}

/** The kinds of flow by name. */
export const CASE_OF: Readonly<Record<CaseName, Case>> = {
  channel: { description: "turbulent flow between two walls, driven at a constant rate", flow: channelFlow },
  layer: { description: "a boundary layer on a wall, turbulent or laminar", flow: layerFlow },
  shock: { description: "a boundary layer that an oblique shock meets", flow: layerFlow },
  box: { description: "vortices in a periodic box", flow: (config) => boxFlow(config) },
  tube: { description: "shocks along one axis: Sod's tube, and that of Shu and Osher", flow: (config) => tubeFlow(config) },
};

/** The flow of a configuration from `configOf`. Throws IsoformError for one that makes no sense. */
export const flowOf = (config: Config): Flow => CASE_OF[config.case].flow(config);
