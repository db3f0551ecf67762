/*
 * Names of statistics: the 70 averages of the original, in its order. Each is a mean over z and time, along a channel over x too, of a product of what is known
 * of a cell; Favre moments are of density times velocity or temperature.
 */

/** Factors that need the cell alone: density, velocity, pressure, temperature, viscosities, total temperature, local Mach number, heat capacity, ratio of heat capacities. */
export const POINT_FACTORS = ["rho", "u", "v", "w", "p", "T", "mu", "nu", "Tt", "mach", "cp", "gamma"] as const;

/**
 * Factors that need derivatives of the velocity, of the scheme's order: its divergence, the vorticity `omega`, the viscous stress `tau`, which components of the
 * velocity are differentiated how (`dudx`), the dissipation of Reynolds stresses (`dissipation_xx` = tau_xk du/dx_k, `dissipation_xy` = tau_xk dv/dx_k + tau_yk du/dx_k), and
 * their transport by viscous stress along x and y (`transport_x` = tau_xx v + tau_xy u, `transport_y` = tau_xy v + tau_yy u).
 */
export const GRADIENT_FACTORS = [
  "omega_x",
  "omega_y",
  "omega_z",
  "tau_xx",
  "tau_xy",
  "tau_xz",
  "tau_yy",
  "tau_yz",
  "tau_zz",
  "transport_x",
  "transport_y",
  "dissipation_xx",
  "dissipation_yy",
  "dissipation_zz",
  "dissipation_xy",
  "dudx",
  "dvdy",
  "dwdz",
  "dudy_dvdx",
  "div",
] as const;

export const FACTORS = [...POINT_FACTORS, ...GRADIENT_FACTORS] as const;
export type MeanFactor = (typeof FACTORS)[number];

export interface Statistic {
  /** Name of letters, digits and `_`, such as `rho_u2_v`. */
  readonly name: string;
  /** Its factors; of a square one stands twice. */
  readonly of: readonly MeanFactor[];
}

const stat = (...of: MeanFactor[]): Statistic => ({ name: nameOf(of), of });

function nameOf(of: readonly MeanFactor[]): string {
  const powers = new Map<MeanFactor, number>();
  for (const factor of of) powers.set(factor, (powers.get(factor) ?? 0) + 1);
  return [...powers].map(([factor, power]) => (power === 1 ? factor : `${factor}${power}`)).join("_");
}

/** Means, squares, Favre moments to the fourth order, stresses and their work, and what the budgets of Reynolds stresses are made of. */
export const STATISTICS: readonly Statistic[] = [
  ...(["rho", "u", "v", "w", "p", "T"] as const).map((name) => stat(name)),
  ...(["rho", "u", "v", "w", "p", "T"] as const).map((name) => stat(name, name)),
  ...(["u", "v", "w"] as const).map((name) => stat("rho", name)),
  ...(["u", "v", "w"] as const).map((name) => stat("rho", name, name)),
  stat("rho", "u", "v"),
  stat("mu"),
  stat("nu"),
  ...(["omega_x", "omega_y", "omega_z"] as const).map((name) => stat(name, name)),
  stat("rho", "T"),
  stat("rho", "T", "T"),
  stat("Tt"),
  stat("rho", "Tt"),
  stat("Tt", "Tt"),
  ...(["u", "v", "w"] as const).map((name) => stat("rho", name, "T")),
  stat("mach"),
  stat("mach", "mach"),
  ...(["u", "v", "w"] as const).flatMap((name) => (["u", "v"] as const).map((carried) => stat("rho", carried, name, name))),
  stat("p", "u"),
  stat("p", "v"),
  ...(["tau_xx", "tau_xy", "tau_xz", "tau_yy", "tau_yz", "tau_zz"] as const).map((name) => stat(name)),
  stat("tau_xx", "u"),
  stat("tau_xy", "u"),
  stat("tau_xy", "v"),
  stat("tau_yy", "v"),
  stat("tau_xz", "w"),
  stat("tau_yz", "w"),
  stat("transport_x"),
  stat("transport_y"),
  ...(["dissipation_xx", "dissipation_yy", "dissipation_zz", "dissipation_xy"] as const).map((name) => stat(name)),
  ...(["dudx", "dvdy", "dwdz", "dudy_dvdx"] as const).map((name) => stat("p", name)),
  stat("div", "div"),
  stat("rho", "T", "T", "T"),
  stat("rho", "T", "T", "T", "T"),
  stat("rho", "u", "u", "u", "u"),
  stat("cp"),
  stat("gamma"),
];

const isOfPoint = ({ of }: Statistic): boolean => of.every((factor) => (POINT_FACTORS as readonly MeanFactor[]).includes(factor));

/** Statistics of one cell's values; the others need derivatives. */
export const POINT_STATISTICS = STATISTICS.filter(isOfPoint);
export const GRADIENT_STATISTICS = STATISTICS.filter((each) => !isOfPoint(each));
