/**
 * Drawings: `show` of fields and arrays, heat maps, plots of curves, maps of the sphere, the projection of Hammer and Aitoff, and colours that the colour-blind tell apart.
 * @module
 */
export { EVEN_COLOURS, NO_VALUE, SIGNED_COLOURS } from "./colours.js";
export { cellAxes, heatMap, type HeatMap } from "./heat-map.js";
export { plot, type Curve, type Panel } from "./plot.js";
export { fromHammerAitoff, hammerAitoff, type PlanePoint } from "./projection.js";
export { ValuePicture } from "./picture.js";
export { show, type ShowOptions, type Showable } from "./show.js";
export { sphereMap, type SphereMap } from "./sphere-map.js";
export { escapeSvg } from "./svg.js";
