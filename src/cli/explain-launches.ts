import type { Device, Launch, OpenOptions } from "../device/device.js";
import type { View } from "../device/memory/view.js";
import { bind } from "../device/launch/bind.js";
import { open } from "../device/open.js";
import type { Policy } from "../device/launch/policy.js";
import { IsoformError } from "../base/errors.js";
import type { AccessAnalysis } from "../ir/analysis/access.js";
import type { Precision } from "../ir/launch.js";
import type { Application, IterationLaunch, PreparedApplication, ProblemOptions } from "../portability/application.js";
import { requireForm } from "../portability/forms.js";
import { requireGlobals } from "../portability/globals.js";
import { devices } from "../set/index.js";
import { watched, type Noted } from "./observed-launches.js";

/** Options of `isoform explain` for an application whose iteration is a sequence of launches. */
export interface LaunchesOptions {
  readonly devices: string;
  readonly precision: Precision;
  readonly form?: string;
  /** Unknowns of the global section, of applications with one. Default: 0. */
  readonly globals?: ProblemOptions["globals"];
  readonly gib?: number;
  readonly f64?: OpenOptions["f64"];
  /** Iterations that are measured; 0 for none. */
  readonly iterations: number;
}

/** Word of `--form` for the fastest form of the device. */
const FASTEST = "fastest";

/** Arguments of a launch, and the uses that its kernel makes of them. */
interface LaunchUses {
  readonly views: Readonly<Record<string, View>>;
  readonly access: AccessAnalysis;
}

/**
 * Describes the launches of one iteration on a device: what each reads and writes, its work, and how its device runs it.
 * @throws IsoformError for an application that names no launches, LaunchError for a form that it does not have
 */
export async function explainLaunches(application: Application, options: LaunchesOptions): Promise<string> {
  const { precision, form: wish, gib, globals, iterations } = options;
  requireGlobals(application, globals);
  if (wish !== undefined) requireForm(application, wish, [FASTEST]);
  const device = await open(options.devices, { f64: options.f64 });
  const uses = new Map<unknown, LaunchUses>();
  const note: Noted = (kernel, args, policy, given, launch) => {
    const { access, views } = bind(device, kernel, args, policy, { ...given, precision: (launch as Launch).precision });
    uses.set(launch, { access, views });
  };
  const set = await devices([watched(device, ["prepare"], note)]);
  try {
    const problem = { gib, quick: gib === undefined, precision, globals };
    const form = wish === FASTEST ? application.forms!.fastest(set, problem) : wish;
    const prepared = await application.prepare(set, { ...problem, form });
    if (!prepared.launches)
      throw new IsoformError(`${application.name} has neither a sequence of containers nor launches of an iteration to explain`);
    const usesOf = prepared.launches.map(({ launch }) => uses.get(launch)!);
    // A device that tunes replaces launches in the run.
    const times = iterations > 0 ? [await timesOf(prepared, iterations)] : [];
    const bodies = prepared.launches.map((launch, n) => launchText(launch, n + 1, usesOf[n]));
    const head = headOf(device, prepared, precision);
    prepared.free();
    return [head, ...bodies, ...times].join("\n\n");
  } finally {
    await set.close();
    await device.close();
  }
}

function headOf({ name, label }: Device, { problem, form, launches = [] }: PreparedApplication, precision: Precision): string {
  const total = (of: "bytes" | "flops"): number => launches.reduce((sum, { launch }) => sum + launch.cost[of], 0);
  return [
    `${problem}${form === undefined ? "" : `, form ${form}`} on ${name} (${label}), ${precision}`,
    `an iteration is ${launches.length} launches: ${workText(total("bytes"), total("flops"))}`,
  ].join("\n");
}

/** A number of a unit with its decimal prefix, to four digits. */
function prefixed(value: number, unit: string): string {
  const power = Math.max(0, Math.min(PREFIXES.length - 1, Math.floor(Math.log10(value) / 3)));
  return `${Number((value / 1000 ** power).toPrecision(4))} ${PREFIXES[power]}${unit}`;
}

const PREFIXES = ["", "k", "M", "G", "T"];

const workText = (bytes: number, flops: number): string => `${prefixed(bytes, "B")}, ${prefixed(flops, "FLOP")}`;

function launchText({ name, launch }: IterationLaunch, number: number, uses: LaunchUses): string {
  const { kernel, policy, precision, cost, remarks } = launch;
  return [
    `${number}. ${name}${kernel.name === name ? "" : `, kernel ${kernel.name}`}: ${policyText(policy)}, ${precision}, ${workText(cost.bytes, cost.flops)}`,
    ...usesText(uses),
    ...remarks.map((remark) => `   - ${remark}`),
  ].join("\n");
}

const policyText = (policy: Policy): string =>
  policy.kind === "team" ? `${policy.league} teams` : `range of ${policy.extents.join(" x ")}`;

/** A line for each kind of use. */
function usesText({ views, access }: LaunchUses): string[] {
  const shown = (name: string): string => {
    const { type, shape } = views[name];
    return `${name} ${type}[${shape.join("][")}]`;
  };
  const where = (is: (use: AccessAnalysis["views"][string]) => boolean): string[] =>
    Object.entries(access.views).flatMap(([name, use]) => (is(use) && Object.hasOwn(views, name) ? [shown(name)] : []));
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ["reads", where(({ read, gathered }) => read && !gathered)],
    ["gathers", where(({ read, gathered }) => read && gathered)],
    ["writes", where(({ written, scattered }) => written && !scattered)],
    ["adds to", where(({ scattered }) => scattered)],
    ["sums up", access.reduced],
  ];
  return lines.flatMap(([verb, names]) => (names.length > 0 ? [`   ${verb.padEnd(8)} ${names.join(", ")}`] : []));
}

async function timesOf(prepared: PreparedApplication, iterations: number): Promise<string> {
  const samples = await prepared.run(iterations);
  const rows = samples.map(({ quantity, seconds, bytes }) => [
    quantity,
    `${(1000 * seconds).toPrecision(3)} ms`,
    bytes === undefined ? "" : `${(bytes / seconds / 1e9).toPrecision(3)} GB/s`,
  ]);
  const width = (column: number): number => Math.max(...rows.map((row) => row[column].length));
  const [first, second] = [width(0), width(1)];
  return [
    `measured, means of ${iterations} iterations`,
    ...rows.map(([a, b, c]) => `  ${a.padEnd(first)}  ${b.padStart(second)}  ${c}`.trimEnd()),
  ].join("\n");
}
