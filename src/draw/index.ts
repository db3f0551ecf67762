/**
 * Drawings as SVG: maps of the sphere, the projection of Hammer and Aitoff, and colours that the colour-blind tell apart.
 * @module
 */
export { EVEN_COLOURS, NO_VALUE, SIGNED_COLOURS } from "./colours.js";
export { fromHammerAitoff, hammerAitoff, type PlanePoint } from "./projection.js";
export { sphereMap, type SphereMap } from "./sphere-map.js";
export { escapeSvg } from "./svg.js";
