import { IsoformError } from "isoform";
import { FLOWS, isLayer, type Config, type Given } from "./config-keys.js";

/*
 * Combinations of keys that make no sense.
 */

type Check = (config: Config, given: Given) => string | undefined;

/** Cells beside a face that fluxes read. */
const halfWidth = ({ order, weno, sensorThreshold }: Pick<Config, "order" | "weno" | "sensorThreshold">): number =>
  Math.max(order / 2, sensorThreshold > 1 ? 0 : (weno + 1) / 2);

/** Axes along which one cell will do, as nothing changes along them. */
function flatAxes({ case: name, inflow }: Config): readonly string[] {
  if (name === "tube") return ["ny", "nz"];
  return name === "box" || (isLayer(name) && inflow === "laminar") ? ["nz"] : [];
}

const fewPoints: Check = (config) => {
  const least = 2 * halfWidth(config);
  for (const [name, cells] of [["nx", config.nx] as const, ["ny", config.ny] as const, ["nz", config.nz] as const])
    if (cells < least && !(cells === 1 && flatAxes(config).includes(name)))
      return `${name} is ${cells}, and order ${config.order} with WENO ${config.weno} needs at least ${least} cells along an axis: ask for more, or for a lower order`;
  return undefined;
};

/** Terms of the series in KEEP(n): with density ratios below 3, further terms are lost in f64. */
const MOST_TERMS = 25;

const CHECKS: readonly Check[] = [
  fewPoints,
  ({ random, inflow, case: name }) =>
    random && inflow === "laminar" ? `a laminar ${name} starts without noise: leave out random, or choose inflow "recycling"` : undefined,
  ({ keep }) =>
    keep > MOST_TERMS ? `keep is ${keep}: KEEP(n) takes ${MOST_TERMS} terms at most, as more are lost in round-off` : undefined,
  ({ case: name, flow }) => {
    const flows: readonly string[] | undefined = name === "box" || name === "tube" ? FLOWS[name] : undefined;
    return flows && !flows.includes(flow!) ? `a ${name} has no flow ${flow}: choose ${flows.join(" or ")}` : undefined;
  },
  ({ cfl, dt }) =>
    cfl === 0 && dt === undefined ? "cfl is 0 and dt is not given: give a fixed time step by dt, or a cfl above 0" : undefined,
  ({ weno, wenoZ }, given) =>
    wenoZ && weno !== 5
      ? `WENO-Z weights need WENO of order 5, and weno is ${weno}: leave out weno_z${given.weno === undefined ? "" : ", or choose weno 5"}`
      : undefined,
  ({ gas, case: name }) =>
    gas === "thermal" && (name === "tube" || name === "shock")
      ? `a ${name} takes a gas of constant heat capacities: leave out gas, or choose "perfect"`
      : undefined,
  ({ re, viscous, case: name }) =>
    viscous !== "none" && name === "tube"
      ? `a tube has no viscosity: leave out viscous`
      : viscous !== "none" && re === undefined && name === "box"
        ? "viscous terms need a Reynolds number: give re, or leave out viscous"
        : undefined,
  ({ re, inflow, case: name }, given) =>
    isLayer(name) && inflow === "recycling" && given.re !== undefined
      ? `re is ${re}, and the Reynolds number of a turbulent layer follows from re_tau: leave out re, or choose inflow "laminar"`
      : undefined,
  ({ case: name, ny }) =>
    name === "channel" && ny % 2 !== 0 ? `ny is ${ny}: a channel has two equal halves, so choose an even number` : undefined,
  (config) =>
    isLayer(config.case) && config.nWall >= config.ny
      ? `n_wall is ${config.nWall}, and ny only ${config.ny}: the layer at the wall needs fewer cells than the axis`
      : undefined,
  (config) =>
    config.case === "layer" && config.lWall >= config.ly
      ? `l_wall is ${config.lWall}, and the domain ends at ly ${config.ly}: choose a lower layer, or a higher domain`
      : undefined,
  (config) =>
    isLayer(config.case) && config.inflow === "recycling" && config.nz % 2 !== 0
      ? `nz is ${config.nz}: recycling shifts fluctuations by half of the cells along z, so choose an even number`
      : undefined,
  (config) => {
    if (!isLayer(config.case) || config.inflow !== "recycling") return undefined;
    const step = config.lx / (config.nx - 1);
    const first = halfWidth(config) * step;
    return config.recycleX > first && config.recycleX < config.lx
      ? undefined
      : `recycle_x is ${config.recycleX}, and the domain with the columns that are copied reaches from ${first.toPrecision(3)} to lx ${config.lx}: choose a plane between`;
  },
  ({ case: name, mach, shockAngle }) => {
    if (name !== "shock") return undefined;
    if (mach <= 1) return `mach is ${mach}: there are shocks in streams above 1 only`;
    const least = (Math.asin(1 / mach) * 180) / Math.PI;
    return shockAngle > least && shockAngle < 90
      ? undefined
      : `shock_angle is ${shockAngle}: at Mach number ${mach} shocks have from ${least.toFixed(2)} to 90 degrees`;
  },
  ({ case: name, shockX, lx }) =>
    name === "shock" && !(shockX < lx)
      ? `shock_x is ${shockX}, and the domain ends at lx ${lx}: the shock misses it; choose a smaller shock_x`
      : undefined,
];

/** Throws IsoformError for the first thing that makes no sense. */
export function requireSensible(config: Config, given: Given): void {
  for (const check of CHECKS) {
    const problem = check(config, given);
    if (problem !== undefined) throw new IsoformError(`navier-stokes ${config.case}: ${problem}`);
  }
}

/** A shock must come in through the upper side, whose height follows from the grid. */
export function requireShockInside({ shockX, shockAngle, lx }: Config, height: number): void {
  const above = shockX - height / Math.tan((shockAngle * Math.PI) / 180);
  if (!(above > 0 && above < lx))
    throw new IsoformError(
      `navier-stokes shock: a shock of ${shockAngle} degrees that would meet the wall at ${shockX} stands at x = ${above.toFixed(2)} at the upper side, ` +
        `y = ${height.toFixed(2)}, and the domain reaches from 0 to ${lx}: it misses the domain; choose a greater shock_x or shock_angle, or fewer cells beyond n_wall`,
    );
}
