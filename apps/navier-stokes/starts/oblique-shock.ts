/*
 * A plane shock at an angle to a supersonic stream of a calorically perfect gas (Anderson, Modern Compressible Flow, chapter 4).
 */

interface ObliqueShock {
  /** Angle by which the stream turns, in radians. */
  readonly deflection: number;
  /** Value after the shock over the value before it. */
  readonly pressure: number;
  readonly density: number;
  readonly temperature: number;
  readonly mach: number;
}

/** The shock at `angle` to a stream, in radians. Throws RangeError if no shock has the angle. */
export function obliqueShock(mach: number, angle: number, gamma: number): ObliqueShock {
  const normal = mach * Math.sin(angle);
  if (!(normal > 1 && angle < Math.PI / 2)) {
    const least = mach > 1 ? `from ${((Math.asin(1 / mach) * 180) / Math.PI).toFixed(2)} to 90 degrees` : "at a Mach number above 1";
    throw new RangeError(
      `a shock at ${((angle * 180) / Math.PI).toFixed(2)} degrees to a stream of Mach number ${mach}: there are shocks ${least}`,
    );
  }
  const square = normal ** 2;
  const deflection = Math.atan(((2 / Math.tan(angle)) * (square - 1)) / (2 + mach ** 2 * (gamma + Math.cos(2 * angle))));
  const pressure = 1 + ((2 * gamma) / (gamma + 1)) * (square - 1);
  const density = ((gamma + 1) * square) / ((gamma - 1) * square + 2);
  const behind = Math.sqrt((1 + 0.5 * (gamma - 1) * square) / (gamma * square - 0.5 * (gamma - 1)));
  return { deflection, pressure, density, temperature: pressure / density, mach: behind / Math.sin(angle - deflection) };
}

/** Density, velocity (against the wall at y = 0) and temperature downstream of a shock in a stream of density, temperature and velocity 1, 1, `u0`. */
export function behindShock(shock: ObliqueShock, gamma: number): { rho: number; u: number; v: number; T: number } {
  const { density, temperature, mach, deflection } = shock;
  const speed = mach * Math.sqrt(gamma * temperature);
  return { rho: density, u: speed * Math.cos(deflection), v: -speed * Math.sin(deflection), T: temperature };
}
