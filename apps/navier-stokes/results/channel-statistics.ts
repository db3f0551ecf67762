import { inWallUnits } from "./friction.js";
import type { Flow } from "../simulation/simulation.js";
import type { Means } from "../measures/statistics.js";
import type { NamedColumns } from "./text-table.js";
import { channelWall, foldHalves } from "./walls.js";

/**
 * Profiles of a channel by the distance from its walls, means of both halves, in units of the wall: `y` by half the height, `y_plus`; mean velocity `u_plus` and van Driest's
 * `u_van_driest`; root mean squares of velocities, sqrt(rho u''^2 / tau_w), of the pressure by tau_w and of the temperature by T_w; `reynolds` = -rho u''v'' / tau_w, `viscous` stress and
 * their sum `stress`, which is 1 - y where the flow is steady; mean density and temperature by the wall's. Fluctuations u'' are by means of rho u / rho (Favre).
 */
export function channelProfiles(flow: Flow, means: Means): NamedColumns {
  const { profile, wall, friction } = channelWall(flow, means);
  const { yPlus, uPlus, vanDriest } = inWallUnits(profile, wall, friction);
  const { stress: tau } = friction;
  const even = (name: string): Float64Array => foldHalves(means.columns.get(name)!);
  const odd = (name: string): Float64Array => foldHalves(means.columns.get(name)!, -1);
  const rho = even("rho");
  const [u, w] = [even("rho_u"), even("rho_w")];
  const v = odd("rho_v");
  const [p, T, p2, T2] = [even("p"), even("T"), even("p2"), even("T2")];
  const [uv, tauXy] = [odd("rho_u_v"), odd("tau_xy")];
  // Round-off may leave less than nothing of what does not fluctuate.
  const root = (square: number): number => Math.sqrt(Math.max(square, 0));
  const rms = (squares: Float64Array, momentum: Float64Array): Float64Array =>
    squares.map((square, j) => root((square - momentum[j] ** 2 / rho[j]) / tau));
  const reynolds = uv.map((each, j) => ((u[j] * v[j]) / rho[j] - each) / tau);
  const viscous = tauXy.map((each) => each / tau);
  return new Map([
    ["y", profile.y],
    ["y_plus", yPlus],
    ["u_plus", uPlus],
    ["u_van_driest", vanDriest],
    ["u_rms", rms(even("rho_u2"), u)],
    ["v_rms", rms(even("rho_v2"), v)],
    ["w_rms", rms(even("rho_w2"), w)],
    ["reynolds", reynolds],
    ["viscous", viscous],
    ["stress", reynolds.map((each, j) => each + viscous[j])],
    ["p_rms", p2.map((square, j) => root(square - p[j] ** 2) / tau)],
    ["T_rms", T2.map((square, j) => root(square - T[j] ** 2) / wall.temperature)],
    ["rho_by_wall", rho.map((each) => each / (wall.pressure / wall.temperature))],
    ["T_by_wall", T.map((each) => each / wall.temperature)],
  ]);
}
