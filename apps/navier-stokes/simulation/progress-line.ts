/*
 * Lines of progress as the original solver writes them, by the Fortran format (1i10,20es20.10), so that files can be compared as they are.
 */

/** State of a flow after a step, as `Simulation.progress` finds it, in units of the gas. */
export interface Progress {
  readonly step: number;
  readonly dt: number;
  readonly time: number;
  /** Root of the mean square of the change of rho u in the last stage, by the time step and the square of the speed of reference. */
  readonly residual: number;
  readonly channel?: ChannelProgress;
  readonly density: Extremes;
  readonly temperature: Extremes;
  readonly pressure: Extremes;
}

/** The least and the greatest value in all cells. */
export type Extremes = readonly [least: number, most: number];

/** Bulk values of a channel. */
export interface ChannelProgress {
  /** -dp/dx, from the change of the bulk velocity. */
  readonly pressureGradient: number;
  readonly density: number;
  readonly velocity: number;
  readonly temperature: number;
}

const STEP_WIDTH = 10;
const WIDTH = 20;
const DIGITS = 10;

/** es20.10: one digit before the point; an exponent of three digits takes the place of the letter E. */
const fortranNumber = (value: number): string => exponential(value).padStart(WIDTH);

function exponential(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  const [mantissa, exponent] = value.toExponential(DIGITS).split("e");
  const sign = exponent.startsWith("-") ? "-" : "+";
  const digits = exponent.slice(1);
  const signed = Object.is(value, -0) ? `-${mantissa}` : mantissa;
  return digits.length > 2 ? `${signed}${sign}${digits}` : `${signed}E${sign}${digits.padStart(2, "0")}`;
}

/** The columns after the step. */
function columns({ dt, time, residual, channel, density, temperature, pressure }: Progress): number[] {
  const bulk = channel ? [channel.pressureGradient, channel.density, channel.velocity, channel.temperature] : [];
  return [dt, time, residual, ...bulk, ...density, ...temperature, ...pressure];
}

/** A line, without its end. */
export const progressLine = (progress: Progress): string => {
  const step = String(progress.step);
  return (step.length > STEP_WIDTH ? "*".repeat(STEP_WIDTH) : step.padStart(STEP_WIDTH)) + columns(progress).map(fortranNumber).join("");
};
