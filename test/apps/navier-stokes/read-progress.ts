import { IsoformError } from "isoform";
import type { Progress } from "../../../apps/navier-stokes/simulation/progress-line.js";

/*
 * Lines of progress, the original solver's or this one's (1i10,20es20.10), read and compared.
 */

const STEP_WIDTH = 10;
const WIDTH = 20;

/** The columns after the step. */
function columns({ dt, time, residual, channel, density, temperature, pressure }: Progress): number[] {
  const bulk = channel ? [channel.pressureGradient, channel.density, channel.velocity, channel.temperature] : [];
  return [dt, time, residual, ...bulk, ...density, ...temperature, ...pressure];
}

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
