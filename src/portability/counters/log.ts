import { IsoformError } from "../../base/errors.js";

/*
 * Log of `ncu --csv`: lines of ncu's own that begin with ==, and a table with a row for each metric of each kernel that ran.
 */

/** Metrics that are asked of ncu, by what they are here. Every GPU has the first three. */
export const METRICS = {
  read: "dram__bytes_read.sum",
  written: "dram__bytes_write.sum",
  time: "gpu__time_duration.sum",
  l1Hits: "l1tex__t_sector_hit_rate.pct",
  atomics: "lts__t_sectors_op_atom.sum",
  reductions: "lts__t_sectors_op_red.sum",
} as const;

/** Names of the metrics here. */
export type CounterName = keyof typeof METRICS;

/** A kernel that ran once, as ncu tells. */
export interface CountedRun {
  /** The function's name, without its parameters. */
  readonly kernel: string;
  /** Bytes, seconds, fractions of 1 and sectors; a metric that the GPU does not have is absent. */
  readonly values: Readonly<Partial<Record<CounterName, number>>>;
}

const COLUMNS = ["ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"] as const;

/** Bytes and sectors in one of ncu's units, and how many of its other units make a second or a whole. Versions of ncu write units of time in two ways. */
const FACTORS: Readonly<Record<string, number>> = {
  byte: 1,
  Kbyte: 1e3,
  Mbyte: 1e6,
  Gbyte: 1e9,
  Tbyte: 1e12,
  sector: 1,
  Ksector: 1e3,
  Msector: 1e6,
  Gsector: 1e9,
};
const DIVISORS: Readonly<Record<string, number>> = {
  ns: 1e9,
  nsecond: 1e9,
  us: 1e6,
  usecond: 1e6,
  ms: 1e3,
  msecond: 1e3,
  s: 1,
  second: 1,
  "%": 100,
};

/** Values of metrics that a GPU does not have. */
const ABSENT = /^(n\/a|\(!\) n\/a|nan|)$/i;
/** With separators of thousands or without, as the locale C has them. */
const NUMBER = /^(\d{1,3}(,\d{3})+|\d+)(\.\d+)?(e[+-]?\d+)?$/i;

/** Lines in which ncu tells of a failure. */
export const errorsIn = (log: string): string[] =>
  log.split(/\r?\n/).flatMap((line) => {
    const found = /^==ERROR==\s*(.*)$/.exec(line);
    return found ? [found[1].trim()] : [];
  });

/**
 * Reads the kernels that ran, in their order; none where there is no table. Throws IsoformError, with the line, for a table that is cut off or has other
 * columns, units or values than ncu writes.
 */
export function readCounters(log: string): CountedRun[] {
  const lines = log.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith('"ID"'));
  if (start < 0) return [];
  const header = fieldsOf(lines[start], start + 1);
  const places = COLUMNS.map((name) => {
    const place = header.indexOf(name);
    if (place < 0) throw wrong(start + 1, `the table has no column "${name}", but ${header.join(", ")}`);
    return place;
  });
  const runs = new Map<string, { kernel: string; values: Partial<Record<CounterName, number>> }>();
  for (let n = start + 1; n < lines.length; n++) {
    if (lines[n].trim() === "" || lines[n].startsWith("==")) continue;
    const fields = fieldsOf(lines[n], n + 1);
    if (fields.length !== header.length) throw wrong(n + 1, `${fields.length} fields, and the table has ${header.length} columns`);
    const [id, name, metric, unit, value] = places.map((place) => fields[place]);
    const found = (Object.keys(METRICS) as CounterName[]).find((one) => METRICS[one] === metric);
    if (!found) continue;
    const run = runs.get(id) ?? { kernel: functionName(name), values: {} };
    runs.set(id, run);
    if (run.kernel !== functionName(name)) throw wrong(n + 1, `launch ${id} is "${name}", and was "${run.kernel}" before`);
    if (run.values[found] !== undefined) throw wrong(n + 1, `launch ${id} has ${metric} twice`);
    if (!ABSENT.test(value)) run.values[found] = valueOf(value, unit, n + 1);
  }
  for (const [id, { kernel, values }] of runs)
    for (const name of ["read", "written", "time"] as const)
      if (values[name] === undefined) throw wrong(lines.length, `launch ${id}, ${kernel}, has no ${METRICS[name]}`);
  return [...runs.values()];
}

function valueOf(text: string, unit: string, line: number): number {
  if (!NUMBER.test(text)) throw wrong(line, `"${text}" is not a number`);
  const value = Number(text.replaceAll(",", ""));
  if (Object.hasOwn(FACTORS, unit)) return value * FACTORS[unit];
  if (Object.hasOwn(DIVISORS, unit)) return value / DIVISORS[unit];
  throw wrong(line, `unknown unit "${unit}"`);
}

/** `saxpy` of `void saxpy<double>(const double *, int)`. */
const functionName = (name: string): string =>
  name
    .replace(/[(<].*$/, "")
    .trim()
    .split(/\s+/)
    .at(-1)!;

/** Fields of a line in quotes, which are doubled inside. */
function fieldsOf(line: string, number: number): string[] {
  const fields: string[] = [];
  const field = /"((?:[^"]|"")*)"(,|$)/y;
  for (let at = 0; at < line.length; at = field.lastIndex) {
    field.lastIndex = at;
    const found = field.exec(line);
    if (!found) throw wrong(number, `it is cut off, or not in quotes: ${line.slice(at, at + 60)}`);
    fields.push(found[1].replaceAll('""', '"'));
  }
  return fields;
}

const wrong = (line: number, problem: string): IsoformError => new IsoformError(`ncu's log, line ${line}: ${problem}`);
