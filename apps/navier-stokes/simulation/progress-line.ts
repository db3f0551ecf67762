import { IsoformError } from "isoform";

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
export function fortranNumber(value: number): string {
  return exponential(value).padStart(WIDTH);
}

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

/** Reads lines in columns or with spaces between them; exponents as 1.0E+00, 1.0e0 or 1.0+100. Throws IsoformError for any other line. */
export function readProgressLine(line: string): Progress {
  const words = isInColumns(line)
    ? [line.slice(0, STEP_WIDTH), ...(line.slice(STEP_WIDTH).match(/.{1,20}/g) ?? [])].map((word) => word.trim())
    : line.trim().split(/\s+/);
  const [step, ...values] = words.map(fortranValue);
  if (values.some(Number.isNaN) && !/nan/i.test(line))
    throw new IsoformError(`"${line.trim()}" is not a line of progress: a column is not a number`);
  if (values.length !== 9 && values.length !== 13)
    throw new IsoformError(`"${line.trim()}" is not a line of progress: it has ${words.length} columns instead of 10, or 14 of a channel`);
  const [dt, time, residual] = values;
  const [pressureGradient, density, velocity, temperature] = values.slice(3);
  const [a, b, c, d, e, f] = values.slice(-6);
  return {
    step,
    dt,
    time,
    residual,
    ...(values.length === 13 && { channel: { pressureGradient, density, velocity, temperature } }),
    density: [a, b],
    temperature: [c, d],
    pressure: [e, f],
  };
}

const isInColumns = (line: string): boolean => (line.length - STEP_WIDTH) % WIDTH === 0 && /^ *\d+ /.test(line);

/** 1.5E+00, and 1.5+100 without the letter. */
const fortranValue = (word: string): number => Number(word.replace(/^(-?[\d.]+)([+-]\d{3})$/, "$1e$2"));

interface Difference {
  readonly column: string;
  readonly value: number;
  readonly expected: number;
  /** Relative to the expected value, or the value itself where that is 0. */
  readonly error: number;
}

const NAMES = ["dt", "time", "residual"];
const CHANNEL_NAMES = ["-dp/dx", "bulk density", "bulk velocity", "bulk temperature"];
const EXTREME_NAMES = ["density", "temperature", "pressure"].flatMap((name) => [`least ${name}`, `greatest ${name}`]);

/** The columns of two lines beside each other. Throws IsoformError if one has the columns of a channel, and the other not. */
export function compareProgress(found: Progress, expected: Progress): Difference[] {
  const [values, others] = [columns(found), columns(expected)];
  if (values.length !== others.length)
    throw new IsoformError(`a line has ${values.length + 1} columns, and the other ${others.length + 1}`);
  const names = [...NAMES, ...(found.channel ? CHANNEL_NAMES : []), ...EXTREME_NAMES];
  return names.map((column, n) => {
    const error = Math.abs(values[n] - others[n]);
    return { column, value: values[n], expected: others[n], error: others[n] === 0 ? error : error / Math.abs(others[n]) };
  });
}
