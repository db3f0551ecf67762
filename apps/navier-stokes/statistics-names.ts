/*
 * What statistics hold, by the names of the original's file. Each is a mean over z and time, along a channel over x too, of a product of powers of
 * what is known of a cell; Favre moments are those of density times velocity.
 */

/** What products are made of. Derivatives are of the velocity, `dudx`; `omega` is the vorticity, `tau` the viscous stress. */
export const FACTORS = [
  "rho",
  "u",
  "v",
  "w",
  "p",
  "T",
  "mu",
  "nu",
  "T0",
  "mach",
  "cp",
  "gamma",
  "omega_x",
  "omega_y",
  "omega_z",
  "tau_xx",
  "tau_yy",
  "tau_zz",
  "tau_xy",
  "tau_xz",
  "tau_yz",
  "work_x",
  "work_y",
  "work_z",
  "dissipation_xx",
  "dissipation_yy",
  "dissipation_zz",
  "dissipation_xy",
  "dudx",
  "dvdy",
  "dwdz",
  "dudy_dvdx",
] as const;
export type Factor = (typeof FACTORS)[number];

export interface Statistic {
  readonly name: string;
  /** Its factors; of a square one stands twice. */
  readonly of: readonly Factor[];
}

const stat = (...of: Factor[]): Statistic => ({ name: nameOf(of), of });

/** `rho u^2 v`. */
function nameOf(of: readonly Factor[]): string {
  const powers = new Map<Factor, number>();
  for (const factor of of) powers.set(factor, (powers.get(factor) ?? 0) + 1);
  return [...powers].map(([factor, power]) => (power === 1 ? factor : `${factor}^${power}`)).join(" ");
}

const VELOCITY = ["u", "v", "w"] as const;

/** All statistics: means, squares, Favre moments to the fourth order, temperatures, vorticity, work of pressure and stresses, budget of Reynolds stresses. */
export const STATISTICS: readonly Statistic[] = [
  ...(["rho", "u", "v", "w", "p", "T"] as const).map((name) => stat(name)),
  ...(["rho", "u", "v", "w", "p", "T"] as const).map((name) => stat(name, name)),
  ...VELOCITY.map((name) => stat("rho", name)),
  ...VELOCITY.map((name) => stat("rho", name, name)),
  stat("rho", "u", "v"),
  stat("rho", "u", "w"),
  stat("rho", "v", "w"),
  stat("rho", "T"),
  stat("rho", "T", "T"),
  ...VELOCITY.map((name) => stat("rho", name, "T")),
  stat("mu"),
  stat("nu"),
  stat("T0"),
  stat("T0", "T0"),
  stat("mach"),
  stat("mach", "mach"),
  stat("omega_x", "omega_x"),
  stat("omega_y", "omega_y"),
  stat("omega_z", "omega_z"),
  ...VELOCITY.map((name) => stat("rho", name, name, name)),
  ...VELOCITY.map((name) => stat("rho", name, name, name, name)),
  stat("rho", "u", "u", "v"),
  stat("rho", "u", "v", "v"),
  stat("rho", "w", "w", "v"),
  ...VELOCITY.map((name) => stat("p", name)),
  stat("tau_xx"),
  stat("tau_yy"),
  stat("tau_zz"),
  stat("tau_xy"),
  stat("tau_xz"),
  stat("tau_yz"),
  stat("work_x"),
  stat("work_y"),
  stat("work_z"),
  stat("dissipation_xx"),
  stat("dissipation_yy"),
  stat("dissipation_zz"),
  stat("dissipation_xy"),
  stat("p", "dudx"),
  stat("p", "dvdy"),
  stat("p", "dwdz"),
  stat("p", "dudy_dvdx"),
  stat("cp"),
  stat("gamma"),
];
